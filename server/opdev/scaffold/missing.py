"""A phase begun from templates: what is missing is written, nothing that is there is touched.

An operator that ``opdev new`` made and whose design is still the template's gets the template's files.  Any other
design is somebody's own: its files are the template's around a hole (``HOLE``), where only the author of the design can
write the algorithm, its golden, or a judgement.  A hole fails a build, a run or a gate; it never passes for the work.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from opdev.design.document import DesignDocument
from opdev.design.dtypes import fold_dtype
from opdev.design.frame import skeleton
from opdev.design.problems import flag, said_text
from opdev.rules.model import Text
from opdev.scaffold import record
from opdev.scaffold.cases import scale_of
from opdev.scaffold.dtypes import DTYPES
from opdev.scaffold.options import NAME, Options
from opdev.scaffold.render import Rendered, render
from opdev.scaffold.texts import ScaffoldError
from opdev.scaffold.write import write_new

HOLE = "[待填]"
_WITH = {
    "scripts/run_case_matrix.py": ("scripts/cases.json",),
    "scripts/run.sh": ("../scripts/shmem_runtime_env.sh", "scripts/shmem_runtime_env.sh"),
    "src/main.cpp": ("src/op_runtime.h",),
    "CMakeLists.txt": ("../scripts/build.sh",),
}
"""What a file is of no use without."""
_UNKNOWN = ("", "pending", "none", "null")


@dataclass(frozen=True, slots=True)
class Made:
    """What was written (absolute paths), and what there is to say of it."""

    paths: tuple[str, ...] = ()
    text: Text = field(default_factory=lambda: {"zh": "", "en": ""})


def design(root: str, name: str, said: Mapping[str, Any]) -> Made:
    """docs/design.md of an operator that has none: the frame, with what the intake recorded filled in."""
    mode = said.get("build_mode")
    op = said.get("op_name") if isinstance(said.get("op_name"), str) else name
    meta: dict[str, object] = {"op_name": op}
    if isinstance(mode, str):
        meta |= {"build_mode": mode, "op_root": f"{'examples' if mode == 'in_tree_example' else 'custom-ops'}/{op}"}
    for key in ("torch_required", "performance_required", "performance_auto_optim", "docker_exec_required"):
        if isinstance(said.get(key), bool):
            meta[key] = said[key]
    for key in ("docker_container", "docker_workdir", "skills_root", "shmem_repo"):
        value = said.get(key)
        if isinstance(value, str) and value.lower() not in _UNKNOWN:
            meta[key] = value
    # Nobody confirmed a dtype yet.
    text = re.sub(r"(?m)^(\| dtype \| .* \|) confirmed \|$", r"\1 [待确认] |", skeleton(meta))
    semantics = said.get("semantics")
    if isinstance(semantics, str) and semantics.lower() not in ("", "later"):
        import json

        text = text.replace('summary: "replace_me"', f"summary: {json.dumps(semantics, ensure_ascii=False)}", 1)
    made = write_new(root, [Rendered("docs/design.md", text)])
    return Made(made.new, {
        "zh": "由模板写出 docs/design.md，启动确认里有的已填好；写着 replace_me 与方括号的地方要人来定",
        "en": "docs/design.md was begun from the template with what the intake says; replace_me and square brackets are a person's to decide",
    })  # fmt: skip


def files(root: str, missing: Sequence[str], document: DesignDocument | None) -> Made:
    """The missing files (paths below the operator) of a phase of tests, code or binding.

    A ScaffoldError where the design does not say enough to begin them.
    """
    if not missing:
        return Made()
    options, matrix = _options(root, document)
    wanted = {*missing, *(more for name in missing for more in _WITH.get(name, ()))}
    if any(name.startswith("src/") and name.endswith("_kernel.cpp") for name in missing):
        wanted.add(f"src/{options.op}_kernel.h")
    if any(name.startswith("../torch_binding/") for name in missing):
        wanted |= {f"../torch_binding/{name}" for name in ("CMakeLists.txt", "include/torch_register.h", "include/shmem_torch_kernel.h", "src/torch_bindings.cpp")}  # fmt: skip
    made = write_new(root, [file for file in render(options, matrix) if file.path in wanted])
    names = ", ".join(os.path.relpath(path, root).replace("\\", "/") for path in made.new)
    if not options.open:
        return Made(made.new, {"zh": f"设计仍是模板的，按模板补出：{names}", "en": f"the design is the template's still; from it: {names}"})  # fmt: skip
    return Made(made.new, {
        "zh": f"由模板起头：{names}。算法、golden 等写着 {HOLE} 的地方要按设计来填，填之前编译和运行都不会通过",
        "en": f"begun from the template: {names}. Algorithm, golden and whatever says {HOLE} are to be written from the design; until then neither build nor run passes",
    })  # fmt: skip


def _options(root: str, document: DesignDocument | None) -> tuple[Options, dict[str, list[dict[str, Any]]] | None]:
    """What the templates are rendered with, and the cases where they are not the kind's."""
    known = _known(root)
    if known is not None:
        return known, None
    if document is None or document.root is None:
        raise ScaffoldError("no-design", usage=False)
    name = said_text(document, "meta.op_name") or root.rpartition("/")[2]
    if not NAME.match(name):
        raise ScaffoldError("no-name-in-design", usage=False, name=name)
    dtypes = [
        d for node in document.items("source.user_confirmations.dtypes") if (d := fold_dtype(node.text)) in DTYPES
    ]
    if not dtypes:
        raise ScaffoldError("no-dtype-in-design", usage=False)
    mode = said_text(document, "meta.build_mode")
    options = Options(
        op=name,
        kind="custom",
        dtypes=tuple(dict.fromkeys(d for d in dtypes if d is not None)),
        build_mode=mode if mode in ("independent_project", "in_tree_example") else "independent_project",
        torch=flag(document, "meta.torch_required") is True,
        perf=flag(document, "meta.performance_required") is not False,
        shmem_repo=said_text(document, "meta.shmem_repo"),
        skills_root=said_text(document, "meta.skills_root"),
        open=True,
    )
    cases, invariants = _cases(document, options.dtypes), _invariants(document)
    return options, {"cases": cases, "invariants": invariants} if cases else None


def _known(root: str) -> Options | None:
    """The options of an operator whose design is what the template made of them; None for any other."""
    try:
        kept = record.load(root)
        with open(f"{root}/docs/design.md", encoding="utf-8") as stream:
            same = stream.read() == kept.base.get("docs/design.md")
    except (ScaffoldError, OSError, UnicodeDecodeError):
        return None
    return replace(kept.options, open=False) if same else None


def _cases(document: DesignDocument, dtypes: Sequence[str]) -> list[dict[str, Any]]:
    """The design's case matrix as cases.json has it; a case without a shape in numbers is left out."""
    found: list[dict[str, Any]] = []
    for node in document.items("correctness.case_matrix"):
        if node.kind != "mapping":
            continue
        said = {child.key: child.text.strip() for child in node.children if child.key and child.kind == "scalar"}
        shape = said.get("shape") or _flow(node, "shape")
        dims = [int(d) for d in re.findall(r"\d+", shape)]
        dtype = fold_dtype(said.get("dtype", ""))
        if dtype is None or not said.get("case") or not dims or dtype not in dtypes or not said.get("n_pes", "").isdigit() or re.search(r"[A-Za-z_]", shape):  # fmt: skip
            continue
        elements = 1
        for dim in dims:
            elements *= dim
        known, category = DTYPES[dtype], said.get("category", "functional")
        found.append({
            "case_id": said["case"], "category": category,
            "scale": said.get("scale") or scale_of(elements * known.bytes), "n_pes": int(said["n_pes"]), "dtype": dtype,
            "shape": dims, "special": said.get("special", ""), "purpose": said.get("purpose", ""), "repeat": 3 if category == "stress" else 1,
            "rtol": float(known.rtol), "atol": float(known.rtol),
        })  # fmt: skip
    return found


def _flow(node: Any, key: str) -> str:
    child = node.get(key)
    return ", ".join(item.text for item in child.children) if child is not None and child.kind == "sequence" else ""


def _invariants(document: DesignDocument) -> list[dict[str, Any]]:
    found = []
    for node in document.items("correctness.invariants"):
        said = {c.key: c.text.strip() for c in getattr(node, "children", ()) if c.key and c.kind == "scalar"}
        if said.get("invariant"):
            found.append({"invariant": said["invariant"], "test_method": said.get("test_method", ""), "case": said.get("case", "")})  # fmt: skip
    return found
