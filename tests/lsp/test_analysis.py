"""What an editor shows after any number of edits is what a fresh run finds in the text it ends with."""

from __future__ import annotations

import random

import pytest

from opdev.lsp.analysis import Analyst
from opdev.lsp.client import Client
from opdev.lsp.documents import Documents
from opdev.lsp.operators import Operators
from opdev.lsp.rulebook import Rulebook
from opdev.lsp.settings import Settings
from opdev.project.places import Places
from opdev.rules.watchdog import Watchdog

KERNEL = """\
#include "kernel_operator.h"
#include "shmem.h"

constexpr uint32_t TILE = 256;  // 每块 😀

extern "C" __global__ __aicore__ void Gather(__gm__ float *dst, __gm__ float *src, uint64_t config)
{
    util_set_ffts_config(config);
    int32_t pe = aclshmem_my_pe();
    for (int32_t peer = 0; peer < aclshmem_n_pes(); ++peer) {
        aclshmem_float_put_nbi(dst + pe * TILE, src, TILE, peer);
    }
    aclshmem_barrier_all();
}

__aicore__ inline void Copy(__gm__ float *dst, __gm__ float *src)
{
    // opdev: ignore[no-such-rule]
    aclshmem_put_nbi(dst, src, 16, 1);
    shmem_quiet();
}

void Launch(uint32_t dim, void *stream, uint8_t *dst, uint8_t *src)
{
    Gather<<<dim, nullptr, stream>>>((float *)dst, (float *)src, 0);
    void *heap = aclshmem_malloc(64);
}
"""
SCRIPT = """\
#!/bin/bash
set -e
IPPORT="tcp://127.0.0.1:27010"
for ((i = 0; i < 8; i++)); do  # 每个 PE 😀
    ./build/bin/gather "$i" "$IPPORT" &
done
python3 - <<'PY'
import numpy as np
print(np.zeros(3))
PY
wait
"""
TILES = """\
# 逐元素相加 😀
import os

import pypto_pro.language as pl
import torch

import pypto

ROWS = 64
DEVICE = f"npu:{int(os.environ.get('TILE_FWK_DEVICE_ID', 0))}"


@pl.jit(auto_mutex=True, timeout=3)
def add_kernel(x: pl.Tensor[[ROWS, 128], pl.DT_FP16], y: pl.Tensor[[ROWS, 128], pl.DT_FP16]):
    kind = pl.TileType(shape=[ROWS, 100], dtype=pl.DT_FP16, target_memory=pl.MemorySpace.Vec)
    group = pl.make_tile_group(type=kind, addrs=0x0000, mutex_ids=[0, 1])
    with pl.section_vector():
        for i in range(4):
            tile = group.current()
            pl.load(tile, x, [i, 0])
            pl.add(tile, tile, tile)
            pl.store(y, tile, [i, 0])


@pl.jit
def other_kernel(x: pl.Tensor[[ROWS, 128], pl.DT_FP16]):
    pass


def test_add():
    x, y = torch.rand(ROWS, 128), torch.empty(ROWS, 128)
    add_kernel[None, 32](x, y)
    # opdev: ignore[own-tolerance]
    torch.testing.assert_close(y, x + x, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(y, x + x)
"""
PIECES = ["", "x", "\n", "{", "}", "/*", "*/", '"', "//", "# ", "\\\n", "(", ");", "中", "😀", "\r\n", "aclshmem_quiet();\n",
          "aclshmem_float_put_nbi(dst, src, 16, 1);\n", "__aicore__ void f()\n{\n}\n", "#if 0\n", "#endif\n", 'R"(', "<<EOF\n", "EOF\n",
          "// opdev: ignore[hardcoded-endpoint]\n", "opdev: off[",
          "import pypto\n", "@pl.jit\ndef more_kernel(x):\n    pass\n", "    torch.testing.assert_close(x, y)\n"]  # fmt: skip


def analyst():
    documents, places = Documents(Client()), Places()
    watchdog = Watchdog(60)
    return documents, Analyst(Rulebook(Settings(), watchdog), places, Operators(places, documents))


def put(documents, path, text, version=1):
    item = {"uri": f"file://{path}", "languageId": "x", "version": version, "text": text}
    return documents.put({"textDocument": item})


def shown(report):
    return [(f.rule.name, f.start, f.end, f.severity, f.message("en"), f.fix) for f in report.findings]


def never():
    return False


@pytest.mark.parametrize("seed", [*range(10), 96])
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/w/custom-ops/gather/src/gather_kernel.cpp", KERNEL),
        ("/w/custom-ops/gather/scripts/run.sh", SCRIPT),
        ("/w/alone/test_add.py", TILES),
    ],
)
def test_after_any_edits_the_findings_are_those_of_a_fresh_run(path, text, seed):
    choose = random.Random(seed)
    documents, mine = analyst()
    document = put(documents, path, text)
    mine.own(document, never)
    for version in range(2, 30):
        size = len(document.source.data)
        low = choose.randrange(size + 1)
        high = min(size, low + choose.choice([0, 0, 0, 1, 3, 20, 200]))
        start, end = document.source.position(low, "utf-8"), document.source.position(high, "utf-8")
        where = {
            "start": dict(zip(("line", "character"), start, strict=True)),
            "end": dict(zip(("line", "character"), end, strict=True)),
        }
        document.change([{"range": where, "text": choose.choice(PIECES)}], version, "utf-8")
        report = mine.own(document, never)
        if mine.unsettled(document):
            report = mine.settle(document, never) or report
        if not report.whole and report.file.place.root is None:
            report = mine.cross(document, never)

        others, fresh = analyst()
        expected = fresh.own(put(others, path, document.source.data.decode()), never)
        same_kind = expected.file.kind == document_kind(mine, document)
        assert not same_kind or shown(report) == shown(expected), (seed, version, document.source.data.decode())


def test_a_keystroke_in_a_file_of_no_operator_waits_for_no_cross_file_rule():
    documents, mine = analyst()
    document = put(documents, "/w/alone/test_add.py", TILES)
    report = mine.own(document, never)
    of = [f.rule.name for f in report.findings]
    assert report.whole
    assert "not-one-pro-kernel" in of
    assert "unknown-jit-keyword" in of

    text = TILES.replace("def other_kernel", "def renamed_kernel").replace("timeout=3", "timeouts=3")
    document.change([{"text": text}], 2, "utf-8")
    report = mine.own(document, never)
    found = {f.rule.name: f.message("en") for f in report.findings}
    assert not report.whole
    assert "timeouts" in found["unknown-jit-keyword"]
    assert "renamed_kernel" not in str(found)

    found = {f.rule.name: f.message("en") for f in mine.cross(document, never).findings}
    assert "renamed_kernel" in found["not-one-pro-kernel"]
    assert "timeouts" in found["unknown-jit-keyword"]


def document_kind(mine, document):
    return mine.file_of(document).kind


def test_an_edit_that_makes_another_kind_of_file_is_noticed_in_the_background():
    documents, mine = analyst()
    document = put(documents, "/w/plain/a.cpp", '#include "shmem.h"\nint x;\n')
    assert mine.own(document, never).file.kind.names == {"cpp"}
    assert not mine.rekind(document)
    document.change([{"text": '#include "shmem.h"\n__global__ __aicore__ void f() {}\n'}], 2, "utf-8")
    mine.own(document, never)

    assert mine.rekind(document)
    assert "kernel" in mine.own(document, never).file.kind.names
