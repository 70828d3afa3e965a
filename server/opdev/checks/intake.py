"""The record of the five answers: what it lacks, what in it cannot be used, what contradicts it.

Whether the paths in it exist is not judged here: a record is read on other machines than the one it is about.  The
gate of Phase 0 and the environment probes look at the disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from opdev.design.document import INTAKE, document_of
from opdev.design.problems import flag, nearest
from opdev.facts.intake import CHOICES, FIELDS, HOMES, Intake, IntakeProblem, intake_in, intake_of
from opdev.facts.intake_text import edits
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related, Severity

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_TRUE = frozenset({"true", "yes", "y", "on", "1", "是", "需要", "要"})
_FALSE = frozenset({"false", "no", "n", "off", "0", "否", "不需要", "不要"})
_OWN = frozenset({"conda_env", "skills_root"})
"""Keys whose empty value has a rule of its own."""
_PHASE_FLAGS = ("torch_required", "performance_required", "performance_auto_optim")
_QUESTION = {
    "cann_set_env": "1", "cann_source_mode": "1", "build_mode": "2", "torch_required": "3", "performance_required": "4",
    "performance_auto_optim": "5",
}  # fmt: skip


def _record(context: Context) -> Intake | None:
    """The record this file is: a file of its name, or one that says so."""
    found = intake_in(context.file)
    if found is None or (found.node.key != INTAKE and context.file.place.relative not in HOMES):
        return None
    return found


def _problems(found: Intake, *codes: str) -> Iterator[IntakeProblem]:
    return (problem for problem in found.problems if problem.code in codes)


def _fix(context: Context, found: Intake, values: Mapping[str, object], title: str = "default") -> Fix | None:
    changes = edits(context.file, found, values) if values else None
    return Fix(tuple(Edit(*change) for change in changes), title) if changes else None


def missing(context: Context) -> Iterator[Hit]:
    """A design without any of the three answers it is built on, and no record of them."""
    document = document_of(context.file)
    meta = document.get("meta")
    if meta is None or meta.kind != "mapping" or context.project is None:
        return
    if all(flag(document, f"meta.{key}") is None for key in _PHASE_FLAGS) and intake_of(context.project) is None:
        yield Hit(*meta.name_range)


def unanswered(context: Context) -> Iterator[Hit]:
    """Questions that the list of answered ones leaves out."""
    found = _record(context)
    if found is not None:
        for problem in _problems(found, "unanswered"):
            lacking = problem.expected
            yield Hit(problem.start, problem.end, args={"lacking": lacking, "lacking_zh": lacking.replace(", ", "、")})


def keys(context: Context) -> Iterator[Hit]:
    """Keys that are not there: those that follow from others are filled in, the others are the user's to answer."""
    found = _record(context)
    if found is None:
        return
    lacking = [p.field for p in _problems(found, "missing")]
    known = _following(context, found, lacking)
    for message, names in (("default", list(known)), ("ask", [k for k in lacking if k not in known])):
        if names:
            args = {"keys": ", ".join(names), "keys_zh": "、".join(names)}
            yield Hit(
                found.start, found.end, message, args, _fix(context, found, known) if message == "default" else None
            )
    for problem in _problems(found, "empty"):
        pending = problem.field == "cann_set_env" and found.flag("cann_set_env_pending") is True
        if problem.field not in _OWN and not pending:
            yield Hit(problem.start, problem.end, "empty", {"key": problem.field})


def _following(context: Context, found: Intake, lacking: list[str]) -> dict[str, object]:
    """Values of missing keys that the rest of the record, or the operator's folder, decides."""
    place, path = context.file.place, str(found.value("cann_set_env") or "")
    container, named = found.value("docker_container"), "docker_container" in found.answers
    session = found.value("cann_source_mode") == "session_preconfigured"
    no_container = (named and not container) or (not named and found.flag("docker_exec_required") is False)
    values: dict[str, object] = {}
    if place.operator is not None and _NAME.fullmatch(place.operator):
        values["op_name"] = place.operator
    if found.flag("performance_required") is False:
        values["performance_auto_optim"] = False
    if place.shmem_repo is not None:
        values["shmem_repo"] = place.shmem_repo
    if session or path.startswith("/") or path == "pending":
        values["cann_set_env_pending"] = path == "pending" and not session
    if no_container:
        values |= {"docker_container": None, "docker_workdir": None, "docker_exec_required": False}
    elif named:
        values["docker_exec_required"] = True
    return {key: values[key] for key in FIELDS if key in lacking and key in values}


def values(context: Context) -> Iterator[Hit]:
    """Values outside their choices, flags that are no flags, a name that cannot be one."""
    found = _record(context)
    if found is None:
        return
    for problem in _problems(found, "wrong-enum", "wrong-type"):
        meant: object = None
        word = problem.value.strip()
        if problem.field in CHOICES:
            meant = nearest(word, CHOICES[problem.field])
            same = meant is not None and _letters(word) == _letters(str(meant))
        else:
            meant = True if word.lower() in _TRUE else False if word.lower() in _FALSE else None
            same = True
        fix = _fix(context, found, {problem.field: meant}) if meant is not None else None
        fix = Fix(fix.edits, "default", "safe" if same else "suggestion") if fix is not None else None
        shown = str(meant).lower() if isinstance(meant, bool) else meant
        args = {"key": problem.field, "value": word[:80], "expected": problem.expected, "meant": shown}
        yield Hit(problem.start, problem.end, "default" if word else "none", args, fix)
    name = found.answers.get("op_name")
    if name is not None and name.text.strip() and not _placeholder(name.text) and not _NAME.fullmatch(name.text):
        yield Hit(name.start, name.end, "name", {"value": name.text[:80]})


def _letters(word: str) -> str:
    return "".join(char for char in word.lower() if char.isalnum())


def _placeholder(text: str) -> bool:
    return text.strip() == "pending"


def pending(context: Context) -> Iterator[Hit]:
    """Answers that are still to come although the design is there."""
    found = _record(context)
    if found is None or (found.origin == "record" and not _begun(context)):
        return
    waits = found.answers.get("cann_set_env_pending")
    if waits is not None and waits.value is True:
        yield Hit(waits.start, waits.end, "cann")
    for problem in _problems(found, "pending"):
        if problem.field != "cann_set_env" or waits is None or waits.value is not True:
            severity: Severity | None = "warning" if problem.field == "conda_env" else None
            yield Hit(problem.start, problem.end, args={"key": problem.field}, severity=severity)


def _begun(context: Context) -> bool:
    """Whether a phase after 0 left something."""
    project = context.project
    return project is not None and any(project.exists(path) for path in ("docs/design.md", "design.md"))


def cann(context: Context) -> Iterator[Hit]:
    """A CANN path nothing can be sourced from."""
    found = _record(context)
    answer = found.answers.get("cann_set_env") if found is not None else None
    if answer is None or not answer.text.strip() or answer.text == "pending" or answer.end <= answer.start:
        return
    if not isinstance(answer.value, str):
        yield Hit(answer.start, answer.end, "name", {"value": str(answer.text)[:80]})
    elif not answer.value.startswith("/"):
        yield Hit(answer.start, answer.end, args={"value": answer.value[:200]})
    elif answer.value.rsplit("/", 1)[-1] != "set_env.sh":
        yield Hit(answer.start, answer.end, "name", {"value": answer.value[:200]})


def auto_optim(context: Context) -> Iterator[Hit]:
    """Optimisation is wanted and measuring is not."""
    found = _record(context)
    if (
        found is None
        or found.flag("performance_auto_optim") is not True
        or found.flag("performance_required") is not False
    ):
        return
    answer, other = found.answers["performance_auto_optim"], found.answers["performance_required"]
    note = {"zh": "这里不采集性能", "en": "no measurements, says this"}
    fix = _fix(context, found, {"performance_auto_optim": False})
    yield Hit(answer.start, answer.end, fix=fix, related=(Related(other.start, other.end, note),))


def container(context: Context) -> Iterator[Hit]:
    """The container's name, its folder and the flag do not fit together."""
    found = _record(context)
    named = found.answers.get("docker_container") if found is not None else None
    if found is None or named is None or not isinstance(named.value, (str, type(None))):
        return
    name = named.text.strip() if named.value else ""
    required = found.answers.get("docker_exec_required")
    if required is not None and isinstance(required.value, bool) and required.value is not bool(name):
        fix = _fix(context, found, {"docker_exec_required": bool(name)})
        args = {"container": name, "expected": "true" if name else "false"}
        yield Hit(required.start, required.end, "default" if name else "none", args, fix)
    folder = found.answers.get("docker_workdir")
    if name and folder is not None:
        if not folder.value:
            yield Hit(folder.start, folder.end, "workdir", {"container": name})
        elif not str(folder.value).startswith("/"):
            yield Hit(folder.start, folder.end, "relative", {"value": folder.text[:200]})


def conda(context: Context) -> Iterator[Hit]:
    """No conda environment is named, or the one everything is installed into."""
    found = _record(context)
    answer = found.answers.get("conda_env") if found is not None else None
    if answer is not None and (answer.value is None or answer.text.strip() in ("", "base")):
        yield Hit(answer.start, answer.end, "base" if answer.text.strip() == "base" else "default")


def repository(context: Context) -> Iterator[Hit]:
    """A path that is no SHMEM repository, as far as that can be told from here."""
    found = _record(context)
    answer = found.answers.get("shmem_repo") if found is not None else None
    if answer is None or not isinstance(answer.value, str) or answer.text in ("", "pending"):
        return
    path = answer.value.rstrip("/")
    if not path.startswith("/"):
        yield Hit(answer.start, answer.end, args={"value": answer.value[:200]})
        return
    project = context.project
    if project is None or not project.root.startswith(f"{path}/"):
        return
    up = "../" * project.root[len(path) + 1 :].count("/") + ".."
    lacking = [name for name in ("include", "src") if not project.exists(f"{up}/{name}")]
    if len(lacking) == 2 and context.file.place.shmem_repo != path:
        yield Hit(answer.start, answer.end, "none", {"value": answer.value[:200]})


def skills(context: Context) -> Iterator[Hit]:
    """No skills folder is named."""
    found = _record(context)
    answer = found.answers.get("skills_root") if found is not None else None
    if answer is not None and (answer.value is None or not answer.text.strip()):
        yield Hit(answer.start, answer.end)


def torch_work(context: Context) -> Iterator[Hit]:
    """Work on a Torch binding that the record says nobody wants."""
    name = context.project.name if context.project is not None else ""
    places = (f"scripts/torch_test_{name}.py", f"../torch_binding/src/torch_bind_{name}.cpp", f"torch_bind_{name}.cpp")
    yield from _unwanted(context, "torch_required", places)


def measurements(context: Context) -> Iterator[Hit]:
    """Measurements that the record says nobody wants."""
    yield from _unwanted(context, "performance_required", ("docs/performance_report.md", "data/perf"))


def _unwanted(context: Context, key: str, places: tuple[str, ...]) -> Iterator[Hit]:
    found, project = _record(context), context.project
    if found is None or project is None or found.flag(key) is not False:
        return
    there = next((place for place in places if project.exists(place)), None)
    if there is not None:
        answer = found.answers[key]
        yield Hit(answer.start, answer.end, args={"path": there, "question": _QUESTION[key]})
