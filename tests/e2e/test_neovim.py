"""A real editor: Debian's Neovim with the client it has built in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NVIM = shutil.which("nvim")
SCRIPT = Path(__file__).with_name("neovim.lua")

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(NVIM is None, reason="Neovim is not installed")]


def test_open_see_fix_and_type(tmp_path):
    scripts = tmp_path / "中文 work" / "custom-ops" / "demo" / "scripts"
    scripts.mkdir(parents=True)
    path, result = scripts / "run.sh", tmp_path / "result.json"
    path.write_text('# 注释 😀\nIPPORT="tcp://127.0.0.1:27010"  # 端点\necho\n', encoding="utf-8")
    env = {
        **os.environ,
        "OPDEV_PYTHON": sys.executable,
        "OPDEV_ROOT": str(tmp_path / "中文 work"),
        "OPDEV_FILE": str(path),
        "OPDEV_RESULT": str(result),
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    done = subprocess.run([NVIM, "--headless", "--clean", "-S", str(SCRIPT)], env=env, capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
    assert result.exists(), done.stderr
    said = json.loads(result.read_text(encoding="utf-8"))

    assert "failed" not in said, (said, done.stderr)
    assert said["diagnostic"]["line"] == 1
    assert (said["diagnostic"]["column"], said["diagnostic"]["last"]) == (7, 30)
    assert said["diagnostic"]["code"] == "hardcoded-endpoint"
    assert said["lines"] == ["# 注释 😀", 'IPPORT="${IPPORT:-tcp://127.0.0.1:27010}"  # 端点', "echo"]
    assert said["typed"] == '"tcp://127.0.0.1:1"'
    assert "hardcoded-endpoint" in said["hover"]
