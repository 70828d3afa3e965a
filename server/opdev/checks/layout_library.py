"""The kernel library that Torch loads: its name and folder are agreed, not looked up."""

from __future__ import annotations

from collections.abc import Iterator

from opdev.checks.case_lists import design
from opdev.checks.statements import lines_after, top_statement
from opdev.facts.build import Output, outputs
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax.cmake import commands

_LIBRARY_DIR = ("lib", "lib64")


def kernel_library(context: Context) -> Iterator[Hit]:
    """A shared kernel library that is not ``build/lib/lib<op>_kernel.so`` although Torch is to load it."""
    project, document = context.project, design(context)
    if project is None or document is None or context.place.relative != "CMakeLists.txt":
        return
    if document.text("meta.torch_required").lower() not in ("true", "yes", "on"):
        return
    name = document.text("meta.op_name") or project.name
    wanted = f"lib{name}_kernel.so"
    libraries = [
        o for o in outputs(context.file) if not o.target.executable and "STATIC" not in o.target.command.texts[1:2]
    ]
    shared = [o for o in libraries if "OBJECT" not in o.target.command.texts[1:2] and _holds_kernel(o)]
    # A name computed at configure time, or in a helper function, is not judged.
    if not shared or any("$" in o.name for o in shared) or any(o.name == wanted for o in shared):
        named = [o for o in shared if o.name == wanted and o.folder and "$<" not in o.folder]
        for one in named:
            last = one.folder.rstrip("/").rpartition("/")[2]
            if last not in _LIBRARY_DIR and "$" not in last:
                yield Hit(one.start, one.end, "folder", {"name": wanted, "folder": one.folder})
        return
    one = shared[0]
    yield Hit(
        one.start, one.end, "default", {"name": one.name, "wanted": wanted}, _renamed(context, one, f"{name}_kernel")
    )


def _holds_kernel(output: Output) -> bool:
    return any(
        s.text.rpartition("/")[2].rpartition(".")[0].endswith(("_kernel", "_kernels")) for s in output.target.sources
    )


def _renamed(context: Context, one: Output, name: str) -> Fix | None:
    target = one.target
    if (one.start, one.end) != (target.start, target.end):
        return Fix((Edit(one.start, one.end, name),))
    if any(
        target.written in c.texts[:1] and "OUTPUT_NAME" in c.texts for c in commands(context, "set_target_properties")
    ):
        return None
    line = f"set_target_properties({target.written} PROPERTIES OUTPUT_NAME {name})"
    return Fix((lines_after(context, top_statement(target.command.node), line),))
