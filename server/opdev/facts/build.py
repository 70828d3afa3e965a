"""What a CMakeLists.txt builds: project, targets, what they are called on disk and where they go."""

from __future__ import annotations

import re
from dataclasses import dataclass

from opdev.syntax import cmake
from opdev.syntax.file import File
from opdev.syntax.view import View

_REFERENCE = re.compile(r"\$\{(\w+)\}")
_SCOPES = {"PRIVATE", "PUBLIC", "INTERFACE", "LINK_PRIVATE", "LINK_PUBLIC", "LINK_INTERFACE_LIBRARIES"}
_KINDS = {"STATIC", "SHARED", "MODULE", "OBJECT", "EXCLUDE_FROM_ALL", "WIN32", "MACOSX_BUNDLE", "UNKNOWN"}
_DIRECTORIES = ("RUNTIME_OUTPUT_DIRECTORY", "LIBRARY_OUTPUT_DIRECTORY", "ARCHIVE_OUTPUT_DIRECTORY")


@dataclass(frozen=True)
class Target:
    """An executable or library; ``name`` as resolved, ``written`` as in the file."""

    name: str
    written: str
    command: cmake.Command
    executable: bool
    sources: tuple[cmake.Argument, ...]

    @property
    def start(self) -> int:
        """Where the name stands."""
        return self.command.args[0].start

    @property
    def end(self) -> int:
        return self.command.args[0].end


@dataclass(frozen=True)
class Output:
    """What a target is on disk: ``bin/allgather``, ``lib/liballgather_kernel.so``.

    ``folder`` is where it goes, references as far as known filled in, empty where the file does not say.
    ``[start, end)`` is the word the file's name comes from: OUTPUT_NAME's value or the target's name.
    """

    target: Target
    name: str
    folder: str
    start: int
    end: int


@dataclass(frozen=True)
class ProjectName:
    """The first argument of ``project()``."""

    name: str
    start: int
    end: int


def variables(file: File) -> dict[str, str]:
    """Variables with exactly one plain value, ``PROJECT_NAME`` among them."""

    def collect() -> dict[str, str]:
        found: dict[str, str] = {}
        twice: set[str] = set()
        for command in cmake.commands(_all(file), "set", "project"):
            texts = command.texts
            if command.name == "project" and texts:
                found.setdefault("PROJECT_NAME", texts[0])
                found.setdefault("CMAKE_PROJECT_NAME", texts[0])
            elif len(texts) >= 2:
                if texts[0] in found or (len(texts) > 2 and texts[2] not in ("CACHE", "PARENT_SCOPE")):
                    twice.add(texts[0])
                found[texts[0]] = texts[1]
        return {name: value for name, value in found.items() if name not in twice}

    return file.memo("facts.cmake_variables", collect)


def resolve(file: File, text: str, depth: int = 4) -> str:
    """``text`` with the file's own single-valued variables filled in."""
    known = variables(file)
    while depth and "${" in text:
        new = _REFERENCE.sub(lambda m: known.get(m[1], m[0]), text)
        if new == text:
            break
        text, depth = new, depth - 1
    return text


def targets(file: File) -> list[Target]:
    """The targets this file builds, in text order."""

    def collect() -> list[Target]:
        view, found = _all(file), []
        for command in cmake.commands(view, "add_executable", "add_library"):
            if not command.args or {"IMPORTED", "ALIAS", "INTERFACE"} & set(command.texts[1:3]):
                continue
            name = command.args[0].text
            sources = list(command.args[1:])
            for more in cmake.given_to(view, "target_sources").get(name, []):
                sources += more.args[1:]
            listed = tuple(a for a in sources if a.text not in _SCOPES and a.text not in _KINDS)
            found.append(Target(resolve(file, name), name, command, command.name == "add_executable", listed))
        return found

    return file.memo("facts.cmake_targets", collect)


def project_name(file: File) -> ProjectName | None:
    """What ``project()`` calls the project; None without one."""
    for command in cmake.commands(_all(file), "project"):
        if command.args:
            first = command.args[0]
            return ProjectName(resolve(file, first.text), first.start, first.end)
    return None


def outputs(file: File) -> list[Output]:
    """What the targets are on disk, in text order."""

    def collect() -> list[Output]:
        given = _properties(file)
        found = []
        for target in targets(file):
            own = {k: given[name, k] for name in (target.written, target.name) for n, k in given if n == name}
            renamed = own.get("OUTPUT_NAME")
            start, end = (renamed.start, renamed.end) if renamed else (target.start, target.end)
            base = resolve(file, renamed.text) if renamed else target.name
            library = "STATIC" not in target.command.texts[1:2]
            prefix, suffix = ("", "") if target.executable else ("lib", ".so" if library else ".a")
            prefix = own["PREFIX"].text if "PREFIX" in own else prefix
            suffix = own["SUFFIX"].text if "SUFFIX" in own else suffix
            which = _DIRECTORIES[0 if target.executable else 1 if library else 2]
            folder = resolve(file, own[which].text) if which in own else variables(file).get(f"CMAKE_{which}", "")
            if target.executable and not folder:
                folder = variables(file).get("EXECUTABLE_OUTPUT_PATH", "")
            found.append(Output(target, f"{prefix}{base}{suffix}", resolve(file, folder), start, end))
        return found

    return file.memo("facts.cmake_outputs", collect)


def _properties(file: File) -> dict[tuple[str, str], cmake.Argument]:
    """(target, property) → the value given to it, the last one where there are several."""
    found: dict[tuple[str, str], cmake.Argument] = {}
    for command in cmake.commands(_all(file), "set_target_properties", "set_property"):
        texts = command.texts
        if command.name == "set_property":
            at = texts.index("PROPERTY") if "PROPERTY" in texts else 0
            if texts[:1] == ("TARGET",) and at > 0 and at + 2 < len(texts):
                for name in texts[1:at]:
                    found[name, texts[at + 1]] = command.args[at + 2]
            continue
        at = texts.index("PROPERTIES") if "PROPERTIES" in texts else len(texts)
        for key in range(at + 1, len(texts) - 1, 2):
            for name in texts[:at]:
                found[name, texts[key]] = command.args[key + 1]
    return found


def _all(file: File) -> View:
    return View(file, 0, len(file.data))
