"""Environment variables by their names and values: the ones SHMEM, CANN and HCCL read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.pe_launch import values
from opdev.checks.statements import line_removed, statement
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import bash, cmake

RUNTIME_NAMES = (
    "UID_SESSION_ID", "UID_SOCK_IFNAME", "INSTANCE_PORT_RANGE", "LOG_LEVEL", "LOG_TO_STDOUT", "LOG_PATH",
    "CYCLE_PROF_PE", "HOME_PATH",
)  # fmt: skip
_READ = re.compile(
    rb"""(?:environ\s*(?:\[|\.\s*\w+\()|\b(?:secure_)?(?:getenv|setenv|putenv|unsetenv)\s*\()\s*["'](ACLSHMEM_(?:%s))\b"""
    % b"|".join(n.encode() for n in RUNTIME_NAMES)
)
_LEVELS = ("DEBUG", "INFO", "WARN", "ERROR", "FATAL")
_LEVEL_NAMES = {"WARNING": "WARN", "ERR": "ERROR", "0": "DEBUG", "1": "INFO", "2": "WARN", "3": "ERROR", "4": "FATAL"}
_SWITCH = {"ON": "1", "TRUE": "1", "YES": "1", "OFF": "0", "FALSE": "0", "NO": "0"}
_PE_COUNTS = ("PE_SIZE", "N_PES", "NPES", "PES", "RANK_SIZE", "NUM_PES")


def aclshmem_env_prefix(context: Context) -> Iterator[Hit]:
    """A run-time setting spelt ACLSHMEM_*, which the library never reads."""
    if b"ACLSHMEM_" not in context.data:
        return
    if context.file.language != "bash":
        for match in _READ.finditer(context.nocomment, context.start, context.end):
            name = match.group(1).decode()
            yield _renamed(match.start(1), match.end(1), name)
        return
    exported = {w.value for c in bash.commands(context) if c.name == "export" for w in c.args}
    exported |= _exported_names(context)
    for name in RUNTIME_NAMES:
        for assigned in values(context).get(f"ACLSHMEM_{name}", []):
            if not (assigned.keyword == "export" or assigned.prefix or assigned.name in exported):
                continue
            start = assigned.node.start_byte
            hit = _renamed(start, start + len(assigned.name), assigned.name)
            twins = [t for t in values(context).get(f"SHMEM_{name}", []) if t.raw == assigned.raw]
            here = statement(assigned.node)
            alone = here.type == "declaration_command" and here.named_child_count == 1
            if twins and alone:
                hit = Hit(hit.start, hit.end, "twin", hit.args, Fix((line_removed(context, here),), "twin"), "info")
            yield hit


def _renamed(start: int, end: int, name: str) -> Hit:
    new = name.removeprefix("ACL")
    return Hit(start, end, args={"name": name, "new": new}, fix=Fix((Edit(start, end, new),)))


def _exported_names(context: Context) -> set[str]:
    return {m.decode() for m in re.findall(rb"\bexport\s+(ACLSHMEM_\w+)\s*(?:[;\n]|$)", context.code)}


def wrong_ascend_home(context: Context) -> Iterator[Hit]:
    """ASCEND_HOME or _ASCEND_INSTALL_PATH read where CANN sets ASCEND_HOME_PATH."""
    if context.file.language == "cmake":
        known = {c.texts[0] for c in cmake.commands(context, "set", "option") if c.texts}
        pattern = rb"\$(?:ENV)?\{(ASCEND_HOME|_ASCEND_INSTALL_PATH)\}"
    else:
        known = set(values(context))
        pattern = rb"\$\{?(ASCEND_HOME|_ASCEND_INSTALL_PATH)\b(?![-:=+?])"
    for match in re.finditer(pattern, context.code):
        name = match.group(1).decode()
        if name not in known:
            fix = Fix((Edit(match.start(1), match.end(1), "ASCEND_HOME_PATH"),))
            yield Hit(match.start(1), match.end(1), args={"name": name}, fix=fix)


def _literals(context: Context, name: str) -> Iterator[tuple[bash.Assignment, int, int, str]]:
    """Assignments of a literal value: assignment, range of the value, value."""
    for assigned in values(context).get(name, []):
        node = assigned.value_node
        if node is not None and assigned.value:
            yield assigned, node.start_byte, node.end_byte, assigned.value


def bad_profiling_pe(context: Context) -> Iterator[Hit]:
    """SHMEM_CYCLE_PROF_PE that is no PE's number."""
    counts = [a.value for n in _PE_COUNTS for a in values(context).get(n, [])]
    count = int(counts[0]) if len(counts) == 1 and counts[0] and counts[0].isdecimal() else None
    for _, start, end, value in _literals(context, "SHMEM_CYCLE_PROF_PE"):
        if re.search(r"[<>{}]", value):
            continue
        if not value.isdecimal():
            yield Hit(start, end, args={"value": value}, fix=Fix((Edit(start, end, "0"),)))
        elif count is not None and int(value) >= count:
            args = {"value": value, "count": count, "last": count - 1}
            yield Hit(start, end, "range", args, Fix((Edit(start, end, "0"),)))


def bad_log_setting(context: Context) -> Iterator[Hit]:
    """SHMEM_LOG_LEVEL or SHMEM_LOG_TO_STDOUT with a value the library does not know."""
    for _, start, end, value in _literals(context, "SHMEM_LOG_LEVEL"):
        if value in _LEVELS or re.search(r"[<>|{}\[]", value):
            continue
        upper = value.upper()
        if upper in _LEVELS:
            yield Hit(start, end, "case", {"value": value, "new": upper}, Fix((Edit(start, end, upper),)))
            continue
        new = _LEVEL_NAMES.get(upper)
        fix = Fix((Edit(start, end, new),)) if new else None
        yield Hit(start, end, "default", {"value": value, "new": new or ""}, fix)
    for _, start, end, value in _literals(context, "SHMEM_LOG_TO_STDOUT"):
        if value in ("0", "1") or re.search(r"[<>|{}\[]", value):
            continue
        new = _SWITCH.get(value.upper())
        fix = Fix((Edit(start, end, new),)) if new else None
        yield Hit(start, end, "stdout", {"value": value, "new": new or ""}, fix)


def bad_rdma_qos(context: Context) -> Iterator[Hit]:
    """HCCL_RDMA_TC outside 0–255 in steps of 4, HCCL_RDMA_SL outside 0–7."""
    for _, start, end, value in _literals(context, "HCCL_RDMA_TC"):
        if not (value.isdecimal() and int(value) <= 255 and int(value) % 4 == 0) and not re.search(r"[<>]", value):
            yield Hit(start, end, "default", {"value": value})
    for _, start, end, value in _literals(context, "HCCL_RDMA_SL"):
        if not (value.isdecimal() and int(value) <= 7) and not re.search(r"[<>]", value):
            yield Hit(start, end, "level", {"value": value})
