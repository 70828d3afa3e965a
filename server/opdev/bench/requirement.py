"""The requirement a generator is given: ``REQUIRE.md``, whose front matter is the field's own, and ``task_desc.py``, the case itself.

Written whole or not at all, and not touched where nothing changed.  A file that somebody else wrote or changed is never
lost: it is put beside as ``REQUIRE.md.1``, ``.2``… (``task_desc.py.1``…) before ours takes its place.  Ours is known by
its last line, which holds a digest of the rest.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence

from opdev.atomic import write_bytes
from opdev.bench.contract import encoded
from opdev.bench.model import CaseSpec, Tensor

REQUIRE, TASK = "REQUIRE.md", "task_desc.py"
_SEAL = re.compile(rb"<!-- opdev sha256:([0-9a-f]{64}) -->\n?\Z")
# What YAML takes for the end of a line, or does not take at all.
_ODD = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_LARGEST = 16_000_000


def write(spec: CaseSpec, folder: str) -> None:
    """Write both files into ``folder``, which is there; OSError where that cannot be."""
    _put(f"{folder}/{REQUIRE}", _sealed(text(spec)))
    _put(f"{folder}/{TASK}", encoded(spec.source))


def text(spec: CaseSpec) -> str:
    """``REQUIRE.md`` without its seal."""
    return "\n".join([*_front(spec), "", *_body(spec)]).rstrip("\n") + "\n"


def _put(path: str, data: bytes) -> None:
    there = _there(path)
    if there == data:
        return
    if there is not None and not _ours(there):
        _aside(path, there)
    write_bytes(path, data)


def _there(path: str) -> bytes | None:
    """What a file holds.  What is no file of a sensible size (a link to somewhere, a pipe, a folder) is moved aside unread."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
        free = next(name for name in _names(path) if not os.path.lexists(name))
        os.rename(path, free)
        return None
    with open(path, "rb") as stream:
        return stream.read()


def _sealed(text: str) -> bytes:
    data = text.encode("utf-8", "replace") + b"\n"
    return data + f"<!-- opdev sha256:{hashlib.sha256(data).hexdigest()} -->\n".encode()


def _ours(data: bytes) -> bool:
    seal = _SEAL.search(data)
    return seal is not None and hashlib.sha256(data[: seal.start()]).hexdigest().encode() == seal[1]


def _names(path: str) -> Iterator[str]:
    return (f"{path}.{number}" for number in itertools.count(1))


def _aside(path: str, data: bytes) -> None:
    """Keep ``data`` under the first free number, unless it is kept already."""
    for name in _names(path):
        try:
            with open(name, "xb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            return
        except FileExistsError:
            if os.path.isfile(name) and os.path.getsize(name) == len(data):
                with open(name, "rb") as stream:
                    if stream.read() == data:
                        return


def _front(spec: CaseSpec) -> Iterator[str]:
    """JSON's lists and texts are YAML's."""
    yield "---"
    yield "schema_version: 1"
    yield f"op_name: {_flow(spec.case.op)}"
    yield f"supported_dtypes: {_flow(spec.dtypes)}"
    yield f"p0_shapes: {_flow(spec.p0_shapes)}"
    if spec.p1_shapes:
        yield f"p1_shapes: {_flow(spec.p1_shapes)}"
    yield f"tolerance: {{rtol: {_float(spec.tolerance)}, atol: {_float(spec.tolerance)}}}"
    if spec.dynamic_axis:
        yield f"dynamic_axis: {_flow(spec.dynamic_axis)}"
    yield "---"


def _flow(value: object) -> str:
    return _ODD.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def _float(value: float) -> str:
    """YAML takes a number without a point for a text where it has an exponent."""
    plain = f"{value:.12f}".rstrip("0")
    return plain + "0" if plain.endswith(".") else plain


def _body(spec: CaseSpec) -> Iterator[str]:
    case = spec.case
    yield from (f"# {case.op} 算子需求", "", "## 元数据", "")
    yield from _table(("项", "值"), [
        ("用例", case.key), ("算子名", case.op), ("框架", spec.framework), ("用例文件", os.path.basename(case.path)),
    ])  # fmt: skip
    if spec.formula:
        yield from ("", "## 公式", "", *_fence(spec.formula, "text"))
    yield from ("", "## 输入输出", "", "### 输入", "", *_tensors(spec.inputs))
    yield from ("", "### 输出", "", *_tensors(spec.outputs))
    yield from ("", "## 形状约束", "", *_shapes(spec))
    yield from ("", "## 数据类型", "", *_table(("数据类型", "使用它的输入"), [
        (dtype, "、".join(one.name for one in spec.inputs if one.dtype == dtype) or "未探测到") for dtype in spec.dtypes
    ]))  # fmt: skip
    yield from ("", "## 初始化参数", "")
    if spec.init_args:
        yield from ("`get_init_inputs()` 的返回值：", "", *_fence(spec.init_args, "python"))
    else:
        yield "未探测到，见原始源码里的 `get_init_inputs()`。"
    yield from ("", "## 调用约定", "", *_convention())
    for title, source in (("初始化源码", spec.init_source), ("前向源码", spec.forward_source)):
        yield from ("", f"## {title}", "", *(_fence(source, "python") if source else ("见原始源码。",)))
    yield from ("", "## 精度要求", "", *_precision(spec))
    yield from ("", "## 开发约束", "", *_LIMITS)
    yield from ("", "## 原始源码", "", f"与 `{TASK}` 相同。", "", *_fence(spec.source, "python"))
    if spec.warnings:
        yield from ("", "## 未能确定的内容", "", *(f"- {_inline(w['zh'])}" for w in spec.warnings))


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(header) + " |"
    yield "|" + " --- |" * len(header)
    for row in rows:
        yield "| " + " | ".join(_cell(one) for one in row) + " |"


def _cell(text: str) -> str:
    return _inline(text).replace("|", "\\|")


def _inline(text: str) -> str:
    return " ".join(text.split())


def _fence(text: str, language: str) -> Iterator[str]:
    """A fence longer than any inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    yield from (ticks + language, text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n"), ticks)


def _tensors(tensors: Sequence[Tensor]) -> Iterator[str]:
    if not tensors:
        yield "未探测到，见原始源码。"
        return
    yield from _table(("名字", "形状", "数据类型"), [(one.name, _shape(one.shape), one.dtype) for one in tensors])


def _shape(shape: Sequence[int]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"


def _shapes(spec: CaseSpec) -> Iterator[str]:
    yield "- P0（必须通过）：" + (_cases(spec.p0_shapes) or "未探测到，以 `get_inputs()` 为准。")
    if spec.p1_shapes:
        yield f"- P1（希望通过）：{_cases(spec.p1_shapes)}"
    axes = "、".join(f"`{_inline(axis)}`" for axis in spec.dynamic_axis)
    yield f"- 动态轴：{axes or '用例没有给出。'}"


def _cases(cases: Sequence[Sequence[Sequence[int]]]) -> str:
    return "；".join("、".join(_shape(shape) for shape in one) or "没有张量输入" for one in cases)


def _convention() -> Iterator[str]:
    yield "`Model(*get_init_inputs())` 构造参考，`ModelNew(*get_init_inputs())` 构造实现，两者的 `state_dict()` 逐键相同；调用是："
    yield ""
    yield from _fence("outputs = ModelNew(*get_init_inputs())(*get_inputs())", "python")


def _precision(spec: CaseSpec) -> Iterator[str]:
    yield f"rtol = {_float(spec.tolerance)}，atol = {_float(spec.tolerance)}；输出的个数、次序、形状、数据类型与参考一致。"
    yield "验证时每个输出按 PyPTO 的精度标准判断；批次设了 verify_rtol、verify_atol 时，还要满足它们。"


_LIMITS = (
    "- 计算在 PyPTO kernel 里完成，不用 torch 算子代替，也没有不经过 kernel 的第二条路。",
    f"- 不导入 `{TASK}` 和 golden，不按随机种子或输入内容缓存结果，不改输入张量。",
    f"- 不改 `{REQUIRE}` 和 `{TASK}`。",
)
