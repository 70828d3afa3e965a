"""Where an operator's files stand: sources in src, scripts in scripts, documents in docs, and none of them missing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from opdev.checks.case_lists import design
from opdev.facts.build import project_name
from opdev.rules.context import Context, Project
from opdev.rules.model import Edit, Fix, Hit, Related, Severity

_SHARED = {"torch_binding", "scripts", "lib", "common", "include", "cmake", "docs"}
_NOT_DESIGNED = {"changelog.md", "license.md", "contributing.md", "security.md", "notice.md"}
_TOOLS = {"conftest.py", "setup.py", "__init__.py", "noxfile.py"}
_REPORTS = (
    "docs/correctness_report.md",
    "docs/case_matrix_report.md",
    "docs/review-report.md",
    "docs/performance_report.md",
)
SCRIPTS = ("scripts/gen_data.py", "scripts/check_result.py", "scripts/run.sh")
_MAKES = {
    "gen_data.py": ("没有输入数据", "there is no input"), "check_result.py": ("没有人判断结果对不对", "nobody judges the results"),
    "run.sh": ("用例没有入口可跑", "no case has a way to run"), "run_case_matrix.py": ("用例矩阵跑不起来", "the case matrix cannot run"),
}  # fmt: skip
_RUNNER = "scripts/run_case_matrix.py"


def folder_kind(context: Context) -> str:
    """``custom-ops`` or ``examples`` for a file of an operator that is judged as a delivered one; empty for others."""
    root = context.place.root
    if root is None or context.place.profile != "custom-ops" or context.place.operator in _SHARED:
        return ""
    parent = root.rpartition("/")[0].rpartition("/")[2]
    return parent if parent in ("custom-ops", "examples") else ""


def _first_line(context: Context) -> tuple[int, int]:
    """The first line that says something."""
    source = context.file.source
    for line in range(min(len(source.line_starts), 50)):
        start, end = source.line_range(line)
        text = source.data[start:end]
        if text.strip():
            return start + len(text) - len(text.lstrip()), start + len(text.rstrip())
    return 0, 0


def missing_files(context: Context) -> Iterator[Hit]:
    """Files an operator that has been begun must have, told on its design or its CMakeLists.txt."""
    project, kind = context.project, folder_kind(context)
    relative = context.place.relative
    if project is None or not kind or relative not in ("docs/design.md", "CMakeLists.txt"):
        return
    if relative == "CMakeLists.txt" and project.exists("docs/design.md"):
        return
    at = _name_place(context)
    later = any(project.exists(path) for path in _REPORTS)
    code, scripts = _code(project, _op_name(context, project)), _scripts(project, kind)
    begun = any(f.place.relative.startswith("src/") for f in project.files("cpp"))
    tested = any(f.place.relative.startswith("scripts/") for f in project.files("shell", "python"))
    if begun and code:
        yield _told(at, "default", code, error=later or project.exists("scripts/run.sh"))
    if tested and scripts:
        yield _told(at, "scripts", scripts, error=later)
    if begun and tested and not project.exists("README.md"):
        yield _told(at, "readme", ["README.md"], error=project.exists("docs/review-report.md"))
    # One in another place is told there.
    misplaced = any(f.place.relative.lower().rpartition("/")[2] == "design.md" for f in project.files("doc"))
    if relative == "CMakeLists.txt" and begun and not misplaced:
        yield _told(at, "design", ["docs/design.md"], error=True)


def _told(at: tuple[int, int], message: str, missing: Sequence[str], *, error: bool) -> Hit:
    severity: Severity | None = None if error else "warning"
    does = [_MAKES[name] for path in missing if (name := path.rpartition("/")[2]) in _MAKES]
    args = {"files": ", ".join(missing), "zh": "、".join(zh for zh, _ in does), "en": ", ".join(en for _, en in does)}
    return Hit(*at, message, args, None, severity)


def _op_name(context: Context, project: Project) -> str:
    document = design(context)
    return (document.text("meta.op_name") if document is not None else "") or project.name


def _code(project: Project, name: str) -> list[str]:
    missing = [path for path in ("CMakeLists.txt", "src/main.cpp") if not _there(project, path)]
    # A kernel of another name, and one in another place, are other rules'.
    kernels = project.files("kernel")
    for suffixes in ((".cpp", ".cc", ".asc"), (".h", ".hpp")):
        if not any(
            project.exists(f"src/{name}_kernel{s}") or project.exists(f"src/{name}_kernels{s}") for s in suffixes
        ):
            other = any(f.path.endswith(suffixes) for f in kernels)
            if not other:
                missing.append(f"src/{name}_kernel{suffixes[0]}")
    return missing


def _scripts(project: Project, kind: str) -> list[str]:
    wanted = (*SCRIPTS, _RUNNER) if kind == "custom-ops" else SCRIPTS
    return [path for path in wanted if not _there(project, path)]


def _there(project: Project, path: str) -> bool:
    """Whether a file is in its place, or in another where it is told to stand wrong."""
    name = path.rpartition("/")[2]
    places = (path, name, f"scripts/{name}") if path.startswith("src/") else (path, name)
    return any(project.exists(place) for place in places)


def _name_place(context: Context) -> tuple[int, int]:
    """The operator's name in the design or the CMake project, else the first line."""
    if context.file.language == "cmake":
        named = project_name(context.file)
        return (named.start, named.end) if named is not None else _first_line(context)
    document = design(context)
    node = document.get("meta.op_name") if document is not None and document.file.path == context.file.path else None
    return node.where if node is not None else _first_line(context)


def source_outside_src(context: Context) -> Iterator[Hit]:
    """C++ at the operator's root or among its scripts."""
    relative = context.place.relative
    if folder_kind(context) and ("/" not in relative or relative.startswith("scripts/")):
        name = relative.rpartition("/")[2]
        yield Hit(*_first_line(context), args={"file": relative, "to": f"src/{name}"})


def document_outside_docs(context: Context) -> Iterator[Hit]:
    """Markdown at the operator's root that is no README; a design anywhere but in docs."""
    relative = context.place.relative
    name = relative.rpartition("/")[2].lower()
    if not folder_kind(context) or name.startswith("readme") or name in _NOT_DESIGNED:
        return
    if relative in ("design.md", "docs/design.md"):
        return  # The one at the root is misplaced-design's.
    if "/" not in relative or name == "design.md":
        to = name if name == "design.md" else relative
        yield Hit(*_first_line(context), args={"file": relative, "to": f"docs/{to}"})


def script_outside_scripts(context: Context) -> Iterator[Hit]:
    """A shell or Python script at the operator's root."""
    relative = context.place.relative
    if folder_kind(context) and "/" not in relative and relative not in _TOOLS:
        yield Hit(*_first_line(context), args={"file": relative, "to": f"scripts/{relative}"})


def wrong_folder(context: Context) -> Iterator[Hit]:
    """A design whose build mode belongs to the other folder."""
    from opdev.design.document import document_of

    kind = folder_kind(context)
    node = document_of(context.file).get("meta.build_mode")
    if not kind or node is None or context.place.relative != "docs/design.md":
        return
    if kind == "examples" and node.text == "independent_project":
        yield Hit(*node.where, "default", {"name": context.place.operator})
    elif kind == "custom-ops" and node.text == "in_tree_example":
        yield Hit(*node.where, "custom", {"name": context.place.operator})


def name_mismatch(context: Context) -> Iterator[Hit]:
    """An operator whose folder or kernel, or its header, is not called as the design calls it."""
    from opdev.design.document import document_of

    project = context.project
    node = document_of(context.file).get("meta.op_name")
    if project is None or node is None or not folder_kind(context) or context.place.relative != "docs/design.md":
        return
    name = node.said.strip()
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name == "replace_me":
        return
    if name != project.name:
        yield Hit(*node.where, "default", {"name": name, "folder": project.name})
        return
    sources = [f for f in project.files("kernel") if f.place.relative.startswith("src/")]
    headers = [f for f in sources if f.path.endswith(("_kernel.h", "_kernels.h", "_kernel.hpp", "_kernels.hpp"))]
    for message, files in (
        ("kernel", [f for f in sources if f.path.endswith((".cpp", ".cc", ".asc"))]),
        ("header", headers),
    ):
        called = [f.place.relative.rpartition("/")[2].rpartition(".")[0] for f in files]
        if not files or f"{name}_kernel" in called:
            continue
        plural = f"{name}_kernels" in called
        other = files[called.index(f"{name}_kernels") if plural else 0]
        note = {"zh": "kernel 文件在这里", "en": "the kernel's file"}
        args = {"name": name, "file": other.place.relative}
        yield Hit(*node.where, message, args, None, "hint" if plural else None, (Related(0, 0, note, other.path),))
        return  # A copied operator has both by its old name.


def custom_path_in_tree(context: Context) -> Iterator[Hit]:
    """``custom-ops/<op>`` in the commands of an operator that lives in examples."""
    if folder_kind(context) != "examples":
        return
    document = design(context)
    if document is not None and document.text("meta.build_mode") == "independent_project":
        return
    wanted = re.compile(rb"(?<![\w-])custom-ops(?=/%s(?![\w]))" % re.escape((context.place.operator or "").encode()))
    text = context.file.nocomment if context.file.language in ("bash", "python", "cmake") else context.data
    for match in wanted.finditer(text):
        end = match.end() + 1 + len((context.place.operator or "").encode())
        fix = Fix((Edit(match.start(), match.end(), "examples"),))
        yield Hit(match.start(), end, args={"name": context.place.operator}, fix=fix)


def compare_script(context: Context) -> Iterator[Hit]:
    """An operator's own perf_compare.sh, though the shared script decides."""
    project = context.project
    if (
        project is None
        or folder_kind(context) != "custom-ops"
        or not context.place.relative.endswith("/perf_compare.sh")
    ):
        return
    if context.place.relative.startswith("scripts/") and not project.exists("../scripts/lib/perf_compare.py"):
        yield Hit(*_first_line(context), args={"file": context.place.relative})


def missing_matrix_report(context: Context) -> Iterator[Hit]:
    """A correctness report without the runner's own record."""
    project = context.project
    if (
        project is None
        or folder_kind(context) != "custom-ops"
        or context.place.relative != "docs/correctness_report.md"
    ):
        return
    if not project.exists("docs/case_matrix_report.md"):
        yield Hit(*_first_line(context))
