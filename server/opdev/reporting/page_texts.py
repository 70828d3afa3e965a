"""What the page says, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from opdev.precision.model import Both

_TEXTS: Mapping[str, tuple[str, str]] = {
    "title": ("算子报告", "Operator report"),
    "made": ("生成于 {when}，数据来自运行记录", "made on {when} from run records"),
    "sim": (
        "含 CPU 模拟（backend: sim）的结果，都标了“模拟”；模拟的时间与带宽不是设备的数据，不作性能结论。",
        "Some results are of the CPU stand-in (backend: sim) and marked “simulated”: its times and bandwidths are none of a device and decide nothing of performance.",
    ),
    "simulated": ("模拟", "simulated"),
    "hardware": ("NPU", "NPU"),
    "baseline": ("基线", "baseline"),
    "card-cases": ("通过的用例", "cases passed"),
    "card-gates": ("开着的门禁", "gates open"),
    "card-bus": ("最高总线带宽（NPU）", "best bus bandwidth (NPU)"),
    "card-run": ("最近一次运行", "last run"),
    "none": ("未测", "not measured"),
    "cases": ("各用例、各 PE 的精度", "Precision per case and PE"),
    "cases-note": (
        "每格是这个 PE 的 MaxAE（检查脚本的；没有时取精度引擎的），颜色深浅是它占 atol 的比例；空格：用例日志不在了，或已被后来的运行覆盖，输出也没有判断。",
        "Each cell is the MaxAE of one PE (the checker's, else the precision engine's), shaded by its share of atol; empty: the case's log is gone, or a later run wrote over it, and its outputs were not judged.",
    ),
    "engine": ("精度引擎", "Precision engine"),
    "engine-pass": ("通过 {passed}/{all}", "pass {passed}/{all}"),
    "engine-fail": ("不通过 {passed}/{all}", "fail {passed}/{all}"),
    "engine-none": ("没有判断", "not judged"),
    "no-cases": ("没有用例矩阵。", "There is no case matrix."),
    "case": ("用例", "Case"),
    "result": ("结果", "Result"),
    "from": ("来源", "From"),
    "at": ("[{number}] 第 {line} 行", "[{number}] line {line}"),
    "doubted": ("精度引擎：不通过", "precision engine: not"),
    "not-run": ("未执行", "not run"),
    "last": ("最后一次输出的误差分布", "Errors of the last outputs"),
    "last-note": (
        "按 SHMEM 精度标准重新判断磁盘上最后一次的输出（{data}），不是上表某个用例的记录。",
        "The last outputs on disk ({data}) judged again by the SHMEM precision standard; they are no record of a case above.",
    ),
    "bandwidth": ("总线带宽与消息大小", "Bus bandwidth against message size"),
    "utilisation": ("链路利用率", "Link utilisation"),
    "utilisation-note": (
        "100% 是这种通信方式的峰值；斜线是时延上限：最短的 kernel 时间下，这么大的消息最多能到的利用率；{good:g}% 以上链路基本用满；{floor:g}% 是没有基线时的达标线。",
        "100% is the peak of this pattern; the slanted line is what latency allows: the utilisation a message of that size reaches in the shortest kernel time measured; above {good:g}% a link is about full; {floor:g}% is the line to meet without a baseline.",
    ),
    "goal-note": ("短横线是达标线：基线的 {line}%。", "The short lines are what is to be reached: {line}% of the baseline."),
    "each-pe": ("各输出的最大误差（MaxAE）", "Largest error of each output (MaxAE)"),
    "each-pe-note": (
        "虚线是 |g| ≤ 1 处允许的误差；更大的数按比例放宽。没有柱子的输出没有误差。",
        "The dashed line is what is allowed where |g| ≤ 1; larger numbers may be off in proportion. An output without a bar has no error.",
    ),
    "each-pe-exact": ("须与 golden 相等：任何误差都不通过。没有柱子的输出没有误差。", "They have to equal the golden: any error fails. An output without a bar has no error."),
    "latency": ("时延上限", "latency bound"),
    "no-perf": ("没有性能数据：opdev run 6。", "There are no measurements: `opdev run 6`."),
    "metrics": ("测得的数值（中位数）", "What was measured (medians)"),
    "verdict": ("结论", "Verdict"),
    "rounds": ("优化轮次", "Optimisation rounds"),
    "no-rounds": ("没有优化轮次。", "There are no optimisation rounds."),
    "round": ("轮次", "Round"),
    "idea": ("机制改动", "Change"),
    "state": ("状态", "State"),
    "correctness": ("正确性", "Correctness"),
    "vs-first": ("比 Round 0", "vs Round 0"),
    "vs-kept": ("比上一保留轮", "vs last kept"),
    "of-baseline": ("占基线", "of the baseline"),
    "gates": ("门禁", "Gates"),
    "phase": ("阶段", "Phase"),
    "why": ("还差什么", "What keeps it closed"),
    "no-gates": ("配置不可用，门禁没有判断。", "The configuration cannot be used; gates were not judged."),
    "open": ("开", "open"),
    "closed": ("关", "closed"),
    "skipped": ("跳过", "passed over"),
    "runs": ("运行记录", "Runs"),
    "no-runs": ("没有运行记录。", "There are no runs."),
    "run": ("编号", "Run"),
    "request": ("阶段", "Phases"),
    "backend": ("后端", "Backend"),
    "started": ("开始", "Started"),
    "seconds": ("用时", "Took"),
    "message": ("说明", "Message"),
    "base": ("基准", "base"),
    "kept": ("保留", "kept"),
    "reverted": ("撤销", "reverted"),
    "begun": ("进行中", "open"),
    "pass": ("达标", "met"),
    "fail": ("未达标", "not met"),
    "noisy": ("波动太大，无法判断", "too noisy to tell"),
    "unmeasured": ("未测", "not measured"),
    "incomparable": ("不可比", "not comparable"),
}  # fmt: skip


def both(key: str, **values: object) -> Both:
    """A text in both languages."""
    zh, en = _TEXTS[key]
    return Both(zh.format(**values), en.format(**values)) if values else Both(zh, en)
