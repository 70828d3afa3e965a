"""The shared Torch folder ``custom-ops/torch_binding``: its files have to agree with each other.

Each operator adds one source, one kernel library and one declaration there.  What is forgotten is
not missed by the file that was added, but by the compiler, the linker or the loader of all operators.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from opdev.facts.bindings import binding_classes
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax import cmake, cpp
from opdev.syntax.file import File
from opdev.syntax.view import View

FOLDER = "torch_binding"
_KERNELS_HEADER = "shmem_torch_kernel.h"
_SHARED_HEADERS = ("torch_register.h", _KERNELS_HEADER)
_TARGET_LISTS = ("CUSTOM_OPS_KERNEL_TARGETS", "ACLSHMEM_ALL_KERNEL_TARGETS")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"(?P<name>[^"\n]+)"', re.MULTILINE)
_KERNEL = re.compile(rb"\bShmemKernel\s*::\s*(?P<name>[A-Za-z_]\w*)\s*[<(]")
# Sources or kernels found by CMake itself: the text does not say which.
_FOUND = re.compile(rb"(?i)\bGLOB|SUBDIRLIST|aux_source_directory|examples/torch_binding")


def _here(context: Context) -> bool:
    return context.place.operator == FOLDER and context.project is not None


def _lists(context: Context) -> list[File]:
    return list(context.project.files("cmake")) if context.project is not None else []


def incomplete_shared_binding(context: Context) -> Iterator[Hit]:
    """One of the four shared files is missing: lists, both headers, the Manager."""
    project = context.project
    if project is None or not _here(context):
        return
    lists = _lists(context)
    if any(b"examples/torch_binding" in f.nocomment for f in lists):
        # What is missing here is taken from SHMEM's own example.
        return
    if context.file.language == "cmake":
        if context.place.relative == "CMakeLists.txt":
            sources = [f for f in project.files("cpp") if re.search(rb"\b(?:class|struct)\s+Manager\b", f.code)]
            target = next(iter(cmake.commands(context, "add_library")), None)
            if not sources and target is not None and target.args:
                yield Hit(target.args[0].start, target.args[0].end, "manager", {"name": target.args[0].text})
        return
    classes = binding_classes(context.file)
    if not lists and classes:
        yield Hit(classes[0].start, classes[0].end, "lists", {"name": classes[0].name})
    for match in _INCLUDE.finditer(context.nocomment):
        name = match["name"].decode("utf-8", "replace")
        if name in _SHARED_HEADERS and not any(
            project.exists(f"{folder}/{name}") for folder in ("include", "src", ".")
        ):
            yield Hit(match.start("name"), match.end("name"), args={"name": name})


def binding_not_linked(context: Context) -> Iterator[Hit]:
    """A ``torch_bind_<op>.cpp`` that the shared lists do not build, or whose kernel they do not link."""
    operator = re.fullmatch(r"src/torch_bind_(\w+)\.(?:cpp|cc)", context.place.relative)
    if context.project is None or operator is None or not _here(context):
        return
    lists = [f for f in _lists(context) if f.place.relative == "CMakeLists.txt"]
    classes = binding_classes(context.file)
    if not lists or not classes or _FOUND.search(lists[0].nocomment):
        return
    file, name = lists[0], PurePosixPath(context.file.path).name
    view = View(file, 0, len(file.data))
    args: dict[str, object] = {"operator": operator[1], "file": name}
    first = classes[0]
    commands = cmake.commands(view)
    # With a project() of its own the lists themselves are told by source-not-built.
    if not cmake.commands(view, "project") and name.encode() not in file.nocomment:
        yield Hit(first.start, first.end, args=args)
    if b"ShmemKernel" not in context.file.words:
        return
    set_here = [c for c in commands if c.name in ("set", "list") and set(c.texts[:2]) & set(_TARGET_LISTS)]
    linked = [a for c in commands if c.name == "target_link_libraries" for a in c.texts[1:]]
    uses_list = any(f"${{{kernels}}}" in linked for kernels in _TARGET_LISTS)
    if not set_here and uses_list:
        return  # given by whoever configures
    kernels = [t for c in set_here for t in c.texts if t not in (*_TARGET_LISTS, "APPEND", "PARENT_SCOPE")] + [
        t for t in linked if "kernel" in t and "$" not in t
    ]
    if any("$" in t for c in set_here for t in c.texts[1:] if t.strip("${}") not in _TARGET_LISTS):
        return
    bindings = [f for f in context.project.files("cpp") if "/torch_bind_" in f.path]
    plain = operator[1].replace("_", "").lower()
    if len(kernels) >= len(bindings) or any(plain in k.replace("_", "").lower() for k in kernels):
        return
    shown = set_here[-1] if set_here else next((c for c in commands if c.name == "target_link_libraries"), None)
    related: tuple[Related, ...] = ()
    if shown is not None:
        note = {"zh": "链接的 kernel 在这里列出", "en": "the kernels that are linked stand here"}
        related = (Related(shown.start, shown.end, note, file.path),)
    yield Hit(first.start, first.end, "kernel", args, related=related)


_OWN_NAMESPACE = re.compile(rb"\bnamespace\s+ShmemKernel\b([^}]*)")
_CALLABLE = re.compile(rb"\b(\w+)\s*\(")


def undeclared_kernel(context: Context) -> Iterator[Hit]:
    """``ShmemKernel::f(…)`` that no header of the shared folder declares."""
    project = context.project
    if project is None or not _here(context) or "header" in context.kinds:
        return
    headers = {f.path.rpartition("/")[2]: f for f in project.files("header")}
    if _KERNELS_HEADER not in headers:
        return
    included = [m["name"].decode("utf-8", "replace") for m in _INCLUDE.finditer(context.nocomment)]
    # A header from elsewhere may declare it.
    if any("kernel" in name and name.rpartition("/")[2] not in headers for name in included):
        return
    if any(name.startswith("..") for name in included):
        return
    own = b"\n".join(_OWN_NAMESPACE.findall(context.code))
    declared = {name for text in (own, *(f.code for f in headers.values())) for name in _CALLABLE.findall(text)}
    seen: set[str] = set()
    for match in _KERNEL.finditer(context.code):
        name = match["name"].decode()
        call = cpp.call_at(context.file, match.start("name"), match.end("name"))
        if call is None or name in seen:
            continue
        if match["name"] in declared:
            continue
        seen.add(name)
        header = headers[_KERNELS_HEADER]
        note = {"zh": "各算子的 kernel 在这里声明", "en": "the operators' kernels are declared here"}
        at = header.code.find(b"namespace ShmemKernel")
        at = max(at, 0)
        related = (Related(at, at + (21 if header.code[at : at + 9] == b"namespace" else 0), note, header.path),)
        yield Hit(match.start("name"), match.end("name"), args={"name": name}, related=related)
