"""What is in the .vsix: everything it needs offline, and nothing of the workshop."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from code_server import tools

ROOT = Path(__file__).resolve().parents[3]
PYTHONS = ("cp310", "cp311", "cp312", "cp313", "cp314")


@pytest.fixture(scope="module")
def package(extension: Path) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(extension) as archive:
        yield archive


def test_packs_are_whole_and_serve_every_python(package: zipfile.ZipFile) -> None:
    manifest = json.loads(package.read("extension/packs/manifest.json"))
    names = {name.rpartition("/")[2] for name in package.namelist() if name.endswith(".br")}
    assert names == {one["file"] for one in manifest["packs"]}
    listed: dict[str, list[str]] = {}
    for one in manifest["packs"]:
        packed = package.read(f"extension/packs/{one['file']}")
        assert hashlib.sha256(packed).hexdigest() == one["sha256"], one["file"]
        raw = unpressed(packed)
        assert hashlib.sha256(raw).hexdigest() == one["raw"], one["file"]
        begin = 4 + int.from_bytes(raw[:4], "big")
        files = json.loads(raw[4:begin])
        assert begin + sum(size for _, size in files) == len(raw), one["file"]
        for python in one["pythons"]:
            listed.setdefault(python, []).extend(path for path, _ in files)
    assert [f"cp{python.replace('.', '')}" for python in listed] == list(PYTHONS)
    for python, paths in listed.items():
        assert len(paths) == len(set(paths)), "a file comes from one place"
        tag = f"cpython-{python.replace('.', '')}-"
        for module in ("pydantic_core/_pydantic_core", "yaml/_yaml", "markupsafe/_speedups", "tree_sitter/_binding"):
            assert any(path.startswith(f"{module}.{tag}") for path in paths), (python, module)
        assert any(path.startswith(f"numpy/_core/_multiarray_umath.{tag}") for path in paths)
        assert {"opdev/entry.py", "pygls/__init__.py", "numpy/__init__.py"} <= set(paths)
        assert ("tomli/__init__.py" in paths) == (python == "3.10")
        assert any("libscipy_openblas" in path for path in paths)


def unpressed(packed: bytes) -> bytes:
    """Through Node, which has Brotli."""
    script = "process.stdout.write(require('zlib').brotliDecompressSync(require('fs').readFileSync(0)))"
    return subprocess.run(["node", "-e", script], input=packed, stdout=subprocess.PIPE, check=True).stdout


def test_it_is_small_enough_for_a_market(extension: Path) -> None:
    assert extension.stat().st_size < 60_000_000


def test_nothing_of_the_workshop_is_in_it(package: zipfile.ZipFile) -> None:
    names = [name.removeprefix("extension/") for name in package.namelist()]
    assert not [name for name in names if re.match(r"node_modules|src|test|webview|tools|dist-test", name)]
    assert not [name for name in names if name.endswith((".map", ".ts"))]
    assert {"dist/extension.js", "l10n/bundle.l10n.zh-cn.json", "package.nls.zh-cn.json"} <= set(names)


def test_keys_are_none_that_the_editor_has() -> None:
    """Two keys each, after Ctrl+K: 2089 in the editor's own numbers, in which A is 31, 0 is 21 and Shift is 1024 more."""
    program = tools() / "node_modules/code-server/lib/vscode/out/vs/code/browser/workbench/workbench.js"
    taken = {int(code) for code in re.findall(r"\(2089,(\d+)\)", program.read_text(encoding="utf-8"))}
    # Ctrl+K S saves all, Ctrl+K Ctrl+S shows the keys: they are read as they stand there.
    assert {49, 2048 + 49} <= taken
    manifest = json.loads((ROOT / "client-vscode/package.json").read_text(encoding="utf-8"))
    for binding in manifest["contributes"]["keybindings"]:
        first, _, second = binding["key"].partition(" ")
        shift, key = second.startswith("shift+"), second.removeprefix("shift+")
        code = (21 + int(key) if key.isdigit() else 31 + ord(key) - ord("a")) + 1024 * shift
        assert first == "ctrl+k", binding
        assert code not in taken, binding


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_pictures_of_the_readme_exist_and_are_small(readme: str) -> None:
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (ROOT / "client-vscode" / readme).read_text(encoding="utf-8"))
    assert len(shown) >= 4
    for path in shown:
        assert (ROOT / "client-vscode" / path).stat().st_size <= 150_000, path
