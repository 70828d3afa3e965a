"""``result.json``: how one case ended, in the flat fields of the field's own benchmark, and what proves it.

``evidence`` names every file the verdict rests on with its SHA-256, so that ``proof`` can say later whether they still
are what they were.  Files inside the batch's folder are named from the folder of ``result.json``: a batch may be moved.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Iterable, Mapping
from typing import Any

from opdev.atomic import write_bytes
from opdev.bench.model import BenchError, Outcome

NAME, VERIFICATION = "result.json", "verification.json"
VERSION = 1
LARGEST = 64 << 20
"""Bytes of a record that is read at all."""
_SOURCES = (".py", ".pyi", ".cpp", ".cc", ".cxx", ".cce", ".asc", ".c", ".h", ".hpp", ".so")
_BLOCK = 1 << 20

# Field and JSON type. n: number, s: string, b: boolean, a: list of strings, o: object.
FIELDS: Mapping[str, str] = {
    "op_name": "s", "case_id": "s", "source_file": "s", "level": "s", "report_subdir": "s",
    "pypto_status": "s", "pypto_message": "s", "pypto_duration_sec": "n", "pypto_log_file": "s",
    "pypto_attempt_log_files": "a", "pypto_retry_count": "n", "pypto_session_id": "s", "pypto_session_md_file": "s",
    "pypto_session_export_message": "s", "pypto_artifacts": "o",
    "verifier_status": "s", "verifier_message": "s", "verifier_duration_sec": "n", "verifier_log_file": "s",
    "verifier_session_id": "s", "verifier_session_md_file": "s", "verifier_session_export_message": "s",
    "correctness": "b", "perf_gen_time_us": "n", "perf_base_time_us": "n", "perf_speedup": "n",
    "perf_roofline_time_us": "n", "perf_roofline_speedup": "n", "perf_message": "s",
    "overall_status": "s", "failure_category": "s", "started_at": "s", "finished_at": "s",
    "backend": "s", "messages": "o", "evidence": "o", "slot": "s", "schema_version": "n", "opdev_version": "s",
}  # fmt: skip
_TYPES: Mapping[str, tuple[type, ...]] = {"s": (str,), "n": (int, float), "b": (bool,), "a": (list,), "o": (dict,)}


def write(outcome: Outcome, folder: str) -> None:
    """Replace ``result.json`` in ``folder`` (absolute), whole or not at all; OSError where it cannot be written."""
    os.makedirs(folder, exist_ok=True)
    value = document(outcome, folder)
    write_bytes(
        f"{folder}/{NAME}",
        (json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode("utf-8", "backslashreplace"),
    )


def document(outcome: Outcome, folder: str) -> dict[str, Any]:
    """What ``result.json`` says; ``folder`` is where it will stand."""
    import opdev

    case, made, found = outcome.case, outcome.generated, outcome.verified
    perf = found.performance if found is not None else None
    messages = {
        "pypto": dict(made.message),
        "verifier": dict(found.message) if found is not None else {},
        "perf": dict(perf.message) if perf is not None else {},
    }
    return {
        "op_name": case.op, "case_id": case.id, "source_file": case.path, "level": case.level, "report_subdir": case.key,
        "pypto_status": made.status, "pypto_message": messages["pypto"].get("zh"), "pypto_duration_sec": _number(made.seconds),
        "pypto_log_file": made.log or None, "pypto_attempt_log_files": list(made.logs), "pypto_retry_count": made.retries,
        "pypto_artifacts": dict(made.artifacts),
        "verifier_status": found.status if found is not None else None,
        "verifier_message": messages["verifier"].get("zh"),
        "verifier_duration_sec": _number(found.seconds) if found is not None else None,
        "verifier_log_file": (found.log or None) if found is not None else None,
        "correctness": found.correctness if found is not None else None,
        "perf_gen_time_us": _number(perf.generated_us) if perf is not None else None,
        "perf_base_time_us": _number(perf.base_us) if perf is not None else None,
        "perf_speedup": _number(perf.speedup) if perf is not None else None,
        "perf_message": messages["perf"].get("zh"),
        "overall_status": outcome.overall,
        "failure_category": found.category if found is not None else None,
        "started_at": outcome.started_at, "finished_at": outcome.finished_at,
        "backend": found.backend if found is not None and found.status != "skipped" else None,
        "messages": messages, "slot": outcome.slot,
        "evidence": _evidence(outcome, folder), "schema_version": VERSION, "opdev_version": opdev.__version__,
    }  # fmt: skip


def read(folder: str) -> dict[str, Any]:
    """The record in ``folder``: every field of ``FIELDS`` (None where it is missing), and whatever else it has.

    BenchError names file, line and column of what is damaged; OSError where there is none.
    """
    return parsed(f"{folder}/{NAME}", FIELDS)


def parsed(path: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """A JSON object in a file, its ``fields`` of their types or None; BenchError with the place otherwise."""
    text = text_of(path)
    try:
        value = json.loads(text, parse_constant=lambda _: None, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise BenchError("r-damaged", path=path, line=error.lineno, column=error.colno, why=error.msg) from error
    except (ValueError, RecursionError) as error:
        raise BenchError("r-damaged", path=path, line=1, column=1, why=str(error).partition("\n")[0]) from error
    if not isinstance(value, dict):
        raise BenchError("r-damaged", path=path, line=1, column=1, why=f"{type(value).__name__}, not an object")
    for name, kind in fields.items():
        found = value.setdefault(name, None)
        if found is None:
            continue
        if not isinstance(found, _TYPES[kind]) or (kind == "n" and isinstance(found, bool)):
            raise BenchError("r-type", path=path, line=_line(text, name), name=name, found=json.dumps(found)[:60])
    return value


def text_of(path: str) -> str:
    """The text of a record; BenchError where it is no plain file, too large or not UTF-8."""
    # What is no file might never end, or never begin; what has a NUL in it names none.
    if "\0" in path or not stat.S_ISREG(os.stat(path).st_mode):
        raise BenchError("r-no-file", path=path)
    with open(path, "rb") as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise BenchError("r-large", path=path, most=LARGEST >> 20)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BenchError("r-damaged", path=path, line=line, column=1, why="not UTF-8") from error


def digest(path: str) -> str | None:
    """SHA-256 of a plain file in hex; None where there is none."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        found = hashlib.sha256()
        with open(path, "rb") as stream:
            while block := stream.read(_BLOCK):
                found.update(block)
    except (OSError, ValueError):
        return None
    return found.hexdigest()


def _finite(text: str) -> float | None:
    """What JSON has no number for is none: nothing that is written from it may have one."""
    found = float(text)
    return found if math.isfinite(found) else None


def _line(text: str, name: str) -> int:
    found = re.search(rf'(?<!\\)"{re.escape(name)}"\s*:', text)
    return text.count("\n", 0, found.start()) + 1 if found is not None else 1


def _number(value: float | None) -> float | None:
    return round(value, 6) if value is not None and math.isfinite(value) else None


def _evidence(outcome: Outcome, folder: str) -> dict[str, Any]:
    """Files with their digests as they are now; ``copy`` is the one kept in the case's own folder."""
    found = outcome.verified
    root = _root(folder, outcome.case.key)
    kept = [p for p in _files(os.path.join(folder, path) for path in outcome.artifacts) if os.path.basename(p) != NAME]
    copies = {(os.path.basename(path), digest(path)): path for path in kept}
    taken: set[str] = set()

    def one(path: str, *, names: tuple[str, ...] = ()) -> dict[str, Any]:
        made = digest(path)
        copy = next((c for name in (os.path.basename(path), *names) if (c := copies.get((name, made)))), None)
        if copy is not None:
            taken.add(copy)
        return {"path": named(path, folder, root), "sha256": made, "copy": named(copy, folder, root) if copy else None}

    verification = f"{found.evidence}/{VERIFICATION}" if found is not None and found.evidence else ""
    ran = _ran(verification)
    # Of what was verified the files that ran; else all that is code.
    code = {path for path in outcome.generated.artifacts.values() if path.endswith(_SOURCES)}
    originals = sorted(ran or code)
    sources = [one(path) for path in originals if os.path.isfile(path)]
    case = one(outcome.case.path, names=("task_desc.py",))
    if not ran:
        sources += [one(path) for path in sorted(kept) if path.endswith(_SOURCES) and path not in taken]
    logs = [found.log] if found is not None and found.log else []
    logs += [path for path in (*outcome.generated.logs, outcome.generated.log) if path]
    return {
        "verification": named(verification, folder, root) if os.path.isfile(verification) else None,
        "verification_sha256": digest(verification) if verification else None,
        "case": case,
        "sources": sources,
        "logs": [
            {"path": named(path, folder, root), "bytes": _size(path), "sha256": digest(path)}
            for path in dict.fromkeys(logs)
        ],
    }


def _ran(verification: str) -> set[str]:
    """The files that a verification has run."""
    try:
        document = parsed(verification, {"folder": "s", "sources": "o"})
    except (BenchError, OSError):
        return set()
    folder = document["folder"]
    return {os.path.normpath(f"{folder}/{name}") for name in document["sources"] or {}} if folder else set()


def _files(paths: Iterable[str]) -> list[str]:
    out: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            for top, _, names in os.walk(path):
                out += [f"{top}/{name}" for name in names]
        elif os.path.isfile(path):
            out.append(path)
    return out


def _size(path: str) -> int | None:
    try:
        return os.stat(path).st_size
    except OSError:
        return None


def _root(folder: str, key: str) -> str:
    """The batch's folder: two or three above the case's own."""
    above = folder.removesuffix(f"/{key}")
    return os.path.dirname(above) if above != folder and os.path.basename(above) == "report" else folder


def named(path: str, folder: str, root: str) -> str:
    """A path as evidence has it: from ``folder`` where it is inside the batch, absolute elsewhere."""
    path = os.path.abspath(path)
    inside = path == root or path.startswith(f"{root.rstrip('/')}/")
    return os.path.relpath(path, folder) if inside else path
