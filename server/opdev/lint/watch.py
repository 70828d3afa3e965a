"""``--watch``: lint again whenever something below the paths changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path


def watch(paths: Sequence[str], run: Callable[[], object], stop: threading.Event | None = None) -> None:
    """Run once, then after every change, changes that come together taken as one."""
    from watchdog.events import FileSystemEvent, FileSystemEventHandler
    from watchdog.observers import Observer

    changed = threading.Event()
    stop = stop or threading.Event()

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            kinds = ("modified", "created", "deleted", "moved")
            if event.event_type in kinds and not event.is_directory and "/.git/" not in str(event.src_path):
                changed.set()

    observer = Observer()
    for path in paths:
        target = Path(path)
        observer.schedule(Handler(), str(target if target.is_dir() else target.parent), recursive=target.is_dir())
    observer.start()
    try:
        run()
        while not stop.is_set():
            if not changed.wait(0.2):
                continue
            # An editor writes in several steps; what follows at once belongs to the same change.
            while changed.is_set() and not stop.is_set():
                changed.clear()
                changed.wait(0.05)
            run()
    finally:
        observer.stop()
        observer.join()
