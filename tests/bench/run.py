"""The budgets of the design, measured in one run with the peers beside: ``make bench``.

Public trees are given by ``OPDEV_BENCH_TREES`` (a folder that holds checkouts of SHMEM and PyPTO); without it the
generated corpus stands alone.  ``--quick`` leaves semgrep out.  The exit status is 1 when a budget is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import editing
import extension
import linting
import precision
import standin
import typist
from measure import Row, memory


def server_memory(trees: Path) -> list[Row]:
    """Peak memory of a server whose workspace is the trees, after one kernel was opened and edited."""
    from measure import program

    path = next(iter(sorted(trees.rglob("*_kernel.cpp"))))
    editor = editing.Editor(
        [program("opdev-lsp") or "opdev-lsp"],
        trees,
        str(path.relative_to(trees)),
        path.read_text("utf-8"),
        "cpp",
        pull=True,
    )
    for _ in range(20):
        editor.edit(0, 0, typed=True)
        editor.edit(0, 0, typed=False)
    used = memory(editor.client.process.pid)
    editor.client.close()
    return [Row("opdev-lsp: peak memory, public trees as the workspace", used, "MB", 150)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without semgrep")
    parser.add_argument(
        "--only",
        choices=("edit", "lint", "start", "growth", "memory", "sim", "precision", "type", "extension"),
        action="append",
    )
    args = parser.parse_args()
    given = os.environ.get("OPDEV_BENCH_TREES")
    trees = Path(given) if given else None
    wanted = set(args.only or ("edit", "lint", "start", "growth", "memory", "sim", "precision", "type", "extension"))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="opdev-bench-") as name:
        work = Path(name)
        if "start" in wanted:
            rows += _shown(linting.start_up(work))
        if "edit" in wanted:
            rows += _shown(editing.measure(work / "editing"))
        if "lint" in wanted:
            rows += _shown(linting.measure(work, trees, semgrep=not args.quick))
        if "growth" in wanted:
            rows += _shown(linting.growth(work))
        if "sim" in wanted:
            rows += _shown(standin.measure(work / "sim"))
        if "memory" in wanted and trees is not None:
            rows += _shown(server_memory(trees))
        if "type" in wanted:
            rows += _shown(typist.measure(work / "typist"))
        if "extension" in wanted:
            rows += _shown(extension.measure(work / "extension"))
        if "precision" in wanted:
            rows += _shown(precision.measure(work / "precision"))
    missed = [row for row in rows if not row.ok]
    print(f"{len(rows)} measurements, {len(missed)} budgets missed")
    return 1 if missed else 0


def _shown(rows: Iterable[Row]) -> list[Row]:
    """Rows that were printed, each as it came."""
    shown = []
    for row in rows:
        print(row, flush=True)
        shown.append(row)
    return shown


if __name__ == "__main__":
    sys.exit(main())
