"""Measurements for other programs: CSV rows, and a trace that chrome://tracing and Perfetto open.

Every row and every slice says its backend, so that what leaves here stays marked as simulated.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from typing import Any

from opdev.perf.frames import phase_of
from opdev.perf.model import MEANS, TIMES, Log

COLUMNS = (
    "operator", "backend", "side", "tier", "case", "n_pes", "dtype", "count", "payload_bytes", "bus_factor", "peak_bandwidth_GBps",
    "launch", *TIMES, *MEANS, "api", "run", "log", "lines",
)  # fmt: skip
_APART = 10_000
"""Numbers of a process and its threads; a profile has at most 1024 blocks."""
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""The wide ones too: spreadsheets read them as the others."""
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_MARK = "\ufeff"


def to_csv(document: Mapping[str, Any]) -> str:
    """A row of each launch used, and one of the medians of each group (``launch`` is ``median``); with header.

    A text with anything beyond ASCII (a Chinese name or path) begins with a byte-order mark: without one, spreadsheets on
    a Chinese system take UTF-8 for GBK.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for group in document["groups"]:
        head = [document["operator"], *(group[k] for k in ("backend", "side", "tier", "case", "n_pes", "dtype", "count", "payload_bytes", "bus_factor", "peak_bandwidth_GBps"))]  # fmt: skip
        sources = group["sources"]
        tail = [
            group["api"], " ".join(dict.fromkeys(s["run"] or "" for s in sources)).strip(), " ".join(dict.fromkeys(s["log"] for s in sources)),
            " ".join(str(line) for s in sources for line in s["lines"]),
        ]  # fmt: skip
        rows = [(str(n), sample) for n, sample in enumerate(group["samples"], 1)]
        medians = {name: m["median"] if m else None for name, m in group["metrics"].items()}
        for name, values in [*rows, ("median", medians)]:
            row = [*head, name, *(values.get(m) for m in (*TIMES, *MEANS)), *tail]
            writer.writerow(["" if cell is None else _safe(cell) for cell in row])
    text = out.getvalue()
    return text if text.isascii() else _MARK + text


def _safe(cell: Any) -> Any:
    """A text on one line that a spreadsheet does not take for a formula; bytes without a point."""
    if isinstance(cell, str):
        cell = _CONTROLS.sub(" ", cell)
        return f"'{cell}" if cell.lstrip().startswith(_FORMULA) else cell
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return int(cell)
    return cell


def to_trace(logs: Iterable[Log], operator: str = "") -> dict[str, Any]:
    """Cycle-profile frames as slices: a process a table, a thread a block, frames one behind the other.

    A profile holds means, no moments: the order is that of the frame ids, and the trace says so.  No two threads have one
    number, none has 0 or its process's: Perfetto would put their slices on one track.
    """
    events: list[dict[str, Any]] = []
    process = 0
    for log in logs:
        for line, rows in log.tables:
            process += _APART
            mark = " (simulated)" if log.backend == "sim" else ""
            name = f"{operator or 'operator'} {log.run or log.name}:{line}{mark}"
            events.append({"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": name}})
            at: dict[int, float] = {}
            for block, frame, cycles, count, avg_us in sorted(rows, key=lambda r: (r[0], r[1])):
                thread = process + 1 + int(block)
                if thread not in at:
                    at[thread] = 0.0
                    events.append({"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": f"block {int(block)}"}})  # fmt: skip
                long = max(avg_us, 0.0)
                events.append({
                    "ph": "X", "cat": "frame", "name": f"{int(frame)} {phase_of(int(frame))}".strip(), "pid": process, "tid": thread,
                    "ts": round(at[thread], 3), "dur": round(long, 3),
                    "args": {"cycles": int(cycles), "count": int(count), "backend": log.backend, "log": log.name, "line": line},
                })  # fmt: skip
                at[thread] += long
    note = "frames are means over launches, laid out in the order of their ids; not moments of one launch"
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"operator": operator, "note": note}}
