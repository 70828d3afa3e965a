"""Scripts that make input and golden data: seeds, dtypes, and what differs from PE to PE."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.import_add import add_import, binds
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import py
from opdev.syntax.tree import ancestors, walk

if TYPE_CHECKING:
    from tree_sitter import Node

SEED = 42
# By library: how its global generator is seeded, and the calls that draw from it.
_DRAWS = {
    "numpy": re.compile(
        r"(?:np|numpy)\.random\.(?:rand|randn|randint|random|random_sample|ranf|sample|uniform|normal|standard_normal"
        r"|choice|permutation|shuffle|integers|binomial|poisson|exponential|bytes)"
    ),
    "torch": re.compile(r"torch\.(?:rand|randn|randint|randperm|rand_like|randn_like|randint_like|normal|bernoulli|multinomial)"),
    "random": re.compile(r"random\.(?:random|randint|uniform|choice|choices|sample|shuffle|gauss|randrange)"),
}  # fmt: skip
_SEEDS = {
    "numpy": re.compile(r"(?:np|numpy)\.random\.(?:seed|set_state)|set_seed|seed_everything|setup_seed"),
    "torch": re.compile(r"(?:torch\.(?:\w+\.)*)?(?:manual_seed|manual_seed_all)|torch\.set_rng_state|set_seed|seed_everything|setup_seed"),
    "random": re.compile(r"random\.seed|set_seed|seed_everything|setup_seed"),
}  # fmt: skip
_SEED_LINE = {"numpy": "np.random.seed({})", "torch": "torch.manual_seed({})", "random": "random.seed({})"}
_PE = re.compile(r"(?:pe|rank|pe_id|rank_id|my_pe|mype|pe_idx|local_rank|local_pe|device_id|npu_id)", re.IGNORECASE)
_SEEDERS = ("seed", "manual_seed", "default_rng", "RandomState")


def unseeded_random_data(context: Context) -> Iterator[Hit]:
    """The first draw from each library's global generator in a script that never seeds it."""
    # A module other scripts import is seeded by them.
    if not _is_script(context):
        return
    every = py.all_calls(context)
    for library, draws in _DRAWS.items():
        drawn = [c for c in every if draws.fullmatch(c.dotted) and "generator" not in c.keywords]
        if drawn and not any(_SEEDS[library].fullmatch(c.dotted) for c in every):
            yield _unseeded(context, drawn[0], library)
    for call in every:
        # A generator of one's own without a seed.
        if call.dotted.endswith((".default_rng", ".RandomState")) or call.dotted in ("default_rng", "RandomState"):
            arguments = call.node.child_by_field_name("arguments")
            given = [a for a in (*call.args, *call.keywords.values()) if context.text(a) != "None"]
            if arguments is not None and not given:
                pe = _pe_at(context, call.node)
                seed = f"{SEED} + {pe}" if pe else str(SEED)
                edit = Edit(arguments.start_byte, arguments.end_byte, f"({seed})")
                args = {"name": call.dotted, "library": "numpy", "seed": seed}
                yield Hit(call.start, call.end, "generator", args, Fix((edit,), "generator"))


def _pe_at(context: Context, node: Node) -> str:
    """What the PE is called here: one seed for all of them would give each the same data."""
    loop = _pe_loop(context, node)
    if loop is not None:
        return context.text(loop.child_by_field_name("left"))  # type: ignore[arg-type]  # a for statement has one
    function = py.function_of(node)
    parameters = function.child_by_field_name("parameters") if function is not None else None
    for parameter in parameters.named_children if parameters is not None else ():
        name = (
            parameter
            if parameter.type == "identifier"
            else parameter.named_children[0]
            if parameter.named_children
            else None
        )
        if name is not None and name.type == "identifier" and _PE.fullmatch(context.text(name)):
            return context.text(name)
    return ""


def _is_script(context: Context) -> bool:
    if b"__main__" in context.nocomment or b"ArgumentParser" in context.code:
        return True
    return any(py.is_module_level(call.node) for call in py.calls(context, "tofile", "save"))


def _unseeded(context: Context, call: py.Call, library: str) -> Hit:
    function = call.node.child_by_field_name("function") or call.node
    line = _SEED_LINE[library].format(SEED)
    args = {"name": call.dotted, "library": library, "line": line}
    root = call.dotted.split(".", 1)[0]
    fix = None
    if any(one.bound == root and py.is_module_level(one.node) for one in py.imports(context)):
        edit = add_import(context, "\n" + line.replace("np.", root + ".", 1) if library == "numpy" else "\n" + line)
        fix = Fix((edit,)) if edit is not None else None
    return Hit(function.start_byte, function.end_byte, args=args, fix=fix)


def other_seed(context: Context) -> Iterator[Hit]:
    """A constant seed that is not 42."""
    for call in py.calls(context, "seed", "manual_seed", "manual_seed_all", "default_rng", "RandomState"):
        node = call.args[0] if call.args else call.keywords.get("seed")
        if node is not None and node.type == "integer" and context.text(node) != str(SEED):
            args = {"seed": context.text(node)}
            yield Hit(
                node.start_byte, node.end_byte, args=args, fix=Fix((Edit(node.start_byte, node.end_byte, str(SEED)),))
            )


def same_data_on_every_pe(context: Context) -> Iterator[Hit]:
    """A constant seed set again for each PE, so that every PE draws the same numbers."""
    for call in py.calls(context, *_SEEDERS):
        node = call.args[0] if call.args else None
        if node is None or node.type not in ("integer", "identifier"):
            continue
        loop = _pe_loop(context, call.node)
        if loop is None:
            continue
        variable = context.text(loop.child_by_field_name("left"))  # type: ignore[arg-type]  # a for statement has one
        seed = context.text(node)
        if seed == variable or _assigned_in(context, loop, seed) or _data_differs(context, loop, variable, call.end):
            continue
        edit = Edit(node.start_byte, node.end_byte, f"{seed} + {variable}")
        yield Hit(node.start_byte, node.end_byte, args={"seed": seed, "pe": variable}, fix=Fix((edit,)))


def _pe_loop(context: Context, node: Node) -> Node | None:
    """The innermost loop over PEs around a node, in the same function."""
    for above in ancestors(node):
        if above.type in ("function_definition", "lambda"):
            return None
        if above.type == "for_statement":
            left = above.child_by_field_name("left")
            if left is not None and left.type == "identifier" and _PE.fullmatch(context.text(left)):
                return above
    return None


def _assigned_in(context: Context, loop: Node, name: str) -> bool:
    """Whether the loop itself changes the variable the seed is read from."""
    text = context.data[loop.start_byte : loop.end_byte].decode("utf-8", "replace")
    return not name.isdigit() and re.search(rf"\b{re.escape(name)}\s*[-+*]?=", text) is not None


def _data_differs(context: Context, loop: Node, variable: str, after: int) -> bool:
    """Whether the PE enters the data by arithmetic, a call or an index, not only by a file's name."""
    for node in walk(loop):
        if node.type != "identifier" or node.start_byte < after or context.text(node) != variable:
            continue
        for above in ancestors(node):
            if above.type in ("interpolation", "string") or above == loop:
                break
            if above.type == "binary_operator" and above.children[0].type == "string":
                break
            if above.type in ("binary_operator", "comparison_operator", "unary_operator", "if_statement", "subscript"):
                return True
            if above.type == "call":
                function = above.child_by_field_name("function")
                name = context.text(function) if function is not None else ""
                if not re.search(r"(?:join|str|format|print|tofile|save|open|Path|makedirs|exists|info)$", name):
                    return True
    return False


def numpy_bfloat16(context: Context) -> Iterator[Hit]:
    """``np.bfloat16``, which numpy does not have."""
    for at in context.find("bfloat16"):
        node = context.file.root.named_descendant_for_byte_range(at, at + 7)
        parent = node.parent if node is not None else None
        owner = parent.child_by_field_name("object") if parent is not None and parent.type == "attribute" else None
        if parent is None or owner is None or context.text(owner) not in ("np", "numpy"):
            continue
        args = {"name": context.text(parent)}
        yield Hit(parent.start_byte, parent.end_byte, args=args, fix=_ml_dtypes(context, parent))


def _ml_dtypes(context: Context, node: Node) -> Fix | None:
    how = context.file.memo("golden.ml_dtypes", lambda: _how_to_name(context))
    return Fix((*how[0], Edit(node.start_byte, node.end_byte, how[1]))) if how is not None else None


def _how_to_name(context: Context) -> tuple[tuple[Edit, ...], str] | None:
    """The import to add for the type of ml_dtypes, and its name; None where there is no place for one."""
    if binds(context, "ml_dtypes"):
        return (), "ml_dtypes.bfloat16"
    if any(one.bound == "bfloat16" and one.module == "ml_dtypes" for one in py.imports(context)):
        return (), "bfloat16"
    added = add_import(context, "import ml_dtypes")
    return ((added,), "ml_dtypes.bfloat16") if added is not None else None


def hardcoded_dtype(context: Context) -> Iterator[Hit]:
    """``fromfile`` with a float type written out instead of the one the case asks for."""
    configurable = re.search(
        rb"""--dtype\b|\[['"](?:numpy_)?dtype['"]\]|\bargs\.\w*dtype\b|\b(?:out_)?dtype['"]""", context.data
    )
    for call in py.calls(context, "fromfile"):
        node = call.keywords.get("dtype") or (call.args[1] if len(call.args) > 1 else None)
        name = context.text(node) if node is not None else ""
        literal = re.fullmatch(
            r"""(?:(?:np|numpy|ml_dtypes)\.)?(?P<t>float16|half|float32|single|bfloat16)|['"](?P<s>float16|float32|bfloat16)['"]""",
            name,
        )
        if node is None or literal is None or _in_branch(context, call.node) or _only_hashed(context, call.node):
            continue
        kind = literal["t"] or literal["s"]
        statement = next((a for a in ancestors(call.node) if a.type.endswith("_statement")), call.node)
        # The golden is float32 by the precision standard, whatever the case's type.
        if kind in ("float32", "single") and re.search(
            r"golden|expect|ref|baseline|scale", context.text(statement), re.IGNORECASE
        ):
            continue
        yield Hit(
            node.start_byte,
            node.end_byte,
            "default" if configurable else "fixed",
            {"dtype": kind},
            None,
            None if configurable else "warning",
        )


def _only_hashed(context: Context, node: Node) -> bool:
    """Whether the array is only a bag of bytes: every later use hands it to a digest or takes its bytes."""
    stored = node.parent
    target = stored.child_by_field_name("left") if stored is not None and stored.type == "assignment" else None
    if target is None or target.type != "identifier":
        return False
    name = context.text(target).encode()
    all_uses, all_hashed = context.file.memo(("golden.uses", name), lambda: _uses(context.code, re.escape(name)))
    uses = len(all_uses) - bisect_left(all_uses, node.end_byte)
    hashed = len(all_hashed) - bisect_left(all_hashed, node.end_byte)
    return 0 < uses == hashed


def _uses(code: bytes, name: bytes) -> tuple[list[int], list[int]]:
    """Where an array is used, and where it is handed to a digest or its bytes are taken."""
    used = re.finditer(rb"(?<![\w.])" + name + rb"\b(?!\s*=[^=])", code)
    hashed = re.finditer(rb"\b(?:hashlib\.)?(?:md5|sha1|sha256|sha512|crc32|adler32)\(\s*" + name + rb"\b|(?<![\w.])" + name + rb"\.tobytes\(", code)  # fmt: skip
    return [m.start() for m in used], [m.start() for m in hashed]


def _in_branch(context: Context, node: Node) -> bool:
    """Whether a test (of the type, as a rule) decides that this line runs."""
    below = node
    for above in ancestors(node):
        if above.type == "conditional_expression" or above.type in ("elif_clause", "else_clause", "case_clause"):
            return True
        if above.type == "if_statement":
            condition = above.child_by_field_name("condition")
            if (
                condition != below
                and condition is not None
                and re.search("type|float|fp|bf16", context.text(condition))
            ):
                return True
        below = above
    return False
