"""Which rules apply to a path: opdev.toml, the editor's settings, ignore files.

A rulebook is made once and thrown away when any of what it read changes; the thread that lints
keeps the one it began with.  A configuration that cannot be used costs nothing but itself: what was
good last time goes on, and the problem becomes a finding in the file it is in.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from opdev import config
from opdev.ignore import Patterns
from opdev.lsp.settings import Settings
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.model import Rule
from opdev.rules.page import PageError
from opdev.rules.selection import Selection
from opdev.rules.watchdog import Watchdog

GITIGNORE = ".gitignore"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one path is to be judged."""

    linter: Linter
    selection: Selection
    excluded: bool
    profile: str
    lang: str
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a configuration file or a rule page; ``line`` is 1-based."""

    path: str
    line: int
    text: str


class Rulebook:
    """Answers for any path; ``before`` is the rulebook it replaces."""

    def __init__(self, settings: Settings, watchdog: Watchdog, before: Rulebook | None = None) -> None:
        self.settings = settings
        self.problems: dict[str, Problem] = {}
        self._watchdog = watchdog
        self.configs = config.Configs(overrides=self._over)
        self.good: dict[str, config.Resolved] = dict(before.good) if before is not None else {}
        self._folders: dict[str, config.Resolved] = {}
        self._linters: dict[int, Linter] = {}
        self._verdicts: dict[str, Verdict] = {}
        self._gitignores: dict[str, Patterns | None] = {}
        self._is_repository: dict[str, bool] = {}

    def of(self, path: str) -> Verdict:
        """The verdict on an absolute path with forward slashes."""
        found = self._verdicts.get(path)
        if found is None:
            resolved = self.for_folder(path.rpartition("/")[0] or "/")
            linter = self._linters.get(id(resolved))
            if linter is None:
                linter = self._linters[id(resolved)] = Linter(watchdog=self._watchdog, known=resolved.rules)
            found = self._verdicts[path] = Verdict(
                linter,
                resolved.selection_for(path),
                not self.settings.enable or self.skipped(path),
                resolved.settings.profile,
                resolved.lang,
                resolved.rules,
            )
        return found

    def for_folder(self, folder: str) -> config.Resolved:
        """The configuration of a folder; the last good one where today's cannot be used."""
        found = self._folders.get(folder)
        if found is None:
            try:
                found = self.good[folder] = self.configs.for_folder(folder)
            except config.ConfigError as error:
                self.problems[error.path] = Problem(error.path, error.line, error.problem)
            except PageError as error:
                self.problems[error.path] = Problem(error.path, error.line, error.problem)
            if found is None:
                found = self.good.get(folder) or config.Resolved(self._over(config.Settings()), store.load())
            self._folders[folder] = found
        return found

    def skipped(self, path: str, *, folder: bool = False) -> bool:
        """Whether configuration or an ignore file takes a path out."""
        resolved = self.for_folder(path.rpartition("/")[0] or "/")
        if resolved.excluded(path, folder=folder):
            return True
        return resolved.settings.respect_gitignore and self._git_ignores(path, folder=folder)

    def depends_on(self, path: str) -> bool:
        """Whether a change of ``path`` makes this rulebook out of date."""
        name = path.rpartition("/")[2]
        if name in (*config.NAMES, GITIGNORE) or path in self.problems:
            return True
        return any(
            path in resolved.settings.files or any(config.below(path, folder) for folder in resolved.settings.rules)
            for resolved in {id(r): r for r in list(self._folders.values())}.values()
        )

    def _over(self, settings: config.Settings) -> config.Settings:
        mine = self.settings
        return replace(
            settings,
            select=mine.select if mine.select is not None else settings.select,
            extend_select=(*settings.extend_select, *mine.extend_select),
            ignore=(*settings.ignore, *mine.ignore),
        )

    def _git_ignores(self, path: str, *, folder: bool) -> bool:
        here, is_folder = path, folder
        while "/" in here:
            # As git does: nothing below an ignored folder is taken back.
            if self._decide(here, folder=is_folder):
                return True
            here, is_folder = here.rpartition("/")[0], True
            if here and self._repository(here):
                return False
        return False

    def _decide(self, path: str, *, folder: bool) -> bool | None:
        """What the nearest .gitignore that mentions ``path`` itself says."""
        base = path.rpartition("/")[0]
        while True:
            patterns = self._gitignore(base)
            if patterns is not None:
                verdict = patterns.decide(path[len(base) :].lstrip("/"), folder=folder)
                if verdict is not None:
                    return verdict
            if not base or self._repository(base):
                return None
            base = base.rpartition("/")[0]

    def _gitignore(self, folder: str) -> Patterns | None:
        if folder not in self._gitignores:
            try:
                with open(f"{folder}/{GITIGNORE}", "rb") as file:
                    self._gitignores[folder] = Patterns.of_file(file.read())
            except OSError:
                self._gitignores[folder] = None
        return self._gitignores[folder]

    def _repository(self, folder: str) -> bool:
        if folder not in self._is_repository:
            self._is_repository[folder] = os.path.exists(f"{folder}/.git")
        return self._is_repository[folder]
