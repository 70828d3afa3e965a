"""Where a file stands: in an operator, in upstream's own tree, or nowhere in particular.

Delivered operators (``custom-ops/<op>``) are the default profile.  Files of a SHMEM or PyPTO
checkout are upstream's own and judged softer (``in-tree``), except operators that were generated
into ``examples/`` and say so by a ``docs/design.md``.  The PyPTO framework's own files have their
own profile (``pypto-tree``): next to no rule is about them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import PurePosixPath

from opdev.kinds import Place

IsFile = Callable[[str], bool]
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PYPTO_CODE = (
    "{}_impl.py", "{}_golden.py", "test_{}.py", "src/{}_impl.py", "golden/{}_golden.py", "tests/test_{}.py",
)  # fmt: skip
_PYPTO_DOCS = (
    "SPEC.md",
    "DESIGN.md",
    "API_REPORT.md",
    "docs/SPEC.md",
    "docs/DESIGN.md",
    "docs/API_REPORT.md",
    "SPEC/SPEC.md",
    "DESIGN/DESIGN.md",
    "API_REPORT/API_REPORT.md",
)
_PART = "pypto"
"""The folder that an operator with other implementations beside it keeps PyPTO's in: ``add/pypto/src/add_impl.py``."""
_IN_TREE_AREAS = {"examples", "tests", "src", "include", "docs", "scripts", "tools", "python", "framework", "models"}


class Places:
    """Answers where a path stands; what the disk said is kept until ``forget``."""

    def __init__(self, is_file: IsFile = os.path.isfile) -> None:
        self._is_file = is_file
        self._known: dict[str, bool] = {}
        self._folders: dict[str, Place] = {}

    def forget(self) -> None:
        """Files came or went: ask the disk again."""
        self._known.clear()
        self._folders.clear()

    def of(self, path: str) -> Place:
        """The place of an absolute path with forward slashes."""
        folder, _, name = path.rpartition("/")
        place = self._folders.get(folder)
        if place is None:
            place = self._folders[folder] = self._of_folder(folder or "/")
        base = place.root or place.shmem_repo
        relative = path[len(base) :].lstrip("/") if base and path.startswith(base.rstrip("/") + "/") else name
        return Place(place.profile, place.operator, place.root, place.shmem_repo, relative)

    def _of_folder(self, folder: str) -> Place:
        parts = PurePosixPath(folder).parts
        repo = self._repository(folder)
        if ".agents" in parts:
            return Place("skill-text", None, None, repo)
        operator = self._custom_op(parts)
        if operator is not None:
            return Place("custom-ops", PurePosixPath(operator).name, operator, repo)
        if "custom-ops" in parts:
            return Place("custom-ops", None, None, repo)
        if repo is not None:
            below = PurePosixPath(folder).relative_to(repo).parts
            framework = self._file(f"{repo.rstrip('/')}/python/pypto/__init__.py")
            if framework and below[:1] != ("custom",):
                return Place("pypto-tree", None, None, repo)
            if below[:1] == ("examples",) and len(below) > 1:
                root = str(PurePosixPath(repo, *below[:2]))
                generated = self._file(f"{root}/docs/design.md")
                return Place("custom-ops" if generated else "in-tree", below[1], root, repo)
            if below[:1] == ("custom",) and len(below) > 1:
                # PyPTO operators under development stand beside the framework's own folders.
                return Place("custom-ops", below[1], str(PurePosixPath(repo, *below[:2])), repo)
            if not below or below[0] in _IN_TREE_AREAS:
                return Place("in-tree", None, None, repo)
        root_found = self._operator_root(folder)
        if root_found is not None:
            return Place("custom-ops", _named(PurePosixPath(root_found)).name, root_found, repo)
        return Place("custom-ops" if repo is None else "in-tree", None, None, repo)

    @staticmethod
    def _custom_op(parts: tuple[str, ...]) -> str | None:
        """The operator's folder below the last ``custom-ops`` (``scripts`` there is shared)."""
        for index in range(len(parts) - 1, 0, -1):
            if parts[index - 1] == "custom-ops" and parts[index] != "scripts":
                return str(PurePosixPath(*parts[: index + 1]))
        return None

    def _repository(self, folder: str) -> str | None:
        """The checkout of SHMEM or PyPTO itself that holds ``folder``."""
        here = PurePosixPath(folder)
        for candidate in (here, *here.parents):
            base = str(candidate).rstrip("/")
            # The second name is that of older versions.
            headers = (f"{base}/include/shmem.h", f"{base}/include/shmem_api.h")
            if self._file(f"{base}/version.info") and any(map(self._file, headers)):
                return str(candidate)
            if self._file(f"{base}/python/pypto/__init__.py"):
                return str(candidate)
        return None

    def _operator_root(self, folder: str) -> str | None:
        here = PurePosixPath(folder)
        for candidate in (here, *list(here.parents)[:3]):
            if str(candidate) in ("/", "."):
                break
            if self._is_pypto(candidate):
                return str(candidate)
            if self._file(f"{candidate}/docs/design.md") or (
                self._file(f"{candidate}/CMakeLists.txt")
                and (
                    self._file(f"{candidate}/src/{candidate.name}_kernel.cpp")
                    or self._file(f"{candidate}/{candidate.name}_kernel.cpp")
                )
            ):
                return str(candidate)
        return None

    def _is_pypto(self, folder: PurePosixPath) -> bool:
        """Whether PyPTO's workflow has left its files in a folder; one is enough below ``custom``, two elsewhere.

        Folders are often CamelCase where their files are snake_case: ``ApplyAdamW/apply_adam_w_impl.py``.
        """
        if folder.name in ("modules", "docs", "eval", "src", "tests", "golden"):
            return False
        if self._file(f"{folder}/.orchestrator_state.json"):
            return True
        name = _named(folder).name
        names = dict.fromkeys((name, _CAMEL.sub("_", name).lower()))
        code = sum(self._file(f"{folder}/{part.format(name)}") for name in names for part in _PYPTO_CODE)
        if folder.parent.name == "custom":
            return code > 0 or any(self._file(f"{folder}/{name}") for name in _PYPTO_DOCS)
        return code > 1 or (code == 1 and any(self._file(f"{folder}/{name}") for name in _PYPTO_DOCS))

    def _file(self, path: str) -> bool:
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._is_file(path)
        return known


def _named(folder: PurePosixPath) -> PurePosixPath:
    """The folder that has the operator's name."""
    return folder.parent if folder.name == _PART and folder.parent.name else folder
