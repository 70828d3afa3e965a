"""CMake lists: the commands that should name a target, and what targets link and are called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.designed import design_of, note, said, shown
from opdev.checks.statements import lines_after
from opdev.facts.build import targets
from opdev.facts.scripts import binaries
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import cmake
from opdev.syntax.tree import ancestor

if TYPE_CHECKING:
    from tree_sitter import Node

SOURCES = (".cpp", ".cc", ".cxx", ".c", ".asc", ".cce", ".cu")
HELPERS = ("aclshmem_add_collective_example", "aclshmem_add_fusion_example")
_SCOPES = {"PRIVATE", "PUBLIC", "INTERFACE", "LINK_PRIVATE", "LINK_PUBLIC", "LINK_INTERFACE_LIBRARIES"}
_GLOBAL = {
    "include_directories": "target_include_directories",
    "link_libraries": "target_link_libraries",
    "link_directories": "target_link_directories",
    "add_compile_options": "target_compile_options",
    "add_definitions": "target_compile_definitions",
    "add_compile_definitions": "target_compile_definitions",
}
# These also change targets that exist already; the others only what comes after them.
_BACKWARDS = {"include_directories", "add_definitions", "add_compile_definitions"}


def in_condition(node: Node) -> bool:
    """Whether a command only runs under some condition."""
    return ancestor(node, "if_condition") is not None


def in_definition(node: Node) -> bool:
    """Whether a command stands in the body of a function or macro."""
    return ancestor(node, "function_def", "macro_def") is not None


def is_device_source(text: str) -> bool:
    """Whether a source's name says that it holds device code."""
    return re.search(r"_kernels?\.\w+$|\.(?:asc|cce)$", text) is not None


def global_cmake_command(context: Context) -> Iterator[Hit]:
    """Commands that apply to every target of the folder and below."""
    for command in cmake.commands(context, *_GLOBAL):
        new = _GLOBAL[command.name]
        if command.name == "add_definitions" and not all(t.startswith("-D") for t in command.texts):
            new = "target_compile_options"
        args = {"name": command.name, "new": new}
        yield Hit(
            command.name_node.start_byte, command.name_node.end_byte, args=args, fix=_scoped(context, command, new)
        )


def _scoped(context: Context, command: cmake.Command, new: str) -> Fix | None:
    built = targets(context.file)
    if len(built) != 1 or not command.args or command.texts[0] in ("BEFORE", "AFTER", "SYSTEM"):
        return None
    target = built[0]
    if cmake.commands(context, "add_subdirectory") or in_definition(command.node):
        return None
    if in_condition(target.command.node) or in_definition(target.command.node):
        return None
    links = cmake.given_to(context, "target_link_libraries").get(target.written, [])
    if new == "target_link_libraries" and any(not _SCOPES & set(c.texts) for c in links):
        return None  # CMake refuses both signatures for one target
    after = command.start > target.command.end
    opening = context.data.find(b"(", command.name_node.end_byte)
    rest = context.data[opening + 1 : command.end].decode("utf-8", "replace")
    head = f"{target.written} PRIVATE" + ("" if rest[:1] in ("\n", "\r") else " ")
    if after:
        if command.name not in _BACKWARDS:
            return None
        name = Edit(command.name_node.start_byte, command.name_node.end_byte, new)
        return Fix((name, Edit(opening + 1, opening + 1, head)))
    begin, end = _whole_lines(context, command)
    if in_condition(command.node) or begin is None or end is None:
        return None
    anchor = target.command
    for later in cmake.commands(context):
        if later.name.startswith("target_") and later.texts[:1] == (target.written,) and not in_condition(later.node):
            anchor = later
    return Fix((Edit(begin, end, ""), lines_after(context, anchor.node, f"{new}({head}{rest}")))


def _whole_lines(context: Context, command: cmake.Command) -> tuple[int | None, int | None]:
    """The lines a command fills, where nothing else stands on them."""
    data = context.data
    begin = data.rfind(b"\n", 0, command.start) + 1
    newline = data.find(b"\n", command.end)
    end = len(data) if newline < 0 else newline + 1
    if data[begin : command.start].strip() or data[command.end : end].strip():
        return None, None
    if data[:begin].endswith(b"\n\n") and data[end : end + 1] == b"\n":
        end += 1  # no two blank lines where one command stood
    return begin, end


def target_name_mismatch(context: Context) -> Iterator[Hit]:
    """No executable named as the operator: its binary is not where scripts look."""
    operator = context.place.operator
    if operator is None or context.place.relative != "CMakeLists.txt":
        return
    if any(c.texts[:1] for c in cmake.commands(context, *HELPERS)) or cmake.commands(context, "include"):
        return
    built = [t for t in targets(context.file) if t.executable]
    outputs = [t for c in cmake.commands(context, "set_target_properties") for t in c.texts]
    names = [t.name for t in built]
    if not built or operator in names or any("$" in n for n in names) or operator in outputs:
        return
    name = built[0].command.args[0]
    related = tuple(_wanted_by(context, operator))
    yield Hit(name.start, name.end, args={"name": names[0], "operator": operator}, related=related)


def _wanted_by(context: Context, operator: str) -> Iterator[Related]:
    """Who calls the binary by the operator's name: the design, and the scripts that start it."""
    project = context.project
    document = design_of(project)
    named = said(document, "meta.op_name")
    if document is not None and named is not None and named.text == operator:
        yield shown(document, named, "设计里的算子名", "the operator's name in the design")
    for file in project.files("run-script", "perf-script") if project is not None else ():
        started = next((b for b in binaries(file) if b.name == operator), None)
        if started is not None:
            yield Related(started.start, started.end, note("脚本启动的是它", "what the script starts"), file.path)


def in_tree_helper(context: Context) -> Iterator[Hit]:
    """A function of SHMEM's own examples called in a project outside it."""
    root = context.place.root or ""
    if "/examples/" in f"{root}/" and "/custom-ops/" not in root:
        return
    defined = {c.texts[0].lower() for c in cmake.commands(context, "function", "macro") if c.texts}
    for command in cmake.commands(context, *HELPERS):
        if command.name not in defined:
            yield Hit(command.name_node.start_byte, command.name_node.end_byte, args={"name": command.name})


def wrong_shmem_library(context: Context) -> Iterator[Hit]:
    """``aclshmem`` linked, which is the prefix of the API and no library."""
    own = {t.name for t in targets(context.file)}
    own |= {c.texts[0] for c in cmake.commands(context, "add_library") if c.texts}
    if "aclshmem" in own:
        return
    for command in cmake.commands(context, "target_link_libraries", "link_libraries"):
        skip = 1 if command.name == "target_link_libraries" else 0
        for argument in command.args[skip:]:
            if argument.text in ("aclshmem", "-laclshmem", "libaclshmem.so"):
                new = {"-laclshmem": "-lshmem"}.get(argument.text, "shmem")
                fix = Fix((Edit(argument.start, argument.end, new),))
                yield Hit(argument.start, argument.end, args={"name": argument.text}, fix=fix)


def link_without_scope(context: Context) -> Iterator[Hit]:
    """``target_link_libraries(t lib)`` without PRIVATE, PUBLIC or INTERFACE."""
    executables = {t.written for t in targets(context.file) if t.executable}
    for command in cmake.commands(context, "target_link_libraries"):
        if len(command.args) < 2 or _SCOPES & set(command.texts):
            continue
        target = command.args[0]
        safe = target.text in executables
        fix = Fix((Edit(target.end, target.end, " PRIVATE"),), applicability="safe" if safe else "unsafe")
        yield Hit(command.name_node.start_byte, command.name_node.end_byte, args={"target": target.text}, fix=fix)


def links_bootstrap_plugin(context: Context) -> Iterator[Hit]:
    """A bootstrap plug-in linked that the library loads by itself."""
    if context.place.profile == "in-tree" and context.place.operator is None:
        return  # the library's own sources
    own = {t.name for t in targets(context.file)}
    for command in cmake.commands(context, "target_link_libraries"):
        for argument in command.args[1:]:
            name = argument.text
            if re.search(r"\b(?:lib)?aclshmem_bootstrap_\w+", name) and name not in own:
                begin = argument.start
                while begin > 0 and context.data[begin - 1] in b" \t":
                    begin -= 1
                end = argument.end
                if context.data[begin - 1 : begin] == b"\n" and context.data[end : end + 1] == b"\n":
                    end += 1
                yield Hit(argument.start, argument.end, args={"name": name}, fix=Fix((Edit(begin, end, ""),)))
