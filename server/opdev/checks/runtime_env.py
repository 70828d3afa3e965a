"""The environment a run script gives its PEs: CANN, SHMEM, library path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.pe_launch import is_cann_env, is_shmem_env, launches, sourced, values
from opdev.checks.statements import lines_before, outer_statement, statement, top_statement
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import bash

if TYPE_CHECKING:
    from tree_sitter import Node

_BUILD_LIB = re.compile(r"[^:\"'=\s]*build/lib\b[^:\"'\s]*")
_LIB64 = re.compile(r"[^:\"'=\s]*ASCEND_HOME_PATH[^:\"'\s]*/lib64[^:\"'\s]*")
_REPO_NAMES = ("SHMEM_REPO", "SHMEM_ROOT", "PROJECT_ROOT", "REPO_ROOT", "ROOT_DIR")
_ENV_FUNCTIONS = ("setup_shmem_runtime_env", "setup_shmem_dynamic_endpoints", "warn_shmem_stale_processes")
_LITERAL_CANN = re.compile(r"(?:/usr/local/Ascend|/opt/Ascend|\$\{?HOME\}?/Ascend|/home/[^/]+/Ascend)\S*set_env\.sh$")
_DEFAULT_CANN = re.compile(rb"\$\{CANN_SET_ENV:?[-=](?P<path>[^}]*set_env\.sh)\}")

_RUNTIME_ENV = """\
setup_shmem_runtime_env() {
    local repo="$1" op_dir="${2:-}"
    if [[ -z "${ASCEND_HOME_PATH:-}" ]]; then
        source "${CANN_SET_ENV:?export CANN_SET_ENV=path-of-CANN-set_env.sh first}"
    fi
    export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}"
    source "${repo}/install/set_env.sh" || return 1
    export LD_LIBRARY_PATH="${repo}/build/lib:${LD_LIBRARY_PATH}"
    if [[ -n "${op_dir}" ]]; then
        export LD_LIBRARY_PATH="${op_dir}/build/lib:${LD_LIBRARY_PATH}"
    fi
    export LD_LIBRARY_PATH="${ASCEND_HOME_PATH}/lib64:${LD_LIBRARY_PATH}"
    setup_shmem_dynamic_endpoints
}
"""
_ENDPOINTS = """\
setup_shmem_dynamic_endpoints() {
    export IPPORT="${IPPORT:-tcp://127.0.0.1:$((27010 + RANDOM % 900))}"
    export SHMEM_UID_SESSION_ID="${SHMEM_UID_SESSION_ID:-127.0.0.1:$((8899 + RANDOM % 900))}"
}
"""
_STALE = """\
warn_shmem_stale_processes() {
    if pgrep -f "torch_test_.*\\.py" >/dev/null 2>&1; then
        echo "[WARN] a torch_test process is still running and may hold the port or the session" >&2
    fi
}
"""
_BODIES = dict(zip(_ENV_FUNCTIONS, (_RUNTIME_ENV, _ENDPOINTS, _STALE), strict=True))


def _library_parts(context: Context, pattern: re.Pattern[str]) -> Iterator[tuple[bash.Assignment, int, int, str]]:
    """Parts of LD_LIBRARY_PATH assignments: assignment, range and text."""
    for assigned in values(context).get("LD_LIBRARY_PATH", []):
        node = assigned.value_node
        if node is not None:
            for match in pattern.finditer(assigned.raw):
                begin = node.start_byte + len(assigned.raw[: match.start()].encode())
                yield assigned, begin, begin + len(match.group().encode()), match.group()


def missing_set_env(context: Context) -> Iterator[Hit]:
    """``build/lib`` put on LD_LIBRARY_PATH by a script that never sources SHMEM's set_env.sh."""
    parts = list(_library_parts(context, _BUILD_LIB))
    if not parts or any(is_shmem_env(path) for _, _, path in sourced(context)):
        return
    if any(c.name == "setup_shmem_runtime_env" for c in bash.commands(context)):
        return
    assigned, start, end, part = parts[0]
    fix = None
    owner = re.match(r"\$\{?(\w+)\}?/build/lib", part)
    known = values(context)
    repo = next((n for n in _REPO_NAMES if n in known and (n == "SHMEM_REPO" or (owner and owner[1] == n))), None)
    if repo is not None and known[repo][0].node.end_byte < assigned.node.start_byte:
        fix = Fix((lines_before(context, statement(assigned.node), f'source "${{{repo}}}/install/set_env.sh"'),))
    yield Hit(start, end, args={"part": part}, fix=fix)


def undefined_env_function(context: Context) -> Iterator[Hit]:
    """A set-up function called without a definition here and without a file that could define it."""
    if any(not path.endswith("set_env.sh") for _, _, path in sourced(context)):
        return
    defined = bash.functions(context)
    seen: set[str] = set()
    for command in bash.commands(context):
        name = command.name
        if name not in _ENV_FUNCTIONS or name in defined or name in seen:
            continue
        seen.add(name)
        wanted = [name]
        if name == "setup_shmem_runtime_env" and _ENV_FUNCTIONS[1] not in defined:
            wanted.insert(0, _ENV_FUNCTIONS[1])
        before = top_statement(command.node)
        begin = context.data.rfind(b"\n", 0, before.start_byte) + 1
        fix = Fix((Edit(begin, begin, "".join(_BODIES[w] + "\n" for w in wanted)),))
        yield Hit(command.words[0].start, command.words[0].end, args={"name": name}, fix=fix)


def sources_skill_file(context: Context) -> Iterator[Hit]:
    """A script that sources a Markdown file or anything from a skill's folder."""
    for _, word, path in sourced(context):
        if ".agents/" in path or "/skills/" in path or "SKILLS_ROOT" in path or path.endswith(".md"):
            yield Hit(word.start, word.end, args={"path": path})


def environment_order(context: Context) -> Iterator[Hit]:
    """Library path set before the script that sets the same thing is sourced."""

    def scope(node: Node) -> int:
        found = bash.in_function(node)
        return found.start_byte if found is not None else -1

    # The first of each function: where that is late, all are.
    shmem = {scope(c.node): (c, w) for c, w, path in reversed(sourced(context)) if is_shmem_env(path)}
    cann = {scope(c.node): (c, w) for c, w, path in reversed(sourced(context)) if is_cann_env(path)}
    for pattern, sources, key in ((_BUILD_LIB, shmem, "default"), (_LIB64, cann, "cann")):
        for assigned, start, end, part in _library_parts(context, pattern):
            first = sources.get(scope(assigned.node))
            if first is not None and first[0].start > end:
                word = first[1]
                note = {"zh": "之后才 source", "en": "sourced only here"}
                yield Hit(
                    start,
                    end,
                    key,
                    {"part": part, "script": word.loose},
                    related=(Related(word.start, word.end, note),),
                )
                break


def silent_cann_default(context: Context) -> Iterator[Hit]:
    """A CANN path nobody confirmed: sourced literally or as the default of CANN_SET_ENV."""
    if context.place.profile == "in-tree" and context.place.operator is None:
        return  # upstream's own build and release machinery
    message = "${CANN_SET_ENV:?set it to the path of the set_env.sh of CANN}"
    for _, word, _ in sourced(context):
        if _LITERAL_CANN.search(word.loose):
            yield Hit(
                word.start, word.end, args={"path": word.loose}, fix=Fix((Edit(word.start, word.end, f'"{message}"'),))
            )
    hccl = "baseline-script" in context.kinds or b"HCCL_WHITELIST_DISABLE" in context.code
    for match in _DEFAULT_CANN.finditer(context.code):
        fix = Fix((Edit(match.start(), match.end(), message),))
        args = {"path": match["path"].decode("utf-8", "replace")}
        yield Hit(match.start(), match.end(), "fallback", args, fix, "warning" if hccl else None)


def missing_hccl_whitelist(context: Context) -> Iterator[Hit]:
    """A baseline script that starts HCCL processes without HCCL_WHITELIST_DISABLE=1."""
    given = values(context).get("HCCL_WHITELIST_DISABLE", [])
    if given:
        for assigned in given:
            node = assigned.value_node
            if node is not None and assigned.value == "0":
                fix = Fix((Edit(node.start_byte, node.end_byte, "1"),), "value")
                yield Hit(node.start_byte, node.end_byte, "disabled", fix=fix)
        return
    if any("hccl" in path.lower() or "baseline" in path.lower() for _, _, path in sourced(context)):
        return
    for command in launches(context)[:1]:
        word = command.words[0]
        fix = Fix((lines_before(context, outer_statement(command.node), "export HCCL_WHITELIST_DISABLE=1"),))
        yield Hit(word.start, word.end, fix=fix)


def ld_library_path_overwritten(context: Context) -> Iterator[Hit]:
    """LD_LIBRARY_PATH given a value that forgets the old one."""
    for assigned in values(context).get("LD_LIBRARY_PATH", []):
        node = assigned.value_node
        if node is None or assigned.append or not assigned.raw.strip("\"'") or "LD_LIBRARY_PATH" in assigned.raw:
            continue
        if _holds_library_path(context, assigned.raw):
            continue
        raw = assigned.raw
        tail = "${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}"
        if raw.startswith('"') and raw.endswith('"') and raw.count('"') == 2:
            edit = Edit(node.end_byte - 1, node.end_byte - 1, tail)
        else:
            edit = Edit(node.end_byte, node.end_byte, tail)
        yield Hit(node.start_byte, node.end_byte, args={"value": raw}, fix=Fix((edit,)))


def _holds_library_path(context: Context, raw: str, depth: int = 3) -> bool:
    """Whether a value takes the old LD_LIBRARY_PATH in through a variable."""
    for name in re.findall(r"\$\{?([A-Za-z_]\w*)", raw):
        if re.search(r"(?i)old|saved|orig|backup", name):
            return True
        for assigned in values(context).get(name, []) if depth else []:
            if "LD_LIBRARY_PATH" in assigned.raw or _holds_library_path(context, assigned.raw, depth - 1):
                return True
    return False
