"""Linting files one by one with everything they share: configuration, places, operators."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from opdev.config import ConfigError, Configs, Resolved, Settings
from opdev.lint.record import Place, Record, place_of, record_of
from opdev.project.operators import Operator, kind_of, read_disk, read_log
from opdev.project.places import Places
from opdev.rules.engine import INTERNAL_ERROR, Linter
from opdev.rules.model import Finding, Rule
from opdev.rules.watchdog import CheckTimeout, Watchdog
from opdev.source import Source
from opdev.syntax.file import File

log = logging.getLogger("opdev.lint")
LARGEST = 20_000_000
"""Bytes; a larger file is generated or data, and said to be skipped."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says about linting; plain data, so that workers can be given it."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    profile: str | None = None
    severity: Mapping[str, str] = field(default_factory=dict)
    isolated: bool = False
    config: str | None = None
    ignore_suppressions: bool = False
    stats: bool = False
    cwd: str = "/"

    def over(self, settings: Settings) -> Settings:
        """The settings after the command line had its say."""
        return replace(
            settings,
            select=self.select if self.select is not None else settings.select,
            extend_select=(*settings.extend_select, *self.extend_select),
            ignore=(*settings.ignore, *self.ignore),
            profile=self.profile or settings.profile,
            severity={**settings.severity, **self.severity},  # type: ignore[dict-item]  # checked by the parser
        )

    def configs(self) -> Configs:
        return Configs(overrides=self.over, isolated=self.isolated, explicit=self.config)


@dataclass
class FileResult:
    """What linting one file came to; ``problem`` says why it could not be looked at."""

    path: str
    records: list[Record] = field(default_factory=list)
    problem: str | None = None
    suppressed: int = 0
    ours: bool = False


class Session:
    """Lints files; one a process."""

    def __init__(self, options: Options, configs: Configs | None = None) -> None:
        self.options = options
        self.configs = configs or options.configs()
        self.places = Places()
        self.linter = Linter(
            watchdog=Watchdog(),
            stats=options.stats,
            ignore_suppressions=options.ignore_suppressions,
            known=self.configs.for_folder(options.cwd).rules,
        )
        self._operators: dict[str, Operator] = {}
        self._others: dict[str, Source | None] = {}

    def shown(self, path: str) -> str:
        """A path as output names it: relative to the working directory where it is below it."""
        cwd = self.options.cwd.rstrip("/") + "/"
        if path.startswith(cwd):
            return path[len(cwd) :]
        try:
            return os.path.relpath(path, self.options.cwd).replace("\\", "/")
        except ValueError:  # another drive
            return path

    def lint_path(self, path: str) -> FileResult:
        """Lint one file of the disk."""
        try:
            if path.endswith(".log"):
                return self.lint_bytes(path, read_log(path))
            size = os.path.getsize(path)
            if size > LARGEST:
                return FileResult(path, problem=f"larger than {LARGEST // 1_000_000} MB, not looked at")
            raw = Path(path).read_bytes()
        except OSError as error:
            return FileResult(path, problem=error.strerror or str(error))
        return self.lint_bytes(path, raw)

    def lint_bytes(self, path: str, raw: bytes) -> FileResult:
        """Lint ``raw`` as the content of ``path``."""
        source = Source.from_disk(path, raw)
        try:
            findings, file = self.findings(source)
        except ConfigError:
            raise
        except (Exception, CheckTimeout) as error:
            log.exception("linting %s failed", path)
            args = {"rule": "?", "error": f"{type(error).__name__}: {error}", "place": "engine"}
            crash = Finding(INTERNAL_ERROR, source, 0, 0, "error", "default", args)
            return FileResult(path, [record_of(crash, self.shown(path))], ours=True)
        name = self.shown(path)
        return FileResult(
            path, [record_of(f, name, place_in=self._place_in) for f in findings], ours=bool(file and file.kind)
        )

    def _place_in(self, path: str, start: int, end: int) -> Place:
        """Where a range of another file is: the other side of a cross-file finding."""
        if path not in self._others:
            raw = read_disk(path)
            self._others[path] = Source.from_disk(path, raw) if raw is not None else None
        source = self._others[path]
        name = self.shown(path)
        return place_of(source, start, end, name) if source is not None else Place(name, 1, 1, 1, 1)

    def findings(self, source: Source) -> tuple[list[Finding], File | None]:
        """Findings of a source under the configuration of its path; no file where it is not ours."""
        config = self.configs.for_path(source.path)
        file = self.file(source, config)
        if file is None:
            return [], None
        result = self.linter.lint(file, config.selection_for(source.path), self.operator(file))
        return result.findings, file

    def file(self, source: Source, config: Resolved | None = None) -> File | None:
        """A source as a file with kind and place; None where it is nobody's."""
        config = config or self.configs.for_path(source.path)
        place = self.places.of(source.path)
        kind = kind_of(source.path, source.data, in_operator=place.operator is not None)
        if not kind:
            return None
        if config.settings.profile != "auto":
            place = replace(place, profile=config.settings.profile)
        return File(source, kind, place)

    def operator(self, file: File) -> Operator | None:
        """The operator a file belongs to."""
        root = file.place.root
        if root is None:
            return None
        if root not in self._operators:
            self._operators[root] = Operator(root, self.places, read_disk)
        return self._operators[root]

    def forget_operator(self, root: str | None) -> None:
        """Files of an operator changed on disk."""
        if root is not None:
            self._operators.pop(root, None)
            self._others.clear()


def rules_by_name(rules: Iterable[Rule]) -> dict[str, Rule]:
    """Rules under their names, the engine's own among them."""
    table = {rule.name: rule for rule in rules}
    table[INTERNAL_ERROR.name] = INTERNAL_ERROR
    return table
