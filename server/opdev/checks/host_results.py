"""Status values of ACL and SHMEM calls: dropped, overwritten, or expected where there is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.api.table import lookup
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import cpp
from opdev.syntax.cpp import Call
from opdev.syntax.tree import ancestor, ancestors

if TYPE_CHECKING:
    from tree_sitter import Node

_ACL = re.compile(rb"\b(?:acl(?:Init|Finalize)|aclrt[A-Z]\w*|(?:acl)?shmemx?_\w+)(?=\s*\()")
_ACLRT = re.compile(r"acl(?:Init|Finalize)|aclrt[A-Z]\w*")
# ACL calls whose value is no status.
_NO_STATUS = re.compile(r"aclrt(?:Get\w*Handle|CreateStreamConfigHandle|GetSocName|CmoAsync\w*)")
_VOID_LIKE = re.compile(
    rb"\b(?:acl)?shmemx?_\w*(?:barrier|free|quiet|fence|put|get|signal|info|sync|exit|prof)\w*(?=\s*\()"
)
_CHECKER = re.compile(r"\w*CHECK\w*|EXPECT_\w+|ASSERT_\w+")
_FREEING = re.compile(r"~|\boperator\s*\(\)|(?i:clean|release|destroy|tear_?down|deleter|dealloc|guard)")
RELEASES = re.compile(r"aclrt(?:Free\w*|Destroy\w+|ResetDevice\w*)|aclFinalize|(?:acl)?shmem_finalize")
_STOPPERS = ("aclInit", "aclrtSetDevice", "aclshmemx_init_attr", "shmemx_init_attr", "aclrtMalloc", "aclrtMallocHost",
             "aclrtCreateStream")  # fmt: skip


def returns_status(name: str) -> bool:
    """Whether an ACL or host SHMEM function returns a status to look at."""
    if _ACLRT.fullmatch(name):
        return not _NO_STATUS.fullmatch(name)
    return _host_return(name) in ("int", "int32_t", "aclError")


def _host_return(name: str) -> str | None:
    api = lookup(name)
    if api is None or api.kind != "function" or "host" not in api.scopes:
        return None
    host = [s.returns for v in api.variants if v.scope == "host" for s in v.signatures]
    kinds = {re.sub(r"\b(?:ACLSHMEM_HOST_API|static|inline|extern)\b|\s+", "", kind) for kind in host}
    return kinds.pop() if len(kinds) == 1 else None


def is_int_query(name: str) -> bool:
    """Functions whose int is an answer, not a status: nobody calls those to drop it."""
    return re.search(r"my_pe|n_pes|translate|get_prof|_ptr$", name) is not None


def unchecked_result(context: Context) -> Iterator[Hit]:
    """A status dropped on the floor."""
    for call in cpp.calls_matching(context, _ACL):
        if not call.is_statement or is_int_query(call.name) or not returns_status(call.name):
            continue
        if _only_cleans(context, call):
            continue
        macro = _macro(context, call.name)
        fix = None
        if macro is not None:
            edits = (Edit(call.start, call.start, f"{macro}("), Edit(call.end, call.end, ")"))
            fix = Fix(edits)
        args = {"call": call.name, "macro": macro or ""}
        if RELEASES.fullmatch(call.name):
            yield Hit(call.start, call.end, "release", args, fix, "warning")
        else:
            yield Hit(call.start, call.end, args=args, fix=fix)


def _only_cleans(context: Context, call: Call) -> bool:
    """Destructors, deleters and lambdas have nobody to tell."""
    function = call.function
    if function is None or ancestor(call.node, "lambda_expression") is not None:
        return True
    declarator = function.child_by_field_name("declarator")
    name = context.text(declarator).split("(", 1)[0] if declarator is not None else ""
    return _FREEING.search(name) is not None or "operator" in name or _after_failure(context, call)


def _after_failure(context: Context, call: Call) -> bool:
    """Whether the call stands in a branch that ends with a failure already: there is an error to report."""
    for above in ancestors(call.node):
        if above.type == "call_expression" and _CHECKER.fullmatch(context.text(above).split("(", 1)[0].strip()):
            return True  # a check macro's action
        if above.type == "compound_statement" and above.parent is not None and above.parent.type in ("if_statement", "else_clause", "catch_clause"):  # fmt: skip
            last = above.named_children[-1] if above.named_children else None
            if last is not None and last.type in ("return_statement", "throw_statement", "goto_statement") and not re.fullmatch(r"return\s+(?:0|EXIT_SUCCESS|ACLSHMEM_SUCCESS)?\s*;", context.text(last)):  # fmt: skip
                return True
    return False


def _macro(context: Context, name: str) -> str | None:
    """The checking macro this file uses for such calls; None where it uses none."""
    words = context.file.words
    own = "CHECK_SHMEM" if name.startswith(("aclshmem", "shmem")) else "CHECK_ACL"
    for macro in (own, "ACL_CHECK"):
        if macro.encode() in words:
            return macro
    return None


def void_result_checked(context: Context) -> Iterator[Hit]:
    """A check around a call that returns nothing."""
    for call in cpp.calls_matching(context, _VOID_LIKE):
        above = call.node.parent
        if above is None or above.type in (
            "expression_statement",
            "comma_expression",
            "return_statement",
            "cast_expression",
        ):
            continue
        if above.type == "argument_list":
            outer = above.parent
            callee = outer.child_by_field_name("function") if outer is not None else None
            if outer is None or callee is None or not _CHECKER.fullmatch(context.text(callee)):
                continue
            shown = outer
        elif above.type in (
            "init_declarator",
            "assignment_expression",
            "binary_expression",
            "condition_clause",
            "unary_expression",
        ):
            shown = above
        else:
            continue
        if not _is_void(call.name):
            continue
        alone = shown.type == "call_expression" and len(above.named_children) == 1
        fix = None
        if alone and shown.parent is not None and shown.parent.type == "expression_statement":
            fix = Fix((Edit(shown.start_byte, call.start, ""), Edit(call.end, shown.end_byte, "")))
        yield Hit(shown.start_byte, shown.end_byte, args={"call": call.name}, fix=fix)


def _is_void(name: str) -> bool:
    """Whether every declaration of a SHMEM function returns nothing."""
    api = lookup(name)
    if api is None or api.kind != "function":
        return False
    kinds = {s.returns.split()[-1] for v in api.variants for s in v.signatures if s.returns}
    return kinds == {"void"}


def check_that_does_not_stop(context: Context) -> Iterator[Hit]:
    """``ACL_CHECK`` of the examples, which prints and goes on, round a call nothing works without."""
    if re.search(rb"#[ \t]*define[ \t]+ACL_CHECK\b", context.nocomment):
        return
    found: dict[int, list[tuple[Node, Call]]] = {}
    for call in cpp.calls(context, *_STOPPERS):
        listed = call.node.parent
        outer = listed.parent if listed is not None and listed.type == "argument_list" else None
        callee = outer.child_by_field_name("function") if outer is not None else None
        if outer is not None and callee is not None and context.text(callee) == "ACL_CHECK":
            found.setdefault(call.function.start_byte if call.function is not None else -1, []).append((outer, call))
    for unstopped in found.values():
        outer, call = unstopped[0]
        kind = call.function.child_by_field_name("type") if call.function is not None else None
        fix = None
        if kind is not None and context.text(kind) in ("int", "int32_t"):
            edits = [
                Edit(o.start_byte, o.end_byte, f'ACL_CHECK_WITH_RET({context.text(c.node)}, ERROR_LOG("{c.name} failed"), return -1)')
                for o, c in unstopped
            ]  # fmt: skip
            fix = Fix(tuple(edits))
        names = list(dict.fromkeys(c.name for _, c in unstopped))
        yield Hit(outer.start_byte, outer.end_byte, args={"call": ", ".join(names)}, fix=fix)


_SUCCESS = re.compile(rb"\[SUCCESS\]|(?i:\b(?:demo |test )?run success\b)")


def success_after_failed_init(context: Context) -> Iterator[Hit]:
    """Success is printed though nobody looked whether initialisation worked."""
    for call in cpp.calls(context, "aclshmemx_init_attr", "shmemx_init_attr", "shmem_init_attr"):
        function = call.function
        if function is None or not _ignored(context, call):
            continue
        printed = _SUCCESS.search(context.nocomment, call.end, function.end_byte)
        if printed is None:
            continue
        notes = {"zh": "这里的初始化结果没有拦住后面的执行", "en": "a failure here does not stop what follows"}
        related = (Related(call.start, call.end, notes),)
        yield Hit(printed.start(), printed.end(), args={"call": call.name}, related=related)
        return


def next_use(context: Context, statement: Node, name: str) -> Node | None:
    """The next statement of the same block that mentions the variable."""
    word = re.compile(rb"(?<![\w.>])" + re.escape(name.encode()) + rb"\b")
    here = statement.next_named_sibling
    while here is not None:
        if word.search(context.code, here.start_byte, here.end_byte):
            return here
        if here.type in ("labeled_statement", "case_statement"):
            return here
        here = here.next_named_sibling
    return None


def overwrites(context: Context, statement: Node, name: str) -> bool:
    """Whether a statement is ``name = …`` without reading it."""
    text = context.code[statement.start_byte : statement.end_byte].decode("utf-8", "replace")
    match = re.match(rf"(?:int|int32_t|auto|aclError)?\s*{re.escape(name)}\s*=(?!=)(?P<rest>[^;]*);", text)
    return statement.type in ("expression_statement", "declaration") and match is not None and not re.search(rf"\b{re.escape(name)}\b", match["rest"])  # fmt: skip


def _ignored(context: Context, call: Call) -> bool:
    above = call.node.parent
    if call.is_statement:
        return True
    if above is not None and above.type == "argument_list" and above.parent is not None:
        callee = above.parent.child_by_field_name("function")
        if callee is None or context.text(callee) != "ACL_CHECK":
            return False
        own = re.compile(rb"#[ \t]*define[ \t]+ACL_CHECK\b")
        return context.file.memo("host_results.acl_check", lambda: own.search(context.nocomment) is None)
    if above is not None and above.type == "assignment_expression":
        left = above.child_by_field_name("left")
        operator = above.child_by_field_name("operator")
        again = next_use(context, call.statement, context.text(left)) if left is not None else None
        plain = operator is None or operator.type == "="
        return plain and left is not None and again is not None and (
            overwrites(context, again, context.text(left)) or _every_branchoverwrites(context, again, context.text(left))
        )  # fmt: skip
    return False


def _every_branchoverwrites(context: Context, statement: Node, name: str) -> bool:
    """``if (int32) status = run<int>(); else if … status = …``: the status is gone in each branch."""
    if statement.type != "if_statement":
        return False
    condition = statement.child_by_field_name("condition")
    if condition is None or re.search(rf"\b{re.escape(name)}\b", context.text(condition)):
        return False
    body = context.code[condition.end_byte : statement.end_byte].decode("utf-8", "replace")
    uses = re.findall(rf"(?<![\w.>]){re.escape(name)}\b\s*(=(?!=))?", body)
    return bool(uses) and all(uses)


_BARE = re.compile(
    rb"[!=]=\s*(?:ACL_ERROR_NONE|ACL_SUCCESS|ACLSHMEM_SUCCESS)\b|\b(?:ACL_ERROR_NONE|ACL_SUCCESS|ACLSHMEM_SUCCESS)\s*[!=]="
)
_CHECKS = re.compile(r"(?i)check")


def bare_error_test(context: Context) -> Iterator[Hit]:
    """The first status of a function compared by hand where the project has a macro for it."""
    found: dict[int, list[Node]] = {}
    for match in _BARE.finditer(context.code, context.start, context.end):
        node = context.node_at(match.start(), match.end())
        condition = ancestor(node, "condition_clause")
        function = ancestor(node, "function_definition")
        if condition is None or function is None or condition.parent is None or condition.parent.type != "if_statement":
            continue
        if re.search(rb"&&|\|\|", context.code[condition.start_byte : condition.end_byte]):
            continue  # more than a status is asked
        if _CHECKS.search(cpp.function_name(context.file, function)) or ancestor(node, "lambda_expression") is not None:
            continue
        found.setdefault(function.start_byte, []).append(condition)
    for conditions in found.values():
        first, count = conditions[0], len(conditions)
        yield Hit(first.start_byte, first.end_byte, "several" if count > 1 else "default", {"count": count})
