"""Documents of a PyPTO-Pro operator: sections they have to have, what is left open in them, and the files of each stage."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.design.markdown import Heading
from opdev.facts import pypto_docs as docs
from opdev.facts.pypto_interfaces import modules_of
from opdev.facts.pypto_names import named, test_functions
from opdev.facts.pypto_pro import generation, is_pro_project
from opdev.facts.pypto_pro_host import is_staged, pro_test
from opdev.facts.structured import root_of
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit

_SECTION = re.compile(r"§\s*(\d+)")
_NUMBERED = re.compile(r"(?:§\s*)?(\d+)[.、．\s]")
_OPEN = re.compile(rb"(?<![\w-])(?:TBD|TODO)(?![\w-])|\xe5\xbe\x85\xe5\xae\x9a(?!\xe4\xb9\x89)", re.IGNORECASE)
_ELLIPSIS = re.compile(rb"^[ \t]*[\w.\[\], ]+=[ \t]*(\.\.\.)[ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_CASE = re.compile(r"\btest_\w+")
_INFEASIBLE = re.compile(rb"(?<![\w-])unsupported(?![\w-])|\xe4\xb8\x8d\xe5\x8f\xaf\xe8\xa1\x8c", re.IGNORECASE)
_CROSS = "❌".encode()
_BORDER = "wrapper 边界外操作"
_LAST, _CASES, _REPORT = 10, 4, 10
_STAGED = re.compile(r"(?P<op>\w+?)_golden_stage(?P<golden>\d+)|test_(?P<tested>\w+?)_module(?P<test>\d+)")
_WANTED = (
    (2, "golden", "{op}_golden.py"),
    (2, "golden_cpu", "{op}_golden_cpu.py"),
    (3, "design", "DESIGN.md"),
    (3, "interfaces", "module_interfaces.yaml"),
    (4, "test", "test_{op}.py"),
)


def _is_pro(context: Context) -> bool:
    return context.project is not None and not docs.is_classic(context.file, context.project)


def _top(context: Context) -> tuple[int, int]:
    for heading in docs.sections(context.file):
        return heading.start, heading.end
    stop = context.data.find(b"\n")
    return 0, len(context.data) if stop < 0 else stop


def _second(context: Context) -> list[Heading]:
    return [heading for heading in docs.sections(context.file) if heading.level == 2]


def _numbered(headings: list[Heading], pattern: re.Pattern[str]) -> dict[int, Heading]:
    found: dict[int, Heading] = {}
    for heading in headings:
        match = pattern.match(heading.title.strip() + " ")
        if match is not None:
            found.setdefault(int(match[1]), heading)
    return found


def incomplete_design(context: Context) -> Iterator[Hit]:
    """Sections a design lacks, and what is left open in it."""
    if not _is_pro(context):
        return
    sections = _numbered(_second(context), _SECTION)
    last = sections.get(9)
    older = generation(context.project) == 1 and 10 not in sections and last is not None
    older = older and last is not None and re.search(r"数据流|data ?flow", last.title, re.IGNORECASE) is not None
    missing = [f"§{n}" for n in range(_LAST if older else _LAST + 1) if n not in sections]
    if missing:
        yield Hit(*_top(context), "default", {"sections": "、".join(missing), "sections_en": ", ".join(missing)})
    for match in _OPEN.finditer(context.data):
        yield Hit(*match.span(), "open", {"written": match[0].decode("utf-8", "replace")})
    for match in _ELLIPSIS.finditer(context.data):
        yield Hit(*match.span(1), "ellipsis")
    evaluated = sections.get(8 if older else 9)
    if evaluated is not None:
        at = context.data.find(_CROSS, evaluated.end, evaluated.stop)
        while at >= 0:
            yield Hit(at, at + len(_CROSS), "failed", {"title": evaluated.title})
            at = context.data.find(_CROSS, at + 1, evaluated.stop)
    cases = sections.get(8)
    if cases is not None and not older:
        names = set(_CASE.findall(docs.body_of(context.file, cases)))
        if len(names) < _CASES:
            yield Hit(cases.start, cases.end, "cases", {"count": len(names), "wanted": _CASES})
    if generation(context.project) == 2:
        yield from _border(context)


def _border(context: Context) -> Iterator[Hit]:
    """The section on what the host does, which has to say that it is nothing."""
    border = docs.section(context.file, _BORDER)
    if border is None:
        yield Hit(*_top(context), "no-border", {"title": "Wrapper 边界外操作"})
        return
    body = docs.body_of(context.file, border)
    if body.strip().strip("。.").strip() != "空":
        start = border.end + len(body.encode()) - len(body.lstrip().encode())
        stop = border.end + len(body.rstrip().encode())
        where = (start, stop) if stop > start else (border.start, border.end)
        yield Hit(*where, "border", {"title": border.title, "body": "空"})


def untested_case(context: Context) -> Iterator[Hit]:
    """A case §8 of the design names that the test does not have."""
    if not _is_pro(context) or context.project is None:
        return
    cases = _numbered(_second(context), _SECTION).get(8)
    tests = {}
    for file in context.project.files("pypto-test"):
        name = pro_test(file, context.project)
        if name is not None and not is_staged(file, name):
            tests[file.path.rpartition("/")[2]] = set(test_functions(file))
    if cases is None or not tests:
        return
    known = set().union(*tests.values())
    seen: set[str] = set()
    text = docs.body_of(context.file, cases)
    for match in _CASE.finditer(text):
        word = match[0]
        if word in seen or word in known or f"{word}.py" in tests or text[match.end() : match.end() + 3] == ".py":
            continue
        seen.add(word)
        # Looked for in the bytes: what is no UTF-8 has another length as text.
        start = context.data.find(word.encode(), cases.end)
        if start < 0:
            continue
        yield Hit(start, start + len(word.encode()), "default", {"name": word, "file": min(tests)})


def incomplete_explore_report(context: Context) -> Iterator[Hit]:
    """Sections an exploration report lacks, and what it found to be impossible."""
    headings = _second(context)
    sections = _numbered(headings, _NUMBERED)
    missing = [str(n) for n in (3, 4, 5, 10) if n not in sections]
    if missing or len(headings) < _REPORT:
        args = {"count": len(headings), "sections": "、".join(missing), "sections_en": ", ".join(missing)}
        yield Hit(*_top(context), "default" if missing else "few", args)
    for match in _INFEASIBLE.finditer(context.data):
        line = context.data[context.data.rfind(b"\n", 0, match.start()) + 1 : context.data.find(b"\n", match.end())]
        if any(
            word in line for word in ("替代".encode(), "没有".encode(), "无".encode(), b"alternative", b"none", b"no ")
        ):
            continue
        yield Hit(*match.span(), "open", {"written": match[0].decode("utf-8", "replace")})


def incomplete_material_index(context: Context) -> Iterator[Hit]:
    """An index of material without one of its three parts."""
    titles = [heading.title.strip() for heading in _second(context)]
    missing = [f"§{part}" for part in "ABC" if not any(title.startswith(f"§{part}") for title in titles)]
    if missing:
        yield Hit(*_top(context), "default", {"sections": "、".join(missing), "sections_en": ", ".join(missing)})


def missing_file(context: Context) -> Iterator[Hit]:
    """A file that a stage behind has to have left."""
    project = context.project
    root = root_of(context.file)
    if project is None or root is None or root.kind != "mapping" or not is_pro_project(project):
        return
    stage = root.get("current_stage")
    current = stage.data() if stage is not None else None
    name = root.get("operator_name")
    op = name.text.strip() if name is not None and name.kind == "scalar" and name.text.strip() else project.name
    status = root.get("stage_status")
    if stage is None or not isinstance(current, int) or isinstance(current, bool):
        return
    there = {
        "design": any(True for _ in project.files("pypto-design")),
        "interfaces": any(True for _ in project.files("pypto-interfaces")) or generation(project) == 1,
        "golden": any(_stem(f.path) == f"{op}_golden" for f in project.files("pypto-golden")),
        "golden_cpu": any(_stem(f.path) == f"{op}_golden_cpu" for f in project.files("pypto-golden")),
        "test": any(_stem(f.path) == f"test_{op}" for f in project.files("pypto-test")),
    }
    missing = []
    for number, part, file in _WANTED:
        done = status.get(str(number)) if status is not None else None
        behind = current > number or (done is not None and done.text == "completed")
        if behind and not there[part]:
            missing.append(file.format(op=op))
    if missing:
        args = {"files": "、".join(missing), "files_en": ", ".join(missing), "stage": current}
        yield Hit(*stage.where, "default", args)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".py")


def wrong_stages(context: Context) -> Iterator[Hit]:
    """A state file of PyPTO-Pro with the stages of another workflow."""
    root = root_of(context.file)
    if root is None or root.kind != "mapping" or not is_pro_project(context.project):
        return
    limit = root.get("max_stage")
    version = root.get("schema_version")
    written = version.text.strip().strip("\"'") if version is not None else ""
    wanted = 5 if written == "2.2" else 4 if written in ("2.0", "2.1") else None
    value = limit.data() if limit is not None else None
    if limit is None or (value == wanted if wanted is not None else value in (4, 5)):
        return
    args = {"value": limit.text, "wanted": wanted or "4/5", "version": written or "?"}
    fix = Fix((Edit(*limit.where, str(wanted)),)) if wanted is not None and isinstance(value, int) else None
    yield Hit(*limit.where, "default", args, fix)


def wrong_suffix(context: Context) -> Iterator[Hit]:
    """A staged file whose number is not that of all modules up to one: 1, 12, 123."""
    stem = _stem(context.file.path)
    match = _STAGED.fullmatch(stem)
    if match is None or not is_pro_project(context.project):
        return
    suffix = match["golden"] or match["test"]
    own = named(context.file.path)
    if modules_of(suffix) is None and (own is not None or match["golden"]):
        last = int(suffix[-1])
        right = "".join(str(n) for n in range(1, last + 1)) if last else "1"
        start, end = _first_line(context)
        yield Hit(start, end, "default", {"file": f"{stem}.py", "suffix": suffix, "right": right})


def _first_line(context: Context) -> tuple[int, int]:
    stop = context.data.find(b"\n")
    return 0, max(len(context.data) if stop < 0 else stop, min(1, len(context.data)))
