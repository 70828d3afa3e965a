# SPDX-License-Identifier: Apache-2.0
"""allgather 的 Torch 测试：每个 PE 一个进程，结果与 CPU 上的拼接逐位比较。"""

import argparse
import ctypes
import multiprocessing
import os
import random
from pathlib import Path

import torch
import torch_npu

OPS_DIR = Path(__file__).resolve().parents[2]
LOCAL_MEM_SIZE = 1 << 30


def load_library() -> None:
    """绑定依赖 kernel 库里的符号，所以先把它装进全局。"""
    ctypes.CDLL(str(OPS_DIR / "allgather/build/lib/liballgather_kernel.so"), mode=ctypes.RTLD_GLOBAL)
    torch.ops.load_library(str(OPS_DIR / "torch_binding/build/lib/shmem_custom_ops_torch.so"))


def shard(pe: int, elements: int) -> torch.Tensor:
    """PE 的输入；任何进程都能重新算出别人的那一份。"""
    generator = torch.Generator().manual_seed(42 + pe)
    return (torch.randn(elements, generator=generator) + pe).half()


def worker(pe: int, pes: int, elements: int, ipport: str) -> None:
    load_library()
    torch_npu.npu.set_device(pe)
    manager = torch.classes.ShmemOps.Manager()
    if manager.attr_init(pe, pes, LOCAL_MEM_SIZE, ipport) != 0:
        raise RuntimeError(f"[PE {pe}] 初始化失败")
    try:
        source = shard(pe, elements).npu()
        output = manager.malloc_like(torch.zeros(pes * elements, dtype=torch.float16).npu())
        operator = torch.classes.ShmemOps.Allgather()
        golden = torch.cat([shard(peer, elements) for peer in range(pes)])
        for _ in range(3):  # 同一个对象反复调用，信号不能认错轮次
            torch_npu.npu.synchronize()
            operator.compute(output, source)
            torch_npu.npu.synchronize()
            if not torch.equal(output.cpu(), golden):
                raise AssertionError(f"[PE {pe}] FAIL: output mismatch!")
        print(f"[PE {pe}] PASS")
        del operator
        manager.free_tensor(output)
    finally:
        manager.finalize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pes", type=int, default=8)
    parser.add_argument("--elements", type=int, default=100003)
    args = parser.parse_args()
    ipport = os.environ.get("IPPORT") or f"tcp://127.0.0.1:{random.randint(27010, 27909)}"

    processes = [
        multiprocessing.Process(target=worker, args=(pe, args.pes, args.elements, ipport)) for pe in range(args.pes)
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
