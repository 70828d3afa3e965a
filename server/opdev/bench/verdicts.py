"""The verdict on one implementation, made again from what ``verification.json`` has measured.

Nothing that is said in it is copied where it follows from something else: the limits are the standard's own, not those
the file names; an output passes by its counts; the whole passes only if every forward does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, prod
from typing import Any

from opdev.bench import deciding
from opdev.bench.records import parsed

_FIELDS = {
    "status": "s", "category": "s", "correctness": "b", "backend": "s", "simulated": "b", "performance": "o", "cheat": "o",
    "stages": "a", "seeds": "a", "sources": "o", "case_sha256": "s", "settings": "o", "versions": "o",
}  # fmt: skip
_NEEDED = ("inputs", "candidate", "reference")
_CLOSE = 1e-6
Fault = tuple[str, Mapping[str, object]]
"""Key of the texts (``r-p-…``) and its values."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """``faults`` say where the file contradicts itself: a verdict with one is not believed."""

    status: str
    correctness: bool | None
    category: str | None
    backend: str | None
    generated_us: float | None = None
    base_us: float | None = None
    speedup: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()


def read(path: str) -> dict[str, Any]:
    """The document; BenchError with file and line where it is damaged, OSError where there is none."""
    return parsed(path, _FIELDS)


def digests(document: Mapping[str, Any]) -> tuple[Mapping[str, str], str | None]:
    """SHA-256 of the sources that ran, by their names, and of the case file."""
    sources = document["sources"] or {}
    return {str(k): str(v) for k, v in sources.items()}, document["case_sha256"]


def derive(document: Mapping[str, Any]) -> Verdict:
    """The verdict of a document that ``read`` has read; never an exception, whatever is in it."""
    try:
        return _derived(document)
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        why = f"{type(error).__name__}: {error}"
        fault: Fault = ("malformed", {"why": why[:200]})
        return Verdict("error", None, document["category"], document["backend"], faults=(fault,))


def _derived(document: Mapping[str, Any]) -> Verdict:
    said, backend, category = document["status"], document["backend"], document["category"]
    faults = list(_labels(document))
    generated, base, speedup = _figures(document, faults)
    status, correctness = said, document["correctness"]
    if said != "error":
        # An error may be of what stands in no field: nothing was measured then, and nothing is claimed.
        decided = _decided(document)
        status, correctness = decided.status, decided.correctness
        if (said, document["correctness"]) != (decided.status, decided.correctness):
            found = {"found": said, "correct": document["correctness"], "derived": decided.status, "right": correctness}
            faults.append(("verdict", found))
        if category != decided.category and (said, category) != ("passed", "PERFORMANCE_FAILED"):
            faults.append(("category", {"found": category, "derived": decided.category}))
    if said == "passed":
        against = list(_against(document))
        faults += against
        if against:
            status, correctness = "failed", False
    return Verdict(status, correctness, category, backend, generated, base, speedup, _facts(document), tuple(faults))


class _Node(dict[str, Any]):
    """An object of the document as the types of ``evidence`` have it: its fields are attributes."""

    __getattr__ = dict.__getitem__


def _node(value: Any) -> Any:
    if isinstance(value, dict):
        return _Node({name: _node(one) for name, one in value.items()})
    return [_node(one) for one in value] if isinstance(value, list) else value


def _decided(document: Mapping[str, Any]) -> deciding.Decision:
    """What the verifier decides of the same checks, stages and forwards."""
    wanted, stages, seeds = document["settings"]["seeds"], document["stages"] or [], document["seeds"] or []
    return deciding.decide(_node(document["cheat"]), _node(stages), _node(seeds), wanted, document["backend"])


def _labels(document: Mapping[str, Any]) -> Iterator[Fault]:
    """What a file calls itself."""
    if document["backend"] not in ("ascend", "sim") or document["simulated"] is not (document["backend"] == "sim"):
        yield "backend", {"found": document["backend"], "simulated": document["simulated"]}
    cheat = document["cheat"] or {}
    failed = [check["level"] for check in cheat["checks"] if check["status"] == "fail"]
    derived = "cheat" if "fatal" in failed else "suspicious" if failed else "pass"
    if cheat["verdict"] != derived:
        yield "cheat-verdict", {"found": cheat["verdict"], "derived": derived}


def _figures(document: Mapping[str, Any], faults: list[Fault]) -> tuple[float | None, float | None, float | None]:
    """Generated and base time and speedup; what was simulated has none."""
    perf = document["performance"] or {}
    generated, base, speedup = perf.get("generated_us"), perf.get("base_us"), perf.get("speedup")
    if document["backend"] == "sim":
        if any(value is not None for value in (generated, base, speedup)):
            faults.append(("simulated-figures", {"found": speedup or generated or base}))
        return None, None, None
    derived: float | None = (
        base / generated if base and generated and _positive(base) and _positive(generated) else None
    )
    if derived is None:
        # The field's own verifier says 0 where there is none.
        wrong = speedup not in (None, 0)
    else:
        wrong = speedup is None or abs(derived - speedup) > _CLOSE + 1e-3 * derived
    if wrong:
        faults.append(("speedup", {"found": speedup, "derived": derived}))
    return generated, base, derived


def _positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and isfinite(value) and value > 0


def _against(document: Mapping[str, Any]) -> Iterator[Fault]:
    """All that keeps it from having passed."""
    if (document["cheat"] or {})["verdict"] == "cheat":
        yield "cheated", {}
    stages, seeds = document["stages"] or [], document["seeds"] or []
    for name in _NEEDED:
        some = [stage for stage in stages if stage["name"] == name]
        if not some:
            yield "no-stage", {"name": name}
        for stage in some:
            if stage["exit"] != 0 or stage["timed_out"] or not stage["complete"] or stage["problem"] is not None:
                yield "stage", {"name": name, "exit": stage["exit"], "signal": stage["signal"]}
    asked = (document["settings"] or {}).get("seeds")
    if not seeds or (isinstance(asked, int) and len(seeds) < asked):
        yield "seeds", {"found": len(seeds), "asked": asked}
    if len(seeds) > 1 and not any(seed["drawn"] for seed in seeds):
        yield "no-drawn-seed", {}
    if len({seed["seed"] for seed in seeds}) < len(seeds):
        yield "same-seeds", {}
    for seed in seeds:
        yield from _forward(seed, simulated=document["backend"] == "sim")


def _forward(seed: Mapping[str, Any], *, simulated: bool) -> Iterator[Fault]:
    number = seed["seed"]
    if not seed["outputs"]:
        yield "no-outputs", {"seed": number}
    if simulated and len(seed["launches"]) != 1:
        yield "launches", {"seed": number, "found": len(seed["launches"])}
    changed = set(seed["changed_inputs"]) - set(seed["reference_changed_inputs"])
    if changed:
        yield "changed-inputs", {"seed": number, "names": ", ".join(sorted(changed))}
    for output in seed["outputs"]:
        why = _output(output, simulated=simulated)
        if why is not None:
            yield "output", {"seed": number, "name": output["name"], "why": why}


def _output(output: Mapping[str, Any], *, simulated: bool) -> str | None:
    """What keeps one output from passing, in its fields: they are the same in every language."""
    actual, expected = output["actual"], output["expected"]
    if output["verdict"] != "pass" or output["problem"] is not None:
        return f"verdict = {output['verdict']}, problem = {output['problem']}"
    if actual is None or expected is None or actual["kind"] != expected["kind"]:
        return "kind"
    if actual["kind"] == "value":
        return None if actual["sha256"] == expected["sha256"] else "value"
    for name in ("dtype", "shape"):
        if actual[name] != expected[name]:
            return f"{name} = {actual[name]} ≠ {expected[name]}"
    if output["beyond"]:
        return f"beyond = {output['beyond']}"
    if simulated and output["origin"] != "kernel" and prod(actual["shape"]):
        return f"origin = {output['origin']}"
    return _numbers(output["metrics"], actual, expected)


def _numbers(metrics: Mapping[str, Any] | None, actual: Mapping[str, Any], expected: Mapping[str, Any]) -> str | None:
    """By PyPTO's standard for the dtype, from the counts."""
    from opdev.precision.standards import REQUIRED_HUNDREDTHS, pypto
    from opdev.precision.texts import PrecisionError

    if metrics is None:
        # Nothing to compare: the same empty tensor.
        return None if prod(actual["shape"]) == 0 and actual["sha256"] == expected["sha256"] else "metrics = null"
    try:
        limits = pypto(actual["dtype"])
    except PrecisionError:
        return f"dtype = {actual['dtype']}"
    elements, within = metrics["elements"], metrics["within"]
    if elements != prod(actual["shape"]) or not 0 <= within <= elements or metrics["compared"] > elements:
        return f"within = {within}, elements = {elements}, shape = {actual['shape']}"
    largest = float(metrics["max_abs"])
    if actual["sha256"] == expected["sha256"] and (largest != 0 or within != elements):
        return f"sha256 = sha256, max_abs = {largest:g}, within = {within} / {elements}"
    required = 100 if limits.exact else REQUIRED_HUNDREDTHS
    if within * 100 < required * elements:
        return f"within = {within} / {elements}"
    if limits.exact:
        return None
    if limits.max_abs is not None and not largest <= limits.max_abs:
        return f"max_abs = {largest:g} > {limits.max_abs:g}"
    if metrics["nan_apart"] or metrics["inf_apart"]:
        return f"nan_apart = {metrics['nan_apart']}, inf_apart = {metrics['inf_apart']}"
    return None


def _facts(document: Mapping[str, Any]) -> dict[str, Any]:
    """What faces show of the evidence."""
    seeds: Sequence[Mapping[str, Any]] = document["seeds"] or []
    outputs = [output for seed in seeds for output in seed["outputs"]]
    shares = [output["metrics"]["matched_ratio"] for output in outputs if output["metrics"]]
    largest = [float(output["metrics"]["max_abs"]) for output in outputs if output["metrics"]]
    return {
        "seeds": [seed["seed"] for seed in seeds],
        "drawn": sum(bool(seed["drawn"]) for seed in seeds),
        "outputs": len(outputs),
        "outputs_passed": sum(output["verdict"] == "pass" for output in outputs),
        "launches": [len(seed["launches"]) for seed in seeds],
        "least_matched": min(shares, default=None),
        "largest_error": _json(max(largest, default=None)),
        "cheat": (document["cheat"] or {}).get("verdict"),
        "versions": document["versions"],
    }


def _json(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None
