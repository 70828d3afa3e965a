"""What scripts start against what CMake builds."""

from __future__ import annotations

from collections.abc import Iterator

from opdev.checks.cmakelists import HELPERS, in_definition
from opdev.checks.designed import note
from opdev.facts import build, scripts
from opdev.rules.context import Context, Project
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import cmake
from opdev.syntax.file import File
from opdev.syntax.view import View


def binary_not_built(context: Context) -> Iterator[Hit]:
    """``build/bin/<name>`` started that no target of the operator makes, or that lands in another folder."""
    project, operator = context.project, context.place.operator
    if project is None or operator is None or operator == "torch_binding":
        return
    built = _built(project)
    if built is None:
        return
    executables = [(file, one) for file, one in built if one.target.executable]
    if not executables:
        return
    for binary in scripts.binaries(context.file):
        if f"{operator}/build" not in binary.path and not _is_own(binary.path):
            continue
        match = next(((f, o) for f, o in executables if o.name == binary.name), None)
        if match is None:
            if binary.name == operator:
                continue  # the target's name is what is wrong: target-name-mismatch
            file, one = next(((f, o) for f, o in executables if o.name == operator), executables[0])
            names = ", ".join(dict.fromkeys(o.name for _, o in executables))
            related = (Related(one.start, one.end, note("CMake 生成的是它", "this is what CMake builds"), file.path),)
            written = context.data[binary.start : binary.end].decode("utf-8", "replace")
            only = len(executables) == 1 and "$" not in written
            fix = Fix((Edit(binary.start, binary.end, one.name),)) if only else None
            args = {"name": binary.name, "names": names, "new": one.name}
            yield Hit(binary.start, binary.end, args=args, fix=fix, related=related)
        elif match[1].folder and not _goes_to_bin(match[1].folder):
            file, one = match
            related = (Related(one.start, one.end, note("目标在这里", "the target is here"), file.path),)
            args = {"name": binary.name, "folder": one.folder}
            yield Hit(binary.start, binary.end, "folder", args, related=related)


def _is_own(path: str) -> bool:
    """Whether a path is below the operator's own build folder, as far as its text tells."""
    return "build/bin/" in path and "custom-ops/" not in path and not path.startswith("/")


def _goes_to_bin(folder: str) -> bool:
    return "$" in folder.rstrip("/").rpartition("/")[2] or folder.rstrip("/").rpartition("/")[2] == "bin"


def _built(project: Project) -> list[tuple[File, build.Output]] | None:
    """What the operator's lists make; None where they do not say all of it."""
    found: list[tuple[File, build.Output]] = []
    files = [f for f in project.files("cmake") if f.path.startswith(project.root + "/")]
    if not any(build.project_name(f) is not None for f in files):
        return None
    for file in files:
        view = View(file, 0, len(file.data))
        if cmake.commands(view, "include", "install", "ExternalProject_Add", *HELPERS) and not _only_modules(view):
            return None
        for one in build.outputs(file):
            if "$" in one.name or in_definition(one.target.command.node):
                return None
            found.append((file, one))
    return found


def _only_modules(view: View) -> bool:
    """Whether what is included are CMake's own modules, which build nothing."""
    if cmake.commands(view, "install", "ExternalProject_Add", *HELPERS):
        return False
    return all(c.texts[:1] and "/" not in c.texts[0] and "." not in c.texts[0] for c in cmake.commands(view, "include"))
