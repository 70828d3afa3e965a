"""What the gates of PyPTO's stages look at: files by their usual places, documents' sections, the rules' verdicts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from opdev.config import Configs
from opdev.design.markdown import Heading
from opdev.facts.pypto_docs import body_of, sections
from opdev.phases.evidence import Evidence
from opdev.phases.model import Check, Spot, Title, both
from opdev.phases.verdicts import Verdicts
from opdev.pypto.finding import name_of, workflow_of
from opdev.pypto.statefile import NAME, parsed
from opdev.pypto.states import RefusedError, State, Workflow, current
from opdev.rules.context import Project
from opdev.syntax.file import File

FAMILIES = ("pypto", "pypto-pro", "pypto-contract")
_FOLDERS = ("", "docs/", "SPEC/", "DESIGN/", "API_REPORT/", "eval/", "src/", "golden/", "tests/")
_RULES = Title("rules", "规则没有错误", "no rule finds an error")
_CLEAN = both("没有错误级别的问题", "nothing of severity error")


class PyptoEvidence(Evidence):
    """An operator of PyPTO's as the gates look at it."""

    def __init__(
        self,
        project: Project,
        kind: Workflow,
        configs: Configs | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        super().__init__(project, configs, cancelled)
        self.kind: Workflow = kind

    @cached_property
    def name(self) -> str:
        return name_of(self.root)

    @cached_property
    def state(self) -> State | None:
        """The state file's content; None without one, or where it cannot be used (see ``state_fault``)."""
        try:
            found = parsed(bytes(self.files[NAME].data), NAME) if NAME in self.files else None
            if found is not None:
                current(found)
        except RefusedError:
            return None
        return found

    @cached_property
    def state_fault(self) -> RefusedError | None:
        try:
            if NAME in self.files:
                current(parsed(bytes(self.files[NAME].data), NAME))
        except RefusedError as error:
            return error
        return None

    def named(self, name: str) -> File | None:
        """A file where operators keep it: at the top, in docs/, SPEC/, eval/…; ``<op>`` stands for the name."""
        name = name.replace("<op>", self.name)
        return self.first(*(folder + name for folder in _FOLDERS))

    def there(self, name: str) -> str | None:
        """Where a file is, also one that opdev does not read."""
        name = name.rpartition("/")[2].replace("<op>", self.name)
        return next((folder + name for folder in _FOLDERS if self.exists(folder + name)), None)


def evidence_of(
    project: Project, configs: Configs | None = None, cancelled: Callable[[], bool] | None = None
) -> PyptoEvidence | None:
    """The evidence of a PyPTO operator; None for an operator that is none."""
    kind = workflow_of(project.root)
    return PyptoEvidence(project, kind, configs, cancelled) if kind is not None else None


def present(evidence: PyptoEvidence, *names: str) -> Iterator[Check]:
    """A check a file: whether it is there and not empty."""
    for name in names:
        real = name.replace("<op>", evidence.name)
        title = Title(f"file:{name}", f"{real} 在位", f"{real} is there")
        at = evidence.there(name)
        if at is None:
            yield title.failed(
                both(f"没有 {real}", f"there is no {real}"), both(f"写出 {real}", f"write {real}"), evidence.at(real)
            )
            continue
        file = evidence.file(at)
        if file is not None and not file.data.strip():
            yield title.failed(
                both(f"{at} 是空的", f"{at} is empty"), both(f"写好 {at}", f"write {at}"), evidence.at(at)
            )
        else:
            yield title.ok(both(at, at), evidence.at(at))


def judged(evidence: PyptoEvidence, *kinds: str, only: Callable[[File], bool] | None = None) -> Iterator[Check]:
    """The rules' errors in the operator's files of some kinds; nothing where there is no such file."""
    files = [f for f in evidence.of_kind(*kinds) if only is None or only(f)]
    if files:
        yield from Verdicts(evidence, files, FAMILIES).more(_RULES, _CLEAN)


class Document:
    """A Markdown document of an operator, asked for sections and words."""

    def __init__(self, evidence: PyptoEvidence, file: File) -> None:
        self._evidence, self.file = evidence, file
        self.name = evidence.below(file)

    @property
    def headings(self) -> list[Heading]:
        return sections(self.file)

    def heading(self, pattern: str) -> Heading | None:
        """The first heading that a pattern fits."""
        return next((h for h in self.headings if re.search(pattern, h.title)), None)

    def body(self, heading: Heading) -> str:
        return body_of(self.file, heading)

    def at(self, heading: Heading | None) -> Spot:
        return self._evidence.spot(self.file, heading.start if heading is not None else 0)

    def find(self, pattern: bytes, flags: int = 0) -> Spot | None:
        """Where a pattern stands first."""
        match = re.search(pattern, self.file.data, flags)
        return self._evidence.spot(self.file, match.start()) if match is not None else None


def document(evidence: PyptoEvidence, name: str) -> Document | None:
    file = evidence.named(name)
    return Document(evidence, file) if file is not None and file.data.strip() else None


def json_of(evidence: PyptoEvidence, name: str) -> tuple[object, Check | None]:
    """What a JSON file holds; a failed check where it cannot be read."""
    file = evidence.named(name)
    if file is None:
        return None, None
    title = Title(f"json:{name}", f"{name} 可读", f"{name} can be read")
    try:
        return json.loads(file.data), None
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        return None, title.failed(
            both(f"不是合法的 JSON：{error}", f"it is no valid JSON: {error}"),
            both("改正它", "mend it"),
            evidence.at(evidence.below(file), line),
        )


def holding(title: Title, good: bool, detail: tuple[str, str], bad: tuple[str, str], opens: tuple[str, str], place: Spot | None) -> Check:  # fmt: skip
    """A check that holds, or fails with what is wrong and what to do."""
    return title.ok(both(*detail), place) if good else title.failed(both(*bad), both(*opens), place)


def listed(words: Iterable[str]) -> tuple[str, str]:
    found = list(words)
    return "、".join(found), ", ".join(found)
