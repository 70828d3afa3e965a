"""The documents of a PyPTO operator: their front matter with places, their sections, what they declare.

SPEC.md says what the operator must do, DESIGN.md how, API_REPORT.md with which interfaces.  They stand
beside the code, in ``docs/`` or in ``SPEC/``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from opdev.design.compose import Composer
from opdev.design.markdown import Heading, headings
from opdev.design.nodes import Fault, Node
from opdev.design.recover import read
from opdev.design.text import FenceText
from opdev.facts.pypto_names import named
from opdev.facts.pypto_state import operator_name, state_of
from opdev.kinds import Kind
from opdev.source import Source
from opdev.syntax.file import File

_FRONT = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(?P<body>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_PRO_WORDS = re.compile(rb"pypto_pro|PyPTO-Pro|json machine-contract|\bpl\.jit\b")
_BARE_KEY = re.compile(r"([{,]\s*)([A-Za-z_]\w*)(\s*:)")
MODES = {"standard": ("atol", "rtol"), "custom_metrics": ("mare_matrix", "mere_matrix", "rmse_matrix")}
"""What a tolerance has to hold: all keys of one mode."""
DTYPES: dict[str, tuple[str, ...]] = {
    "fp32": ("float32", "fp32", "float"),
    "fp16": ("float16", "fp16", "half"),
    "bf16": ("bfloat16", "bf16"),
    "fp64": ("float64", "fp64", "double"),
    "int8": ("int8",),
    "int16": ("int16", "short"),
    "int32": ("int32", "int"),
    "int64": ("int64", "long"),
    "uint8": ("uint8",),
    "uint16": ("uint16",),
    "uint32": ("uint32",),
    "uint64": ("uint64",),
    "bool": ("bool",),
    "fp8e4m3": ("float8_e4m3fn", "fp8e4m3", "float8_e4m3"),
    "fp8e5m2": ("float8_e5m2", "fp8e5m2"),
    "hif8": ("hif8", "hf8"),
    "int4": ("int4",),
}
_DTYPE_OF = {spelling: name for name, spellings in DTYPES.items() for spelling in spellings}


class Files(Protocol):
    """What an operator has to offer to be asked for its documents."""

    @property
    def name(self) -> str: ...

    def files(self, *kinds: str) -> Iterable[File]: ...


@dataclass(frozen=True)
class Front:
    """A document's front matter: ``[start, end)`` with its marks, ``root`` with offsets from ``base``."""

    start: int
    end: int
    base: int
    root: Node | None
    faults: tuple[Fault, ...] = ()

    def get(self, key: str) -> Node | None:
        return self.root.get(key) if self.root is not None else None

    def where(self, node: Node) -> tuple[int, int]:
        """A value's place in the document."""
        start, end = node.where
        return start + self.base, end + self.base

    def value(self, key: str) -> object:
        """A value as plain data; text that is a list or mapping in quotes is read as one."""
        node = self.get(key)
        return plain(node) if node is not None else None


def front_of(file: File) -> Front | None:
    """The front matter of a document; None without one."""

    def make() -> Front | None:
        match = _FRONT.match(file.data)
        if match is None:
            return None
        inner = File(Source(f"{file.path}#front", match["body"]), Kind("yaml", frozenset()))
        composer = Composer(FenceText(inner))
        root = read(composer)
        return Front(match.start(), match.end(), match.start("body"), root, tuple(composer.faults))

    return file.memo("pypto.front", make)


def plain(node: Node) -> object:
    """A node as plain data; a quoted list or mapping (``"{'atol': 0.001}"``) as what it holds."""
    value = node.data()
    if isinstance(value, str) and value.strip()[:1] in ("{", "["):
        for text in (value, _BARE_KEY.sub(r'\1"\2"\3', value)):
            try:
                found: object = ast.literal_eval(text.strip())
                return found
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
    return value


def sections(file: File) -> list[Heading]:
    """The headings of a document, those in fences left out."""
    front = front_of(file)
    return file.memo("pypto.sections", lambda: headings(file.data, front.end if front is not None else 0))


def section(file: File, *words: str) -> Heading | None:
    """The first heading that has one of ``words`` in it (case aside)."""
    for heading in sections(file):
        if any(word in heading.title.lower() for word in words):
            return heading
    return None


def body_of(file: File, heading: Heading) -> str:
    """A section's text below its heading."""
    return file.data[heading.end : heading.stop].decode("utf-8", "replace")


def document(project: Files | None, kind: str) -> File | None:
    """An operator's document of a kind; the shortest path where there are several."""
    if project is None:
        return None
    found = sorted(project.files(kind), key=lambda f: (f.path.count("/"), f.path))
    return found[0] if found else None


def is_classic(file: File, project: Files | None) -> bool:
    """Whether a document is one of classic PyPTO's workflow, not of PyPTO-Pro's."""
    if _PRO_WORDS.search(file.data):
        return False
    if project is None:
        return True
    state = state_of(project)
    limit = state.get("max_stage") if state is not None else None
    stages = limit.data() if limit is not None else None
    if isinstance(stages, int) and stages < 7:
        return False
    for one in project.files("pypto", "pypto-golden", "pypto-test"):
        if one.path.endswith("_golden_cpu.py") or b"pypto_pro" in one.data:
            return False
    return True


def operator_names(project: Files | None) -> list[str]:
    """What an operator may be called: by its state, its implementation, golden and test, its folder; the surest first."""
    if project is None:
        return []
    found = [operator_name(project)]
    for file in project.files("pypto-impl", "pypto-golden", "pypto-test"):
        name = named(file.path)
        if name is not None and not name.suffix:
            found.append(name.op)
    return list(dict.fromkeys(name for name in (*found, project.name) if name))


def canonical(dtype: object) -> str | None:
    """``torch.bfloat16``, ``DT_BF16`` and ``bf16`` are ``bf16``; None for what is no dtype known."""
    text = str(dtype).strip().lower().removeprefix("torch.").removeprefix("pypto.").removeprefix("dt_")
    return _DTYPE_OF.get(text)


def shapes(value: object) -> list[tuple[int, ...]] | None:
    """P0 shapes as lists of integers, those nested in cases and mappings too; None where nothing is one."""
    found: list[tuple[int, ...]] = []

    def collect(one: object) -> None:
        if isinstance(one, (list, tuple)):
            if one and all(isinstance(n, int) and not isinstance(n, bool) for n in one):
                found.append(tuple(one))
            else:
                for inner in one:
                    collect(inner)
        elif isinstance(one, dict):
            for inner in one.values():
                collect(inner)

    collect(value)
    return found or None


def shape_nodes(node: Node) -> Iterator[tuple[tuple[int, ...], Node]]:
    """(shape, its node) of every list of integers in a node."""
    for one in node.walk():
        if one.kind == "sequence" and one.children and all(c.kind == "scalar" and c.tag == "int" for c in one.children):
            values = [c.data() for c in one.children]
            yield tuple(v for v in values if isinstance(v, int)), one


def tolerance_mode(value: object) -> str | None:
    """Which mode a tolerance is: all keys of one are there."""
    if not isinstance(value, dict):
        return None
    return next((mode for mode, keys in MODES.items() if all(key in value for key in keys)), None)
