"""What a client may ask of a run, read strictly: every value becomes one word of a command line, none a shell's text."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from opdev.lsp.fields import FieldError

_EXECUTORS = ("host", "docker", "sim")
_FLAGS = {"resume": "--resume", "keepGoing": "--keep-going"}
_MOST_PES = 1024
_COUNTS = {"count": ("--count", 1 << 40), "iters": ("--iters", 1 << 20)}
_WORDS = {"executor": "--executor", "container": "--container", "dtype": "--dtype", "devices": "--devices"}
_KEYS = frozenset({"root", "phase", "cases", "pes", *_FLAGS, *_COUNTS, *_WORDS})
_MOST_CASES = 200
_LONGEST = 300


def run_words(params: Mapping[str, Any], *, also: Collection[str] = ()) -> list[str]:
    """The words of ``opdev run`` after it, root apart; FieldError names what is wrong.

    ``also`` are names of phases that one workflow alone has: whose operator it is, is not known yet.
    """
    from opdev.phases.graph import ORDER, phase_id

    unknown = sorted(set(params) - _KEYS)
    if unknown:
        raise FieldError(f"{unknown[0]} is none of {', '.join(sorted(_KEYS))}")
    asked = str(params.get("phase", ""))
    phase = "all" if asked == "all" else phase_id(asked) or (asked if asked in also else None)
    if phase is None:
        raise FieldError(f"phase is {asked!r}, and not one of all, {', '.join(ORDER)}")
    words = [phase]
    for key, option in _FLAGS.items():
        if _of(params, key, bool):
            words.append(option)
    pes = params.get("pes")
    if pes is not None:
        counts = pes if isinstance(pes, list) else [pes]
        if not counts or not all(type(n) is int and 1 <= n <= _MOST_PES for n in counts):
            raise FieldError(f"pes is {pes!r}, and no number from 1 to {_MOST_PES}, or a list of such")
        words.append(f"--pes={','.join(map(str, counts))}")
    for key, (option, most) in _COUNTS.items():
        number = _of(params, key, int)
        if number is not None:
            if not 1 <= number <= most:
                raise FieldError(f"{key} is {number}, and not from 1 to {most}")
            words.append(f"{option}={number}")
    for key, option in _WORDS.items():
        text = _of(params, key, str)
        if text:
            if key == "executor" and text not in _EXECUTORS:
                raise FieldError(f"executor is {text!r}, and not one of {', '.join(_EXECUTORS)}")
            words.append(f"{option}={_plain(text, key)}")
    cases = _of(params, "cases", list) or []
    if len(cases) > _MOST_CASES:
        raise FieldError(f"cases has {len(cases)} items, and {_MOST_CASES} at most")
    for case in cases:
        if not isinstance(case, str) or not case:
            raise FieldError("cases is a list of case ids")
        words.append(f"--case={_plain(case, 'cases')}")
    return words


def _of(params: Mapping[str, Any], key: str, kind: type) -> Any:
    value = params.get(key)
    if value is None:
        return None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise FieldError(f"{key} is not {kind.__name__} but {type(value).__name__}")
    return value


def _plain(text: str, key: str) -> str:
    if not text.isprintable() or len(text) > _LONGEST:
        raise FieldError(f"{key} has characters nobody can see, or more than {_LONGEST}")
    return text
