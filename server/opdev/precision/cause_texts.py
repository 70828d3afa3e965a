"""Hypotheses in words: what may be wrong, and what speaks for it."""

from __future__ import annotations

from collections.abc import Mapping

from opdev.precision.model import Both, Cause, Confidence, Hypothesis

# cause or cause/variant → ((guess zh, guess en), (evidence zh, evidence en))
_TEXTS: Mapping[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "all-zero": (
        ("输出从未写入，或最后被清零：内核可能没有启动、提前返回，或写到了别处", "the output was never written, or cleared at the end: the kernel may not have started, returned early, or written elsewhere"),
        ("全部 {count} 个元素都是 0", "all {count} elements are 0"),
    ),
    "never-written": (
        ("内核没有写到这块输出：缓冲区还是运行前填的 0xFF", "the kernel did not write to this output: the buffer still has the 0xFF it was filled with"),
        ("{all} 个元素里 {count} 个每一位都是 1", "every bit is set in {count} of {all} elements"),
    ),
    "not-written-part/fill": (
        ("有一部分没有写到：看分块与循环次数是否漏了余数", "a part was not written: see whether partition or loop count leaves out the rest"),
        ("{wrong} 个超差元素里 {count} 个还是填充的 0xFF", "{count} of {wrong} wrong elements still have the fill of 0xFF"),
    ),
    "not-written-part/zero": (
        ("有一部分没有写到，或等待之前就读了", "a part was not written, or was read before it had come"),
        ("{wrong} 个超差元素里 {count} 个是 0", "{count} of {wrong} wrong elements are 0"),
    ),
    "not-finite": (
        ("溢出，或读了没有写过的内存", "an overflow, or memory was read that nobody wrote"),
        ("NaN {nan} 个，Inf {inf} 个；golden 的最大绝对值是 {most}", "{nan} NaN, {inf} Inf; the golden's largest absolute value is {most}"),
    ),
    "stale-file": (
        ("比的是上一次运行的输出：这一次没有写出来", "the output of an earlier run is compared: this one did not write any"),
        ("{output} 比 {golden} 旧 {seconds} 秒", "{output} is {seconds} s older than {golden}"),
    ),
    "shifted-by-rank/block": (
        ("块错位：源 PE 号或目的偏移的计算差了 {step}", "blocks are shifted by rank: source PE or target offset is off by {step}"),
        ("抽样里每一块都是另一块的数据（块 ← 数据）：{listed}", "in samples each block has another one's data (block ← data): {listed}"),
    ),
    "shifted-by-rank/pe": (
        ("PE 错位：目的或源 PE 号的计算差了 {step}", "PEs are shifted: target or source PE is off by {step}"),
        ("抽样里每个 PE 的输出是另一个 PE 的 golden（PE ← golden）：{listed}", "in samples each PE's output is another PE's golden (PE ← golden): {listed}"),
    ),
    "swapped-blocks/block": (
        ("块的次序换了：看按 PE 号的偏移", "blocks stand in another order: see the offsets by PE"),
        ("抽样里（块 ← 数据）：{listed}", "in samples (block ← data): {listed}"),
    ),
    "swapped-blocks/pe": (
        ("PE 之间的数据换了：看目的 PE 号", "PEs have one another's data: see the target PE"),
        ("抽样里（PE ← golden）：{listed}", "in samples (PE ← golden): {listed}"),
    ),
    "stale-repeat/block": (
        ("同一份数据出现了两次，该到的没有到：等待可能被上一轮的信号放行，或缓冲区没有换", "the same data stand there twice and what should have come did not: a wait may have passed on the last round's signal, or a buffer was not switched"),
        ("抽样里（块 ← 数据）：{listed}", "in samples (block ← data): {listed}"),
    ),
    "stale-repeat/pe": (
        ("几个 PE 得到同一份数据：等待可能被上一轮的信号放行，或 PE 号没有用上", "several PEs got the same data: a wait may have passed on the last round's signal, or the PE is not used"),
        ("抽样里（PE ← golden）：{listed}", "in samples (PE ← golden): {listed}"),
    ),
    "one-block": (
        ("只有来自 PE {block} 的一块不对：看那个 PE 的发送，或等待它的信号", "only the block of PE {block} is wrong: see what that PE sends, or the wait for its signal"),
        ("超差全在第 {block} 块（共 {parts} 块）的 {first} 到 {last}，占这一块的 {share}%", "all wrong elements lie in block {block} of {parts}, {first} to {last}, {share}% of it"),
    ),
    "one-pe": (
        ("只有 PE {pe} 不对：看按 PE 号分支的代码、那张卡的环境，以及它的等待", "only PE {pe} is wrong: see branches on the PE, that card's environment, and its waits"),
        ("PE {others} 都通过", "PEs {others} pass"),
    ),
    "tail": (
        ("尾块没有算对：看不足一个 tile 的余数", "the tail is wrong: see the rest that fills no whole tile"),
        ("超差从 {first} 到末尾，{count} 个元素里最后 {span} 个中的 {wrong} 个", "wrong from {first} to the end: {wrong} of the last {span} of {count} elements"),
    ),
    "tail-of-blocks": (
        ("每一块的尾部没有算对：看每个 PE 数据的余数", "the tail of each block is wrong: see the rest of each PE's data"),
        ("{parts} 块里有 {rows} 块超差，都在一块（{size} 个元素）的最后 {wide} 个元素里", "{rows} of {parts} blocks are wrong, all in the last {wide} elements of a block ({size} elements)"),
    ),
    "shifted-elements": (
        ("从某处起错开了 {step} 个元素：看偏移的单位（元素还是字节）和对齐", "from some place on everything is {step} elements off: see the unit of the offset (elements or bytes) and alignment"),
        ("从 {first} 起的 {length} 个元素就是 golden 里错开 {step} 个的那一段", "{length} elements from {first} on are the golden's, {step} elements off"),
    ),
    "accumulated-again": (
        ("累加了多次：重复启动之间没有清零，或同一份数据加了 {times} 次", "added several times: not cleared between launches, or the same data added {times} times"),
        ("{count} 个超差元素里 {share}% 是 golden 的 {times} 倍", "{share}% of {count} wrong elements are {times} times the golden"),
    ),
    "wrong-dtype": (
        ("按 {dtype} 读了，其实是 {other}", "read as {dtype}, but it is {other}"),
        ("把 {count} 个超差元素当作 {other} 就对了", "read as {other}, {count} wrong elements are right"),
    ),
    "rounding": (
        ("舍入误差：可能在低精度里累加，或 golden 没有按同样的次序与类型转换", "rounding: perhaps accumulated in low precision, or the golden casts at other places"),
        ("前 {count} 个超差元素至多是允许值的 {most} 倍，其中 {up}% 偏大", "the first {count} wrong elements are at most {most} times what is allowed, {up}% of them too large"),
    ),
}  # fmt: skip


def guess(cause: Cause, confidence: Confidence, variant: str = "", **values: object) -> Hypothesis:
    """A hypothesis in both languages."""
    text, evidence = _TEXTS[f"{cause}/{variant}" if variant else cause]
    return Hypothesis(
        cause, confidence, Both(text[0].format(**values), text[1].format(**values)),
        Both(evidence[0].format(**values), evidence[1].format(**values)),
    )  # fmt: skip
