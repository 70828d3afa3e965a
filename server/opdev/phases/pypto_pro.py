"""The gates of PyPTO-Pro's stages, both generations: four stages, or five with the knowledge base and L0/L1 modules.

What only a run shows (exit status, precision) is looked for in logs; where there is none, it is unproven.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from opdev.phases.model import Check, Title, both
from opdev.phases.pypto_checks import Document, PyptoEvidence, document, holding, json_of, judged, listed, present
from opdev.phases.pypto_evidence import measured, targets
from opdev.phases.pypto_pro_code import code, ran

_VERDICTS = ("status", "verdict", "result", "passed", "overall")
_BAD_WORDS = frozenset({"fail", "failed", "error", "false"})
_GOOD_WORDS = frozenset({"pass", "passed", "ok", "true", "success"})
_INDEX = Title("material-index", "资料索引有 §A、§B、§C", "the index of material has §A, §B and §C")
_EXPLORE = Title("explore-report", "调研报告章节齐全", "the exploration report is complete")
_FEASIBLE = Title("feasible", "没有未解决的不可行项", "nothing infeasible is left")
_MACHINE = Title("machine-contract", "SPEC 有 json machine-contract", "the SPEC has its machine contract")
_KERNEL = Title("kernel-contract", "SPEC 有「kernel 契约补充」", "the SPEC has its kernel contract")
_VALIDATED = Title("golden-validation", "参考实现自检通过", "the goldens validated themselves")
_SELECTED = Title("vector-selection", "每个向量步骤冻结了实现方式", "how each vector step is written is frozen")
_SECTIONS = Title("design-sections", "设计有 §0 到 §10", "the design has §0 to §10")
_EVALUATED = Title("design-evaluation", "§9 评估没有 ❌", "§9 has no ❌")
_FLOW = Title("design-dataflow", "§10 写了搬运", "§10 says what is moved")
_CASES = Title("design-cases", "§8 至少四个测试", "§8 has four tests at least")
_DONE = Title("design-open", "设计没有待定项", "nothing of the design is left open")
_TILES = Title("design-tiles", "tile 用 make_tile_group 分配", "tiles are allocated with make_tile_group")
_VECTOR = Title("design-vector", "向量步骤映射到 vf", "vector steps are mapped to vf")
_BORDER = Title("wrapper-border", "「Wrapper 边界外操作」为空", "nothing is done outside the wrapper's border")
_MARK = "❌"
_FAILED = re.compile(rb"\bFAIL(?:ED)?\b|Traceback \(most recent")
_REASONS = frozenset({"default_vf", "kb_template_required"})
_WAYS = frozenset({"vf", "tile_op"})
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
    yield from judged(e, "pypto-spec", "pypto-explore-report", "pypto-material-index")


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
        e,
        "pypto-spec",
        "pypto-kb",
        "pypto-explore-report",
        "pypto-material-index",
        only=lambda f: not f.path.endswith(("DESIGN_BINDINGS.json", "KB_USAGE.json")),
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
    yield _validated(e)


def _validated(e: PyptoEvidence) -> Check:
    """The receipt of the goldens' own validation, else the logs of it; only a run makes either."""
    at = e.there("GOLDEN_VALIDATION.json")
    found, fault = json_of(e, "GOLDEN_VALIDATION.json")
    if fault is not None:
        return fault
    code = e.newest([r for n in ("<op>_golden.py", "<op>_golden_cpu.py") if (r := e.there(n)) is not None])
    if at is None or found is None:
        logs = {n: f"{e.name}{n}.log" for n in ("_golden", "_golden_cpu")}
        there = [r for r in e.logs if r.rpartition("/")[2] in logs.values()]
        bad = next((r for r in there if _FAILED.search(e.log(r))), None)
        if bad is not None:
            return _VALIDATED.failed(
                both(f"{bad} 里有失败", f"{bad} has a failure"),
                both("改参考实现再自检", "mend the golden and run it again"),
                e.at(bad),
            )
        if len(there) == len(logs) and all(not e.older(e.time(r), code) and e.log(r).strip() for r in there):
            return _VALIDATED.ok(both(there[0], there[0]), e.at(there[0]))
        detail = both(
            "没有 GOLDEN_VALIDATION.json，也没有新的自检日志",
            "there is no GOLDEN_VALIDATION.json, and no fresh log of it",
        )
    elif e.older(e.time(at), code):
        detail = both("它比参考实现旧", "it is older than the goldens")
    else:
        words = (
            {str(v).strip().lower() for k, v in found.items() if k in _VERDICTS} if isinstance(found, dict) else set()
        )
        if words & _BAD_WORDS:
            return _VALIDATED.failed(
                both("自检没有通过", "it did not pass"),
                both("改参考实现再自检", "mend the golden and run it again"),
                e.at(at),
            )
        if words & _GOOD_WORDS:
            return _VALIDATED.ok(both(at, at), e.at(at))
        detail = both("回执里没有结论", "the receipt has no verdict")
    return _VALIDATED.unknown(
        detail,
        both(f"运行并保存输出：python {e.name}_golden.py > logs/{e.name}_golden.log 2>&1，_golden_cpu 同样", f"run it and keep the output: python {e.name}_golden.py > logs/{e.name}_golden.log 2>&1, and _golden_cpu likewise"),
        e.at(at) if at is not None else None,
    )  # fmt: skip


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
        yield from _selected(design)


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


def _selected(design: Document) -> Iterator[Check]:
    """``vector_selection`` of each vector step: its words are of few; nothing can be said without any."""
    text = design.file.data.decode("utf-8", "replace")
    todo = ("§1 里为每个向量步骤写 vector_selection", "write a vector_selection for each vector step in §1")
    odd = [
        f"{key}: {word}"
        for key, allowed in (("decision_reason", _REASONS), ("implementation", _WAYS))
        for word in re.findall(rf"\b{key}[\"'`]?\s*[:=：]\s*[\"'`]?(\w+)", text)
        if word not in allowed
    ]
    if odd:
        spot = design.find(re.escape(odd[0].partition(": ")[2].encode()))
        yield _SELECTED.failed(both(f"不认识 {'、'.join(odd)}", f"unknown: {', '.join(odd)}"), both(*todo), spot)
    elif "vector_selection" in text:
        yield _SELECTED.ok(both("有", "it has"))
    elif re.search(r"\bvf\.\w|vector_function|tile_op", text):
        yield _SELECTED.unknown(
            both("没有 vector_selection", "there is no vector_selection"), both(*todo), design.at(None)
        )


def _section_holds(number: int, body: str) -> bool:
    if number == 9:
        return _MARK not in body
    if number == 10:
        return re.search(r"load|store", body) is not None
    return len(set(re.findall(r"\btest_\w+", body))) >= _FEWEST


def _tune(e: PyptoEvidence) -> Iterator[Check]:
    yield from present(
        e, "PERFORMANCE_CASES.json", "PERFORMANCE_REPORT.md", "performance.json", "performance.log", "perf_report.md"
    )
    yield from targets(e)
    yield from measured(e)
    yield from judged(e, "pypto-test", "pypto-golden", "pypto-perf-cases")
    yield ran(e)


PRO4: Mapping[str, Callable[[PyptoEvidence], Iterator[Check]]] = {"1": _plan4, "2": _golden, "3": _design4, "4": code}
PRO: Mapping[str, Callable[[PyptoEvidence], Iterator[Check]]] = {
    "1": _plan5,
    "2": _golden,
    "3": _design5,
    "4": code,
    "5": _tune,
}
