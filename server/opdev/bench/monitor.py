"""A batch on a terminal: one frame of lines made from ``state.json``, and whether the batch still lives.

``frame`` is pure: it looks at nothing but what it is given.  ``loaded`` reads the state and adds what only this machine
knows: a batch whose process is gone is interrupted, whatever its state says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from opdev.bench.texts import say
from opdev.columns import clip, pad
from opdev.rules.model import Lang

RUNNING, FINISHED, ENDED, PREFLIGHT, INTERRUPTED = "正在进行", "已完成", "未完成", "预检查中", "已中断"
OVER = frozenset({FINISHED, ENDED, INTERRUPTED})
STOPPED = frozenset({ENDED, INTERRUPTED})
"""What had begun then and has no result goes on no more."""
LONG = 5400
"""Seconds after which a generation is said to be long."""
_RESULTS = {
    "success": "done", "pypto_failed": "pypto-failed", "verify_failed": "verify-failed",
    "baseline_failed": "baseline-failed", "verify_error": "verify-error", "verifier_skipped": "verify-skipped",
}  # fmt: skip
_RANK = {"verifying": 0, "generating": 0, "long": 0, "timeout": 0, "preparing": 1, "going": 1, "interrupted": 2}
_MAIN = {RUNNING: "running", FINISHED: "finished", ENDED: "ended", PREFLIGHT: "preflight", INTERRUPTED: "interrupted"}
_GAP = 2
_RIGHT = frozenset({"number", "sec"})
# Name, columns, and the order in which they go where the terminal is narrow (the highest first; 0 stays).
_COLUMNS = (
    ("number", 4, 0), ("operator", 24, 0), ("phase", 10, 3), ("pypto-start", 17, 6), ("pypto-end", 16, 4),
    ("verify-start", 17, 7), ("verify-end", 16, 5), ("sec", 9, 1), ("status", 22, 0),
)  # fmt: skip


def frame(state: Mapping[str, Any], columns: int, now: float, lang: Lang, rows: int | None = None) -> list[str]:
    """The lines of a batch, none wider than ``columns``; ``now`` in seconds since 1970.

    With ``rows`` at most so many lines: what runs comes first then, after it what failed, and how many are left out is said.
    """
    operators = [one for one in _list(state.get("operators")) if isinstance(one, dict)]
    main = _text(state.get("main_status"))
    dead = main in STOPPED
    limit = state.get("timeout_sec")
    timeout = float(limit) if isinstance(limit, (int, float)) and _is_number(limit) else 0.0
    kinds = [dev_status(one, now, timeout, dead=dead) for one in operators]
    head = [clip(line, columns) for line in _head(state, main, kinds, now, lang)]
    order: Sequence[int] = range(len(operators))
    more = 0
    if rows is not None and len(head) + 2 + len(operators) > rows:
        room = max(rows - len(head) - 3, 1)
        more = len(operators) - room
        order = sorted(order, key=lambda i: (_RANK.get(kinds[i], 5 if kinds[i] in ("done", "not-started") else 3), i))
        order = sorted(order[:room])
    layout = _layout(columns)
    names = [say(f"r-m-{name}", lang) for name, _, _ in layout]
    lines = [_row(names, layout, columns), _row(["-" * size for _, size, _ in layout], layout, columns)]
    words: dict[str, str] = {}
    several = len({_text(one.get("level")) for one in operators}) > 1
    for index in order:
        cells = _cells(operators[index], index, kinds[index], state, now, lang, words, dead=dead, several=several)
        lines.append(_row([cells[name] for name, _, _ in layout], layout, columns))
    if more:
        lines.append(clip(say("r-m-more", lang, count=more), columns))
    return [*head, *lines]


def dev_status(operator: Mapping[str, Any], now: float, timeout: float, *, dead: bool = False) -> str:
    """What an operator is at, as a key of the texts (``r-s-…``); the rules of the field's own monitor, in their order."""
    result, made = _text(operator.get("result_status")), _text(operator.get("pypto_status"))
    if result == "pypto_failed":
        return "pypto-timeout" if made == "timeout" else "pypto-failed"
    if result in _RESULTS:
        return _RESULTS[result]
    phases = operator.get("phases")
    phases = phases if isinstance(phases, dict) else {}
    phase = operator.get("phase")
    verifier, pypto = _phase(phases, "verifier"), _phase(phases, "pypto")
    started = any(one.get("started_at") for one in (verifier, pypto)) or phase not in (None, "", "pending")
    if dead:
        return "interrupted" if started else "not-started"
    if _lives(verifier):
        return "verifying"
    if _lives(pypto):
        took = _since(pypto.get("started_at"), now) or 0.0
        if timeout and took >= timeout:
            return "timeout"
        return "long" if took >= LONG else "generating"
    if phase == "prepare":
        return "preparing"
    if made == "skipped":
        return "pypto-skipped"
    return "going" if started else "not-started"


def status_word(kind: str, lang: Lang) -> str:
    return say(f"r-s-{kind}", lang)


def _head(state: Mapping[str, Any], main: str, kinds: Sequence[str], now: float, lang: Lang) -> list[str]:
    word = say(f"r-b-{_MAIN[main]}", lang) if main in _MAIN else main or "-"
    root = _text(state.get("artifact_root_dir"))
    last = state.get("updated_at") if main in OVER else None
    took = _between(state.get("started_at"), last, now)
    first = say("r-m-title", lang, root=root, word=word, seconds=_duration(took))
    count = Counter(kinds)
    done = count["done"]
    over = sum(count[kind] for kind in (*_RESULTS.values(), "pypto-timeout"))
    waiting, skipped = count["not-started"], count["verify-skipped"]
    active = len(kinds) - over - waiting
    second = say(
        "r-m-totals-dead" if main in STOPPED else "r-m-totals",
        lang,
        over=over,
        all=len(kinds),
        good=done,
        bad=over - done - skipped,
        skipped=say("r-m-skipped", lang, count=skipped) if skipped else "",
        active=active,
        waiting=waiting,
    )
    out = [first, second]
    if state.get("backend") == "sim":
        out.append(say("r-m-sim", lang))
    if main == PREFLIGHT or state.get("preflight_message"):
        text = _text(state.get("preflight_messages"), lang) or _text(state.get("preflight_message"))
        out += [text] if text else []
    if main == INTERRUPTED:
        out.append(say("r-m-interrupted", lang))
    if note := _text(state.get("monitor_note"), lang):
        out.append(note)
    return [*out, ""]


def _cells(
    one: Mapping[str, Any], index: int, kind: str, state: Mapping[str, Any], now: float, lang: Lang, words: dict[str, str],
    *, dead: bool, several: bool,
) -> dict[str, str]:  # fmt: skip
    phases = one.get("phases")
    phases = phases if isinstance(phases, dict) else {}
    pypto, verifier = _phase(phases, "pypto"), _phase(phases, "verifier")
    word = words.setdefault(kind, status_word(kind, lang))
    backend = one.get("backend") or state.get("backend")
    if backend == "sim" and kind in ("done", "verify-failed", "verify-error", "baseline-failed", "verifying"):
        word = words.setdefault(f"{kind}-sim", word + say("r-m-sim-mark", lang))
    phase = _text(one.get("phase"))
    return {
        "number": str(index + 1),
        "operator": _named(one, several=several),
        "phase": phase or "-",
        "pypto-start": _moment(pypto.get("started_at")),
        "pypto-end": _end(pypto, now, dead=dead),
        "verify-start": _moment(verifier.get("started_at")),
        "verify-end": _end(verifier, now, dead=dead),
        "sec": _took(one, pypto, verifier, now, dead=dead),
        "status": word,
    }


def _named(one: Mapping[str, Any], *, several: bool) -> str:
    """A case by its name; with its level where there are several."""
    name, level = _text(one.get("case_id")) or _text(one.get("op_name")) or "-", _text(one.get("level"))
    return f"{level}/{name}" if several and level else name


def _layout(columns: int) -> list[tuple[str, int, int]]:
    """The columns that fit; the widest terminal has all of them."""
    found = list(_COLUMNS)
    while _wide(found) > columns and (worst := max(drop for _, _, drop in found)):
        found = [one for one in found if one[2] != worst]
    over = _wide(found) - columns
    if over > 0:
        found = [(name, max(size - over, 4) if name == "operator" else size, drop) for name, size, drop in found]
    return found


def _wide(layout: Sequence[tuple[str, int, int]]) -> int:
    return sum(size + _GAP for _, size, _ in layout) - _GAP


def _row(cells: Sequence[str], layout: Sequence[tuple[str, int, int]], columns: int) -> str:
    line = (
        (" " * _GAP)
        .join([_fit(cell, size, name in _RIGHT) for cell, (name, size, _) in zip(cells, layout, strict=True)])
        .rstrip()
    )
    # Cells are of their columns' widths: only what is narrower than the narrowest layout is cut.
    return line if _wide(layout) <= columns else clip(line, columns)


@lru_cache(maxsize=8192)
def _fit(cell: str, size: int, right: bool) -> str:
    return pad(clip(cell, size), size, right=right)


def _phase(phases: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = phases.get(name)
    return found if isinstance(found, dict) else {}


def _lives(phase: Mapping[str, Any]) -> bool:
    return bool(phase.get("started_at")) and not phase.get("ended_at")


def _end(phase: Mapping[str, Any], now: float, *, dead: bool) -> str:
    if phase.get("ended_at"):
        return _moment(phase["ended_at"])
    took = _since(phase.get("started_at"), now)
    return "-" if took is None or dead else f"{took:.0f}s"


def _took(
    one: Mapping[str, Any], pypto: Mapping[str, Any], verifier: Mapping[str, Any], now: float, *, dead: bool
) -> str:
    if _is_number(one.get("duration_sec")):
        return f"{one['duration_sec']:.0f}"
    if dead:
        return "-"
    took = _since(one.get("started_at") or pypto.get("started_at") or verifier.get("started_at"), now)
    return "-" if took is None else f"{took:.0f}"


def _seconds(value: object) -> float | None:
    return _parsed(value) if isinstance(value, str) and value else None


@lru_cache(maxsize=4096)
def _parsed(value: str) -> float | None:
    """Seconds since 1970 of a local time: the same moment is asked for in every frame."""
    try:
        return datetime.fromisoformat(value).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _since(value: object, now: float) -> float | None:
    first = _seconds(value)
    return None if first is None else max(now - first, 0.0)


def _between(first: object, last: object, now: float) -> float | None:
    start, end = _seconds(first), _seconds(last)
    return None if start is None else max((now if end is None else end) - start, 0.0)


def _moment(value: object) -> str:
    """``m-d H:M:S`` of a moment that the state has as ``Y-m-d H:M:S``."""
    text = _text(value)
    return text[5:19].replace("T", " ") if len(text) >= 19 else text or "-"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def _text(value: object, lang: Lang = "zh") -> str:
    if isinstance(value, dict):
        value = value.get(lang)
    return value if isinstance(value, str) else ""


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e12
