"""Sections 6.1 and 6.2 of a new design, and the same commands as the README and the scripts say them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opdev.scaffold.options import Options


def hints(options: Options) -> dict[str, str]:
    """What a user types to build the operator and its baseline."""
    if options.in_tree:
        return {
            "build_hint": 'bash "${SHMEM_REPO}/scripts/build.sh" -examples',
            "build_hint_short": "bash scripts/build.sh -examples",
            "baseline_build": "BUILD_BASELINE=1 bash scripts/build.sh -examples",
        }
    return {
        "build_hint": f"bash ${{SHMEM_REPO}}/custom-ops/scripts/build.sh {options.op}",
        "build_hint_short": f"bash custom-ops/scripts/build.sh {options.op}",
        "baseline_build": f"BUILD_BASELINE=1 bash custom-ops/scripts/build.sh {options.op}",
    }


def contracts(options: Options, values: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The contents of the two tables by field; the fields are the frame's."""
    from opdev.design.frame import values as frame_values

    given = frame_values(
        options.op,
        options.op_root,
        options.build_mode,
        options.shmem_repo,
        ", ".join(options.dtypes),
        torch_required=options.torch,
        performance_required=options.perf,
    )
    root = f"${{SHMEM_REPO}}/{options.op_root}"
    run = f'`bash "{root}/scripts/run.sh" 2 100003 {values["main"].name}`'
    build = (
        given["command"] if options.in_tree else f'`bash "${{SHMEM_REPO}}/custom-ops/scripts/build.sh" {options.op}`'
    )
    where = "${SHMEM_REPO}/build" if options.in_tree else "build"
    compile_ = {
        "build_mode": options.build_mode,
        "cann_env": '`source "${CANN_SET_ENV}"`，路径由用户在 Phase 0 给出',
        "shmem_repo": "`${SHMEM_REPO}`，须有 include/、src/ 与 install/set_env.sh",
        "op_dir": f"`{root}`",
        "target": f"{options.op}，产物 {where}/bin/{options.op} 与 {where}/lib/lib{options.op}_kernel.so",
        "command": build,
        "run_command": run,
        "matrix_command": f'`python3 "{root}/scripts/run_case_matrix.py"`',
        "perf_command": given["perf"],
        "torch_build_command": given["torch"],
        "required_flags": "C++17；头文件只用 shmem.h，只链接 shmem",
        "expected_outputs": "output/ 下每个用例一个目录，每个 PE 一份 output_pe\\<n\\>.bin；docs/case_matrix_report.md",
    }
    test = {
        "command": f"{run}，由它依次调用 gen_data.py 与 check_result.py",
        "python_env": "当前 conda 环境，Python 3.9 以上",
        "python_deps": "numpy",
        "determinism": "种子固定：42 加 PE 号；同样的参数得到逐字节相同的数据，每次运行用自己的输出目录",
    }
    return compile_, test
