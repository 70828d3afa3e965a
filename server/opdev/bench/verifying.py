"""Verifying one implementation: inputs first, then the implementation alone, then the reference, then the comparison here.

Each of the three is a process of its own in a folder of its own.  While the implementation runs there is no output of the
reference anywhere, and neither the case nor the reference is among the files it is given; all it started is ended before the
reference is computed, and the Python that computes it is still the same.  What this cannot hold off: code that takes its own
process apart on purpose with means that no check (``cheats``, ``inside.guarding``, ``forwards``) knows.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timezone
from typing import Any

import opdev
from opdev.bench import cheats, deciding, evidence, forwards, isolating, outputs, profiling, sources, surroundings
from opdev.bench.children import Place, Ran, clean, spawn
from opdev.bench.deciding import Decision
from opdev.bench.evidence import Evidence, Gathered, Seed, Stage
from opdev.bench.forwards import Forward
from opdev.bench.model import Backend, BenchError, CheatReport, Check, Performance, Slot, Verified, VerifierSettings
from opdev.bench.outputs import Handed, TamperedError
from opdev.bench.texts import both
from opdev.pyptosim import wheels
from opdev.rules.model import Text
from opdev.runs.execute import Stop

KNOWN = 42
"""The seed that everybody knows."""


def verify(
    op: str, folder: str, case_file: str, out: str, settings: VerifierSettings, slot: Slot, stop: Stop
) -> Verified:
    """Verify ``folder`` against ``case_file``; everything it is made of is in ``out`` (absolute paths) afterwards.

    Never raises for what an implementation or a case does; OSError where ``out`` cannot be written.
    """
    os.makedirs(out, exist_ok=True)
    work = tempfile.mkdtemp(prefix=".verify-", dir=out)
    try:
        return _Verification(op, folder, case_file, out, settings, slot, stop, work).run()
    finally:
        shutil.rmtree(work, ignore_errors=True)


class _Verification:
    def __init__(
        self,
        op: str,
        folder: str,
        case_file: str,
        out: str,
        settings: VerifierSettings,
        slot: Slot,
        stop: Stop,
        work: str,
    ) -> None:
        self.op, self.folder, self.case_file, self.out, self.work = op, folder, case_file, out, work
        self.settings, self.slot = settings, slot
        python = settings.python or (wheels.python_with_pypto("", os.environ) if not slot.host.prefix else "python3")
        self.place = Place(python, slot, settings.timeout, settings.memory or wheels.memory_megabytes(), stop)
        self.begun, self.started = time.monotonic(), datetime.now(timezone.utc).isoformat(timespec="seconds")
        self.backend: Backend = "ascend" if settings.backend == "ascend" else "sim"
        self.known = Gathered()
        self.cheat = CheatReport(op, folder, "pass", ())
        self.performance = Performance(message=both("v-p-incorrect"))
        self.case = b""
        self.where: dict[str, str] = {}
        # Digests of what was seen of earlier runs must not be taken for this one's.
        for name in (evidence.NAME, *(f"{stage}.log" for stage in ("inputs", "candidate", "reference"))):
            if os.path.lexists(f"{out}/{name}"):
                os.unlink(f"{out}/{name}")

    def run(self) -> Verified:
        try:
            decision = self._decided()
        except BenchError as error:
            message = deciding.around("v-e-artifact", both(error.key, **error.values))
            decision = Decision("error", "ERROR_INPUT_OR_ARTIFACT", None, message)
        return self._told(decision)

    def _decided(self) -> Decision:
        if not os.path.isfile(self.case_file):
            raise BenchError("v-no-case", path=self.case_file)
        if not os.path.isdir(self.folder):
            raise BenchError("v-no-folder", path=self.folder)
        with open(self.case_file, "rb") as stream:
            self.case = stream.read()
        implementation = sources.implementation(self.folder, self.op)
        if not implementation:
            raise BenchError("v-s-artifact-file", folder=self.folder, op=self.op)
        self.cheat = cheats.look(self.op, self.folder)
        copy = isolating.copied(self.folder, self._own("op"), self.case_file)
        self.known.sources.update(copy.sources)
        if not deciding.fatal(self.cheat):
            problem = self._backend()
            if problem is not None:
                return problem
            self._run(copy, os.path.relpath(implementation, os.path.abspath(self.folder)))
        decision = deciding.decide(self.cheat, self.known.stages, self.known.seeds, self.settings.seeds, self.backend)
        return self._measured(decision, implementation)

    def _own(self, name: str) -> str:
        return tempfile.mkdtemp(prefix=f"{name}-", dir=self.work)

    def _spawn(self, name: Any, **spec: Any) -> Ran:
        self.where[name] = self._own(name)
        ran = spawn(name, {"backend": self.backend, **spec}, self.place, self.where[name], f"{self.out}/{name}.log")
        self.known.stages.append(ran.stage)
        versions = ran.result.get("versions")
        if isinstance(versions, dict):
            self.known.versions.update({str(k): str(v)[:80] for k, v in versions.items()})
        return ran

    def _backend(self) -> Decision | None:
        """Which backend there is, where it is not said; the decision where the one that was asked for is not there."""
        if self.settings.backend == "sim":
            return None
        ran = self._spawn("backend")
        found, why = ran.result.get("backend"), str(ran.result.get("why", "")) or ran.stage.message.get("en", "")
        if self.settings.backend == "auto":
            self.backend = "ascend" if found == "ascend" else "sim"
            if self.backend == "sim":
                self.known.notes.append(both("v-n-sim", why=clean(why)))
            return None
        if found == "ascend":
            return None
        return Decision(
            "error", "ERROR_VERIFIER_OR_CLI", None, deciding.around("v-e-environment", both("v-s-no-npu", why=why))
        )

    def _run(self, copy: isolating.Copied, implementation: str) -> None:
        """The three processes, as far as they lead."""
        seeds = [KNOWN, *(secrets.randbits(31) for _ in range(self.settings.seeds - 1))]
        made = self._case("inputs", seeds)
        if not made.good:
            return
        fed = self._fed(made)
        # On another host nobody here can look.
        folders = [str(one) for one in made.result["folders"]] if not self.slot.host.prefix else []
        before = surroundings.stamps(folders)
        ran = self._spawn(
            "candidate", folder=copy.root, file=implementation, paths=copy.paths, seeds=seeds, fed=fed, again=secrets.randbelow(len(seeds)) if self.backend == "sim" else -1,
            sources=[f"{copy.root}/{name}" for name in copy.sources if name.endswith(".py")],
        )  # fmt: skip
        given: list[Forward] = []
        try:
            given = [Forward(one, self._folder(ran)) for one in ran.result.get("seeds", ())]
        except TamperedError:
            self._tampered(ran.stage)
        self._judge_run(ran, given, surroundings.changed(before, surroundings.stamps(folders)))
        cheated = deciding.fatal(self.cheat) not in ("", "runtime_multi_kernel")
        if cheated or ran.stage.problem in deciding.OURS:
            self._seeds(seeds, made, given, ())
            return
        fresh = [{key: [v["sha256"] for v in one[key]] for key in ("inputs", "state")} for one in made.result["seeds"]]
        truth = self._case("reference", seeds, expected=fresh)
        try:
            self._seeds(seeds, made, given, truth.result.get("seeds", ()) if truth.good else (), self._folder(truth))
        except TamperedError:
            self._tampered(truth.stage)

    def _folder(self, ran: Ran) -> str:
        """Where a stage handed over its files."""
        return f"{self.where[ran.stage.name]}/out"

    def _case(self, name: Any, seeds: Sequence[int], **more: Any) -> Ran:
        """A stage that runs the case, of a fresh copy of what was read at the beginning."""
        folder = self._own("case")
        with open(f"{folder}/case.py", "wb") as stream:
            stream.write(self.case)
        ran = self._spawn(name, folder=folder, file="case.py", seeds=list(seeds), **more)
        shutil.rmtree(folder, ignore_errors=True)
        return ran

    def _fed(self, made: Ran) -> str:
        """The inputs alone, where nothing else is."""
        fed, folder = self._own("fed"), self._folder(made)
        for name in sorted(os.listdir(folder)):
            if name.endswith(".pt"):
                os.replace(f"{folder}/{name}", f"{fed}/{name}")
        shutil.rmtree(os.path.dirname(folder), ignore_errors=True)
        return fed

    def _tampered(self, stage: Stage) -> None:
        self.known.stages[self.known.stages.index(stage)] = replace(
            stage, problem="tampered", message=both("v-s-tampered")
        )

    def _judge_run(self, ran: Ran, given: Sequence[Forward], changed: Sequence[str]) -> None:
        """What the run itself shows of cheating comes to the report."""
        found = list(forwards.checks(ran.result, given, self.case_file))
        digests = {self.case_file: hashlib.sha256(self.case).hexdigest()}
        digests |= {f"{self.folder}/{name}": digest for name, digest in self.known.sources.items()}
        changed = [*(path for path, digest in digests.items() if _sha256(path) != digest), *changed]
        if changed:
            what = ", ".join(changed[: forwards.NAMED])
            found.append(Check("runtime_tampered", "fail", "fatal", both("v-c-runtime-tampered", what=what)))
        self.cheat = cheats.report(self.op, self.cheat.folder, (*self.cheat.checks, *found))

    def _seeds(self, seeds: Sequence[int], made: Ran, given: Sequence[Forward], truth: Any, where: str = "") -> None:
        """What is known of each forward; those without the reference's outputs have no comparison."""
        rtol, atol = self.settings.rtol, self.settings.atol
        for at, (seed, forward) in enumerate(zip(seeds, given, strict=False)):
            fed = made.result["seeds"][at]
            compared: tuple[evidence.Compared, ...] = ()
            changed: tuple[str, ...] = ()
            if at < len(truth):
                expected = outputs.handed(truth[at]["outputs"], where)
                compared = outputs.compare(forward.outputs, expected, rtol, atol, self.backend)
                changed = tuple(truth[at]["changed"])
                compared = tuple(self._kept(one, at, forward.outputs, expected) for one in compared)
            self.known.seeds.append(
                Seed(
                    seed,
                    at > 0,
                    outputs.values(fed["inputs"]),
                    outputs.values(fed["state"]),
                    forward.launches,
                    forward.computed,
                    forward.changed,
                    changed,
                    compared,
                )
            )

    def _kept(
        self, one: evidence.Compared, at: int, actual: Sequence[Handed], expected: Sequence[Handed]
    ) -> evidence.Compared:
        """Keep an output's tensors where that was asked for."""
        if not self.settings.keep or one.actual is None or one.expected is None:
            return one
        number = next(n for n, h in enumerate(actual) if h.value.name == one.name)
        named = {}
        for role, h in (("actual", actual[number]), ("expected", expected[number])):
            if h.path:
                name = f"tensors/seed{at}-output{number}-{role}.npy"
                os.makedirs(f"{self.out}/tensors", exist_ok=True)
                shutil.copyfile(h.path, f"{self.out}/{name}")
                named[role] = name
        return replace(
            one,
            actual=replace(one.actual, file=named.get("actual")),
            expected=replace(one.expected, file=named.get("expected")),
        )

    def _measured(self, decision: Decision, implementation: str) -> Decision:
        """The decision with performance measured where it can be; it stays as it is unless measuring shows several kernels."""
        if self.backend == "sim":
            self.performance = Performance(message=both("v-p-sim"))
            return decision
        if self.settings.mode == "correctness":
            self.performance = Performance(message=both("v-p-mode"))
            return decision
        if decision.status != "passed":
            return decision
        fresh = isolating.copied(self.folder, self._own("op"), self.case_file)
        found = profiling.measured(
            self._spawn, self.case, self._own, fresh,
            os.path.relpath(implementation, os.path.abspath(self.folder)), KNOWN, self.settings,
        )  # fmt: skip
        self.performance = found.performance
        if found.traces > 1:
            detail = both("v-c-runtime-multi", count=found.traces, names="merged_swimlane.json")
            check = Check("runtime_multi_kernel", "fail", "fatal", detail)
            self.cheat = cheats.report(self.op, self.cheat.folder, (*self.cheat.checks, check))
            return deciding.decide(self.cheat, self.known.stages, self.known.seeds, self.settings.seeds, self.backend)
        if found.performance.speedup is None:
            return replace(decision, category="PERFORMANCE_FAILED")
        return decision

    def _told(self, decision: Decision) -> Verified:
        message: Text = decision.message
        if self.backend == "sim":
            more = both("v-simulated")
            message = {lang: f"{message[lang]}{more[lang]}" for lang in ("zh", "en")}
        log = next((s.log for s in reversed(self.known.stages) if s.name in ("candidate", "inputs") and s.log), "")
        failed = next((s.log for s in self.known.stages if s.problem is not None), "")
        seconds = round(time.monotonic() - self.begun, 3)
        stages = tuple(replace(s, log=os.path.basename(s.log)) for s in self.known.stages)
        proof = Evidence(
            schema_version=1, opdev_version=opdev.__version__, op_name=self.op, folder=self.folder, case_file=self.case_file,
            case_sha256=hashlib.sha256(self.case).hexdigest(), sources=dict(self.known.sources), backend=self.backend,
            simulated=self.backend == "sim", mode=self.settings.mode, started_at=self.started, seconds=seconds,
            status=decision.status, category=decision.category, correctness=decision.correctness, message=message,
            performance=self.performance, settings=asdict(self.settings), versions=self._versions(), cheat=self.cheat,
            stages=stages, seeds=tuple(self.known.seeds), notes=tuple(self.known.notes), device=self.slot.device if self.backend == "ascend" else None,
            host=self.slot.host.name,
        )  # fmt: skip
        evidence.write(proof, self.out)
        details = {
            "seeds": [asdict(seed) for seed in self.known.seeds],
            "versions": proof.versions,
            "notes": list(proof.notes),
            "sources": proof.sources,
        }
        return Verified(
            decision.status, self.backend, decision.category, message, decision.correctness, self.performance, self.cheat, seconds,
            failed or log, self.out, details,
        )  # fmt: skip

    def _versions(self) -> Mapping[str, str]:
        import numpy as np

        return {**self.known.versions, "opdev": opdev.__version__, "comparing_numpy": np.__version__}


def _sha256(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        return ""
