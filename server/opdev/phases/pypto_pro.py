"""The gates of PyPTO-Pro's stages, both generations: four stages, or five with the knowledge base and L0/L1 modules.

What only a run shows (exit status, precision) is looked for in logs; where there is none, it is unproven.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from opdev.phases.model import Check, Title, both
from opdev.phases.pypto_checks import Document, PyptoEvidence, document, holding, judged, listed, present
from opdev.phases.pypto_evidence import measured, targets

_INDEX = Title("material-index", "资料索引有 §A、§B、§C", "the index of material has §A, §B and §C")
_EXPLORE = Title("explore-report", "调研报告章节齐全", "the exploration report is complete")
_FEASIBLE = Title("feasible", "没有未解决的不可行项", "nothing infeasible is left")
_MACHINE = Title("machine-contract", "SPEC 有 json machine-contract", "the SPEC has its machine contract")
_KERNEL = Title("kernel-contract", "SPEC 有「kernel 契约补充」", "the SPEC has its kernel contract")
_SECTIONS = Title("design-sections", "设计有 §0 到 §10", "the design has §0 to §10")
_EVALUATED = Title("design-evaluation", "§9 评估没有 ❌", "§9 has no ❌")
_FLOW = Title("design-dataflow", "§10 写了搬运", "§10 says what is moved")
_CASES = Title("design-cases", "§8 至少四个测试", "§8 has four tests at least")
_DONE = Title("design-open", "设计没有待定项", "nothing of the design is left open")
_TILES = Title("design-tiles", "tile 用 make_tile_group 分配", "tiles are allocated with make_tile_group")
_VECTOR = Title("design-vector", "向量步骤映射到 vf", "vector steps are mapped to vf")
_BORDER = Title("wrapper-border", "「Wrapper 边界外操作」为空", "nothing is done outside the wrapper's border")
_IMPORTS = Title("pro-imports", "只用 PyPTO-Pro", "PyPTO-Pro alone is used")
_KERNELS = Title("one-kernel", "只有一个 @pl.jit", "there is one @pl.jit")
_WRAPPER = Title("wrapper", "有顶层 wrapper", "there is a wrapper at the top level")
_TESTS = Title("tests", "至少四个测试，与设计 §8 一致", "four tests at least, those of the design's §8")
_PRECISION = Title("precision-standard", "用统一的精度标准", "precision is judged by the standard")
_RUN = Title("run-evidence", "测试跑过且通过", "the tests were run and passed")
_STAGED = Title("staged-modules", "各模块的分步文件齐全", "the staged files of the modules are there")
_MARK = "❌"
_FEWEST = 4


def _plan4(e: PyptoEvidence) -> Iterator[Check]:
    yield from present(e, "SPEC.md", "PRO_MATERIAL_INDEX.md", "EXPLORE_REPORT.md", "MEMORY.md")
    index = document(e, "PRO_MATERIAL_INDEX.md")
    if index is not None:
        missing = [
            f"§{x}"
            for x in "ABC"
            if not any(h.level == 2 and h.title.strip().startswith(f"§{x}") for h in index.headings)
        ]
        zh, en = listed(missing)
        yield holding(_INDEX, not missing, ("齐全", "all three are there"), (f"没有 {zh}", f"missing: {en}"),
                      ("补上这些二级标题", "add these headings of level 2"), index.at(None))  # fmt: skip
    report = document(e, "EXPLORE_REPORT.md")
    if report is not None:
        yield _explored(report)
        spot = report.find(rb"(?i)\bunsupported\b") or report.find("不可行".encode())
        yield holding(_FEASIBLE, spot is None, ("没有", "none"), ("还有 unsupported 或 不可行", "something is unsupported or 不可行"),
                      ("换一种做法，或与用户确认放弃", "find another way, or agree with the user to leave it out"), spot)  # fmt: skip


def _explored(report: Document) -> Check:
    titles = [h.title.strip() for h in report.headings if h.level == 2]
    missing = [n for n in (3, 4, 5, 10) if not any(re.match(rf"(?:§\s*)?{n}[.、．\s]", t + " ") for t in titles)]
    good = len(titles) >= 10 and not missing
    zh, en = listed(f"§{n}" for n in missing)
    bad = (
        f"{len(titles)} 个二级章节" + (f"，没有 {zh}" if missing else ""),
        f"{len(titles)} sections of level 2" + (f", missing: {en}" if missing else ""),
    )
    return holding(_EXPLORE, good, (f"{len(titles)} 节", f"{len(titles)} sections"), bad,
                   ("至少十节，含 3、4、5、10", "ten at least, with 3, 4, 5 and 10"), report.at(None))  # fmt: skip


def _plan5(e: PyptoEvidence) -> Iterator[Check]:
    yield from present(e, "SPEC.md", "PRO_MATERIAL_INDEX.md", "EXPLORE_REPORT.md", "MEMORY.md")
    if e.there("KB_SELECTION.json") is None and not any(r.endswith("/KB_SELECTION.json") for r in e.files):
        yield from present(e, "KB_SELECTION.json")
    yield from judged(
        e, "pypto-spec", "pypto-kb", only=lambda f: not f.path.endswith(("DESIGN_BINDINGS.json", "KB_USAGE.json"))
    )
    spec = document(e, "SPEC.md")
    if spec is not None:
        contract = spec.find(rb"^`{3,}[ \t]*json[ \t]+machine-contract", re.M)
        yield holding(_MACHINE, contract is not None, ("有", "it has"), ("没有 ```json machine-contract 块", "there is no block ```json machine-contract"),
                      ("按模板写出这个块", "write the block by the template"), contract or spec.at(None))  # fmt: skip
        found = [h for h in spec.headings if h.level == 2 and "契约补充" in h.title and "kernel" in h.title.lower()]
        good = len(found) == 1 and bool(spec.body(found[0]).strip())
        yield holding(_KERNEL, good, ("有", "it has"), (f"有 {len(found)} 节，且内容不能为空", f"there are {len(found)}, and one that says something is wanted"),
                      ("写一节「kernel 契约补充」", "write one section of that name"), spec.at(found[0] if found else None))  # fmt: skip


def _golden(e: PyptoEvidence) -> Iterator[Check]:
    yield from present(
        e, "<op>_golden.py", "<op>_golden_cpu.py", *(("GOLDEN_PERF_REPORT.md",) if e.kind == "pro4" else ())
    )
    yield from judged(e, "pypto-golden")


def _design4(e: PyptoEvidence) -> Iterator[Check]:
    yield from present(e, "DESIGN.md")
    design = document(e, "DESIGN.md")
    if design is not None:
        yield from _design(design)
    yield from judged(e, "pypto-design")


def _design5(e: PyptoEvidence) -> Iterator[Check]:
    yield from _design4(e)
    yield from present(e, "module_interfaces.yaml", "DESIGN_BINDINGS.json")
    yield from judged(e, "pypto-interfaces", "pypto-kb", only=lambda f: not f.path.endswith("KB_USAGE.json"))
    design = document(e, "DESIGN.md")
    if design is not None:
        border = design.heading(r"(?i)wrapper\s*边界外操作")
        body = design.body(border).strip() if border is not None else ""
        yield holding(_BORDER, body == "空", ("空", "空"), ("没有这一节" if border is None else f"写的是 {body[:40]!r}", "there is no such section" if border is None else f"it says {body[:40]!r}"),
                      ("写成单独一个「空」；要做的事放进 kernel", "make it the single word 空; what has to be done belongs into the kernel"), design.at(border))  # fmt: skip


def _design(design: Document) -> Iterator[Check]:
    numbers = [int(m[1]) for h in design.headings if h.level == 2 and (m := re.match(r"\s*§\s*(\d{1,2})\b", h.title))]
    missing = [n for n in range(11) if n not in numbers]
    zh, en = listed(f"§{n}" for n in missing)
    twice = sorted({n for n in numbers if numbers.count(n) > 1 or n > 10})
    bad = (
        f"没有 {zh}" if missing else f"§{twice[0]} 多出来了" if twice else "",
        f"missing: {en}" if missing else f"§{twice[0]} is one too many" if twice else "",
    )
    yield holding(_SECTIONS, not missing and not twice, ("十一节", "eleven sections"), bad,
                  ("按模板补齐", "complete it by the template"), design.at(None))  # fmt: skip
    for number, title, bad in (
        (9, _EVALUATED, ("§9 里有 ❌", "§9 has a ❌")),
        (10, _FLOW, ("§10 没有提到 load 或 store", "§10 names neither load nor store")),
        (8, _CASES, ("§8 的测试不足四个", "§8 has fewer than four tests")),
    ):
        heading = design.heading(rf"^\s*§\s*{number}\b")
        if heading is not None:
            good = _section_holds(number, design.body(heading))
            yield holding(title, good, ("是", "yes"), bad, ("改正这一节", "mend this section"), design.at(heading))
    spot = design.find(rb"(?i)\b(?:TBD|TODO)\b|" + "待定".encode()) or design.find(
        rb"=[ \t]*\.\.\.[ \t]*(?:#.*)?$", re.M
    )
    yield holding(_DONE, spot is None, ("没有", "none"), ("有 TBD、TODO、待定或「= ...」", "there is a TBD, TODO, 待定 or `= ...`"),
                  ("定下来", "decide it"), spot)  # fmt: skip
    yield holding(_TILES, b"make_tile_group" in design.file.data, ("是", "yes"), ("设计里没有 make_tile_group", "the design has no make_tile_group"),
                  ("用 make_tile_group 分配 tile", "allocate tiles with make_tile_group"), design.at(None))  # fmt: skip
    cube = design.find(rb"(?i)section_cube|\bmatmul\b") is not None and design.find(rb"(?i)section_vector") is None
    mapped = design.find(rb"\bvf\.\w|vector_function|tile_op") is not None
    plain = design.find(rb"pl\.\*\s*Vector\s*API")
    bad = (
        ("写的是 pl.* Vector API", "it says pl.* Vector API")
        if plain is not None
        else ("没有 vf.* 的映射", "nothing is mapped to vf.*")
    )
    yield holding(_VECTOR, plain is None and (cube or mapped), ("是", "yes"), bad,
                  ("为每个向量步骤写出 vf 接口", "name the vf call of every vector step"), plain or design.at(None))  # fmt: skip


def _section_holds(number: int, body: str) -> bool:
    if number == 9:
        return _MARK not in body
    if number == 10:
        return re.search(r"load|store", body) is not None
    return len(set(re.findall(r"\btest_\w+", body))) >= _FEWEST


def _code(e: PyptoEvidence) -> Iterator[Check]:
    yield from present(e, "test_<op>.py")
    file = e.named("test_<op>.py")
    if file is not None and file.data.strip():
        yield from _tested(e, Document(e, file))
    yield from judged(e, "pypto-test", "pypto-golden", "pypto-impl")
    if e.kind == "pro":
        yield from _staged(e)
        yield from judged(e, "pypto-kb")
        yield from present(e, *(("KB_USAGE.json",) if not any(r.endswith("/KB_USAGE.json") for r in e.files) else ()))
    yield _ran(e)


def _tested(e: PyptoEvidence, test: Document) -> Iterator[Check]:
    data = test.file.data
    ours = test.find(
        rb"^[ \t]*(?:import[ \t]+pypto_pro\.language[ \t]+as[ \t]+pl\b|from[ \t]+pypto_pro[ \t]+import[ \t]+language[ \t]+as[ \t]+pl\b)",
        re.M,
    )
    other = test.find(rb"^[ \t]*(?:import|from)[ \t]+pypto(?:\.|[ \t]|$)|@pypto\.frontend\.jit", re.M)
    yield holding(_IMPORTS, ours is not None and other is None, ("是", "yes"),
                  ("用了经典 PyPTO" if other is not None else "没有 import pypto_pro.language as pl", "classic PyPTO is used" if other is not None else "there is no `import pypto_pro.language as pl`"),
                  ("只 import pypto_pro.language as pl", "have `import pypto_pro.language as pl` alone"), other or test.at(None))  # fmt: skip
    kernels = len(re.findall(rb"^[ \t]*@pl\.jit\b", data, re.M))
    yield holding(_KERNELS, kernels == 1, ("一个", "one"), (f"有 {kernels} 个", f"there are {kernels}"),
                  ("合成一个 kernel", "make them one kernel"), test.find(rb"^[ \t]*@pl\.jit\b", re.M) or test.at(None))  # fmt: skip
    wrapper = test.find(rb"^def[ \t]+%s_wrapper[ \t]*\(" % re.escape(e.name.encode()), re.M)
    yield holding(_WRAPPER, wrapper is not None, (f"{e.name}_wrapper", f"{e.name}_wrapper"), (f"没有顶层函数 {e.name}_wrapper", f"there is no function {e.name}_wrapper at the top level"),
                  (f"写出 {e.name}_wrapper，只调用一次 kernel", f"write {e.name}_wrapper, which launches the kernel once"), wrapper or test.at(None))  # fmt: skip
    tests = {m.decode() for m in re.findall(rb"^[ \t]*def[ \t]+(test_\w+)[ \t]*\(", data, re.M)}
    design = document(e, "DESIGN.md")
    cases = design.heading(r"^\s*§\s*8\b") if design is not None else None
    wanted = (
        set(re.findall(r"(?<![\w/])test_\w+\b(?!\.py)", design.body(cases)))
        if design is not None and cases is not None
        else set()
    )
    missing = sorted(wanted - tests - {f"test_{e.name}"})
    zh, en = listed(missing[:5])
    bad = (
        (f"设计里的 {zh} 没有实现", f"of the design and not written: {en}")
        if missing
        else (f"只有 {len(tests)} 个测试", f"there are {len(tests)} tests")
    )
    yield holding(_TESTS, len(tests) >= _FEWEST and not missing, (f"{len(tests)} 个", f"{len(tests)}"), bad,
                  ("补上测试", "write them"), test.at(None))  # fmt: skip
    faults = [
        text
        for text, wrong in (
            (("没有 _assert_precision", "no _assert_precision"), b"_assert_precision" not in data),
            (("用了 assert_close", "assert_close is used"), re.search(rb"\bassert_close\b", data) is not None),
            (("自己放宽了 atol_override", "atol_override loosens it"), b"atol_override" in data),
            ((f"没有用 {e.name}_golden_cpu", f"{e.name}_golden_cpu is not used"), b"_golden_cpu" not in data),
        )
        if wrong
    ]
    yield holding(_PRECISION, not faults, ("是", "yes"), ("；".join(f[0] for f in faults), "; ".join(f[1] for f in faults)),
                  ("用 _assert_precision 与 CPU golden 比较", "compare with the CPU golden by _assert_precision"), test.at(None))  # fmt: skip


def _staged(e: PyptoEvidence) -> Iterator[Check]:
    """The files of L1's modules: each with the numbers of all before it."""
    if e.state is None or e.state.get("stage4_path") != "L1":
        return
    ledger = e.state.get("stage4_modules")
    count = ledger.get("module_count") if isinstance(ledger, dict) else None
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= 99:
        return
    suffixes = ["".join(str(n) for n in range(1, k + 1)) for k in range(1, count + 1)]
    wanted = [
        f for s in suffixes for f in (f"modules/{e.name}_golden_stage{s}.py", f"modules/test_{e.name}_module{s}.py")
    ]
    missing = [f for f in wanted if not e.exists(f)]
    zh, en = listed(missing[:6])
    yield holding(_STAGED, not missing, (f"{count} 个模块", f"{count} modules"), (f"没有 {zh}", f"missing: {en}"),
                  ("按模块写出它们", "write them module by module"), e.at(missing[0]) if missing else None)  # fmt: skip


def _ran(e: PyptoEvidence) -> Check:
    for name in reversed(e.logs):
        log = e.log(name)
        if b"matched_ratio=" in log and b"max_abs_error=" in log:
            if e.older(e.time(name), e.newest([r for r in e.files if r.endswith(".py")])):
                return _RUN.unknown(
                    both(f"{name} 比代码旧", f"{name} is older than the code"),
                    both("再跑一次并保存输出", "run it again and keep the output"),
                    e.at(name),
                )
            if re.search(rb"\bFAIL(?:ED)?\b|Traceback \(most recent", log):
                return _RUN.failed(
                    both(f"{name} 里有失败", f"{name} has a failure"),
                    both("改好再跑", "mend it and run it again"),
                    e.at(name),
                )
            if b"PASS" in log:
                return _RUN.ok(both(name, name), e.at(name))
    return _RUN.unknown(
        both("没有日志证明测试通过", "no log shows that the tests passed"),
        both(f"保存输出：python test_{e.name}.py > logs/test_{e.name}.log 2>&1", f"keep its output: python test_{e.name}.py > logs/test_{e.name}.log 2>&1"),
    )  # fmt: skip


def _tune(e: PyptoEvidence) -> Iterator[Check]:
    yield from present(
        e, "PERFORMANCE_CASES.json", "PERFORMANCE_REPORT.md", "performance.json", "performance.log", "perf_report.md"
    )
    yield from targets(e)
    yield from measured(e)
    yield from judged(e, "pypto-test", "pypto-golden")
    yield _ran(e)


PRO4: Mapping[str, Callable[[PyptoEvidence], Iterator[Check]]] = {"1": _plan4, "2": _golden, "3": _design4, "4": _code}
PRO: Mapping[str, Callable[[PyptoEvidence], Iterator[Check]]] = {
    "1": _plan5,
    "2": _golden,
    "3": _design5,
    "4": _code,
    "5": _tune,
}
