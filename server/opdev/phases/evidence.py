"""An operator's artifacts as the gates look at them: parsed files, file times, logs, run records.

Everything is asked once for one question (a gate, a status) and then forgotten; nothing here judges.

How old something is
    A run record that names the SHA-256 of its sources is compared by content.  Everything else by file
    time: what is more than ``SLACK`` seconds older than a source does not speak for it.  (A checkout writes
    all files within a moment and in no order, so a smaller difference means nothing.)
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from opdev.config import ConfigError, Configs
from opdev.design.document import DesignDocument, document_of
from opdev.design.problems import flag, is_placeholder
from opdev.phases.graph import Flags
from opdev.phases.model import Spot
from opdev.phases.records import Record, last_backend, read
from opdev.rules.context import Project
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

SLACK = 2.0
DESIGN = "docs/design.md"
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_MOST_LOGS = 200
_MOST_LOG_BYTES = 4_000_000
_LOG_FOLDERS = ("data", "output", "logs", "log", "build", "baseline")


@dataclass(frozen=True, slots=True)
class Aged:
    """A path below the operator and when it was last written (seconds since 1970)."""

    path: str
    time: float


class Evidence:
    """What one operator has on disk (unsaved editor text where ``project`` gives it)."""

    def __init__(
        self,
        project: Project,
        configs: Configs | None = None,
        cancelled: Callable[[], bool] | None = None,
        *,
        simulated: bool | None = None,
    ) -> None:
        self.project = project
        self._simulated = simulated
        self.cancelled = cancelled
        """Whether nobody wants the answer any more; asked between two rules."""
        self.root = project.root
        self._configs = configs or Configs()
        self._logs: dict[str, bytes] = {}

    @cached_property
    def files(self) -> dict[str, File]:
        """The operator's files that opdev reads, by their path below it."""
        prefix = f"{self.root}/"
        return {f.path[len(prefix) :]: f for f in self.project.files() if f.path.startswith(prefix)}

    def file(self, relative: str) -> File | None:
        """A file that can be read; None where there is none, or a folder, or one nobody may read."""
        return self.files.get(relative)

    def first(self, *relatives: str) -> File | None:
        """The first of some files that is there."""
        return next((f for r in relatives if (f := self.files.get(r)) is not None), None)

    def of_kind(self, *kinds: str) -> list[File]:
        """The operator's files of any of ``kinds``, in path order."""
        wanted = set(kinds)
        return [f for f in self.files.values() if not wanted.isdisjoint(f.kind.names)]

    def below(self, file: File) -> str:
        """A file's path below the operator."""
        return file.path[len(self.root) + 1 :]

    def exists(self, relative: str) -> bool:
        """Whether there is anything of that name, readable or not."""
        return self.project.exists(relative)

    def path(self, relative: str) -> str:
        return os.path.normpath(f"{self.root}/{relative}").replace("\\", "/")

    def spot(self, file: File, offset: int = 0) -> Spot:
        """The place of a byte in a file."""
        line, column = file.source.position(offset)
        return Spot(file.path, line + 1, column + 1)

    def at(self, relative: str, line: int = 1) -> Spot:
        """The top of a file, or of one that should be there."""
        return Spot(self.path(relative), line)

    def time(self, relative: str) -> float | None:
        """When a file was last written; None where there is none.  A folder has no time that means anything."""
        path = self.path(relative)
        try:
            return os.path.getmtime(path) if os.path.isfile(path) else None
        except (OSError, ValueError):
            return None

    def newest(self, relatives: Iterable[str]) -> Aged | None:
        """The youngest of some files."""
        aged = [Aged(r, t) for r in relatives if (t := self.time(r)) is not None]
        return max(aged, key=lambda a: (a.time, a.path), default=None)

    @cached_property
    def sources(self) -> list[str]:
        """What a build is made of: C++ and the operator's CMakeLists.txt; not the baseline, not a binding."""
        out = []
        for relative, file in self.files.items():
            names = file.kind.names
            if "torch-binding" in names or relative.startswith(("baseline/", "torch_binding/")):
                continue
            if "cpp" in names or ("cmake" in names and relative.endswith("CMakeLists.txt")):
                out.append(relative)
        return out

    @cached_property
    def code(self) -> list[str]:
        """The C++ of the operator: without it there is no code."""
        return [r for r in self.sources if not r.endswith("CMakeLists.txt")]

    @cached_property
    def newest_source(self) -> Aged | None:
        return self.newest(self.sources)

    def older(self, time: float | None, than: Aged | None) -> bool:
        """Whether something of that time was made before the file ``than`` was last written."""
        return time is not None and than is not None and time < than.time - SLACK

    @cached_property
    def records(self) -> list[Record]:
        return read(self.root)

    def record(self, *steps: str, n_pes: int | None = None) -> Record | None:
        """The newest record of a step."""
        found = [r for r in self.records if r.step in steps and (n_pes is None or r.n_pes == n_pes)]
        return found[-1] if found else None

    def matches(self, record: Record) -> bool | None:
        """Whether a record's sources are the present ones; None where it names none."""
        if not record.sources:
            return None
        return all(record.sources.get(relative) == self.digest(relative) for relative in self.sources)

    def digest(self, relative: str) -> str:
        """SHA-256 of a file on disk, or of its unsaved text."""
        file = self.files[relative]
        try:
            data = file.source.to_disk(file.data)
        except UnicodeError:
            data = file.data
        return hashlib.sha256(data).hexdigest()

    @cached_property
    def logs(self) -> list[str]:
        """Logs below the operator, in path order, bounded."""
        found = [f for f in ("build.log", "run.log") if os.path.isfile(self.path(f))]
        for folder in _LOG_FOLDERS:
            found += self._logs_in(folder)
        return sorted(found)[:_MOST_LOGS]

    def _logs_in(self, folder: str) -> Iterator[str]:
        seen = 0
        for here, names, files in os.walk(self.path(folder)):
            names[:] = sorted(n for n in names if n not in ("CMakeFiles", "_deps"))
            seen += len(names) + len(files)
            if seen > 5000:
                return
            for name in sorted(files):
                if name.endswith((".log", ".out")):
                    yield f"{here}/{name}".replace("\\", "/")[len(self.root) + 1 :]

    def log(self, relative: str) -> bytes:
        """A log's text as UTF-8, its first megabytes; empty where it cannot be read."""
        if relative not in self._logs:
            try:
                with open(self.path(relative), "rb") as stream:
                    raw = stream.read(_MOST_LOG_BYTES)
            except OSError:
                raw = b""
            self._logs[relative] = Source.from_disk(relative, raw).data
        return self._logs[relative]

    @cached_property
    def design(self) -> DesignDocument | None:
        file = self.file(DESIGN)
        return document_of(file) if file is not None and file.language == "markdown" else None

    def said(self, key: str) -> bool | None:
        """A flag as the design's ``meta`` has it, else as the intake record has it; None for neither."""
        value = flag(self.design, f"meta.{key}") if self.design is not None else None
        if value is None:
            from opdev.phases.intake import answers

            answer = answers(self).get(key)
            value = answer if isinstance(answer, bool) else None
        return value

    @cached_property
    def flags(self) -> Flags:
        """The flags that decide the way, with what Phase 6 decided."""
        from opdev.phases.perf import decision, rounds_begun

        return Flags(
            torch_required=self.said("torch_required"),
            performance_required=self.said("performance_required"),
            performance_auto_optim=self.said("performance_auto_optim"),
            met=decision(self).met,
            rounds=rounds_begun(self),
        )

    @cached_property
    def name(self) -> str:
        """The operator's name: the design's where it is one, else the folder's."""
        text = self.design.text("meta.op_name").strip() if self.design is not None else ""
        return text if _NAME.fullmatch(text) and not is_placeholder(text) else self.root.rsplit("/", 1)[-1]

    @cached_property
    def in_tree(self) -> bool:
        """Whether it is an example of SHMEM's own tree."""
        return self.root.rpartition("/")[0].endswith("/examples")

    @cached_property
    def simulated(self) -> bool:
        """Whether this operator runs on the CPU stand-in: whoever asks says so, else the configuration, else its last run."""
        if self._simulated is not None:
            return self._simulated
        try:
            executor = self._configs.for_folder(self.root).settings.run.get("executor")
        except ConfigError:
            return False
        return executor == "sim" if executor is not None else last_backend(self.root) == "sim"

    def selection(self, file: File) -> Selection | None:
        """The rules that are on for a file; None where its configuration cannot be used."""
        try:
            return self._configs.for_path(file.path).selection_for(file.path)
        except ConfigError:
            return None
