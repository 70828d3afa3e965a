"""The gates of the classic seven stages: what each must have produced, and what the rules say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from opdev.facts.pypto_names import named
from opdev.facts.structured import root_of
from opdev.phases.model import Check, Title, both
from opdev.phases.pypto_checks import PyptoEvidence, json_of, judged, listed, present
from opdev.pypto.states import RefusedError, phases

_MODULES = Title("module-files", "各模块的参考实现与测试在位", "goldens and tests of the modules are there")
_PARTS = Title("phases", "各个 M_k 都已验收", "every phase is verified")
_REPORT = Title("evaluation", "评估通过", "the evaluation passed")
_FRESH = Title("evaluation-age", "评估的是现在的代码", "the evaluation is of the present code")
_PERF = Title("perf-artifacts", "有性能优化的产物", "optimisation left its artifacts")
_BAD_WORDS = frozenset({"fail", "failed", "error", "blocked", "reject", "rejected", "false"})
_GOOD_WORDS = frozenset({"pass", "passed", "ok", "success", "true"})
_VERDICTS = ("status", "verdict", "result", "overall", "overall_status", "passed", "conclusion")


def _plan(e: PyptoEvidence) -> Iterator[Check]:
    yield from present(e, "SPEC.md", "API_REPORT.md", "MEMORY.md")
    yield from judged(e, "pypto-spec", "pypto-api-report")


def _golden(e: PyptoEvidence) -> Iterator[Check]:
    yield from present(e, "<op>_golden.py", "GOLDEN_PERF_REPORT.md")
    yield from judged(e, "pypto-golden", "pypto-perf-report")


def _design(e: PyptoEvidence) -> Iterator[Check]:
    yield from present(e, "DESIGN.md")
    yield from judged(e, "pypto-design")


def _interfaces(e: PyptoEvidence) -> Iterator[Check]:
    yield from present(e, "eval/module_interfaces.yaml")
    yield from judged(e, "pypto-interfaces", "pypto-design")
    count = _module_count(e)
    if count < 2:
        return
    suffixes = ["".join(str(n) for n in range(1, k + 1)) for k in range(1, count + 1)]
    wanted = [f for s in suffixes for f in (f"{e.name}_module{s}_golden.py", f"test_{e.name}_module{s}.py")]
    missing = [f for f in wanted if not any(r.endswith(f"/{f}") or r == f for r in e.files)]
    if missing:
        zh, en = listed(missing[:6])
        more = f"（共 {len(missing)} 个）", f" ({len(missing)} in all)"
        yield _MODULES.failed(
            both(f"没有 {zh}" + more[0], f"missing: {en}" + more[1]),
            both("在 modules/ 里生成它们", "make them in modules/"),
            e.at(f"modules/{missing[0]}"),
        )
    else:
        yield _MODULES.ok(both(f"{count} 个模块齐全", f"{count} modules are complete"))


def _module_count(e: PyptoEvidence) -> int:
    file = e.named("module_interfaces.yaml")
    root = root_of(file) if file is not None else None
    modules = root.get("modules") if root is not None and root.kind == "mapping" else None
    return len(modules.children) if modules is not None and modules.kind == "sequence" else 0


def _code(e: PyptoEvidence) -> Iterator[Check]:
    yield from present(e, "<op>_impl.py", "test_<op>.py", "README.md")
    yield from judged(
        e,
        "pypto-impl",
        "pypto-test",
        "pypto-golden",
        "pypto-memory",
        "pypto-spec",
        "pypto-design",
        "pypto-api-report",
        "pypto-interfaces",
    )
    yield from _phases(e)


def _phases(e: PyptoEvidence) -> Iterator[Check]:
    """Of an operator with a state file: what that says of its phases."""
    if e.state is None:
        return
    try:
        known = phases(e.state)
    except RefusedError as error:
        yield _PARTS.failed(error.text, both("改正状态文件", "mend the state file"), e.at(".orchestrator_state.json"))
        return
    left = [
        f"{name} {entry.get('status', 'pending')}" for name, entry in known.items() if entry.get("status") != "verified"
    ]
    if left:
        zh, en = listed(left)
        yield _PARTS.failed(
            both(f"还没验收：{zh}", f"not verified yet: {en}"),
            both("做完后 opdev state complete-phase M_k", "when it is done, `opdev state complete-phase M_k`"),
            e.at(".orchestrator_state.json"),
        )
    elif known:
        yield _PARTS.ok(both(f"{len(known)} 个都已验收", f"all {len(known)} are verified"))


def _verify(e: PyptoEvidence) -> Iterator[Check]:
    yield from present(e, "eval/evaluation_report.json")
    found, fault = json_of(e, "evaluation_report.json")
    if fault is not None:
        yield fault
    elif found is not None:
        yield _evaluation(e, found)
        at = e.there("evaluation_report.json") or "eval/evaluation_report.json"
        code = e.newest([r for r in e.files if (n := named(r)) is not None and n.part == "impl" and not n.suffix])
        if code is not None and e.older(e.time(at), code):
            yield _FRESH.failed(
                both(f"{code.path} 在评估之后改过", f"{code.path} was changed after the evaluation"),
                both("重新评估", "evaluate it again"),
                e.at(at),
            )
    yield from judged(e, "pypto-impl", "pypto-test", "pypto-golden")


def _evaluation(e: PyptoEvidence, found: object) -> Check:
    at = e.at(e.there("evaluation_report.json") or "eval/evaluation_report.json")
    verdicts = {k: str(found[k]).strip().lower() for k in _VERDICTS if k in found} if isinstance(found, dict) else {}
    bad = [f"{k}: {v}" for k, v in verdicts.items() if v in _BAD_WORDS]
    if bad:
        return _REPORT.failed(
            both(f"评估没有通过（{bad[0]}）", f"it did not pass ({bad[0]})"),
            both("改实现，再评估", "mend the implementation and evaluate again"),
            at,
        )
    good = [f"{k}: {v}" for k, v in verdicts.items() if v in _GOOD_WORDS]
    if good:
        return _REPORT.ok(both(good[0], good[0]), at)
    return _REPORT.unknown(
        both("报告里没有结论", "the report has no verdict"),
        both(f"写上 {_VERDICTS[0]}: PASS 或 FAIL", f"give it a {_VERDICTS[0]}: PASS or FAIL"),
        at,
    )


def _optimise(e: PyptoEvidence) -> Iterator[Check]:
    found = [r for r in e.files if "perf" in r.lower() and not r.endswith("GOLDEN_PERF_REPORT.md")]
    if found:
        yield _PERF.ok(both(found[0], found[0]), e.at(found[0]))
    else:
        yield _PERF.unknown(
            both("没有性能报告或数据", "there is no performance report and no data"),
            both(
                "把测得的性能写进报告（如 docs/perf_report.md）",
                "put what was measured into a report (like docs/perf_report.md)",
            ),
        )
    yield from judged(e, "pypto-impl", "pypto-test")


CHECKS: Mapping[str, Callable[[PyptoEvidence], Iterator[Check]]] = {
    "1": _plan, "2": _golden, "3": _design, "4": _interfaces, "5": _code, "6": _verify, "7": _optimise,
}  # fmt: skip
