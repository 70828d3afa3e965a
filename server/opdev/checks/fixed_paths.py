"""Absolute paths that exist on one machine only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax.tree import ancestors

if TYPE_CHECKING:
    from tree_sitter import Node

_PERSONAL = re.compile(rb"(?<![\w$}./-])(?:/home/(?P<user>[A-Za-z][\w.-]*)|/root|/mnt/[\w.-]+)/[\w./+-]*[\w+-]")
_CANN = re.compile(rb"(?<![\w$}./:-])/usr/local/Ascend/(?!driver\b|firmware\b|dcmi\b)[\w./+-]*[\w+-]")
_PARTS = (b"/home/", b"/root", b"/mnt/", b"/usr/local/Ascend/")
# Names that stand for "whoever reads this".
_ANYBODY = {b"user", b"username", b"xxx", b"your_name", b"name", b"yourname", b"xx", b"me", b"path", b"your_path"}
_TOOLKIT = re.compile(rb"/usr/local/Ascend/(?:ascend-toolkit/(?:latest|\d[\w.]*)|cann(?:-[\d.]+)?|latest)(?=/|$)")
# Where a path is one of several to try, or only asked for.
_CANDIDATE_BASH = {"for_statement", "test_command", "array", "expansion", "case_item", "while_statement"}
_CANDIDATE_CMAKE = {
    "find_path",
    "find_library",
    "find_package",
    "find_program",
    "find_file",
    "if",
    "elseif",
    "foreach",
    "option",
}


def _has_part(text: bytes) -> bool:
    return any(part in text for part in _PARTS)


def fixed_absolute_path(context: Context) -> Iterator[Hit]:
    """A path below a personal folder or CANN's usual place, written out."""
    if not context.holds(_has_part):
        return
    if context.place.profile == "in-tree" and context.place.operator is None:
        return  # upstream's own machines and installers
    text = context.nocomment
    fence = context.file.region is not None
    for match in _PERSONAL.finditer(text):
        if match["user"] in _ANYBODY or match["user"] == b"HwHiAiUser":
            continue
        if fence and (match["user"] is None or context.file.language == "cpp"):
            continue
        if context.file.language == "python" and not _in_string(text, match.start()):
            continue
        path = match.group().decode("utf-8", "replace")
        node = context.node_at(match.start(), match.end())
        if node is None or _only_tried(context, node):
            continue
        yield Hit(match.start(), match.end(), args={"path": path}, severity="info" if fence else None)
    if fence:
        return
    for match in _CANN.finditer(text):
        node = context.node_at(match.start(), match.end())
        if node is None or match.group().endswith(b"set_env.sh") or _only_tried(context, node):
            continue
        if context.file.language == "python" and not _in_string(text, match.start()):
            continue
        path = match.group().decode("utf-8", "replace")
        yield Hit(match.start(), match.end(), "cann", {"path": path}, _by_variable(context, match))


def _in_string(text: bytes, at: int) -> bool:
    begin = text.rfind(b"\n", 0, at) + 1
    before = text[begin:at]
    return before.count(b'"') % 2 == 1 or before.count(b"'") % 2 == 1


def _only_tried(context: Context, node: Node) -> bool:
    if context.file.language == "cmake":
        for above in (node, *ancestors(node)):
            if above.type.endswith("_command") and above.named_child_count:
                name = context.text(above.children[0]).lower()
                return name in _CANDIDATE_CMAKE or name == "message"
        return False
    if context.file.language == "bash":
        for above in ancestors(node):
            if above.type in _CANDIDATE_BASH and not _is_loop_body(above, node):
                return True
            if above.type == "command" and re.match(r"(?:echo|printf|ls|find|test|\[|log\w*)\b", context.text(above)):
                return True
        return False
    return False


def _is_loop_body(loop: Node, node: Node) -> bool:
    body = loop.child_by_field_name("body")
    return body is not None and body.start_byte <= node.start_byte < body.end_byte


def _by_variable(context: Context, match: re.Match[bytes]) -> Fix | None:
    toolkit = _TOOLKIT.match(match.group())
    if toolkit is None or context.file.language not in ("bash", "cmake"):
        return None
    new = "$ENV{ASCEND_HOME_PATH}" if context.file.language == "cmake" else "${ASCEND_HOME_PATH}"
    if context.file.language == "bash" and context.data[: match.start()].rsplit(b"\n", 1)[-1].count(b"'") % 2:
        return None
    return Fix((Edit(match.start(), match.start() + toolkit.end(), new),))
