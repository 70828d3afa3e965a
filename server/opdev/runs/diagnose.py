"""Known failures: recognised in a step's output while it runs, told when the step failed.

``signatures.yaml`` is the data.  What is told first is a cause rather than what follows from it, and of several the
first in the output.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from opdev.rules.model import Text
from opdev.runs.execute import Outcome
from opdev.runs.lines import text_of

CLASSES = (
    "compile", "link", "launch", "runtime", "correctness", "kernel", "environment", "code", "design", "test", "timeout",
    "crash", "unknown",
)  # fmt: skip
"""What a failure is; ``commands/`` says which phase mends which."""
_MOST_EVIDENCE = 500


@dataclass(frozen=True, slots=True)
class Signature:
    """One known failure; see ``signatures.yaml``."""

    id: str
    cls: str
    rank: int
    words: tuple[bytes, ...]
    regex: re.Pattern[str] | None
    cause: Text
    next: Text


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What went wrong; ``order`` says how early it was seen, ``evidence`` is the line."""

    id: str
    cls: str
    cause: Text
    next: Text
    evidence: str
    rank: int
    order: int

    def fields(self) -> dict[str, Any]:
        """As an event carries it."""
        return {
            "signature": self.id, "class": self.cls, "cause": dict(self.cause), "next": dict(self.next),
            "evidence": self.evidence,
        }  # fmt: skip


@cache
def signatures() -> tuple[Signature, ...]:
    """All known failures."""
    import yaml

    with open(f"{os.path.dirname(__file__)}/signatures.yaml", encoding="utf-8") as stream:
        found = yaml.safe_load(stream)
    return tuple(_signature(item) for item in found)


def _signature(item: Mapping[str, Any]) -> Signature:
    words = tuple(dict.fromkeys(form for word in item["words"] for form in _encodings(word)))
    regex = re.compile(item["regex"]) if "regex" in item else None
    return Signature(item["id"], item["class"], item.get("rank", 1), words, regex, item["cause"], item["next"])


def _encodings(word: str) -> Iterable[bytes]:
    yield word.encode()
    if not word.isascii():
        yield word.encode("gb18030")


_GATE = 5
"""Bytes of the pieces that several words share."""


@cache
def _gates() -> tuple[tuple[bytes, tuple[tuple[Signature, bytes], ...]], ...]:
    """Pieces of words with the words that hold them, as few as possible: output without a piece holds none of its words.

    Most output holds nothing, and then the number of searches is what it costs.
    """
    left = {(signature.id, word): signature for signature in signatures() for word in signature.words}
    found = []
    while left:
        holders: dict[bytes, set[tuple[str, bytes]]] = {}
        for key in left:
            word = key[1]
            for at in range(max(1, len(word) - _GATE + 1)):
                holders.setdefault(word[at : at + _GATE], set()).add(key)
        piece = max(holders, key=lambda p: (len(holders[p]), p))
        found.append((piece, tuple((left.pop(key), key[1]) for key in sorted(holders[piece]))))
    return tuple(found)


class Watch:
    """Looks at one step's output for known failures; each is kept once, with its first line."""

    def __init__(self) -> None:
        self._order = 0
        self._known: set[str] = set()
        self.seen: list[Diagnosis] = []

    def feed(self, lines: bytes) -> None:
        """Whole lines, colours gone."""
        for piece, words in _gates():
            if piece in lines:
                for signature, word in words:
                    if signature.id not in self._known and word in lines:
                        self._look(lines, signature)
        self._order += len(lines)

    def _look(self, lines: bytes, s: Signature) -> None:
        places = [found for word in s.words if word in lines and (found := _holding(lines, word, s.regex))]
        if places:
            at, text = min(places)
            self._known.add(s.id)
            self.seen.append(Diagnosis(s.id, s.cls, s.cause, s.next, text[:_MOST_EVIDENCE], s.rank, self._order + at))

    def told(self, outcome: Outcome) -> list[Diagnosis]:
        """What to say of a step that failed, the most likely cause first; never empty."""
        found = sorted(self.seen, key=lambda d: (d.rank, d.order))
        return found or [_unknown(outcome)]


def _holding(lines: bytes, word: bytes, regex: re.Pattern[str] | None) -> tuple[int, str] | None:
    """(offset, text) of the first line that holds a word and matches."""
    at = lines.find(word)
    while at >= 0:
        start = lines.rfind(b"\n", 0, at) + 1
        end = lines.find(b"\n", at)
        end = len(lines) if end < 0 else end
        text = text_of(lines[start:end]).strip()
        if regex is None or regex.search(text):
            return at, text
        at = lines.find(word, end)
    return None


def _unknown(outcome: Outcome) -> Diagnosis:
    def made(id_: str, cls: str, cause: tuple[str, str], next_: tuple[str, str], evidence: str) -> Diagnosis:
        texts = [{"zh": zh, "en": en} for zh, en in (cause, next_)]
        return Diagnosis(id_, cls, texts[0], texts[1], evidence, 1, 0)

    seconds = f"{outcome.seconds:.0f}"
    if outcome.failed:
        return made(
            "not-started", "environment",
            ("程序没有启动", "the program could not be started"),
            ("检查程序名与路径是否存在、能否执行", "check that it is there and may be executed"), outcome.failed,
        )  # fmt: skip
    if outcome.timed_out or outcome.exit == 124:
        return made(
            "timeout", "timeout",
            (f"{seconds} 秒后超时，程序被结束", f"it was ended after {seconds} s: out of time"),
            ("查是否在等不会来的信号；确实需要更久就调大超时", "see whether it waits for a signal that never comes; raise the timeout if it needs longer"),
            "",
        )  # fmt: skip
    number = outcome.signal or (outcome.exit - 128 if outcome.exit is not None and 128 < outcome.exit < 160 else None)
    if number is not None:
        return made(
            "crash", "crash",
            (f"程序被信号 {number} 结束", f"the program died of signal {number}"),
            ("11 是越界访问，6 是断言或 abort，9 是被别人或内存不足结束", "11 is a bad access, 6 an assertion or abort, 9 somebody's kill or out of memory"),
            "",
        )  # fmt: skip
    return made(
        "unknown", "unknown",
        (f"退出码 {outcome.exit}，输出里没有已知的报错", f"exit status {outcome.exit}, and no known message in its output"),
        ("看日志里的第一条报错", "look for the first error in the log"), "",
    )  # fmt: skip
