"""What the compiler says, with the stand-in's limits told in its own words.

The form is g++'s (``file:line:column: error: …``), so that every reader of compiler output reads it.
"""

from __future__ import annotations

import os
import re

from opdev.sim.names import nearest
from opdev.sim.rewrite import Missing

_NO_HEADER = re.compile(
    r"^(?P<place>[^\n:]+:\d+:\d+): fatal error: (?P<name>[^\n:]+): No such file or directory$", re.M
)
_OF_CANN = re.compile(
    r"^(?:acl|aclnn|aclnnop|hccl|hcomm|kernel_|lib/|adv_api/|tiling|register/|graph/|exe_graph|platform/|runtime/|experiment/"
    r"|catlass/|shmem|device/|device_simt/|host/|host_device/|utils/|simt_api/|asc|stub_|impl/|opdev/|dlog|mspti|torch_npu/)"
)
_UNKNOWN = re.compile(
    r"^(?P<place>[^\n:]+:\d+:\d+): (?:fatal )?error: (?P<rest>['‘](?P<name>[\w:]+)['’] (?:was not declared|is not a member of"
    r"|has not been declared|does not name|is not a class|is not a template)|.*has no member named ['‘](?P<member>\w+)['’])[^\n]*$",
    re.M,
)


def missing_name(one: Missing, there: frozenset[str]) -> str:
    """The error for a name found before the compiler."""
    return f"{one.path}:{one.line}:{one.column}: error: {_not_here(one.name, there)}\n"


def _not_here(name: str, there: frozenset[str]) -> str:
    near = nearest(name, there)
    if os.environ.get("OPDEV_SIM_LANG") == "zh":
        return f"not in the stand-in: {name}（模拟环境里没有 {name}" + (f"；最接近的是 {near}）" if near else "）")
    return f"not in the stand-in: {name}" + (f" (nearest: {near})" if near else "")


def missing_header(said: str) -> str:
    """The preprocessor's words; a header of CANN or SHMEM that is missing is told as such."""

    def told(match: re.Match[str]) -> str:
        if _OF_CANN.match(match["name"]):
            return f"{match['place']}: fatal error: not in the stand-in: header {match['name']}"
        return match[0]

    return _NO_HEADER.sub(told, said)


def explain(said: str, there: frozenset[str], public: frozenset[str]) -> str:
    """The compiler's words; a line before an error says when the name is only missing here."""

    def told(match: re.Match[str]) -> str:
        name = (match["name"] or match["member"] or "").rpartition("::")[2]
        known_type = match["member"] is not None and re.search(
            r"AscendC::|TPipe|LocalTensor|GlobalTensor|TQue|TBuf", match["rest"]
        )
        if (name in public and name not in there) or known_type:
            return f"{match['place']}: error: {_not_here(name, there)}\n{match[0]}"
        return match[0]

    return _UNKNOWN.sub(told, said)
