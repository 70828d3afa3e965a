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
    before = region.host.data
    # The last line is the fence's own.
    end = before.rfind(b"\n", 0, _text_end(before, region.pieces[0][1]))
    seen = 0
    while end >= 0 and seen < _LINES_BEFORE:
        begin = before.rfind(b"\n", 0, end) + 1
        line = before[begin:end].decode("utf-8", "replace")
        if line.lstrip("> \t").startswith(("```", "~~~")):
            break
        if line.strip():
            seen += 1
            if _FORBIDS.search(line):
                return True
        end = begin - 1
    return False


def _text_end(data: bytes, end: int) -> int:
    """``end`` without the line breaks before it."""
    while end > 0 and data[end - 1 : end] == b"\n":
        end -= 1
    return end


def marked_as_wrong(view: View, offset: int) -> bool:
    """Whether the comment on the line, or those above it, say that it must not be done."""
    data = view.data
    begin, end = data.rfind(b"\n", 0, offset) + 1, data.find(b"\n", offset)
    here = data[begin : end if end >= 0 else len(data)].decode("utf-8", "replace")
    if "#" in here and _FORBIDS.search(here[here.rindex("#") :]):
        return True
    while begin:
        end, begin = begin - 1, data.rfind(b"\n", 0, begin - 1) + 1
        line = data[begin:end]
        if not line.lstrip().startswith(b"#"):
            return False
        if _FORBIDS.search(line.decode("utf-8", "replace")):
            return True
    return False
