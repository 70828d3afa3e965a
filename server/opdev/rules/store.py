"""Where the rules are: compiled into the wheel, or compiled from a checkout's pages and kept.

Starting up reads one JSON file; it never parses Markdown or YAML of hundreds of pages.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import opdev
from opdev.rules.model import Query, Rule

_FORMAT = 3
_PACKAGE = Path(opdev.__file__).parent


def rules_folder() -> Path:
    """The folder of the shipped rule pages (installed or in a checkout)."""
    inside = _PACKAGE / "_data" / "rules"
    return inside if inside.is_dir() else _PACKAGE.parents[1] / "rules"


def cache_folder() -> Path:
    """Where opdev keeps what it can make again; ``OPDEV_CACHE_DIR`` overrides it."""
    given = os.environ.get("OPDEV_CACHE_DIR")
    if given:
        return Path(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "opdev"


@cache
def load() -> tuple[Rule, ...]:
    """All shipped rules, by id."""
    return tuple(rule_from(data) for data in _document()["rules"])


def docs(rule: Rule) -> Mapping[str, str]:
    """The prose of a shipped rule's page: ``zh`` and ``en``."""
    texts: Mapping[str, Mapping[str, str]] = json.loads(_docs_path().read_text(encoding="utf-8"))
    return texts.get(rule.name, {})


def by_name(rules: Iterable[Rule]) -> dict[str, Rule]:
    """Rules under every word a user may type: name, id, covered catalogue ids, old names."""
    table: dict[str, Rule] = {}
    ordered = list(rules)
    for rule in ordered:
        for word in (*rule.covers, *rule.aliases):
            table.setdefault(word.lower(), rule)
    for rule in ordered:
        table[rule.id.lower()] = table[rule.name.lower()] = rule
    return table


def fingerprint() -> str:
    """Changes when the rules or the program do; part of every cache key."""
    return str(_document()["fingerprint"])


def forget() -> None:
    """Read the rules again when next asked: the pages of a checkout changed."""
    for cached in (load, _document, _stamp):
        cached.cache_clear()


@cache
def _document() -> dict[str, Any]:
    shipped = _PACKAGE / "_data" / "rules.json"
    if shipped.is_file():
        data: dict[str, Any] = json.loads(shipped.read_bytes())
        return data
    folder = rules_folder()
    stamp = _stamp(folder)
    kept = cache_folder() / f"rules-{stamp}.json"
    try:
        data = json.loads(kept.read_bytes())
        if _docs_path().is_file():
            return data
    except (OSError, ValueError):
        pass
    data, prose = compile_folder(folder, stamp)
    _write(kept, data)
    _write(kept.with_name(f"docs-{stamp}.json"), prose)
    return data


def _docs_path() -> Path:
    shipped = _PACKAGE / "_data" / "rules-docs.json"
    if shipped.is_file():
        return shipped
    return cache_folder() / f"docs-{_stamp(rules_folder())}.json"


@cache
def _stamp(folder: Path) -> str:
    """A hash of what the pages and the code are, from metadata alone."""
    digest = hashlib.sha256(f"{_FORMAT} {opdev.__version__} {folder}".encode())
    for base in (folder, _PACKAGE):
        for path, stat in sorted(_files(str(base), ".md" if base == folder else ".py")):
            digest.update(f"{path} {stat}\n".encode())
    return digest.hexdigest()[:24]


def _files(folder: str, suffix: str) -> Iterator[tuple[str, str]]:
    """(path, time and size) of the files below a folder; by scandir, because every start pays for it."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _files(entry.path, suffix)
            elif entry.name.endswith(suffix):
                stat = entry.stat()
                yield entry.path, f"{stat.st_mtime_ns} {stat.st_size}"


def content_stamp(*folders: Path) -> str:
    """A hash of the contents of folders: what a wheel's rules are known by."""
    digest = hashlib.sha256(f"{_FORMAT} {opdev.__version__}".encode())
    for base in folders:
        for path in sorted([*base.rglob("*.md"), *base.rglob("*.py")]):
            digest.update(path.relative_to(base).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:24]


def compile_folder(folder: Path, stamp: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """``(rules, prose)`` of a folder of pages, ready for JSON; PageError if one is wrong."""
    from opdev.rules.page import PageError, read_page

    rules: list[Rule] = []
    prose: dict[str, Any] = {}
    seen: dict[str, str] = {}
    for path in sorted(folder.rglob("*.md")):
        page = read_page(path, folder)
        for word in {page.rule.id, page.rule.name, *page.rule.aliases}:
            if word in seen:
                raise PageError(str(path), 2, f"{word!r} is taken by {seen[word]}")
            seen[word] = page.path
        rules.append(page.rule)
        prose[page.rule.name] = page.docs
    rules.sort(key=lambda rule: rule.id)
    return {"fingerprint": stamp, "rules": [_plain(rule) for rule in rules]}, prose


def _plain(rule: Rule) -> dict[str, Any]:
    data = asdict(rule)
    for key in ("kinds", "languages"):
        data[key] = sorted(data[key])
    return data


def rule_from(data: Mapping[str, Any]) -> Rule:
    """A rule from its compiled form."""
    values = dict(data)
    values["kinds"] = frozenset(values["kinds"])
    values["languages"] = frozenset(values["languages"])
    values["queries"] = tuple(Query(**query) for query in values["queries"])
    for key in ("covers", "aliases", "needs", "reads", "tags"):
        values[key] = tuple(values[key])
    return Rule(**values)


def _write(path: Path, data: object) -> None:
    """Keep ``data``; a cache that cannot be written is no reason to fail."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
        temporary.replace(path)
    except OSError:
        pass
