"""Text to measure on: operators of our own making, as many and as large as asked, always the same."""

from __future__ import annotations

import random
from pathlib import Path

_LICENCE = "Copyright (c) 2026 Huawei Technologies Co., Ltd. Licensed under the CANN Open Software License Agreement."
_KERNEL_HEAD = f"""\
// {_LICENCE}
// 各 PE 把自己的数据块写到对端。
#include "kernel_operator.h"
#include "shmem.h"

constexpr int64_t kUbBytes = 96 * 1024;
constexpr int64_t kFlagInterval = 16;
constexpr uint64_t kUbBase = 1024;

"""
_KERNEL = """\
// 第 {n} 段：把本 PE 的数据块写到对端，再置标志
template <typename T>
ACLSHMEM_DEVICE void move_{n}(__gm__ T *dst, __gm__ T *src, __gm__ int32_t *flags, int64_t count, int64_t magic,
                              int peer)
{{
    const int64_t aiv_num = AscendC::GetBlockNum();
    const int64_t aiv_index = AscendC::GetBlockIdx();
    __ubuf__ T *ub = reinterpret_cast<__ubuf__ T *>(kUbBase * {ub});
    const int64_t per_core = count / aiv_num;
    const int64_t mine = aiv_index == aiv_num - 1 ? count - per_core * aiv_index : per_core;
    int64_t done = 0;
    while (done < mine) {{
        const int64_t most = kUbBytes / (int64_t)sizeof(T);
        const int64_t chunk = mine - done < most ? mine - done : most;
        aclshmemx_mte_put_nbi(dst + per_core * aiv_index + done, src + per_core * aiv_index + done, ub,
                              (uint32_t)kUbBytes, (uint32_t)chunk, peer, EVENT_ID{event});
        AscendC::SetFlag<AscendC::HardEvent::MTE3_MTE2>(EVENT_ID{event});
        AscendC::WaitFlag<AscendC::HardEvent::MTE3_MTE2>(EVENT_ID{event});
        done += chunk; /* 单位：元素 */
    }}
    aclshmemx_mte_quiet();
    aclshmemx_signal_op(flags + aiv_index * kFlagInterval, (int32_t)magic + {n}, ACLSHMEM_SIGNAL_SET, peer);
    aclshmem_signal_wait_until(flags + aiv_index * kFlagInterval, ACLSHMEM_CMP_EQ, (int32_t)magic + {n});
}}

"""
_SCRIPT = """\
#!/usr/bin/env bash
set -euo pipefail
# 第 {n} 个用例
SCRIPT_DIR=$(cd "$(dirname "${{BASH_SOURCE[0]}}")" && pwd)
OP_DIR=$(dirname "$SCRIPT_DIR")
export IPPORT="${{IPPORT:-tcp://127.0.0.1:$((27010 + RANDOM % 900))}}"
pids=()
for ((pe = 0; pe < {pes}; pe++)); do
  "$OP_DIR/build/bin/op_{n}" "{pes}" "$pe" "$IPPORT" 0 &
  pids+=($!)
done
status=0
for pid in "${{pids[@]}}"; do
  wait "$pid" || status=1
done
exit "$status"
"""
_PYTHON = '''\
def case_{n}(rows: int, columns: int, seed: int = 42):
    """生成第 {n} 组数据。"""
    rng = np.random.default_rng(seed)
    left = rng.standard_normal((rows, columns)).astype(np.float16)
    right = rng.integers(-8, 8, size=(rows, columns))
    expected = left.astype(np.float32) + right * {n}
    if rows * columns > 1 << {shift}:
        return left[: rows // 2], right[: rows // 2], expected[: rows // 2]
    return left, right, expected


'''
_PYPTO_HEAD = f"# {_LICENCE}\nimport os\n\nimport numpy as np\nimport pypto\nimport torch\n\n\n"
_CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project(op_{n} LANGUAGES CXX)
add_executable(op_{n} src/main.cpp src/op_{n}_kernel.cpp)
target_include_directories(op_{n} PRIVATE src $ENV{{SHMEM_HOME_PATH}}/shmem/include)
target_link_libraries(op_{n} PRIVATE shmem ascendcl runtime)
"""


def kernel(lines: int, first: int = 0) -> str:
    """A clean kernel of about ``lines`` lines."""
    out = [_KERNEL_HEAD]
    size = out[0].count("\n")
    n = first
    while size < lines:
        out.append(_KERNEL.format(n=n, ub=1 + n % 8, event=n % 2))
        size += out[-1].count("\n")
        n += 1
    return "".join(out)


def python(lines: int, first: int = 0) -> str:
    """A PyPTO-like test file of about ``lines`` lines."""
    out = [_PYPTO_HEAD]
    size = out[0].count("\n")
    n = first
    while size < lines:
        out.append(_PYTHON.format(n=n, shift=10 + n % 12))
        size += out[-1].count("\n")
        n += 1
    return "".join(out)


_DESIGN = Path(__file__).parents[1] / "corpus" / "clean" / "custom-ops" / "allgather" / "docs" / "design.md"
_CASE = """\
    - case: more_{n}_8pe_fp16
      shape: "[{elements}]"
      dtype: float16
      n_pes: 8
      category: functional
"""
_NOTE = """
### 附录 {n}

第 {n} 个情形：每个 PE 的数据在 UB 里分块，尾块按实际长度搬运。

| 项 | 值 | 说明 |
|---|---|---|
| 元素数 | {elements} | 每个 PE |
| PE 数 | 8 | 全部参与 |
"""


def design(lines: int) -> str:
    """A design document without a fault, of about ``lines`` lines: half of what is added is cases, half prose."""
    text = _DESIGN.read_text(encoding="utf-8")
    more = max(lines - text.count("\n"), 0)
    cases = "".join(_CASE.format(n=n, elements=1024 + n) for n in range(more // 2 // 5))
    notes = "".join(_NOTE.format(n=n, elements=1024 + n) for n in range(more // 2 // 9))
    head, tail = text.split("performance:\n", 1)
    return f"{head}{cases}performance:\n{tail}{notes}"


def tree(folder: Path, megabytes: float, seed: int = 1) -> int:
    """Operators below ``folder/custom-ops``; how many files.  Every file is ours to lint."""
    rng = random.Random(seed)
    budget = int(megabytes * 1_000_000)
    files = written = 0
    n = 0
    while written < budget:
        root = folder / "custom-ops" / f"op_{n}"
        texts = {
            f"src/op_{n}_kernel.cpp": kernel(rng.randrange(120, 600), n),
            f"src/op_{n}_kernel.h": "#pragma once\n#include <cstdint>\nvoid launch();\n",
            "scripts/run.sh": _SCRIPT.format(n=n, pes=rng.choice((2, 4, 8))),
            "scripts/gen_data.py": python(rng.randrange(60, 400), n),
            "CMakeLists.txt": _CMAKE.format(n=n),
            "README.md": f"# op_{n}\n\n## 编译项目\n\n```bash\nbash custom-ops/scripts/build.sh op_{n}\n```\n",
        }
        for name, text in texts.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            written += len(text.encode())
            files += 1
        n += 1
    return files
