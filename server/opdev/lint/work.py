"""Linting many files, on as many cores as asked for; the order of results never depends on it."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

from opdev.lint.collect import Found
from opdev.lint.session import FileResult, Options, Session

_CHUNK_BYTES = 400_000

_session: Session | None = None


def lint_files(
    files: Sequence[Found], session: Session, jobs: int
) -> Iterator[tuple[Found, FileResult, dict[str, float]]]:
    """(file, result, seconds by rule of its chunk) for each file, in no set order."""
    if jobs <= 1:
        for found in files:
            yield found, session.lint_path(found.path), {}
        return
    by_path = {found.path: found for found in files}
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_start, initargs=(session.options,)) as pool:
        try:
            for results, seconds in pool.map(_lint_chunk, chunks(files)):
                for index, result in enumerate(results):
                    yield by_path[result.path], result, seconds if index == 0 else {}
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def chunks(files: Sequence[Found]) -> Iterator[list[str]]:
    """Paths in batches of about equal work, an operator's files together."""
    batch: list[str] = []
    size = 0
    for found in files:
        batch.append(found.path)
        size += found.size + 2000
        if size >= _CHUNK_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def default_jobs() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start(options: Options) -> None:
    import signal

    global _session  # noqa: PLW0603 - one session a worker process, made once
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _session = Session(options)


def _lint_chunk(paths: list[str]) -> tuple[list[FileResult], dict[str, float]]:
    session = _session
    if session is None:
        raise RuntimeError("a worker without a session")
    before = dict(session.linter.seconds or {})
    results = [session.lint_path(path) for path in paths]
    after = session.linter.seconds or {}
    return results, {name: spent - before.get(name, 0.0) for name, spent in after.items()}
