"""What stands around the DSL: sections, tables, review rows, contract fields, handoff boxes.

Completion, templates, gates and rules all take the fixed structure from here, so a row that one of
them asks for is a row that another can write.  ``frame_problems`` judges a document by it,
``skeleton`` writes a new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from opdev.design.document import DesignDocument
from opdev.design.problems import PLACEHOLDER, Problem, flag, said_text

Values = Mapping[str, str]
"""What the texts of the frame take from the DSL: op_name, op_root, build_mode, dtypes, shmem_repo."""

CLASSES = ("可复用", "需适配", "需新实现")
NEW = CLASSES[2]
RESULTS = ("pass", "fail")
NO_GAP = "No known gap"


class Part(NamedTuple):
    """A section: its number, its title, and what a title in other words has in it."""

    number: str
    title: str
    words: str

    @property
    def level(self) -> int:
        """How many ``#``: two for ``5``, three for ``6.1``."""
        return 2 + self.number.count(".")

    @property
    def heading(self) -> str:
        """The heading's line."""
        dot = "" if "." in self.number else "."
        return f"{'#' * self.level} {self.number}{dot} {self.title}"


class Column(NamedTuple):
    """A column: its title and the words another title may have."""

    title: str
    words: tuple[str, ...]


class Row(NamedTuple):
    """A row (or a box): its key, what it is about in both languages, how to know it, and its cells.

    ``cells`` are the template's; the first is the row's name.  ``{op_name}`` and its like are filled in.
    """

    key: str
    zh: str
    en: str
    pattern: str
    cells: tuple[str, ...] = ()


class Grid(NamedTuple):
    """A table of the frame: the section it stands in, its columns, and the rows it must have."""

    number: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


SECTIONS = (
    Part("1", "算子接口与 Assumptions", r"算子接口|assumptions"),
    Part("1.1", "用户确认项", r"确认项|confirm"),
    Part("1.2", "功能描述", r"功能描述|功能说明"),
    Part("1.3", "Assumptions 与 Open Questions", r"assumption|open question|未决|假设"),
    Part("2", "Canonical DSL", r"canonical dsl|规范\s?dsl"),
    Part("3", "Capability Mapping & Gap Analysis", r"capability|gap analysis|能力映射|能力盘点|能力与缺口"),
    Part("4", "实现边界", r"实现边界|implementation boundary"),
    Part("5", "Design Review Before Handoff", r"design review|设计评审|设计走读|设计自查"),
    Part("6", "Compile/Test Contract", r"contract|契约"),
    Part("6.1", "Compile Contract", r"compile|编译"),
    Part("6.2", "Functional/Correctness Contract", r"correctness|functional|test contract|测试|正确性"),
    Part("7", "Handoff Checklist for shmem-ops-code-gen", r"handoff checklist|交接"),
)
PARTS = {part.number: part for part in SECTIONS}


def _domain(key: str, zh: str, what: str) -> Row:
    prompts = (
        "[用到的公开接口、模板或源码路径]",
        "[可复用、需适配或需新实现]",
        "[适配点；需新实现时写缺口原因、设计方案和验证方式]",
        "[正确性与性能风险]",
    )
    return Row(key, f"{zh}（{key}）", key, rf"\b{key}\b|{what}", (f"{zh}（{key}）", *prompts))


DOMAINS = (
    _domain("lifecycle", "生命周期", "生命周期|初始化"),
    _domain("memory", "对称内存", "内存|缓冲"),
    _domain("transport", "跨 PE 传输", "传输|搬运|通信"),
    _domain("sync", "同步", "同步|synchroni[sz]ation"),
    _domain("compute", "计算", "计算|归约|规约|累加"),
    _domain("scheduler", "调度", "调度|分核|scheduling|schedule"),
)


def _review(key: str, zh: str, en: str, pattern: str, prompt: str) -> Row:
    return Row(key, zh, en, pattern, (zh, "[pass/fail]", f"[{prompt}]"))


# A row is of the first topic that knows it: the narrow ones come first, see ``REVIEW_ORDER``.
REVIEW = (
    _review("concurrency", "并发与分核落地", "concurrency and core partition", r"并发|分核|concurren|core partition", "首版就用上的核数与分法"),
    _review("barrier", "Host 与全局 barrier", "host and global barriers", r"barrier", "每处全局同步为什么省不掉"),
    _review("tile", "tile、chunk、tail", "tile, chunk and tail", r"\btile\b|\bchunk\b|\btail\b|尾块|切分", "怎样切，尾块由谁处理"),
    _review("route", "route、offset、prefix 不做 O(N²) 扫描", "route, offset and prefix without O(N²)", r"\broute\b|\boffset\b|prefix|前缀|偏移|路由|O\(N", "偏移怎样算出，复杂度多少"),
    _review("scratch", "GM scratch", "GM scratch", r"scratch|中转", "多出来的 GM 读写有哪些，为什么"),
    _review("atomic", "SetAtomicAdd 多源同目的", "SetAtomicAdd for several sources", r"SetAtomicAdd|多\s*source|多源|同目的|累加路径", "多个来源写同一目的时由谁累加；不归约就写明"),
    _review("fast-path", "高性能路径与重叠", "fast path and overlap", r"高性能|overlap|重叠|high.performance|fast path", "本轮做哪条路径，怎样重叠"),
    _review("compute", "计算行引用 atomic-add-pattern", "compute row cites atomic-add-pattern", r"compute\s*(?:行|row)|计算行|capability mapping|累加方式|atomic-add-pattern", "累加方式的依据；不归约就写明"),
    _review("topology", "拓扑与并发匹配", "topology and concurrency", r"拓扑|topology", "同时活跃几条链路，共几条"),
    _review("bandwidth", "链路带宽利用", "link bandwidth", r"链路带宽|带宽利用|bandwidth", "估算几 GB/s，占聚合带宽百分之几；差一半以上要说明"),
    _review("parallelism", "分核与通信并行度", "core partition and parallel peers", r"通信并行|分核与通信|假并发|parallel", "每组几个 AIV，同时与几个 PE 通信"),
    _review("bottleneck", "性能瓶颈预判", "expected bottleneck", r"瓶颈|bottleneck", "瓶颈是什么，在哪里，多大"),
)  # fmt: skip
REVIEW_ORDER = (
    "bottleneck", "bandwidth", "parallelism", "topology", "atomic", "compute", "barrier", "scratch", "route", "tile",
    "fast-path", "concurrency",
)  # fmt: skip
MEASURED = frozenset({"topology", "bandwidth", "parallelism", "bottleneck"})
"""The review rows that need numbers."""

BOUNDARY = (
    Row("kernel", "Device kernel", "Device kernel", r"kernel|设备侧", ("Device kernel", "[src/{op_name}_kernel.cpp 里的通信、搬运、同步与计算]")),
    Row("main", "main.cpp", "main.cpp", r"main\.cpp|\bmain\b", ("main.cpp", "src/main.cpp：一个进程一个 PE，只做初始化、读写、启动与释放")),
    Row("host", "Host helper", "Host helper", r"host\s*(?:helper|辅助|侧)|helper", ("Host helper", "[复杂的 Host 逻辑放进独立的 .cpp/.h；没有就写无]")),
    Row("python", "Python scripts", "Python scripts", r"python|scripts?\b", ("Python scripts", "scripts/：生成输入与 golden、比对结果、跑用例矩阵")),
)  # fmt: skip

_CUSTOM = {
    "command": '`cmake -S "${{SHMEM_REPO}}/{op_root}" -B "${{SHMEM_REPO}}/{op_root}/build" -DSHMEM_REPO="${{SHMEM_REPO}}" && cmake --build "${{SHMEM_REPO}}/{op_root}/build" -j 8`',
    "torch": '`cmake -S "${{SHMEM_REPO}}/custom-ops/torch_binding" -B "${{SHMEM_REPO}}/custom-ops/torch_binding/build" && cmake --build "${{SHMEM_REPO}}/custom-ops/torch_binding/build" -j 8`',
}  # fmt: skip
_IN_TREE = {
    "command": '`cmake --build "${{SHMEM_REPO}}/build" --target {op_name} -j 8`',
    "torch": '`bash "${{SHMEM_REPO}}/scripts/build.sh" -examples -python_example`',
}


def _field(key: str, value: str) -> Row:
    return Row(key, key, key, rf"(?<![\w-]){key}(?![\w-])", (key, value))


COMPILE = (
    _field("build_mode", "{build_mode}"),
    _field("cann_env", "[CANN 的 set_env.sh 的绝对路径，由用户给出]"),
    _field("shmem_repo", "{shmem_repo}"),
    _field("op_dir", "`${{SHMEM_REPO}}/{op_root}`"),
    _field("target", "{op_name}：build/bin/{op_name}、build/lib/lib{op_name}_kernel.so"),
    _field("command", "{command}"),
    _field("run_command", '[bash "${{SHMEM_REPO}}/{op_root}/scripts/run.sh" 加一个用例的参数]'),
    _field("matrix_command", '`python3 "${{SHMEM_REPO}}/{op_root}/scripts/run_case_matrix.py"`'),
    _field("perf_command", "{perf}"),
    _field("torch_build_command", "{torch}"),
    _field("required_flags", "[编译必须带的选项；没有就写无]"),
    _field("expected_outputs", "build/bin/{op_name}、output/ 下每个 PE 一份结果"),
)
TEST = (
    _field("command", '[bash "${{SHMEM_REPO}}/{op_root}/scripts/run.sh" 加一个用例的参数，由它调用 check_result.py]'),
    _field("python_env", "[Python 或 conda 环境]"),
    _field("python_deps", "numpy"),
    _field("determinism", "种子固定，同样的参数得到同样的数据，每个用例各用一个输出目录"),
)
OPTIONAL_FIELDS = {"perf_command": "meta.performance_required", "torch_build_command": "meta.torch_required"}
"""Fields of 6.1 that are only asked for when a switch of the DSL is true."""

_FIELD = (Column("字段", ("字段", "field", "项", "名称", "key")), Column("内容", ("内容", "值", "value", "说明")))
GRIDS = {
    grid.number: grid
    for grid in (
        Grid(
            "1.1",
            (Column("确认项", ("项", "item", "字段")), Column("内容", ("内容", "值", "value")), Column("确认状态", ("状态", "state", "status", "确认"))),
            (
                Row("op_name", "op_name", "op_name", r"op_name|算子名", ("op_name", "{op_name}", "confirmed")),
                Row("dtype", "dtype", "dtype", r"dtype|数据类型", ("dtype", "{dtypes}", "confirmed")),
            ),
        ),
        Grid(
            "1.3",
            (Column("类型", ("类型", "type", "类别")), Column("内容", ("内容", "content", "描述", "说明")), Column("是否阻塞代码生成", ("阻塞", "block"))),
            (Row("assumption", "假设", "assumption", r"assum|假设", ("assumption", "[可以接受的假设，如目标 SoC 与链路数]", "no")),),
        ),
        Grid(
            "3",
            (
                Column("Requirement", ("requirement", "需求")),
                Column("SHMEM capability/source", ("capability", "source", "能力", "来源")),
                Column("Classification", ("classification", "分类", "类别")),
                Column("Adaptation / Gap", ("adaptation", "gap", "适配", "缺口")),
                Column("Risk", ("risk", "风险")),
            ),
            DOMAINS,
        ),
        Grid("4", (Column("位置", ("位置", "部分", "层", "part", "layer")), Column("职责", ("职责", "内容", "duty", "role"))), BOUNDARY),
        Grid(
            "5",
            (
                Column("Check", ("check", "检查", "走读", "评审项")),
                Column("Result", ("result", "结果", "结论")),
                Column("Fix or rationale", ("rationale", "fix", "说明", "理由", "依据")),
            ),
            REVIEW,
        ),
        Grid("6.1", _FIELD, COMPILE),
        Grid("6.2", _FIELD, TEST),
    )
}  # fmt: skip


def _box(key: str, zh: str, en: str, pattern: str, text: str) -> Row:
    return Row(key, zh, en, pattern, (text,))


BOXES = (
    _box("dsl", "DSL 完整", "the DSL is complete", r"\bdsl\b|replace_me", "Canonical DSL 完整，没有 replace_me，也没有阻塞代码生成的未决问题"),
    _box("confirmed", "op_name 与 dtype 已确认", "op_name and dtype are confirmed", r"user_confirmations|(?:op_name|dtype).*确认|确认.*(?:op_name|dtype)|confirmed", "op_name 与 dtype 已由用户确认，记在 source.user_confirmations"),
    _box("capability", "能力域已分类", "the six domains are classified", r"capability|能力", "六个能力域都已分类，需新实现的项有设计方案和验证方式"),
    _box("schedule", "调度可实现", "the schedule can be built", r"core_partition|tiling|分核|\bphases\b", "core_partition、tiling、phases 可以照着实现"),
    _box("correctness", "不变量与用例", "invariants and cases are complete", r"invariant|不变量|case_matrix|用例", "每条不变量都有测试方法和用例，用例矩阵含 stress 与边界用例"),
    _box("performance", "基线与规模", "baseline and scale are filled in", r"baseline|min_scale|基线|性能", "baseline_search、baseline_target、min_scale 已填写"),
    _box("review", "设计评审", "the review has twelve rows and no fail", r"review|评审|走读", "设计评审 12 行都已填写，没有 fail，拓扑、带宽与分核有数字"),
    _box("boundary", "实现边界", "the boundary is clear", r"边界清|实现边界|boundary|main\.cpp", "实现边界清楚：main.cpp 只编排一个 PE，golden 与比对在 Python"),
    _box("contract", "编译与测试契约", "the contracts can be run", r"contract|契约", "编译与测试契约的命令可以直接执行，写明了 Python 环境"),
)  # fmt: skip
BOX_ORDER = (
    "review", "contract", "boundary", "confirmed", "capability", "correctness", "performance", "schedule", "dsl",
)  # fmt: skip
QUESTION = r"阻塞|未决|open question"
"""A box with these words also (or only) claims that no question is open."""


def values_of(document: DesignDocument) -> Values:
    """What the frame's texts take from the document's DSL."""
    dtypes = [node.text for node in document.items("source.user_confirmations.dtypes")]
    return values(
        said_text(document, "meta.op_name"),
        said_text(document, "meta.op_root"),
        said_text(document, "meta.build_mode"),
        said_text(document, "meta.shmem_repo"),
        ", ".join(dtypes),
        torch_required=flag(document, "meta.torch_required") is not False,
        performance_required=flag(document, "meta.performance_required") is not False,
    )


def values(
    op_name: str = "",
    op_root: str = "",
    build_mode: str = "",
    shmem_repo: str = "",
    dtypes: str = "",
    *,
    torch_required: bool = True,
    performance_required: bool = True,
) -> Values:
    """The values of the frame's texts; what is not known stays the template's."""
    op_name, build_mode = op_name or PLACEHOLDER, build_mode or "independent_project"
    in_tree = build_mode == "in_tree_example"
    op_root = op_root or f"{'examples' if in_tree else 'custom-ops'}/{op_name}"
    known = {"op_name": op_name, "op_root": op_root, "build_mode": build_mode}
    commands = {key: text.format_map(known) for key, text in (_IN_TREE if in_tree else _CUSTOM).items()}
    perf = f'`bash "${{SHMEM_REPO}}/{op_root}/scripts/perf.sh" "${{DEVICE_LIST}}" "${{BASE_COUNT}}" "${{DTYPE}}" "${{ITERS}}"`'
    return {
        **known,
        "shmem_repo": shmem_repo or "[SHMEM 仓的绝对路径]",
        "dtypes": dtypes or "[逐项列出输入、输出与累加的 dtype]",
        "command": commands["command"],
        "torch": commands["torch"] if torch_required else "不适用：meta.torch_required 为 false",
        "perf": perf if performance_required else "不适用：meta.performance_required 为 false",
    }


def frame_problems(document: DesignDocument) -> list[Problem]:
    """What is wrong around the DSL, in text order; the codes are those of ``frame_tables``.  Found once a file."""
    from opdev.design.frame_claims import judge_boxes
    from opdev.design.frame_tables import judge

    def make() -> list[Problem]:
        if not is_design(document):
            return []
        found = judge(document)
        return sorted([*found, *judge_boxes(document, found)], key=lambda p: (p.start, p.end, p.code, p.path))

    return document.file.memo("design-frame", make)


def is_design(document: DesignDocument) -> bool:
    """Whether a document means to be an operator's design: other tools have their own DESIGN.md."""
    return document.dsl is not None or document.file.path.rpartition("/")[2] == "design.md"


def skeleton(meta: Mapping[str, object] | None = None, dtypes: Sequence[str] = ()) -> str:
    """A whole new design.md: the frame around the DSL's skeleton.

    ``meta`` are values of the DSL's meta (``op_name``, ``build_mode``, ``torch_required``, …) that the
    intake settled, ``dtypes`` the confirmed ones; what is not known stays the template's.
    """
    from opdev.design.frame_text import whole

    return whole(meta or {}, dtypes)
