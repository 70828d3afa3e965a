"""From what was gathered to the verdict: the first that holds, in the order of the field's own categories.

It passes only when every stage handed over its result, every forward started exactly one kernel, every output is a kernel's
work, and every output holds.  What is not known is no pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opdev.bench.evidence import Compared, Seed, Stage
from opdev.bench.model import Backend, Category, CheatReport, VerifiedStatus
from opdev.bench.texts import both
from opdev.rules.model import Text

OURS = frozenset({"environment", "start", "stopped"})
_EMPTY: Text = {"zh": "", "en": ""}


@dataclass(frozen=True, slots=True)
class Decision:
    status: VerifiedStatus
    category: Category | None
    correctness: bool | None
    message: Text


def fatal(report: CheatReport) -> str:
    """The name of the check that makes it a cheat: of those that fail, what stands for the most; empty where none does."""
    failed = [check.name for check in report.checks if check.status == "fail" and check.level == "fatal"]
    if any(name.startswith("parse:") for name in failed):
        # What cannot be parsed fails by itself when it is run; that no kernel was found in it says nothing.
        failed = [name for name in failed if not name.startswith("parse:") and name not in ("import_pypto", "has_jit")]
    if "runtime_multi_kernel" in failed:
        return "runtime_multi_kernel"
    return failed[0] if failed else ""


def decide(
    report: CheatReport, stages: Sequence[Stage], seeds: Sequence[Seed], wanted: int, backend: Backend
) -> Decision:
    """The verdict.  ``wanted`` is the number of forwards there have to be."""
    by_name = {stage.name: stage for stage in stages}
    right = _right(seeds, wanted)
    cheat = fatal(report)
    if cheat:
        detail = next(check.detail for check in report.checks if check.name == cheat and check.status == "fail")
        category: Category = "CHEAT_MULTI_KERNEL" if cheat == "runtime_multi_kernel" else "CHEAT_SEMANTIC"
        return Decision("failed", category, right, around("v-f-cheat", detail))
    for name in ("inputs", "reference"):
        stage = by_name.get(name)
        if stage is not None and (stage.problem is not None or not stage.complete):
            if stage.problem in OURS:
                return Decision("error", "ERROR_VERIFIER_OR_CLI", None, _ours(stage))
            return Decision("baseline_failed", "BASELINE_FAILED", None, around(f"v-f-{name}", stage.message))
    stage = by_name.get("candidate")
    if stage is not None and (stage.problem is not None or not stage.complete):
        return _candidate(stage)
    if any(name not in by_name for name in ("inputs", "candidate", "reference")) or len(seeds) != wanted:
        return Decision("error", "ERROR_OTHER", None, both("v-e-opdev", what=f"{len(seeds)}/{wanted}"))
    return _compared(seeds, backend, right=right)


def _ours(stage: Stage) -> Text:
    return around("v-e-opdev" if stage.problem == "stopped" else "v-e-environment", stage.message)


def _candidate(stage: Stage) -> Decision:
    if stage.problem in OURS:
        return Decision("error", "ERROR_VERIFIER_OR_CLI", None, _ours(stage))
    if stage.problem == "unsupported":
        return Decision("error", "ERROR_OTHER", None, around("v-e-opdev", stage.message))
    if stage.problem == "artifact":
        return Decision("error", "ERROR_INPUT_OR_ARTIFACT", None, around("v-e-artifact", stage.message))
    if stage.problem == "state":
        return Decision("failed", "CORRECTNESS_SHAPE_OR_IO", False, around("v-f-state", stage.message))
    if stage.problem == "tampered":
        return Decision("failed", "CHEAT_SEMANTIC", None, around("v-f-cheat", stage.message))
    return Decision("failed", "CORRECTNESS_RUNTIME", False, around("v-f-candidate", stage.message))


def _compared(seeds: Sequence[Seed], backend: Backend, *, right: bool | None) -> Decision:
    outputs = [(seed, output) for seed in seeds for output in seed.outputs]
    if not outputs or all(
        o.metrics is None and o.actual is not None and o.actual.kind == "tensor" and o.verdict == "pass"
        for _, o in outputs
    ):
        return Decision("error", "ERROR_OTHER", None, both("v-e-nothing"))
    for seed, output in outputs:
        if output.verdict == "fail" and output.problem not in ("numbers", "tolerance"):
            return Decision("failed", "CORRECTNESS_SHAPE_OR_IO", False, _of_seed(seed, output.message))
    for seed in seeds:
        changed = [name for name in seed.changed_inputs if name not in seed.reference_changed_inputs]
        if changed:
            return Decision(
                "failed",
                "CORRECTNESS_SHAPE_OR_IO",
                False,
                both("v-f-changed", seed=seed.seed, names=", ".join(changed)),
            )
    for seed, output in outputs:
        if output.verdict == "fail":
            return Decision(
                "failed", "CORRECTNESS_NUMERICAL", False, _remembered(seeds, _of_seed(seed, output.message))
            )
    for _, output in outputs:
        if output.verdict == "error":
            return Decision("error", "ERROR_OTHER", None, around("v-e-unjudged", output.message))
    if right is not True or (backend == "sim" and not all(_by_kernel(seed) for seed in seeds)):
        return Decision("error", "ERROR_OTHER", None, both("v-e-opdev", what="?"))
    return Decision("passed", None, True, both("v-pass", seeds=len(seeds), outputs=len(outputs)))


def _by_kernel(seed: Seed) -> bool:
    tensors = [o for o in seed.outputs if o.actual is not None and o.actual.kind == "tensor" and o.metrics is not None]
    return len(seed.launches) == 1 and all(output.origin == "kernel" for output in tensors)


def _right(seeds: Sequence[Seed], wanted: int) -> bool | None:
    """Whether all values are right, whoever made them; None where that is not known."""
    outputs: list[Compared] = [output for seed in seeds for output in seed.outputs]
    if any(output.verdict == "fail" for output in outputs):
        return False
    whole = len(seeds) == wanted and all(seed.outputs for seed in seeds)
    return True if whole and all(output.verdict == "pass" for output in outputs) else None


def _remembered(seeds: Sequence[Seed], message: Text) -> Text:
    """The message, and that only the seed everybody knows is right, where that is so."""
    known = [seed for seed in seeds if not seed.drawn]
    drawn = [seed for seed in seeds if seed.drawn]
    good = all(output.verdict == "pass" for seed in known for output in seed.outputs)
    if not drawn or not good or any(all(output.verdict == "pass" for output in seed.outputs) for seed in drawn):
        return message
    more = both("v-n-memory")
    return {"zh": f"{message['zh']}；{more['zh']}", "en": f"{message['en']}; {more['en']}"}


def _of_seed(seed: Seed, message: Mapping[str, str]) -> Text:
    return {lang: both("v-f-output", seed=seed.seed, what=message[lang])[lang] for lang in ("zh", "en")}


def around(key: str, what: Mapping[str, str]) -> Text:
    """A text around another one, each in its language."""
    what = what or _EMPTY
    return {lang: both(key, what=what[lang])[lang] for lang in ("zh", "en")}
