"""Limits a result is judged by, against the precision standard: tolerances given by hand, eb, ratios to a reference, the share that has to match."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.case_lists import op_kind
from opdev.checks.checker_verdict import only_moves
from opdev.checks.designed import design_of, tolerance_of
from opdev.design.derived import COMPUTE_TIMES, EB_LIMITS, expected_tolerance
from opdev.design.dtypes import fold_dtype, is_integer
from opdev.facts.cases import cases_of, matrix_of
from opdev.facts.scripts import tolerances
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import py

if TYPE_CHECKING:
    from tree_sitter import Node

_CLOSE = ("allclose", "isclose", "assert_allclose", "assert_close")
_NUMBER = rb"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_POWER = re.compile(r"2(?:\.0)?\s*\*\*\s*\(?\s*(-\d{1,3})\s*\)?\Z|(?:math\.)?pow\(\s*2(?:\.0)?\s*,\s*(-\d{1,3})\s*\)\Z")
_EB = re.compile(
    rb"^[ \t]*(?P<name>(?:\w{0,60}_)?[eE][bB](?:_\w{0,60})?)[ \t]*=(?!=)[ \t]*(?P<value>[^\r\n#]+)", re.MULTILINE
)
_PAIR = re.compile(rb"[\"'](?P<key>\w+)[\"'][ \t]*:[ \t]*(?P<value>[^,}\r\n#]+)")
_RATIO = re.compile(
    rb"\b(?P<name>\w{0,60}(?P<what>mare|mere|rmse|max_?re|mean_?re)\w{0,60})[ \t]*(?P<sign><=?|>=?)[ \t]*(?P<value>" + _NUMBER + rb")(?![\w.])",
    re.IGNORECASE,
)  # fmt: skip
_RATIOS = re.compile(
    rb"^[ \t]*\w{0,60}ratio\w{0,60}[ \t]*=(?!=)[ \t]*\{(?P<body>[^{}]*)\}", re.IGNORECASE | re.MULTILINE
)
_MOST = {"mare": 10.0, "maxre": 10.0, "mere": 2.0, "meanre": 2.0, "rmse": 2.0}
_SHARE = re.compile(
    rb"\b(?P<name>\w{0,60}(?:precision|match(?:ed|ing)?|pass(?:ed)?|correct|equal)_?(?P<unit>percent|pct|ratio|rate|fraction)\w{0,60})[ \t]*(?P<sign>>=?|<)[ \t]*(?P<value>"
    + _NUMBER + rb")(?![\w.])", re.IGNORECASE,
)  # fmt: skip
_WRONG = re.compile(
    rb"\b(?P<name>\w{0,60}(?:mismatch(?:ed)?|wrong|bad)_?(?:percent|pct|ratio|rate|fraction)\w{0,60})[ \t]*(?P<sign><=?|>=?)[ \t]*(?P<value>"
    + _NUMBER + rb")(?![\w.])", re.IGNORECASE,
)  # fmt: skip
_BOTH = re.compile(
    rb"(?<![\w.])(?:\w{1,60}\.){0,4}basic\w{0,60}[ \t]+(?P<word>and)[ \t]+(?:\w{1,60}\.){0,4}ref(?:erence)?\w{0,60}\b(?![ \t]*(?:is|==|\())"
)
_NEAR = 1e-6


def unequal(context: Context) -> Iterator[Hit]:
    """An atol that is not the rtol beside it."""
    note = {"zh": "rtol 在这里", "en": "rtol is here"}
    document = design_of(context.project)
    # What a design states is what they have to be, whatever stands beside them.
    free = document is None or all(tolerance_of(document, option) is None for option in ("rtol", "atol"))
    for rtol, atol in _pairs(context):
        if _differ(rtol[0], atol[0]):
            fix = Fix((Edit(atol[1], atol[2], context.file.source.text(rtol[1], rtol[2])),)) if free else None
            args = {"atol": f"{atol[0]:g}", "rtol": f"{rtol[0]:g}"}
            yield Hit(atol[1], atol[2], args=args, fix=fix, related=(Related(rtol[1], rtol[2], note),))


_Given = tuple[float, int, int]


def _pairs(context: Context) -> Iterator[tuple[_Given, _Given]]:
    if context.file.language == "python":
        for call in py.calls(context, *_CLOSE):
            found = [_literal(context, call.keywords.get(name)) for name in ("rtol", "atol")]
            if found[0] is not None and found[1] is not None:
                yield found[0], found[1]
        return
    if context.file.language == "yaml":
        cases = cases_of(context.file)
        for case in cases.cases if cases is not None else ():
            first, second = case.places.get("rtol"), case.places.get("atol")
            # One word may stand for both.
            if case.rtol is None or case.atol is None or first is None or second is None or first == second:
                continue
            yield (case.rtol, *first), (case.atol, *second)
        return
    given = tolerances(context.file)
    for dtypes in dict.fromkeys(one.dtypes for one in given):
        mine = {name: [g for g in given if g.option == name and g.dtypes == dtypes] for name in ("rtol", "atol")}
        # Several of one kind are for cases that cannot be told apart here.
        if len(mine["rtol"]) == len(mine["atol"]) == 1:
            rtol, atol = mine["rtol"][0], mine["atol"][0]
            yield (rtol.value, rtol.start, rtol.end), (atol.value, atol.start, atol.end)


def _literal(context: Context, node: Node | None) -> _Given | None:
    value = _number(context.text(node)) if node is not None else None
    return (value, node.start_byte, node.end_byte) if value is not None and node is not None else None


def _number(text: str) -> float | None:
    text = text.strip()
    power = _POWER.match(text)
    if power is not None:
        return 2.0 ** int(power[1] or power[2])
    return float(text) if re.fullmatch(_NUMBER, text.encode()) else None


def _differ(one: float, other: float) -> bool:
    return abs(one - other) > _NEAR * max(abs(one), abs(other))


def for_all(context: Context) -> Iterator[Hit]:
    """One tolerance for dtypes of which the standard asks different ones, and no design that says otherwise."""
    project = context.project
    matrix = matrix_of(project) if project is not None else None
    if project is None or matrix is None or only_moves(context):
        return
    document = design_of(project)
    dtypes = sorted({d for case in matrix.cases if (d := fold_dtype(case.dtype or "")) is not None})
    kind = op_kind(context)
    limits = {d: limit for d in dtypes if (limit := expected_tolerance(kind, d, project.name)) is not None}
    if len(set(limits.values())) < 2:
        return
    tightest = min(limits, key=lambda d: limits[d])
    for option, value, start, end in _constants(context):
        if document is not None and tolerance_of(document, option) is not None:
            continue
        if value > limits[tightest] * (1 + _NEAR):
            args = {"option": option, "value": f"{value:g}", "dtype": tightest, "standard": f"{limits[tightest]:g}"}
            yield Hit(start, end, args={**args, "dtypes": ", ".join(limits)})
            return


def _constants(context: Context) -> Iterator[tuple[str, float, int, int]]:
    if context.file.language == "python":
        for call in py.calls(context, *_CLOSE):
            for name in ("rtol", "atol"):
                found = _literal(context, call.keywords.get(name))
                if found is not None:
                    yield name, *found
        return
    for one in tolerances(context.file):
        if not one.dtypes:
            yield one.option, one.value, one.start, one.end


def small_sums(context: Context) -> Iterator[Hit]:
    """A case of few accumulations with the wider tolerance that is meant for many."""
    cases, kind = cases_of(context.file), op_kind(context)
    if cases is None or context.project is None or only_moves(context):
        return
    for case in cases.cases:
        dtype = fold_dtype(case.dtype or "")
        if dtype is None or not case.n_pes or not case.elements or case.rtol is None:
            continue
        times = case.n_pes * case.elements
        narrow = expected_tolerance(kind, dtype, context.project.name, times)
        wide = expected_tolerance(kind, dtype, context.project.name)
        if times >= COMPUTE_TIMES or narrow is None or wide is None or narrow >= wide:
            continue
        if not _differ(case.rtol, wide) and "rtol" in case.places:
            place = case.places["rtol"]
            args = {"case": case.id, "value": f"{case.rtol:g}", "times": str(times), "right": repr(narrow)}
            yield Hit(*place, args=args, fix=Fix((Edit(*place, repr(narrow)),)))


def integers(context: Context) -> Iterator[Hit]:
    """A tolerance other than 0 for integers."""
    if only_moves(context):
        return
    if context.file.language == "yaml":
        cases = cases_of(context.file)
        for case in cases.cases if cases is not None else ():
            dtype = fold_dtype(case.dtype or "")
            if dtype is None or not is_integer(dtype):
                continue
            places = {case.places[n]: v for n, v in (("rtol", case.rtol), ("atol", case.atol)) if n in case.places}
            for place, value in places.items():
                if value:
                    yield _exact(place, dtype, value)
        return
    for one in tolerances(context.file):
        if one.dtypes and all(is_integer(d) for d in one.dtypes) and one.value:
            yield _exact((one.start, one.end), ", ".join(one.dtypes), one.value)


def _exact(place: tuple[int, int], dtype: str, value: float) -> Hit:
    return Hit(*place, args={"dtype": dtype, "value": f"{value:g}"}, fix=Fix((Edit(*place, "0"),)))


def eb(context: Context) -> Iterator[Hit]:
    """A limit of the error balance that is not the standard's."""
    for match in _EB.finditer(context.nocomment):
        text = match["value"].decode("utf-8", "replace").strip()
        at = match.start("value")
        if text.startswith("{"):
            body = context.nocomment[at : _closing(context.nocomment, at)]
            for pair in _PAIR.finditer(body):
                dtype, value = fold_dtype(pair["key"].decode()), _number(pair["value"].decode("utf-8", "replace"))
                if dtype in EB_LIMITS and value is not None and _differ(value, EB_LIMITS[dtype]):
                    start = at + pair.start("value")
                    yield _limit(start, start + len(pair["value"].rstrip()), dtype, value)
            continue
        value = _number(text)
        if value and not any(not _differ(value, limit) for limit in EB_LIMITS.values()):
            yield Hit(at, at + len(match["value"].rstrip()), "unknown", {"value": text})


def _limit(start: int, end: int, dtype: str, value: float) -> Hit:
    right = EB_LIMITS[dtype]
    power = f"2**-{round(1 / right).bit_length() - 1}"
    key = "default" if value > right else "tight"
    return Hit(
        start, end, key, {"dtype": dtype, "value": f"{value:g}", "right": power}, Fix((Edit(start, end, power),))
    )


def _closing(text: bytes, at: int) -> int:
    end = text.find(b"}", at)
    return end + 1 if end >= 0 else at


def reference_ratios(context: Context) -> Iterator[Hit]:
    """A ratio to the reference's error that is not 10, 2 and 2."""
    text = context.code
    for match in _RATIO.finditer(text):
        if b"ratio" in match["name"].lower():
            yield from _ratio(match["what"], match["value"], match.start("value"))
    for found in _RATIOS.finditer(context.nocomment):
        for pair in _PAIR.finditer(found["body"]):
            start = found.start("body") + pair.start("value")
            yield from _ratio(pair["key"], pair["value"].rstrip(), start)


def _ratio(what: bytes, written: bytes, start: int) -> Iterator[Hit]:
    name = what.decode().lower().replace("_", "")
    right, value = _MOST.get(name), _number(written.decode("utf-8", "replace"))
    if right is None or value is None or not _differ(value, right):
        return
    end = start + len(written)
    args = {"name": what.decode(), "value": written.decode(), "right": f"{right:g}"}
    yield Hit(start, end, args=args, fix=Fix((Edit(start, end, f"{right:g}"),)))


def pass_rule(context: Context) -> Iterator[Hit]:
    """A verdict that lets some elements be wrong, or asks for both passes where one is enough."""
    text = context.code
    for match in _SHARE.finditer(text):
        value, hundred = float(match["value"]), match["unit"].lower() in (b"percent", b"pct")
        whole = 100.0 if hundred or value > 1 else 1.0
        # What is printed or asserted as too low (`< 99`) lets the rest pass just as well.
        if 0.5 * whole <= value < whole:
            place = match.start("value"), match.end("value")
            right = f"{whole:g}"
            fix = Fix((Edit(*place, right),)) if match["sign"] != b">" else None
            yield Hit(*place, args={"name": match["name"].decode(), "value": match["value"].decode(), "right": right}, fix=fix)  # fmt: skip
    for match in _WRONG.finditer(text):
        if float(match["value"]) > 0:
            args = {"name": match["name"].decode(), "value": match["value"].decode()}
            yield Hit(match.start("value"), match.end("value"), "wrong", args)
    for match in _BOTH.finditer(text):
        fix = Fix((Edit(*match.span("word"), "or"),), "or")
        yield Hit(match.start(), match.end(), "both", {}, fix)
