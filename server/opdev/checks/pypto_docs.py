"""SPEC.md, DESIGN.md and API_REPORT.md of classic PyPTO operators: front matter and sections."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.contracts.fields import Field
from opdev.contracts.mend import inserted, meant, moved, renamed, replaced
from opdev.contracts.vocabulary import DTYPES
from opdev.design.nodes import Node
from opdev.facts import pypto_docs as docs
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit

_NEEDS: dict[str, tuple[str, ...]] = {
    "pypto-spec": ("schema_version", "op_name", "supported_dtypes", "p0_shapes", "tolerance"),
    "pypto-design": ("schema_version", "op_name", "dynamic_axes"),
    "pypto-api-report": ("schema_version", "op_name"),
}
_LISTS = frozenset({"supported_dtypes", "p0_shapes", "dynamic_axes"})
_MARKS = (
    "[pypto-op-lint]", "交付门禁阻断", "以下规则违规", "fix_hints:", "blocking_rules:", "docs_ref:",
)  # fmt: skip
# What a document has to have: words of a heading, in either language.
_SPEC = (("数学公式", ("数学", "公式", "算法", "formula", "math", "algorithm")),
         ("输入输出规格", ("输入输出", "数据规格", "input", "output", "interface")),
         ("精度要求", ("精度", "precision", "accuracy", "tolerance")))  # fmt: skip
_API = (("API 映射", ("api 映射", "api映射", "接口映射", "api mapping", "api map")),
        ("约束", ("约束", "限制", "constraint", "limitation")),
        ("Tiling", ("tiling", "切分")))  # fmt: skip
_DESIGN = (("计算图 / API 映射", ("计算图", "api 映射", "api映射", "graph", "api mapping", "dataflow", "data flow")),
           ("Tiling / 数据切分", ("tiling", "切分", "tile", "partition")),
           ("验证方案", ("验证", "测试方案", "verification", "validation", "test plan")))  # fmt: skip


def _kind(context: Context) -> str | None:
    return next((kind for kind in _NEEDS if kind in context.kinds), None)


def _top(context: Context) -> tuple[int, int]:
    """The document's first heading, else its first line."""
    for heading in docs.sections(context.file):
        return heading.start, heading.end
    stop = context.data.find(b"\n")
    return 0, len(context.data) if stop < 0 else stop


def missing_front_matter(context: Context) -> Iterator[Hit]:
    """A document without front matter: nothing of it can be read by a tool."""
    kind = _kind(context)
    if kind is None or docs.front_of(context.file) is not None or not docs.is_classic(context.file, context.project):
        return
    names = docs.operator_names(context.project)
    lines = [f"{key}: {_stub(key, names)}" for key in _NEEDS[kind]]
    newline = "\r\n" if b"\r\n" in context.data[:2000] else "\n"
    text = newline.join(["---", *lines, "---", ""])
    args = {
        "file": context.file.path.rpartition("/")[2],
        "keys": "、".join(_NEEDS[kind]),
        "keys_en": ", ".join(_NEEDS[kind]),
    }
    start = 3 if context.data.startswith(b"\xef\xbb\xbf") else 0
    yield Hit(*_top(context), "default", args, Fix((Edit(start, start, text),)))


def _stub(key: str, names: list[str]) -> str:
    if key == "op_name":
        return names[0] if names else "FILL_IN"
    if key == "schema_version":
        return "1"
    return "{atol: FILL_IN, rtol: FILL_IN}" if key == "tolerance" else "[FILL_IN]"


def incomplete_front_matter(context: Context) -> Iterator[Hit]:
    """Keys of the front matter that are missing, of the wrong type, or say something else than the operator."""
    kind = _kind(context)
    front = docs.front_of(context.file)
    if kind is None or front is None or not docs.is_classic(context.file, context.project):
        return
    for fault in front.faults:
        if fault.reason != "duplicate-key":
            yield Hit(
                fault.start + front.base, max(fault.end, fault.start + 1) + front.base, "yaml", {"detail": fault.reason}
            )
    if front.root is None or front.root.kind != "mapping":
        if not front.faults:
            yield Hit(front.start, front.start + 3, "yaml", {"detail": "not a mapping"})
        return
    for key in _NEEDS[kind]:
        node = front.get(key)
        if node is None:
            yield _missing(context, front, front.root, key, _NEEDS[kind])
        elif node.kind != "broken":
            yield from _judge(context, front, key, node)


def _missing(context: Context, front: docs.Front, root: Node, key: str, needed: tuple[str, ...]) -> Hit:
    """A key that is not there, told at the misspelt one where there is one that nobody knows."""
    for child in root.children:
        if child.key_start >= 0 and child.key not in needed and meant(child.key or "", [key]) is not None:
            start, end = child.key_start + front.base, child.key_end + front.base
            args = {"key": child.key or "", "expected": key}
            return Hit(start, end, "misspelt", args, Fix((moved(renamed(child, key), front.base),)))
    fresh = _stub(key, docs.operator_names(context.project))
    edit = inserted(context.data[front.base : front.end], root, [Field(key, "any", ("", ""), fresh=fresh)], json_=False)
    fix = Fix((moved(edit, front.base),), "insert") if edit is not None else None
    return Hit(front.start, front.start + 3, "missing", {"key": key}, fix)


def _judge(context: Context, front: docs.Front, key: str, node: Node) -> Iterator[Hit]:
    value = docs.plain(node)
    where = front.where(node)
    if value is None or value == "" or (value == [] and key != "dynamic_axes") or "FILL_IN" in str(value):
        yield Hit(*where, "empty", {"key": key})
    elif key in _LISTS and not isinstance(value, list):
        yield Hit(*where, "list", {"key": key})
    elif key == "tolerance":
        if docs.tolerance_mode(value) is None:
            yield Hit(*where, "tolerance")
    elif key == "supported_dtypes":
        for child in node.children if node.kind == "sequence" else []:
            if docs.canonical(child.text) is None:
                near = meant(child.text, list(DTYPES)) if child.kind == "scalar" and child.end > child.start else None
                args = {"value": child.text, "expected": near or ""}
                fix = Fix((moved(replaced(child, near, json_=False), front.base),)) if near else None
                yield Hit(*front.where(child), "dtype", args, fix)
    elif key == "p0_shapes":
        if docs.shapes(value) is None:
            yield Hit(*where, "shapes")
    elif key == "op_name":
        names = docs.operator_names(context.project)
        if names and str(value) not in names and _plain_name(str(value)) not in {_plain_name(n) for n in names}:
            yield Hit(*where, "name", {"value": value, "expected": names[0]}, Fix((Edit(*where, names[0]),)), "warning")


def _plain_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _lacking(context: Context, wanted: tuple[tuple[str, tuple[str, ...]], ...]) -> Iterator[Hit]:
    if not docs.is_classic(context.file, context.project):
        return
    missing = [title for title, words in wanted if docs.section(context.file, *words) is None]
    if missing:
        args = {
            "file": context.file.path.rpartition("/")[2],
            "sections": "、".join(missing),
            "sections_en": ", ".join(missing),
        }
        yield Hit(*_top(context), "default", args)


def incomplete_spec(context: Context) -> Iterator[Hit]:
    """Sections a specification has to have, and what has to stand in them."""
    if not docs.is_classic(context.file, context.project):
        return
    yield from _lacking(context, _SPEC)
    math = docs.section(context.file, *_SPEC[0][1])
    if math is not None and not re.search(
        r"\$\$?|=|\\begin\{|\bround\b|\bclamp\b|\\\(", docs.body_of(context.file, math), re.IGNORECASE
    ):
        yield Hit(math.start, math.end, "formula", {"title": math.title})
    data = docs.section(context.file, *_SPEC[1][1])
    if data is not None:
        text = docs.body_of(context.file, data).lower()
        for word, spellings in (
            ("dtype", ("dtype", "数据类型", "data type", "float", "bf16", "fp16")),
            ("shape", ("shape", "形状")),
        ):
            if not any(s in text for s in spellings):
                yield Hit(data.start, data.end, "interface", {"title": data.title, "word": word})
    precision = docs.section(context.file, *_SPEC[2][1])
    if precision is not None and not re.search(
        r"atol|rtol|mare|mere|绝对误差|相对误差|tolerance", docs.body_of(context.file, precision), re.IGNORECASE
    ):
        yield Hit(precision.start, precision.end, "precision", {"title": precision.title})


def incomplete_api_report(context: Context) -> Iterator[Hit]:
    """Sections an API report has to have."""
    yield from _lacking(context, _API)


def incomplete_design(context: Context) -> Iterator[Hit]:
    """Sections a design has to have."""
    yield from _lacking(context, _DESIGN)


def lint_output(context: Context) -> Iterator[Hit]:
    """What a linter printed, pasted into a file that is delivered."""
    data = context.data
    lowered = data.lower()
    lines: dict[int, str] = {}
    for mark in _MARKS:
        needle = mark.encode()
        at = lowered.find(needle)
        while at >= 0:
            lines.setdefault(data.rfind(b"\n", 0, at) + 1, mark)
            at = lowered.find(needle, at + 1)
    for start in sorted(lines):
        stop = data.find(b"\n", start)
        stop = len(data) if stop < 0 else stop
        shown = data[start:stop]
        begin = start + len(shown) - len(shown.lstrip())
        end = begin + len(shown.strip())
        yield Hit(begin, end, "default", {"mark": lines[start]}, Fix((Edit(start, min(stop + 1, len(data)), ""),)))
