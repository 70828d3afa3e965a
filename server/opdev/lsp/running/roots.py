"""Which operator a client means, and which run of it; said in the user's language where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from opdev.lsp import fields, wire
from opdev.lsp.running.texts import both
from opdev.lsp.uris import to_path
from opdev.runs import store
from opdev.runs.ids import is_id
from opdev.runs.store import Run

if TYPE_CHECKING:
    from opdev.lsp.session import Session


def refusal(session: Session, key: str, **values: object) -> wire.Refusal:
    """A refusal in the user's language; its data has both."""
    text = both(key, **values)
    return wire.Refusal(wire.REQUEST_FAILED, text[session.lang_of("auto")], dict(text))


def trusted(session: Session, what: str) -> None:
    """Refuse to act in a workspace that is not trusted."""
    if not session.trusted:
        raise refusal(session, "untrusted", what=what)


def root_of(session: Session, params: Mapping[str, Any]) -> str:
    """The operator's folder that ``root`` names; it has to be one of the workspace's, or of an open document."""
    named = fields.text(params, "root")
    path = (to_path(named) or named).rstrip("/")
    found = session.places.of(f"{path}/docs/design.md").root or session.places.of(path).root
    if not path.startswith("/") or found is None or not _ours(session, found):
        raise refusal(session, "no-operator", path=path)
    return found


def _ours(session: Session, root: str) -> bool:
    folders = [folder.rstrip("/") for folder in session.documents.folder_paths]
    if any(root == folder or root.startswith(folder + "/") or folder.startswith(root + "/") for folder in folders):
        return True
    return any(d.local and d.path.startswith(root + "/") for d in list(session.documents.open.values()))


def run_of(session: Session, root: str, params: Mapping[str, Any]) -> Run:
    """The run that ``run`` names."""
    name = fields.text(params, "run")
    found = next((run for run in store.runs(root) if run.id == name), None) if is_id(name) else None
    if found is None:
        raise refusal(session, "no-run", name=root.rpartition("/")[2], run=name)
    return found


def number(params: Mapping[str, Any], key: str, default: int, least: int, most: int) -> int:
    """A whole number within bounds; FieldError for what is none, the bound for what lies outside."""
    if params.get(key) is None:
        return default
    return min(most, max(least, fields.number(params, key)))
