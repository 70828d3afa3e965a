"""How name, place, phases, container, nodes and environment agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from opdev.design.document import DesignDocument
from opdev.design.problems import Problem, at, flag, is_placeholder, missing, said_text

_INTAKE = (
    "op_name", "build_mode", "torch_required", "performance_required", "performance_auto_optim", "shmem_repo",
    "docker_container",
)  # fmt: skip
_FOLDERS = {"independent_project": "custom-ops", "in_tree_example": "examples"}


def op_root(document: DesignDocument) -> Iterator[Problem]:
    """op_root follows from build_mode and op_name."""
    node = document.get("meta.op_root")
    name, folder = said_text(document, "meta.op_name"), _FOLDERS.get(said_text(document, "meta.build_mode"))
    written = said_text(document, "meta.op_root").rstrip("/")
    if node is not None and name and folder and written and written != f"{folder}/{name}":
        yield at(node, "op-root-mismatch", value=written, expected=f"{folder}/{name}")


def optimisation(document: DesignDocument) -> Iterator[Problem]:
    """performance_auto_optim needs performance_required."""
    node = document.get("meta.performance_auto_optim")
    if node is not None and flag(document, node.path) and flag(document, "meta.performance_required") is False:
        yield at(node, "auto-optim-without-performance", related=document.get("meta.performance_required"))


def container(document: DesignDocument) -> Iterator[Problem]:
    """docker_exec_required says whether there is a container, which has a working folder."""
    name, exec_required = document.get("meta.docker_container"), document.get("meta.docker_exec_required")
    if name is None or name.kind != "scalar" or is_placeholder(name.value):
        return
    there = name.tag != "null" and bool(name.value.strip())
    required = flag(document, "meta.docker_exec_required")
    if exec_required is not None and required is not None and required != there:
        yield at(
            exec_required,
            "docker-exec-mismatch",
            related=name,
            expected="true" if there else "false",
            container=name.text,
        )
    workdir = document.get("meta.docker_workdir")
    if there and (workdir is None or workdir.empty):
        if workdir is None:
            yield missing(document, "meta", "docker_workdir", "docker-workdir-missing", container=name.text)
        else:
            yield at(workdir, "docker-workdir-missing", key="docker_workdir", container=name.text)


def paths(document: DesignDocument) -> Iterator[Problem]:
    """Paths are absolute (a variable or ``pending`` will do)."""
    for path in ("meta.shmem_repo", "meta.skills_root", "meta.docker_workdir", "compile.cann_set_env"):
        node, text = document.get(path), said_text(document, path)
        if node is None or not text or text == "pending":
            continue
        if not text.startswith(("/", "$", "~")) and text[1:3] not in (":/", ":\\"):
            yield at(node, "relative-path", key=node.key, value=text)
        elif path.endswith("cann_set_env") and not text.endswith("set_env.sh"):
            yield at(node, "not-set-env", value=text)


def compile_mode(document: DesignDocument) -> Iterator[Problem]:
    """compile.build_mode repeats meta.build_mode."""
    node, wanted = document.get("compile.build_mode"), said_text(document, "meta.build_mode")
    if node is not None and wanted and not node.empty and node.text != wanted:
        yield at(node, "build-mode-mismatch", related=document.get("meta.build_mode"), value=node.text, expected=wanted)


def references(document: DesignDocument) -> Iterator[Problem]:
    """Pseudo-code and reference implementations are named."""
    kind = said_text(document, "source.kind")
    node = document.get("source.references")
    if kind in ("user_pseudocode", "heterogeneous_reference") and (node is None or node.empty):
        if node is None:
            yield missing(document, "source", "references", "references-missing", kind=kind)
        else:
            yield at(node, "references-missing", key="references", kind=kind)


def nodes(document: DesignDocument) -> Iterator[Problem]:
    """scope and deployment agree, and what runs between nodes says over which fabric."""
    scope, deployment = said_text(document, "meta.scope"), document.get("topology.deployment")
    where = said_text(document, "topology.deployment")
    if deployment is not None and (scope, where) in (("intra_node", "inter_node"), ("inter_node", "intra_node")):
        yield at(deployment, "scope-deployment-mismatch", related=document.get("meta.scope"), scope=scope, value=where)
    if scope not in ("inter_node", "both") and where != "inter_node":
        return
    if document.get("topology") is None:
        return
    for key in ("inter_node_fabric", "inter_node_bandwidth_gbps"):
        node = document.get(f"topology.{key}")
        if node is None:
            yield missing(document, "topology", key, "inter-node-missing", scope=scope or where)
        elif node.empty:
            yield at(node, "inter-node-missing", key=key, scope=scope or where)


def version(document: DesignDocument) -> Iterator[Problem]:
    """0.3 without quotes is a number to YAML."""
    node = document.get("dsl_version")
    if node is not None and node.tag == "float" and node.value == "0.3":
        yield at(node, "unquoted-version", value=node.value)


def soc(document: DesignDocument) -> Iterator[Problem]:
    """The default SoC is an assumption, and assumptions are written down in section 1."""
    node = document.get("meta.target_soc")
    names = [n.text for n in document.items("meta.target_soc")]
    if node is None or names != ["ascend910b"]:
        return
    # 1.3 by its number, or whatever section 1 has.
    heading = document.heading("1.3") or document.heading("1")
    if heading is None:
        return
    text = document.source.text(heading.start, heading.stop).lower()
    if "soc" not in text and "910b" not in text:
        yield at(node, "soc-not-assumed", value="ascend910b")


def intake(document: DesignDocument) -> Iterator[Problem]:
    """A record of the intake in the document itself."""
    record = document.intake.root.get("phase0_intake") if document.intake and document.intake.root else None
    data = record.data() if record is not None else None
    if isinstance(data, dict):
        yield from compare_intake(document, data)


def compare_intake(document: DesignDocument, record: Mapping[str, object]) -> Iterator[Problem]:
    """``meta`` against a record of the intake answers (the mapping below ``phase0_intake``)."""
    for key in _INTAKE:
        node = document.get(f"meta.{key}")
        if node is None or node.kind == "broken" or key not in record or record[key] == "pending":
            continue
        answered, written = record[key], node.data()
        if answered != written and not (not answered and not written):
            shown = {True: "true", False: "false"}.get(answered, answered) if isinstance(answered, bool) else answered
            yield at(
                node, "intake-mismatch", key=key, value=node.text, expected="null" if shown is None else str(shown)
            )


CHECKS = (
    op_root,
    optimisation,
    container,
    paths,
    compile_mode,
    references,
    nodes,
    version,
    soc,
    intake,
)
