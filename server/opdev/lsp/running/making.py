"""A new operator from the editor: what may be chosen, what is wrong with a name, and ``opdev new`` itself.

The operator is written by ``opdev new`` in a process of its own: whole, or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from opdev.lsp import fields
from opdev.lsp.running import children
from opdev.lsp.running.roots import refusal, trusted
from opdev.lsp.running.texts import say
from opdev.lsp.uris import to_path, to_uri

if TYPE_CHECKING:
    from opdev.lsp.running.desk import Desk
    from opdev.lsp.running.messages import Choice, KindChoice, NewOperatorResult, OfferedResult

_PATIENCE = 60.0
_LONGEST = 2000
_KEYS = {"name", "kind", "dtypes", "buildMode", "torch", "folder"}
_SHORTEST_DTYPE = 40


class Making:
    """``opdev/newOperator`` and the command ``opdev.newOperator``."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._session = desk.session

    def offered(self, params: Mapping[str, Any]) -> OfferedResult:
        """What a new operator may be; with ``name`` what is wrong with that."""
        from opdev.scaffold.kinds import kind_of
        from opdev.scaffold.options import BUILD_MODES, KINDS

        unknown = sorted(set(params) - {"name", "folder"})
        if unknown:
            raise fields.FieldError(f"{unknown[0]} is none of folder, name")
        lang = self._session.lang_of("auto")
        folders = self._folders()
        base = self._base(params) if params.get("folder") is not None else folders[0] if folders else ""
        name = fields.text(params, "name") if params.get("name") is not None else ""
        kinds: list[KindChoice] = [
            {"id": kind, "label": say(f"kind-{kind}", lang), "dtypes": list(kind_of(kind).dtypes)} for kind in KINDS
        ]
        modes: list[Choice] = [{"id": mode, "label": say(f"mode-{mode}", lang)} for mode in BUILD_MODES]
        if base and not _has_tree(base):
            modes = [mode for mode in modes if mode["id"] != "in_tree_example"]
        return {
            "kinds": kinds,
            "buildModes": modes,
            "folders": [to_uri(folder) for folder in folders],
            "problem": self._problem(name, base) if name else None,
        }

    async def new(self, params: Mapping[str, Any]) -> NewOperatorResult:
        """``opdev.newOperator``: write it."""
        trusted(self._session, "opdev.newOperator")
        words, base, mode, name = self._words(params)
        lang = self._session.lang_of("auto")
        try:
            done = await children.call(["new", *words, "--lang", lang], base, _PATIENCE)
        except TimeoutError:
            raise refusal(self._session, "no-answer", command="new", seconds=_PATIENCE) from None
        if done.status != 0:
            why = (done.err.strip() or done.out.strip()).removeprefix("opdev new: ")[-_LONGEST:]
            raise refusal(self._session, "died", command="new", status=done.status, why=why)
        root = f"{base}/{'examples' if mode == 'in_tree_example' else 'custom-ops'}/{name}"
        design = f"{root}/docs/design.md"
        self._session.on_loop(self._session.operator_changed, design)
        self._desk.follow(root)
        return {"root": to_uri(root), "design": to_uri(design), "text": done.out.strip()}

    def _words(self, params: Mapping[str, Any]) -> tuple[list[str], str, str, str]:
        """The words of ``opdev new``, the folder it works in, the build mode and the name."""
        from opdev.scaffold.options import BUILD_MODES, KINDS

        unknown = sorted(set(params) - _KEYS)
        if unknown:
            raise fields.FieldError(f"{unknown[0]} is none of {', '.join(sorted(_KEYS))}")
        name, kind = fields.text(params, "name"), fields.text(params, "kind")
        mode = fields.text(params, "buildMode") if params.get("buildMode") is not None else BUILD_MODES[0]
        for key, value, known in (("kind", kind, KINDS), ("buildMode", mode, BUILD_MODES)):
            if value not in known:
                raise fields.FieldError(f"{key} is {value!r}, and not one of {', '.join(known)}")
        dtypes = fields.items(params, "dtypes")
        if not dtypes or not all(isinstance(d, str) and d and len(d) <= _SHORTEST_DTYPE for d in dtypes):
            raise fields.FieldError("dtypes is a list of names, one at least")
        torch = params.get("torch") is not None and fields.find(params, "torch", bool)
        base = self._base(params)
        problem = self._problem(name, base)
        if problem is not None:
            raise refusal(self._session, "said", text=problem)
        # A name or dtype with a dash in front is refused by what reads it, never taken for an option.
        words = [name, f"--kind={kind}", f"--dtypes={','.join(dtypes)}", f"--build-mode={mode}", f"--dir={base}"]
        return [*words, *(["--torch"] if torch else [])], base, mode, name

    def _folders(self) -> list[str]:
        return [folder.rstrip("/") for folder in self._session.documents.folder_paths if os.path.isdir(folder)]

    def _base(self, params: Mapping[str, Any]) -> str:
        """The folder it goes into: one of the workspace, without ``custom-ops`` or ``examples``."""
        from opdev.scaffold.place import base_folder
        from opdev.scaffold.texts import ScaffoldError

        folders = self._folders()
        named = fields.text(params, "folder") if params.get("folder") is not None else ""
        path = os.path.normpath(to_path(named) or named) if named else folders[0] if folders else ""
        if not any(path == folder or path.startswith(folder + "/") for folder in folders):
            raise refusal(self._session, "no-workspace-folder", path=path)
        try:
            return base_folder(path)
        except ScaffoldError as error:
            raise refusal(self._session, "said", text=error.text(self._session.lang_of("auto"))) from error

    def _problem(self, name: str, base: str) -> str | None:
        """What is wrong with a name, in the user's language."""
        from opdev.scaffold.options import check_name
        from opdev.scaffold.texts import ScaffoldError
        from opdev.scaffold.write import refuse_full

        try:
            check_name(name)
            if base:
                refuse_full(f"{base}/custom-ops/{name}", force=False)
        except ScaffoldError as error:
            return error.text(self._session.lang_of("auto"))
        return None


def _has_tree(base: str) -> bool:
    """Whether a folder is a SHMEM tree, as an example needs it."""
    return all(os.path.isdir(f"{base}/{name}") for name in ("include", "src"))
