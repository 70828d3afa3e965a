"""Documentation that shows what not to do: such code is no finding."""

from __future__ import annotations

import re

from opdev.syntax.view import View

_FORBIDS = re.compile(
    r"禁止|不要|不得|切勿|勿用|避免|错误(?:示例|写法|做法)|反例|反模式|❌|"
    r"\b(?:never|do not|don't|dont|avoid|forbidden|wrong|bad example|anti-?pattern|instead of)\b",
    re.IGNORECASE,
)
_LINES_BEFORE = 3


def introduced_as_wrong(view: View) -> bool:
    """Whether the lines just before a fence say that what follows must not be done."""
    region = view.file.region
    if region is None or "docs-fence" not in view.kinds:
        return False
    before = region.host.data[: region.pieces[0][1]].decode("utf-8", "replace").rstrip("\n").split("\n")[:-1]
    lines: list[str] = []
    for line in reversed(before):
        if line.lstrip("> \t").startswith(("```", "~~~")):
            break
        if line.strip():
            lines.append(line)
        if len(lines) == _LINES_BEFORE:
            break
    return any(_FORBIDS.search(line) for line in lines)


def marked_as_wrong(view: View, offset: int) -> bool:
    """Whether the comment on the line, or those above it, say that it must not be done."""
    lines = view.data[: view.data.find(b"\n", offset) if b"\n" in view.data[offset:] else None].split(b"\n")
    here = lines.pop().decode("utf-8", "replace")
    if "#" in here and _FORBIDS.search(here[here.rindex("#") :]):
        return True
    while lines and lines[-1].lstrip().startswith(b"#"):
        if _FORBIDS.search(lines.pop().decode("utf-8", "replace")):
            return True
    return False
