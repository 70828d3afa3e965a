"""What a design measures, against what, and with which CANN it is built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.design_fields import expected_zh, lacking, narrowed, overwrite, quoted, wrong
from opdev.checks.design_problems import additions, below, design, fix_of, problems
from opdev.design.derived import HCCL_OF, collective_of
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Severity

if TYPE_CHECKING:
    from opdev.design.document import DesignDocument
    from opdev.design.markdown import Cell
    from opdev.design.nodes import Node

_KEYS = (
    "metric", "baseline", "baseline_search", "baseline_target", "target_cases", "min_scale", "profiling_method",
    "max_opt_rounds",
)  # fmt: skip
# What their own rules judge once the key is there.
_OWN = ("metric", "baseline", "max_opt_rounds")
_METRICS = (
    "e2e_latency_us", "kernel_latency_us", "algo_bandwidth_GBps", "e2e_bus_bandwidth_GBps", "kernel_bus_bandwidth_GBps",
)  # fmt: skip
_TARGET, _TARGET_ALONE = "current >= 80% baseline", "metric_only，链路利用率不低于 20%"
_STUB = "replace_me：写明查过哪些 HCCL、aclnn 接口，为何不适用"
_CANN_PATH = re.compile(r"[^\s`\"'|，；。（）()<>]+")
_FIELD = re.compile(r"[`*\s]*cann_(?:env|set_env)[`*\s]*\Z")


def keys(context: Context) -> Iterator[Hit]:
    """Something nobody can measure without is not said; without a measurement to come it can wait."""
    document = design(context)
    severity: Severity | None = "warning" if _not_wanted(document) else None
    for hit in lacking(context, *(f"performance.{key}" for key in _KEYS), values=lambda _: _defaults(document)):
        yield Hit(hit.start, hit.end, hit.message, hit.args, hit.fix, severity, hit.related)
    rest = [f"performance.{key}" for key in _KEYS if key not in _OWN]
    for problem, hit in wrong(context, *rest, codes=("empty-value", "wrong-type")):
        if problem.under("performance.baseline_search") and _alone(document):
            continue
        yield Hit(hit.start, hit.end, hit.message, hit.args, None, severity)
    for problem in problems(context, "target-cases-missing"):
        chosen = _big_cases(document)
        fix = overwrite(document.get(problem.path), chosen, "cases") if chosen else None
        yield Hit(problem.start, problem.end, "cases", problem.args, fix)


def _not_wanted(document: DesignDocument) -> bool:
    node = document.get("meta.performance_required")
    return node is not None and node.data() is False


def _alone(document: DesignDocument) -> bool:
    """Whether there is nothing to compare with."""
    return document.text("performance.baseline").strip() == "metric_only"


def counterpart(document: DesignDocument) -> str | None:
    """The HCCL call that does what a collective does; None where there is none."""
    name = document.text("meta.op_name")[:200]
    same = collective_of(name) if document.text("meta.op_kind") == "collective" else None
    api = HCCL_OF.get(same) if same is not None else None
    return "HcclAlltoAllV" if api == "HcclAlltoAll" and re.search(r"v(?:_|$)", name) else api


def _defaults(document: DesignDocument) -> dict[str, str]:
    """What the design lets us say of each key."""
    kind, api, cases = document.text("meta.op_kind"), counterpart(document), _big_cases(document)
    found = {"metric": "[" + ", ".join(_METRICS) + "]", "max_opt_rounds": "5"}
    found["baseline_target"] = _TARGET_ALONE if _alone(document) else _TARGET
    if api is not None:
        found["baseline"] = api
    if kind == "collective":
        found["min_scale"] = "256 MB"
    elif kind in ("compute", "fused_compute_comm"):
        found["min_scale"] = "hidden size >= 1000"
    if cases is not None:
        found["target_cases"] = cases
    return found


def _big_cases(document: DesignDocument) -> str | None:
    """The names of the cases for performance, as a list; None without any."""
    names: list[str] = []
    for case in document.items("correctness.case_matrix")[:200]:
        name, category, scale = (
            n.text.strip() if (n := case.get(k)) is not None else "" for k in ("case", "category", "scale")
        )
        if name and "\n" not in name and (category == "performance" or scale in ("S", "L")):
            names.append(quoted(name))
    return "[" + ", ".join(names) + "]" if names else None


def metrics(context: Context) -> Iterator[Hit]:
    """The metric that decides, or one of the latencies, is not measured."""
    from opdev.design.changes import append

    document = design(context)
    node = document.get("performance.metric")
    whole = "[" + ", ".join(_METRICS) + "]"
    for problem, hit in wrong(context, "performance.metric", codes=("empty-value", "wrong-type")):
        fix = overwrite(node, whole) if problem.path == "performance.metric" else None
        yield Hit(hit.start, hit.end, hit.message, hit.args, fix)
    for problem in problems(context, "metric-missing"):
        if node is None or node.kind != "sequence":
            continue  # Said above: it is no list.
        there = {n.text.strip() for n in node.children}
        fix = fix_of(*[append(document, node, metric) for metric in _METRICS if metric not in there])
        yield Hit(problem.start, problem.end, args=problem.args, fix=fix)


def baseline(context: Context) -> Iterator[Hit]:
    """There is no baseline, nor a word that there can be none."""
    document = design(context)
    node = document.get("performance.baseline")
    found = [*problems(context, "baseline-none")]
    found += below(context, ["performance.baseline"], "empty-value", "wrong-type")
    for problem in found[:1]:
        message = "default" if problem.code == "baseline-none" else problem.code
        api = counterpart(document) or "metric_only"
        args = {**problem.args, "value": problem.args.get("value", ""), "api": api}
        args["expected_zh"] = expected_zh(str(problem.args.get("expected", "")))
        yield Hit(problem.start, problem.end, message, args, _baseline_fix(document, node))


def _baseline_fix(document: DesignDocument, node: Node | None) -> Fix | None:
    api = counterpart(document)
    if api is not None:
        return overwrite(node, api)
    fix = overwrite(node, "metric_only")
    search = document.get("performance.baseline_search")
    if fix is None or (search is not None and not search.empty):
        return fix
    if search is not None:
        stub = overwrite(search, f'"{_STUB}"')
    else:
        stub = fix_of(*additions(document, "performance", ["baseline_search"], {"baseline_search": f'"{_STUB}"'}))
    return Fix((*fix.edits, *stub.edits)) if stub is not None else fix


def search(context: Context) -> Iterator[Hit]:
    """metric_only without a word on where a baseline was looked for."""
    for problem in problems(context, "search-thin"):
        yield Hit(problem.start, problem.end, args=problem.args)
    if _alone(design(context)):
        for problem in below(context, ["performance.baseline_search"], "empty-value"):
            yield Hit(problem.start, problem.end, message="empty-value", args=problem.args)


def hccl(context: Context) -> Iterator[Hit]:
    """HCCL has the same collective."""
    for problem in problems(context, "hccl-overlooked"):
        fix = overwrite(design(context).get(problem.path), str(problem.args["api"]))
        yield Hit(problem.start, problem.end, args=problem.args, fix=fix)


def target(context: Context) -> Iterator[Hit]:
    """The target is below the default, or has no number."""
    document = design(context)
    for problem in problems(context, "target-low"):
        start, end = narrowed(context, problem, str(problem.args["value"]))
        node = document.get(problem.path)
        known = node is not None and not node.alias and (start, end) != (problem.start, problem.end)
        whole = node is not None and node.style == "plain" and node.value == problem.args["value"]
        fix = Fix((Edit(start, end, str(problem.args["floor"])),)) if known or whole else None
        yield Hit(start, end, args=problem.args, fix=fix)
    for problem in problems(context, "target-without-number"):
        text = _TARGET_ALONE if _alone(document) else _TARGET
        fix = overwrite(document.get(problem.path), text)
        yield Hit(problem.start, problem.end, message="without-number", args={**problem.args, "floor": text}, fix=fix)


def scale(context: Context) -> Iterator[Hit]:
    """Measured at a scale that says nothing."""
    for problem in problems(context, "min-scale-low"):
        yield Hit(problem.start, problem.end, args=problem.args)


def rounds(context: Context) -> Iterator[Hit]:
    """The rounds of optimisation are no number from 1 to 5."""
    document = design(context)
    for problem, hit in wrong(
        context, "performance.max_opt_rounds", codes=("out-of-range", "wrong-type", "empty-value")
    ):
        node = document.get(problem.path)
        said = node.text.strip() if node is not None and node.kind == "scalar" else ""
        text = said if said in ("1", "2", "3", "4", "5") else "5"
        fix = overwrite(node, text)
        if fix is not None and text == said:
            fix = Fix(fix.edits, applicability="safe")
        message = "default" if problem.code == "out-of-range" else problem.code
        yield Hit(hit.start, hit.end, message, {**hit.args, "text": text}, fix)


def cann_env(context: Context) -> Iterator[Hit]:
    """The CANN to build with is not named by the absolute path of its set_env.sh."""
    document = design(context)
    path = "compile.cann_set_env"
    known = _answered(document)
    node = document.get(path)
    for problem in below(context, [path], "relative-path", "not-set-env"):
        fix = overwrite(node, quoted(known)) if known else None
        yield Hit(problem.start, problem.end, problem.code, problem.args, fix)
    yield from (hit for _, hit in wrong(context, path, codes=("wrong-type",)))
    cell = _contract(document)
    if cell is not None:
        code = _bad_path(cell.text)
        if code:
            yield Hit(cell.start, cell.end, code, {"value": cell.text[:80]})
    parent = document.get("compile")
    if parent is None or (cell is not None and not parent.empty) or (parent.kind != "mapping" and not parent.empty):
        return
    if parent.empty:
        fill = (
            fix_of(*additions(document, "", ["compile"], {"compile": f"  cann_set_env: {quoted(known)}\n"}))
            if known
            else None
        )
        yield Hit(*parent.name_range, message="empty", fix=fill)
    elif node is None:
        added = (
            fix_of(*additions(document, "compile", ["cann_set_env"], {"cann_set_env": quoted(known)}))
            if known
            else None
        )
        yield Hit(*parent.name_range, fix=added)
    elif node.kind == "scalar" and node.empty:
        yield Hit(*node.where, fix=overwrite(node, quoted(known)) if known else None)


def _answered(document: DesignDocument) -> str:
    """The path the intake record in the document has; empty without a usable one."""
    root = document.intake.root if document.intake is not None else None
    node = root.at("phase0_intake.cann_set_env") if root is not None else None
    text = node.text.strip() if node is not None and node.kind == "scalar" else ""
    return text if text.startswith(("/", "$")) and text.endswith("set_env.sh") else ""


def _contract(document: DesignDocument) -> Cell | None:
    """The value of ``cann_env`` in the table of section 6.1; None where it says nothing yet."""
    from opdev.design.frame_find import is_prompt

    for table in document.tables:
        if table.heading is None or table.heading.number != "6.1":
            continue
        for row in table.rows:
            if len(row) > 1 and _FIELD.match(row[0].text) and row[1].text and not is_prompt(row[1].text):
                return row[1]
    return None


def _bad_path(text: str) -> str:
    """What is wrong with the path a cell of prose names; empty for none, or no path at all."""
    if "CANN_SET_ENV" in text:
        return ""
    words = [w for w in _CANN_PATH.findall(text[:500]) if "/" in w or w.endswith("set_env.sh")]
    scripts = [w for w in words if w.endswith("set_env.sh")]
    if any(w.startswith(("/", "$", "~")) for w in scripts):
        return ""
    if scripts:
        return "relative-path"
    return "not-set-env" if any(w.startswith(("/", "$")) for w in words) else ""


def cann_source(context: Context) -> Iterator[Hit]:
    """A source of CANN that no phase knows."""
    from opdev.design.changes import replace

    for problem, hit in wrong(context, "compile.cann_source_mode", codes=("wrong-enum", "wrong-type", "empty-value")):
        if problem.code == "empty-value":
            yield hit
            continue
        node, meant = design(context).get(problem.path), problem.args.get("nearest")
        fix = fix_of(replace(node, str(meant))) if node is not None and meant else None
        yield Hit(hit.start, hit.end, "near" if meant else "default", hit.args, fix)
