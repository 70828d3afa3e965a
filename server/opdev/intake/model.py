"""The words of the intake: question, option, what a machine has, remark.  Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from opdev.rules.model import Lang

FIVE = ("cann", "build_mode", "torch", "perf", "perf_auto_optim")
"""The questions that are asked of everybody, in their order."""
EXTRA = (
    "op_name", "semantics", "container", "workdir", "conda", "shmem_repo", "shmem_install", "skills_root", "torch_env",
)  # fmt: skip
"""What else may be answered: asked only where the machine does not say it."""
IDS = (*FIVE, *EXTRA)
LATER = "later"
"""The answer that a path, or a name, comes later."""


class UsageError(ValueError):
    """The command line asks for what is not there; its text is for the user."""


@dataclass(frozen=True, slots=True)
class Option:
    """One choice: ``id`` is the answer, ``value`` what the record gets for it."""

    id: str
    label: str
    value: object = None


@dataclass(frozen=True, slots=True)
class Question:
    """One question in one language.

    ``number`` counts the five; None for a question that only some machines raise, and ``why`` says why.
    ``text`` describes the free text that is an answer, too; empty where one of the options has to be chosen.
    ``when`` are answers to other questions that make this one worth asking.  ``default`` is what an empty answer
    means; the five have none.
    """

    id: str
    key: str
    """The record's key the answer goes to."""
    prompt: str
    number: int | None = None
    detail: str = ""
    options: tuple[Option, ...] = ()
    text: str = ""
    why: str = ""
    default: str = ""
    when: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """For editors and ``--format json``."""
        return {
            "id": self.id, "number": self.number, "field": self.key, "prompt": self.prompt, "detail": self.detail,
            "options": [{"id": o.id, "label": o.label, "value": o.value} for o in self.options],
            "text": self.text or None, "why": self.why or None, "default": self.default or None, "when": dict(self.when),
        }  # fmt: skip


Import = Literal["ok", "missing", "failed", "timeout", "unasked"]


@dataclass(frozen=True, slots=True)
class Probe:
    """What a machine shows of itself; an empty text is what it has not.

    ``candidates`` pairs the places of a system-wide CANN with whether a set_env.sh is there.  ``asked`` is False
    where the machine did not answer in time: then nothing is known, which is not the same as nothing there.
    """

    ascend_home: str = ""
    opp_path: str = ""
    bisheng: str = ""
    npu_smi: str = ""
    conda_env: str = ""
    conda: str = ""
    session_script: str = ""
    candidates: tuple[tuple[str, bool], ...] = ()
    shmem_repo: str = ""
    repo_from: str = ""
    installed: bool = False
    skills_root: str = ""
    torch: Import = "unasked"
    torch_detail: str = ""
    asked: bool = True

    @property
    def hardware(self) -> bool:
        """Whether operators can be built or run for an NPU here."""
        return bool(self.bisheng or self.npu_smi)

    @property
    def default_cann(self) -> str:
        """The first system-wide set_env.sh there is."""
        return next((path for path, there in self.candidates if there), "")


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about the answers: a ``problem`` keeps them from being recorded, a ``note`` is told."""

    code: str
    id: str
    kind: Literal["problem", "note"] = "problem"
    args: Mapping[str, object] = field(default_factory=dict)

    def text(self, lang: Lang) -> str:
        """The sentence."""
        from opdev.intake.texts import remark

        return remark(self.code, lang, id=self.id, **self.args)

    def as_json(self, lang: Lang) -> dict[str, Any]:
        return {"code": self.code, "id": self.id, "kind": self.kind, "text": self.text(lang)}


def problem(code: str, id_: str, **args: object) -> Remark:
    """What keeps an answer from being recorded."""
    return Remark(code, id_, "problem", args)


def note(code: str, id_: str, **args: object) -> Remark:
    """What the user is told about an answer that is recorded."""
    return Remark(code, id_, "note", args)
