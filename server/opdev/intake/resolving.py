"""From answers and what the machine shows to the values of the record.

Answers decide; the machine fills in only what nobody was asked.  A path is looked at where it will be used: in the
container if there is one.  On a machine without NPU tools a CANN path is recorded unseen, and the user is told.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from opdev.facts.intake import QUESTIONS
from opdev.facts.intake_text import ORDER
from opdev.intake.model import FIVE, LATER, Probe, Remark, note, problem
from opdev.intake.probes import in_container, look
from opdev.intake.questions import DEFAULT_CANN

Sees = Callable[[str, str], bool | None]
"""(``f`` or ``d``, path) -> whether that is there; None where nobody can tell."""
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_CONTAINER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_MODES = {"custom_ops": "independent_project", "in_tree": "in_tree_example"}
_FOLDERS = {"custom-ops": "custom_ops", "examples": "in_tree"}
PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Setting:
    """What the answers are about: the operator's folder name and the folder that one lies in, ``""`` where unknown.

    ``design`` says that a design states the semantics.
    """

    name: str = ""
    around: str = ""
    engine: tuple[str, ...] = ("docker",)
    design: bool = False


@dataclass
class Resolved:
    """The record's values; they may be recorded when there is no problem among the remarks."""

    values: dict[str, object] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)

    @property
    def problems(self) -> list[Remark]:
        return [r for r in self.remarks if r.kind == "problem"]

    @property
    def notes(self) -> list[Remark]:
        return [r for r in self.remarks if r.kind == "note"]


def here(kind: str, path: str) -> bool | None:
    """Whether a file or folder is on this machine."""
    found = look(path)
    return None if found is None else found[0] == kind


def inside(engine: Sequence[str], container: str) -> Sees:
    """Whether a file or folder is in a container."""
    return lambda kind, path: in_container(engine, container, f"-{kind}", path)


def resolve(
    answers: Mapping[str, str], probe: Probe, setting: Setting | None = None, sees: Sees | None = None
) -> Resolved:
    """The record's values for answers in their one spelling (``answers.understood``)."""
    setting = setting or Setting()
    out = Resolved()
    out.remarks += [problem("missing", one) for one in FIVE if not answers.get(one)]
    container = _container(answers, probe, out)
    look_at = sees or (inside(setting.engine, container) if container else here)
    _name(answers, setting, out)
    _mode(answers, setting, out)
    for question, key in (("torch", "torch_required"), ("perf", "performance_required")):
        out.values[key] = answers.get(question) == "yes"
    wanted = answers.get("perf_auto_optim") == "yes"
    out.values["performance_auto_optim"] = wanted and answers.get("perf") == "yes"
    if wanted and answers.get("perf") == "no":
        out.remarks.append(note("forced-auto-optim", "perf_auto_optim"))
    pending = _cann(answers, probe, container, look_at, out)
    _conda(answers, probe, out)
    _repo(answers, probe, container, look_at, out)
    _skills(answers, probe, out)
    out.values["askquestion_completed"] = [
        q for q in QUESTIONS if answers.get(FIVE[q - 1]) and not (q == 1 and pending)
    ]
    out.values["cann_set_env_pending"] = pending
    _workdir(answers, container, out)
    text = answers.get("semantics", "")
    if text and text != LATER:
        out.values["semantics"] = text
    out.values = {key: out.values[key] for key in ORDER if key in out.values}
    return out


def _name(answers: Mapping[str, str], setting: Setting, out: Resolved) -> None:
    name = answers.get("op_name") or setting.name
    out.values["op_name"] = name
    if not name:
        out.remarks.append(problem("no-name", "op_name"))
    elif not _NAME.fullmatch(name):
        out.remarks.append(problem("bad-name", "op_name", value=name))


def _mode(answers: Mapping[str, str], setting: Setting, out: Resolved) -> None:
    answer = answers.get("build_mode", "")
    out.values["build_mode"] = _MODES.get(answer, "")
    expected = _FOLDERS.get(setting.around)
    if answer and expected and answer != expected:
        out.remarks.append(problem("mode-folder", "build_mode", folder=setting.around, value=answer))


def _container(answers: Mapping[str, str], probe: Probe, out: Resolved) -> str:
    name = answers.get("container", "")
    name = "" if name in ("none", LATER) else name
    if name and not _CONTAINER.fullmatch(name):
        out.remarks.append(problem("bad-container", "container", value=name))
        name = ""
    if not name and probe.asked and not probe.hardware:
        out.remarks.append(note("no-container", "container"))
    out.values["docker_container"] = name or None
    out.values["docker_exec_required"] = bool(name)
    return name


def _cann(answers: Mapping[str, str], probe: Probe, container: str, sees: Sees, out: Resolved) -> bool:
    """Fills in where CANN is; whether its path is still to come."""
    answer = answers.get("cann", "")
    out.values["cann_source_mode"], out.values["cann_set_env"] = "user_custom", PENDING
    if answer == LATER:
        out.remarks.append(note("cann-later", "cann"))
        return True
    if answer == "session":
        out.values["cann_source_mode"], out.values["cann_set_env"] = "session_preconfigured", probe.session_script
        if not probe.ascend_home and not container:
            out.remarks.append(problem("session-unset", "cann"))
        elif not probe.session_script:
            out.remarks.append(note("no-script", "cann"))
        return False
    if answer == "default":
        out.values["cann_source_mode"] = "default_system"
        path = (probe.default_cann if not container else "") or DEFAULT_CANN
        if not container and not probe.default_cann and probe.hardware:
            places = ", ".join(p for p, _ in probe.candidates)
            out.remarks.append(problem("no-default-cann", "cann", places=places))
        elif container or not probe.default_cann:
            _see_cann(path, probe, container, sees, out)
        out.values["cann_set_env"] = path
        return False
    if answer:
        out.values["cann_set_env"] = _custom_cann(answer, probe, container, sees, out)
    return False


def _custom_cann(answer: str, probe: Probe, container: str, sees: Sees, out: Resolved) -> str:
    path = answer if container else os.path.expanduser(answer)
    if not path.startswith("/"):
        out.remarks.append(problem("relative-cann", "cann", value=answer))
        return path
    if path.rsplit("/", 1)[-1] != "set_env.sh":
        below = f"{path.rstrip('/')}/set_env.sh"
        if not sees("f", below):
            out.remarks.append(problem("not-set-env", "cann", value=answer))
            return path
        out.remarks.append(note("cann-folder", "cann", value=below))
        return below
    _see_cann(path, probe, container, sees, out)
    return path


def _see_cann(path: str, probe: Probe, container: str, sees: Sees, out: Resolved) -> None:
    there = sees("f", path)
    if there is None:
        out.remarks.append(note("unseen", "cann", value=path))
    elif not there and container:
        out.remarks.append(problem("no-cann-inside", "cann", container=container, value=path))
    elif not there and probe.hardware:
        out.remarks.append(problem("no-cann-file", "cann", value=path))
    elif not there:
        out.remarks.append(note("cann-elsewhere", "cann", value=path))


def _conda(answers: Mapping[str, str], probe: Probe, out: Resolved) -> None:
    other = answers.get("torch_env", "")
    answer = other if other and other != "install" else answers.get("conda", "")
    if answers.get("torch") == "yes" and probe.torch in ("missing", "failed", "timeout") and other in ("", "install"):
        out.remarks.append(note("torch-later", "torch_env", value=probe.torch_detail))
    if answer in ("", LATER):
        usable = probe.conda_env if probe.conda_env != "base" else ""
        answer = usable or (PENDING if probe.conda or answer == LATER or not probe.asked else "none")
    if answer == PENDING:
        out.remarks.append(note("conda-later", "conda"))
    out.values["conda_env"] = answer


def _repo(answers: Mapping[str, str], probe: Probe, container: str, sees: Sees, out: Resolved) -> None:
    other = answers.get("shmem_install", "")
    answer = other if other and other != "build" else answers.get("shmem_repo", "")
    if answer and answer != LATER:
        path = answer if container else os.path.expanduser(answer)
        path = path.rstrip("/") or path
        out.values["shmem_repo"] = path
        if not path.startswith("/"):
            out.remarks.append(problem("relative-repo", "shmem_repo", value=answer))
        else:
            _see_repo(path, container, sees, out)
        return
    out.values["shmem_repo"] = probe.shmem_repo or PENDING
    if not probe.shmem_repo:
        out.remarks.append(note("repo-later", "shmem_repo"))
        return
    out.remarks.append(note("repo-found", "shmem_repo", value=probe.shmem_repo, origin=probe.repo_from or "answer"))
    if not probe.installed and not container:
        out.remarks.append(note("not-installed", "shmem_install", value=probe.shmem_repo))


def _see_repo(path: str, container: str, sees: Sees, out: Resolved) -> None:
    found = [sees("d", f"{path}/{name}") for name in ("include", "src")]
    if None in found:
        out.remarks.append(note("unseen", "shmem_repo", value=path))
    elif not all(found):
        code, args = ("no-repo-inside", {"container": container}) if container else ("no-repo", {})
        out.remarks.append(problem(code, "shmem_repo", value=path, **args))
    elif sees("f", f"{path}/install/set_env.sh") is False:
        out.remarks.append(note("not-installed", "shmem_install", value=path))


def _skills(answers: Mapping[str, str], probe: Probe, out: Resolved) -> None:
    answer = answers.get("skills_root", "")
    known = "" if answer == LATER else os.path.expanduser(answer)
    out.values["skills_root"] = known or probe.skills_root or "none"


def _workdir(answers: Mapping[str, str], container: str, out: Resolved) -> None:
    out.values["docker_workdir"] = None
    if not container:
        return
    repo = str(out.values["shmem_repo"])
    path = answers.get("workdir", "") or (repo if repo.startswith("/") else "")
    out.values["docker_workdir"] = path or None
    if not path or path == LATER:
        out.remarks.append(problem("no-workdir", "workdir", container=container))
    elif not path.startswith("/"):
        out.remarks.append(problem("relative-workdir", "workdir", value=path))
