"""A real editor: Debian's Neovim with the client it has built in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from needed import needs

NVIM = shutil.which("nvim")
HERE = Path(__file__).parent

pytestmark = [pytest.mark.e2e, needs("nvim")]


def edit(tmp_path, script, path):
    """Run a script in Neovim on a file of ``中文 work``; what the script said."""
    result = tmp_path / "result.json"
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
    done = subprocess.run([NVIM, "--headless", "--clean", "-S", str(script)], env=env, capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
    assert result.exists(), done.stderr
    said = json.loads(result.read_text(encoding="utf-8"))
    assert "failed" not in said, (said, done.stderr)
    return said


def test_open_see_fix_and_type(tmp_path):
    scripts = tmp_path / "中文 work" / "custom-ops" / "demo" / "scripts"
    scripts.mkdir(parents=True)
    path = scripts / "run.sh"
    path.write_text('# 注释 😀\nIPPORT="tcp://127.0.0.1:27010"  # 端点\necho\n', encoding="utf-8")
    said = edit(tmp_path, HERE / "neovim.lua", path)

    assert (said["diagnostic"]["column"], said["diagnostic"]["last"]) == (7, 30)
    assert said["diagnostic"]["code"] == "hardcoded-endpoint"
    assert said["lines"] == ["# 注释 😀", 'IPPORT="${IPPORT:-tcp://127.0.0.1:27010}"  # 端点', "echo"]
    assert said["typed"] == '"tcp://127.0.0.1:1"'
    assert "hardcoded-endpoint" in said["hover"]


DESIGN = """\
# demo 设计 🚀

## 2. Canonical DSL

```yaml
dsl_version: "0.3"
meta:
  op_name: demo
  op_kind: collective
  op_root: custom-ops/demo
semantics:
  local_compute: 无计算 😀
  finalize: 等待全体 😀

correctness:
  case_matrix:
    - {case: 大用例, shape: "[64M]", dtype: float16, n_pes: 8, category: stress}  # 😀
```
"""


def test_a_design_is_completed_measured_and_renamed(tmp_path):
    root = tmp_path / "中文 work" / "custom-ops" / "demo"
    for folder in ("docs", "src", "scripts"):
        (root / folder).mkdir(parents=True)
    (root / "docs" / "design.md").write_text(DESIGN, encoding="utf-8")
    (root / "CMakeLists.txt").write_text(
        "project(demo)\nadd_executable(demo src/main.cpp src/demo_kernel.cpp)\n", encoding="utf-8"
    )
    (root / "src" / "demo_kernel.cpp").write_text(
        'extern "C" __global__ __aicore__ void demo_fp16(GM_ADDR input)\n{\n}\n', encoding="utf-8"
    )
    (root / "src" / "main.cpp").write_text("// demo：主程序 😀\nint main()\n{\n    return 0;\n}\n", encoding="utf-8")
    (root / "scripts" / "run.sh").write_text('"$ROOT/build/bin/demo" "$@"\n', encoding="utf-8")
    said = edit(tmp_path, HERE / "design.lua", root / "docs" / "design.md")
    new = root.parent / "ring_demo"
    if not new.exists():
        # Neovim before 0.10 moves no folders.
        assert any("ring_demo" in message for message in said["messages"]), said
        root.rename(new)

    assert "result" in said["keys"]
    assert said["completed"].startswith("  result: ")
    assert "L · 128 MB/PE" in said["hint"]
    assert "≥ 256 MB" in said["hint"]
    assert said["hint_after"].endswith("category: stress}")
    assert "128 MB" in said["hover"]
    assert said["op_name"] == "  op_name: ring_demo"
    kernel = new / "src" / "ring_demo_kernel.cpp"
    assert kernel.exists(), said
    assert "void ring_demo_fp16(" in kernel.read_text(encoding="utf-8")
    assert "add_executable(ring_demo src/main.cpp src/ring_demo_kernel.cpp)" in (new / "CMakeLists.txt").read_text(
        encoding="utf-8"
    )
    assert "/build/bin/ring_demo" in (new / "scripts" / "run.sh").read_text(encoding="utf-8")
    assert "op_root: custom-ops/ring_demo" in (new / "docs" / "design.md").read_text(encoding="utf-8")


def test_a_phase_is_run_and_its_error_stands_in_the_buffer(tmp_path):
    sys.path.insert(0, str(HERE.parent / "lsp"))
    from operators import make

    operator = make(tmp_path / "中文 work")
    operator.write("broken", "")
    try:
        said = edit(tmp_path, HERE / "run.lua", operator.kernel)
    finally:
        operator.end()

    assert said["title"] == "▶ 编译并冒烟（Phase 3，2 PE）"
    assert (said["error"]["line"], said["error"]["column"]) == (3, 4)
    assert "use of undeclared identifier 'wait'" in said["error"]["message"]
    assert [("失败" in message) for message in said["messages"]] == [True, False]
    assert len(operator.runs()) == 2
