"""Host and container told apart: in one script, and across the commands of one document."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from opdev.checks import shelltext
from opdev.checks.docker import NEEDS_ENVIRONMENT
from opdev.checks.fences import introduced_as_wrong, marked_as_wrong
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import bash
from opdev.syntax.file import File
from opdev.syntax.view import View

_RUNTIMES = ("docker", "podman", "nerdctl")
_MOUNT = re.compile(r"(?P<host>/[^:,\s$]+):(?P<inside>/[^:,\s$]+)(?::\w+)?")
_BIND = re.compile(r"(?:source|src)=(?P<host>/[^,\s$]+).*?(?:target|dst|destination)=(?P<inside>/[^,\s$]+)")
_TOLD_APART = re.compile(
    r"容器|宿主|本机|裸机|物理机|\b(?:in(?:side)? (?:the|a) container|on the host|bare.?metal|without docker|locally|docker)\b",
    re.IGNORECASE,
)
_FENCES = re.compile(rb"(?ms)^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$")
_ALONE = {
    "cp",
    "ls",
    "cat",
    "git",
    "vim",
    "vi",
    "rm",
    "mkdir",
    "grep",
    "find",
    "tail",
    "head",
    "less",
    "file",
    "readelf",
}


def _shells(context: Context) -> Iterator[File]:
    """The shell texts of a file: itself, or the fences of a document."""
    if context.file.language == "bash":
        yield context.file
    else:
        yield from (f for f in context.file.regions if f.language == "bash")


def _placed(file: File, hit: Hit) -> Hit:
    """A hit in a fence, placed in its document."""
    if file.region is None or "docs-fence" not in file.kind.names:
        return hit
    start, end = file.region.range_to_host(hit.start, hit.end)
    fix = hit.fix
    if fix is not None:
        edits = tuple(Edit(*file.region.range_to_host(e.start, e.end), e.text) for e in fix.edits)
        fix = Fix(edits, fix.title, fix.applicability)
    return Hit(start, end, hit.message, hit.args, fix, hit.severity)


def _wrapped(command: bash.Command) -> bool:
    return command.effective_name in _RUNTIMES and len(command.effective) > 1 and command.effective[1].value == "exec"


def _opens_shell(command: bash.Command) -> bool:
    """``docker exec -it box bash``, ``docker run -it image``, ``docker attach box``."""
    words = [w.value or "" for w in command.effective]
    interactive = any(re.fullmatch(r"-\w*[it]\w*|--interactive|--tty", w) for w in words[1:])
    runs_text = any(re.fullmatch(r"-\w*c", w) for w in words)
    return words[1:2] == ["attach"] or (words[1:2] in (["exec"], ["run"]) and interactive and not runs_text)


def command_outside_container(context: Context) -> Iterator[Hit]:
    """Build and run commands of a document, some of them in a container and some not."""
    inside: str | None = None
    outside: list[tuple[File, bash.Command]] = []
    for file in _shells(context):
        view = View(file, 0, len(file.data))
        if introduced_as_wrong(view):
            continue
        found = False
        for command in bash.commands(view):
            if command.effective_name in _RUNTIMES:
                if _opens_shell(command):
                    return  # the rest is typed in there
                if _wrapped(command) and NEEDS_ENVIRONMENT.search(" ".join(w.raw for w in command.words)):
                    inside = inside or command.effective[_box(command)].loose
                continue
            text = " ".join(w.loose for w in command.words)
            if (
                found
                or command.effective_name in _ALONE
                or bash.is_echoed(command)
                or marked_as_wrong(view, command.start)
            ):
                continue
            if NEEDS_ENVIRONMENT.search(text) and not _told_apart(file):
                outside.append((file, command))
                found = True
    for file, command in outside if inside is not None else ():
        args = {"command": command.words[0].loose if len(command.words) == 1 else
                f"{command.words[0].loose} {command.words[1].loose}", "container": inside}  # fmt: skip
        last = command.words[min(1, len(command.words) - 1)]
        yield _placed(file, Hit(command.words[0].start, last.end, args=args))


def _box(command: bash.Command) -> int:
    """Index of the container's name in the words that run."""
    return len(command.effective) - len(shelltext.words_run(command)) - 1


def _told_apart(file: File) -> bool:
    """Whether the text between the last heading and the fence says where it is to be run."""
    region = file.region
    if region is None:
        return False
    host, at = region.host, region.pieces[0][1]
    stretches = host.memo("docker.stretches", lambda: _stretches(host.data))
    end, told = stretches[bisect_right(stretches, at, key=lambda one: one[0]) - 1]
    return _told(host.data[end:at], told)


def _stretches(data: bytes) -> list[tuple[int, bool]]:
    """Where each fence ends, and whether the text since the last heading has said by then where things run."""
    found = [(0, False)]
    for match in _FENCES.finditer(data):
        end, told = found[-1]
        found.append((match.end(), _told(data[end : match.start()], told)))
    return found


def _told(text: bytes, before: bool) -> bool:
    """Whether a text, or the one before it under the same heading, says where things run."""
    heading = text.rfind(b"\n#")
    shown = text[max(heading, 0) :].decode("utf-8", "replace")
    return (before and heading < 0) or _TOLD_APART.search(shown) is not None


def host_path_in_container(context: Context) -> Iterator[Hit]:
    """A path of the host in a command run in the container, where it is mounted elsewhere."""
    mounts: dict[str, str] = {}
    for file in _shells(context):
        for command in bash.commands(View(file, 0, len(file.data))):
            if command.effective_name in _RUNTIMES:
                mounts.update(_mounts(command))
    mounts = {
        host.rstrip("/"): inside.rstrip("/")
        for host, inside in mounts.items()
        if host.rstrip("/") != inside.rstrip("/")
    }
    if not mounts:
        return
    for file in _shells(context):
        view = View(file, 0, len(file.data))
        for command in bash.commands(view):
            if not _wrapped(command):
                continue
            begin = shelltext.words_run(command)
            for word in (*begin, *_workdirs(command)):
                yield from (_placed(file, hit) for hit in _in_word(word, mounts))


def _mounts(command: bash.Command) -> Iterator[tuple[str, str]]:
    words = command.effective
    for option, value in pairwise(words):
        name, _, own = option.loose.partition("=")
        text = own or value.loose
        if name in ("-v", "--volume"):
            match = _MOUNT.fullmatch(text)
        elif name == "--mount":
            match = _BIND.search(text)
        else:
            continue
        if match is not None:
            yield match["host"], match["inside"]


def _workdirs(command: bash.Command) -> list[bash.Word]:
    words = command.effective
    return [value for option, value in pairwise(words) if option.value in ("-w", "--workdir")]


def _in_word(word: bash.Word, mounts: dict[str, str]) -> Iterator[Hit]:
    for host, inside in mounts.items():
        if any(
            target == host or target.startswith(host + "/") or host.startswith(target + "/")
            for target in mounts.values()
        ):
            continue  # the path exists in the container as well
        for match in re.finditer(rf"(?<![\w./-]){re.escape(host)}(?=[/\s\"';&|)]|$)", word.raw):
            start = word.start + len(word.raw[: match.start()].encode())
            end = start + len(host.encode())
            yield Hit(start, end, args={"host": host, "inside": inside}, fix=Fix((Edit(start, end, inside),)))
