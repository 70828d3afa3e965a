"""PyPTO operators to be judged: whole ones of each generation, written file by file."""

from __future__ import annotations

import json
from pathlib import Path

KERNEL = """import torch
import pypto_pro.language as pl


@pl.jit(auto_mutex=True)
def demo_kernel(x: pl.Tensor[[64], pl.DT_FP32], y: pl.Tensor[[64], pl.DT_FP32]):
    pass


def demo_wrapper(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    demo_kernel[None, 1](x, y)
    return y


def _assert_precision(actual, *inputs):
    from demo_golden_cpu import demo_golden_cpu
    from precision_compare import check_precision

    assert check_precision(actual, demo_golden_cpu(*inputs))


def _device():
    from demo_golden import _get_device

    return _get_device()


def test_aligned():
    x = torch.randn(64, device=_device())
    _assert_precision(demo_wrapper(x), x)


def test_tail():
    x = torch.randn(63, device=_device())
    _assert_precision(demo_wrapper(x), x)


def test_small():
    x = torch.randn(1, device=_device())
    _assert_precision(demo_wrapper(x), x)


def test_many_tiles():
    x = torch.randn(640, device=_device())
    _assert_precision(demo_wrapper(x), x)
"""
TITLES = ["阶段", "接口", "tile", "UB 地址表", "循环", "切核", "同步", "尾块", "目标测试 case", "评估", "数据流"]
DESIGN = "# 设计\n\n" + "".join(
    f"## §{n} {title}\n\n"
    + {8: "| test | 形状 |\n|---|---|\n| test_aligned | 64 |\n| test_tail | 63 |\n| test_small | 1 |\n| test_many_tiles | 640 |\n", 10: "load_tile → vf.adds → store_tile\n", 2: "make_tile_group 分配两块\n"}.get(n, "见上\n")
    + "\n"
    for n, title in enumerate(TITLES)
)  # fmt: skip
EXPLORE = "# 调研\n\n" + "".join(f"## {n}. 小节\n\n内容\n\n" for n in range(1, 11))
INDEX = "# 资料\n\n## §A API\n\n- a\n\n## §B 样例\n\n- b\n\n## §C 教程\n\n- c\n"
GOLDEN = "import torch\n\n\ndef demo_golden(x):\n    return x + 1\n\n\ndef _get_device():\n    return 'npu:0'\n"

PERF = "docs/perf/round_002"
EVIDENCE = {
    "PERFORMANCE_CASES.json": json.dumps({
        "schema_version": 1, "cases": [
            {"id": "a", "shape": "[64]", "dtype": "float32", "test_function": "test_aligned"},
            {"id": "b", "shape": "[63]", "dtype": "float32", "test_function": "test_tail"}],
        "optimization_target": {"case_ids": ["a"], "selection_mode": "user_selected"}}),
    "PERFORMANCE_REPORT.md": "# 性能\n",
    "perf_report.md": "# 性能\n",
    "performance.log": "PYPTO_PERF_SELECTED_CASE=a\n",
    "performance.json": json.dumps({
        "golden_reference_ratio": {"value": 1.2, "status": "met"},
        "cases": [{"id": "a", "roofline_terminal": {"status": "wait_bound"}, "pipeline_evidence": {"status": "proven"}, "scalar_evidence": {"dominant": False}}]}),
    f"{PERF}/collection.json": "{}",
    f"{PERF}/case_a_0123abcd/measurement.json": json.dumps({"op_name": "demo_kernel", "warmup": 3, "repeats": 3, "seed": 42}),
    **{f"{PERF}/case_a_0123abcd/repeat_00{n}/op_summary.csv": "x" for n in (1, 2, 3)},
    f"{PERF}/case_a_0123abcd/instruction_timeline/timeline_evidence.json": "{}",
}  # fmt: skip
"""What stage 5 of PyPTO-Pro leaves."""


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def pro4(root: Path) -> Path:
    """A PyPTO-Pro operator of the first generation, all four stages done."""
    return write(
        root,
        {
            "SPEC.md": "# demo\n\ny = x + 1\n",
            "EXPLORE_REPORT.md": EXPLORE,
            "PRO_MATERIAL_INDEX.md": INDEX,
            "MEMORY.md": "# 记录\n\n进行中\n",
            "demo_golden.py": GOLDEN,
            "demo_golden_cpu.py": "import torch\n\n\ndef demo_golden_cpu(x):\n    return x.float() + 1\n",
            "GOLDEN_PERF_REPORT.md": "# perf\n\n| op | count | mean_duration | total |\n|---|---|---|---|\n| add | 1 | 2 | 2 |\n",
            "DESIGN.md": DESIGN,
            "test_demo.py": KERNEL,
            "logs/demo_golden.log": "demo_golden PASS\n",
            "logs/demo_golden_cpu.log": "demo_golden_cpu PASS\n",
            "logs/test_demo.log": "test_aligned PASS matched_ratio=1.000000 max_abs_error=0.0 (limit 0.01)\n",
        },
    )


def state(root: Path, **more: object) -> Path:
    """A state file as old programs write it."""
    (root / ".orchestrator_state.json").write_text(json.dumps(more), encoding="utf-8")
    return root
