"""An operator under another name: every edit and every file that moves, worked out before anything is touched.

What was measured under the old name stays as it was (logs), and so does every word that only looks like the name
(``own_names``): ``Gather`` of AscendC is not the class of an operator called gather.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from opdev.design.document import document_of
from opdev.design.fields import PLACEHOLDER
from opdev.facts.names import Files, Site, identifier, operator_name, styled
from opdev.facts.own_names import Own
from opdev.syntax.file import File

_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_LONGEST = 64
_KEYWORDS = frozenset((
    "alignas", "alignof", "and", "asm", "auto", "bool", "break", "case", "catch", "char", "class", "concept",
    "const", "constexpr", "continue", "decltype", "default", "delete", "do", "double", "else", "enum", "explicit",
    "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable",
    "namespace", "new", "noexcept", "not", "nullptr", "operator", "or", "private", "protected", "public",
    "register", "requires", "return", "short", "signed", "sizeof", "static", "struct", "switch", "template", "this",
    "throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void",
    "volatile", "wchar_t", "while", "xor", "main", "std", "half",
))  # fmt: skip


class RenameError(Exception):
    """The operator cannot get that name; says why in both languages."""

    def __init__(self, zh: str, en: str) -> None:
        super().__init__(en)
        self.text = {"zh": zh, "en": en}


@dataclass(frozen=True, slots=True)
class Change:
    """Replace ``file.data[start:end]`` by ``text``."""

    file: File
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Renaming:
    """The edits by file, then the files that move, then the folder (the last move, where it moves)."""

    old: str
    new: str
    changes: tuple[Change, ...]
    moves: tuple[tuple[str, str], ...] = ()
    folder: str = ""
    """The operator's folder, where that moves."""
    kept: tuple[Site, ...] = field(default=())
    """Words that are not, or not surely, the operator's and keep the old name.  Of logs nothing is told."""


def renaming(project: Files, new: str, exists: Callable[[str], bool]) -> Renaming:
    """What renaming an operator to ``new`` takes; RenameError where that name will not do.

    ``exists`` says whether an absolute path is taken, on disk or by an unsaved buffer.
    """
    old = current_name(project)
    check_name(new, old)
    own = Own(project, old)
    files = own.files
    changes: dict[tuple[str, int], Change] = {}
    moves: list[tuple[str, str]] = []
    kept: list[Site] = []
    folder: tuple[str, str] | None = None
    for site, ours in own.sites():
        if site.role in ("folder", "file"):
            above, _, base = site.path.rpartition("/")
            target = f"{above}/{_in_name(base, old, new)}"
            if site.role == "folder":
                folder = (site.path, target)
            elif ours and site.path in files and "log" not in files[site.path].kind.names:
                moves.append((site.path, target))
            continue
        file = files.get(site.path)
        if file is None or "log" in file.kind.names:
            continue
        if not ours:
            kept.append(site)
            continue
        _refuse_clash(file, site, old, new, own.declared)
        changes[site.path, site.start] = Change(file, site.start, site.end, styled(new, site.style))
    if folder is not None:
        moves.append(folder)
    for _, target in moves:
        if exists(target):
            name = target.rpartition("/")[2]
            raise RenameError(
                f"不能改名为 {new}：{name} 已经存在（{target}），改名会与它冲突；请换一个名字，或先移走它",
                f"cannot rename to {new}: {name} exists already ({target}) and would be in the way; choose another name or move it first",
            )
    return Renaming(
        old, new, tuple(changes[key] for key in sorted(changes)), tuple(moves), folder[0] if folder else "", tuple(kept)
    )


def current_name(project: Files) -> str:
    """The operator's name; RenameError while the design has none."""
    for file in project.files("design-doc"):
        said = document_of(file).text("meta.op_name").strip()
        if not said or PLACEHOLDER in said or not _NAME.match(said):
            raise RenameError(
                "op_name 还没有填写：先在 meta.op_name 写下名字，之后才能在整个算子里改名",
                "op_name is not filled in yet: write the name in meta.op_name first, then it can be renamed across the operator",
            )
    return operator_name(project)


def check_name(new: str, old: str) -> None:
    """RenameError for what cannot be an operator's name."""
    if not _NAME.match(new) or len(new) > _LONGEST:
        raise RenameError(
            f"“{new[:80]}”不能作算子名：以小写字母开头，只含小写字母、数字和下划线，至多 {_LONGEST} 个字符，因为它同时是目录名、CMake 目标和符号前缀",
            f"“{new[:80]}” is no operator name: lower-case letters, digits and underscores, a letter first, {_LONGEST} at most, "
            "because it names the folder, the CMake target and the symbols",
        )  # fmt: skip
    if new in _KEYWORDS or keyword.iskeyword(new):
        raise RenameError(
            f"“{new}”是 C++ 或 Python 的保留字，用它作名字代码无法编译",
            f"“{new}” is a reserved word of C++ or Python: code that uses it as a name does not compile",
        )
    if PLACEHOLDER in new:
        raise RenameError(f"“{new}”是模板的占位文字，不是名字", f"“{new}” is the template's placeholder, not a name")
    if new == old:
        raise RenameError(f"算子已经叫 {new}", f"the operator is called {new} already")


def _refuse_clash(file: File, site: Site, old: str, new: str, declared: frozenset[bytes]) -> None:
    """Two things of one name would be one."""
    if site.role not in ("identifier", "kernel"):
        return
    start, end = identifier(file.data, site.start, site.end)
    word = file.data[start:end]
    becomes = file.data[start : site.start] + styled(new, site.style).encode() + file.data[site.end : end]
    if becomes in declared and becomes != word:
        name = becomes.decode("utf-8", "replace")
        raise RenameError(
            f"不能把 {old} 改名为 {new}：代码里已经有 {name}（{file.path.rpartition('/')[2]}），两者会混为一个；请换一个名字",
            f"cannot rename {old} to {new}: the code has {name} already ({file.path.rpartition('/')[2]}), and the two would become one; "
            "choose another name",
        )  # fmt: skip


def _in_name(base: str, old: str, new: str) -> str:
    return re.sub(
        rf"(?<![A-Za-z0-9]){re.escape(old)}(?![A-Za-z0-9])|(?<=\blib){re.escape(old)}(?![A-Za-z0-9])", new, base
    )
