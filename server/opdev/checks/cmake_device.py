"""How device code is compiled and linked: architecture, fat objects, libraries, debug switches."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.cmakelists import in_condition, is_device_source
from opdev.checks.statements import lines_after
from opdev.facts.build import Target, targets
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cmake

_FATOBJ = "--cce-fatobj-link"
_OWN_LANGUAGE = ".asc"
"""Sources for which CMake has a language of its own, which links what it compiles."""
_NEEDED = ("shmem", "ascendcl", "runtime")
_ARCH = re.compile(rb"--(?:npu-arch|cce-aicore-arch)=(?P<arch>[A-Za-z][\w-]*)")
_ARCHES = re.compile(r"dav-(?:c220|c310)(?:-vec|-cube)?|dav-2201|dav-3510")
_DEBUG = re.compile(
    r"(?:-D)?(?:ENABLE_ASCENDC_DUMP|ASCENDC_DUMP=1|ENABLE_ASCENDC_DUMP=1)|-fsanitize\S*|--cce-enable-sanitizer"
)
_SWITCHES = re.compile(r"ENABLE_ASCENDC_DUMP|\w*SANITIZER\w*|ENABLE_(?:A|UB|T|M)SAN|USE_(?:A|UB|T|M)SAN")
_TREE_INCLUDE = frozenset({"${PROJECT_SOURCE_DIR}/include", "${CMAKE_SOURCE_DIR}/include"})


def _options(context: Context, target: Target, command: str, everywhere: str) -> list[str]:
    """What a target is given by a ``target_*`` command and by its global form; what is given again counts once."""

    def own() -> list[str]:
        every = dict.fromkeys(c.texts for c in cmake.given_to(context, command).get(target.written, []))
        return [text for texts in every for text in texts[1:]]

    def shared() -> list[str]:
        return [text for texts in dict.fromkeys(c.texts for c in cmake.commands(context, everywhere)) for text in texts]

    return [
        *context.file.memo(("cmake_device.own", command, target.written), own),
        *context.file.memo(("cmake_device.shared", everywhere), shared),
    ]


def _device_targets(context: Context) -> Iterator[Target]:
    if cmake.commands(context, "include"):
        return  # what an included file adds is not seen here
    for target in targets(context.file):
        if any(is_device_source(s.text) for s in target.sources):
            yield target


def missing_device_link(context: Context) -> Iterator[Hit]:
    """A target with device code without the fat-object link option or a library it needs."""
    if "custom-ops" not in context.file.path.split("/") and b"shmem" not in context.data.lower():
        return  # An operator without SHMEM needs other libraries, and so other options.
    flags = _FATOBJ.encode() in context.code
    for target in _device_targets(context):
        name = target.command.args[0]
        if all(s.text.endswith(_OWN_LANGUAGE) for s in target.sources if is_device_source(s.text)):
            continue
        options = _options(context, target, "target_link_options", "add_link_options")
        if not flags and not any("$" in o for o in options):
            fix = Fix(
                (lines_after(context, target.command.node, f"target_link_options({target.written} PRIVATE {_FATOBJ})"),)
            )
            yield Hit(name.start, name.end, args={"target": target.name}, fix=fix)
        if not target.executable:
            continue
        libraries = _options(context, target, "target_link_libraries", "link_libraries")
        if any("$" in t for t in libraries):
            continue
        given = {re.sub(r"^-l|^lib|\.so$", "", t).removeprefix("acl") if "shmem" in t else t for t in libraries}
        missing = [lib for lib in _NEEDED if lib not in given]
        if missing:
            args = {"target": target.name, "missing": " ".join(missing)}
            yield Hit(name.start, name.end, "library", args, _linked(context, target, missing))


def _linked(context: Context, target: Target, missing: list[str]) -> Fix | None:
    for command in cmake.given_to(context, "target_link_libraries").get(target.written, []):
        if len(command.args) > 1:
            end = command.args[-1].end
            return Fix((Edit(end, end, " " + " ".join(missing)),), "library")
    line = f"target_link_libraries({target.written} PRIVATE {' '.join(missing)})"
    return Fix((lines_after(context, target.command.node, line),), "library")


def wrong_device_arch(context: Context) -> Iterator[Hit]:
    """An architecture the compiler does not know; device code compiled as host code."""
    for match in _ARCH.finditer(context.code):
        arch = match["arch"].decode()
        if not _ARCHES.fullmatch(arch):
            yield Hit(match.start("arch"), match.end("arch"), args={"arch": arch})
    elsewhere = re.search(rb"CMAKE_CXX_FLAGS|COMPILE_OPTIONS|COMPILE_FLAGS", context.code) is not None
    for target in _device_targets(context) if not elsewhere else ():
        options = _options(context, target, "target_compile_options", "add_compile_options")
        whole = " ".join(options)
        if "$" in whole or re.search(r"-x ?(?:asc|cce)|-arch=", whole):
            continue
        name = target.command.args[0]
        yield Hit(name.start, name.end, "missing", {"target": target.name})


def debug_build_by_default(context: Context) -> Iterator[Hit]:
    """Dump or sanitizer switched on without a condition."""
    for command in cmake.commands(
        context,
        "target_compile_definitions", "target_compile_options", "target_link_options", "add_compile_options",
        "add_compile_definitions", "add_definitions", "add_link_options",
    ):  # fmt: skip
        if in_condition(command.node):
            continue
        for argument in command.args:
            if "$<" not in argument.text and _DEBUG.fullmatch(argument.text):
                yield Hit(argument.start, argument.end, args={"switch": argument.text})
    for command in cmake.commands(context, "set"):
        name = command.texts[0] if command.texts else ""
        if "FLAGS" in name and "DEBUG" not in name and not in_condition(command.node) and "SANITIZER" not in name:
            for argument in command.args[1:]:
                found = re.search(r"-fsanitize\S*|--cce-enable-sanitizer|-DASCENDC_DUMP=1", argument.text)
                if found and "$<" not in argument.text:
                    yield Hit(argument.start, argument.end, args={"switch": found.group()})
    for command in cmake.commands(context, "option"):
        if command.args and _SWITCHES.fullmatch(command.texts[0]) and len(command.args) > 2:
            value = command.args[-1]
            if value.text.upper() in ("ON", "1", "TRUE", "YES"):
                fix = Fix((Edit(value.start, value.end, "OFF"),))
                yield Hit(value.start, value.end, "option", {"switch": command.texts[0]}, fix)


def missing_shmem_include(context: Context) -> Iterator[Hit]:
    """Device code built without SHMEM's headers on the include path."""
    if cmake.commands(context, "find_package", "add_subdirectory") and b"shmem" in context.code.lower():
        return  # an imported target may bring the headers
    for target in _device_targets(context):
        folders = _options(context, target, "target_include_directories", "include_directories")
        folders += _options(context, target, "target_compile_options", "add_compile_options")
        if any("shmem" in f.lower() or re.fullmatch(r"\$\{\w*INC\w*\}", f) for f in folders):
            continue
        if _TREE_INCLUDE.intersection(folders) and not cmake.commands(context, "project"):
            continue  # configured as part of SHMEM's own tree, whose include/ that is
        name = target.command.args[0]
        line = f"target_include_directories({target.written} PRIVATE $ENV{{SHMEM_HOME_PATH}}/shmem/include)"
        fix = Fix((lines_after(context, target.command.node, line),))
        yield Hit(name.start, name.end, args={"target": target.name}, fix=fix)
