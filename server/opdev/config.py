"""``opdev.toml`` and ``[tool.opdev]``: found from the file upwards, checked, merged, resolved.

The nearest file above the linted one decides; ``extend`` names what it builds on.  All paths in a
file are relative to that file.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from opdev.configkeys import KEYS, mismatch
from opdev.ignore import Patterns
from opdev.rules import store
from opdev.rules.model import Lang, Rule, Severity
from opdev.rules.selection import Selection

NAMES = ("opdev.toml", "pyproject.toml")
_MOST_EXTENDS = 10


class ConfigError(ValueError):
    """A configuration that cannot be used: file, line (1-based) and what to do."""

    def __init__(self, path: str, line: int, problem: str) -> None:
        super().__init__(f"{path}:{line}: {problem}")
        self.path, self.line, self.problem = path, line, problem


@dataclass(frozen=True, slots=True)
class Settings:
    """What one configuration file says, merged over what it extends."""

    path: str | None = None
    root: str = "/"
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """(folder, pattern, rule words)"""
    severity: Mapping[str, Severity] = field(default_factory=dict)
    profile: str = "auto"
    exclude: tuple[tuple[str, str], ...] = ()
    """(folder, pattern)"""
    respect_gitignore: bool = True
    rules: tuple[str, ...] = ()
    lang: str = "auto"
    clangd: str = ""
    run: Mapping[str, Any] = field(default_factory=dict)
    """What `opdev run` reads; its keys are those of KEYS."""
    files: tuple[str, ...] = ()
    """Every file read for this, for reloading."""


class Resolved:
    """Settings with their rules looked up, ready to answer for any file below them."""

    def __init__(self, settings: Settings, rules: Sequence[Rule]) -> None:
        self.settings = settings
        self.rules = tuple(rules)
        self._by_word = store.by_name(rules)
        self._selections: dict[frozenset[str], Selection] = {}
        self._excludes = _by_folder(settings.exclude)
        self._per_file = [
            (folder, Patterns([pattern]), frozenset(self.expand(words)))
            for folder, pattern, words in settings.per_file_ignores
        ]

    @property
    def lang(self) -> str:
        return self.settings.lang

    @cached_property
    def enabled(self) -> tuple[Rule, ...]:
        """The rules ``select``, ``extend-select`` and ``ignore`` leave."""
        settings = self.settings
        chosen = set(self.expand(settings.select)) if settings.select is not None else {r.name for r in self.rules}
        chosen |= self.expand(settings.extend_select)
        chosen -= self.expand(settings.ignore)
        return tuple(rule for rule in self.rules if rule.name in chosen)

    @cached_property
    def asked(self) -> frozenset[str]:
        """The names of the rules asked for by name, id or family: what is off by default is on for them, not for ``all``."""
        words = (*(self.settings.select or ()), *self.settings.extend_select)
        return frozenset(self.expand([word for word in words if word.lower() != "all"]))

    def expand(self, words: Sequence[str]) -> set[str]:
        """Names of the rules that words mean: name, id, covered id, id prefix (``SH7``), family, ``all``."""
        names: set[str] = set()
        for word in words:
            names |= expand_word(word, self._by_word, self.rules)
        return names

    @property
    def selection(self) -> Selection:
        """The selection where no per-file ignore applies."""
        return self._selection(frozenset())

    def selection_for(self, path: str) -> Selection:
        """The selection for one absolute path."""
        off: set[str] = set()
        for folder, patterns, names in self._per_file:
            relative = below(path, folder)
            if relative is not None and patterns.match(relative):
                off |= names
        return self._selection(frozenset(off))

    def _selection(self, off: frozenset[str]) -> Selection:
        found = self._selections.get(off)
        if found is None:
            rules = tuple(r for r in self.enabled if r.name not in off)
            severity = {}
            for word, level in self.settings.severity.items():
                severity.update(dict.fromkeys(self.expand([word]), level))
            found = self._selections[off] = Selection(rules, severity, self.asked)
        return found

    def excluded(self, path: str, *, folder: bool = False) -> bool:
        """Whether ``exclude`` names an absolute path (or a folder above it)."""
        for base, patterns in self._excludes:
            relative = below(path, base)
            if relative is not None and patterns.match(relative, folder=folder):
                return True
        return False


def _by_folder(exclude: Sequence[tuple[str, str]]) -> list[tuple[str, Patterns]]:
    """The patterns of each folder together: a later ``!`` takes back what an earlier one excludes."""
    lines: dict[str, list[str]] = {}
    for folder, pattern in exclude:
        lines.setdefault(folder, []).append(pattern)
    return [(folder, Patterns(patterns)) for folder, patterns in lines.items()]


def expand_word(word: str, table: Mapping[str, Rule], rules: Sequence[Rule]) -> set[str]:
    """Names of the rules one word means; empty for a word that means none."""
    key = word.lower()
    if key == "all":
        return {rule.name for rule in rules}
    if key in table:
        # A row that several pages share is OL48 on one and OL48B on the next.
        parts = re.compile(re.escape(word.upper()) + "[A-Z]")
        return {table[key].name, *(r.name for r in rules if any(parts.fullmatch(row) for row in r.covers))}
    family = {rule.name for rule in rules if rule.family == key}
    if family:
        return family
    if re.fullmatch(r"[A-Za-z]{2,4}[0-9][0-9A-Za-z]?|[A-Za-z]{2,4}", word):
        return {r.name for r in rules if any(row.startswith(word.upper()) for row in (r.id, *r.covers))}
    return set()


def below(path: str, folder: str) -> str | None:
    """``path`` relative to ``folder``; None if it is not below it."""
    base = folder.rstrip("/") + "/"
    return path[len(base) :] if path.startswith(base) else None


class Configs:
    """Finds and keeps the configuration of files.

    ``overrides`` (from the command line) win over every file; ``isolated`` reads no file at all.
    """

    def __init__(
        self,
        *,
        overrides: Callable[[Settings], Settings] | None = None,
        isolated: bool = False,
        explicit: str | None = None,
    ) -> None:
        self._overrides = overrides or (lambda settings: settings)
        self._isolated = isolated
        self._explicit = explicit
        self._by_folder: dict[str, Resolved] = {}
        self._by_file: dict[str | None, Resolved] = {}

    @property
    def seen(self) -> list[Resolved]:
        """Every configuration asked for so far."""
        return list(self._by_file.values())

    def for_path(self, path: str) -> Resolved:
        """The configuration of an absolute path with forward slashes; ConfigError if it is wrong."""
        return self.for_folder(path.rpartition("/")[0] or "/")

    def for_folder(self, folder: str) -> Resolved:
        """The configuration that applies in a folder."""
        found = self._by_folder.get(folder)
        if found is None:
            found = self._by_folder[folder] = self._resolve(self._file_for(folder))
        return found

    def _file_for(self, folder: str) -> str | None:
        if self._isolated:
            return None
        if self._explicit is not None:
            return self._explicit
        here = PurePosixPath(folder)
        for candidate in (here, *here.parents):
            for name in NAMES:
                path = f"{str(candidate).rstrip('/')}/{name}"
                if os.path.isfile(path) and (name == NAMES[0] or _has_table(path)):
                    return path
        return None

    def _resolve(self, path: str | None) -> Resolved:
        found = self._by_file.get(path)
        if found is None:
            settings = read(path) if path is not None else Settings()
            settings = self._overrides(settings)
            found = self._by_file[path] = Resolved(settings, _all_rules(settings))
        return found


def _all_rules(settings: Settings) -> tuple[Rule, ...]:
    if not settings.rules:
        return store.load()
    from opdev.rules.workspace import load_folder

    shipped = store.load()
    extra: list[Rule] = []
    for folder in settings.rules:
        extra += load_folder(Path(folder), (*shipped, *extra))
    return (*shipped, *extra)


_TABLE = re.compile(r"""^\s*\[\s*tool\s*\.\s*["']?opdev["']?\s*[].]""", re.M)


def _has_table(path: str) -> bool:
    try:
        return _TABLE.search(Path(path).read_text(encoding="utf-8", errors="replace")) is not None
    except OSError:
        return False


def read(path: str, seen: tuple[str, ...] = (), settings: Settings | None = None) -> Settings:
    """The settings of a configuration file, extends followed; ConfigError names file and line.

    What a file does not set is what the files it extends set, the last of them first; ``settings``
    is what came before.
    """
    path = os.path.abspath(path).replace("\\", "/")
    if path in seen:
        raise ConfigError(path, 1, f"`extend` goes round in a circle: {' -> '.join([*seen, path])}")
    if len(seen) > _MOST_EXTENDS:
        raise ConfigError(path, 1, f"`extend` goes deeper than {_MOST_EXTENDS} files: {' -> '.join([*seen, path])}")
    text, table = _load(path)
    folder = path.rpartition("/")[0]
    _check(path, text, table)
    settings = settings or Settings()
    extends = table.get("extend", [])
    for base in [extends] if isinstance(extends, str) else extends:
        target = os.path.normpath(os.path.join(folder, os.path.expanduser(base))).replace("\\", "/")
        if not os.path.isfile(target):
            raise ConfigError(path, _line(text, "extend"), f"`extend` names {base!r}, and there is no file {target}")
        settings = read(target, (*seen, path), settings)
    return _apply(settings, path, folder, table, text)


def _apply(settings: Settings, path: str, folder: str, table: Mapping[str, Any], text: str) -> Settings:
    rules = tuple(os.path.normpath(os.path.join(folder, f)).replace("\\", "/") for f in table.get("rules", ()))
    for extra in rules:
        if not os.path.isdir(extra):
            raise ConfigError(path, _line(text, "rules"), f"`rules` names {extra}, and there is no such folder")
    per_file = tuple((folder, pattern, tuple(words)) for pattern, words in table.get("per-file-ignores", {}).items())
    changed = replace(
        settings,
        path=path,
        root=folder,
        select=tuple(table["select"]) if "select" in table else settings.select,
        extend_select=(*settings.extend_select, *table.get("extend-select", ())),
        ignore=(*settings.ignore, *table.get("ignore", ())),
        per_file_ignores=(*settings.per_file_ignores, *per_file),
        severity=_severities(settings.severity, table.get("severity", {})),
        profile=table.get("profile", settings.profile),
        exclude=(*settings.exclude, *((folder, p) for p in table.get("exclude", ()))),
        respect_gitignore=table.get("respect-gitignore", settings.respect_gitignore),
        rules=(*settings.rules, *rules),
        lang=table.get("lang", settings.lang),
        clangd=table.get("clangd", settings.clangd),
        run={**settings.run, **table.get("run", {})},
        files=(*settings.files, path),
    )
    check_words(changed, lambda key, problem: ConfigError(path, _line(text, key), problem))
    return changed


def _severities(base: Mapping[str, Severity], own: Mapping[str, Severity]) -> dict[str, Severity]:
    """Severities in the order they apply: a file's own come last, even where it only repeats a word."""
    return {**{word: level for word, level in base.items() if word not in own}, **own}


def check_words(settings: Settings, error: Callable[[str, str], ValueError]) -> None:
    """Raise for a word in ``settings`` that means no rule, with the nearest that does."""
    rules = _all_rules(settings)
    table = store.by_name(rules)
    groups: list[tuple[str, Sequence[str]]] = [
        ("select", settings.select or ()),
        ("extend-select", settings.extend_select),
        ("ignore", settings.ignore),
        ("severity", tuple(settings.severity)),
        *(("per-file-ignores", words) for _, _, words in settings.per_file_ignores),
    ]
    for key, words in groups:
        for word in words:
            if not expand_word(word, table, rules):
                from difflib import get_close_matches

                near = get_close_matches(word.lower(), [*table, *{r.family for r in rules}], n=1)
                guess = table[near[0]].name if near and near[0] in table else (near[0] if near else "")
                hint = f"; did you mean {guess!r}?" if guess else "; `opdev-lint rules` lists them"
                raise error(key, f"`{key}` names {word!r}, and there is no such rule{hint}")


def _load(path: str) -> tuple[str, dict[str, Any]]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # the same parser, before it was part of Python
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise ConfigError(path, 1, f"cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError as problem:
        raise ConfigError(path, 1, f"is not UTF-8 (byte {problem.start}); save it as UTF-8") from None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        where = re.search(r"line (\d+)", str(problem))
        line = int(where[1]) if where else text.rstrip("\n").count("\n") + 1
        raise ConfigError(path, line, f"is not TOML: {problem}") from None
    if path.endswith("/pyproject.toml"):
        tools = data.get("tool", {})
        data = tools.get("opdev", {}) if isinstance(tools, dict) else {}
        if not isinstance(data, dict):
            raise ConfigError(path, _line(text, "opdev"), f"`tool.opdev` is a table, not {data!r}")
        # Other tools' keys have the same names: lines are looked for below our own table.
        table = _TABLE.search(text)
        text = _blanked(text, table.start()) if table else text
    return text, data


def _blanked(text: str, until: int) -> str:
    """The text with its first part emptied, lines kept."""
    return re.sub(r"[^\n]", " ", text[:until]) + text[until:]


def _check(path: str, text: str, table: Mapping[str, Any]) -> None:
    for key, value in table.items():
        known = KEYS.get(key)
        if known is None:
            from difflib import get_close_matches

            near = get_close_matches(key, list(KEYS), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(KEYS)}"
            raise ConfigError(path, _line(text, key), f"unknown key {key!r}; {hint}")
        problem = mismatch(value, known.schema)
        if problem:
            raise ConfigError(path, _line(text, key), f"`{key}` {problem}")


def line_of(path: str, key: str) -> int:
    """The line (1-based) on which a key of a configuration file stands; 1 where it is not found."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return 1
    inside = re.search(rf"[\s{{,]{re.escape(key)}[\"']?\s*=", text)
    return text.count("\n", 0, inside.start() + 1) + 1 if inside else _line(text, key)


def _line(text: str, key: str) -> int:
    found = re.search(rf"^\s*(?:\[[^\]\n]*\b)?[\"']?{re.escape(key)}[\"']?\s*(?:=|\]|\.)", text, re.M)
    return text.count("\n", 0, found.start() + len(found.group()) - len(found.group().lstrip())) + 1 if found else 1


def language(asked: str) -> Lang:
    """``zh`` or ``en``: what was asked for, else what the environment says."""
    if asked in ("zh", "en"):
        return asked  # type: ignore[return-value]  # narrowed by the test
    for name in ("OPDEV_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "")
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"
