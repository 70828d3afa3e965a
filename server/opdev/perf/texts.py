"""What the perf commands and tables say, in both languages.

A problem's text says what is wrong with the line and what that does to the user, in one sentence.
"""

from __future__ import annotations

from collections.abc import Mapping

from opdev.perf.model import Problem
from opdev.rules.model import Lang, Text

PROBLEMS: Mapping[str, tuple[str, str]] = {
    "step-failed": ("这一步没有通过（{result}）：它的数据不作判断", "the step did not pass ({result}): nothing is concluded from its figures"),
    "too-large": ("日志超过 {bytes} 字节，后面的没有读", "the log is larger than {bytes} bytes; the rest was not read"),
    "ends-early": ("日志到这里断了：标签后面没有写完，少了一次测量", "the log ends here, behind a tag: a measurement is lost"),
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
    "odd-payload": (
        "payload_bytes={shown}，而 {count} 个 {dtype} 元素应为 {right}：带宽会随之偏高或偏低，说明 payload 的口径",
        "payload_bytes={shown}, and {count} elements of {dtype} are {right}: bandwidths are off by as much; say what the payload is",
    ),
    "no-such-pe": ("pe={pe}，而这次只有 {n_pes} 个 PE；这一行没有采用", "pe={pe}, and there are only {n_pes} PEs; the line is not used"),
    "pes-missing": ("{n_pes} 个 PE 里少了 PE {pes}：最慢的可能就在其中，这一次没有采用", "of {n_pes} PEs, PE {pes} told nothing: the slowest may be among them, so this launch is not used"),
    "pes-differ": ("各 PE 的 {field} 不同（{values}）：量的不是同一件事，这一次没有采用", "PEs differ in {field} ({values}): they did not measure the same, so this launch is not used"),
}  # fmt: skip
_WORDS: Mapping[str, tuple[str, str]] = {
    "perf-help": (
        "性能数据：查看、对比、写报告、看轮次。退出码：0 正常（compare：达标或更快），1 compare 未达标或无法判断，2 用法有误。",
        "Measurements: show, compare, report, rounds. Exit status: 0 (compare: met, or better), 1 compare found less or cannot tell, 2 usage.",
    ),
    "show-help": (
        "带宽、时延与对比表；可给运行编号或日志，默认是算子各项最近一次的测量。",
        "Bandwidth, latency and comparison. Name runs or logs; without any, the newest of everything the operator measured.",
    ),
    "compare-help": (
        "A 与 B 对比：B 是基线时按达标线判断，否则看变化是否超出波动。",
        "A against B: by the pass line where one is a baseline, else whether the change is more than the noise.",
    ),
    "report-help": (
        "由运行记录写 docs/performance_report.md（§1–§7）；标记之外你自己写的内容不动。",
        "Write docs/performance_report.md (sections 1 to 7) from run records; what you wrote outside its markers stays.",
    ),
    "source": ("运行编号（或其一部分、last），或日志文件", "a run (its id, a part of it, or `last`), or a log file"),
    "csv": ("另存为 CSV", "write CSV to a file"),
    "json": ("另存为 JSON（--print-schema 打印格式）", "write JSON to a file (--print-schema prints its schema)"),
    "trace": ("把 cycle profile 的区段存为 Chrome/Perfetto trace", "write cycle-profile frames as a Chrome/Perfetto trace"),
    "side-a": ("运行编号或日志", "a run or a log"),
    "side-b": ("与之相比的运行编号或日志", "the run or log it is compared with"),
    "schema": ("打印 JSON 的 JSON Schema", "print the JSON Schema of the JSON output"),
    "output": ("写到别处（默认 docs/performance_report.md）", "another file (default: docs/performance_report.md)"),
    "check": ("只看报告是否最新，不写（不是最新时退出码 1）", "only say whether the report is up to date (exit status 1 where it is not)"),
    "two-sides": ("compare 需要 A 和 B 两个来源", "compare needs two sources, A and B"),
    "rounds-help": (
        "优化轮次：每轮与 Round 0、上一保留轮、基线相比（与 opdev rounds 相同）。",
        "The optimisation rounds, each against round 0, the last one kept and the baseline (as `opdev rounds` has it).",
    ),
    "no-figures": (
        "{path}：没有 [PERF] 或 [BASELINE_PERF] 行，也没有 cycle profile 的表：看是不是选错了日志，或程序没有打印",
        "{path}: no [PERF] or [BASELINE_PERF] line and no cycle-profile table: another log was meant, or the program printed none",
    ),
    "folder": ("{path} 是目录：给出里面的一个日志，或运行编号；看整个算子用 --op {path}", "{path} is a folder: name a log in it, or a run; for a whole operator say --op {path}"),
    "no-log": ("{path}：没有这个日志", "{path}: no such log"),
    "unreadable-log": ("{path} 读不了：{why}", "{path} cannot be read: {why}"),
    "no-frames": ("没有 cycle profile 的表，trace 是空的；设 SHMEM_CYCLE_PROF_PE=0 再运行一次", "there is no cycle-profile table and the trace is empty; run again with SHMEM_CYCLE_PROF_PE=0"),
    "block-kept": (
        "{path} §{section} 的生成内容被手工改过，没有更新；删掉它的两行标记或整段即可重新生成",
        "section {section} of {path} was edited by hand within its markers and was left as it is; delete the block to have it written again",
    ),
    "report-written": ("已写 {path}", "{path} is written"),
    "report-same": ("{path} 已是最新", "{path} is up to date"),
    "report-old": ("{path} 不是最新：运行 opdev perf report", "{path} is not up to date: run `opdev perf report`"),
    "report-empty": ("运行记录里没有硬件上的性能数据，报告里都写着“未测”", "the run records hold no figures of hardware; the report says so everywhere"),
    "pass": ("PASS", "PASS"),
    "fail": ("FAIL", "FAIL"),
    "noisy": ("波动太大，无法判断", "too noisy to tell"),
    "simulated": ("模拟，不判断", "simulated, not judged"),
    "unmeasured": ("未测", "not measured"),
    "incomparable": ("不可比", "not comparable"),
    "bandwidth": ("带宽", "Bandwidth"),
    "latency": ("时延", "Latency"),
    "comparison": ("与基线对比", "Against the baseline"),
    "against": ("对比", "Comparison"),
    "alone": ("没有基线：看链路利用率", "Without a baseline: utilisation of the link"),
    "frames": ("设备区段（cycle profile）", "Device frames (cycle profile)"),
    "rounds": ("轮次总览", "Rounds"),
    "idea": ("机制改动", "change"),
    "vs-first": ("vs R0", "vs R0"),
    "vs-kept": ("vs 上轮保留", "vs kept"),
    "vs-baseline": ("占基线", "of baseline"),
    "decision": ("决策", "decision"),
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
    "unusable": ("没有一行测量可以采用，原因见下面", "no measurement can be used; the reasons are below"),
    "more": ("另有 {count} 个问题", "{count} more problems"),
    "note": ("说明", "note"),
    "unused": ("{count} 次测量没有采用", "{count} launches are not used"),
    "lacking-tier": ("没有 {tier} 档的数据（{scope}）", "no data of scale {tier} ({scope})"),
    "lacking-sim": ("模拟环境默认不测 L 档（可用 --count 指定元素数）", "the stand-in does not measure scale L unless asked to (--count)"),
    "one-sample": ("只有一次，波动未知", "one launch only: the spread is not known"),
    "why-baseline": ("kernel_bus 为基线的 {value:.1f}%，线为 {line:.0f}%", "kernel_bus is {value:.1f} % of the baseline; the line is {line:.0f} %"),
    "why-floor": ("链路利用率 {value:.1f}%，线为 {line:.0f}%（没有基线）", "utilisation is {value:.1f} %; the line is {line:.0f} % (no baseline)"),
    "why-noisy": (
        "测得 {low:.1f}%–{high:.1f}%，线 {line:.0f}% 就在其中：多测几次，或先让机器安静",
        "measured {low:.1f} to {high:.1f} %, and the line of {line:.0f} % lies within: measure again, on a quieter machine",
    ),
    "why-broken": (
        "采用了 {used} 次，另有 {broken} 次残缺（原因见日志里的问题）：残缺的可能正是慢的那次，重新测",
        "{used} launches are used and {broken} more are damaged (see the problems in the logs): the slow one may be among them; measure again",
    ),
    "why-sim": ("模拟数据不与硬件目标比较", "simulated numbers are not held against a hardware target"),
    "why-unusable": ("没有可采用的测量", "no measurement can be used"),
    "why-no-baseline": ("设计写了基线，还没有测", "the design names a baseline and it has not been measured"),
    "why-nothing-there": ("另一边没有测量", "the other side has no measurement"),
    "change-better": ("kernel_bus {delta:+.1f}%，超出波动", "kernel_bus {delta:+.1f} %, more than the noise"),
    "change-worse": ("kernel_bus {delta:+.1f}%，超出波动", "kernel_bus {delta:+.1f} %, more than the noise"),
    "change-same": ("kernel_bus 相同", "kernel_bus is the same"),
    "change-noisy": ("kernel_bus {delta:+.1f}%，在波动之内，无法判断", "kernel_bus {delta:+.1f} %, within the noise: nothing follows"),
    "change-sim": ("kernel_bus {delta:+.1f}%（都是模拟，只说明模拟环境）", "kernel_bus {delta:+.1f} % (both simulated: it says nothing of an NPU)"),
    "better": ("更快", "better"),
    "worse": ("更慢", "worse"),
    "same": ("相同", "same"),
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
