"""How results are judged and measured against what the design says: tolerances, bandwidth factors, references."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.checker_verdict import only_moves
from opdev.checks.designed import design_of, dispatched_dtypes, said, shown, tolerance_of
from opdev.design.arithmetic import evaluate
from opdev.design.cross_schedule import pe_counts
from opdev.design.derived import Collective, collective_of, needs_reference, telling_name
from opdev.design.document import DesignDocument
from opdev.design.dtypes import fold_dtype, number
from opdev.design.nodes import Node
from opdev.facts.cases import cases_of
from opdev.facts.scripts import tolerances
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax.cpp_text import squeeze


def tolerance_mismatch(context: Context) -> Iterator[Hit]:
    """A tolerance handed to the checker that is looser than the design's."""
    project = context.project
    document = design_of(project)
    if project is None or document is None or only_moves(context):
        return
    given = _given_in_cases(context) if context.file.language == "yaml" else _given_in_script(context)
    told: set[tuple[int, int]] = set()
    # One variable may be given for both: that is one mistake.
    for option, value, start, end, dtypes in sorted(given, key=lambda one: (one[2], one[0] != "rtol")):
        stated = tolerance_of(document, option)
        if stated is None:
            continue
        worst = _tightest(document, stated, dtypes)
        if worst is None or value <= worst[0] * (1 + 1e-6) or (start, end) in told:
            continue
        told.add((start, end))
        limit, node, dtype = worst
        written = node.text.strip()
        args = {"option": option, "value": f"{value:g}", "limit": written, "for": f"{dtype} " if dtype else ""}
        related = (shown(document, node, "设计的误差", "the design's tolerance"),)
        # One value for all dtypes cannot be put right by another one value.
        alone = dtypes or not stated[1]
        plain = written if isinstance(number(written), float) and "^" not in written else repr(limit)
        fix = Fix((Edit(start, end, plain),)) if alone else None
        yield Hit(start, end, args=args, fix=fix, related=related)


_Given = tuple[str, float, int, int, tuple[str, ...]]


def _given_in_script(context: Context) -> Iterator[_Given]:
    for one in tolerances(context.file):
        yield one.option, one.value, one.start, one.end, one.dtypes


def _given_in_cases(context: Context) -> Iterator[_Given]:
    cases = cases_of(context.file)
    for case in cases.cases if cases is not None else ():
        dtype = fold_dtype(case.dtype or "")
        for option, value in (("rtol", case.rtol), ("atol", case.atol)):
            if value is not None and dtype is not None and option in case.places:
                yield option, value, *case.places[option], (dtype,)


def _tightest(
    document: DesignDocument,
    stated: tuple[float | None, dict[str, tuple[float, Node]], Node],
    dtypes: tuple[str, ...],
) -> tuple[float, Node, str] | None:
    """(value, node, dtype) of the smallest tolerance the design has for these dtypes."""
    for_all, by_dtype, node = stated
    if for_all is not None:
        return for_all, node, ""
    if not dtypes:
        wanted = dispatched_dtypes(document)
        dtypes = tuple(d for d in by_dtype if wanted is None or not len(wanted) or d in wanted)
    known = [(*by_dtype[d], d) for d in dtypes if d in by_dtype]
    return min(known, key=lambda one: one[0]) if known else None


_FACTOR = re.compile(
    rb"(?<![\w.])(?:\w+_)?(?:bus_?)?[fF](?:actor|ACTOR)\s*=(?!=)\s*(?P<value>[^;,{}]+)[;,]|\bBUS_FACTOR\s*=(?!=)\s*(?P<upper>[^;,{}]+)[;,]"
)
_CAST = re.compile(r"static_cast<(?:double|float)>|\((?:double|float)\)|(?<=\d)\.0?f?(?![\d])|(?<=\d)f\b")
_N = r"(?:[\w.]+(?:->))?[\w.]*(?:n_?pes?|npes|pe_size|pe_num|world_?size|n_?ranks?|rank_?size|rank_?num)\w*"
_SHARES = (
    ("(n-1)/n", re.compile(rf"\(*{_N}-1\)+/\(?{_N}\)*", re.IGNORECASE)),
    ("2(n-1)/n", re.compile(rf"\(*2\*\(*{_N}-1\)+/\(?{_N}\)*", re.IGNORECASE)),
    ("1", re.compile(r"1")),
)
_EXPECTED: dict[Collective, str] = {
    "all-to-all": "(n-1)/n", "reduce-scatter": "(n-1)/n", "all-gather": "(n-1)/n", "all-reduce": "2(n-1)/n",
    "broadcast": "1", "p2p": "1", "scatter": "1", "gather": "1", "reduce": "1",
}  # fmt: skip


def _collective(context: Context) -> tuple[DesignDocument, Node, Collective] | None:
    """The collective a design's operator is; None for fused ones, whose traffic is not that of the name."""
    document = design_of(context.project)
    if document is None:
        return None
    name, kind = said(document, "meta.op_name"), said(document, "meta.op_kind")
    if name is None or kind is None or kind.text not in ("collective", "transport"):
        return None
    collective = collective_of(telling_name(name.text, document.text("performance.baseline")))
    return (document, name, collective) if collective is not None else None


def bus_factor_mismatch(context: Context) -> Iterator[Hit]:
    """A bus factor that is another collective's."""
    found = _collective(context)
    if found is None or found[2] not in _EXPECTED:
        return
    document, name, collective = found
    expected = _EXPECTED[collective]
    for match in _FACTOR.finditer(context.code):
        group = "value" if match["value"] is not None else "upper"
        written = match[group].decode("utf-8", "replace").strip()
        text = squeeze(_CAST.sub("", squeeze(written)))
        is_one = next((label for label, pattern in _SHARES if pattern.fullmatch(text)), None)
        if is_one is None or is_one == expected:
            continue
        start = match.start(group)
        args = {"value": written, "has": is_one, "expected": expected, "operator": name.text, "kind": collective}
        related = (shown(document, name, f"算子是 {collective}", f"the operator is {collective}"),)
        yield Hit(start, start + len(match[group].rstrip()), args=args, related=related)


_PEAK = re.compile(
    rb"(?i)\b\w*peak_?(?:bandwidth|bw|gbps)\w*\s*=(?!=)\s*(?P<value>[\d.]+f?(?:\s*\*\s*[\d.]+f?)?)\s*[;,]"
)


def peak_mismatch(context: Context) -> Iterator[Hit]:
    """A peak bandwidth of one link for a collective, or of several for one that uses one."""
    found = _collective(context)
    if found is None:
        return
    document, name, collective = found
    scope, link = said(document, "meta.scope"), said(document, "topology.intra_node_link_bandwidth_gbps")
    unit = number(link.data()) if link is not None else None
    most = max(pe_counts(document), default=0)
    if scope is None or scope.text != "intra_node" or isinstance(unit, bool) or not isinstance(unit, int | float):
        return
    for match in _PEAK.finditer(context.code):
        value = evaluate(re.sub(r"(?<=[\d.])f", "", match["value"].decode()))
        one_link = collective in ("p2p", "dispatch")
        if value is None or unit <= 0 or value % unit:
            continue
        wrong = value > unit if one_link else value == unit and most > 2
        if wrong:
            args = {
                "value": match["value"].decode(), "operator": name.text, "kind": collective,
                "expected": f"{unit:g}" if one_link else f"{unit:g} * (n_pes - 1)",
            }  # fmt: skip
            related = (shown(document, name, f"算子是 {collective}", f"the operator is {collective}"),)
            yield Hit(*match.span("value"), args=args, related=related)


# An option for the reference's output, or a reference computed on the spot.
_REFERENCE = re.compile(rb"--[\w-]*(?:torch|ref|npu)[\w-]*|^\s*(?:import|from)\s+torch", re.MULTILINE)


def missing_reference_pass(context: Context) -> Iterator[Hit]:
    """A checker of a fused operator that cannot compare with the reference's error."""
    project = context.project
    document = design_of(project)
    kind = said(document, "meta.op_kind")
    if document is None or kind is None or not needs_reference(kind.text):
        return
    if context.file.path.rpartition("/")[2] != "check_result.py":
        return
    if _REFERENCE.search(context.data):
        return
    parser = re.search(rb"\bArgumentParser\b", context.code)
    if parser is not None:
        related = (shown(document, kind, "设计的算子类别", "the kind of operator in the design"),)
        yield Hit(*parser.span(), related=related)
