"""Whether SHMEM's own tree is as it was: an operator is delivered without edits of the library it stands on, or of its documents."""

from __future__ import annotations

from opdev.phases import git_index
from opdev.phases.evidence import Evidence
from opdev.phases.model import Check, Spot, Title, both

_DOCUMENTS, _LIBRARY = ("docs/",), ("include/", "src/")
_TITLE = Title("upstream-untouched", "SHMEM 自己的文件没有改动", "SHMEM's own files are as they were")


def untouched(evidence: Evidence) -> Check:
    """Whether docs/ (SH97D), include/ and src/ (SH987) of the repository differ from git's index; git is not run for it.

    What was staged or committed is no difference.  Outside a checkout of SHMEM there is nothing to be said, and nothing of the
    library where the design has a gap that SHMEM itself has to fill.
    """
    repo = evidence.path("../..")
    if not all(evidence.exists(f"../../{name}") for name in ("include", "src", ".git")):
        return _TITLE.skipped(both("算子不在 SHMEM 仓库的 git 检出里", "the operator lies in no git checkout of SHMEM"))
    found = git_index.changed(repo, _DOCUMENTS if _gap(evidence) else (*_DOCUMENTS, *_LIBRARY))
    if found is None:
        return _TITLE.skipped(both("git 的索引读不了，没有判断", "git's index cannot be read here, nothing is said"))
    if not found:
        return _TITLE.ok(both("和 git 索引一致", "as git's index has them"))
    names = ", ".join(found[:3]) + (" …" if len(found) > 3 else "")
    return _TITLE.failed(
        both(f"改了 {len(found)} 个文件：{names}；算子的交付里不该有 SHMEM 自己的改动", f"{len(found)} changed: {names}; changes of SHMEM itself are no part of an operator's delivery"),
        both("先问用户，再还原：git checkout -- 文件；确实要改 SHMEM，就单独提交", "ask the user, then put them back: `git checkout -- FILE`; a change of SHMEM that is meant is a commit of its own"),
        Spot(f"{repo}/{found[0]}"),
    )  # fmt: skip


def _gap(evidence: Evidence) -> bool:
    """Whether a row of the design's section 3 is classed 需新实现."""
    tables = evidence.design.tables if evidence.design is not None else []
    rows = [row for t in tables if t.heading is not None and t.heading.number.startswith("3") for row in t.rows]
    return any(cell.text.strip(" `*") == "需新实现" for row in rows for cell in row)
