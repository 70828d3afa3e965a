"""Commands run in a container from scripts and documents, as far as their text tells."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from opdev.checks import shelltext
from opdev.checks.fences import introduced_as_wrong, marked_as_wrong
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import bash
from opdev.syntax.view import View

# What needs CANN and SHMEM in the environment; npu-smi and pgrep do not.
NEEDS_ENVIRONMENT = re.compile(
    r"\bcmake\b|build/bin/|\btorch_test_|\bmsprof\b|\bmpirun\b|\btorchrun\b|\bbisheng\b|scripts/(?:run|perf|run_baseline|build)\.sh"
    r"|\brun_case_matrix\.py"
)
_OWN_ENVIRONMENT = re.compile(r"\bset_env\.sh\b|scripts/(?:run|perf|run_baseline|run_matrix|build)\.sh|setvars|env\.sh")
_BASELINE = re.compile(r"run_baseline\.sh|build/bin/\w*(?:hccl|baseline)\w*", re.IGNORECASE)
_PERF = re.compile(r"(?:^|/)perf\.sh\b|(?:^|/)run_perf\.sh\b")


def docker_exec_without_login_shell(context: Context) -> Iterator[Hit]:
    """``docker exec`` of an operator command that finds neither CANN nor SHMEM in its environment."""
    if introduced_as_wrong(context):
        return
    for command in bash.commands(context):
        inner = _inner(command)
        if inner is None or ("docs-fence" in context.kinds and marked_as_wrong(context, command.start)):
            continue
        text = " ".join(w.raw for w in inner)
        if not inner or not NEEDS_ENVIRONMENT.search(text):
            continue
        shell = (inner[0].value or "").rsplit("/", 1)[-1]
        flag = next((w for w in inner[1:] if (w.value or "").startswith("-")), None)
        if shell not in ("bash", "sh") or flag is None or "c" not in (flag.value or ""):
            if shell in ("bash", "sh") and flag is not None and "l" in (flag.value or ""):
                continue
            yield Hit(inner[0].start, inner[-1].end, args={"command": inner[0].loose})
        elif "l" not in (flag.value or "") and shell == "bash" and not _OWN_ENVIRONMENT.search(text):
            fix = Fix((Edit(flag.start, flag.end, "-l" + (flag.value or "")[1:]),))
            yield Hit(flag.start, flag.end, "flag", {"flag": flag.value}, fix)
        elif not _OWN_ENVIRONMENT.search(text):
            yield Hit(inner[0].start, flag.end, "environment", {"command": shell})


def _inner(command: bash.Command) -> tuple[bash.Word, ...] | None:
    """The words of the command run in the container; None for anything but ``docker exec``."""
    words = shelltext.words_run(command)
    return words if command.effective_name in ("docker", "podman", "nerdctl") and words != command.effective else None


def perf_stages_in_one_shell(context: Context) -> Iterator[Hit]:
    """The HCCL baseline and the SHMEM measurement in one shell, one script or one ``docker exec``."""
    if introduced_as_wrong(context):
        return
    yield from _mixed(context, context)


def _mixed(view: View, context: Context) -> Iterator[Hit]:
    inside: list[tuple[int, int]] = []  # disjoint, in text order
    for text in shelltext.in_shell(view):
        inside.append((text.start, text.start + len(text.view.data)))
        yield from (hit.moved(text.start) for hit in _mixed(text.view, context))
    baseline: bash.Command | None = None
    perf: bash.Command | None = None
    for command in bash.commands(view):
        if bash.is_echoed(command) or command.effective_name in (
            "cat",
            "rm",
            "cp",
            "chmod",
            "tee",
            "grep",
            "ls",
            "test",
        ):
            continue
        raw = [w.loose for w in command.words if not _holds(inside, w.start)]
        if any(_BASELINE.search(w) for w in raw[:3]):
            baseline = baseline or command
        elif any(_PERF.search(w) for w in raw[:3]) or (
            any("build/bin/" in w for w in raw[:3]) and any(w == "--perf" for w in raw)
        ):
            perf = perf or command
    if baseline is None or perf is None:
        return
    first, second = sorted((baseline, perf), key=lambda c: c.start)
    between = view.data[first.end : second.start]
    if re.search("新开|另开|单独|分别|separate|another shell|new shell".encode(), between, re.IGNORECASE):
        return
    word = next(
        (w for w in second.words if _BASELINE.search(w.loose) or _PERF.search(w.loose) or "build/bin/" in w.loose),
        second.words[0],
    )
    yield Hit(word.start, word.end, args={"first": _script(first), "second": word.loose.rsplit("/", 1)[-1]})


def _holds(ranges: list[tuple[int, int]], offset: int) -> bool:
    index = bisect_right(ranges, offset, key=lambda one: one[0]) - 1
    return index >= 0 and offset < ranges[index][1]


def _script(command: bash.Command) -> str:
    word = next((w for w in command.words if "/" in w.loose or w.loose.endswith(".sh")), command.words[0])
    return word.loose.rsplit("/", 1)[-1]
