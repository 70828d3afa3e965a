"""How specification, design, implementation, golden and test of a PyPTO operator agree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.facts import pypto_docs as docs
from opdev.facts.pypto_kernels import dynamic_names, functions, is_dynamic, is_stub, kernels, parameters
from opdev.facts.pypto_names import is_pro, named
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax.file import File
from opdev.syntax.py_values import constants

if TYPE_CHECKING:
    from tree_sitter import Node

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_INTEGERS = re.compile(rb"(?<![\w.])\d+(?![\w.])")
_CODE = re.compile(r"^(?P<tick>```|~~~)[^\n]*\n(?P<fence>.*?)^(?P=tick)|`(?P<span>[^`\n]+)`", re.MULTILINE | re.DOTALL)
_LOCAL = re.compile(r"(?<![\w.])[a-z_][a-z0-9_]*(?![\w(])")
_ASSIGNED = re.compile(rb"(?<![\w.])([a-z_]\w*)[ \t]*(?:\[[^\]\n]*\][ \t]*)?=(?!=)")
_FEWEST = 3
"""Names a design has to speak of before anything is made of it."""
_COMMON = frozenset(
    """import return pypto torch python kernel tensor wrapper golden output inputs outputs params shapes dtypes lambda
    assert global before result config matmul""".split()  # noqa: SIM905 - a page of quotes would be harder to read
)
_TRIVIAL = frozenset({"x", "y", "z", "i", "j", "k", "n", "m", "a", "b", "c", "out", "tmp", "idx"})
_SHAPE = re.compile(r"Tensor\(\s*(?:shape\s*=\s*)?(?:[\[(]([^\])]*)|(\w+)\s*[,)])")
_BARE = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?![\w.(])")
_STATIC = re.compile(rb"^(\w+)[ \t]*(?::[^=\n]*)?=[ \t]*(?:\w+\.)*STATIC\b", re.MULTILINE)
_KEYS = ("atol", "rtol", "mare_matrix", "mere_matrix", "rmse_matrix")


def _tests(context: Context) -> list[File]:
    if context.project is None:
        return []
    return [f for f in context.project.files("pypto-test") if not is_pro(f)]


def missing_dynamic_axis(context: Context) -> Iterator[Hit]:
    """A kernel without the dynamic axis its design declares."""
    from opdev.checks.pypto_loops import primary

    if is_stub(context.file):
        return
    names = dynamic_names(context)
    found = [k for k in primary(context) if k.tensors]
    if not found or any(is_dynamic(context.file, p.annotation, names) for k in found for p in k.tensors.values()):
        return
    told = {*constants(context.file), *(m.decode() for m in _STATIC.findall(context.code))}
    if any(_is_open(context, p.annotation, told) for k in found for p in k.tensors.values()):
        return
    design = docs.document(context.project, "pypto-design")
    front = docs.front_of(design) if design is not None else None
    axes = front.value("dynamic_axes") if front is not None else None
    where = found[0].name_node
    if isinstance(axes, list) and axes:
        related: tuple[Related, ...] = ()
        node = front.get("dynamic_axes") if front is not None else None
        if front is not None and node is not None and design is not None:
            note = {"zh": "设计声明的动态轴", "en": "the dynamic axes of the design"}
            related = (Related(*front.where(node), note, design.path),)
        args = {"name": found[0].name, "axes": ", ".join(map(str, axes))}
        yield Hit(where.start_byte, where.end_byte, "default", args, None, None, related)
    elif axes is None:
        yield Hit(where.start_byte, where.end_byte, "undeclared", {"name": found[0].name}, None, "hint")


def _is_open(context: Context, annotation: Node | None, told: set[str]) -> bool:
    """Whether an annotation leaves its axes to the call, or to names that nobody can tell from here."""
    written = context.text(annotation) if annotation is not None else ""
    shape = _SHAPE.search(written)
    if shape is not None and not told.issuperset(_BARE.findall(shape[1] or shape[2] or "")):
        return True
    return re.search(r"Tensor(?:\(\s*\)|\(\s*\[\s*\]|\s*$)|\.\.\.", written) is not None


def untraceable_design(context: Context) -> Iterator[Hit]:
    """A kernel that has next to none of the names its design speaks of."""
    found = [k for k in kernels(context) if not is_stub(context.file)]
    design = docs.document(context.project, "pypto-design")
    if not found or design is None:
        return
    told = {
        word
        for match in _CODE.finditer(design.data.decode("utf-8", "replace"))
        for word in _LOCAL.findall(match["fence"] or match["span"])
        if len(word) >= 3 and word not in _COMMON and ("_" in word or len(word) >= 6)
    }
    assigned = {
        match[1].decode()
        for kernel in found
        for match in _ASSIGNED.finditer(context.code, kernel.body.start_byte, kernel.body.end_byte)
    } - _TRIVIAL
    if len(told) < _FEWEST or not assigned or len(told & assigned) >= _FEWEST - 1:
        return
    where = found[0].name_node
    args = {"name": found[0].name, "told": ", ".join(sorted(told)[:5]), "count": len(told & assigned)}
    yield Hit(where.start_byte, where.end_byte, "default", args)


def untested_dtype(context: Context) -> Iterator[Hit]:
    """A dtype of the specification that no test has."""
    front = docs.front_of(context.file)
    node = front.get("supported_dtypes") if front is not None else None
    tests = _tests(context)
    if (
        front is None
        or node is None
        or node.kind != "sequence"
        or not tests
        or not docs.is_classic(context.file, context.project)
    ):
        return
    if any(b"SPEC" in f.nocomment for f in tests):
        return
    words = {w.lower() for f in tests for w in re.findall(r"[A-Za-z]\w+", f.nocomment.decode("utf-8", "replace"))}
    for child in node.children:
        name = docs.canonical(child.text)
        if name is None:
            continue
        spelled = {s for spelling in docs.DTYPES[name] for s in (spelling, f"dt_{spelling}")}
        if not any(w in spelled or any(re.search(rf"(?:^|_){re.escape(s)}(?:_|$)", w) for s in spelled) for w in words):
            yield Hit(*front.where(child), "default", {"dtype": child.text})


def untested_shape(context: Context) -> Iterator[Hit]:
    """A P0 shape of the specification that no test has."""
    front = docs.front_of(context.file)
    node = front.get("p0_shapes") if front is not None else None
    tests = _tests(context)
    if front is None or node is None or not tests or not docs.is_classic(context.file, context.project):
        return
    if any(b"SPEC" in f.nocomment for f in tests):
        return
    lines = [tuple(int(n) for n in found) for f in tests for found in _statements(f)]
    for shape, where in docs.shape_nodes(node):
        if len(shape) > 1 and not any(_has(line, shape) for line in lines):
            yield Hit(*front.where(where), "default", {"shape": "[" + ", ".join(map(str, shape)) + "]"})


def _statements(file: File) -> Iterator[list[bytes]]:
    """The integers of every logical line: a call over several lines is one."""
    code = file.nocomment
    depth = start = 0
    for at, byte in enumerate(code):
        if byte in b"([{":
            depth += 1
        elif byte in b")]}":
            depth = max(depth - 1, 0)
        elif byte == 10 and not depth:
            yield _INTEGERS.findall(code, start, at)
            start = at
    yield _INTEGERS.findall(code, start)


def _has(line: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether a line has the numbers of a shape one behind the other, others between them allowed."""
    rest = iter(line)
    return all(any(n == wanted for n in rest) for wanted in shape)


def tolerance_drift(context: Context) -> Iterator[Hit]:
    """A test that is much less strict than the specification."""
    name = named(context.file.path)
    if name is None or name.part != "test" or is_pro(context.file) or context.project is None:
        return
    spec = docs.document(context.project, "pypto-spec")
    front = docs.front_of(spec) if spec is not None else None
    node = front.get("tolerance") if front is not None else None
    value = docs.plain(node) if node is not None else None
    if front is None or spec is None or node is None or not isinstance(value, dict):
        return
    limits = {key: min(found) for key in _KEYS if (found := list(_numbers(value.get(key))))}
    for start, end in context.spans(_DRIFT, "nocomment"):
        match = _DRIFT.match(context.nocomment, start, end)
        if match is None:
            continue
        key = match["key"].decode()
        limit = limits.get(key)
        given = float(match["number"])
        if limit is not None and limit >= 0 and given > 3 * limit:
            note = {"zh": "SPEC 的容差", "en": "the tolerance of the specification"}
            related = (Related(*front.where(node), note, spec.path),)
            args = {"key": key, "given": match["number"].decode(), "limit": f"{limit:g}"}
            yield Hit(match.start("number"), match.end("number"), "default", args, None, None, related)


_DRIFT = re.compile(
    rb"(?<![\w.])(?P<key>atol|rtol|mare_matrix|mere_matrix|rmse_matrix)['\"]?[ \t]*[=:][ \t]*(?P<number>\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)(?![\w.]|[ \t]*[-+*/])"
)


def _numbers(value: object) -> Iterator[float]:
    if (isinstance(value, (int, float)) and not isinstance(value, bool)) or (
        isinstance(value, str) and _NUMBER.fullmatch(value.strip())
    ):
        yield float(value)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _numbers(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from _numbers(one)


def arity_mismatch(context: Context) -> Iterator[Hit]:
    """A wrapper that takes other arguments than its golden."""
    name = named(context.file.path)
    if name is None or name.part != "impl" or context.project is None or is_stub(context.file):
        return
    own = f"{name.op}_module{name.suffix}" if name.suffix else name.op
    golden = next((f for f in context.project.files("pypto-golden") if f.path.endswith(f"/{own}_golden.py")), None)
    if golden is None:
        return
    mine = functions(context.file).get(f"{own}_wrapper")
    other = functions(golden).get(f"{own}_golden")
    if mine is None or other is None:
        return
    here, there = _required(context.file, mine), _required(golden, other)
    if here is None or there is None or len(here) == len(there):
        return
    where, target = mine.child_by_field_name("name"), other.child_by_field_name("name")
    if where is None or target is None:
        return
    note = {"zh": f"golden 需要 {', '.join(there)}", "en": f"the golden needs {', '.join(there)}"}
    args = {"wrapper": f"{own}_wrapper", "golden": f"{own}_golden", "mine": len(here), "other": len(there)}
    related = (Related(target.start_byte, target.end_byte, note, golden.path),)
    yield Hit(where.start_byte, where.end_byte, "default", args, None, None, related)


def _required(file: File, function: Node) -> list[str] | None:
    """The parameters a function has to be given; None where it takes any."""
    found = []
    for parameter in parameters(file, function):
        if parameter.role == "star":
            return None
        if parameter.default is None and parameter.role != "keyword" and parameter.name not in ("self", "cls"):
            found.append(parameter.name)
    return found


__all__ = ["arity_mismatch", "missing_dynamic_axis", "tolerance_drift", "untested_dtype", "untested_shape"]
