"""What is in the .vsix: everything it needs offline, and nothing of the workshop."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PYTHONS = ("cp310", "cp311", "cp312", "cp313", "cp314")


@pytest.fixture(scope="module")
def package(extension: Path) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(extension) as archive:
        yield archive


def test_wheels_are_whole_and_serve_every_python(package: zipfile.ZipFile) -> None:
    manifest = json.loads(package.read("extension/wheels/manifest.json"))
    names = [name for name in package.namelist() if name.endswith(".whl")]
    assert {name.rpartition("/")[2] for name in names} == set(manifest["wheels"])
    for name in names:
        assert hashlib.sha256(package.read(name)).hexdigest() == manifest["wheels"][name.rpartition("/")[2]], name
    for distribution in ("pydantic_core", "pyyaml", "markupsafe", "tree_sitter", "numpy"):
        for python in PYTHONS:
            assert any(re.search(rf"/{distribution}-[^/]*-{python}-", name, re.IGNORECASE) for name in names)
    for distribution in ("opdev", "pip", "tree_sitter_cmake", "tree_sitter_cuda", "pygls", "tomli"):
        assert any(f"/{distribution}-" in name for name in names), distribution


def test_nothing_of_the_workshop_is_in_it(package: zipfile.ZipFile) -> None:
    names = [name.removeprefix("extension/") for name in package.namelist()]
    assert not [name for name in names if re.match(r"node_modules|src|test|webview|tools|dist-test", name)]
    assert not [name for name in names if name.endswith((".map", ".ts"))]
    assert {"dist/extension.js", "l10n/bundle.l10n.zh-cn.json", "package.nls.zh-cn.json"} <= set(names)


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_pictures_of_the_readme_exist_and_are_small(readme: str) -> None:
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (ROOT / "client-vscode" / readme).read_text(encoding="utf-8"))
    assert len(shown) >= 4
    for path in shown:
        assert (ROOT / "client-vscode" / path).stat().st_size <= 150_000, path
