"""Which tensors of a binding are known to be contiguous, and where their raw memory is taken.

One function is walked once, statement by statement, with what is known of each tensor variable.
At a join a tensor counts as contiguous only if it is so on every path; a value of unknown origin
counts as nothing, so what is reported is a tensor the caller handed in, or a view made of one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from opdev.syntax.cpp import last_name, parameters
from opdev.syntax.file import File

if TYPE_CHECKING:
    from tree_sitter import Node

_TENSOR = re.compile(r"(?:const\s+)?(?:(?:at|torch)::)?Tensor(?:\s+const)?\s*&{0,2}")
# Parameters that hold tensors: their elements are as the caller gave them too.
_HOLDER = re.compile(
    r"(?:const\s+)?(?:(?:at|torch|c10|std)::)*(?:TensorList|(?:vector|ArrayRef|List|IListRef|optional)\s*<\s*(?:const\s+)?"
    r"(?:(?:at|torch)::)?Tensor\s*>)(?:\s+const)?\s*&{0,2}"
)
_ELEMENT = frozenset({"at", "front", "back", "value", "get"})
_POINTERS = frozenset({"data_ptr", "mutable_data_ptr", "const_data_ptr"})
_STORAGE = frozenset({"data", "unsafe_data", "mutable_data", "data_ptr"})
_VIEWS = frozenset(
    {"transpose", "permute", "t", "slice", "select", "narrow", "expand", "expand_as", "unfold", "movedim", "swapaxes"}
)
_SAME = frozenset({"view", "squeeze", "unsqueeze", "detach", "alias"})
_BRANCHES = frozenset({"switch_statement", "try_statement"})
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop"})
_STOPS = frozenset({"return_statement", "throw_statement", "break_statement", "continue_statement", "goto_statement"})
_CHECKED = re.compile(
    rb"\b([A-Za-z_]\w*)\s*(?:\[[^\[\]]*\]\s*|\.\s*(?:value|at|front|back)\s*\([^()]*\)\s*)?(?:\.|->)\s*is_(?:contiguous|non_overlapping_and_dense)\b"
)
_CHECKER = re.compile(r"(?i).*contig.*|CHECK_INPUTS?")


@dataclass(frozen=True, slots=True)
class Tensor:
    """What is known of a tensor variable.

    ``cause``: ``param`` as the caller gave it, ``view`` made non-contiguous here, ``path``
    contiguous on some paths only.  ``made`` is the expression it was made by, ``copy_of`` the
    variable whose contiguous copy it is.
    """

    contiguous: bool
    root: str
    cause: Literal["param", "view", "path"] = "param"
    made: Node | None = None
    how: str = ""
    copy_of: str = ""


@dataclass(frozen=True, slots=True)
class Access:
    """Raw memory of a tensor taken: ``node`` is the whole ``x.storage().data()``."""

    node: Node
    base: Node
    name: str
    """The variable's name; empty where memory of an expression is taken."""
    tensor: Tensor
    storage: bool
    env: dict[str, Tensor | None]


Env = dict[str, Tensor | None]


def tensor_parameters(file: File, function: Node) -> dict[str, str]:
    """Type as written by name, of the parameters that are tensors."""
    return {name: kind for kind, name in parameters(file, function) if _TENSOR.fullmatch(kind)}


class Flow:
    """The walk over one function; ``accesses`` holds what it met, in the order of the walk."""

    def __init__(self, file: File, function: Node) -> None:
        self.file = file
        self.accesses: list[Access] = []
        self.parameters = tensor_parameters(file, function)
        self.holders = {name for kind, name in parameters(file, function) if _HOLDER.fullmatch(kind)}
        body = function.child_by_field_name("body")
        names = (*self.parameters, *sorted(self.holders))
        if body is not None and names:
            self._block(body, {name: Tensor(False, name) for name in names})

    def _text(self, node: Node) -> str:
        return self.file.source.text(node.start_byte, node.end_byte)

    def _block(self, node: Node, env: Env) -> Env | None:
        now: Env | None = env
        for child in node.named_children:
            if now is None:
                return None
            now = self._statement(child, now)
        return now

    def _statement(self, node: Node, env: Env) -> Env | None:
        kind = node.type
        if kind in ("compound_statement", "else_clause", "labeled_statement") or kind.startswith("preproc_"):
            return self._block(node, env)
        if kind == "if_statement":
            return self._if(node, env)
        if kind in _LOOPS or kind in _BRANCHES:
            inner = self._element_of(node, env) if kind == "for_range_loop" else ""
            after = self._parts(node, env)
            return self._every(node, after, inner) if kind in _LOOPS and self.holders else after
        self._expression(node, env)
        if kind in _STOPS:
            return None
        if kind == "declaration":
            self._declare(node, env)
        elif kind == "expression_statement":
            self._assign(node, env)
        return env

    def _if(self, node: Node, env: Env) -> Env | None:
        condition = node.child_by_field_name("condition")
        if condition is not None:
            self._expression(condition, env)
        then, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        first = self._statement(then, dict(env)) if then is not None else env
        second = self._statement(other, dict(env)) if other is not None else dict(env)
        return _join(first, second)

    def _element_of(self, loop: Node, env: Env) -> str:
        """The variable of ``for (auto &x : tensors)``, which from here on is one of the tensors."""
        name, right = loop.child_by_field_name("declarator"), loop.child_by_field_name("right")
        while name is not None and name.type == "reference_declarator" and name.named_children:
            name = name.named_children[0]
        if name is None or right is None or name.type != "identifier":
            return ""
        known = env.get(self._text(right)) if self._text(right) in self.holders else None
        env[self._text(name)] = replace(known, made=None) if known is not None else None
        return self._text(name)

    def _every(self, loop: Node, after: Env | None, inner: str) -> Env | None:
        """A loop that checks each tensor, or makes each contiguous, has done so for all of them."""
        body = self.file.code[loop.start_byte : loop.end_byte]
        for name in self.holders if after is not None else ():
            word = rb"\b%s\b" % re.escape(name.encode())
            known = after.get(name) if after is not None else None
            of_element = inner and re.search(rb"\b%s\s*=\s*[^;=]*\bcontiguous\b" % re.escape(inner.encode()), body)
            set_anew = re.search(word + rb"\s*(?:\[[^;=]*\]|\.at\([^;=]*\))\s*=\s*[^;=]*\bcontiguous\b", body)
            checked = of_element or set_anew or b"is_contiguous" in body
            if after is not None and known is not None and checked and re.search(word, body):
                after[name] = replace(known, contiguous=True)
        return after

    def _parts(self, node: Node, env: Env) -> Env | None:
        """Loops, switch and try: any part may run or not."""
        after: Env | None = env
        parts = list(node.named_children)
        if node.type == "switch_statement":
            body = node.child_by_field_name("body")
            parts = [*(p for p in parts if p != body), *(body.named_children if body is not None else [])]
        for part in parts:
            if part.type in ("compound_statement", "case_statement", "catch_clause") or part.type.endswith(
                "_statement"
            ):
                after = _join(after, self._block(part, dict(env)) if part.named_children else dict(env))
            else:
                self._expression(part, env)
        return after

    def _expression(self, node: Node, env: Env) -> None:
        """Note raw accesses below ``node``, then what its checks say of later statements."""
        stack = [node]
        while stack:
            here = stack.pop()
            if here.type == "lambda_expression":
                body = here.child_by_field_name("body")
                if body is not None:
                    self._block(body, dict(env))
                continue
            if here.type == "call_expression":
                self._access(here, env)
                self._checker(here, env)
            stack.extend(reversed(here.named_children))
        for match in _CHECKED.finditer(self.file.code, node.start_byte, node.end_byte):
            self._trust(match.group(1).decode(), env)
        if self.holders and b"is_contiguous" in (text := self.file.code[node.start_byte : node.end_byte]):
            # `std::all_of(xs.begin(), xs.end(), …)`.
            for name in self.holders:
                if re.search(rb"\b%s\b" % re.escape(name.encode()), text):
                    self._trust(name, env)

    def _checker(self, call: Node, env: Env) -> None:
        function, listed = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or listed is None or function.type not in ("identifier", "qualified_identifier"):
            return
        if _CHECKER.fullmatch(self._text(function).rpartition("::")[2]):
            for argument in listed.named_children:
                if argument.type == "identifier":
                    self._trust(self._text(argument), env)

    @staticmethod
    def _trust(name: str, env: Env) -> None:
        known = env.get(name)
        if known is not None:
            env[name] = replace(known, contiguous=True)

    def _declare(self, node: Node, env: Env) -> None:
        for child in node.named_children:
            if child.type != "init_declarator":
                continue
            name, value = child.child_by_field_name("declarator"), child.child_by_field_name("value")
            if name is not None and name.type == "reference_declarator" and name.named_children:
                name = name.named_children[0]
            if name is None or name.type != "identifier" or value is None:
                continue
            if value.type in ("argument_list", "initializer_list"):
                value = value.named_children[0] if len(value.named_children) == 1 else None
            env[self._text(name)] = self._value(value, env) if value is not None else None

    def _assign(self, node: Node, env: Env) -> None:
        for child in node.named_children:
            if child.type != "assignment_expression":
                continue
            left, right = child.child_by_field_name("left"), child.child_by_field_name("right")
            if left is not None and left.type == "identifier" and right is not None:
                value = self._value(right, env)
                own = value is not None and value.copy_of == self._text(left)
                env[self._text(left)] = replace(value, copy_of="") if value is not None and own else value

    def _value(self, node: Node, env: Env) -> Tensor | None:
        if node.type == "identifier":
            known = env.get(self._text(node))
            return replace(known, made=node) if known is not None and known.made is None else known
        if node.type == "parenthesized_expression" and node.named_children:
            return self._value(node.named_children[0], env)
        if node.type == "conditional_expression":
            first, second = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
            if first is None or second is None:
                return None
            return _meet(self._value(first, env), self._value(second, env))
        if node.type in ("subscript_expression", "pointer_expression"):
            return self._element(node, node.child_by_field_name("argument"), env)
        if node.type != "call_expression":
            return None
        function = node.child_by_field_name("function")
        if function is None or function.type != "field_expression":
            return self._moved(node, env)
        base, method = function.child_by_field_name("argument"), last_name(function)
        known = self._value(base, env) if base is not None else None
        if known is None or method is None or base is None:
            return None
        called = self._text(method)
        if called in _ELEMENT:
            return self._element(node, base, env)
        if called == "contiguous" or (
            called == "clone" and b"Contiguous" in self.file.code[function.end_byte : node.end_byte]
        ):
            of = self._text(base) if base.type == "identifier" else ""
            return Tensor(True, known.root, made=node, copy_of=of)
        if called in _VIEWS:
            return Tensor(False, known.root, "view", node, called)
        if called in _SAME:
            return replace(known, made=node)
        return None

    def _element(self, node: Node, holder: Node | None, env: Env) -> Tensor | None:
        """``xs[i]``, ``xs.at(i)``, ``*maybe``, ``maybe.value()`` of a parameter that holds tensors."""
        name = self._text(holder) if holder is not None and holder.type == "identifier" else ""
        known = env.get(name) if name in self.holders else None
        return replace(known, made=node) if known is not None else None

    def _moved(self, node: Node, env: Env) -> Tensor | None:
        """``std::move(x)`` is x; any other function's result is its own business."""
        function, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or listed is None or self._text(function) != "std::move" or len(listed.named_children) != 1:
            return None
        return self._value(listed.named_children[0], env)

    def _access(self, call: Node, env: Env) -> None:
        function = call.child_by_field_name("function")
        if function is None or function.type != "field_expression":
            return
        method, base = last_name(function), function.child_by_field_name("argument")
        if method is None or base is None:
            return
        storage = False
        called = self._text(method)
        if called in _STORAGE and base.type == "call_expression":
            inner = base.child_by_field_name("function")
            name = last_name(inner) if inner is not None and inner.type == "field_expression" else None
            if inner is not None and name is not None and self._text(name) in ("storage", "unsafeGetTensorImpl"):
                storage, base = True, inner.child_by_field_name("argument") or base
        if not storage and called not in _POINTERS:
            return
        known = self._value(base, env)
        if known is not None:
            name_text = self._text(base) if base.type == "identifier" else ""
            if name_text in self.holders:
                name_text = ""  # what it holds has no name of its own
            self.accesses.append(Access(call, base, name_text, known, storage, dict(env)))


def _join(one: Env | None, two: Env | None) -> Env | None:
    if one is None or two is None:
        return two if one is None else one
    return {name: _meet(one.get(name), two.get(name)) for name in one.keys() & two.keys()}


def _meet(one: Tensor | None, two: Tensor | None) -> Tensor | None:
    if one is None or two is None:
        return None
    if one.contiguous == two.contiguous:
        return one
    worse = two if one.contiguous else one
    return replace(worse, cause="path" if worse.cause == "param" else worse.cause)
