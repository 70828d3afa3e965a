"""The record as a file: made anew or changed in place, compared with what was confirmed before, written whole.

A confirmed answer is never replaced unless asked for.  What was not usable in an old record (missing, pending, no
value of its kind) may be filled in freely.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from opdev.atomic import write_bytes
from opdev.design.compose import Composer
from opdev.design.recover import read
from opdev.design.text import FenceText
from opdev.facts.intake import FIELDS, HOMES, Intake, intake_in
from opdev.facts.intake_text import changed, new_text, yaml_value
from opdev.intake.answers import Given
from opdev.intake.model import IDS, Probe, Remark, problem
from opdev.intake.resolving import Sees, Setting, resolve
from opdev.kinds import Kind
from opdev.source import Source
from opdev.syntax.file import File

_HARMLESS = frozenset({"control-character"})


@dataclass(frozen=True, slots=True)
class Existing:
    """The record's file as it is.  ``raw`` None: there is none.  ``intake`` None: it holds no record.

    ``damaged`` is the 1-based line from which it cannot be read as YAML, 0 where it can.
    """

    path: str
    raw: bytes | None = None
    intake: Intake | None = None
    damaged: int = 0

    @property
    def values(self) -> dict[str, object]:
        """The recorded values by key."""
        return {k: a.value for k, a in self.intake.answers.items()} if self.intake is not None else {}

    @property
    def confirmed(self) -> dict[str, object]:
        """The values that stand: those nothing is wrong with."""
        if self.intake is None:
            return {}
        wrong = {p.field for p in self.intake.problems} | {"askquestion_completed", "cann_set_env_pending"}
        if self.intake.flag("cann_set_env_pending"):
            wrong |= {"cann_set_env", "cann_source_mode"}
        return {key: value for key, value in self.values.items() if key in FIELDS and key not in wrong}

    @property
    def complete(self) -> bool:
        """Whether every question was answered, with nothing wrong (a path may still be pending)."""
        return self.intake is not None and all(p.code in ("pending", "empty") for p in self.intake.problems)


class RecordError(Exception):
    """The record cannot be written: ``key`` is a text's, ``values`` fill it in."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key)
        self.key, self.values = key, values


def existing(root: str) -> Existing:
    """The record's file of an operator: the first of its homes that is there, else where it will be.

    Raises OSError where it is there and cannot be read.
    """
    for home in HOMES:
        path = f"{root}/{home}"
        if os.path.lexists(path):
            with open(path, "rb") as stream:
                return parsed(path, stream.read())
    return Existing(f"{root}/{HOMES[0]}")


def parsed(path: str, raw: bytes) -> Existing:
    """A record's file by its bytes."""
    file = _file(path, raw)
    composer = Composer(FenceText(file))
    read(composer)
    faults = [f for f in composer.faults if f.reason not in _HARMLESS]
    line = file.source.line_of(min(f.start for f in faults)) + 1 if faults else 0
    if file.source.encoding == "bytes":
        line = line or 1
    return Existing(path, raw, intake_in(file), line)


def _file(path: str, raw: bytes) -> File:
    return File(Source.from_disk(path, raw), Kind("yaml", frozenset({"contract"})))


def record(
    answers: Mapping[str, object],
    probe: Probe | None = None,
    setting: Setting | None = None,
    before: bytes | None = None,
    sees: Sees | None = None,
) -> tuple[str, list[Remark]]:
    """The record's text for answers by question (``True``/``False`` and words alike), and what is to be said of them.

    ``before`` is the text of a record that is there: its comments and other keys stay.  Text is empty where an answer
    is missing or cannot be used; the remarks of kind ``problem`` say which.
    """
    given = Given()
    for key, value in answers.items():
        if key not in IDS:
            given.remarks.append(problem("unknown-question", str(key)[:80]))
        elif value is not None:
            given.take(key, ("yes" if value else "no") if isinstance(value, bool) else str(value))
    found = resolve(given.words, probe or Probe(asked=False), setting, sees)
    badly = {r.id for r in given.remarks}
    remarks = given.remarks + [r for r in found.remarks if not (r.code == "missing" and r.id in badly)]
    if any(r.kind == "problem" for r in remarks):
        return "", remarks
    file = _file("phase0_intake.yaml", before or b"")
    try:
        return text_of(parsed(file.path, before) if before else Existing(file.path), found.values).decode(), remarks
    except RecordError as error:
        line = error.values.get("line")
        return "", [*remarks, problem("unreadable", "", line=line) if line else problem("uneditable", "")]


def text_of(before: Existing, values: Mapping[str, object]) -> bytes:
    """The file's new text as UTF-8; RecordError where the old one cannot be changed in place."""
    if before.raw is None:
        return new_text(values).encode()
    if before.damaged:
        raise RecordError("damaged", path=before.path, line=before.damaged)
    file = _file(before.path, before.raw)
    data = changed(file, before.intake, values)
    again = intake_in(_file(before.path, data)) if data is not None else None
    if data is None or again is None or any(again.value(k) != v for k, v in values.items()):
        # Whatever the old text was, what is written has to say what was answered.
        raise RecordError("uneditable", path=before.path)
    return data


def differences(before: Existing, values: Mapping[str, object]) -> list[tuple[str, str, str]]:
    """(key, old value, new value) of the confirmed answers that would change, as the record writes them."""
    return [(k, yaml_value(v), yaml_value(values[k])) for k, v in before.confirmed.items() if k in values and v != values[k]]  # fmt: skip


def write(before: Existing, values: Mapping[str, object], *, anew: bool = False) -> str:
    """Write the record; the path of the copy that is kept of a damaged one, else nothing.

    ``anew`` replaces a file that cannot be changed in place, after keeping it beside.  Raises RecordError, OSError.
    """
    kept = ""
    try:
        data = text_of(before, values)
        source = Source.from_disk(before.path, before.raw or b"")
        try:
            raw = source.to_disk(data)
        except UnicodeError:
            raise RecordError("uneditable", path=before.path) from None
    except RecordError:
        if not anew or before.raw is None:
            raise
        raw, kept = new_text(values).encode(), _beside(before.path)
    os.makedirs(os.path.dirname(before.path), exist_ok=True)
    if _bytes(before.path) != before.raw:
        raise RecordError("changed-meanwhile", path=before.path)
    if kept:
        write_bytes(kept, before.raw or b"")
    if raw != before.raw:
        write_bytes(before.path, raw)
    return kept


def _bytes(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return None


def _beside(path: str) -> str:
    """A free name beside the record."""
    number = 1
    while os.path.lexists(f"{path}.old{number}"):
        number += 1
    return f"{path}.old{number}"
