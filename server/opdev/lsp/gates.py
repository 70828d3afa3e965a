"""The line above a design that says where the operator stands, and the command behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from opdev.lsp.capabilities import SHOW_GATE
from opdev.lsp.glances import glance_of
from opdev.lsp.uris import to_path
from opdev.phases.show import Show
from opdev.phases.status import status

if TYPE_CHECKING:
    from opdev.lsp.documents import Document
    from opdev.lsp.operators import LiveOperator
    from opdev.lsp.session import Session
    from opdev.phases.status import Glance

_MOST_SHOWN = 6
_TITLES = {
    "more": {"zh": "……另有 {n} 项，见 opdev gate {phase}", "en": "… and {n} more: opdev gate {phase}"},
    "none": {"zh": "这个路径不在任何算子里：{path}", "en": "this path is in no operator: {path}"},
}


def lens(session: Session, document: Document, operator: LiveOperator) -> tuple[types.CodeLens, Glance]:
    """The lens at the top of a design, and what it says."""
    lang = session.lang_of(session.rulebook.of(document.path).lang)
    found = glance_of(session, operator)
    session.glances.told("lens", operator.root, found)
    top = types.Range(types.Position(0, 0), types.Position(0, 0))
    mark = "✓" if found.open else "✗"
    return types.CodeLens(top, types.Command(f"{mark} {found.text[lang]}", SHOW_GATE, arguments=[operator.root])), found


def show_gate(session: Session, params: types.ExecuteCommandParams) -> dict[str, Any] | None:
    """What keeps the open phase's gate closed: shown as a message, and given back as text."""
    arguments = params.arguments or []
    path = str(arguments[0]) if arguments else ""
    path = to_path(path) or path
    root = session.places.of(f"{path}/docs/design.md").root or session.places.of(path).root
    lang = session.lang_of("auto")
    if not path.startswith("/") or root is None:
        session.on_loop(
            session.notify, "window/showMessage", {"type": 2, "message": _TITLES["none"][lang].format(path=path)}
        )
        return None
    found = status(session.operators.now(root), session.rulebook.configs)
    show = Show(lang, root)
    gate = next((g for g in found.gates if g.phase.id == found.at.phase.id), None)
    closed = gate.closed_by if gate is not None else []
    lines = [f"{found.operator}: {show.phase(found.at.phase)}", found.at.why[lang], found.at.next[lang]]
    lines += [f"✗ {check.id}: {check.detail[lang]}" for check in closed[:_MOST_SHOWN]]
    if len(closed) > _MOST_SHOWN and gate is not None:
        lines.append(_TITLES["more"][lang].format(n=len(closed) - _MOST_SHOWN, phase=gate.phase.id))
    text = "\n".join(line for line in lines if line)
    own = session.client.options.get("commands")
    if not (isinstance(own, list) and SHOW_GATE in own):
        # A client with a command of this name shows the result itself.
        session.on_loop(session.notify, "window/showMessage", {"type": 3, "message": text})
    return {"root": root, "phase": found.at.phase.id, "text": show.status(found)}
