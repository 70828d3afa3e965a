"""What the perf commands and tables say, in both languages.

A problem's text says what is wrong with the line and what that does to the user, in one sentence.
"""

from __future__ import annotations

from collections.abc import Mapping

from opdev.perf.model import Problem
from opdev.rules.model import Lang, Text

PROBLEMS: Mapping[str, tuple[str, str]] = {
    "too-large": ("日志超过 {bytes} 字节，后面的没有读", "the log is larger than {bytes} bytes; the rest was not read"),
    "unreadable": ("读不了：{why}", "it cannot be read: {why}"),
    "no-values": ("标签后面没有数值：这一行不完整，没有采用", "no value follows the tag: the line is not whole and is not used"),
    "cut": (
        "{field} 的值没有写完：可能被别的 PE 的输出打断，或程序中途结束；这一行没有采用",
        "the value of {field} has no end: another PE wrote into the line, or the program was cut short; it is not used",
    ),
    "repeated": ("{field} 出现了两次，不知道哪个是真的；这一行没有采用", "{field} stands there twice and nobody knows which is right; the line is not used"),
    "old-name": ("{field} 是旧名字，按 {now} 读取；请改名", "{field} is an old name and is read as {now}; rename it"),
    "no-number": ("{field}={text} 不是数值；这一行没有采用", "{field}={text} is no number; the line is not used"),
    "not-positive": ("{field}={text} 应大于 0；这一行没有采用", "{field}={text} should be above 0; the line is not used"),
    "no-pe": ("没有可用的 PE 编号（pe={text}）：不知道哪些 PE 报了数", "there is no usable PE number (pe={text}): which PEs told of it is not known"),
    "lacking": ("缺少 {fields}：无法复核", "{fields} lacking: the numbers cannot be checked"),
    "both-sides": (
        "同一个日志里既有 SHMEM 又有基线：两者必须分开采，这个日志不作判断",
        "SHMEM and baseline are in one log: they have to be measured apart, so nothing is concluded from it",
    ),
    "disagrees": (
        "{field} 写的是 {shown}，按 {formula} 应为 {right}：这一行不可信，没有采用",
        "{field} says {shown}, and {formula} gives {right}: the line cannot be believed and is not used",
    ),
    "algo-from-kernel": (
        "{field} 写的是 {shown}，是用 kernel_us 算的；应由 e2e_us 得 {right}；这一行没有采用",
        "{field} says {shown}, which is made of kernel_us; e2e_us gives {right}; the line is not used",
    ),
    "doubled": ("{field} 写的是 {shown}，是正确值 {right} 的两倍；这一行没有采用", "{field} says {shown}, twice what it is ({right}); the line is not used"),
    "binary-unit": ("{field} 写的是 {shown}，除的是 2^30；GB/s 按 10^9 应为 {right}；这一行没有采用", "{field} says {shown}, divided by 2^30; a GB is 10^9 bytes, which gives {right}; the line is not used"),
    "kernel-longer": ("kernel_us={kernel} 比 e2e_us={e2e} 还长：计时范围有误，这一行没有采用", "kernel_us={kernel} is longer than e2e_us={e2e}: the timing is wrong and the line is not used"),
    "above-peak": ("利用率 {value}% 超过峰值：须说明峰值取自哪里", "a utilisation of {value} % is above the peak: say where the peak is from"),
    "odd-factor": ("bus_factor={shown}，{n_pes} PE 时应为 {right}；总线带宽因此不可比", "bus_factor={shown}, and on {n_pes} PEs it is {right}: the bus bandwidth compares with nothing"),
    "odd-peak": ("peak_bandwidth_GBps={shown} 不是已知峰值（{right}）：须注明芯片、链路与拓扑", "peak_bandwidth_GBps={shown} is none of the known peaks ({right}): name chip, links and topology"),
    "no-such-pe": ("pe={pe}，而这次只有 {n_pes} 个 PE；这一行没有采用", "pe={pe}, and there are only {n_pes} PEs; the line is not used"),
    "pes-missing": ("{n_pes} 个 PE 里少了 PE {pes}：最慢的可能就在其中，这一次没有采用", "of {n_pes} PEs, PE {pes} told nothing: the slowest may be among them, so this launch is not used"),
    "pes-differ": ("各 PE 的 {field} 不同（{values}）：量的不是同一件事，这一次没有采用", "PEs differ in {field} ({values}): they did not measure the same, so this launch is not used"),
}  # fmt: skip
_WORDS: Mapping[str, tuple[str, str]] = {
    "pass": ("PASS", "PASS"),
    "fail": ("FAIL", "FAIL"),
    "noisy": ("波动太大，无法判断", "too noisy to tell"),
    "simulated": ("模拟，不判断", "simulated, not judged"),
    "unmeasured": ("未测", "not measured"),
    "incomparable": ("不可比", "not comparable"),
    "bandwidth": ("带宽", "Bandwidth"),
    "latency": ("时延", "Latency"),
    "comparison": ("与基线对比", "Against the baseline"),
    "alone": ("没有基线：看链路利用率", "Without a baseline: utilisation of the link"),
    "frames": ("设备区段（cycle profile）", "Device frames (cycle profile)"),
    "rounds": ("轮次总览", "Rounds"),
    "problems": ("日志里的问题", "Problems in the logs"),
    "sim-mark": ("模拟：CPU 模拟环境的时间，与真实 NPU 无关", "simulated: times of the CPU stand-in, they say nothing of an NPU"),
    "backend": ("backend", "backend"),
    "scale": ("规模", "scale"),
    "metric": ("指标", "metric"),
    "met": ("达标", "met"),
    "repeats": ("重复", "repeats"),
    "spread": ("离散%", "spread%"),
    "baseline": ("基线", "baseline"),
    "frame": ("Frame", "Frame"),
    "nothing": ("没有性能数据", "there are no measurements"),
    "unusable": ("有 {count} 行测量，没有一行可采用；见下面的问题", "there are {count} lines of measurements and none can be used; see the problems below"),
    "more": ("另有 {count} 个问题", "{count} more problems"),
    "note": ("说明", "note"),
    "unused": ("{count} 次测量没有采用", "{count} launches are not used"),
    "lacking-tier": ("没有 {tier} 档的数据（{scope}）", "no data of scale {tier} ({scope})"),
    "one-sample": ("只有一次，波动未知", "one launch only: the spread is not known"),
    "why-baseline": ("kernel_bus 为基线的 {value:.1f}%，线为 {line:.0f}%", "kernel_bus is {value:.1f} % of the baseline; the line is {line:.0f} %"),
    "why-floor": ("链路利用率 {value:.1f}%，线为 {line:.0f}%（没有基线）", "utilisation is {value:.1f} %; the line is {line:.0f} % (no baseline)"),
    "why-noisy": (
        "测得 {low:.1f}%–{high:.1f}%，线 {line:.0f}% 就在其中：多测几次，或先让机器安静",
        "measured {low:.1f} to {high:.1f} %, and the line of {line:.0f} % lies within: measure again, on a quieter machine",
    ),
    "why-sim": ("模拟数据不与硬件目标比较", "simulated numbers are not held against a hardware target"),
    "why-unusable": ("没有可采用的测量", "no measurement can be used"),
    "why-no-peak": ("没有基线，也没有峰值", "there is neither a baseline nor a peak"),
    "why-backend": ("一边是模拟，一边是硬件", "one side is simulated, the other hardware"),
    "why-payload": ("payload_bytes 不同（{ours} 与 {theirs}）", "payload_bytes differs ({ours} and {theirs})"),
    "why-pes": ("PE 数不同（{ours} 与 {theirs}）", "the number of PEs differs ({ours} and {theirs})"),
    "why-dtype": ("dtype 不同（{ours} 与 {theirs}）", "the dtype differs ({ours} and {theirs})"),
    "why-factor": ("bus_factor 不同（{ours} 与 {theirs}）", "bus_factor differs ({ours} and {theirs})"),
}  # fmt: skip


def both(key: str, **values: object) -> Text:
    """A text in both languages, filled in."""
    zh, en = _WORDS[key]
    return {"zh": zh.format(**values), "en": en.format(**values)}


def say(key: str, lang: Lang, **values: object) -> str:
    """A text in one language, filled in."""
    return both(key, **values)[lang]


def problem(found: Problem) -> Text:
    """A problem in both languages."""
    zh, en = PROBLEMS[found.key]
    return {"zh": zh.format(**found.args), "en": en.format(**found.args)}
