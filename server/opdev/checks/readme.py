"""An operator's README and documents: the sections people look for, commands that can be run, the language they are read in."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice

from opdev.checks.layout import SCRIPTS
from opdev.design.markdown import stretches
from opdev.facts.report_tables import layout_of, plain
from opdev.rules.context import Context, Project
from opdev.rules.model import Edit, Fix, Hit

SECTIONS: dict[str, tuple[str, ...]] = {
    "算子介绍": ("算子介绍", "算子说明", "功能介绍", "概述", "简介"), "环境要求": ("环境要求", "环境准备", "前置条件", "依赖"),
    "目录结构": ("目录结构", "目录说明", "文件结构"), "参数说明": ("参数说明", "参数", "输入输出", "接口说明"),
    "编译项目": ("编译项目", "编译", "构建"), "运行算子": ("运行算子", "运行", "执行"), "验证结果": ("验证结果", "验证", "精度验证", "结果验证"),
    "性能采集": ("性能采集", "性能测试", "性能"), "注意事项": ("注意事项", "约束", "限制", "说明事项"),
}  # fmt: skip
"""The sections of a README, and what else they are called."""
_PERF = "性能采集"
_PROCESSES = re.compile(r"进程|\bprocess(?:es)?\b", re.IGNORECASE)
_SENTENCE = "run.sh 为每个 PE 启动一个进程；main.cpp 是一个 PE 的程序，不要在其中再起进程。"
_SCRIPT = re.compile(rb"(?<![\w./${<*~-])(?:\./)?(?P<path>(?:[\w.-]+/)*(?:scripts|baseline|torch_test|src)/(?:[\w.-]+/)*[\w.-]+\.(?:sh|py))(?![\w/>}*])")  # fmt: skip
_CJK = re.compile(r"[\u3400-\u9fff]")
_LETTERS = re.compile(r"[A-Za-z]")
_NO_PROSE = re.compile(r"`[^`\n]*`|\[[^\]\n]*\]\([^)\n]*\)|https?://\S+|<!--.*?-->|^[ \t]*\|.*$|\b\w*[_/.]\w+\b", re.MULTILINE)  # fmt: skip
_ENOUGH = 200
"""Letters from which on a document is long enough to tell its language."""
_INTERNAL = re.compile(rb"\baclshmemi_\w+")
_EXPLAINED = re.compile(r"缺口|差距|\bgap\b|不(?:可|得|要|能|应|直接|使用|调用)|禁止|避免|改用|\b(?:not|never|avoid|instead)\b", re.IGNORECASE)  # fmt: skip
_MOST = 20


def _is_readme(context: Context) -> bool:
    return context.place.relative.lower() == "readme.md" and _shmem(context)


def _shmem(context: Context) -> bool:
    """Whether it is of a SHMEM operator: those of PyPTO have documents of their own."""
    root = context.place.root or ""
    return "/custom-ops/" in root or "/examples/" in root


def _top(context: Context) -> tuple[int, int]:
    heads = layout_of(context.file).headings
    return (heads[0].start, heads[0].end) if heads else context.file.source.line_range(0)


def sections(context: Context) -> Iterator[Hit]:
    """A README without one of the sections people look for."""
    if not _is_readme(context):
        return
    titles = [plain(h.title) for h in layout_of(context.file).headings if h.level <= 3]
    lacking = [name for name, words in SECTIONS.items() if not any(w in t for w in words for t in titles)]
    project = context.project
    if _PERF in lacking and project is not None and not project.exists("scripts/perf.sh"):
        # Nothing is measured: the operator was made without that phase.
        lacking.remove(_PERF)
    if lacking:
        newline = context.file.source.newline
        at = len(context.data.rstrip())
        text = "".join(f"{newline * 2}## {name}" for name in lacking)
        yield Hit(*_top(context), args={"missing": "、".join(lacking)}, fix=Fix((Edit(at, at, text),)))


def processes(context: Context) -> Iterator[Hit]:
    """A README that does not say that each PE is a process of its own."""
    if not _is_readme(context) or _PROCESSES.search(context.data.decode("utf-8", "replace")):
        return
    run = next((h for h in layout_of(context.file).headings if h.level <= 3 and "运行" in h.title), None)
    newline = context.file.source.newline
    fix = Fix((Edit(run.end, run.end, f"{newline * 2}{_SENTENCE}"),)) if run is not None else None
    yield Hit(*((run.start, run.end) if run is not None else _top(context)), fix=fix)


def commands(context: Context) -> Iterator[Hit]:
    """A command of a README that names a script which is not there."""
    project = context.project
    if project is None or not _is_readme(context):
        return
    seen: set[bytes] = set()
    told = 0
    # What every operator must have is told where it is missing, or where it stands instead.
    told_missing = (project.exists("docs/design.md") or project.exists("CMakeLists.txt")) and any(
        f.place.relative.startswith("scripts/") for f in project.files("shell", "python")
    )
    for match in _SCRIPT.finditer(context.data):
        path = match["path"]
        if path in seen or told >= _MOST or not _in_command(context, match.start()):
            continue
        seen.add(path)
        where = list(_candidates(project, path.decode()))
        if told_missing and where[0] in SCRIPTS:
            continue
        if not any(project.exists(p) for p in where):
            told += 1
            yield Hit(*match.span("path"), args={"path": path.decode(), "operator": project.name})


def _in_command(context: Context, at: int) -> bool:
    """Whether a place is in a fence: in prose a name may be an example."""
    outside = context.file.memo("readme.stretches", lambda: list(stretches(context.data)))
    index = bisect_right(outside, (at, len(context.data) + 1)) - 1
    return index < 0 or at >= outside[index][1]


def _candidates(project: Project, path: str) -> Iterator[str]:
    """Where a command's script may be, from the operator: beside it, and in the repository around it."""
    name = f"{project.name}/"
    own = path.rpartition(f"/{name}")[2] if f"/{name}" in f"/{path}" else path.removeprefix("./")
    yield own.removeprefix(name)
    for up in ("..", "../.."):
        yield f"{up}/{path}"


def not_chinese(context: Context) -> Iterator[Hit]:
    """A document of an operator that is hardly written in Chinese."""
    relative = context.place.relative.lower()
    if "design-doc" in context.kinds:
        return  # It has a rule of its own.
    if not _shmem(context) or not (relative == "readme.md" or re.fullmatch(r"docs/[^/]+\.md", relative)):
        return
    if context.project is not None and any(
        context.project.exists(f"{relative[:-3]}{s}.md".replace("readme", "README")) for s in (".zh-CN", "_zh", ".zh")
    ):
        return
    prose = "\n".join(context.data[a:b].decode("utf-8", "replace") for a, b in stretches(context.data[:200_000]))
    prose = _NO_PROSE.sub(" ", prose)
    chinese, latin = len(_CJK.findall(prose)), len(_LETTERS.findall(prose))
    if latin >= _ENOUGH and chinese < 0.1 * (chinese + latin):
        yield Hit(*_top(context), args={"share": f"{100 * chinese / (chinese + latin):.0f}"})


def internal_names(context: Context) -> Iterator[Hit]:
    """An internal API in a document that does not say it is one."""
    if not _shmem(context):
        return
    lines = (
        (context.file.source.line_of(m.start()), m)
        for a, b in stretches(context.data)
        for m in _INTERNAL.finditer(context.data, a, b)
    )
    told: set[bytes] = set()
    for line, match in islice(lines, 1000):
        text = context.file.source.line_bytes(line).decode("utf-8", "replace")
        if match.group() in told or len(told) >= _MOST or _EXPLAINED.search(text[:2000]):
            continue
        told.add(match.group())
        yield Hit(match.start(), match.end(), args={"name": match.group().decode()})
