"""Phase 5.5 and the Torch regression: whether the binding is there and its test passed on 2 and on 8 PEs.

What counts as a pass on n PEs
    1. a ``torch`` record with ``n_pes: n``
    2. a log below data/, output/ or logs/ whose name holds ``torch``, with ``[PE k] PASS`` for every k below n
       and no ``[PE k] FAIL``

For Phase 5.5 a pass counts whatever became of the code since (the regression asks that again); for the
regression it must be no older than every source and the binding.  The last line of the test
("All processes finished successfully") proves nothing: the template prints it on failure too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from opdev.phases.evidence import Evidence
from opdev.phases.model import Check, Spot, Title, both
from opdev.phases.proofs import Proof, by_time, fresh, recorded, stale_text
from opdev.phases.verdicts import Verdicts
from opdev.syntax.file import File

COUNTS = (2, 8)
_NAMED = re.compile(r"(?<![0-9])(\d{1,4})_?pes?(?![a-z0-9])", re.I)
_LINE = re.compile(rb"\[PE (\d{1,4})\] (PASS|FAIL)")
_BINDING = Title("torch-binding", "Torch 绑定代码", "the Torch binding")
_TEST = Title("torch-test", "Torch 测试脚本", "the Torch test")
_LIBRARY = Title("torch-library", "绑定库已编译", "the binding's library is built")
_RULES = Title("torch-rules", "绑定和测试没有错误级问题", "no error-level finding in binding and test")


def test_script(evidence: Evidence) -> File | None:
    """The operator's Torch test."""
    name = f"torch_test_{evidence.name}.py"
    found = evidence.first(f"scripts/{name}", name)
    return found or next((f for f in evidence.of_kind("torch-test") if f.path.endswith(f"/{name}")), None)


def binding(evidence: Evidence) -> str | None:
    """The binding's source, as a path below the operator."""
    name = evidence.name
    places: tuple[str, ...] = (f"../torch_binding/src/torch_bind_{name}.cpp", f"../torch_binding/torch_bind_{name}.cpp")
    if evidence.in_tree:
        places += ("../torch_binding/src/torch_bindings.cpp",)
    return next((p for p in places if evidence.time(p) is not None), None)


def library(evidence: Evidence) -> str | None:
    """The built library, as a path below the operator; the newest of several."""
    folders: tuple[str, ...] = ("../torch_binding/build/lib", "../torch_binding/build")
    names = ["shmem_custom_ops_torch.so"]
    if evidence.in_tree:
        folders += ("../../install/torch_binding/lib", "../../build/lib")
        names = ["aclshmem_torch.so"]
    found = [p for f in folders for n in names if evidence.time(p := f"{f}/{n}") is not None]
    return max(found, key=lambda p: evidence.time(p) or 0.0, default=None)


def begun(evidence: Evidence) -> bool:
    """Whether there is anything of Phase 5.5."""
    return test_script(evidence) is not None or binding(evidence) is not None


@dataclass(frozen=True, slots=True)
class Log:
    """A Torch log with verdicts of PEs 0 to ``n_pes`` - 1; ``good`` without a FAIL, ``line`` the first that decides.

    A log whose name says more PEs (``torch_8pe.log``) than it has verdicts of is one of a run that broke off: it is
    left out.
    """

    path: str
    n_pes: int
    good: bool
    line: int


def logs(evidence: Evidence) -> list[Log]:
    """The Torch logs, oldest first."""
    out: list[Log] = []
    for relative in evidence.logs:
        if "torch" not in relative.lower():
            continue
        data = evidence.log(relative)
        first: dict[bytes, int] = {}
        pes: set[int] = set()
        for match in _LINE.finditer(data):
            pes.add(int(match.group(1)))
            first.setdefault(match.group(2), match.start())
        at = first.get(b"FAIL", first.get(b"PASS"))
        if at is not None and (b"FAIL" in first or pes == set(range(len(pes)))):
            named = _NAMED.search(relative.rpartition("/")[2])
            if named is not None and b"FAIL" not in first and int(named[1]) != len(pes):
                continue
            line = data.count(b"\n", 0, at) + 1
            out.append(Log(relative, max(pes) + 1, good=b"FAIL" not in first, line=line))
    return sorted(out, key=lambda log: (evidence.time(log.path) or 0.0, log.path))


def passed(evidence: Evidence, n_pes: int, *, current: bool) -> Proof:
    """Whether the Torch test passed on that many PEs; ``current``: on the present code."""
    record = evidence.record("torch", n_pes=n_pes)
    stale: Proof | None = None
    if record is not None:
        proof = recorded(evidence, record, f"{n_pes} PE Torch 测试", f"{n_pes}-PE Torch test")
        if proof.verdict == "stale" and not current and record.result == "pass":
            return Proof("ok", proof.text, proof.place)
        if proof.verdict != "stale":
            return proof
        stale = proof
    found = [log for log in logs(evidence) if log.n_pes == n_pes]
    for log in reversed(found):
        spot = evidence.at(log.path, log.line)
        if current and not fresh(evidence, log.path):
            stale = stale or Proof("stale", stale_text(evidence, log.path), spot)
        elif log.good:
            return Proof(
                "ok", both(f"{log.path} 里 {n_pes} 个 PE 全部 PASS", f"{log.path}: PASS on all {n_pes} PEs"), spot
            )
        else:
            return Proof("failed", both(f"{log.path} 里有 FAIL", f"{log.path} has a FAIL"), spot)
    return stale or Proof("missing", both(f"没有 {n_pes} PE 的 PASS", f"no PASS on {n_pes} PEs"))


def done(evidence: Evidence) -> bool:
    """Whether Phase 5.5 was finished once."""
    return begun(evidence) and all(passed(evidence, n, current=False).good for n in COUNTS)


def checks(evidence: Evidence) -> Iterator[Check]:
    """The gate of Phase 5.5."""
    name = evidence.name
    source, script, built = binding(evidence), test_script(evidence), library(evidence)
    wanted = f"../torch_binding/src/torch_bind_{name}.cpp"
    if source is not None:
        yield _BINDING.ok(both(f"有 {source}", f"{source} is there"), evidence.at(source))
    else:
        yield _BINDING.failed(
            both(f"没有 torch_bind_{name}.cpp", f"there is no torch_bind_{name}.cpp"),
            both(f"写出 {wanted}（shmem-ops-torch-bind）", f"write {wanted} (shmem-ops-torch-bind)"),
            evidence.at(wanted),
        )
    if script is not None:
        yield _TEST.ok(
            both(f"有 {evidence.below(script)}", f"{evidence.below(script)} is there"), evidence.spot(script)
        )
        yield from Verdicts(evidence, _judged(evidence, script), ("torch",)).all(
            _RULES, both("Torch 规则没有错误", "no error of the Torch rules")
        )
    else:
        yield _TEST.failed(
            both(f"没有 scripts/torch_test_{name}.py", f"there is no scripts/torch_test_{name}.py"),
            both(f"写出 scripts/torch_test_{name}.py", f"write scripts/torch_test_{name}.py"),
            evidence.at(f"scripts/torch_test_{name}.py"),
        )
    if built is not None and not evidence.older(evidence.time(built), evidence.newest([source] if source else [])):
        yield _LIBRARY.ok(
            by_time(both(f"{built} 不早于绑定代码", f"{built} is no older than the binding")), evidence.at(built)
        )
    else:
        yield _LIBRARY.unknown(
            both("没有不早于绑定代码的 .so", "there is no library that is as new as the binding"),
            both(
                'cmake --build "${SHMEM_REPO}/custom-ops/torch_binding/build" -j 8',
                'cmake --build "${SHMEM_REPO}/custom-ops/torch_binding/build" -j 8',
            ),
            evidence.at(built or "../torch_binding/build/lib/shmem_custom_ops_torch.so"),
        )
    for count in COUNTS:
        yield _passed(evidence, count, current=False)


def regression(evidence: Evidence) -> Iterator[Check]:
    """The gate after an optimisation: the test passes on 8 PEs with the code as it is now."""
    yield _passed(evidence, COUNTS[-1], current=True)


def _judged(evidence: Evidence, script: File) -> list[File]:
    beside = getattr(evidence.project, "beside", None)
    bound = beside(f"torch_binding/src/torch_bind_{evidence.name}.cpp") if beside is not None else None
    return [f for f in (script, bound) if isinstance(f, File)]


def _passed(evidence: Evidence, count: int, *, current: bool) -> Check:
    title = Title(f"torch-{count}pe", f"{count} PE 的 Torch 测试通过", f"the Torch test passes on {count} PEs")
    proof = passed(evidence, count, current=current)
    command = f"python3 scripts/torch_test_{evidence.name}.py --pes {count}"
    if proof.good:
        return title.ok(proof.text, proof.place)
    if proof.verdict == "failed":
        return title.failed(
            proof.text, both(f"改正后重跑：{command}", f"mend it and run again: {command}"), proof.place
        )
    log = f"data/torch/torch_{count}pe.log"
    return title.unknown(
        proof.text,
        both(f"跑一次并留下日志：{command} 2>&1 | tee {log}", f"run it and keep the log: {command} 2>&1 | tee {log}"),
        proof.place or Spot(evidence.path(log)),
    )
