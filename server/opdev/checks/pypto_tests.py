"""Tests of classic PyPTO operators: what they import, where they run, how they compare, what they reach."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.facts.pypto_kernels import functions, kernels, reached
from opdev.facts.pypto_names import Named, first_code, impl_imports, is_classic_test, named, test_functions
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax import py
from opdev.syntax.file import File

if TYPE_CHECKING:
    from tree_sitter import Node

_COMPARES = ("assert_allclose", "detailed_tensor_compare")
_HANDED_OVER = ("set_verify_golden_data", "set_verify_goldens")
_BY_HAND = re.compile(
    rb"\bassert\b[^\n]*(?:\.abs\s*\(|\babs\s*\(|\.max\s*\(|\bdiff|\berr|allclose\s*\(|\.equal\s*\(|\.all\s*\()"
)
_REFERENCE = re.compile(r"golden|reference|_ref\b|^ref_")
_OWN = re.compile(
    r"(?!_?(?:set|get|enable|disable|is|has|make)_|\w*check_(?:arg|input|param|device|npu|env))\w*(?:compare|allclose|assert_|check|verif)"
)
_RANDOM = (
    "randn",
    "rand",
    "randint",
    "randperm",
    "uniform_",
    "normal_",
    "rand_like",
    "randn_like",
    "normal",
    "uniform",
)
_SEEDS = re.compile(rb"(?<!\w)(?:manual_seed(?:_all)?|default_rng|RandomState|seed(?:_everything|_all)?|set_seed)\s*\(")
_LEVEL = {
    "level0": re.compile(r"level_?0|(?:^|_)l0(?:_|$)|功能_p0|func_p0|test_p0", re.IGNORECASE),
    "level1": re.compile(r"level_?1|(?:^|_)l1(?:_|$)|性能_p0|perf_p0", re.IGNORECASE),
}
_DEVICE = "TILE_FWK_DEVICE_ID"


def _test(context: Context) -> Named | None:
    """The test's name, where it is one of a classic operator."""
    name = named(context.file.path)
    if name is None or name.part != "test" or not is_classic_test(context.file, context.project):
        return None
    return name


def _where(context: Context) -> tuple[int, int]:
    """The first test's name, else the first line of code."""
    first = next(iter(test_functions(context.file).values()), None)
    return (first.start_byte, first.end_byte) if first is not None else first_code(context.file)


def kernel_in_test(context: Context) -> Iterator[Hit]:
    """A kernel defined where the operator is tested."""
    found = kernels(context)
    if found and _test(context) is not None:
        for kernel in found:
            where = kernel.name_node
            yield Hit(where.start_byte, where.end_byte, "default", {"name": kernel.name})


def incomplete_imports(context: Context) -> Iterator[Hit]:
    """A test that does not import what it tests, or what it tests against."""
    name = _test(context)
    if name is None:
        return
    own = f"{name.op}_module{name.suffix}" if name.suffix else name.op
    words = {
        part: re.compile(
            rf"(?:.*[./])?{re.escape(own)}_(?:\w+_)?{part}(?:_\w+)?|(?:.*[./])?{re.escape(name.op)}_{part}\w*"
        )
        for part in ("impl", "golden")
    }
    seen = [one.module for one in py.imports(context)] + [one.name for one in py.imports(context) if one.name]
    seen += [value for call in py.calls(context, "import_module", "__import__") if (value := _literal(context, call))]
    lacking = [f"{own}_{part}" for part, pattern in words.items() if not any(pattern.fullmatch(s) for s in seen)]
    if lacking and functions(context.file):
        args = {"modules": "、".join(lacking), "modules_en": " and ".join(lacking)}
        own_reference = lacking == [f"{own}_golden"] and any(_REFERENCE.search(n) for n in functions(context.file))
        key, severity = ("inline", "warning") if own_reference else ("default", None)
        yield Hit(*first_code(context.file), key, args, None, severity)  # type: ignore[arg-type]


def _literal(context: Context, call: py.Call) -> str | None:
    return py.string_value(context.file, call.args[0]) if call.args else None


def no_comparison_helper(context: Context) -> Iterator[Hit]:
    """A test that compares by hand, or not at all."""
    if _test(context) is None or not functions(context.file):
        return
    if any(word in context.code for word in (b"assert_allclose", b"detailed_tensor_compare")) and any(
        True for name in _COMPARES for _ in context.find(name)
    ):
        return
    if any(True for name in _HANDED_OVER for _ in context.find(name)):
        return  # PyPTO itself compares what the kernel computes with these.
    by_hand = [m for m in _BY_HAND.finditer(context.code) if _statement(context, m.start()) is not None]
    for match in by_hand:
        node = _statement(context, match.start())
        if node is not None:
            yield Hit(node.start_byte, _line_end(context, node), "default")
    if by_hand:
        return
    own = next((call for call in py.all_calls(context) if _OWN.match(call.name)), None)
    if own is not None:
        callee = own.node.child_by_field_name("function")
        yield Hit(own.start, callee.end_byte if callee else own.end, "own", {"name": own.dotted}, None, "info")
    else:
        yield Hit(*_where(context), "none")


def _statement(context: Context, at: int) -> Node | None:
    node = context.node_at(at, at + 6)
    return node if node is not None and node.type == "assert_statement" else None


def _line_end(context: Context, node: Node) -> int:
    stop = context.data.find(b"\n", node.start_byte)
    return min(node.end_byte, stop if stop >= 0 else node.end_byte)


def fixed_device(context: Context) -> Iterator[Hit]:
    """A test that does not run on the device it is told to."""
    if _test(context) is None or not functions(context.file):
        return
    if any(
        "device" in (one.name or one.module).lower() and one.module.split(".")[0] != "torch"
        for one in py.imports(context)
    ):
        return
    if context.project is None and b"npu" not in context.data:
        return  # of no operator, and nothing in it says that it runs on a device
    reads = any(True for _ in context.find(_DEVICE, text=context.nocomment))
    sets = py.calls(context, "set_device")
    if reads and sets:
        return
    number = next((a for call in sets for a in call.args if a.type == "integer"), None)
    if number is not None:
        args = {"number": context.text(number)}
        yield Hit(number.start_byte, number.end_byte, "number", args)
    elif sets:
        yield Hit(sets[0].start, sets[0].end, "id")
    else:
        yield Hit(*_where(context), "set" if reads else "default")


def missing_level(context: Context) -> Iterator[Hit]:
    """A test file without cases of a level."""
    if _test(context) is None:
        return
    tests = test_functions(context.file)
    if not tests:
        return
    whole = context.nocomment.decode("utf-8", "replace")
    lacking = [
        level
        for level, pattern in _LEVEL.items()
        if not any(pattern.search(name) for name in functions(context.file))
        and not any(pattern.search(name) for name in tests)
        and level not in whole
        and not any(word in whole.lower() for word in _MARKS[level])
    ]
    if lacking:
        last = list(tests.values())[-1]
        args = {"levels": "、".join(lacking), "levels_en": " and ".join(lacking)}
        yield Hit(last.start_byte, last.end_byte, "default", args)


_MARKS = {"level0": ("功能_p0", "func_p0", "test_p0"), "level1": ("性能_p0", "perf_p0")}


def unseeded_test(context: Context) -> Iterator[Hit]:
    """Random inputs that are others every time."""
    if _test(context) is None or _SEEDS.search(context.code):
        return
    for call in py.calls(context, *_RANDOM):
        if "." in call.dotted and "generator" not in call.keywords:
            yield Hit(call.start, call.end, "default", {"written": call.dotted})
            return


def simulated_test(context: Context) -> Iterator[Hit]:
    """A run mode that is the simulator unless somebody says otherwise."""
    if _test(context) is None:
        return
    for at in context.find("sim", text=context.nocomment):
        node = context.node_at(at, at + 3)
        while node is not None and node.type != "string":
            node = node.parent
        parent = node.parent if node is not None else None
        if node is None or parent is None or py.string_value(context.file, node) != "sim":
            continue
        if parent.type == "keyword_argument":
            name = parent.child_by_field_name("name")
        elif parent.type in ("assignment", "default_parameter", "typed_default_parameter"):
            name = parent.child_by_field_name("left") or parent.child_by_field_name("name")
        else:
            continue
        if name is not None and context.text(name) in ("default", "run_mode"):
            yield Hit(node.start_byte, node.end_byte, "default", {"name": context.text(name)})


def bypassed_kernel(context: Context) -> Iterator[Hit]:
    """A test none of whose entries into the implementation reaches a kernel."""
    if context.project is None or _test(context) is None:
        return
    files = {f.path.rpartition("/")[2].removesuffix(".py"): f for f in context.project.files("pypto-impl")}
    entries: dict[str, dict[tuple[str, str], py.Call]] = {}
    seen: set[tuple[str, str | None, str]] = set()
    for one in impl_imports(context.file):
        if (one.module, one.name, one.bound) in seen:
            continue
        seen.add((one.module, one.name, one.bound))
        stem = one.module.rpartition(".")[2]
        if stem in files and one.name not in (None, "*"):
            for call in py.calls(context, one.bound):
                if call.dotted == one.bound:
                    entries.setdefault(stem, {}).setdefault((one.name or "", call.dotted), call)
                    break
            continue
        stem = one.name or stem
        if stem in files:
            prefix = one.bound if one.name is not None or one.bound != one.module.split(".")[0] else one.module
            for name in functions(files[stem]):
                call_ = next((c for c in py.calls(context, f"{prefix}.{name}") if c.dotted == f"{prefix}.{name}"), None)
                if call_ is not None:
                    entries.setdefault(stem, {}).setdefault((name, call_.dotted), call_)
    for stem, called in entries.items():
        file = files[stem]
        known = {key: call for key, call in called.items() if key[0] in functions(file)}
        if not any(_reaches(file, name) for name in {name for name, _ in known}):
            yield from (_bypass(file, name, call) for (name, _), call in known.items())


def _reaches(file: File, name: str) -> bool:
    """Whether a function of an implementation comes to a kernel, or may do so out of sight."""
    traced = kernels(Context(file, 0, len(file.data)))
    if not traced:
        return False
    places = {kernel.node.start_byte for kernel in traced}
    names = {kernel.name for kernel in traced}
    graph = list(reached(file, [functions(file)[name]]).values())
    return any(node.start_byte in places or _names_kernel(file, node, names) for node in graph) or _may_lead_on(
        file, graph
    )


def _bypass(file: File, name: str, call: py.Call) -> Hit:
    entry = functions(file)[name]
    function = call.node.child_by_field_name("function")
    stop = function.end_byte if function is not None else call.end
    stem = file.path.rpartition("/")[2]
    where = entry.child_by_field_name("name") or entry
    note = {"zh": f"{stem} 里的 {name}", "en": f"{name} in {stem}"}
    key = "default" if kernels(Context(file, 0, len(file.data))) else "none"
    related = (Related(where.start_byte, where.end_byte, note, file.path),)
    return Hit(call.start, stop, key, {"name": name, "file": stem}, None, None, related)


def _names_kernel(file: File, node: Node, names: set[str]) -> bool:
    """Whether a function names a kernel at all: it may launch it by any way."""
    words = set(re.findall(r"\w+", file.code[node.start_byte : node.end_byte].decode("utf-8", "replace")))
    return not words.isdisjoint(names)


def _may_lead_on(file: File, graph: list[Node]) -> bool:
    """Whether a function calls through something whose target is not in the file: an operator registered with torch, another module."""
    whole = Context(file, 0, len(file.data))
    brought = {
        o.bound
        for o in py.imports(whole)
        if o.module.split(".")[0] not in ("torch", "pypto", "math", "numpy", "typing")
    }
    for node in graph:
        code = file.code[node.start_byte : node.end_byte].decode("utf-8", "replace")
        if "torch.ops." in code or ".apply(" in code:
            return True
        if any(re.search(rf"(?<![\w.]){re.escape(name)}(?:\.\w+)*\s*\(", code) for name in brought):
            return True
    return False
