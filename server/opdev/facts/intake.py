"""The record of the five questions a session starts with: which phases run, on what, and where.

It has one home, docs/phase0_intake.yaml; other places where it is found are read when that is not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from opdev.design.document import INTAKE, document_of
from opdev.design.nodes import Node
from opdev.facts.structured import root_of
from opdev.syntax.file import File

HOMES = ("docs/phase0_intake.yaml", "docs/phase0_intake.yml", "phase0_intake.yaml", ".opdev/phase0_intake.yaml")
"""Where the record is looked for below the operator, the first that is there being it."""
FLAGS = (
    "torch_required",
    "performance_required",
    "performance_auto_optim",
    "cann_set_env_pending",
    "docker_exec_required",
)
CHOICES = {
    "build_mode": ("independent_project", "in_tree_example"),
    "cann_source_mode": ("session_preconfigured", "default_system", "user_custom"),
}
FIELDS = (
    "op_name", "build_mode", "torch_required", "performance_required", "performance_auto_optim", "cann_set_env",
    "cann_source_mode", "conda_env", "shmem_repo", "skills_root", "askquestion_completed", "cann_set_env_pending",
    "docker_container", "docker_workdir", "docker_exec_required",
)  # fmt: skip
QUESTIONS = (1, 2, 3, 4, 5)
_MAY_BE_NULL = frozenset({"docker_container", "docker_workdir"})
Code = Literal["missing", "empty", "wrong-type", "wrong-enum", "pending", "unanswered"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One field.  ``[start, end)`` is its value, its key where there is none; ``value`` plain Python."""

    value: object
    text: str
    start: int
    end: int
    key_start: int
    key_end: int


@dataclass(frozen=True, slots=True)
class IntakeProblem:
    """What is wrong with a field; a missing one is shown at the record's beginning."""

    field: str
    code: Code
    start: int
    end: int
    value: str = ""
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Intake:
    """The record.  ``[start, end)`` is its key, or its first character."""

    path: str
    origin: Literal["record", "design"]
    answers: Mapping[str, Answer]
    problems: tuple[IntakeProblem, ...]
    start: int
    end: int
    node: Node
    """The record's mapping, for edits."""

    def value(self, field: str) -> object:
        """A field's value; None where it is not there."""
        answer = self.answers.get(field)
        return answer.value if answer is not None else None

    def flag(self, field: str) -> bool | None:
        """A yes or no; None where it is neither."""
        value = self.value(field)
        return value if isinstance(value, bool) else None


class _Project(Protocol):
    @property
    def root(self) -> str: ...

    def files(self, *kinds: str) -> Iterable[File]: ...


def intake_of(project: _Project) -> Intake | None:
    """The operator's intake record; None where there is none."""
    there = {f.path[len(project.root) + 1 :]: f for f in project.files("contract")}
    for home in HOMES:
        if home in there:
            found = intake_in(there[home])
            if found is not None:
                return found
    designs = sorted(project.files("design-doc"), key=lambda f: f.path != f"{project.root}/docs/design.md")
    return next((i for f in designs if (i := intake_in(f)) is not None), None)


def intake_in(file: File) -> Intake | None:
    """The record a file is, or carries."""
    return file.memo("facts.intake", lambda: _read(file))


def _read(file: File) -> Intake | None:
    if file.language == "markdown":
        fence = document_of(file).intake
        top = fence.root if fence is not None else None
    else:
        top = root_of(file)
    if top is None or top.kind != "mapping":
        return None
    node = top.get(INTAKE)
    if node is None and file.language != "markdown" and any(top.get(f) is not None for f in FIELDS):
        node = top
    if node is None or node.kind != "mapping":
        return None
    answers = {
        child.key: Answer(child.data(), child.text, *child.where, *child.name_range)
        for child in node.children
        if child.key and child.kind != "broken"
    }
    start, end = (node.key_start, node.key_end) if node.key_start >= 0 else (node.start, min(node.start + 1, node.end))
    origin: Literal["record", "design"] = "design" if file.language == "markdown" else "record"
    return Intake(file.path, origin, answers, tuple(_problems(node, answers, start, end)), start, end, node)


def _problems(node: Node, answers: Mapping[str, Answer], start: int, end: int) -> Iterable[IntakeProblem]:
    broken = {child.key for child in node.children if child.kind == "broken"}
    for name in FIELDS:
        answer = answers.get(name)
        if answer is None:
            if name not in broken:
                yield IntakeProblem(name, "missing", start, end)
            continue
        at = (answer.start, answer.end)
        if name in FLAGS:
            if not isinstance(answer.value, bool):
                yield IntakeProblem(name, "wrong-type", *at, answer.text, "true, false")
        elif name == "askquestion_completed":
            done = answer.value if isinstance(answer.value, list) else []
            lacking = [str(q) for q in QUESTIONS if q not in done]
            if lacking:
                yield IntakeProblem(name, "unanswered", *at, answer.text, ", ".join(lacking))
        elif name in _MAY_BE_NULL:
            continue
        elif name == "cann_set_env" and _of_session(answers) and not answer.text.strip():
            # The shell that runs the commands has CANN loaded: there is no script to name.
            continue
        elif answer.value is None or not answer.text.strip():
            yield IntakeProblem(name, "empty", *at)
        elif name in CHOICES and answer.text not in CHOICES[name]:
            yield IntakeProblem(name, "wrong-enum", *at, answer.text, ", ".join(CHOICES[name]))
        elif answer.text == "pending":
            yield IntakeProblem(name, "pending", *at, "pending")


def _of_session(answers: Mapping[str, Answer]) -> bool:
    mode = answers.get("cann_source_mode")
    return mode is not None and mode.text == "session_preconfigured"
