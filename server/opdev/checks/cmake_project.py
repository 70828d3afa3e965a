"""An operator's CMake project as a whole: sources, environment, output folders, what it is part of."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from opdev.checks.cmakelists import SOURCES, in_definition
from opdev.checks.statements import lines_after, lines_before, top_statement
from opdev.facts.build import Target, resolve, targets
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cmake
from opdev.syntax.tree import ancestor
from opdev.syntax.view import View

_HERE = ("${CMAKE_CURRENT_SOURCE_DIR}/", "${CMAKE_CURRENT_LIST_DIR}/", "./")
_TOP = ("${CMAKE_SOURCE_DIR}/", "${PROJECT_SOURCE_DIR}/")
_HOMES = {
    "ASCEND_HOME_PATH": "source CANN's set_env.sh first",
    "SHMEM_HOME_PATH": "source SHMEM's install/set_env.sh first",
}


def source_not_built(context: Context) -> Iterator[Hit]:
    """A listed source that does not exist; a source below ``src`` no target lists."""
    project = context.project
    if project is None:
        return
    folder = posixpath.dirname(context.place.relative)
    generated = {t for c in cmake.commands(context, "add_custom_command", "configure_file") for t in c.texts}
    opaque = bool(cmake.commands(context, "aux_source_directory")) or any(
        c.texts[:1] in (("GLOB",), ("GLOB_RECURSE",)) for c in cmake.commands(context, "file")
    )
    for target in targets(context.file):
        if in_definition(target.command.node):
            opaque = True
            continue
        for source in target.sources:
            text = resolve(context.file, source.text)
            for prefix in _HERE:
                text = text.removeprefix(prefix)
            path = posixpath.normpath(posixpath.join(folder, text))
            for prefix in _TOP:
                if text.startswith(prefix) and cmake.commands(context, "project"):
                    path = posixpath.normpath(posixpath.join(folder, text.removeprefix(prefix)))
                    text = path
            if "$" in text:
                opaque = opaque or "$<" not in text
                continue
            if not text.endswith(SOURCES) or text.startswith("/") or source.text in generated or text in generated:
                continue
            if not project.exists(path):
                yield Hit(source.start, source.end, args={"source": text})
    if not opaque and context.place.relative == "CMakeLists.txt" and cmake.commands(context, "project"):
        yield from _unlisted(context)


def _unlisted(context: Context) -> Iterator[Hit]:
    project = context.project
    built = [t for t in targets(context.file) if t.sources]
    if project is None or not built:
        return
    listed = b"\n".join(f.nocomment for f in project.files("cmake"))
    if re.search(rb"GLOB|aux_source_directory", listed):
        return
    cpp = list(project.files("cpp"))
    for file in cpp:
        relative = file.place.relative
        name = posixpath.basename(relative).encode()
        if not relative.startswith("src/") or relative.count("/") > 1 or not relative.endswith(SOURCES):
            continue
        if name in listed or any(
            re.search(rb"#\s*include\s*[\"<][^\">]*%s[\">]" % re.escape(name), f.data) for f in cpp
        ):
            continue
        argument = built[0].command.args[0]
        fix = _listed_too(context, built[0], relative) if len(built) == 1 else None
        yield Hit(argument.start, argument.end, "unlisted", {"source": relative, "target": built[0].name}, fix)


def _listed_too(context: Context, target: Target, relative: str) -> Fix | None:
    last = target.command.args[-1]
    if last.text.startswith("$") or last.end > target.command.end:
        return None
    begin = context.data.rfind(b"\n", 0, last.start) + 1
    before = context.data[begin : last.start].decode("utf-8", "replace")
    gap = "\n" + before if not before.strip() else " "
    return Fix((Edit(last.end, last.end, f"{gap}{relative}"),), "list")


def unvalidated_home_path(context: Context) -> Iterator[Hit]:
    """ASCEND_HOME_PATH or SHMEM_HOME_PATH used without asking whether it is set."""
    if not cmake.commands(context, "project"):
        return
    conditions = [" ".join(c.texts) for c in cmake.commands(context, "if", "elseif")]
    for name, todo in _HOMES.items():
        use = re.search(rb"\$ENV\{%s\}" % name.encode(), context.code)
        if use is None:
            continue
        held = {name}
        for command in cmake.commands(context, "set"):
            if len(command.texts) > 1 and f"$ENV{{{name}}}" in command.texts[1]:
                held.add(command.texts[0])
        for command in cmake.commands(context, "foreach"):
            if name in command.texts[1:]:
                held.add(f"${{{command.texts[0]}}}")
        if any(re.search(rf"(?<!\w){re.escape(h)}(?!\w)", text) for text in conditions for h in held):
            continue
        node = context.node_at(use.start(), use.end())
        fix = None
        if node is not None and not in_definition(node):
            fix = Fix(
                (
                    lines_before(
                        context,
                        top_statement(node),
                        f"if(NOT DEFINED ENV{{{name}}})",
                        f'    message(FATAL_ERROR "{name} is not set: {todo}")',
                        "endif()",
                    ),
                )
            )
        yield Hit(use.start(), use.end(), args={"name": name}, fix=fix)


def shmem_below_cann(context: Context) -> Iterator[Hit]:
    """SHMEM looked for below CANN's folder."""
    held = {"ASCEND_HOME_PATH"}
    for command in cmake.commands(context, "set"):
        if len(command.texts) > 1 and re.fullmatch(r"\$(?:ENV)?\{ASCEND_HOME_PATH\}", command.texts[1]):
            held.add(command.texts[0])
    names = b"|".join(re.escape(n.encode()) for n in sorted(held))
    for match in re.finditer(rb"(?P<root>\$(?:ENV)?\{(?:%s)\})/shmem\b(?![\w-])" % names, context.code):
        fix = Fix((Edit(match.start("root"), match.end("root"), "$ENV{SHMEM_HOME_PATH}"),))
        yield Hit(match.start(), match.end(), args={"path": match.group().decode()}, fix=fix)


def missing_output_directory(context: Context) -> Iterator[Hit]:
    """A project whose binary does not go to ``build/bin``, where ``run.sh`` starts it."""
    projects = cmake.commands(context, "project")
    if (
        not projects
        or context.place.relative != "CMakeLists.txt"
        or not any(t.executable for t in targets(context.file))
    ):
        return
    if re.search(rb"RUNTIME_OUTPUT_DIRECTORY|EXECUTABLE_OUTPUT_PATH", context.code) or cmake.commands(
        context, "include"
    ):
        return
    fix = Fix(
        (
            lines_after(
                context,
                projects[0].node,
                "set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)",
                "set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)",
            ),
        )
    )
    name = projects[0].name_node
    yield Hit(name.start_byte, name.end_byte, fix=fix)


def old_language_standard(context: Context) -> Iterator[Hit]:
    """``project()`` without languages; a C++ standard below 17."""
    for command in cmake.commands(context, "project"):
        rest = command.texts[1:]
        if command.args and not rest:
            end = command.args[0].end
            yield Hit(
                command.args[0].start,
                end,
                "language",
                fix=Fix((Edit(end, end, " LANGUAGES CXX"),), "language", "unsafe"),
            )
    for command in cmake.commands(context, "set"):
        if (
            len(command.args) > 1
            and command.texts[0] == "CMAKE_CXX_STANDARD"
            and command.texts[1] in ("98", "11", "14")
        ):
            value = command.args[1]
            fix = Fix((Edit(value.start, value.end, "17"),))
            yield Hit(value.start, value.end, args={"standard": value.text}, fix=fix)


def baseline_in_operator(context: Context) -> Iterator[Hit]:
    """The HCCL baseline built into the operator's own target, or not built at all."""
    if context.place.relative != "CMakeLists.txt" or not cmake.commands(context, "project"):
        return
    linked: set[str] = set()
    for target in targets(context.file):
        if "baseline" in target.name or "hccl" in target.name:
            continue
        for source in target.sources:
            if re.search(r"(?:^|/)baseline/|_(?:baseline|hccl)\.\w+$", source.text):
                yield Hit(source.start, source.end, args={"source": source.text, "target": target.name})
        # Two branches may define one target; what it is linked with is the same for both.
        links = cmake.given_to(context, "target_link_libraries").get(target.written, [])
        for command in links if target.written not in linked else ():
            for library in command.args[1:]:
                if library.text in ("hccl", "-lhccl", "libhccl.so"):
                    yield Hit(library.start, library.end, "library", {"target": target.name})
        linked.add(target.written)
    folders = [t.rstrip("/") for c in cmake.commands(context, "add_subdirectory") for t in c.texts[:1]]
    project = context.project
    if project is None or not project.exists("baseline/CMakeLists.txt"):
        return
    if any(f.endswith("baseline") or "$" in f for f in folders) or cmake.commands(context, "include"):
        return
    name = cmake.commands(context, "project")[0].name_node
    end = len(context.data)
    text = "add_subdirectory(baseline)\n" if context.data.endswith(b"\n") else "\nadd_subdirectory(baseline)\n"
    yield Hit(name.start_byte, name.end_byte, "unbuilt", fix=Fix((Edit(end, end, text),)))


def unregistered_example(context: Context) -> Iterator[Hit]:
    """An operator below ``examples`` that its CMakeLists.txt never adds."""
    project = context.project
    operator = context.place.operator
    if project is None or operator is None or context.place.relative != "CMakeLists.txt":
        return
    if not posixpath.dirname(project.root).endswith("/examples") or cmake.commands(context, "project"):
        return  # a project of its own is configured by itself
    registry = next(
        (f for f in project.files("cmake") if posixpath.dirname(f.path) == posixpath.dirname(project.root)), None
    )
    if registry is None:
        return
    view = View(registry, 0, len(registry.data))
    named = {t.strip("/") for c in cmake.commands(view, "foreach", "add_subdirectory", "set", "list") for t in c.texts}
    if any(n == operator or n.startswith(f"{operator}/") for n in named):
        return
    if any(c.texts[:1] == ("GLOB",) for c in cmake.commands(view, "file")):
        return
    first = next((c for c in cmake.commands(context) if ancestor(c.node, "if_condition") is None), None)
    if first is not None:
        yield Hit(first.name_node.start_byte, first.name_node.end_byte, args={"operator": operator})


def no_runtime_path(context: Context) -> Iterator[Hit]:
    """A binary that finds libshmem.so neither by its own path nor by what the scripts set."""
    project = context.project
    built = [t for t in targets(context.file) if t.executable and not in_definition(t.command.node)]
    if project is None or not built or context.place.relative != "CMakeLists.txt":
        return
    libraries = {t for c in cmake.commands(context, "target_link_libraries", "link_libraries") for t in c.texts}
    if (
        not {"shmem", "aclshmem"} & libraries
        or re.search(rb"(?i)rpath", context.code)
        or cmake.commands(context, "include")
    ):
        return
    scripts = list(project.files("run-script", "perf-script", "wrapper-script"))
    set_up = re.compile(rb"LD_LIBRARY_PATH|set_env\.sh|setup_shmem_runtime_env|^\s*(?:source|\.)\s", re.MULTILINE)
    if not scripts or any(set_up.search(f.code) for f in scripts):
        return
    name = built[0].command.args[0]
    yield Hit(name.start, name.end, args={"target": built[0].name})
