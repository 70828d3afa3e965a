"""Signature help for ACLSHMEM calls, the declarations of the code's own side first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from opdev.api.table import Signature
from opdev.lsp import apidocs
from opdev.lsp.cursor import Side, cursor, side_at, word_at
from opdev.source import units

if TYPE_CHECKING:
    from opdev.lsp.session import Session

_FARTHEST = 4000
"""Bytes looked back for the opening parenthesis."""


def signature_help(session: Session, params: types.SignatureHelpParams) -> types.SignatureHelp | None:
    """The signatures of the call around a position, with the argument that is being written."""
    at = cursor(session, params)
    code = at.code() if at is not None else None
    if at is None or code is None:
        return None
    file, offset = code
    call = innermost_call(file.code, offset)
    if call is None:
        return None
    name, argument = call
    api = apidocs.find(name)
    if api is None or api.kind != "function":
        return None
    side: Side | None = side_at(file, offset)
    known = [(v, s) for v in apidocs.ordered(api.variants, side) for s in v.signatures]
    if side is not None:
        mine = [(v, s) for v, s in known if (v.scope == "host") == (side == "host")]
        known = mine or known
    # The first overload that has so many parameters is the likeliest.
    active = next((i for i, (_, s) in enumerate(known) if len(s.param_spans()) > argument), 0)
    by_offset = session.client.can(
        "textDocument.signatureHelp.signatureInformation.parameterInformation.labelOffsetSupport"
    )
    listed = [_information(s, apidocs.summary(v, at.lang), by_offset=by_offset) for v, s in known]
    return types.SignatureHelp(listed, active, argument) if listed else None


def _information(signature: Signature, summary: str, *, by_offset: bool) -> types.SignatureInformation:
    parameters = []
    for start, end in signature.param_spans():
        label: str | tuple[int, int] = signature.text[start:end]
        if by_offset:
            before = units(signature.text[:start].encode(), "utf-16")
            label = (before, before + units(signature.text[start:end].encode(), "utf-16"))
        parameters.append(types.ParameterInformation(label))
    return types.SignatureInformation(signature.text, summary, parameters)


def innermost_call(code: bytes, offset: int) -> tuple[str, int] | None:
    """(callee's last name, index of the argument) around ``offset`` in text without comments and strings."""
    depth = argument = 0
    at = offset
    while at > max(0, offset - _FARTHEST):
        at -= 1
        char = code[at : at + 1]
        if char in (b")", b"]", b"}"):
            depth += 1
        elif char in (b"(", b"[", b"{"):
            if depth == 0:
                if char != b"(":
                    return None
                name = _callee(code, at)
                if name:
                    return name, argument
                argument = 0
                continue
            depth -= 1
        elif depth == 0 and char == b",":
            argument += 1
        elif depth == 0 and char == b";":
            return None
    return None


def _callee(code: bytes, opening: int) -> str:
    """The name before an opening parenthesis, over template arguments."""
    at = opening
    while at > 0 and code[at - 1 : at].isspace():
        at -= 1
    if code[at - 1 : at] == b">":
        depth = 0
        while at > 0:
            at -= 1
            depth += {b">": 1, b"<": -1}.get(code[at : at + 1], 0)
            if depth == 0:
                break
    start, _ = word_at(code, at)
    return code[start:at].decode("ascii", "replace")
