"""Batches on disk as one really leaves them: records by ``records.write``, evidence by ``evidence.write``."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path

from opdev.bench import evidence, records
from opdev.bench.evidence import Compared, Evidence, Launch, Seed, Stage, Value
from opdev.bench.model import (
    Case,
    CheatReport,
    Check,
    Generated,
    Outcome,
    Performance,
    Verified,
    overall_of,
)

IMPL = "import pypto\n\n\nclass ModelNew:\n    pass\n"
TEXT = {"zh": "通过", "en": "passed"}


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def value(name="y0", shape=(4, 8), content="a"):
    return Value(name, "tensor", "float32", shape, sha(content))


def compared(*, max_abs=1e-6, within=32, verdict="pass", origin="kernel", problem=None, shape=(4, 8)):
    elements = shape[0] * shape[1]
    metrics = {
        "elements": elements, "compared": elements, "within": within, "precision_percent": 100 * within / elements,
        "matched_ratio": within / elements, "max_abs": max_abs, "max_rel": 0.0, "mean_rel": 0.0, "rmse": 0.0, "mean_error": 0.0,
        "eb": 0.0, "max_golden": 1.0, "nan_output": 0, "nan_golden": 0, "inf_output": 0, "inf_golden": 0, "nan_apart": 0, "inf_apart": 0,
    }  # fmt: skip
    return Compared(
        "y0", verdict, value(content="a", shape=shape), value(content="b", shape=shape), origin, None, problem, TEXT, metrics, {}, ()
    )  # fmt: skip


def seed(number=42, *, drawn=False, outputs=None, launches=1, changed=()):
    launch = Launch("kernel", "relu_impl.py", 3, ("x",), ("y",))
    return Seed(number, drawn, (value("x0"),), (), (launch,) * launches, (), changed, (), outputs or (compared(),))


def proof(case: Case, folder: str, *, backend="sim", seeds=None, status="passed", **more) -> Evidence:
    """What a verification of ``folder`` leaves."""
    seeds = seeds if seeds is not None else (seed(), seed(977, drawn=True))
    stages = tuple(Stage(name, 0, None, False, 0.5, 0, True) for name in ("inputs", "candidate", "reference"))
    sources = {path.name: sha(path.read_text(encoding="utf-8")) for path in Path(folder).glob("*.py")}
    performance = more.pop(
        "performance", Performance(message={"zh": "模拟不测性能", "en": "not measured in simulation"})
    )
    made = Evidence(
        schema_version=1, opdev_version="0", op_name=case.op, folder=folder, case_file=case.path,
        case_sha256=sha(Path(case.path).read_text(encoding="utf-8")), sources=sources, backend=backend, simulated=backend == "sim",
        mode="performance", started_at="2026-01-02 03:04:05", seconds=3.0, status=status, category=None,
        correctness=status == "passed", message=TEXT, performance=performance, settings={"seeds": len(seeds)},
        versions={"torch": "2.5.1", "pypto": "0.2.0"},
        cheat=CheatReport(case.op, folder, "pass", (Check("has_jit", "pass", "fatal"),)), stages=stages, seeds=seeds,
    )  # fmt: skip
    return replace(made, **more)


def finished(
    root: Path, key="level1/19_ReLU", *, backend="sim", op="ReLU", generated=None, change=None, **more
) -> Outcome:
    """One case from end to end, its record and all files it rests on; ``change`` makes another evidence of the made one."""
    level, _, name = key.partition("/")
    case_file = root.parent / "KernelBench" / level / f"{name}.py"
    case_file.parent.mkdir(parents=True, exist_ok=True)
    case_file.write_text(f"# {key}\nclass Model: ...\n", encoding="utf-8")
    case = Case(level, name, op, str(case_file))
    ops, report = root / "ops" / key, root / "report" / key
    logs = root / "logs" / key
    for folder in (ops, report, logs):
        folder.mkdir(parents=True, exist_ok=True)
    (ops / f"{op}_impl.py").write_text(f"# {key}\n{IMPL}", encoding="utf-8")
    (report / f"{op}_impl.py").write_bytes((ops / f"{op}_impl.py").read_bytes())
    (report / "task_desc.py").write_bytes(case_file.read_bytes())
    (logs / "pypto_run.log").write_text("generating\n", encoding="utf-8")
    (logs / "verify.log").write_text("verifying\n", encoding="utf-8")
    made = generated or Generated(
        "success", TEXT, 12.5, str(logs / "pypto_run.log"), (str(logs / "pypto_run.log"),), 1,
        {f"{op}_impl.py": str(ops / f"{op}_impl.py")},
    )  # fmt: skip
    found = None
    if made.good:
        told = proof(case, str(ops), backend=backend, **more)
        told = change(told) if change is not None else told
        evidence.write(told, str(report))
        found = Verified(
            told.status, told.backend, told.category, told.message, told.correctness, told.performance, told.cheat, told.seconds,
            str(logs / "verify.log"), str(report),
        )  # fmt: skip
    outcome = Outcome(
        case, str(report), "0", made, found, overall_of(made, found), "2026-01-02 03:04:05", "2026-01-02 03:04:25",
        (f"{op}_impl.py", "task_desc.py"),
    )  # fmt: skip
    records.write(outcome, str(report))
    return outcome


def measured(speedup=2.0, base=100.0):
    return Performance(base / speedup, base, speedup)


def edit(path: Path, **values) -> None:
    """Change fields of a JSON file, as somebody who wants it to say something else does."""
    found = json.loads(path.read_text(encoding="utf-8"))
    for name, value in values.items():
        target = found
        *above, last = name.split("__")
        for part in above:
            target = target[int(part) if isinstance(target, list) else part]
        target[last] = value
    path.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")


def rehash(report: Path) -> None:
    """Make the record's digest of the evidence right again: what a careful forger does."""
    edit(report / "result.json", evidence__verification_sha256=records.digest(str(report / "verification.json")))


def calls(work) -> int:
    """How many Python functions some work calls."""
    count = 0

    def seen(frame, event, argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count
