"""What a case file says by its source alone: read by ``ast``, nothing of it is run.

A case has a class ``Model`` and functions ``get_inputs`` and ``get_init_inputs``; it may have ``FORMULA`` (a text),
``DYNAMIC_AXIS`` (a list of texts) and ``CASES`` (further shapes, as a text).
"""

from __future__ import annotations

import ast
import io
import json
import re
import textwrap
import tokenize
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from opdev.bench.model import BenchError, Case

NEEDED = ("Model", "get_inputs", "get_init_inputs")
OPTIONAL = ("FORMULA", "DYNAMIC_AXIS", "CASES")
MOST = 200_000
"""Bytes of a case that are read at most: Python 3.10 dies of syntax trees that are deeper than these can make one."""
_MOST_SHAPES = 10_000
_LARGEST = 1 << 48
Shapes = tuple[tuple[tuple[int, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class Contract:
    """A case's source and its parts.  ``texts`` are the optional globals that stand there as literals."""

    source: str
    framework: str
    init_source: str
    forward_source: str
    line: int
    texts: Mapping[str, Any]
    computed: tuple[str, ...]
    """The optional globals that are there and are no literals."""


def contract_of(case: Case) -> Contract:
    """Read a case.  BenchError names file and line of what is wrong; all missing names are told together."""
    source = _source(case.path)
    tree = _parsed(source, case.path)
    names = dict(_bound(tree))
    missing = [name for name in NEEDED if name not in names and "*" not in names]
    model = names.get("Model")
    if missing:
        line = model.lineno if isinstance(model, ast.stmt) else 1
        raise BenchError("c-case-lacks", where=f"{case.path}:{line}", names=", ".join(missing))
    texts, computed = _texts(names)
    init, forward = (_method(source, model, name) for name in ("__init__", "forward"))
    if isinstance(model, ast.ClassDef) and not forward and not model.bases:
        raise BenchError("c-case-no-forward", where=f"{case.path}:{model.lineno}")
    line = getattr(model, "lineno", 1)
    return Contract(source, _framework(tree), init, forward, line, texts, computed)


def _source(path: str) -> str:
    """A case's text as Python reads it, line ends as they are."""
    try:
        with open(path, "rb") as stream:
            raw = stream.read(MOST + 1)
    except OSError as error:
        raise BenchError("c-case-unreadable", where=path, why=error.strerror or str(error)) from None
    if len(raw) > MOST:
        raise BenchError("c-case-large", where=path, most=MOST)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        return raw.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        at = error.start if isinstance(error, UnicodeDecodeError) else 0
        line = raw.count(b"\n", 0, at) + 1
        raise BenchError("c-case-encoding", where=f"{path}:{line}", why=str(error)) from None


def encoded(source: str) -> bytes:
    """A case's text in the encoding that it names itself."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source.encode("utf-8", "surrogatepass")).readline)
    return source.encode(encoding)


def _parsed(source: str, path: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        where = f"{path}:{error.lineno or 1}:{max(error.offset or 1, 1)}"
        raise BenchError("c-case-syntax", where=where, why=error.msg) from None
    except (RecursionError, MemoryError, ValueError) as error:
        raise BenchError("c-case-syntax", where=f"{path}:1:1", why=str(error) or type(error).__name__) from None


def _bound(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """What is bound at the top of a module, blocks included, functions and classes not entered; the last one counts."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name.partition(".")[0], node) for alias in node.names)
        elif isinstance(node, ast.Assign):
            yield from ((name.id, node) for target in node.targets for name in _names(target))
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
            yield from ((name.id, node) for name in _names(node.target) if node.value is not None)
        elif isinstance(node, (ast.Module, ast.stmt, ast.ExceptHandler)):
            waiting.extend(reversed([n for n in ast.iter_child_nodes(node) if isinstance(n, (ast.stmt, ast.ExceptHandler))]))  # fmt: skip


def _names(target: ast.expr) -> list[ast.Name]:
    if isinstance(target, ast.Name):
        return [target]
    return [n for n in target.elts if isinstance(n, ast.Name)] if isinstance(target, (ast.Tuple, ast.List)) else []


def _framework(tree: ast.Module) -> str:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return next((name for name in ("torch", "mindspore", "numpy") if name in found), "torch")


def _texts(names: Mapping[str, ast.AST]) -> tuple[dict[str, Any], tuple[str, ...]]:
    found: dict[str, Any] = {}
    computed = []
    for name in OPTIONAL:
        node = names.get(name)
        if node is None:
            continue
        try:
            found[name] = _literal(node)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            computed.append(name)
    return found, tuple(computed)


def _literal(node: ast.AST) -> Any:
    """What a plain assignment assigns; ValueError where that is no literal."""
    plain = isinstance(node, ast.AnnAssign) or (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name))
    value = node.value if plain and isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    if value is None:
        raise ValueError(node)
    return ast.literal_eval(value)


def _method(source: str, model: object, name: str) -> str:
    """A method as it is written, its decorators included, moved to the left."""
    if not isinstance(model, ast.ClassDef):
        return ""
    for node in model.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            lines = re.split(r"\r\n|\r|\n", source)[first - 1 : node.end_lineno]
            return textwrap.dedent("\n".join(lines)).strip("\n")
    return ""


def shapes_of(text: object, inputs: int | None) -> tuple[Shapes, tuple[str, dict[str, object]] | None]:
    """(shapes for each case, None), or ((), what is wrong with them: a key of texts and its values).

    ``inputs`` is how many a case has; None where that is not known.
    """
    if not isinstance(text, str):
        return (), ("c-cases-text", {})
    try:
        found = _loaded(text)
    except (ValueError, RecursionError) as error:
        return (), ("c-cases-json", {"why": str(error) or type(error).__name__})
    if not isinstance(found, list) or not found:
        return (), ("c-cases-list", {})
    if len(found) > _MOST_SHAPES:
        return (), ("c-cases-many", {"most": _MOST_SHAPES})
    for number, one in enumerate(found, 1):
        if not isinstance(one, list) or not all(_is_shape(shape) for shape in one):
            return (), ("c-cases-shape", {"number": number})
        if inputs is not None and len(one) != inputs:
            return (), ("c-cases-count", {"number": number, "has": len(one), "inputs": inputs})
    return tuple(tuple(tuple(shape) for shape in one) for one in found), None


def _loaded(text: str) -> Any:
    """JSON, or lines of ``- <JSON>``."""
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if lines and all(line.startswith("-") for _, line in lines):
        found = []
        for number, line in lines:
            try:
                found.append(json.loads(line[1:]))
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
        return found
    return json.loads(text)


def _is_shape(value: object) -> bool:
    return isinstance(value, list) and len(value) <= 64 and all(type(n) is int and 0 <= n < _LARGEST for n in value)
