"""Endpoints SHMEM's bootstrap refuses or misreads, told from their text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from opdev.checks import endpoints
from opdev.checks.endpoints import IPPORT, SESSION
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import bash
from opdev.syntax.tree import ancestors

# The server refuses ports up to 1024; the RDMA transport takes 60032 to 60287 for itself.
_LOWEST, _HIGHEST = 1025, 65535
_RDMA = range(60032, 60288)
_URL = re.compile(rb"tcp6?://(?:\[[0-9A-Fa-f:]+\]|[A-Za-z0-9_.-]+):(?P<port>\d{1,6})(?!\d)")
_TELLTALE = (b"tcp://", b"tcp6://", b"RANDOM", b"SHMEM_UID_SESSION_ID")
_DRAWN = re.compile(r"(?P<base>\d+)\s*\+\s*\(?\s*\$?\{?RANDOM\}?(?:\s*%\s*(?P<size>\d+))?")
_SCHEME_ADDED = re.compile(rb"tcp6?://\"?\$\{?(\w+)|-{1,2}ip_?port[ =]\"?\$\{?(\w+)")
_IFNAME = re.compile(r"[A-Za-z][\w.@-]*(?::inet[46])?")


def port_out_of_range(context: Context) -> Iterator[Hit]:
    """Ports the bootstrap refuses, literal or possibly drawn."""
    if not context.holds(_worth_a_look):
        return
    seen: set[int] = set()
    text = context.nocomment
    for match in _URL.finditer(text) if b"tcp" in text else ():
        start, end = match.span("port")
        if (hit := _refused(start, end, match["port"])) is not None:
            seen.add(start)
            yield hit
    if context.file.language != "bash":
        return
    for given in bash.assignments(context):
        node = given.value_node
        if node is None:
            continue
        if endpoints.variable_of(given.name) == SESSION and given.value is not None:
            found = endpoints.parse(given.value)
            at = node.start_byte + context.text(node).rfind(":") + 1
            if found is not None and at not in seen:
                digits = re.match(rb"\d+", context.data[at : node.end_byte])
                if digits is not None and (hit := _refused(at, at + digits.end(), digits.group())) is not None:
                    yield hit
        elif "port" in given.name.lower() or endpoints.variable_of(given.name) is not None:
            yield from _drawn(given)


def _worth_a_look(text: bytes) -> bool:
    return any(word in text for word in _TELLTALE)


def _refused(start: int, end: int, digits: bytes) -> Hit | None:
    port = int(digits)
    if port == 0 or _LOWEST <= port <= _HIGHEST:
        return None
    return Hit(start, end, args={"port": port})


def _drawn(given: bash.Assignment) -> Iterator[Hit]:
    if given.value_node is None:
        return
    for match in _DRAWN.finditer(given.raw):
        low = int(match["base"])
        high = low + int(match["size"] or 32768) - 1
        reserved = low < _RDMA.stop and high >= _RDMA.start
        if low >= _LOWEST and high <= _HIGHEST and not reserved:
            continue
        start = given.value_node.start_byte + match.start()
        key = "drawn-rdma" if low >= _LOWEST and high <= _HIGHEST else "drawn"
        yield Hit(start, start + len(match[0]), key, {"low": low, "high": high}, severity="warning")


def malformed_endpoint(context: Context) -> Iterator[Hit]:
    """IPPORT, SHMEM_UID_SESSION_ID and SHMEM_UID_SOCK_IFNAME in a form nobody can parse."""
    for given in bash.assignments(context):
        node, value = given.value_node, given.value
        if node is None or not value or given.append:
            continue
        args = {"name": given.name, "value": value}
        if given.name.endswith("IPPORT"):
            message, text = _ipport(context, given.name, value)
        elif given.name.endswith(SESSION):
            message, text = _session(value)
        elif given.name.endswith("SHMEM_UID_SOCK_IFNAME"):
            address = re.fullmatch(r"[\d.]+", value) is not None
            if address or not _IFNAME.fullmatch(value):
                yield Hit(node.start_byte, node.end_byte, "ifname", args, severity="warning")
            continue
        else:
            continue
        if message:
            fix = Fix((Edit(node.start_byte, node.end_byte, f'"{text}"'),)) if text else None
            yield Hit(node.start_byte, node.end_byte, message, {**args, "text": text}, fix)


def _ipport(context: Context, name: str, value: str) -> tuple[str, str]:
    """(message, text to write instead); empty message for a good or unknown value."""
    found = endpoints.parse(value)
    if found is None:
        if re.fullmatch(r"tcp://[A-Za-z0-9_.-]+|\d+(?:\.\d+){3}", value):
            return "no-port", ""
        if re.fullmatch(r"tcp6://[0-9A-Fa-f:]+:\d+", value):
            host, _, port = value[len("tcp6://") :].rpartition(":")
            return "brackets", f"tcp6://[{host}]:{port}"
        return "", ""
    if not found.scheme:
        if not found.numeric_host or name.encode() in context.file.memo(
            "endpointform.schemes", partial(_given_schemes, context)
        ):
            return "", ""
        return "no-scheme", f"{'tcp6' if found.host.startswith('[') else 'tcp'}://{value}"
    if found.scheme not in ("tcp://", "tcp6://"):
        return "scheme", f"tcp://{found.host}:{found.port}" if found.numeric_host else ""
    if found.scheme == "tcp://" and found.host.startswith("["):
        return "brackets", f"tcp6://{found.host}:{found.port}"
    return "", ""


def _given_schemes(context: Context) -> frozenset[bytes]:
    """Variables that a scheme is put before where they are used."""
    return frozenset(name for match in _SCHEME_ADDED.finditer(context.code) for name in match.groups() if name)


def _session(value: str) -> tuple[str, str]:
    found = endpoints.parse(value)
    if found is not None and found.scheme:
        return "session-scheme", f"{found.host}:{found.port}"
    if found is None and re.fullmatch(r"[A-Za-z][\w.-]*|\d+(?:\.\d+){3}|\[[0-9A-Fa-f:]+\]", value):
        return "no-port", ""
    return "", ""


def port_reused(context: Context) -> Iterator[Hit]:
    """IPPORT and SHMEM_UID_SESSION_ID of one script on one port."""
    sessions: dict[int, bash.Assignment] = {}
    for given in bash.assignments(context):
        if given.name.endswith(SESSION) and (found := _endpoint(given)) is not None:
            sessions.setdefault(found.port, given)
    if not sessions:
        return
    for match in _URL.finditer(context.nocomment):
        session = sessions.get(int(match["port"]))
        if session is None or session.value_node is None:
            continue
        where = session.value_node
        note = {"zh": "SHMEM_UID_SESSION_ID 用的也是这个端口", "en": "SHMEM_UID_SESSION_ID takes this port too"}
        related = (Related(where.start_byte, where.end_byte, note),)
        yield Hit(*match.span("port"), args={"port": int(match["port"])}, related=related)
        return


def _endpoint(given: bash.Assignment) -> endpoints.Endpoint | None:
    value = given.value
    if value is None:
        default = re.fullmatch(r"\"?\$\{\w+:?[-=](.*)\}\"?", given.raw)
        value = default[1].strip("\"'") if default else ""
    found = endpoints.parse(value)
    return found if found is not None and found.port else None


def ignored_sock_ifname(context: Context) -> Iterator[Hit]:
    """SHMEM_UID_SOCK_IFNAME exported next to SHMEM_UID_SESSION_ID, which wins."""
    exported = {
        name: [a for a in bash.assigned(context).get(name, []) if a.keyword == "export" and a.raw.strip("\"'")]
        for name in (SESSION, "SHMEM_UID_SOCK_IFNAME")
    }
    blocks = {_block(session) for session in exported[SESSION]}
    for ifname in exported["SHMEM_UID_SOCK_IFNAME"]:
        if _block(ifname) in blocks:
            yield Hit(ifname.node.start_byte, ifname.node.end_byte)
            return


def _block(given: bash.Assignment) -> int:
    """The block an export stands in: one under another condition may be the other's alternative."""
    for above in ancestors(given.node):
        if above.type not in ("declaration_command", "variable_assignment"):
            return above.id
    return 0


def bad_port_range(context: Context) -> Iterator[Hit]:
    """SHMEM_INSTANCE_PORT_RANGE that is no ``start:end`` of ports."""
    for given in bash.assignments(context):
        node = given.value_node
        if not given.name.endswith("SHMEM_INSTANCE_PORT_RANGE") or node is None or not given.value:
            continue
        found = re.fullmatch(r"(\d+):(\d+)", given.value)
        args = {"value": given.value}
        if found is None:
            yield Hit(node.start_byte, node.end_byte, args=args)
        elif int(found[2]) < int(found[1]):
            swapped = f"{found[2]}:{found[1]}"
            fix = Fix((Edit(node.start_byte, node.end_byte, swapped),))
            yield Hit(node.start_byte, node.end_byte, "order", {**args, "text": swapped}, fix)
        elif int(found[2]) > _HIGHEST:
            yield Hit(node.start_byte, node.end_byte, "high", args)


def _doubled(context: Context) -> Iterator[Hit]:
    """``tcp://`` put before a value that has it already."""
    first: dict[str, bash.Assignment] = {}
    for given in bash.assignments(context):
        if (given.value or "").strip().startswith(("tcp://", "tcp6://")):
            first.setdefault(given.name, given)
    for match in re.finditer(rb"(?P<scheme>tcp6?://)\"?\$\{?(?P<name>\w+)\}?", context.code) if first else ():
        name = match["name"].decode()
        if name in first and first[name].node.start_byte < match.start():
            start, end = match.span("scheme")
            args = {"name": name, "value": (first[name].value or "").strip()}
            yield Hit(start, end, args=args, fix=Fix((Edit(start, end, ""),)))


def doubled_scheme(context: Context) -> Iterator[Hit]:
    """``run.sh -ipport tcp://…`` where run.sh adds ``tcp://`` itself, and the other way round."""
    if context.file.language == "bash":
        yield from _doubled(context)
    if context.project is None:
        return
    scripts = {f.place.relative: f.data for f in context.project.files("shell")}
    for command in bash.commands(context):
        words = command.words
        called = next((w.loose for w in words[:3] if w.loose.endswith(".sh")), "")
        script = next(
            (d for p, d in scripts.items() if called and p.endswith(called.lstrip("./").split("}/")[-1])), None
        )
        if script is None:
            continue
        for option, given in pairwise(words):
            if option.value not in ("-ipport", "--ipport") or given.value is None:
                continue
            found = endpoints.parse(given.value)
            adds = re.search(rb"tcp://\"?\$\{?(?:2\b|IPPORT\b)", script) is not None
            if found is None or bool(found.scheme) != adds:
                continue
            text = f"{found.host}:{found.port}" if adds else f"tcp://{given.value}"
            fix = Fix((Edit(given.start, given.end, text),), "call")
            args = {"name": called, "value": given.value, "text": text}
            yield Hit(given.start, given.end, "adds" if adds else "expects", args, fix)


def loopback_across_nodes(context: Context) -> Iterator[Hit]:
    """A loopback endpoint in an operator whose design spans nodes."""
    if context.project is None:
        return
    spans = None
    for design in context.project.files("design-doc"):
        spans = re.search(rb"^\s*(?:-\s*)?scope\s*:\s*[\"']?(inter_node|both)\b", design.data, re.MULTILINE)
        if spans is not None:
            break
    if spans is None:
        return
    for given in bash.assignments(context):
        node = given.value_node
        if node is None or endpoints.variable_of(given.name) not in (IPPORT, SESSION):
            continue
        if spans[1] == b"both" and given.value is None:
            continue  # a default that a run across nodes replaces
        found = _endpoint(given)
        if found is not None and found.loopback:
            args = {"name": given.name, "host": found.host, "scope": spans[1].decode()}
            yield Hit(node.start_byte, node.end_byte, args=args)
