"""``module_interfaces.yaml``: what a PyPTO operator's modules take and give, as its planner wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from opdev.design.nodes import Node
from opdev.facts.structured import root_of
from opdev.syntax.file import File


class Files(Protocol):
    """What an operator has to offer to be asked for its interfaces."""

    def files(self, *kinds: str) -> Iterable[File]: ...


def interfaces_of(project: Files | None) -> Node | None:
    """The interfaces as a tree with places; None where there are none or they cannot be read."""
    for file in project.files("pypto-interfaces") if project is not None else ():
        root = root_of(file)
        if root is not None and root.kind == "mapping":
            return root
    return None


def modules_of(suffix: str) -> list[int] | None:
    """The modules a cumulative suffix means: ``12`` is [1, 2], ``12345678910`` ends in 10; None for any other."""
    found: list[int] = []
    while suffix:
        wanted = str(len(found) + 1)
        if not suffix.startswith(wanted):
            return None
        found.append(len(found) + 1)
        suffix = suffix[len(wanted) :]
    return found or None


def names(node: Node | None) -> list[str]:
    """The ``name`` of every item of a list."""
    out = []
    for child in node.children if node is not None and node.kind == "sequence" else []:
        name = child.get("name") if child.kind == "mapping" else child
        if name is not None and name.kind == "scalar" and name.text.strip():
            out.append(name.text.strip())
    return out


def primary_inputs(root: Node, modules: list[int] | None = None) -> list[str]:
    """The operator's inputs in order; of ``modules`` only, those they take from outside."""
    every = names(root.get("primary_inputs"))
    if modules is None:
        return every
    used = set()
    for module in _modules(root, modules):
        inputs = module.get("inputs")
        for child in inputs.children if inputs is not None and inputs.kind == "sequence" else []:
            name, source = (child.get("name"), child.get("source")) if child.kind == "mapping" else (None, None)
            if name is not None and source is not None and source.text.strip().startswith("primary"):
                used.add(name.text.strip())
                # The input may be called otherwise inside: source: primary.x
                used.add(source.text.strip().rpartition(".")[2])
    return [name for name in every if name in used]


def outputs(root: Node, modules: list[int] | None = None) -> list[str]:
    """The operator's outputs; of ``modules`` those of the last one."""
    if modules is None:
        return names(root.get("final_outputs"))
    last = next(iter(_modules(root, modules[-1:])), None)
    return names(last.get("outputs")) if last is not None else []


def _modules(root: Node, wanted: list[int]) -> Iterator[Node]:
    modules = root.get("modules")
    for child in modules.children if modules is not None and modules.kind == "sequence" else []:
        identity = child.get("id") if child.kind == "mapping" else None
        if identity is not None and identity.data() in wanted:
            yield child
