"""JSON and YAML files as trees with places: case lists and intake records are read from them."""

from __future__ import annotations

from opdev.design.compose import Composer
from opdev.design.nodes import Node
from opdev.design.recover import read
from opdev.design.text import FenceText
from opdev.facts.jsontree import tree
from opdev.syntax.file import File


def root_of(file: File) -> Node | None:
    """What a JSON or YAML file holds, as much of it as can be read; None for nothing readable."""

    def make() -> Node | None:
        text = FenceText(file)
        if file.path.endswith(".json"):
            found = tree(text)
            if found is not None:
                return found
        # JSON may be indented by tabs, which YAML refuses.
        text.text = text.text.replace("\t", " ")
        return read(Composer(text))

    return file.memo("facts.root", make)
