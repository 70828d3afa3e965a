"""A design's problems by their code, and the edits its rules have in common.

All problems of a design are found once a file; a rule is a choice among them, so it must not go
through those of all the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related

if TYPE_CHECKING:
    from opdev.design.changes import Change
    from opdev.design.document import DesignDocument
    from opdev.design.problems import Problem
    from opdev.syntax.file import File

# So many unknown keys of one mapping are compared with what it lacks: more are not slips.
_MOST_SLIPS = 8


def problems(context: Context, *codes: str) -> list[Problem]:
    """The problems with any of ``codes``, in text order."""
    by_code = context.file.memo("design-problems-by-code", lambda: _by_code(context.file))
    found = [problem for code in codes for problem in by_code.get(code, ())]
    return found if len(codes) == 1 else sorted(found, key=lambda p: (p.start, p.end, p.path))


def _by_code(file: File) -> dict[str, list[Problem]]:
    from opdev.design.model import problems_of

    by_code: dict[str, list[Problem]] = {}
    for problem in problems_of(file):
        by_code.setdefault(problem.code, []).append(_on_one_line(problem))
    _join_slips(by_code)
    return by_code


def _join_slips(by_code: dict[str, list[Problem]]) -> None:
    """A misspelt key is one offence: not also a key that is missing.

    The unknown key has the missing one as its ``nearest`` then, and ``misspelt`` among its args.
    """
    from opdev.design.problems import nearest

    unknown, lacking = by_code.get("unknown-key", []), by_code.get("missing-key", [])
    missing: dict[str, dict[str, Problem]] = {}
    for problem in lacking if unknown else ():
        missing.setdefault(parent_of(problem.path), {})[str(problem.args["key"])] = problem
    meant: set[str] = set()
    tried: dict[str, int] = {}
    for index, slip in enumerate(unknown):
        parent = parent_of(slip.path)
        tried[parent] = tried.get(parent, 0) + 1
        keys = missing.get(parent)
        key = nearest(str(slip.args["key"]), list(keys)) if keys and tried[parent] <= _MOST_SLIPS else None
        if keys and key is not None:
            meant.add(keys.pop(key).path)
            unknown[index] = replace(slip, args={**slip.args, "nearest": key, "misspelt": True})
    if meant:
        by_code["missing-key"] = [problem for problem in lacking if problem.path not in meant]


def below(context: Context, paths: Iterable[str], *codes: str) -> list[Problem]:
    """The problems with any of ``codes`` at or below ``paths``, in text order.

    Those of other fields are not gone through, however many there are.
    """
    if not all("." in path for path in paths):
        return [problem for problem in problems(context, *codes) if problem.under(*paths)]
    by_field = context.file.memo("design-problems-by-field", lambda: _by_field(context))
    fields = {_field(path) for path in paths}
    found = [p for field in fields for code in codes for p in by_field.get((code, field), ()) if p.under(*paths)]
    return sorted(found, key=lambda p: (p.start, p.end, p.path))


def _by_field(context: Context) -> dict[tuple[str, str], list[Problem]]:
    from opdev.design.model import problems_of

    by_field: dict[tuple[str, str], list[Problem]] = {}
    for code in {problem.code for problem in problems_of(context.file)}:
        for problem in problems(context, code):
            by_field.setdefault((code, _field(problem.path)), []).append(problem)
    return by_field


def _field(path: str) -> str:
    """``correctness.case_matrix`` of ``correctness.case_matrix[3].shape``."""
    section, _, rest = path.partition(".")
    return f"{section}.{rest.partition('.')[0].partition('[')[0]}"


def _on_one_line(problem: Problem) -> Problem:
    """A message is one sentence on one line, whatever lines the value it cites has."""
    if not any(isinstance(value, str) and ("\n" in value or "\r" in value) for value in problem.args.values()):
        return problem
    args = {key: " ".join(value.split()) if isinstance(value, str) else value for key, value in problem.args.items()}
    return replace(problem, args=args)


def design(context: Context) -> DesignDocument:
    """The document itself."""
    from opdev.design.document import document_of

    return document_of(context.file)


def parent_of(path: str) -> str:
    """``memory.buffers[0]`` of ``memory.buffers[0].size``; empty for a top-level key."""
    return path.rpartition(".")[0]


def incomplete(context: Context, *paths: str, code: str = "missing-key") -> Iterator[tuple[str, list[Problem]]]:
    """(path of a mapping, what it lacks) for keys at or below ``paths``: one mapping, one finding."""
    lacking: dict[str, list[Problem]] = {}
    for problem in below(context, paths, code):
        lacking.setdefault(parent_of(problem.path), []).append(problem)
    yield from lacking.items()


def told(context: Context, *codes: str) -> Iterator[Hit]:
    """The problems with any of ``codes`` as they are, their args for the message."""
    for problem in problems(context, *codes):
        yield Hit(problem.start, problem.end, args=problem.args)


def missing(
    context: Context, *paths: str, values: Mapping[str, str] | None = None, code: str = "missing-key"
) -> Iterator[Hit]:
    """The keys at or below ``paths`` that are missing: ``in``, ``keys``, ``keys_zh`` and the problem's own args.

    They are inserted with ``values``' text or the template's.
    """
    for parent, lacking in incomplete(context, *paths, code=code):
        keys = in_order(parent, [problem.path.rpartition(".")[2] for problem in lacking])
        fix = fix_of(*additions(design(context), parent, keys, values or {}))
        args = {**lacking[0].args, "in": parent, "keys": ", ".join(keys), "keys_zh": "、".join(keys)}
        yield Hit(lacking[0].start, lacking[0].end, args=args, fix=fix)


def empty(context: Context, *paths: str, values: Mapping[str, str] | None = None) -> Iterator[Hit]:
    """The entries at or below ``paths`` that say nothing: message ``empty`` with ``key``.

    They are filled (fix ``fill``) where ``values`` or the template have more than a placeholder.
    """
    for problem in below(context, paths, "empty-value"):
        fix = fix_of(*_filled(design(context), problem.path, values or {}), title="fill")
        yield Hit(problem.start, problem.end, "empty", {"key": problem.path}, fix)


def gaps(context: Context, *paths: str, values: Mapping[str, str] | None = None) -> Iterator[Hit]:
    """What is ``missing`` and what is ``empty``."""
    yield from missing(context, *paths, values=values)
    yield from empty(context, *paths, values=values)


def _filled(document: DesignDocument, path: str, values: Mapping[str, str]) -> list[Change | None]:
    from opdev.design.changes import fill
    from opdev.design.problems import is_placeholder
    from opdev.design.schema import value_text

    node, value = document.get(path), values.get(path.rpartition(".")[2]) or value_text(path)
    return [] if node is None or (is_placeholder(value) and "\n" not in value) else [fill(document, node, value)]


def fix_of(*changes: Change | None, title: str = "default") -> Fix | None:
    """The changes as one fix; None where one of them (or all) cannot be made.  Insertions at one place become one."""
    merged: dict[tuple[int, int], str] = {}
    for change in changes:
        if change is None:
            return None
        place = (change.start, change.end)
        merged[place] = merged.get(place, "") + change.text
    return Fix(tuple(Edit(start, end, text) for (start, end), text in merged.items()), title) if merged else None


def additions(
    document: DesignDocument, parent: str, keys: Iterable[str], values: Mapping[str, str]
) -> list[Change | None]:
    """Insertions of ``keys`` into a mapping in the DSL's order, each with ``values``' text or the template's."""
    from opdev.design.changes import fill, insert_in_order
    from opdev.design.schema import value_text
    from opdev.design.walk import keys_at

    node = document.get(parent) if parent else document.root
    if node is None:
        return [None]
    order, path = list(keys_at(parent)), f"{parent}." if parent else ""
    changes: list[Change | None] = []
    for key in in_order(parent, keys):
        value, there = values.get(key) or value_text(path + key), node.get(key)
        changes.append(fill(document, there, value) if there else insert_in_order(document, node, key, value, order))
    return changes


def in_order(parent: str, keys: Iterable[str]) -> list[str]:
    """Keys of a mapping as the DSL has them."""
    from opdev.design.walk import keys_at

    order = list(keys_at(parent))
    return sorted(keys, key=lambda key: order.index(key) if key in order else len(order))


def related(problem: Problem, zh: str, en: str) -> tuple[Related, ...]:
    """The problem's other place, with a note."""
    return (Related(*problem.related, {"zh": zh, "en": en}),) if problem.related is not None else ()
