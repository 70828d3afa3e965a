"""``opdev.toml`` and ``[tool.opdev]``: found from the file upwards, checked, merged, resolved.

The nearest file above the linted one decides; ``extend`` names what it builds on.  All paths in a
file are relative to that file.  The keys are a table here, which is also what the JSON Schema is
made of, so neither can drift from the other.
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

from opdev.ignore import Patterns
from opdev.rules import store
from opdev.rules.model import SEVERITIES, Lang, Rule, Severity
from opdev.rules.selection import Selection

NAMES = ("opdev.toml", "pyproject.toml")
PROFILES = ("auto", "custom-ops", "in-tree")
_MOST_EXTENDS = 10


@dataclass(frozen=True, slots=True)
class Key:
    """One configuration key: its shape (a JSON Schema), and what it means."""

    schema: Mapping[str, Any]
    zh: str
    en: str


_WORDS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}
KEYS: Mapping[str, Key] = {
    "extend": Key(
        {"anyOf": [{"type": "string"}, _WORDS]},
        "以另一个配置文件为基础（路径相对本文件）",
        "Build on other configuration files (paths relative to this one)",
    ),
    "select": Key(
        _WORDS, "要运行的规则：名称、编号、目录行号、族名或 all", "Rules to run: names, ids, families or all"
    ),
    "extend-select": Key(
        _WORDS,
        "在 select 之外再运行的规则；默认关闭的规则由此打开",
        "Rules to run in addition to `select`; this is what turns on a rule that is off by default",
    ),
    "ignore": Key(_WORDS, "不运行的规则", "Rules not to run"),
    "per-file-ignores": Key(
        {"type": "object", "additionalProperties": _WORDS},
        "按文件（gitignore 写法）关闭规则",
        "Rules not to run on some files (gitignore patterns)",
    ),
    "severity": Key(
        {"type": "object", "additionalProperties": {"enum": list(SEVERITIES)}},
        "改变规则的级别",
        "Severities other than the rules' own",
    ),
    "profile": Key({"enum": list(PROFILES)}, "按哪种口径判断文件", "By which profile files are judged"),
    "exclude": Key(_WORDS, "不检查的路径（gitignore 写法）", "Paths not to lint (gitignore patterns)"),
    "respect-gitignore": Key({"type": "boolean"}, "跳过 .gitignore 忽略的文件", "Skip what .gitignore ignores"),
    "rules": Key(_WORDS, "附加规则页所在的文件夹", "Folders of further rule pages"),
    "lang": Key({"enum": ["auto", "zh", "en"]}, "消息语言", "Language of messages"),
    "clangd": Key(
        {"type": "string"},
        "clangd 程序，供 opdev clangd --check 使用",
        "The clangd program, for `opdev clangd --check`",
    ),
    "run": Key(
        {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "executor": {"enum": ["host", "docker", "sim"]},
                "engine": {"anyOf": [{"type": "string"}, _WORDS]},
                "container": {"type": "string"},
                "mounts": {"type": "object", "additionalProperties": {"type": "string"}},
                "python": {"type": "string"},
                "grace": {"type": "number", "minimum": 0},
                "timeout-scale": {"type": "number", "minimum": 0},
                "keep-runs": {"type": "integer", "minimum": 0},
                "keep-days": {"type": "number", "minimum": 0},
                "keep-megabytes": {"type": "integer", "minimum": 0},
                "rounds-megabytes": {"type": "integer", "minimum": 1},
                "external": {"type": "object", "additionalProperties": _WORDS},
                "external-timeout": {"type": "number", "minimum": 0},
            },
        },
        "opdev run 的设置：执行方式、容器引擎、宽限秒数、保留的运行数、各阶段的外部命令",
        "Settings of `opdev run`: executor, container engine, grace in seconds, how many runs are kept, a command for a phase",
    ),
}


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
        problem = _mismatch(value, known.schema)
        if problem:
            raise ConfigError(path, _line(text, key), f"`{key}` {problem}")


def _mismatch(value: object, schema: Mapping[str, Any]) -> str:
    """What is wrong with a value under one of the few schemas KEYS uses; empty if nothing."""
    if "anyOf" in schema:
        problems = [_mismatch(value, option) for option in schema["anyOf"]]
        return "" if "" in problems else " or ".join(problems)
    if "enum" in schema:
        return "" if value in schema["enum"] else f"is one of {', '.join(schema['enum'])}, not {value!r}"
    kind = schema["type"]
    if kind == "array":
        good = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return "" if good else f"is a list of strings, not {value!r}"
    if kind == "object":
        if not isinstance(value, dict):
            return f"is a table, not {value!r}"
        for name, item in value.items():
            inner = schema.get("properties", {}).get(name, schema["additionalProperties"])
            if inner is False:
                return f"knows no {name!r}; known are {', '.join(schema['properties'])}"
            problem = _mismatch(item, inner)
            if problem:
                return f"{name!r} {problem}"
        return ""
    if kind in ("integer", "number"):
        good = (
            isinstance(value, int if kind == "integer" else (int, float)) and not isinstance(value, bool) and value >= 0
        )
        return (
            "" if good else f"is {'a whole number' if kind == 'integer' else 'a number'} of at least 0, not {value!r}"
        )
    wanted = {"string": str, "boolean": bool}[kind]
    return "" if isinstance(value, wanted) else f"is a {kind}, not {value!r}"


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


def schema() -> dict[str, Any]:
    """The JSON Schema of opdev.toml."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "opdev.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: {**key.schema, "description": f"{key.en} / {key.zh}"} for name, key in KEYS.items()},
    }


def language(asked: str) -> Lang:
    """``zh`` or ``en``: what was asked for, else what the environment says."""
    if asked in ("zh", "en"):
        return asked  # type: ignore[return-value]  # narrowed by the test
    for name in ("OPDEV_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "")
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"
