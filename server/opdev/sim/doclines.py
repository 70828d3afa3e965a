"""Writes the ``///`` lines above the public names of the stand-in's headers: what clangd shows on hover.

What a name does is said once, in opdev's table of the interface (AscendC's and AscendCL's few below).
``python -m opdev.sim.doclines`` rewrites the headers; a test holds them to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

INCLUDE = Path(__file__).parent / "include"
_MARK = "/// "
# A declaration, a type, or a macro that declares the name it is given, at the beginning of a line.
_DECLARED = re.compile(
    r"^(?P<head>(?:template <[^\n]*>\n)?)(?:"
    r"(?:inline |constexpr |\[\[noreturn\]\] )*(?!return|using|typedef|if|for|while|static_assert|else)[A-Za-z_][\w:<>, ]*?[ *&](?P<function>\w+)\([^\n]*"
    r"|(?:struct|class|enum(?: class)?) (?P<type>\w+)[^\n;]*\{[^\n]*"
    r"|(?P<macro>OPDEV_SIM_\w+)\((?P<made>\w+)[^\n]*)$",
    re.M,
)
_OLD = re.compile(rf"^{re.escape(_MARK)}[^\n]*\n", re.M)
# Macros that declare the one name they are given; what is said of the others fits all names they make.
_ONE = frozenset(
    f"OPDEV_SIM_{word}" for word in ("MTE", "ENGINE", "SDMA", "RELAY", "CONFIG", "BARRIER", "BARRIER_ALL", "SIGNALLED")
)
_MOVES = (
    "put 写到目标 PE，get 从目标 PE 读。不带 _nbi 的返回时已完成，_nbi 由所用引擎的 quiet 或栅栏完成；iput、iget 按步长，p、g 只传一个元素。",
    "put writes to the PE, get reads from it. Without _nbi it is done on return, with _nbi a quiet of its engine or a barrier completes it; iput and iget are strided, p and g move one element.",
)
_WAITS = (
    "wait 等到条件成立，test 只看一次；all、any、some 指全部、任一、若干个元素。",
    "wait returns when the condition holds, test looks once; all, any and some say of how many elements.",
)
_ATOMICS = (
    "对目标 PE 的原子操作；fetch、swap 返回原值。",
    "An atomic on the PE's memory; fetch and swap forms return the old value.",
)
_MANY: Mapping[str, tuple[str, str]] = {
    "OPDEV_SIM_TYPED": _MOVES, "OPDEV_SIM_WIDE": _MOVES, "OPDEV_SIM_BULK": _MOVES, "OPDEV_SIM_WAITS": _WAITS, "OPDEV_SIM_HOST_WAITS": _WAITS,
    "OPDEV_SIM_MTE_LOCAL": (
        "MTE 非阻塞传输：put 从 UB 写到目标 PE，get 从目标 PE 读入 UB；由 quiet、栅栏或 MTE3 事件完成。",
        "Non-blocking MTE transfer: put from UB to the PE, get from the PE into UB; quiet, a barrier or an MTE3 event completes it.",
    ),
    "OPDEV_SIM_AMO_ENGINE": _ATOMICS, "OPDEV_SIM_AMO_BITS": _ATOMICS, "OPDEV_SIM_TYPED_ADD": _ATOMICS,
    "OPDEV_SIM_TYPED_INTEGER": _ATOMICS, "OPDEV_SIM_TYPED_COMMON": _ATOMICS,
}  # fmt: skip
# Names opdev's table of SHMEM does not hold: (Chinese, English).
_MORE: Mapping[str, tuple[str, str]] = {
    "aclInit": ("初始化 AscendCL，进程内一次。", "Starts AscendCL, once a process."),
    "aclFinalize": ("结束 AscendCL。", "Ends AscendCL."),
    "aclrtSetDevice": ("选定本线程使用的设备。", "Makes a device the one of this thread."),
    "aclrtResetDevice": ("释放设备上的资源。", "Gives back what the device holds."),
    "aclrtCreateStream": ("创建流；其中的任务按提交顺序执行。", "Makes a stream; its tasks run in the order they were queued."),
    "aclrtDestroyStream": ("销毁流。", "Ends a stream."),
    "aclrtSynchronizeStream": ("等待流中所有任务完成；核函数的错误在这里返回。", "Waits until the stream is done; a kernel's error is returned here."),
    "aclrtSynchronizeDevice": ("等待设备上所有流完成。", "Waits until every stream of the device is done."),
    "aclrtMalloc": ("在设备上分配 size 字节；不是对称内存，远端访问不到。", "Allocates size bytes on the device: no symmetric memory, other PEs cannot reach it."),
    "aclrtFree": ("释放 aclrtMalloc 的内存。", "Frees what aclrtMalloc gave."),
    "aclrtMallocHost": ("分配锁页的主机内存。", "Allocates pinned host memory."),
    "aclrtFreeHost": ("释放 aclrtMallocHost 的内存。", "Frees what aclrtMallocHost gave."),
    "aclrtMemcpy": ("同步复制 count 字节；room 是 dst 的大小。", "Copies count bytes and waits; room is the size of dst."),
    "aclrtMemcpyAsync": ("在流中复制 count 字节。", "Queues a copy of count bytes on the stream."),
    "aclrtMemset": ("把 count 字节置为 value。", "Sets count bytes to value."),
    "aclrtCreateEvent": ("创建事件。", "Makes an event."),
    "aclrtRecordEvent": ("在流中记录事件。", "Records the event on the stream."),
    "aclrtEventElapsedTime": ("两个事件之间的毫秒数；模拟环境里是主机时间，不代表设备。", "Milliseconds between two events; on the stand-in the host's time, not a device's."),
    "DataCopy": ("GM 与 UB 之间搬运，按 32 字节整块；尾部不齐用 DataCopyPad。", "Copies between GM and UB in whole 32-byte blocks; use DataCopyPad for a tail."),
    "DataCopyPad": ("按字节搬运，可补齐；用于不足 32 字节的尾块。", "Copies by bytes and pads where asked; for tails shorter than 32 bytes."),
    "DataCopyParams": ("blockCount 块，每块 blockLen × 32 字节；间隔也以 32 字节计。", "blockCount blocks of blockLen × 32 bytes; gaps count 32 bytes, too."),
    "DataCopyExtParams": ("blockCount 块，每块 blockLen 字节；UB 侧间隔以 32 字节计，GM 侧以字节计。", "blockCount blocks of blockLen bytes; gaps count 32 bytes in UB and bytes in GM."),
    "DataCopyPadExtParams": ("每块左右各补几个元素，补什么值。", "How many elements are padded on each side of a block, and with what."),
    "SetAtomicAdd": ("之后从 UB 到 GM 的搬运做累加，直到 SetAtomicNone。", "Copies from UB to GM add from now on, until SetAtomicNone."),
    "SetAtomicMax": ("之后从 UB 到 GM 的搬运取较大值。", "Copies from UB to GM keep the larger value from now on."),
    "SetAtomicMin": ("之后从 UB 到 GM 的搬运取较小值。", "Copies from UB to GM keep the smaller value from now on."),
    "SetAtomicNone": ("结束原子累加。", "Ends atomic copies."),
    "SyncAll": ("等待本次启动的所有核到齐。", "Waits for all cores of this launch."),
    "PipeBarrier": ("等待该流水上已发出的指令完成。", "Waits until the pipe has done what was issued to it."),
    "SetFlag": ("前一条流水到此时置事件，供 WaitFlag 等待。", "Sets the event when the first pipe gets here; WaitFlag waits for it."),
    "WaitFlag": ("后一条流水等待该事件；与 SetFlag 一一对应。", "The second pipe waits for the event; one WaitFlag for each SetFlag."),
    "GetBlockIdx": ("本核编号，从 0 起。", "The number of this core, from 0."),
    "GetBlockNum": ("本次启动的核数。", "How many blocks were launched."),
    "GetSubBlockIdx": ("本 AIV 在其核组里的编号。", "The number of this AIV within its group."),
    "TPipe": ("管理 UB：为队列和缓冲区分配空间。", "Hands out UB to queues and buffers."),
    "TQue": ("UB 张量队列：AllocTensor、EnQue、DeQue、FreeTensor 依次成对。", "A queue of tensors in UB: AllocTensor, EnQue, DeQue, FreeTensor, each once."),
    "TBuf": ("一块不排队的 UB。", "A piece of UB that is not queued."),
    "LocalTensor": ("UB 中的张量。", "A tensor in UB."),
    "GlobalTensor": ("GM 中的张量；先 SetGlobalBuffer。", "A tensor in GM; SetGlobalBuffer comes first."),
    "Duplicate": ("用标量填充张量。", "Fills a tensor with a scalar."),
    "Add": ("逐元素相加。", "Adds element by element."),
    "Adds": ("每个元素加标量。", "Adds a scalar to every element."),
    "Muls": ("每个元素乘标量。", "Multiplies every element by a scalar."),
    "Cast": ("按舍入方式转换类型。", "Converts to another type by a rounding mode."),
    "CrossCoreSetFlag": ("核间置标志。", "Sets a flag for other cores."),
    "CrossCoreWaitFlag": ("等待核间标志。", "Waits for a flag of other cores."),
    "DataCacheCleanAndInvalid": ("写回并作废数据缓存，使标量读到他人写入的值。", "Writes back and drops cache lines, so that scalar reads see what others wrote."),
}  # fmt: skip


def words(name: str) -> tuple[str, str] | None:
    """What is said of a name, in Chinese and English; None of names nobody documents."""
    from opdev.api import table

    if name in _MORE:
        return _MORE[name]
    api = table.lookup(name) if name.startswith(("aclshmem", "ACLSHMEM", "SHMEM", "non_contiguous")) else None
    variant = next((v for v in api.variants if v.scope != "simt"), None) if api is not None else None
    return (variant.summary["zh"], variant.summary["en"]) if variant is not None else None


def documented(text: str) -> str:
    """A header's text with the lines above every public name of it, old ones replaced."""

    def told(match: re.Match[str]) -> str:
        macro, name = match["macro"], match["function"] or match["type"] or match["made"]
        many = _MANY.get(name if macro == "OPDEV_SIM_TYPES" else macro) if macro else None
        said = many or (words(name) if macro is None or macro in _ONE else None)
        return f"{_MARK}{said[0]}\n{_MARK}{said[1]}\n{match[0]}" if said is not None else match[0]

    return _DECLARED.sub(told, _OLD.sub("", text))


def headers() -> list[Path]:
    """The headers that declare public names."""
    sim = INCLUDE / "opdev_sim"
    found = [*sorted((sim / "shmem").glob("*.h")), *sorted((sim / "ascendc").glob("*.h")), INCLUDE / "acl" / "acl.h"]
    return [path for path in found if path.name != "alias.h"]


if __name__ == "__main__":
    for path in headers():
        path.write_text(documented(path.read_text(encoding="utf-8")), encoding="utf-8")
