"""Torch tests of a binding: one process a PE, each with its device, its data and its verdict."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import py
from opdev.syntax.tree import ancestor, ancestors, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_PE = ("pe", "rank", "pe_id", "rank_id", "local_rank", "my_pe", "mype", "local_pe")
_DRAW = re.compile(r"torch\.(?:rand|randn|randint|randperm|rand_like|randn_like|randint_like|normal|bernoulli)")
_COMPARE = ("equal", "allclose", "isclose", "array_equal")
_ENDS = re.compile(rb"\b(?:sys\.exit|os\._exit|SystemExit|raise|assert|quit|assert_\w+|assert[A-Z]\w*)\b")
_LOW_LEVEL = re.compile(
    r"aclshmemx?_(?:put|get|p|g|\w*(?:put|get)mem\w*|signal\w*|barrier\w*|quiet|fence|malloc|calloc|free|init\w*|finalize)\b\w*"
)


def _starts_processes(context: Context) -> bool:
    return not {b"Process", b"spawn", b"multiprocessing", b"Pool"}.isdisjoint(context.file.words)


def _is_binding_test(context: Context) -> bool:
    """Whether a file drives a SHMEM operator's binding, and not torch alone."""
    return not {b"ShmemOps", b"attr_init", b"load_library", b"classes"}.isdisjoint(context.file.words)


def same_seed_on_every_pe(context: Context) -> Iterator[Hit]:
    """Random input without a seed, or with one seed for every PE."""
    if not _is_binding_test(context):
        return
    seeds = py.calls(context, "manual_seed", "manual_seed_all")
    draws = [c for c in py.all_calls(context) if _DRAW.fullmatch(c.dotted) and "generator" not in c.keywords]
    if draws and not seeds and not re.search(rb"\b(?:set_seed|seed_everything|setup_seed)\b", context.code):
        place = draws[0].node.child_by_field_name("function") or draws[0].node
        yield Hit(place.start_byte, place.end_byte, "missing", {"name": draws[0].dotted})
    for call in seeds:
        node = call.args[0] if call.args else None
        function = py.function_of(call.node)
        if node is None or node.type != "integer" or function is None:
            continue
        pe = next((p for p in _parameters(context, function) if p in _PE), None)
        # A loop over all PEs after the seed makes everybody's data in every process: there it must be one seed.
        if (
            pe is None
            or _last_loop_over_pes(context, function) > call.end
            or not _draws_after(draws, function, call.end)
        ):
            continue
        seed = context.text(node)
        fix = Fix((Edit(node.start_byte, node.end_byte, f"{seed} + {pe}"),))
        yield Hit(node.start_byte, node.end_byte, args={"seed": seed, "pe": pe}, fix=fix)


def _parameters(context: Context, function: Node) -> list[str]:
    listed = function.child_by_field_name("parameters")
    return [] if listed is None else [context.text(n) for n in walk(listed) if n.type == "identifier"]


def _last_loop_over_pes(context: Context, function: Node) -> int:
    """Where a function's last loop (or comprehension) over all PEs begins, other than the worker's repeats; -1 for none."""
    return context.file.memo(
        ("torch_tests.loops", function.id), lambda: max(_loops_over_pes(context, function), default=-1)
    )


def _loops_over_pes(context: Context, function: Node) -> Iterator[int]:
    for node in walk(function):
        if node.type in ("for_statement", "for_in_clause"):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if (
                left is not None
                and right is not None
                and re.search(
                    r"pes?\b|rank|world|PES|size", context.text(left) + " " + context.text(right), re.IGNORECASE
                )
            ):
                yield node.start_byte


def _draws_after(draws: list[py.Call], function: Node, after: int) -> bool:
    index = bisect_left(draws, after, key=lambda draw: draw.start)
    return index < len(draws) and draws[index].start < function.end_byte


def missing_set_device(context: Context) -> Iterator[Hit]:
    """attr_init in a file that never binds the process to its device, or does so afterwards."""
    set_at = [c.start for c in py.calls(context, "set_device")]
    for call in py.calls(context, "attr_init"):
        function = py.function_of(call.node)
        begin, end = (function.start_byte, function.end_byte) if function is not None else (0, len(context.data))
        inside = [at for at in set_at if begin <= at < end]
        if inside and min(inside) > call.start:
            place = call.node.child_by_field_name("function") or call.node
            yield Hit(place.start_byte, place.end_byte, "late")
        elif not set_at and b"ASCEND_RT_VISIBLE_DEVICES" not in context.data:
            place = call.node.child_by_field_name("function") or call.node
            yield Hit(place.start_byte, place.end_byte)


def library_loaded_outside_worker(context: Context) -> Iterator[Hit]:
    """The operator library is loaded only below the main guard, which started processes do not run."""
    calls = py.calls(context, "load_library")
    if not calls or not _starts_processes(context):
        return
    if any(py.function_of(c.node) is not None or not _below_main(context, c.node) for c in calls):
        return
    spawn = re.search(rb"""['"]spawn['"]|\bmp\.spawn\b|multiprocessing\.spawn\b""", context.nocomment) is not None
    for call in calls:
        yield Hit(call.start, call.end, severity=None if spawn else "warning")


def _below_main(context: Context, node: Node) -> bool:
    for above in ancestors(node):
        if above.type == "if_statement":
            condition = above.child_by_field_name("condition")
            if condition is not None and "__main__" in context.text(condition):
                return True
    return False


def wrong_torch_library(context: Context) -> Iterator[Hit]:
    """The other build mode's library name."""
    parts = PurePosixPath(context.file.path).parts
    custom = "custom-ops" in parts
    if not custom and "examples" not in parts:
        return
    wrong, right = (
        ("aclshmem_torch.so", "shmem_custom_ops_torch.so")
        if custom
        else ("shmem_custom_ops_torch.so", "aclshmem_torch.so")
    )
    for match in re.finditer(rb"(?<![A-Za-z0-9_])(?:lib)?" + wrong.encode().replace(b".", rb"\."), context.nocomment):
        end = match.end()
        start = end - len(wrong)
        fix = Fix((Edit(start, end, right),))
        yield Hit(start, end, args={"wrong": wrong, "right": right}, fix=fix)


def missing_synchronize(context: Context) -> Iterator[Hit]:
    """compute() in a file that never waits for the device."""
    if b"synchronize" in context.file.words or not _is_binding_test(context):
        return
    for call in py.calls(context, "compute")[:1]:
        yield Hit(call.start, call.end, args={"name": call.dotted})


def result_only_printed(context: Context) -> Iterator[Hit]:
    """A comparison that ends in print, in a function that cannot fail."""
    if not _is_binding_test(context):
        return
    for call in py.calls(context, *_COMPARE):
        if call.dotted.split(".")[0] not in ("torch", "np", "numpy"):
            continue
        around = ancestor(call.node, "function_definition") or context.file.root
        if _ENDS.search(context.code, around.start_byte, around.end_byte) or _returns(around):
            continue
        function = call.node.child_by_field_name("function") or call.node
        yield Hit(function.start_byte, function.end_byte, args={"name": call.dotted})
        return


def _returns(around: Node) -> bool:
    """Whether a function hands something back: its caller may judge."""
    return any(node.type == "return_statement" and node.named_child_count for node in walk(around))


def ignored_child_exit_code(context: Context) -> Iterator[Hit]:
    """join() of started processes, and nobody asks how they ended."""
    if (
        not {b"exitcode", b"exitcodes", b"sentinel"}.isdisjoint(context.file.words)
        or b"Process" not in context.file.words
    ):
        return
    made = [c for c in py.calls(context, "Process") if c.dotted.split(".")[-1] == "Process"]
    if not made or re.search(rb"\b(?:Queue|Pipe|Value|Array|(?:mp|multiprocessing)\.Manager)\s*\(", context.code):
        return
    for call in py.calls(context, "join"):
        if call.args or call.keywords.keys() - {"timeout"} or call.node.parent is None:
            continue
        if call.node.parent.type != "expression_statement":
            continue
        owner = call.dotted.rpartition(".")[0]
        loop = ancestor(call.node, "for_statement", "function_definition")
        fix = None
        if loop is not None and loop.type == "for_statement":
            left, right = loop.child_by_field_name("left"), loop.child_by_field_name("right")
            if left is None or right is None or context.text(left) != owner or right.type != "identifier":
                continue
            fix = _raise_after(context, loop, owner, context.text(right))
        elif not re.search(rb"\b" + re.escape(owner.encode()) + rb"\s*=[^=][^\n]*Process\s*\(", context.code):
            continue
        yield Hit(call.start, call.end, args={"name": call.dotted}, fix=fix)


def _raise_after(context: Context, loop: Node, one: str, all_of: str) -> Fix | None:
    source = context.file.source
    row = source.line_of(loop.end_byte - 1)
    indent = context.data[source.line_starts[loop.start_point[0]] : loop.start_byte].decode("utf-8", "replace")
    behind = context.data[loop.end_byte : source.line_range(row)[1]].strip()
    if (
        indent.strip()
        or (behind and not behind.startswith(b"#"))
        or loop.child_by_field_name("alternative") is not None
    ):
        return None
    text = f"{indent}if any({one}.exitcode for {one} in {all_of}):\n{indent}    raise SystemExit(1)\n"
    if row + 1 < len(source.line_starts):
        at = source.line_starts[row + 1]
        return Fix((Edit(at, at, text),))
    at = len(context.data)
    return Fix((Edit(at, at, "\n" + text),))


def missing_finalize(context: Context) -> Iterator[Hit]:
    """attr_init in a file that never calls finalize."""
    if {b"finalize", b"aclshmem_finalize"} & context.file.words:
        return
    for call in py.calls(context, "attr_init")[:1]:
        function = call.node.child_by_field_name("function") or call.node
        yield Hit(function.start_byte, function.end_byte)


def fixed_pe_count(context: Context) -> Iterator[Hit]:
    """A test that starts PEs and takes no --pes."""
    if not _is_binding_test(context) or not _starts_processes(context):
        return
    if re.search(
        rb"""['"]--(?:pes|npes|n-?pes|pe[-_]size|world[-_]size|nproc)\b|\bsys\.argv\b|\bWORLD_SIZE\b""",
        context.nocomment,
    ):
        return
    for call in py.calls(context, "ArgumentParser", "Process", "spawn")[:1]:
        function = call.node.child_by_field_name("function") or call.node
        yield Hit(function.start_byte, function.end_byte)


def low_level_api_in_test(context: Context) -> Iterator[Hit]:
    """SHMEM's own transfers and synchronisation called from the test of a binding."""
    if not _is_binding_test(context):
        return
    for call in py.all_calls(context):
        if _LOW_LEVEL.fullmatch(call.name):
            function = call.node.child_by_field_name("function") or call.node
            yield Hit(function.start_byte, function.end_byte, args={"name": call.name})
    for one in py.imports(context):
        module = one.module if one.name is None else f"{one.module}.{one.name}"
        if re.match(r"shmem\.core\.(?:rma|direct)\b", module):
            yield Hit(one.node.start_byte, one.node.end_byte, args={"name": module})


def implicit_tolerance(context: Context) -> Iterator[Hit]:
    """torch.allclose and its like with the library's own tolerances."""
    for call in py.calls(context, "allclose", "isclose", "assert_close", "assert_allclose"):
        splat = any(a.type in ("list_splat", "dictionary_splat") for a in call.node.children[-1].named_children)
        if len(call.args) == 2 and not splat and not {"rtol", "atol"} & call.keywords.keys():
            function = call.node.child_by_field_name("function") or call.node
            yield Hit(function.start_byte, function.end_byte, args={"name": call.dotted})


def global_changed_under_main(context: Context) -> Iterator[Hit]:
    """A module variable set again below the main guard and read by the processes it starts."""
    if not _starts_processes(context):
        return
    first: dict[str, Node] = {}
    for assigned in _assignments(context):
        left = assigned.child_by_field_name("left")
        if left is None or left.type != "identifier" or not py.is_module_level(assigned):
            continue
        name = context.text(left)
        if not _below_main(context, assigned):
            first.setdefault(name, left)
            continue
        if name not in first:
            continue
        reader = _reader(context, name)
        if reader is not None:
            note = {
                "zh": f"{reader} 在子进程里读到的是这里的值",
                "en": f"in a started process {reader} reads this value",
            }
            related = (Related(first[name].start_byte, first[name].end_byte, note),)
            yield Hit(left.start_byte, left.end_byte, args={"name": name, "reader": reader}, related=related)


def _assignments(context: Context) -> list[Node]:
    return context.file.memo("py.assignments", lambda: [n for n in walk(context.file.root) if n.type == "assignment"])


def _reader(context: Context, name: str) -> str | None:
    """The first function that a started process runs and that reads a module variable."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    for function in context.file.memo("torch.workers", lambda: _worker_functions(context)):
        text = context.code[function.start_byte : function.end_byte].decode("utf-8", "replace")
        own = name in _parameters(context, function) or re.search(rf"(?m)^[ \t]*{re.escape(name)}[ \t]*=[^=]", text)
        named = function.child_by_field_name("name")
        if not own and named is not None and word.search(text):
            return context.text(named)
    return None


def _worker_functions(context: Context) -> list[Node]:
    """Functions that started processes run: the targets, and what they call in this file."""
    functions: dict[str, Node] = {}
    for node in context.file.root.named_children:
        inner = node.child_by_field_name("definition") if node.type == "decorated_definition" else node
        named = inner.child_by_field_name("name") if inner is not None and inner.type == "function_definition" else None
        if inner is not None and named is not None:
            functions[context.text(named)] = inner
    targets = [c.keywords.get("target") for c in py.calls(context, "Process")]
    targets += [c.args[0] for c in py.calls(context, "spawn") if c.args]
    todo = [context.text(t) for t in targets if t is not None]
    reached: dict[str, Node] = {}
    while todo:
        name = todo.pop()
        if name not in functions or name in reached:
            continue
        reached[name] = node = functions[name]
        todo += re.findall(r"\w+", context.code[node.start_byte : node.end_byte].decode("utf-8", "replace"))
    return sorted(reached.values(), key=lambda node: node.start_byte)
