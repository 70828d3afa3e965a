"""Cheating that can be seen in an implementation's own text: every place of it, and nothing that is only a comment taken for code.

The first five checks are the field's own, by its names.  The others decide, of what its reviewers look for, what a syntax tree
decides for certain (fatal) or makes likely (a warning).  What they cannot see, verification sees when the implementation runs.
"""

from __future__ import annotations

import io
import os
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from opdev.bench import suspects
from opdev.bench.model import BenchError, CheatReport, Check
from opdev.bench.sources import Source, gathered, imports, jit
from opdev.bench.suspects import Place
from opdev.bench.texts import both
from opdev.pypto.finding import name_of

PATTERNS = ("for testing only", "TODO use pypto", "fallback to torch", "workaround", "bypass pypto")
_WORDS = re.compile("|".join(re.escape(word) for word in PATTERNS), re.IGNORECASE)
_SHADOWED = ("pypto", "torch", "torch_npu", "numpy", "opdev")
_SUFFIX = "_pypto_impl.py"


def operator_name(folder: str, asked: str = "") -> str:
    """What the operator in a folder is called; BenchError for a folder that is none."""
    if not os.path.isdir(folder):
        raise BenchError("v-no-folder", path=folder)
    if asked:
        if not re.fullmatch(r"\w+", asked):
            raise BenchError("v-bad-name", name=asked)
        return asked
    names = sorted(
        n for f in (folder, f"{folder}/src") if os.path.isdir(f) for n in os.listdir(f) if n.endswith(_SUFFIX)
    )
    return names[0].removesuffix(_SUFFIX) if len(names) == 1 else name_of(os.path.abspath(folder))


def look(op: str, folder: str) -> CheatReport:
    """The report on an implementation; nothing of it is run."""
    folder = os.path.abspath(folder)
    sources = gathered(folder, op)
    return report(op, folder, [*_first(op, folder, sources), *_more(op, sources, folder)])


def report(op: str, folder: str, checks: Iterable[Check]) -> CheatReport:
    """A report whose verdict follows from its checks: one fatal one that fails is enough, whatever else was found."""
    found = tuple(checks)
    failed = {check.level for check in found if check.status == "fail"}
    verdict: Literal["pass", "suspicious", "cheat"] = (
        "cheat" if "fatal" in failed else "suspicious" if "warn" in failed else "pass"
    )
    return CheatReport(op, folder, verdict, found)


def _first(op: str, folder: str, sources: Sequence[Source]) -> Iterator[Check]:
    """The checks of the field's own benchmark."""
    if not sources:
        yield Check("sources_present", "fail", "fatal", both("v-c-no-sources", op=op, folder=folder))
        return
    yield Check("sources_present", "pass", "fatal", both("v-c-sources", count=len(sources)))
    for source in sources:
        if source.tree is None:
            detail = both("v-c-parse", why=source.problem, line=source.line)
            yield Check(
                f"parse:{os.path.basename(source.path)}", "fail", "fatal", detail, ((source.path, source.line),)
            )
    used = [(s.path, line) for s in sources for name, line in imports(s) if name.partition(".")[0] == "pypto"]
    yield _check("import_pypto", "fatal", used, "v-c-import", wanted=True)
    kernels = [(s.path, line) for s in sources for line in _kernels(s)]
    yield _check("has_jit", "fatal", kernels, "v-c-jit", wanted=True)
    hits = [hit for source in sources for hit in _patterns(source)]
    kinds = {kind: sum(1 for _, _, k in hits if k == kind) for kind in ("code", "string", "comment")}
    places = [(path, line) for path, line, _ in hits]
    yield _check("forbidden_text_patterns", "warn", places, "v-c-patterns", wanted=False, **kinds)


def _more(op: str, sources: Sequence[Source], folder: str) -> Iterator[Check]:
    """What a reviewer would look for."""
    shadowed: list[Place] = [
        (path, 1) for name in _SHADOWED for path in (f"{folder}/{name}.py", f"{folder}/{name}/__init__.py") if os.path.isfile(path)
    ]  # fmt: skip
    yield _check("module_shadowed", "fatal", shadowed, "v-c-shadowed")
    yield _check("reference_imported", "fatal", list(suspects.reference(sources, op)), "v-c-reference")
    yield _check("library_patched", "fatal", list(suspects.patched(sources)), "v-c-patched")
    yield _check("caller_reached", "fatal", list(suspects.caller(sources)), "v-c-caller")
    yield _check("torch_compute", "warn", list(suspects.torch_compute(sources)), "v-c-compute")
    yield _check("fallback_handler", "warn", list(suspects.handlers(sources)), "v-c-handler")
    yield _check("branch_without_kernel", "warn", list(suspects.branches(sources)), "v-c-branch")
    yield _check("outside_data", "warn", list(suspects.outside_data(sources)), "v-c-data")
    yield _check("dynamic_code", "warn", list(suspects.dynamic(sources)), "v-c-dynamic")


def _check(
    name: str,
    level: Literal["fatal", "warn"],
    places: Sequence[Place],
    key: str,
    *,
    wanted: bool = False,
    **values: object,
) -> Check:
    """A check that fails where there are places, or where there are none of those that are wanted."""
    bad = bool(places) != wanted
    detail = both(f"{key}-bad" if bad else f"{key}-good", count=len(places), **values)
    return Check(name, "fail" if bad else "pass", level, detail, tuple(dict.fromkeys(places)))


def _kernels(source: Source) -> Iterator[int]:
    """Lines where pypto's ``jit`` is used; a ``jit`` of the file's own is none."""
    import ast

    for node in ast.walk(source.tree) if source.tree is not None else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from (decorator.lineno for decorator in node.decorator_list if jit(source, decorator))
        elif isinstance(node, ast.Call) and jit(source, node):
            yield node.lineno


def _patterns(source: Source) -> Iterator[tuple[str, int, str]]:
    """(path, line, kind) of each forbidden text; ``kind`` is ``comment``, ``string`` or ``code``."""
    kinds = _token_kinds(source.text)
    start = 0
    lines = [0]
    for line in source.text.splitlines(keepends=True):
        start += len(line)
        lines.append(start)
    at = 0
    for match in _WORDS.finditer(source.text):
        while at + 1 < len(lines) and lines[at + 1] <= match.start():
            at += 1
        column = match.start() - lines[at]
        yield source.path, at + 1, next((k for b, e, k in kinds if b <= (at + 1, column) < e), "code")


def _token_kinds(text: str) -> list[tuple[tuple[int, int], tuple[int, int], str]]:
    """Where comments and strings are."""
    found = []
    inner: list[tuple[int, int]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            name = tokenize.tok_name[token.type]
            if name == "COMMENT":
                found.append((token.start, token.end, "comment"))
            elif name == "STRING":
                found.append((token.start, token.end, "string"))
            elif name == "FSTRING_START":
                inner.append(token.start)
            elif name == "FSTRING_END" and inner:
                found.append((inner.pop(), token.end, "string"))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        pass
    return found
