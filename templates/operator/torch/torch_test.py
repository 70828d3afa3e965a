# SPDX-License-Identifier: Apache-2.0
"""@{ op }@ 的 Torch 测试：每个 PE 一个进程，结果与 CPU 上的 golden @{ '按容差' if reduces else '逐位' }@比较。"""

import argparse
import ctypes
import multiprocessing
import os
import random
from pathlib import Path

import torch
import torch_npu

@% if in_tree %@
LIBRARIES = Path(__file__).resolve().parents[3] / "build" / "lib"
KERNEL = LIBRARIES / "lib@{ op }@_kernel.so"
BINDING = LIBRARIES / "aclshmem_torch.so"
@% else %@
OPS_DIR = Path(__file__).resolve().parents[2]
KERNEL = OPS_DIR / "@{ op }@/build/lib/lib@{ op }@_kernel.so"
BINDING = OPS_DIR / "torch_binding/build/lib/shmem_custom_ops_torch.so"
@% endif %@
LOCAL_MEM_SIZE = 1 << 30
@% if reduces %@
# 容差由精度标准按 dtype 给出，rtol 与 atol 相同。
TOLERANCES = {@% for dtype in dtypes %@"@{ dtype.name }@": @{ dtype.rtol }@@{ ', ' if not loop.last }@@% endfor %@}
DTYPES = list(TOLERANCES)
@% else %@
DTYPES = [@% for dtype in torch_dtypes %@"@{ dtype }@"@{ ', ' if not loop.last }@@% endfor %@]
@% endif %@


def load_library() -> None:
    """绑定依赖 kernel 库里的符号，所以先把它装进全局。"""
    ctypes.CDLL(str(KERNEL), mode=ctypes.RTLD_GLOBAL)
    torch.ops.load_library(str(BINDING))


def shard(pe: int, elements: int, dtype: str@{ ', pes: int' if reduces }@) -> torch.Tensor:
    """PE 的输入；任何进程都能重新算出别人的那一份。"""
    generator = torch.Generator().manual_seed(42 + pe)
    kind = getattr(torch, dtype)
    if not kind.is_floating_point:
@% if reduces %@
        most = max(1, 100 // pes)
        return torch.randint(-most, most + 1, (elements,), generator=generator).to(kind)
    return ((torch.rand(elements, generator=generator) - 0.5) / pes).to(kind)
@% else %@
        return torch.randint(0, 120, (elements,), generator=generator).to(kind)
    return (torch.randn(elements, generator=generator) + pe).to(kind)
@% endif %@


@% if kind == 'alltoallv' %@
def counts_of(pes: int, elements: int) -> torch.Tensor:
    """counts[src][dst]：src 发给 dst 的元素数，可以是 0。"""
    generator = torch.Generator().manual_seed(42)
    return torch.randint(0, elements // pes + 1, (pes, pes), generator=generator)


def plan_of(pe: int, counts: torch.Tensor) -> torch.Tensor:
    """PE 的计划：每个对端的长度、发送偏移、接收偏移、保留。"""
    from_row = counts.cumsum(1) - counts
    to_column = counts.cumsum(0) - counts
    return torch.stack([counts[pe], from_row[pe], to_column[pe], torch.zeros_like(counts[pe])], dim=1)


@% endif %@
def golden_of(pe: int, pes: int, elements: int, dtype: str) -> torch.Tensor:
    """CPU 上算出的结果。"""
@% if kind == 'allgather' %@
    del pe
    return torch.cat([shard(peer, elements, dtype) for peer in range(pes)])
@% elif kind == 'alltoall' %@
    return torch.cat([shard(peer, pes * elements, dtype).chunk(pes)[pe] for peer in range(pes)])
@% elif kind == 'alltoallv' %@
    counts = counts_of(pes, elements)
    starts = counts.cumsum(1) - counts
    parts = []
    for src in range(pes):
        begin, count = int(starts[src][pe]), int(counts[src][pe])
        parts.append(shard(src, elements, dtype)[begin : begin + count])
    return torch.cat(parts)
@% elif kind == 'broadcast' %@
    del pe
    return shard(pes - 1, elements, dtype)
@% elif kind == 'put-get' %@
    return torch.cat([shard((pe + pes - 1) % pes, elements, dtype), shard((pe + 1) % pes, elements, dtype)])
@% elif kind == 'reduce-scatter' %@
    wide = torch.float32 if getattr(torch, dtype).is_floating_point else torch.int64
    parts = [shard(peer, pes * elements, dtype, pes).to(wide).chunk(pes)[pe] for peer in range(pes)]
    return torch.stack(parts).sum(0).to(getattr(torch, dtype))
@% elif open %@
    raise NotImplementedError("[待填] 按 docs/design.md 的 correctness.oracle 写 @{ op }@ 的 golden，写完删掉这一行")
@% else %@
    return shard((pe + pes - 1) % pes, elements, dtype)
@% endif %@


def worker(pe: int, pes: int, elements: int, dtype: str, ipport: str) -> None:
    load_library()
    torch_npu.npu.set_device(pe)
    manager = torch.classes.ShmemOps.Manager()
    if manager.attr_init(pe, pes, LOCAL_MEM_SIZE, ipport) != 0:
        raise RuntimeError(f"[PE {pe}] 初始化失败")
    try:
        golden = golden_of(pe, pes, elements, dtype)
@% if kind == 'alltoall' %@
        source = shard(pe, pes * elements, dtype).npu()
@% elif kind == 'reduce-scatter' %@
        source = shard(pe, pes * elements, dtype, pes).npu()
@% elif symmetric_input %@
        source = manager.malloc_like(shard(pe, elements, dtype).npu())
@% else %@
        source = shard(pe, elements, dtype).npu()
@% endif %@
@% if has_plan %@
        plan = plan_of(pe, counts_of(pes, elements)).npu()
        output = manager.malloc_like(torch.zeros(elements, dtype=golden.dtype).npu())
@% else %@
        output = manager.malloc_like(torch.zeros_like(golden).npu())
@% endif %@
        operator = torch.classes.ShmemOps.@{ Op }@()
        for _ in range(3):  # 同一个对象反复调用，轮次不能混淆
            torch_npu.npu.synchronize()
            operator.compute(output, source@{ ', plan' if has_plan }@@{ ', pes - 1' if kind == 'broadcast' }@)
            torch_npu.npu.synchronize()
            result = output.cpu()@{ '[: golden.numel()]' if has_plan }@

@% if reduces %@
            tolerance = TOLERANCES[dtype]
            if not torch.allclose(result.double(), golden.double(), rtol=tolerance, atol=tolerance):
                raise AssertionError(f"[PE {pe}] FAIL: output mismatch!")
@% else %@
            if not torch.equal(result, golden):
                raise AssertionError(f"[PE {pe}] FAIL: output mismatch!")
@% endif %@
        print(f"[PE {pe}] PASS")
        del operator
        manager.free_tensor(output)
@% if symmetric_input %@
        manager.free_tensor(source)
@% endif %@
    finally:
        manager.finalize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pes", type=int, default=8)
    parser.add_argument("--elements", type=int, default=100003)
    parser.add_argument("--dtype", choices=DTYPES, default=DTYPES[0])
    args = parser.parse_args()
    ipport = os.environ.get("IPPORT") or f"tcp://127.0.0.1:{random.randint(27010, 27909)}"

    processes = [
        multiprocessing.Process(target=worker, args=(pe, args.pes, args.elements, args.dtype, ipport))
        for pe in range(args.pes)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode != 0 for process in processes):
        raise SystemExit("有 PE 失败")
    print("所有 PE 均通过")


if __name__ == "__main__":
    main()
