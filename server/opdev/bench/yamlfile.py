"""A batch's YAML file as values with their places, or the first thing that keeps it from being read.

Composed by the reader of designs: no recursion, aliases bounded, every key and value with its place.
"""

from __future__ import annotations

from opdev.bench.model import BenchError
from opdev.design.compose import Composer, NotYamlError
from opdev.design.nodes import Fault, Node
from opdev.design.text import FenceText
from opdev.kinds import Kind
from opdev.source import Source
from opdev.syntax.file import File

MOST = 1_000_000
"""Bytes of a file that are read at most."""


class Yaml:
    """What a file holds: ``root`` is its mapping, None where it is empty."""

    def __init__(self, path: str) -> None:
        """BenchError where it cannot be read, is not YAML, or has a key twice."""
        self.path = path
        try:
            with open(path, "rb") as stream:
                raw = stream.read(MOST + 1)
        except OSError as error:
            raise BenchError("c-no-config", path=path, why=error.strerror or str(error)) from None
        if len(raw) > MOST:
            raise BenchError("c-large-config", path=path, most=MOST)
        source = Source.from_disk(path, raw)
        if source.encoding == "bytes":
            raise BenchError("c-not-text", path=path)
        self.data = source.data
        self.text = FenceText(File(source, Kind("yaml", frozenset())))
        self.root = self._composed()

    def _composed(self) -> Node | None:
        if self.text.unprintable:
            raise self.at("c-control", self.text.inner(self.text.unprintable[0]))
        composer = Composer(self.text)
        try:
            root = composer.compose(0, len(self.text.text))
        except NotYamlError as error:
            tab = self.text.text[error.at : error.at + 1] == "\t"
            key = "c-tab" if tab else {"too-large": "c-too-many", "too-deep": "c-too-deep"}.get(error.reason)
            raise self.at(key or "c-not-yaml", self.text.inner(error.at), why=error.detail) from None
        for fault in sorted(composer.faults, key=lambda fault: fault.start):
            raise self._fault(fault)
        if root is not None and root.tag == "null" and not root.value:
            return None
        if root is not None and root.kind != "mapping":
            raise self.at("c-no-mapping", root.start)
        return root

    def _fault(self, fault: Fault) -> BenchError:
        if fault.reason == "duplicate-key" and fault.related is not None:
            first = self.place(fault.related[0])
            return self.at("c-twice", fault.start, name=fault.detail, line=first[0])
        keys = {"second-document": "c-documents", "unknown-alias": "c-alias", "complex-key": "c-complex-key"}
        return self.at(keys.get(fault.reason, "c-not-yaml"), fault.start, why=fault.detail or fault.reason)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, 1-based, of a byte; columns count characters."""
        before = self.data[:offset].decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        line = before.count("\n") + 1
        return line, len(before) - before.rfind("\n")

    def where(self, offset: int) -> str:
        """``path:line:column`` of a byte."""
        line, column = self.place(offset)
        return f"{self.path}:{line}:{column}"

    def at(self, key: str, offset: int, **values: object) -> BenchError:
        """An error at a place of the file."""
        return BenchError(key, where=self.where(offset), **values)
