"""Input files that main.cpp reads and that no script of the operator writes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.checks.data_files import file_name
from opdev.rules.context import Context
from opdev.rules.model import Hit
from opdev.syntax import py
from opdev.syntax.file import File
from opdev.syntax.view import View

_SUM = rb'"(?P<before>[^"\n]*)"\s*\+\s*std::to_string\s*\((?:[^()]|\([^()]*\))*\)\s*\+\s*"(?P<after>[^"\n]*\.bin)"'
_READ = re.compile(_SUM + rb'|"(?P<plain>[^"\n]*\.bin)"')
_FIELD = re.compile(r"%\d*(?:l|ll|z)?[dus]|\{[^{}]*\}")
_READS = re.compile(rb'(?i)\bread\w*\s*\(|\bload\w*\s*\(|ifstream|"rb"')
_WRITES = re.compile(rb'(?i)write|ofstream|output|save|dump|"wb"|remove|unlink')
_LITERAL = re.compile(rb"""(?P<q>["'])(?P<name>[^"'\n]*\.bin)(?P=q)""")


def unwritten_input(context: Context) -> Iterator[Hit]:
    """A name read by the host program that does not occur among the names the scripts write."""
    project = context.project
    if project is None:
        return
    writers = [f for f in project.files("golden") if f.language == "python" and b"tofile" in f.words]
    if not writers or any(_writes_unknown(f) for f in writers):
        return
    known = [n for f in (*project.files("python"), *project.files("shell")) if (n := _names(f)) is not None]
    names = {name for part in known for name in part}
    # A name put together from parts may be any.
    if any(name.startswith((".", "{}.")) for name in names):
        return
    written = [re.compile(re.escape(n).replace(r"\{\}", ".*")) for n in sorted(names)]
    for match in _READ.finditer(context.nocomment):
        name = _read_name(context, match)
        if name is None or not _is_read(context, match.start(), match.end()):
            continue
        if any(p.fullmatch(name.replace("{}", "0")) for p in written):
            continue
        start = match.start("before") if match["before"] is not None else match.start("plain")
        end = match.end("after") if match["before"] is not None else match.end("plain")
        args = {"name": name, "writer": writers[0].path.rpartition("/")[2]}
        yield Hit(start - 1, end + 1, args=args)


def _writes_unknown(file: File) -> bool:
    view = View(file, 0, len(file.data))
    calls = py.calls(view, "tofile")
    return any(not call.args or file_name(view, call.args[0]) is None for call in calls)


def _names(file: File) -> set[str]:
    found = {m["name"].decode("utf-8", "replace").rpartition("/")[2] for m in _LITERAL.finditer(file.nocomment)}
    if file.language == "bash":
        # Names in shell need no quotes.
        found |= {
            w.decode("utf-8", "replace").rpartition("/")[2] for w in re.findall(rb"[\w./${}*-]+\.bin\b", file.nocomment)
        }
        return {re.sub(r"\$\{\w+\}|\$\w+|\*", "{}", name) for name in found}
    return {_FIELD.sub("{}", name) for name in found}


def _read_name(context: Context, match: re.Match[bytes]) -> str | None:
    """The file's name with ``{}`` for numbers; None where something unknown stands before it."""
    first = match["before"] if match["before"] is not None else match["plain"]
    joined = context.nocomment[: match.start()].rstrip().endswith(b"+")
    if joined and b"/" not in first:
        return None
    text = first if match["before"] is None else first + b"{}" + match["after"]
    name = _FIELD.sub("{}", text.decode("utf-8", "replace")).rpartition("/")[2]
    # What begins like this is the end of a name that is put together elsewhere.
    return name if name and not name.startswith((".", "_", "-", "{}.")) else None


def _is_read(context: Context, start: int, end: int) -> bool:
    """Whether the statement reads the file, or gives its name to a variable that is read."""
    text = context.nocomment
    begin = max(text.rfind(mark, 0, start) for mark in (b";", b"{", b"}")) + 1
    stop = text.find(b";", end)
    statement = text[begin : stop if stop >= 0 else len(text)]
    if _WRITES.search(statement):
        return False
    if _READS.search(statement[: start - begin]):
        return True
    given = re.match(rb"\s*(?:const\s+)?(?:std::)?(?:string|auto)?\s*(?P<name>\w+)\s*=", statement)
    if given is None:
        return False
    used = text[stop : text.find(b"}", stop) if text.find(b"}", stop) >= 0 else len(text)]
    next_use = re.search(rb"(?P<call>\w+)\s*[({][^;]*?\b%s\b" % re.escape(given["name"]), used)
    return next_use is not None and re.match(rb"(?i)read|load|ifstream|in(?:put)?$", next_use["call"]) is not None
