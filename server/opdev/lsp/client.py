"""What the client can do, read from ``initialize`` as plain JSON.

Capabilities are a deep tree of optional things that clients fill in more or less well; each is
looked at by its path, and anything odd counts as absent.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from opdev.source import Unit

Lang = Literal["zh", "en"]


@dataclass(frozen=True, slots=True)
class Folder:
    """A workspace folder as the client names it."""

    uri: str
    name: str


@dataclass(frozen=True)
class Client:
    """The facts of one client."""

    name: str = ""
    process_id: int | None = None
    folders: tuple[Folder, ...] = ()
    locale: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Client:
        """The client that sent these ``initialize`` params."""
        info = params.get("clientInfo")
        process = params.get("processId")
        locale = params.get("locale")
        options = params.get("initializationOptions")
        capabilities = params.get("capabilities")
        return cls(
            name=str(info.get("name", "")) if isinstance(info, Mapping) else "",
            process_id=process if isinstance(process, int) and process > 0 else None,
            folders=_folders(params),
            locale=locale if isinstance(locale, str) else _environment_locale(),
            options=options if isinstance(options, Mapping) else {},
            capabilities=capabilities if isinstance(capabilities, Mapping) else {},
            version=str(info.get("version", "")) if isinstance(info, Mapping) else "",
        )

    def get(self, path: str) -> Any:
        """A capability by its path (``textDocument.hover.contentFormat``), None where absent."""
        at: Any = self.capabilities
        for step in path.split("."):
            if not isinstance(at, Mapping):
                return None
            at = at.get(step)
        return at

    def can(self, path: str) -> bool:
        """Whether a capability is claimed: true, or an object that does not say otherwise."""
        known = self._claims.get(path)
        if known is None:
            found = self.get(path)
            known = self._claims[path] = found is True or isinstance(found, Mapping)
        return known

    @cached_property
    def _claims(self) -> dict[str, bool]:
        """What was asked already: every diagnostic of every keystroke asks the same."""
        return {}

    def lists(self, path: str, word: str) -> bool:
        """Whether a capability that is a list names ``word``."""
        found = self.get(path)
        return isinstance(found, list) and word in found

    @property
    def unit(self) -> Unit:
        """The position encoding: UTF-8 where the client has it, for that is what the core counts in."""
        offered = self.get("general.positionEncodings")
        if isinstance(offered, list):
            for unit in ("utf-8", "utf-16", "utf-32"):
                if unit in offered:
                    return unit
        return "utf-16"

    @property
    def pulls(self) -> bool:
        """Whether it asks for diagnostics of open documents by itself."""
        return self.can("textDocument.diagnostic")

    @property
    def moves_folders(self) -> bool:
        """Whether its RenameFile takes folders, as the specification has it; Neovim's before 0.10 fails on them."""
        found = re.match(r"v?(\d+)\.(\d+)", self.version)
        return not (self.name == "Neovim" and found is not None and (int(found[1]), int(found[2])) < (0, 10))

    @property
    def lang(self) -> Lang:
        """The language of its user interface, as far as opdev speaks it."""
        return "zh" if self.locale.lower().startswith("zh") else "en"

    @property
    def markdown(self) -> bool:
        """Whether hovers may be Markdown."""
        return self.lists("textDocument.hover.contentFormat", "markdown")


def _folders(params: Mapping[str, Any]) -> tuple[Folder, ...]:
    listed = params.get("workspaceFolders")
    if isinstance(listed, list):
        return tuple(
            Folder(str(f["uri"]), str(f.get("name", ""))) for f in listed if isinstance(f, Mapping) and "uri" in f
        )
    uri, path = params.get("rootUri"), params.get("rootPath")
    if isinstance(uri, str):
        return (Folder(uri, ""),)
    if isinstance(path, str):
        from opdev.lsp.uris import to_uri

        return (Folder(to_uri(path.replace("\\", "/")), ""),)
    return ()


def _environment_locale() -> str:
    """The locale of the machine, for clients that name none."""
    return next((v for k in ("LC_ALL", "LC_MESSAGES", "LANG") if (v := os.environ.get(k))), "")
