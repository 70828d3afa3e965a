"""The form in a terminal: one question after the other, a summary, and nothing written before a yes.

Reads lines and writes text, so that it works over ssh, in a container and in an editor's terminal.  Nothing is
preselected: an empty line is an answer only where the question has a default, which none of the five has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TextIO

from opdev.facts.intake_text import ORDER, yaml_value
from opdev.intake.answers import understood
from opdev.intake.model import FIVE, Probe, Question, Remark
from opdev.intake.questions import TITLE, questions
from opdev.intake.resolving import Resolved, Setting, resolve
from opdev.intake.texts import say
from opdev.rules.model import Lang

_YES, _NO, _LEAVE = ("y", "yes", "是"), ("n", "no", "否"), ("q", "quit")
_KEYS = ("cann_set_env", "build_mode", "torch_required", "performance_required", "performance_auto_optim")
"""The recorded key that shows the answer to each of the five."""


class LeftError(Exception):
    """The user left the form, or its input ended."""


@dataclass
class Form:
    """One session.  ``preset`` are answers given on the command line; they are not asked for."""

    lang: Lang
    source: TextIO
    out: TextIO
    probe: Probe
    setting: Setting
    preset: Mapping[str, str] = field(default_factory=dict)
    recorded: Mapping[str, object] = field(default_factory=dict)
    with_torch: Callable[[Probe], Probe] = lambda known: known
    answers: dict[str, str] = field(default_factory=dict)

    def run(self) -> Resolved:
        """Ask everything until the user says yes; LeftError where they do not."""
        self.answers = dict(self.preset)
        self._say(TITLE[self.lang], "")
        self._environment()
        for question in self._five():
            self._ask(question)
        self._rest()
        while True:
            found = self._mended()
            self._summary(found)
            word = self._confirm()
            if word in _YES:
                return found
            self._ask(self._five()[int(word) - 1])
            self._rest()

    def still_right(self, path: str) -> bool:
        """Whether recorded answers still hold; LeftError for neither yes nor no."""
        self._say(TITLE[self.lang], "")
        for key in ORDER:
            if key in self.recorded:
                self._say(f"  {key}: {yaml_value(self.recorded[key])}")
        self._say("", say("still-right", self.lang, path=path))
        while True:
            word = self._line().lower()
            if word in _YES or word in _NO:
                return word in _YES
            if word in _LEAVE:
                raise LeftError

    def _five(self) -> list[Question]:
        return questions(self.lang, self.probe)[: len(FIVE)]

    def _rest(self) -> None:
        """What this machine leaves open, as far as nobody answered it yet."""
        if self.answers.get("torch") == "yes" and self.probe.torch == "unasked":
            self.probe = self.with_torch(self.probe)
        if not self.answers.get("op_name") and any(p.id == "op_name" for p in self._resolved().problems):
            self._ask(Question("op_name", "op_name", say("name-prompt", self.lang), text="snake_case"))
        for question in questions(self.lang, self.probe, semantics=self.setting.design)[len(FIVE) :]:
            if question.id not in self.answers and all(self._holds(k, v) for k, v in question.when.items()):
                self._ask(question)

    def _holds(self, question: str, wanted: str) -> bool:
        answer = self.answers.get(question, "")
        return answer not in ("", "none") if wanted == "*" else answer == wanted

    def _mended(self) -> Resolved:
        """The answers resolved; what does not fit is asked again."""
        while True:
            found = self._resolved()
            if not found.problems:
                return found
            first = found.problems[0]
            self._say(say("again", self.lang, why=first.text(self.lang).rstrip("。.")))
            known = {q.id: q for q in questions(self.lang, self.probe)}
            plain = Question(first.id, first.id, first.id, text=first.id)
            self._ask(known.get(first.id, plain))

    def _resolved(self) -> Resolved:
        return resolve(self.answers, self.probe, self.setting)

    def _ask(self, question: Question) -> None:
        """Until there is an answer that can be used."""
        lang = self.lang
        head = "question" if question.number else "follow-up"
        self._say("", say(head, lang, number=question.number, prompt=question.prompt))
        self._say(*(f"  {line}" for line in (question.detail, question.why and say("because", lang, why=question.why)) if line))  # fmt: skip
        for number, option in enumerate(question.options):
            self._say(f"  {chr(ord('A') + number)}. {option.label}")
        if question.text and question.options:
            self._say(f"  {say('or-text', lang, text=question.text)}")
        shown = _KEYS[question.number - 1] if question.number else question.key
        if self.recorded.get(shown) not in (None, ""):
            self._say(f"  {say('recorded-answer', lang, value=yaml_value(self.recorded[shown]))}")
        while True:
            self._say(self._prompt(question))
            line = self._line()
            word = _chosen(question, line) or (line if question.text or not question.options else "")
            word = word or (line or question.default)
            answer, remark = understood(question.id, word)
            if remark is not None and not line and not question.default:
                continue
            if remark is None and question.options and not question.text and answer not in _ids(question):
                continue
            problems = [remark] if remark is not None else self._tried(question, answer)
            if not problems:
                self.answers[question.id] = answer
                return
            self._say(say("again", lang, why=problems[0].text(lang).rstrip("。.")))

    def _tried(self, question: Question, answer: str) -> list[Remark]:
        before = self.answers.get(question.id)
        self.answers[question.id] = answer
        found = self._resolved()
        if before is None:
            del self.answers[question.id]
        else:
            self.answers[question.id] = before
        for one in found.notes:
            if one.id == question.id:
                self._say(f"  {one.text(self.lang)}")
        return [p for p in found.problems if p.id == question.id]

    def _prompt(self, question: Question) -> str:
        lang = self.lang
        keys = "/".join(chr(ord("A") + n) for n in range(len(question.options)))
        key = ("choose-text" if question.text else "choose") if keys else "write-text"
        enter = say("enter", lang, value=question.default) if question.default else ""
        return say(key, lang, keys=keys, text=question.text) + enter

    def _environment(self) -> None:
        lang, probe = self.lang, self.probe
        self._say(say("environment", lang))
        if not probe.asked:
            self._say(f"  {say('no-look', lang)}")
        unset = say("not-set", lang)
        rows = [("ASCEND_HOME_PATH", probe.ascend_home or unset), ("ASCEND_OPP_PATH", probe.opp_path or unset),
                ("CONDA_DEFAULT_ENV", probe.conda_env or unset)]  # fmt: skip
        if probe.asked:
            rows += [(name, where or say("not-there", lang)) for name, where in (("bisheng", probe.bisheng), ("npu-smi", probe.npu_smi))]  # fmt: skip
            rows += [(path, say("is-there" if there else "not-there", lang)) for path, there in probe.candidates]
            rows.append(("SHMEM_REPO", probe.shmem_repo or say("not-there", lang)))
        self._say(*(f"  {name}: {value}" for name, value in rows))

    def _summary(self, found: Resolved) -> None:
        self._say("", say("summary", self.lang))
        self._say(*(f"  {key}: {yaml_value(value)}" for key, value in found.values.items()))
        self._say(*(f"  * {one.text(self.lang)}" for one in found.notes))

    def _confirm(self) -> str:
        """``y``, or the number of a question."""
        self._say("", say("confirm", self.lang))
        while True:
            word = self._line().lower()
            if word in _LEAVE or word in _NO:
                raise LeftError
            if word in _YES or word in ("1", "2", "3", "4", "5"):
                return word

    def _say(self, *lines: str) -> None:
        self.out.write("".join(f"{line}\n" for line in lines))

    def _line(self) -> str:
        self.out.write("> ")
        self.out.flush()
        line = self.source.readline()
        if not line:
            self.out.write("\n")
            raise LeftError
        return line.strip()


def _ids(question: Question) -> list[str]:
    return [option.id for option in question.options]


def _chosen(question: Question, line: str) -> str:
    """The option that a letter, a number or an id means."""
    word = line.strip().lower().rstrip(".)、")
    for number, option in enumerate(question.options):
        if word in (chr(ord("a") + number), str(number + 1), option.id):
            return option.id
    return ""
