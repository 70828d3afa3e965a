"""A design.md as its author has it in an editor; the pictures in the READMEs are made of this very session.

``OPDEV_PICTURES=write`` writes them anew.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from needed import needs

HERE = Path(__file__).parent
CORPUS = HERE.parent / "corpus" / "clean"
PICTURES = HERE / "pictures"
NVIM = shutil.which("nvim")
WRITE = os.environ.get("OPDEV_PICTURES") == "write"
COLUMNS, LINES = 142, 32
F2, F3, F4 = "\x1bOQ", "\x1bOR", "\x1bOS"
F5, F6, F7, F8, F9 = (f"\x1b[{n}~" for n in (15, 17, 18, 19, 20))
# What a hurried author wrote instead.
SLIPS = [
    ("intra_node_topology: full-mesh", "intra_node_topology: fullmesh"),
    ("    mode: A\n", "    mode: \n"),
    ("visibility: replicated", "visibility: replicate"),
    ("data_interface: aclshmemx_mte_put_nbi", "data_interface: aclshmemx_mte_put_nb"),
    ("    rtol: 0\n", "    rtol: 0.001\n"),
    ("max_opt_rounds: 5", "max_opt_rounds: 8"),
]
pytestmark = [
    pytest.mark.e2e,
    needs("nvim"),
    pytest.mark.skipif(sys.platform == "win32", reason="terminals as POSIX has them"),
]


@pytest.fixture(scope="module")
def term():
    """tests/e2e/terminal.py."""
    spec = importlib.util.spec_from_file_location("e2e_terminal", HERE / "terminal.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_design_is_written(tmp_path, term, lang):
    tree = tmp_path / "shmem"
    shutil.copytree(CORPUS, tree)
    design = tree / "custom-ops" / "allgather" / "docs" / "design.md"
    text = design.read_text(encoding="utf-8")
    for right, wrong in SLIPS:
        assert text.count(right) == 1, right
        text = text.replace(right, wrong)
    design.write_text(text, encoding="utf-8")
    env = {
        **os.environ, "TERM": "xterm-256color", "OPDEV_PYTHON": sys.executable, "OPDEV_ROOT": str(tree), "OPDEV_FILE": str(design),
        "OPDEV_LANG": lang, "HOME": str(tmp_path), **{f"XDG_{n}_HOME": str(tmp_path / n) for n in ("CONFIG", "DATA", "STATE", "CACHE")},
        "LANG": "C.UTF-8",
    }  # fmt: skip
    path = PICTURES / f"design.{lang}.svg"
    version = subprocess.run([NVIM, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    shown = texts(path.read_text(encoding="utf-8")) if path.exists() and not WRITE else None
    if shown is not None and f"<desc>{version}</desc>" not in path.read_text(encoding="utf-8"):
        shown = None  # other versions of Neovim put things elsewhere
    terminal = term.Terminal([NVIM, "--clean", "-S", str(HERE / "session.lua")], env, str(tree), COLUMNS, LINES)
    frames = []

    def shot(what, found):
        """The screen once it is as wanted, and as the picture has it: findings come one file after the other."""

        def drawn():
            return texts(term.picture([terminal.runs()], COLUMNS, 5, version))[0]

        want = shown[len(frames)] if shown is not None else None
        terminal.wait(what, found, lambda: want is None or drawn() == want)
        if want is not None:
            assert drawn() == want, f"{what}: the session changed: OPDEV_PICTURES=write python -m pytest tests/e2e"
        frames.append(terminal.runs())

    try:
        terminal.wait("the design", lambda s: "Canonical DSL" in s)
        terminal.press(F6)
        shot("findings", lambda s: s.count("●") == 3)
        terminal.press(F8 + "A\x18\x0f")
        shot("completion", lambda s: "CoC" in s and "C1" in s)
        terminal.press("\x19\x1b" + F9 + F5)
        terminal.wait("the name mended", lambda s: "data_interface: aclshmemx_mte_put_nbi" in s)
        terminal.press(F6 + F3)
        shot("fixes", lambda s: "full-mesh" in s and "●" not in s)
        terminal.press(F7 + F2)
        shot("hints", lambda s: "L · 64 MB/PE" in s and s.count("●") == 2)
        terminal.press("gg" + F4)
        shot("the gate", lambda s: "✗ Phase" in s.split("\n")[0] and "▶" in s)
    finally:
        terminal.close()
    if WRITE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(term.picture(frames, COLUMNS, 5, version), encoding="utf-8")


def texts(svg):
    """What a picture says: by frame, line by line."""
    frames = svg.split('<g class="f"')[1:]
    return [re.findall(r'<text x="[\d.]+" y="(\d+)"[^>]*>([^<]*)</text>', frame) for frame in frames]
