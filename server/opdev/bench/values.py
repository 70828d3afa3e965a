"""One value of a batch's configuration, from the file or the command line, made what its key takes, or refused with its place."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opdev.bench.keys import HOST_KEYS, Key
from opdev.bench.model import BenchError, Host
from opdev.bench.yamlfile import Yaml
from opdev.design.nodes import Node, scalar
from opdev.design.problems import nearest

PLACEHOLDERS = ("op", "case", "folder", "repo", "device", "prompt", "agent", "model")
_HOST = re.compile(r"[\w.-]+")
_SHOWN = 60
_LARGEST = 10**9


@dataclass(frozen=True, slots=True)
class Item:
    """A value where it stands.  ``where`` tells a reader; ``base`` is the folder relative paths of it start from."""

    where: str
    base: str
    home: str = ""
    value: object = None
    """A scalar as YAML reads it; ``written`` as it was written."""
    written: str = ""
    entries: Mapping[str, Item] | None = None
    items: Sequence[Item] | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    """Where each key of ``entries`` stands."""

    @property
    def shown(self) -> str:
        text = "{…}" if self.entries is not None else "[…]" if self.items is not None else repr(self.value)
        return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"

    @property
    def absent(self) -> bool:
        """Whether nobody said anything: an empty value is what the default holds for."""
        return self.entries is None and self.items is None and self.value is None


def of_node(node: Node, file: Yaml, home: str) -> Item:
    """What a YAML file says."""
    where, base = file.where(node.start), os.path.dirname(file.path)
    if node.kind == "mapping":
        entries = {child.key or "": of_node(child, file, home) for child in node.children}
        keys = {child.key or "": file.where(child.key_start) for child in node.children}
        return Item(where, base, home, entries=entries, keys=keys)
    if node.kind == "sequence":
        return Item(where, base, home, items=[of_node(child, file, home) for child in node.children])
    return Item(where, base, home, value=scalar(node), written=node.value)


def of_plain(value: object, name: str, home: str) -> Item:
    """What the command line gives, by the name of its key."""
    base = os.getcwd()
    if isinstance(value, Mapping):
        return Item(name, base, home, entries={str(k): of_plain(v, f"{name}.{k}".lstrip("."), home) for k, v in value.items()})  # fmt: skip
    if isinstance(value, (list, tuple)):
        return Item(name, base, home, items=[of_plain(one, name, home) for one in value])
    return Item(name, base, home, value=value, written="" if value is None else str(value))


def value_of(name: str, key: Key, item: Item) -> Any:
    """What a key is set to; BenchError names the place, the key, what it takes and what was given."""
    if item.absent:
        return key.default
    return _MAKERS[key.kind](name, key, item)


def unknown(name: str, item: Item, key: str, allowed: Sequence[str]) -> BenchError:
    """The error for a key nobody knows."""
    near = nearest(key, list(allowed))
    where = item.keys.get(key, item.where)
    if near:
        return BenchError("c-unknown-near", where=where, name=_cut(name), near=near)
    return BenchError("c-unknown", where=where, name=_cut(name), known=", ".join(allowed))


def _wrong(name: str, item: Item, key: str, **values: object) -> BenchError:
    return BenchError(f"c-want-{key}", where=item.where, name=name, given=item.shown, **values)


def _bool(name: str, key: Key, item: Item) -> bool:
    del key
    if isinstance(item.value, bool):
        return item.value
    raise _wrong(name, item, "bool")


def _number(name: str, key: Key, item: Item) -> int | float:
    """``1e-3`` is a text to YAML and a number to people."""
    whole = key.kind == "integer"
    value = item.value
    if isinstance(value, str):
        try:
            value = int(value.strip()) if whole else float(value.strip())
        except ValueError:
            value = None
    good = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    # NaN lies between nothing.
    if good and isinstance(value, (int, float)) and -_LARGEST <= value <= _LARGEST:
        if value > key.least or (value == key.least and not key.above):
            return value if whole else float(value)
        raise _wrong(name, item, "above" if key.above else "least", least=f"{key.least:g}")
    raise _wrong(name, item, key.kind)


def _text(name: str, key: Key, item: Item) -> str:
    if item.items is not None or item.entries is not None or isinstance(item.value, bool):
        raise _wrong(name, item, "text")
    text = item.written
    if "\0" in text:
        raise _wrong(name, item, "text")
    if key.choices and text not in key.choices:
        raise _wrong(name, item, "choice", choices=", ".join(key.choices))
    return text


def _folder(name: str, key: Key, item: Item) -> str:
    """Absolute; empty where the key's value is."""
    text = _home(_text(name, key, item), item)
    return os.path.normpath(os.path.join(item.base, text)) if text else ""


def _program(name: str, key: Key, item: Item) -> str:
    """A name is looked up on PATH when it is run; a path is the file's own."""
    text = _home(_text(name, key, item), item)
    return os.path.normpath(os.path.join(item.base, text)) if "/" in text else text


def _home(text: str, item: Item) -> str:
    return item.home + text[1:] if item.home and (text == "~" or text.startswith("~/")) else text


def _devices(name: str, key: Key, item: Item) -> tuple[int, ...]:
    del key
    parts: list[object]
    if item.items is not None:
        parts = [one.value for one in item.items]
    else:
        parts = [p.strip() for p in item.written.split(",")] if not isinstance(item.value, bool) else [None]
    found: list[int] = []
    for part in parts:
        text = "" if isinstance(part, (bool, float)) or part is None else str(part)
        if not re.fullmatch(r"[0-9]{1,6}", text):
            raise _wrong(name, item, "devices")
        found.append(int(text))
    if not found:
        raise _wrong(name, item, "devices")
    for number in found:
        if found.count(number) > 1:
            raise BenchError("c-device-twice", where=item.where, name=name, device=number)
    return tuple(found)


def _words(name: str, key: Key, item: Item) -> tuple[str, ...]:
    """A list, an argument an item; a text is split as a shell splits it."""
    del key
    if item.items is None:
        if not isinstance(item.value, str):
            raise _wrong(name, item, "words")
        try:
            words = shlex.split(item.value)
        except ValueError:
            raise _wrong(name, item, "words") from None
    else:
        words = []
        for one in item.items:
            if one.items is not None or one.entries is not None or isinstance(one.value, bool) or one.value is None:
                raise _wrong(name, one, "words")
            words.append(one.written)
    if any("\0" in word for word in words) or (words and not words[0]):
        raise _wrong(name, item, "words")
    if words and "/" in words[0] and "{" not in words[0]:
        words[0] = os.path.normpath(os.path.join(item.base, _home(words[0], item)))
    return tuple(words)


def placeholders(name: str, command: Sequence[str], item: Item) -> None:
    """BenchError for a placeholder that nothing is filled in for; other braces are the command's own."""
    for word in command:
        for found in re.findall(r"(?<!\{)\{([a-z_]+)\}", word):
            if found not in PLACEHOLDERS:
                known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
                raise BenchError("c-placeholder", where=item.where, name=name, given=f"{{{found}}}", known=known)


def _hosts(name: str, key: Key, item: Item) -> tuple[Host, ...]:
    """Hosts; those without devices of their own have none yet."""
    del key
    if item.items is None:
        raise _wrong(name, item, "hosts")
    found: list[Host] = []
    for index, one in enumerate(item.items):
        here = f"{name}[{index}]"
        if one.entries is None:
            raise _wrong(here, one, "hosts")
        for word in one.entries:
            if word not in HOST_KEYS:
                raise unknown(f"{here}.{word}", one, word, list(HOST_KEYS))
        got = {w: value_of(f"{here}.{w}", k, one.entries.get(w, Item(one.where, one.base))) for w, k in HOST_KEYS.items()}  # fmt: skip
        if not (_HOST.fullmatch(got["name"]) if got["name"] else not got["prefix"]):
            raise BenchError("c-host-name", where=one.where, name=here, given=_cut(got["name"]))
        if any(host.name == got["name"] for host in found):
            raise BenchError("c-host-twice", where=one.where, name=name, host=got["name"])
        found.append(Host(got["name"], got["prefix"], got["devices"] or ()))
    return tuple(found)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


_MAKERS: Mapping[str, Callable[[str, Key, Item], Any]] = {
    "bool": _bool, "integer": _number, "number": _number, "text": _text, "folder": _folder, "program": _program,
    "devices": _devices, "words": _words, "hosts": _hosts,
}  # fmt: skip
