"""What a design says of the operator itself: its name, its place, the phases to run, the container it runs in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from opdev.checks.design_fields import lacking, overwrite
from opdev.checks.design_problems import additions, below, design, fix_of, problems, related
from opdev.checks.design_values import expected_root
from opdev.facts.intake import intake_of
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related

if TYPE_CHECKING:
    from opdev.design.document import DesignDocument
    from opdev.design.problems import Problem

_FLAGS = ("torch_required", "performance_required", "performance_auto_optim")
_QUESTIONS = {"torch_required": 3, "performance_required": 4, "performance_auto_optim": 5}
_TRUE = frozenset({"true", "yes", "y", "on", "1", "1.0", "是", "需要", "要", "开"})
_FALSE = frozenset({"false", "no", "n", "off", "0", "0.0", "否", "不需要", "不要", "不", "关"})
_ENUMS = ("meta.op_kind", "meta.build_mode", "meta.scope")
_KEYS = ("op_name", "op_kind", "build_mode", "op_root", "scope", "docker_container", "docker_exec_required")
_PATHS = ("meta.shmem_repo", "meta.skills_root")
_MODES = ("independent_project", "in_tree_example")


def nearest_fix(context: Context, problem: Problem, value: str | None = None) -> Fix | None:
    """The allowed value somebody most likely meant (or ``value``): safe where only case and dashes differ."""
    near = problem.args.get("nearest") or value
    if not near:
        return None
    same = near == problem.args.get("nearest") and _letters(str(near)) == _letters(str(problem.args["value"]))
    fix = overwrite(design(context).get(problem.path), str(near))
    return Fix(fix.edits, "default", "safe" if same else "suggestion") if fix is not None else None


def _letters(word: str) -> str:
    return "".join(char for char in word.lower() if char.isalnum())


def op_name(context: Context) -> Iterator[Hit]:
    """A name that cannot be a folder and a symbol; op_root follows where it repeats the old one."""
    from opdev.design.changes import replace

    document = design(context)
    for problem in problems(context, "wrong-pattern"):
        if problem.path != "meta.op_name":
            continue
        near, node, root = problem.args["nearest"], document.get(problem.path), document.get("meta.op_root")
        fix = None
        if node is not None and near and near != problem.args["value"]:
            changes = [replace(node, str(near))]
            folder, _, old = (
                root.text.rstrip("/").rpartition("/") if root is not None and root.kind == "scalar" else ("", "", "")
            )
            if root is not None and old == node.text and folder:
                changes.append(replace(root, f"{folder}/{near}"))
            fix = fix_of(*changes)
        yield Hit(problem.start, problem.end, args=problem.args, fix=fix)


def values(context: Context) -> Iterator[Hit]:
    """op_kind, build_mode or scope that is none of its values."""
    for problem in problems(context, "wrong-enum"):
        if problem.under(*_ENUMS):
            usual = "independent_project" if problem.path == "meta.build_mode" else None
            near = problem.args["nearest"] or usual
            fix = nearest_fix(context, problem, usual)
            yield Hit(problem.start, problem.end, args={**problem.args, "near": near}, fix=fix)


def keys(context: Context) -> Iterator[Hit]:
    """Keys of meta that everything else asks for: missing, or without a value."""
    document = design(context)
    container = document.get("meta.docker_container")
    values = {"op_root": expected_root(document)}
    if container is not None and not container.empty:
        values["docker_exec_required"] = "true"
    paths = tuple(f"meta.{key}" for key in _KEYS)
    yield from lacking(context, *paths, values=lambda _: {k: v for k, v in values.items() if v})
    for problem in problems(context, "empty-value"):
        if problem.path in paths:
            value = values.get(problem.path.rpartition(".")[2])
            fix = overwrite(document.get(problem.path), value, "fill") if value else None
            yield Hit(problem.start, problem.end, "empty", {"key": problem.path, "value": value}, fix)


def op_root(context: Context) -> Iterator[Hit]:
    """A folder that does not follow from the build mode and the name."""
    document = design(context)
    for problem in problems(context, "op-root-mismatch"):
        node = document.get(problem.path)
        # A name that is none, or a list where the folder belongs, is another rule's.
        if node is not None and node.kind == "scalar" and expected_root(document):
            fix = overwrite(node, str(problem.args["expected"]))
            yield Hit(problem.start, problem.end, args=problem.args, fix=fix)


def build_mode(context: Context) -> Iterator[Hit]:
    """compile.build_mode repeats meta.build_mode, or should."""
    for problem in problems(context, "build-mode-mismatch"):
        fix = overwrite(design(context).get(problem.path), str(problem.args["expected"]))
        other = related(problem, "meta 里写的", "what meta says")
        yield Hit(problem.start, problem.end, args=problem.args, fix=fix, related=other)
    for problem in below(context, ["compile.build_mode"], "empty-value"):
        expected = design(context).text("meta.build_mode")
        fix = overwrite(design(context).get(problem.path), expected) if expected in _MODES else None
        yield Hit(problem.start, problem.end, "empty", {"expected": expected}, fix)


def scope(context: Context) -> Iterator[Hit]:
    """scope and deployment name different places."""
    for problem in problems(context, "scope-deployment-mismatch"):
        other = related(problem, "meta.scope 在这里", "meta.scope stands here")
        yield Hit(problem.start, problem.end, args=problem.args, related=other)


def soc(context: Context) -> Iterator[Hit]:
    """No SoC, or the default one and nobody says that it is assumed."""
    document = design(context)
    row = _assumption(document)
    default = '["ascend910b"]'
    for problem in problems(context, "missing-key", "empty-value"):
        if problem.path == "meta.target_soc":
            changes = additions(document, "meta", ["target_soc"], {"target_soc": default})
            fix = fix_of(*changes)
            if fix is not None and row is not None and not _told(document):
                fix = Fix((*fix.edits, row), fix.title)
            yield Hit(problem.start, problem.end, fix=fix)
        elif problem.under("meta.target_soc"):
            yield Hit(problem.start, problem.end)
    for problem in problems(context, "soc-not-assumed"):
        yield Hit(problem.start, problem.end, "assumed", problem.args, Fix((row,), "row") if row is not None else None)


def _told(document: DesignDocument) -> bool:
    heading = document.heading("1.3") or document.heading("1")
    text = document.source.text(heading.start, heading.stop).lower() if heading is not None else ""
    return "soc" in text or "910b" in text


def _assumption(document: DesignDocument) -> Edit | None:
    """A row for the table of section 1.3; None without such a table."""
    heading = document.heading("1.3")
    if heading is None:
        return None
    table = next((t for t in document.tables if heading.start < t.start < heading.stop), None)
    if table is None or not table.header:
        return None
    cells = ["assumption", "目标 SoC 取默认的 ascend910b，用户未指定", "no"][: len(table.header)]
    cells += [""] * (len(table.header) - len(cells))
    last = table.rows[-1][-1].end if table.rows and table.rows[-1] else table.end
    stop = document.data.find(b"\n", last)
    at = (stop - 1 if document.data[stop - 1 : stop] == b"\r" else stop) if stop >= 0 else len(document.data)
    return Edit(at, at, f"{document.source.newline}| {' | '.join(cells)} |")


def flag_type(context: Context) -> Iterator[Hit]:
    """A flag that is no boolean to YAML."""
    document = design(context)
    for problem in problems(context, "wrong-type"):
        if problem.path.rpartition(".")[2] in (*_FLAGS, "docker_exec_required") and problem.under("meta"):
            word = str(problem.args["value"]).strip().lower()
            meant = "true" if word in _TRUE else "false" if word in _FALSE else None
            fix = overwrite(document.get(problem.path), meant) if meant else None
            yield Hit(problem.start, problem.end, args={**problem.args, "meant": meant}, fix=fix)


def flags(context: Context) -> Iterator[Hit]:
    """Phase flags that are missing or say nothing: filled in only where the answer is known."""
    document = design(context)
    known = _answered(document)
    for problem in problems(context, "missing-key", "empty-value"):
        key = problem.path.rpartition(".")[2]
        if key in _FLAGS and problem.path == f"meta.{key}":
            value = known.get(key)
            fix = fix_of(*additions(document, "meta", [key], {key: value})) if value else None
            args = {"key": key, "question": _QUESTIONS[key], "value": value}
            yield Hit(problem.start, problem.end, args=args, fix=fix)


def _answered(document: DesignDocument) -> Mapping[str, str]:
    from opdev.design.problems import flag

    record = document.intake.root.get("phase0_intake") if document.intake and document.intake.root else None
    data = record.data() if record is not None else None
    known = {
        k: str(v).lower() for k in _FLAGS if isinstance(v := (data.get(k) if isinstance(data, dict) else None), bool)
    }
    if flag(document, "meta.performance_required") is False:
        known.setdefault("performance_auto_optim", "false")
    return known


def auto_optim(context: Context) -> Iterator[Hit]:
    """Optimisation is wanted and measuring is not."""
    for problem in problems(context, "auto-optim-without-performance"):
        other = related(problem, "这里不做性能验证", "no measuring, says this")
        yield Hit(problem.start, problem.end, fix=Fix((Edit(problem.start, problem.end, "false"),)), related=other)


def intake(context: Context) -> Iterator[Hit]:
    """meta against the record of what the user answered: in a file of the operator or in the document itself."""
    from opdev.design.changes import plain
    from opdev.design.cross_run import compare_intake

    document = design(context)
    record = intake_of(context.project) if context.project is not None and document.root is not None else None
    if record is None:
        return
    elsewhere = None if record.path == context.file.path else record.path
    for problem in compare_intake(document, {name: answer.value for name, answer in record.answers.items()}):
        answer = record.answers[str(problem.args["key"])]
        note = {"zh": "用户当时的回答", "en": "what the user answered"}
        other = (Related(answer.key_start, answer.key_end, note, elsewhere),)
        fix = overwrite(document.get(problem.path), plain(str(problem.args["expected"])))
        yield Hit(problem.start, problem.end, args=problem.args, fix=fix, related=other)


def repo(context: Context) -> Iterator[Hit]:
    """Where SHMEM and the skills are: missing, empty, or not an absolute path."""
    document = design(context)
    found = context.file.place.shmem_repo
    known = {"shmem_repo": found or ""}
    base = document.text("meta.shmem_repo").rstrip("/") or (found or "")
    if base.startswith(("/", "$")):
        known["skills_root"] = f"{base}/.agents/skills"
    for problem in problems(context, "missing-key", "empty-value", "relative-path"):
        key = problem.path.rpartition(".")[2]
        if problem.path not in _PATHS or _list(document, problem):
            continue
        value = known.get(key)
        fix = None
        if value:
            fix = overwrite(document.get(problem.path), value) or fix_of(
                *additions(document, "meta", [key], {key: value})
            )
        args = {**problem.args, "key": key, "path": value}
        message = {"missing-key": "missing", "empty-value": "missing"}.get(problem.code, "default")
        yield Hit(problem.start, problem.end, message, args, fix)


def container(context: Context) -> Iterator[Hit]:
    """The container's name, folder and flag do not fit together."""
    for problem in problems(context, "docker-exec-mismatch"):
        wanted = str(problem.args["expected"])
        fix = overwrite(design(context).get(problem.path), wanted)
        other = related(problem, "容器名在这里", "the container's name")
        message = "default" if wanted == "true" else "none"
        yield Hit(problem.start, problem.end, message, problem.args, fix, related=other)
    for problem in problems(context, "docker-workdir-missing"):
        yield Hit(problem.start, problem.end, "workdir", problem.args)
    for problem in problems(context, "relative-path"):
        if problem.path == "meta.docker_workdir" and not _list(design(context), problem):
            yield Hit(problem.start, problem.end, "relative", problem.args)


def _list(document: DesignDocument, problem: Problem) -> bool:
    """Whether a list or mapping stands where a path belongs: what is wrong then is its kind."""
    node = document.get(problem.path)
    return node is not None and problem.code == "relative-path" and node.kind != "scalar"
