"""Values for a design that the operator's code already has: calls, kernel parameters, launches, cases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Protocol

from opdev.api.table import lookup, names
from opdev.design.offers import Offer
from opdev.facts.calls import act_of, api_calls
from opdev.facts.cases import cases_of
from opdev.facts.kernels import kernels, launches
from opdev.syntax.file import File

_DATA = frozenset({"put", "get", "put-signal", "atomic"})
_PLANE = _DATA | {"signal", "wait", "barrier", "quiet", "fence"}
_PARAMETER = re.compile(
    rb"(?:\bGM_ADDR|\b__gm__\s+\w+\s*\*|\buint8_t\s*\*)\s*(?:__restrict__\s+)?([A-Za-z_]\w*)\s*[,)]"
)
_LONGEST = 4000


class Files(Protocol):
    """What is asked of an operator."""

    @property
    def name(self) -> str: ...

    def files(self, *kinds: str) -> Iterable[File]: ...


def is_api_field(path: str) -> bool:
    """Whether a field of the DSL names SHMEM calls."""
    return path.endswith((".data_interface", ".cross_pe_dataplane"))


def code_offers(project: Files, path: str) -> Iterator[Offer]:
    """Values for the field at ``path`` (``[]`` for items) that stand in the operator's files."""
    if is_api_field(path):
        yield from _calls(project, _DATA if path.endswith("data_interface") else _PLANE)
    elif re.fullmatch(r"interface\.(?:inputs|outputs)\[\]\.name|memory\.buffers\[\]\.name", path):
        yield from _parameters(project)
    elif path == "interface.attrs[].default":
        yield from _launches(project)
    elif path in ("correctness.invariants[].case", "performance.target_cases", "correctness.case_matrix[].case"):
        yield from _cases(project)
    elif path == "meta.op_name":
        yield Offer(project.name, {"zh": "算子目录的名字", "en": "the name of the operator's folder"})


def api_offers(path: str) -> Iterator[Offer]:
    """The calls of the public API a kernel could make here, in the order of their names."""
    acts = _DATA if path.endswith("data_interface") else _PLANE
    for name in sorted(names()):
        api = lookup(name)
        if api is not None and api.kind == "function" and api.on_device and not api.deprecated and act_of(name) in acts:
            engines = ", ".join(sorted(api.engines))
            yield Offer(name, {"zh": engines or "设备侧接口", "en": engines or "device call"})


def _calls(project: Files, acts: frozenset[str]) -> Iterator[Offer]:
    seen: set[str] = set()
    for file in project.files("kernel"):
        for call in api_calls(file):
            if call.act in acts and call.device and call.name not in seen:
                seen.add(call.name)
                where = _base(file)
                yield Offer(call.name, {"zh": f"{where} 已在调用", "en": f"called in {where}"})


def _parameters(project: Files) -> Iterator[Offer]:
    seen: set[str] = set()
    for file in project.files("kernel"):
        for kernel in kernels(file):
            end = file.code.find(b")", kernel.end, kernel.end + _LONGEST) + 1
            for match in _PARAMETER.finditer(
                file.code, kernel.end if kernel.defined else kernel.whole_start, max(end, 0)
            ):
                yield from _once(match[1].decode(), seen, kernel.name)
            if kernel.macro:
                for match in _PARAMETER.finditer(file.code, 0, min(kernel.whole_end, len(file.code))):
                    yield from _once(match[1].decode(), seen, kernel.name)


def _once(name: str, seen: set[str], kernel: str) -> Iterator[Offer]:
    if name not in seen:
        seen.add(name)
        yield Offer(name, {"zh": f"kernel {kernel} 的参数", "en": f"a parameter of kernel {kernel}"})


def _launches(project: Files) -> Iterator[Offer]:
    seen: set[str] = set()
    for file in project.files("kernel", "host"):
        for launch in launches(file):
            text = str(launch.value) if launch.value is not None else ""
            if text and text not in seen:
                seen.add(text)
                yield Offer(
                    text,
                    {"zh": f"{launch.kernel} 启动时的 block 数", "en": f"blocks that {launch.kernel} is launched with"},
                )
        for match in re.finditer(
            rb"\b\w*BLOCK_DIM\w*\s*=\s*(\d{1,4})\b|#define\s+\w*BLOCK_DIM\w*\s+(\d{1,4})\b", file.code
        ):
            text = (match[1] or match[2]).decode()
            if text not in seen:
                seen.add(text)
                yield Offer(
                    text, {"zh": f"{_base(file)} 里的 block 数", "en": f"the number of blocks in {_base(file)}"}
                )


def _cases(project: Files) -> Iterator[Offer]:
    seen: set[str] = set()
    for file in project.files("cases", "case-runner"):
        listed = cases_of(file)
        for case in listed.cases if listed is not None else ():
            if case.id and case.id not in seen:
                seen.add(case.id)
                yield Offer(case.id, {"zh": f"{_base(file)} 中的用例", "en": f"a case of {_base(file)}"})


def _base(file: File) -> str:
    return file.path.rpartition("/")[2]
