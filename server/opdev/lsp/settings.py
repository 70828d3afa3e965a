"""The section ``opdev`` of the client's settings.

They come with ``initialize`` and again whenever the user changes them; a value of the wrong shape
is as good as none, and the log says so.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from opdev.lsp.client import Client, Lang

log = logging.getLogger("opdev.lsp")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user set in the editor; the project's opdev.toml is separate."""

    lang: Lang | None = None
    """None: by the project, else by the editor's language."""
    enable: bool = True
    workspace: bool = True
    """Whether files that are not open are linted too."""
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    check_seconds: float = 3.0
    """How long one rule may take on one file."""
    trace: str = "off"
    trusted: bool = True
    """False: nothing of the workspace is run.  True says nothing: see ``Session.trusted``."""
    executor: str = ""
    """Where lenses run phases; empty: as the project says."""
    pes: int = 2
    """PEs that lenses run phases with."""


def read(*sections: object) -> Settings:
    """Settings from ``{"lang": "zh", "lint": {"enable": true, "select": […]}, …}``; later sections win."""
    values: dict[str, Any] = {}
    lint: dict[str, Any] = {}
    run: dict[str, Any] = {}
    for section in sections:
        if isinstance(section, Mapping):
            inner = section.get("opdev")
            given = inner if isinstance(inner, Mapping) else section
            values.update({key: value for key, value in given.items() if value is not None})
            if isinstance(given.get("lint"), Mapping):
                lint.update(given["lint"])
            if isinstance(given.get("run"), Mapping):
                run.update(given["run"])
    lang = _one_of(values, "lang", ("zh", "en", "auto"))
    return Settings(
        lang=cast("Lang", lang) if lang in ("zh", "en") else None,
        enable=_flag(lint, "enable"),
        workspace=_flag(lint, "workspace"),
        select=_words({**values, **lint}, "select"),
        extend_select=_words({**values, **lint}, "extendSelect") or (),
        ignore=_words({**values, **lint}, "ignore") or (),
        check_seconds=_seconds(lint, "checkSeconds"),
        trace=_one_of(values, "trace", ("off", "messages", "verbose")) or "off",
        trusted=values.get("trusted") is not False,
        executor=_one_of(run, "executor", ("", "host", "docker", "sim")) or "",
        pes=_pes(run),
    )


def language(settings: Settings, project: str, client: Client) -> Lang:
    """The language of messages: the user's choice, the project's, the editor's."""
    if settings.lang is not None:
        return settings.lang
    return cast("Lang", project) if project in ("zh", "en") else client.lang


def _flag(values: Mapping[str, Any], key: str) -> bool:
    value = values.get(key, True)
    if not isinstance(value, bool):
        log.warning("setting opdev.lint.%s is true or false, not %r", key, value)
        return True
    return value


def _words(values: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    value = values.get(key)
    if value is None or (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        return tuple(value) if value else None
    log.warning("setting opdev.%s is a list of rules, not %r", key, value)
    return None


def _one_of(values: Mapping[str, Any], key: str, known: tuple[str, ...]) -> str | None:
    value = values.get(key)
    if value is None or value in known:
        return value
    log.warning("setting opdev.%s is one of %s, not %r", key, ", ".join(known), value)
    return None


def _seconds(values: Mapping[str, Any], key: str) -> float:
    value = values.get(key, 3.0)
    return float(value) if isinstance(value, int | float) and 0.1 <= value <= 600 else 3.0


def _pes(values: Mapping[str, Any]) -> int:
    value = values.get("pes", 2)
    return value if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 1024 else 2
