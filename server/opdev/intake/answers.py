"""Answers as people write them: words, a YAML or JSON file, and the template of such a file.

A file is read with places, so that what is wrong with it is said with its line.  Nothing is guessed: a word that is no
answer to its question is a problem, and so is a question that was answered twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from opdev.design.compose import Composer
from opdev.design.nodes import Node
from opdev.design.problems import nearest
from opdev.design.recover import read
from opdev.design.text import FenceText
from opdev.intake.model import FIVE, IDS, LATER, Question, Remark, problem
from opdev.kinds import Kind
from opdev.rules.model import Lang
from opdev.source import Source
from opdev.syntax.file import File

_YES = frozenset({"yes", "y", "true", "on", "1", "是", "需要", "要", "做"})
_NO = frozenset({"no", "n", "false", "off", "0", "否", "不需要", "不要", "不", "不做"})
_WORDS: Mapping[str, Mapping[str, str]] = {
    "cann": {"session": "session", "session_preconfigured": "session", "default": "default", "default_system": "default"},
    "build_mode": {
        "custom_ops": "custom_ops", "custom-ops": "custom_ops", "independent_project": "custom_ops", "independent": "custom_ops",
        "in_tree": "in_tree", "in-tree": "in_tree", "in_tree_example": "in_tree", "examples": "in_tree",
    },
    "shmem_install": {"build": "build"},
    "torch_env": {"install": "install"},
}  # fmt: skip
_NOTHING = frozenset({"none", "null", "~", "无", "不用"})
_CHOICES = {
    "torch": "yes | no",
    "perf": "yes | no",
    "perf_auto_optim": "yes | no",
    "build_mode": "custom_ops | in_tree",
}
LARGEST = 100_000
"""Bytes of an answers file; more is something else."""
_LONGEST = 1000


@dataclass
class Given:
    """Answers by question, each in its one spelling; ``remarks`` are what is wrong with the others."""

    words: dict[str, str] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)

    @property
    def missing(self) -> list[str]:
        """Which of the five have no answer."""
        return [one for one in FIVE if one not in self.words]

    def take(self, question: str, text: str, line: int = 0) -> None:
        """Note an answer, or why it is none."""
        word, remark = understood(question, text)
        if remark is None:
            self.words[question] = word
        else:
            self.remarks.append(Remark(remark.code, remark.id, remark.kind, {**remark.args, "line": line}))


def understood(question: str, text: str) -> tuple[str, Remark | None]:
    """The answer in its one spelling, or the problem with it."""
    word = text.strip()
    if not word or (word.startswith("<") and word.endswith(">")):
        return "", problem("empty", question)
    if not word.isprintable() or len(word) > _LONGEST:
        return "", problem("bad-text", question)
    folded = word.lower()
    if question in ("torch", "perf", "perf_auto_optim"):
        if folded in _YES or folded in _NO:
            return ("yes" if folded in _YES else "no"), None
        return "", problem("bad-choice", question, value=word, choices=_CHOICES[question])
    known = _WORDS.get(question, {})
    if folded in known:
        return known[folded], None
    if question == "build_mode":
        return "", problem("bad-choice", question, value=word, choices=_CHOICES[question])
    if folded in (LATER, "pending", "稍后"):
        return LATER, None
    if question in ("container", "conda", "skills_root") and folded in _NOTHING:
        return "none", None
    return word, None


def read_answers(path: str, raw: bytes) -> Given:
    """The answers of a file, YAML or JSON: question to answer, also below one key ``answers``."""
    given = Given()
    if len(raw) > LARGEST:
        given.remarks.append(problem("too-large", "", most=LARGEST, path=path))
        return given
    file = File(Source.from_disk(path, raw), Kind("yaml", frozenset({"contract"})))
    text = FenceText(file)
    text.text = text.text.replace("\t", " ")
    composer = Composer(text)
    top = read(composer)
    for fault in composer.faults[:5]:
        line = file.source.line_of(fault.start) + 1
        given.remarks.append(problem("twice" if fault.reason == "duplicate-key" else "unreadable", "", line=line))
    if top is None or top.kind != "mapping":
        if top is not None and not given.remarks:
            given.remarks.append(problem("no-mapping", "", path=path))
        return given
    inner = top.get("answers")
    if inner is not None and inner.kind == "mapping":
        top = inner
    for node in top.children:
        _take(given, node, file.source.line_of(max(0, node.name_range[0])) + 1)
    return given


def _take(given: Given, node: Node, line: int) -> None:
    key = (node.key or "").strip()
    if key not in IDS:
        near = nearest(key, IDS) or ""
        given.remarks.append(problem("unknown-question", key[:80], near=near, line=line))
    elif node.kind != "scalar":
        given.remarks.append(problem("not-text", key, line=line))
    else:
        given.take(key, "none" if node.tag == "null" and node.value.strip() else node.value, line)


def template(lang: Lang, asked: list[Question]) -> str:
    """An answers file with every question and no answer."""
    zh = lang == "zh"
    head = (
        "启动确认的回答，交给 opdev intake --answers。五个问题都要答，不替你选。"
        if zh
        else "Answers for `opdev intake --answers`. All five questions need one; nothing is chosen for you."
    )
    out = [f"# {head}\n"]
    for question in asked:
        number = f"{question.number}. " if question.number else ""
        out.append(f"\n# {number}{question.prompt}\n")
        out += [f"#    {line}\n" for line in (question.detail, question.why and f"({question.why})") if line]
        out += [f"#    {option.id}: {option.label}\n" for option in question.options]
        if question.text:
            out.append(
                f"#    {'或' if zh else 'or'} {question.text}\n" if question.options else f"#    {question.text}\n"
            )
        out.append(f"{'' if question.number else '# '}{question.id}:\n")
    return "".join(out)
