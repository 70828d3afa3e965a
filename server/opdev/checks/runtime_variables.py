"""Shell variables: what a script deletes by them, reads without setting, takes unchecked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.pe_launch import is_shmem_env, launches, sourced, values
from opdev.checks.runtime_script import strict_options
from opdev.checks.statements import lines_after, lines_before, statement
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import bash
from opdev.syntax.tree import ancestor, ancestors, walk

_CHECKED = re.compile(rb"\$\{?(\w+)\}?\"?\s*=~|-[zn]\s+\"?\$\{?(\w+)|case\s+\"?\$\{?(\w+)")
_ARITHMETIC = re.compile(rb"\(\(([^)]*)")
_SEQ = re.compile(rb"\bseq\b([^\n]*)")
_COMPARED = re.compile(rb"\$\{?(\w+)\}?\"?\s+-(?:lt|gt|le|ge)\b")
_EXPANDED = re.compile(rb"\$\{?(\w+)")
_WORD = re.compile(rb"\w+")
_ASKED = re.compile(rb"-[nz]\s+\"?\$\{?(\w+)")


def dangerous_rm(context: Context) -> Iterator[Hit]:
    """``rm -r`` of an unquoted expansion, or of a path that begins with a variable that may be empty."""
    for command in bash.commands(context):
        words = command.effective
        if command.effective_name != "rm" or bash.is_echoed(command):
            continue
        if not any(re.fullmatch(r"-[a-zA-Z]*[rR][a-zA-Z]*|--recursive", w.raw) for w in words[1:]):
            continue
        for word in words[1:]:
            yield from _risks(context, word)


def _risks(context: Context, word: bash.Word) -> Iterator[Hit]:
    expansions = [
        n
        for n in walk(word.node)
        if n.type in ("simple_expansion", "expansion") and ancestor(n, "command_substitution") is None
    ]
    for index, node in enumerate(expansions):
        text = context.text(node)
        plain = re.fullmatch(r"\$\{?([A-Za-z_]\w*|\d)\}?", text)
        if plain is None:
            continue
        name = plain[1]
        quoted = any(a.type == "string" for a in ancestors(node) if a.start_byte >= word.start)
        leads = index == 0 and word.raw.lstrip('"').startswith(text)
        below = leads and word.loose[len(text) :].startswith("/")
        empty = below and _may_be_empty(context, name)
        if (quoted and not empty) or (not quoted and _is_list(context, name)):
            continue
        new = f"${{{name}:?}}"
        edit = Edit(node.start_byte, node.end_byte, new if quoted else f'"{new}"')
        key = "empty" if empty else "default"
        safe = quoted or not _may_be_empty(context, name)
        fix = Fix((edit,), applicability="safe" if safe else "unsafe")
        yield Hit(word.start, word.end, key, {"name": name, "path": word.loose}, fix)
        return


def _may_be_empty(context: Context, name: str) -> bool:
    """Whether nothing in the file says that a variable holds something."""
    known = context.file.memo("runtime_variables.empty", dict[str, bool])
    if name not in known:
        known[name] = True  # variables that get each other's values hold nothing
        known[name] = _holds_nothing(context, name)
    return known[name]


def _holds_nothing(context: Context, name: str) -> bool:
    given = values(context).get(name, [])
    asked = context.file.memo("runtime_variables.asked", lambda: frozenset(_ASKED.findall(context.code)))
    if name.encode() in asked:
        return False
    if name in _loop_variables(context):
        return False
    for assigned in given:
        raw = assigned.raw.strip("\"'")
        if re.search(r"^\$\(.*(?:pwd|dirname|mktemp|realpath|readlink|basename)", raw, re.DOTALL):
            continue
        if re.match(r"[^$`]", raw) or re.search(r":[-=?][^}]+\}", raw) or re.match(r"\$\{?[A-Za-z_]\w*\}?[^$\s]", raw):
            continue
        inner = re.fullmatch(r"\$\{?([A-Za-z_]\w*)\}?", raw)
        if inner and inner[1] != name and not _may_be_empty(context, inner[1]):
            continue
        return True
    return not given


def _loop_variables(context: Context) -> frozenset[str]:
    """Variables that a ``for`` or ``select`` sets."""

    def collect() -> frozenset[str]:
        loops = (n for n in walk(context.file.root) if n.type in ("for_statement", "select_statement"))
        named = (n.child_by_field_name("variable") for n in loops)
        return frozenset(context.text(n) for n in named if n is not None)

    return context.file.memo("runtime_variables.loops", collect)


def _is_list(context: Context, name: str) -> bool:
    """Whether a variable may stand for several words, which quoting would join."""
    return context.file.memo(("runtime_variables.list", name), lambda: _holds_several(context, name))


def _holds_several(context: Context, name: str) -> bool:
    for assigned in values(context).get(name, []):
        raw = assigned.raw.strip("\"'")
        if (
            assigned.append
            or " " in re.sub(r"\$\([^)]*\)|\$\{[^}]*\}", "", raw)
            or re.search(r"\$\((?:ls|find|git)\b|[*?]", raw)
        ):
            return True
    return False


def unset_variable(context: Context) -> Iterator[Hit]:
    """Under ``set -u``: a variable nobody in the script sets, which stops it."""
    on, _ = strict_options(context, context.data.split(b"\n", 1)[0])
    if "u" not in on:
        return
    outside = [path for _, _, path in sourced(context)]
    if any(not path.endswith("set_env.sh") for path in outside if "CANN_SET_ENV" not in path):
        return
    yield from _read_by_set_env(context)
    first_env = min((c.start for c, _, _ in sourced(context)), default=len(context.data))
    known = _set_names(context)
    seen: set[str] = set()
    for node in walk(context.file.root):
        if node.type not in ("simple_expansion", "expansion"):
            continue
        match = re.fullmatch(r"\$\{?([A-Za-z_]\w*)\}?", context.text(node))
        if match is None or match[1] in seen:
            continue
        name = match[1]
        library = name in ("LD_LIBRARY_PATH", "PYTHONPATH") and node.start_byte < first_env
        if not library and (name in known or _is_ambient(name) or _guarded(context, name)):
            continue
        if library and (
            _guarded(context, name) or any(a.node.end_byte <= node.start_byte for a in values(context).get(name, []))
        ):
            continue
        seen.add(name)
        fix = Fix((Edit(node.start_byte, node.end_byte, f"${{{name}:-}}"),)) if library else None
        yield Hit(node.start_byte, node.end_byte, "library" if library else "default", {"name": name}, fix)


def _read_by_set_env(context: Context) -> Iterator[Hit]:
    """SHMEM's set_env.sh extends LD_LIBRARY_PATH without a default."""
    for command, word, path in sourced(context)[:1]:
        if not is_shmem_env(path) or not path.endswith("set_env.sh") or _guarded(context, "LD_LIBRARY_PATH"):
            continue
        if any(a.node.end_byte <= command.start for a in values(context).get("LD_LIBRARY_PATH", [])):
            continue
        if re.search(rb"\bset\s+\+\w*u", context.code[: command.start]):
            continue
        line = 'export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}"'
        fix = Fix((lines_before(context, statement(command.node), line),), "sourced")
        yield Hit(word.start, word.end, "sourced", {"name": "LD_LIBRARY_PATH", "path": word.loose}, fix)


def _set_names(context: Context) -> set[str]:
    names = set(values(context)) | _loop_variables(context)
    for command in bash.commands(context):
        if command.name in ("read", "mapfile", "readarray", "getopts", "printf", "export", "declare", "local"):
            names |= {w.loose for w in command.args}
    names |= {
        m.decode()
        for m in re.findall(rb"\b(?:local|declare|typeset|export|readonly)\s+(?:-\w+\s+)*(\w+)", context.code)
    }
    return names | {m.decode() for m in re.findall(rb"\(\(\s*([A-Za-z_]\w*)\s*=", context.code)}


def _is_ambient(name: str) -> bool:
    return (
        re.match(r"(?:ASCEND|SHMEM|HCCL|BASH|ACL|CANN|LC_|SSH_|XDG_|CI_|GIT|DOCKER|CONDA|VIRTUAL_)", name) is not None
        or name in _AMBIENT
    )


_AMBIENT = {
    "PATH", "HOME", "USER", "PWD", "OLDPWD", "SHELL", "LANG", "TMPDIR", "RANDOM", "SECONDS", "EPOCHSECONDS", "LINENO",
    "HOSTNAME", "UID", "EUID", "PPID", "IFS", "OPTARG", "OPTIND", "REPLY", "PIPESTATUS", "FUNCNAME", "IPPORT", "TERM",
    "LD_LIBRARY_PATH", "PYTHONPATH", "LOGNAME", "DIRSTACK", "OSTYPE", "HOSTTYPE", "MACHTYPE", "SHLVL", "GROUPS",
}  # fmt: skip


def _guarded(context: Context, name: str) -> bool:
    """Whether the script asks for the variable before it relies on it (``${X:-}``, ``${X:?}``, ``-v X``)."""
    return re.search(rb"\$\{%s:?[-+=?]|-v\s+%s\b" % (name.encode(), name.encode()), context.code) is not None


def _counting(context: Context) -> frozenset[bytes]:
    """Variables that count something and are nowhere checked."""
    code = context.code
    counts = {word for text in _ARITHMETIC.findall(code) for word in _WORD.findall(text)}
    counts.update(word for text in _SEQ.findall(code) for word in _EXPANDED.findall(text))
    counts.update(_COMPARED.findall(code))
    return frozenset(counts.difference(*_CHECKED.findall(code)))


def unvalidated_argument(context: Context) -> Iterator[Hit]:
    """A positional parameter that counts something and is never checked."""
    if not launches(context) or re.search(rb"\$#", context.code):
        return
    for name, given in values(context).items():
        for assigned in given:
            node = assigned.value_node
            if node is None or not re.fullmatch(r"\"?\$\{?\d\}?\"?", assigned.raw) or bash.in_function(assigned.node):
                continue
            if name.encode() not in context.file.memo("runtime_variables.counting", lambda: _counting(context)):
                break
            test = f'[[ "${{{name}}}" =~ ^[0-9]+$ ]] || {{ echo "{name} must be a number, not \'${{{name}}}\'" >&2; exit 1; }}'
            fix = Fix((lines_after(context, statement(assigned.node), test),))
            yield Hit(node.start_byte, node.end_byte, args={"name": name, "raw": assigned.raw.strip('"')}, fix=fix)
