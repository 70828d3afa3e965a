"""What runs say in the editor, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from opdev.rules.model import Lang, Text

_TEXTS: Mapping[str, tuple[str, str]] = {
    "untrusted": (
        "这个工作区未受信任，opdev 不运行其中的任何内容（{what}）。信任工作区后再试",
        "this workspace is not trusted, so nothing of it is run ({what}); trust it, then try again",
    ),
    "no-operator": ("{path} 不是工作区里的算子目录", "{path} is no operator's folder of this workspace"),
    "no-run": ("算子 {name} 没有运行 {run}", "operator {name} has no run {run}"),
    "nothing-runs": ("算子 {name} 没有正在进行的运行", "nothing of operator {name} is running"),
    "nothing-ran": ("算子 {name} 还没有运行过，没有可以接着做的", "operator {name} has not been run yet: there is nothing to go on with"),
    "no-log": ("运行 {run} 没有日志 {log}", "run {run} has no log {log}"),
    "no-answer": ("opdev {command} 在 {seconds:.0f} 秒内没有结束，已结束它", "opdev {command} did not end within {seconds:.0f} s and was ended"),
    "died": ("opdev {command} 没有成功（退出码 {status}）：{why}", "opdev {command} failed (exit status {status}): {why}"),
    "said": ("{text}", "{text}"),
    "no-workspace-folder": ("{path} 不在工作区里", "{path} is no folder of this workspace"),
    "kind-allgather": ("全收集（AllGather）：每个 PE 得到所有 PE 的数据", "AllGather: every PE gets the data of all"),
    "kind-alltoall": ("全交换（AllToAll）：每个 PE 给每个 PE 一份等长的数据", "AllToAll: every PE sends every PE an equal part"),
    "kind-alltoallv": ("变长全交换（AllToAllV）：各份长度不同", "AllToAllV: every PE sends every PE a part of any length"),
    "kind-reduce-scatter": ("规约散发（ReduceScatter）：求和后每个 PE 得到一段", "ReduceScatter: sums over PEs, every PE gets a part"),
    "kind-broadcast": ("广播（Broadcast）：一个 PE 的数据给所有 PE", "Broadcast: the data of one PE goes to all"),
    "kind-put-get": ("点对点（put/get）：写给下一个 PE，或从它读", "Put/get: data goes from one PE to the next"),
    "kind-custom": ("自定义：算法留空，由你来写", "Custom: the algorithm is left for you to write"),
    "mode-independent_project": ("独立工程，放在 custom-ops/", "a project of its own, in custom-ops/"),
    "mode-in_tree_example": ("SHMEM 仓的示例，放在 examples/", "an example of the SHMEM tree, in examples/"),
    "unwritable": ("{path} 不能写：{why}", "{path} cannot be written: {why}"),
    "title": ("opdev：{operator} {what}", "opdev: {operator}, {what}"),
    "phase": ("Phase {phase}", "phase {phase}"),
    "stage": ("Stage {phase}（模拟）", "stage {phase} (simulated)"),
    "all": ("全部阶段", "all phases"),
    "sim": ("（CPU 模拟）", " (CPU stand-in)"),
    "starting": ("启动中", "starting"),
    "waiting": ("等待另一次运行 {run} 结束", "waiting for the run {run} to end"),
    "pause": ("{step}，等待 {seconds:.0f} 秒", "{step}, waiting {seconds:.0f} s"),
    "cases": ("{step}，用例 {passed} 通过、{failed} 未通过", "{step}, cases: {passed} passed, {failed} not"),
    "cases-of": ("{step}，用例 {done}/{total}，{failed} 未通过", "{step}, cases {done}/{total}, {failed} not passed"),
    "ended": ("{what} {state}，用时 {seconds:.0f} 秒", "{what} {state} after {seconds:.0f} s"),
    "ended-why": ("{what} {state}：{why}", "{what} {state}: {why}"),
    "cause": ("原因：{text}", "cause: {text}"),
    "next": ("下一步：{text}（{signature}）", "next: {text} ({signature})"),
    "step-failed": ("{title}没有通过：{cause}", "{title} did not pass: {cause}"),
    "case-failed": ("用例 {case} {verdict}", "case {case}: {verdict}"),
    "expected": ("期望误差不超过 rtol={rtol} atol={atol}", "expected errors within rtol={rtol} atol={atol}"),
    "actual": ("实际 {text}", "actual {text}"),
    "fault": ("{text}（模拟环境发现的错误 {fault}）", "{text} (fault {fault}, found by the CPU stand-in)"),
    "simulated": ("模拟结果，不是实测", "simulated, not measured"),
    "lens-3": ("▶ 编译并冒烟（Phase 3，{pes} PE{sim}）", "▶ build and smoke run (phase 3, {pes} PEs{sim})"),
    "lens-4": ("▶ 跑用例矩阵（Phase 4{sim}）", "▶ run the case matrix (phase 4{sim})"),
    "lens-6": ("▶ 测性能（Phase 6，{pes} PE{sim}）", "▶ measure performance (phase 6, {pes} PEs{sim})"),
    "lens-5.5": ("▶ Torch 绑定（Phase 5.5{sim}）", "▶ Torch binding (phase 5.5{sim})"),
    "lens-2": ("▶ 检查测试脚本（Phase 2）", "▶ check the test scripts (phase 2)"),
    "lens-phase": ("▶ 运行 Phase {phase}{sim}", "▶ run phase {phase}{sim}"),
    "lens-verify": ("▶ 模拟验证（Stage 6）", "▶ verify in simulation (stage 6)"),
    "lens-case-sim": ("▶ 只跑 {case}（模拟）", "▶ run {case} (simulated)"),
    "lens-case": ("▶ 只跑 {case}", "▶ run {case}"),
    "lens-stop": ("■ 停止 {what}", "■ stop {what}"),
    "lens-resume": ("↻ 接着做（上次：{state}）", "↻ go on (last time: {state})"),
    "lens-sim": ("，CPU 模拟", ", CPU stand-in"),
}  # fmt: skip


def say(key: str, lang: Lang, **values: object) -> str:
    """A text of the table, filled in."""
    zh, en = _TEXTS[key]
    return (zh if lang == "zh" else en).format(**values)


def both(key: str, **values: object) -> Text:
    """A text in both languages."""
    return {"zh": say(key, "zh", **values), "en": say(key, "en", **values)}
