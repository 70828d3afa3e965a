"""Phase 1: whether docs/design.md is a design that tests and code can be made from.

The rules of the design family judge; each condition of the gate is a set of catalogue rows, and an error
of any other design rule is a check of its own.  Not judged, because nothing on disk can say it: that the
user saw the gate's result.
"""

from __future__ import annotations

from collections.abc import Iterator

from opdev.phases.evidence import DESIGN, Evidence
from opdev.phases.model import Check, Spot, Title, both
from opdev.phases.verdicts import Named, Verdicts
from opdev.rules.model import Text

FAMILIES = ("design",)
_PLACE = Title("design-place", "目录、名称与 build_mode 一致", "folder, name and build mode agree")
_PLACE_GOOD = both("一致", "they agree")
FILE = Title("design-file", "设计文档在位", "the design is there")
SECTIONS = ("schedule", "correctness", "performance")
"""Without these a DSL is the beginning of one."""

_GROUPS: tuple[tuple[str, str, str, str, Text], ...] = (
    ("design-dsl", "唯一、可读的 Canonical DSL", "one Canonical DSL that can be read", "SH100 SH101 OP913 OP914",
     both("第 2 节有且只有一个可读的 DSL", "section 2 holds one DSL, and it can be read")),
    ("design-placeholder", "没有模板占位", "nothing of the template is left", "SH103",
     both("没有 replace_me", "no replace_me")),
    ("design-topology", "拓扑字段", "topology fields", "SH132 SH133 SH134 SH135 SH136 SH137 SH138",
     both("拓扑字段齐全", "the topology fields are there")),
    ("design-complete", "DSL 完整（调度、正确性、性能）", "the DSL is complete (schedule, correctness, performance)",
     "SH102 OP910 SH118 SH122 SH123 SH127 SH129 SH139 SH144 SH147 SH148 SH158 SH160 SH161 SH167 SH168 SH172 SH173 SH175 OP917",
     both("各节字段齐全", "every section has its fields")),
    ("design-flags", "四个开关有答案", "the four switches have an answer", "SH107 SH109 SH114 SH115 SH116",
     both("都写在 meta 里", "all are in meta")),
    ("design-confirmed", "用户确认了名称与 dtype", "the user confirmed name and dtypes", "SH105 SH106 SH117",
     both("确认项齐全", "the confirmations are there")),
    ("design-capability", "六个能力域", "the six capability domains", "SH188 SH189 SH190 SH191",
     both("六个能力域都已分类", "all six domains are classified")),
    ("design-invariants", "不变量可测", "invariants can be tested", "SH170 SH171",
     both("每条不变量都有测试方法", "every invariant has a way to test it")),
    ("design-contract", "编译与测试契约可执行", "the compile and test contract can be run", "SH197 SH198",
     both("契约字段齐全", "the contract has its fields")),
    ("design-review", "十二行设计评审", "the twelve review rows", "SH194 SH195",
     both("十二行都在，没有 fail", "all twelve are there, none fails")),
    ("design-open-questions", "没有阻塞的未决问题", "no blocking question is open", "SH186",
     both("没有阻塞代码生成的问题", "nothing blocks the code")),
)  # fmt: skip
GROUPS = tuple(Named(Title(i, zh, en), frozenset(rows.split()), good) for i, zh, en, rows, good in _GROUPS)
"""In the order in which the gate tells them; an error goes to the first that has its row."""


def checks(evidence: Evidence, *, project: bool = True) -> Iterator[Check]:
    """The gate of Phase 1.  ``project`` False leaves out the rules that look at other files."""
    missing = absent(evidence)
    if missing is not None:
        yield missing
        return
    document = evidence.design
    if document is None:
        return
    yield FILE.ok(both(f"有 {DESIGN}", f"{DESIGN} is there"), evidence.at(DESIGN))
    lacking = unfit(evidence)
    if lacking is not None and document.root is None:
        text, spot = lacking
        yield DSL.failed(text, _WRITE_DSL, spot)
        return
    yield from Verdicts(evidence, [document.file], FAMILIES, project=project).named(GROUPS)
    if project:
        # Which files are missing is asked phase by phase; here the design's own place and name.
        yield from Verdicts(evidence, [document.file], ("layout",)).more(_PLACE, _PLACE_GOOD, frozenset({"SH980"}))


DSL = GROUPS[0].title
_WRITE_DSL = both(
    "在第 2 节写一个 yaml 围栏，从 dsl_version 到 performance 各节写全（编辑器里补全会给出模板）",
    "write one yaml fence in section 2 with every section from dsl_version to performance (completion offers the template)",
)


def absent(evidence: Evidence) -> Check | None:
    """Why there is no design to judge; None where there is one."""
    if evidence.design is not None:
        return None
    spot = evidence.at(DESIGN)
    if evidence.exists(DESIGN):
        return FILE.failed(
            both(
                f"{DESIGN} 读不出来（不是文件、没有权限或太大）",
                f"{DESIGN} cannot be read (no file, no permission, or too large)",
            ),
            both(f"把 {DESIGN} 恢复成可读的 Markdown 文件", f"make {DESIGN} a readable Markdown file again"),
            spot,
        )
    stray = "design.md" if evidence.exists("design.md") else None
    if stray:
        return FILE.failed(
            both(
                f"没有 {DESIGN}，但算子根目录下有 design.md",
                f"there is no {DESIGN}, but a design.md in the operator's root",
            ),
            both("把 design.md 移到 docs/ 下", "move design.md into docs/"),
            evidence.at(stray),
        )
    return FILE.failed(
        both(f"没有 {DESIGN}", f"there is no {DESIGN}"),
        both(f"写出 {DESIGN}（shmem-ops-design）", f"write {DESIGN} (shmem-ops-design)"),
        spot,
    )


def unfit(evidence: Evidence) -> tuple[Text, Spot] | None:
    """Why a design is none that later phases can build on, and where; None where it is.

    No DSL, one that cannot be read, or one whose schedule, correctness or performance section is missing or
    still the template's.  What is wrong inside those sections is the gate's, not the recovery's.
    """
    document = evidence.design
    if document is None:
        return None
    if document.dsl is None:
        heading = document.heading("2")
        spot = evidence.spot(document.file, heading.start if heading else 0)
        return both("design.md 没有 Canonical DSL", "design.md has no Canonical DSL"), spot
    if document.root is None:
        fault = next(iter(document.faults), None)
        spot = evidence.spot(document.file, fault.start if fault else document.dsl.start)
        return both("Canonical DSL 读不出来", "the Canonical DSL cannot be read"), spot
    opening = document.dsl.opening[0]
    lacking = [s for s in SECTIONS if (node := document.get(s)) is None or node.empty]
    if lacking:
        names = ", ".join(lacking)
        spot = evidence.spot(document.file, opening)
        return both(f"DSL 缺少 {names}", f"the DSL lacks {names}"), spot
    from opdev.design.model import problems_of

    left = [p for p in problems_of(document.file) if p.code == "placeholder"]
    if left:
        spot = evidence.spot(document.file, left[0].start)
        zh = f"DSL 里还有 {len(left)} 处模板占位：{left[0].path}"
        return both(zh, f"{len(left)} of the template's placeholders are left in the DSL: {left[0].path}"), spot
    return None
