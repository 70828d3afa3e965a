"""An example of SHMEM's own tree is read together with the list that registers it."""

from __future__ import annotations

from pathlib import Path

from opdev.project.operators import Operator
from opdev.project.places import Places


def _example(root: Path) -> str:
    folder = root / "examples" / "newop"
    folder.mkdir(parents=True)
    (folder / "CMakeLists.txt").write_text("aclshmem_add_collective_example(newop)\n", encoding="utf-8")
    (root / "examples" / "CMakeLists.txt").write_text("# shmem\nadd_subdirectory(allgather)\n", encoding="utf-8")
    return folder.as_posix()


def test_the_registry_is_among_the_files(tmp_path: Path) -> None:
    operator = Operator(_example(tmp_path), Places())
    assert [Path(f.path).parent.name for f in operator.files("cmake")] == ["examples", "newop"]


def test_changing_the_registry_changes_the_digest(tmp_path: Path) -> None:
    root = _example(tmp_path)
    before = Operator(root, Places()).digest()
    (tmp_path / "examples" / "CMakeLists.txt").write_text("# shmem\nadd_subdirectory(newop)\n", encoding="utf-8")
    assert Operator(root, Places()).digest() != before


def test_an_operator_elsewhere_has_no_registry(tmp_path: Path) -> None:
    folder = tmp_path / "custom-ops" / "demo"
    folder.mkdir(parents=True)
    (tmp_path / "custom-ops" / "CMakeLists.txt").write_text("# shmem\n", encoding="utf-8")
    (folder / "CMakeLists.txt").write_text("# shmem\n", encoding="utf-8")
    assert len(list(Operator(folder.as_posix(), Places()).files())) == 1
