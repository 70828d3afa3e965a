"""Views handed straight from Python to operators that take only contiguous tensors.

Which operators those are is not guessed: the table holds the parameters their documentation names
as taking no non-contiguous tensor (all others read strides), and SHMEM bindings, which give a
kernel an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.tensor_views import Views
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import py
from opdev.syntax.tree import ancestor, ancestors

if TYPE_CHECKING:
    from tree_sitter import Node

# Operator: positional parameters in order, ``|``, keyword-only ones.  ``!`` takes only contiguous
# tensors, ``=`` does too and is written in place.  Weights of matrix products are left out: their
# transposed views are read as such whatever the documentation says.
_OPERATORS = """
npu_all_to_all_matmul !x1
npu_attention_to_ffn | !scales
npu_clipped_swiglu !x
npu_convert_weight_to_int4pack !weight
npu_fused_causal_conv1d x !weight | !query_start_loc !cache_indices !initial_state_mode !bias !num_accepted_tokens \
!num_computed_tokens !block_idx_first_scheduled_token !block_idx_last_scheduled_token !initial_state_idx
npu_fused_infer_attention_score !query !key !value | !pse_shift !atten_mask !key_shared_prefix !value_shared_prefix \
!query_rope !key_rope
npu_fused_infer_attention_score_v2 !query !key !value | !query_rope !key_rope !pse_shift !atten_mask
npu_grouped_matmul_finalize_routing !x w !group_list | !bias !offset !pertoken_scale !shared_input !logit \
!row_index
npu_interleave_rope !x !cos !sin
npu_kv_quant_sparse_flash_attention !query key value !sparse_indices
npu_lightning_indexer !query key !weights
npu_masked_causal_conv1d input weight | !mask
npu_matmul_all_to_all !x1
npu_mla_prolog_v3 !token_x weight_dq weight_uq_qr weight_uk weight_dkv_kr !rmsnorm_gamma_cq !rmsnorm_gamma_ckv \
!rope_sin !rope_cos =kv_cache =kr_cache | !cache_index !dequant_scale_x !quant_scale_ckv !quant_scale_ckr !smooth_scales_cq !actual_seq_len !k_nope_clip_alpha
npu_moe_distribute_dispatch | !scales
npu_moe_distribute_dispatch_v2 | !scales
npu_prompt_flash_attention !query !key !value | !pse_shift !atten_mask
npu_quant_lightning_indexer !query key !weights !query_dequant_scale
npu_scatter_pa_kv_cache !key !value =key_cache =value_cache !slot_mapping | !compress_lens !compress_seq_offsets !seq_lens
npu_sparse_flash_attention !query key value !sparse_indices | !query_rope
npu_sparse_lightning_indexer_grad_kl_loss !query
npu_swiglu !input
npu_trans_quant_param !scale !offset
npu_weight_quant_batchmatmul x weight antiquant_scale antiquant_offset quant_scale quant_offset !bias
"""


def _table(text: str) -> dict[str, tuple[list[str], dict[str, str]]]:
    """Positional names, and the mark of each marked parameter, by operator."""
    found: dict[str, tuple[list[str], dict[str, str]]] = {}
    for line in text.strip().splitlines():
        name, *words = line.split()
        bar = words.index("|") if "|" in words else len(words)
        marks = {word[1:]: word[0] for word in words if word[0] in "!="}
        found[name] = ([word.lstrip("!=") for word in words[:bar]], marks)
    return found


_TABLE = _table(_OPERATORS)
_NPU = re.compile(rb"\b(?:torch_npu|torch\s*\.\s*ops\s*\.\s*npu)\s*\.\s*(?P<op>npu_\w+)")
_BOUND = re.compile(
    rb"(?P<name>(?:self\s*\.\s*)?\b[A-Za-z_]\w*)\s*=\s*torch\s*\.\s*classes\s*\.\s*ShmemOps\s*\.\s*(?P<cls>\w+)\s*\("
)
_KERNEL_METHODS = ("compute", "malloc_like")
_OUTPUT = re.compile(r"(?i)(?:^|[_.])(?:out|outs|output|outputs|result|results|recv|dst)(?:_|\d|$)|^y$")


def views_for_kernels(context: Context) -> Iterator[Hit]:
    """Arguments that are certainly non-contiguous views."""
    views = Views(context.file)
    calls = _NPU.finditer(context.code, context.start, context.end) if b"npu_" in context.code else ()
    for match in calls:
        name = match["op"].decode()
        if name not in _TABLE:
            continue
        call = py.call_at(context.file, match.start("op"), match.end("op"))
        if call is not None:
            yield from _documented(context, views, call, *_TABLE[name])
    if b"ShmemOps" in context.code:
        for operator, call in _binding_calls(context):
            yield from _bound(context, views, operator, call)


def _documented(
    context: Context, views: Views, call: py.Call, order: list[str], marks: dict[str, str]
) -> Iterator[Hit]:
    given: list[tuple[str, Node]] = []
    for parameter, argument in zip(order, call.args, strict=False):
        if argument.type == "list_splat":
            break
        given.append((parameter, argument))
    listed = call.node.child_by_field_name("arguments")
    for splat in listed.named_children if listed is not None else []:
        if splat.type == "dictionary_splat" and splat.named_children:
            given += views.entries(splat.named_children[0])
    for parameter, argument in (*given, *call.keywords.items()):
        mark = marks.get(parameter)
        if mark is not None:
            message = "written" if mark == "=" else "argument"
            yield from _argument(context, views, argument, message, {"op": call.name, "parameter": parameter})


def _binding_calls(context: Context) -> Iterator[tuple[str, py.Call]]:
    """Calls of ShmemOps objects' methods that hand memory to a kernel: (class, call)."""
    # By name and function, the first each: (place, class); None for what is seen in all functions.
    bound: dict[tuple[str, int | None], tuple[int, str]] = {}
    for match in _BOUND.finditer(context.code):
        node = context.node_at(match.start("name"), match.end("name"))
        name = re.sub(rb"\s+", b"", match["name"]).decode()
        function = py.function_of(node) if node is not None else None
        seen_in = function.id if function is not None and not name.startswith("self.") else None
        bound.setdefault((name, seen_in), (match.start(), match["cls"].decode()))
    for method in _KERNEL_METHODS:
        for call in py.calls(context, method):
            owner = call.dotted.rpartition(".")[0]
            direct = re.fullmatch(r"torch\.classes\.ShmemOps\.(\w+)\(\)", owner)
            if direct:
                yield f"{direct[1]}.{method}", call
                continue
            around = (None, *(a.id for a in ancestors(call.node)))
            known = [bound[owner, scope] for scope in around if (owner, scope) in bound]
            if known:
                yield f"{min(known)[1]}.{method}", call


def _bound(context: Context, views: Views, operator: str, call: py.Call) -> Iterator[Hit]:
    for argument in (*call.args, *call.keywords.values()):
        if argument.type in ("list_splat", "dictionary_splat"):
            continue
        head = re.match(r"[\w.]+", context.text(argument))
        written = operator.endswith(".compute") and head is not None and _OUTPUT.search(head.group()) is not None
        yield from _argument(context, views, argument, "written" if written else "binding", {"op": operator})


def _argument(context: Context, views: Views, node: Node, message: str, args: dict[str, object]) -> Iterator[Hit]:
    view = views.of(node)
    if view is None:
        yield from _through_parameter(context, views, node, message, args)
        return
    text = re.sub(r"\s+", " ", context.text(node))
    args = {"name": text, "how": view.how, **args}
    related: tuple[Related, ...] = ()
    if view.node != node and ancestor(view.node, "argument_list") != node.parent:
        notes = {"zh": "视图在这里产生", "en": "the view is made here"}
        related = (Related(view.node.start_byte, view.node.end_byte, notes),)
    fix = None
    if message != "written":
        edits = [Edit(node.end_byte, node.end_byte, ".contiguous()")]
        if node.type not in ("identifier", "attribute", "call", "subscript", "parenthesized_expression"):
            edits = [Edit(node.start_byte, node.start_byte, "("), Edit(node.end_byte, node.end_byte, ").contiguous()")]
        fix = Fix(tuple(edits), "argument")
    yield Hit(node.start_byte, node.end_byte, message, args, fix, severity="warning", related=related)


def _through_parameter(
    context: Context, views: Views, node: Node, message: str, args: dict[str, object]
) -> Iterator[Hit]:
    """A view given to a function of this file that passes its parameter on as it is."""
    function = py.function_of(node) if node.type == "identifier" else None
    named = function.child_by_field_name("name") if function is not None else None
    if function is None or named is None or function.type != "function_definition":
        return
    name, order = context.text(node), _parameters(context, function)
    key = ("contiguous.handed_on", function.id, name)
    if name not in order or not context.file.memo(key, lambda: _handed_on(context, function, name)):
        return
    method = bool(order) and order[0] in ("self", "cls")
    # Who passes it on twice, or is defined twice, gets a view from the same calls.
    told = (context.text(named), order.index(name), name, method, message, *args.values())
    if told in views.told:
        return
    views.told.add(told)
    for call in py.calls(context, context.text(named)):
        owner = call.dotted.rpartition(".")[0]
        if (method and owner != "self") or (not method and owner) or py.function_of(call.node) == function:
            continue
        at = order.index(name) - method
        given = call.keywords.get(name) or (call.args[at] if 0 <= at < len(call.args) else None)
        if given is None or any(a.type in ("list_splat", "dictionary_splat") for a in call.args):
            continue
        if views.of(given) is not None:
            yield from _argument(context, views, given, message, args)


def _handed_on(context: Context, function: Node, name: str) -> bool:
    """Whether a parameter is left as it came; set anew, checked or made contiguous in between the function sees to it."""
    body = context.code[function.start_byte : function.end_byte].partition(b":")[2]
    own = re.escape(name.encode())
    return re.search(rb"\b%s\s*(?:=[^=]|:\s*\w+\s*=)|contiguous" % own, body) is None


def _parameters(context: Context, function: Node) -> list[str]:
    """Names of the positional parameters, in order."""
    listed = function.child_by_field_name("parameters")
    names = []
    for parameter in listed.named_children if listed is not None else []:
        if parameter.type in ("list_splat_pattern", "dictionary_splat_pattern", "keyword_separator"):
            break
        first = parameter if parameter.type == "identifier" else next(iter(parameter.named_children), None)
        if first is not None and parameter.type != "comment":
            names.append(context.text(first))
    return names
