"""PyPTO-Pro rules on half-typed and damaged files, and at a keystroke: no rule fails, every range lies in its file."""

from __future__ import annotations

import random

import pytest

from opdev.kinds import classify
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

OP = "/w/custom/demo"
RULES = tuple(r for r in store.load() if r.family == "pypto-pro")
FILES = {
    "DESIGN.md": "# demo PyPTO-Pro\n\n## §0 阶段\n\nTBD\n\n## §8 用例\n\n| test_demo_a |\n\n## §9 评估\n\n❌\n\n```python\nx = ...\n```\n",
    "EXPLORE_REPORT.md": "# 调研\n\n## 1. a\n## 3. b\n\nunsupported\n不可行\n",
    "PRO_MATERIAL_INDEX.md": "# 索引\n\n## §A x\n",
    "KB_USAGE.json": "{}",
    ".orchestrator_state.json": '{"operator_name": "demo", "schema_version": "2.2", "max_stage": 7, "current_stage": 4, "stage_status": {"1": "completed"}}',
    "demo_golden_cpu.py": "import torch\n\n\ndef demo_golden_cpu(x, eps=1e-6):\n    return x\n",
    "modules/demo_golden_stage2.py": "from modules.test_demo_module1 import run\n",
    "test_demo.py": """import os
import pypto
import torch
import torch.nn.functional as F
from pypto_pro.language import Vf as V
import pypto_pro.language as p
import pypto_pro.language as pl

M = 12
LOW = float("-inf")  # VALIDATED


@pl.vector_function
def rows(tile: pl.Tile[[1, 64], pl.DT_BF16], out, n: pl.DT_INT64):
    for i in range(4):
        mask = vf.update_mask(n, dtype=pl.DT_FP32)
        reg = vf.load_align(tile, i * 64)
        e = vf.exp(reg, mask)
        idx = vf.load_align(tile, 0, dtype=pl.DT_INT32)
        vf.scatter(out, reg, idx, mask)
        vf.add(e, e, reg, mask)
        _, low = vf.addc(e, e, mask, mask)
        vf.store_align(out, e, reg, mask, dist=pl.StoreDist.INTLV_B32)
        V.store_align(out, LOW)


@pl.jit(auto_mutex=False, timeout=3)
def demo_kernel(xs: list[pl.Tensor], x: pl.Tensor[[64, 64], pl.DT_FP16]):
    size = 64
    tt = pl.TileType(shape=[M, 3, size], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Vec)
    uu = pl.TileType(shape=[M, 3], dtype=pl.DT_FP32, target_memory=pl.MemorySpace.Acc)
    a_db = pl.make_tile_group(type=tt, addrs=[0], mutex_ids=[[0, 0], [40]], fwd_ids=[16])
    b = pl.make_tile(uu, addr=0)
    core = pl.get_block_idx()
    with pl.section_cube():
        pl.matmul(b, x, x, phase=pl.AccPhase.Partial)
        pl.store(x, b, [0, 0])
    with pl.section_vector():
        for i in pl.range(0, 4, 0):
            pl.load(b, x, [0, 0])
            pl.system.sync_src(set_pipe=pl.PipeType.V, wait_pipe=pl.PipeType.V, event_id=99)
            pl.system.bar_all()
            pl.system.bar_all()
            pl.exp(a_db.current(), b)
            assert [t for t in xs]


@pl.jit
def other_kernel(x):
    a_db = pl.make_tile_group(type=tt, addrs=0, mutex_ids=[0, 1])
    c = pl.make_tile_group(type=tt, addrs=9, depth=2)
    for i in pl.range(3):
        pl.load(a_db.current(), x, [0])
        pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=0)


def demo_wrapper(x: torch.Tensor, eps):
    y = F.pad(x, (1, 1)) * 2
    for i in range(3):
        demo_kernel[None, 32](x[0].contiguous(), y)
    try:
        demo_kernel[None, 32](x, y.sum())
    except Exception:
        return demo_golden(x)


@pl.jit
def test_demo():
    demo_kernel[None, 4](1)
    torch.testing.assert_close(1, 2, rtol=3)
    torch.npu.set_device(0)
    os.environ["TILE_FWK_DEVICE_ID"] = "npu:0"
""",
}  # fmt: skip
PIECES = ["(", ")", "[", "]", "{", "}", ":", ",", '"', "'''", "#", "\n", "\\", "=", "@", " ", "\t", "é", "好", "😀", "\0", "```\n",
          "def f(", "pl.", "vf.", "@pl.jit\n", "return", "*", ".next()", "mutex_ids=[", "\r\n", "lambda: ", "for i in "]  # fmt: skip


def damaged(text: str, rng: random.Random) -> str:
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(text) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + rng.randrange(1, 12) :]
        elif kind == 2:
            text = text[:at]
        else:
            other = rng.randrange(len(text) + 1)
            text = text[:at] + text[min(at, other) : max(at, other)][:80] + text[at:]
    return text


def findings(disk, path):
    places = Places(disk.__contains__)
    place = places.of(path)
    kind = classify(path, disk[path], in_operator=place.operator is not None)
    source = Source.from_disk(path, disk[path])
    project = Operator(OP, places, disk.get, disk)
    return source, Linter(known=RULES).lint(
        File(source, kind, place), Selection(RULES), project
    ).findings if kind else ()


@pytest.mark.parametrize("seed", range(60))
def test_damaged_files_are_told_of_inside_their_bounds(seed):
    rng = random.Random(seed)
    disk = {f"{OP}/{name}": text.encode() for name, text in FILES.items()}
    for path in {f"{OP}/test_demo.py", *rng.sample(sorted(disk), 2)}:
        disk[path] = damaged(disk[path].decode(), rng).encode("utf-8", "surrogatepass")
        if rng.random() < 0.2:
            at = rng.randrange(len(disk[path]) + 1)
            disk[path] = disk[path][:at] + b"\xff\xd6\xd0" + disk[path][at:]
    for path in sorted(disk):
        source, every = findings(disk, path)
        for finding in every:
            assert finding.rule.name != "internal-error", finding.message("en")
            assert 0 <= finding.start <= finding.end <= len(source.data), finding
            for edit in finding.fix.edits if finding.fix is not None else ():
                assert 0 <= edit.start <= edit.end <= len(source.data), finding
            for lang in ("zh", "en"):
                assert "{" not in finding.message(lang) or "{" in str(finding.args), finding.message(lang)


def test_the_undamaged_files_have_most_of_what_can_be_found():
    disk = {f"{OP}/{name}": text.encode() for name, text in FILES.items()}
    names = {f.rule.name for path in disk for f in findings(disk, path)[1]}
    assert len(names) >= 38, sorted({r.name for r in RULES} - names)


def test_a_keystroke_finds_what_a_whole_look_finds():
    """Findings kept by definition are those of a fresh look, also when a constant elsewhere changes."""
    path = f"{OP}/test_demo.py"
    disk = {f"{OP}/{name}": text.encode() for name, text in FILES.items()}
    place = Places(disk.__contains__).of(path)
    linter, selection = Linter(known=RULES), Selection(RULES)
    file = File(Source(path, disk[path]), classify(path, disk[path], in_operator=True), place)

    def told(one, *, incremental):
        found = linter.lint(one, selection, scopes=("item", "file"), incremental=incremental).findings
        return sorted((f.rule.name, f.start, f.end) for f in found)

    told(file, incremental=True)
    for old, new in (
        (b"M = 12", b"M = 16"),
        (b"event_id=99", b"event_id=9"),
        (b".next()", b""),
        (b"size = 64", b"size = n"),
    ):
        at = file.data.find(old)
        if at < 0:
            continue
        text = file.data[:at] + new + file.data[at + len(old) :]
        file = file.edited(Source(path, text), at, at + len(old), at + len(new))
        fresh = File(Source(path, text), file.kind, place)
        assert told(file, incremental=True) == told(fresh, incremental=False)
