"""What a run works on: the operator, its repository, and the environment its design and intake name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from opdev.config import Configs
from opdev.design.problems import is_placeholder
from opdev.phases.evidence import Evidence
from opdev.phases.intake import answers
from opdev.project.operators import Operator
from opdev.project.places import Places

CANN_PLACES = (
    "/usr/local/Ascend/ascend-toolkit/set_env.sh", "/usr/local/Ascend/cann/set_env.sh", "~/Ascend/cann/set_env.sh",
)  # fmt: skip
"""Where CANN is looked for when the intake says that the system's own is to be used."""
_NONE = ("", "pending", "null", "none")


@dataclass(frozen=True, slots=True)
class Target:
    """Paths as the design writes them: those of a container where the work is done in one."""

    root: str
    name: str
    mode: str
    repo: str
    cann: str
    cann_source: str
    conda: str
    container: str
    workdir: str
    dtypes: tuple[str, ...]
    torch: bool = True
    """Whether a Torch binding is wanted, or nobody has said that it is not."""


def look(root: str, configs: Configs | None = None, *, simulated: bool | None = None) -> Evidence:
    """The operator's artifacts as they are now; ``simulated`` where whoever asks knows that it runs on the stand-in."""
    return Evidence(Operator(root, Places()), configs, simulated=simulated)


def target(evidence: Evidence) -> Target:
    """What design and intake say of an operator; its own folder says where the repository is, if nobody does."""
    said = answers(evidence)

    def word(key: str, *, meta: bool = True) -> str:
        value = said.get(key)
        text = value if isinstance(value, str) else ""
        if not text and meta and evidence.design is not None:
            text = evidence.design.text(f"meta.{key}").strip()
        return "" if text.lower() in _NONE or is_placeholder(text) else text

    root = evidence.root
    around = root.rpartition("/")[0].rpartition("/")[0] or root
    repo = word("shmem_repo")
    dtypes = _dtypes(evidence)
    return Target(
        root=root,
        name=evidence.name,
        mode="in_tree_example" if evidence.in_tree else "independent_project",
        repo=repo if repo and (os.path.isdir(repo) or word("docker_container")) else around,
        cann=word("cann_set_env", meta=False),
        cann_source=word("cann_source_mode", meta=False),
        conda=word("conda_env", meta=False),
        container=word("docker_container"),
        workdir=word("docker_workdir"),
        dtypes=dtypes,
        torch=evidence.said("torch_required") is not False,
    )


def _dtypes(evidence: Evidence) -> tuple[str, ...]:
    if evidence.design is None:
        return ()
    nodes = evidence.design.items("source.user_confirmations.dtypes")
    return tuple(node.text for node in nodes if node.kind == "scalar" and not is_placeholder(node.text))


def cann_script(found: Target, environ: Mapping[str, str]) -> str:
    """The script that loads CANN on this machine; empty where it is loaded already, or nowhere."""
    if found.cann:
        return found.cann
    if environ.get("ASCEND_HOME_PATH"):
        return ""
    if environ.get("CANN_SET_ENV"):
        return environ["CANN_SET_ENV"]
    return next((p for path in CANN_PLACES if os.path.isfile(p := os.path.expanduser(path))), "")
