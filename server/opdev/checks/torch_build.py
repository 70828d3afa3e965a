"""CMake lists of Torch bindings: the library's name and what it is linked with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cmake

_SHARED = "shmem_custom_ops_torch"
_IN_TREE = "aclshmem_torch"
_NEEDS = {"torch_npu": r"torch_npu", "${TORCH_LIBRARIES}": r"\$\{TORCH_LIBRARIES\}|\btorch\b|torch_library",
          "shmem": r"\b(?:acl)?shmem\b|ACLSHMEM\w*LIB\w*|SHMEM\w*LIB\w*"}  # fmt: skip


def is_binding(context: Context) -> bool:
    """Whether a CMakeLists.txt builds a Torch binding."""
    return re.search(r"/torch_binding/(?:[^/]+/)?CMakeLists\.txt$", context.file.path) is not None


def wrong_binding_name(context: Context) -> Iterator[Hit]:
    """The library of the custom operators under the name of the upstream one, or the reverse."""
    custom = "/custom-ops/" in context.file.path
    in_tree = "/examples/" in context.file.path
    if not is_binding(context) or custom == in_tree:
        return
    wrong, right = (_IN_TREE, _SHARED) if custom else (_SHARED, _IN_TREE)
    fixes: list[Edit] = []
    first = None
    for command in cmake.commands(context):
        for argument in command.args:
            if argument.text == wrong:
                first = first or argument
                quote = '"' if context.text(argument.node).startswith('"') else ""
                fixes.append(Edit(argument.start, argument.end, f"{quote}{right}{quote}"))
    if first is not None:
        yield Hit(first.start, first.end, args={"wrong": wrong, "right": right}, fix=Fix(tuple(fixes)))


def _words(linked: list[cmake.Command]) -> str:
    """All that is linked; what is linked again counts once."""
    return " ".join(dict.fromkeys(word for command in linked for word in command.texts[1:]))


def missing_torch_library(context: Context) -> Iterator[Hit]:
    """A binding that is not linked with what it calls."""
    if not is_binding(context):
        return
    for library in cmake.commands(context, "add_library"):
        if len(library.texts) < 2 or "SHARED" not in library.texts or "IMPORTED" in library.texts:
            continue
        name = library.texts[0]
        linked = cmake.given_to(context, "target_link_libraries").get(name, [])
        text = context.file.memo(("torch_build.linked", name), partial(_words, linked))
        # Names that come from a variable are not known here.
        unknown = re.sub(r"\$\{(?:TORCH_LIBRARIES|Python3?_LIBRARIES|\w*KERNEL\w*)\}", "", text)
        missing = [what for what, pattern in _NEEDS.items() if not re.search(pattern, text)]
        if missing and "${" not in unknown and "$<" not in unknown:
            shown = linked[-1] if linked else library
            yield Hit(
                shown.name_node.start_byte, shown.name_node.end_byte, args={"name": name, "missing": ", ".join(missing)}
            )
