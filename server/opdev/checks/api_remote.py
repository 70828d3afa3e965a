"""Addresses and numbers of other PEs: how they may be used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.api import table
from opdev.rules.context import Context
from opdev.rules.model import Hit, Related
from opdev.syntax import cpp
from opdev.syntax.tree import ancestor

if TYPE_CHECKING:
    from tree_sitter import Node

_MAPPING = ("aclshmem_ptr", "aclshmem_roce_ptr", "shmem_ptr")
_MAPPED = re.compile(rb"\b(?:aclshmem_(?:roce_)?ptr|shmem_ptr)\s*\(|\bp2p_device_heap_base\s*\[")
_COPIES = ("DataCopy", "DataCopyPad")


def _remote_names(context: Context, function: Node) -> dict[str, int]:
    """Names in a function that hold a mapped address of another PE, and where they got it."""
    code = context.code
    start, end = function.start_byte, function.end_byte
    found: dict[str, int] = {}
    for match in _MAPPED.finditer(code, start, end):
        name = _assigned(code, start, match.start())
        if name:
            found.setdefault(name, match.start())
    # Follow plain copies, casts and offsets in text order, and tensors laid over such an address.
    for match in re.finditer(rb"\b(?P<to>[A-Za-z_]\w*)\s*=\s*(?P<from>[^;=][^;]*);|\b(?P<tensor>[A-Za-z_]\w*)\s*\.\s*"
                             rb"SetGlobalBuffer\s*\((?P<base>[^;]*)\)\s*;", code[start:end]):  # fmt: skip
        if re.search(rb"[;{})]\s*\*\s*$", code[max(start, start + match.start() - 80) : start + match.start()]):
            # ``*p = v`` changes what p points to, not p.
            continue
        source = match["from"] or match["base"] or b""
        target = (match["to"] or match["tensor"]).decode()
        at = start + match.start()
        carried = _base(source)
        if carried in found and found[carried] < at and target not in found:
            found[target] = found[carried]
        elif (
            target in found
            and found[target] < start + match.start(2 if match["to"] else 4)
            and not (carried in found or _MAPPED.search(source))
        ):
            # Given something else later: nobody can say which it holds.
            del found[target]
    return found


def _base(expression: bytes) -> str:
    """The name an address expression is built on: ``p`` of ``(__gm__ T*)p + off``."""
    text = re.sub(
        rb"\(\s*__gm__[^()]*\)|\b(?:reinterpret|static)_cast\s*<[^<>]*>\s*|\(\s*GM_ADDR\s*\)", b"", expression
    )
    match = re.match(rb"[\s(]*([A-Za-z_]\w*)\s*\)*\s*(?:$|[+\-,)])", text)
    return match[1].decode() if match else ""


def _assigned(code: bytes, begin: int, at: int) -> str | None:
    """The variable whose initialiser or assignment the position is in."""
    cut = max(code.rfind(b";", begin, at), code.rfind(b"{", begin, at), code.rfind(b"}", begin, at), begin)
    match = re.search(rb"\b([A-Za-z_]\w*)\s*=\s*(?:[\s(*]|__gm__|GM_ADDR|\w+\s*\*|\)|\w+_cast|<|>)*$", code[cut:at])
    return match[1].decode() if match else None


def copy_of_remote_address(context: Context) -> Iterator[Hit]:
    """``DataCopy`` to or from an address mapped by ``aclshmem_ptr``."""
    for call in cpp.calls(context, *_COPIES):
        function = call.function
        if function is None or len(call.args) < 2 or not cpp.is_device(context.file, function):
            continue
        remote: dict[str, int] | None = None
        for node, text in zip(call.args[:2], call.arg_texts[:2], strict=True):
            if _MAPPED.search(text.encode()):
                yield Hit(node.start_byte, node.end_byte, args={"name": text, "call": call.name})
                continue
            remote = _remote_names(context, function) if remote is None else remote
            word = re.match(r"\W*([A-Za-z_]\w*)", text)
            if word and word[1] in remote:
                at = remote[word[1]]
                yield Hit(
                    node.start_byte,
                    node.end_byte,
                    args={"name": word[1], "call": call.name},
                    related=(Related(at, at + 12, {"zh": "地址在这里取得", "en": "the address is taken here"}),),
                )


def store_through_remote_address(context: Context) -> Iterator[Hit]:
    """``*p = v`` or ``p[i] = v`` with ``p`` mapped by ``aclshmem_ptr``."""
    done: set[int] = set()
    for call in cpp.calls(context, *_MAPPING):
        function = call.function
        if function is None or function.start_byte in done or not cpp.is_device(context.file, function):
            continue
        done.add(function.start_byte)
        # A SIMT thread has no other way to write, and its stores go to memory.
        if b"simt" in cpp.head(context.file, function):
            continue
        for name in _remote_names(context, function):
            word = re.escape(name.encode())
            pattern = rb"(?:(?<=[;{})])|^)\s*(\*\s*" + word + rb"|" + word + rb"\s*\[[^\]\n]*\])\s*[+\-|&^]?=(?!=)"
            for match in re.finditer(pattern, context.code[function.start_byte : function.end_byte]):
                start = function.start_byte + match.start(1)
                yield Hit(start, function.start_byte + match.end(1), args={"name": name})


_SYMMETRIC = re.compile(r"(?i)(?:\w*_)?(?:symm?|symmetric|gva|remote|peer)(?:_\w*)?(?:gm|ptr|addr|buf|base)?")
_PLAIN = re.compile(r"(?i)(?:user_|local_)?(?:input|output|in|out)(?:_(?:gm|ptr|addr|buf))?")
_TRANSFER = re.compile(rb"\baclshmemx?_\w*(?:put|get)\w*(?=\s*[(<])")


def doubtful_direction(context: Context) -> Iterator[Hit]:
    """A put into what is called an output, out of what is called symmetric; or a get the other way."""
    for call in cpp.calls_matching(context, _TRANSFER):
        api = table.lookup(call.name)
        if api is None or len(call.args) < 4 or call.function is None:
            continue
        put = re.search(r"put(?:mem|\d+)?(?:_|$)", api.name) is not None
        far, near = (0, 1) if put else (1, 0)
        names = [_base(text.encode()) for text in call.arg_texts[:2]]
        if not (_PLAIN.fullmatch(names[far]) and _SYMMETRIC.fullmatch(names[near])):
            continue
        if any(re.fullmatch(r"(?:my|self|local)_?(?:pe|rank)|me|rank", text) for text in call.arg_texts[3:]):
            continue
        node = call.args[far]
        args = {"name": call.name, "far": names[far], "near": names[near]}
        yield Hit(node.start_byte, node.end_byte, message="put" if put else "get", args=args)


_TEAM_NUMBER = re.compile(
    rb"\b(?P<var>[A-Za-z_]\w*)\s*=\s*(?:acl)?shmem_team_my_pe\s*\(\s*(?P<team>[^()]*?)\s*\)\s*;"
    rb"|\bfor\s*\([^;]*?\b(?P<loop>[A-Za-z_]\w*)\s*=\s*[^;]*;\s*(?P=loop)\s*<\s*(?P<bound>[^;]*);"
)
_TEAM_SIZE = re.compile(rb"\b([A-Za-z_]\w*)\s*=\s*(?:acl)?shmem_team_n_pes\s*\(\s*([^()]*?)\s*\)\s*;")
_WORLD = re.compile(rb"(?:ACL)?SHMEM_TEAM_WORLD")
_TAKES_PE = re.compile(
    rb"\b(?:acl)?shmemx?_(?:\w*(?:put|get)\w*|ptr|roce_ptr|signal_op\w*|\w+_atomic_\w+|\w+_[pg])(?=\s*[(<])"
)


def team_number_as_pe(context: Context) -> Iterator[Hit]:
    """A PE's number within a team given where the world's number is wanted."""
    if not any(True for word in ("aclshmem_team_my_pe", "aclshmem_team_n_pes", "shmem_team_my_pe", "shmem_team_n_pes")
               for _ in context.find(word)):  # fmt: skip
        return
    for call in cpp.calls_matching(context, _TAKES_PE):
        api = table.lookup(call.name)
        function = call.function
        if api is None or function is None or len(call.args) < 2:
            continue
        body = context.code[function.start_byte : call.start]
        numbers = _team_numbers(body)
        index = pe_index(api.name, len(call.args))
        if index is None or call.arg_texts[index] not in numbers:
            continue
        node, text = call.args[index], call.arg_texts[index]
        if ancestor(node, "lambda_expression") is None:
            yield Hit(node.start_byte, node.end_byte, args={"name": call.name, "number": text, "team": numbers[text]})


def pe_index(name: str, count: int) -> int | None:
    """Where a call of ``count`` arguments takes the PE; None where it takes none."""
    if "_signal_op" in name:
        at = 3
    elif "_udma_put_signal" in name:
        at = 5
    elif re.search(r"put\w*_signal", name):
        at = 6
    elif re.search(r"_(?:mte|sdma)_(?:put|get)_nbi$", name):
        at = {7: 5, 6: 4, 5: 3}.get(count, 3)
    elif re.search(r"_(?:roce|udma)_(?:relay_)?(?:put|get)_nbi$", name):
        at = 4
    elif "_atomic_" in name:
        at = count - 1
    elif name.endswith("_p"):
        at = 2
    elif name.endswith(("_g", "_ptr")):
        at = 1
    elif re.search(r"_i(?:put|get)", name):
        at = 5
    elif re.search(r"(?:put|get)", name):
        at = 3
    else:
        return None
    return at if 0 <= at < count else None


def _team_numbers(body: bytes) -> dict[str, str]:
    """Variables that hold a number within a team other than the world, and that team."""
    sizes = {m[1].decode(): m[2].decode() for m in _TEAM_SIZE.finditer(body) if not _WORLD.fullmatch(m[2])}
    found: dict[str, str] = {}
    for match in _TEAM_NUMBER.finditer(body):
        if match["var"]:
            if not _WORLD.fullmatch(match["team"]):
                found[match["var"].decode()] = match["team"].decode()
            continue
        bound = match["bound"].decode().strip()
        direct = re.fullmatch(r"(?:acl)?shmem_team_n_pes\s*\(\s*([^()]*?)\s*\)", bound)
        team = sizes.get(bound) or (direct[1] if direct else None)
        if team and not _WORLD.fullmatch(team.encode()):
            found[match["loop"].decode()] = team
    for name in list(found):
        # Reassigned from a translation: it is the world's number by then.
        if re.search(rb"\b" + name.encode() + rb"\s*=[^=;]*translate_pe", body):
            del found[name]
    return found
