"""What `opdev gate` and `opdev status` say, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from opdev.phases.model import GateState, State
from opdev.rules.model import Lang

STATE: Mapping[State, tuple[str, str]] = {
    "ok": ("通过", "ok"),
    "failed": ("未过", "failed"),
    "unknown": ("未证实", "unproven"),
    "not-applicable": ("不适用", "n/a"),
}
GATE: Mapping[GateState, tuple[str, str]] = {
    "open": ("已开", "open"),
    "closed": ("关闭", "closed"),
    "skipped": ("跳过", "skipped"),
}
_TEXTS: Mapping[str, tuple[str, str]] = {
    "gate-help": (
        "查看一个阶段的门禁。退出码：0 已开或跳过，1 关闭，2 用法有误或找不到算子。",
        "Look at the gate of a phase. Exit status: 0 open or skipped, 1 closed, 2 usage, or no operator found.",
    ),
    "status-help": (
        "算子做到哪一步、为什么、接着做什么。退出码：0 正常，2 用法有误或找不到算子。",
        "Where an operator stands, why, and what comes next. Exit status: 0, or 2 for usage or no operator found.",
    ),
    "phase": ("阶段（默认：status 所说的当前阶段）", "the phase (default: the one status says is open)"),
    "op": ("算子目录，默认当前目录", "the operator's folder (default: the current one)"),
    "folder": ("算子目录，或含有多个算子的目录", "an operator's folder, or one with many operators below it"),
    "format": ("输出格式", "format of the output"),
    "lang": ("文字的语言", "language of texts"),
    "schema": ("打印 JSON 输出的 JSON Schema", "print the JSON Schema of the JSON output"),
    "no-phase": ("没有 {text} 这个阶段；有 {phases}", "no phase {text}; there are {phases}"),
    "no-stage": (
        "{text} 不是这个 PyPTO 算子的阶段；有 {phases}",
        "{text} is no stage of this PyPTO operator; there are {phases}",
    ),
    "no-folder": ("{path}：没有这个目录", "{path}: no such folder"),
    "no-operator": (
        "{path}：没有找到算子。在算子目录（如 custom-ops/<op>，PyPTO 的 custom/<op>）里运行，或用 --op 指定",
        "{path}: no operator found. Run it in an operator's folder (custom-ops/<op>, or PyPTO's custom/<op>), or name one with --op",
    ),
    "several": (
        "{path}：下面有 {count} 个算子（{names}）。用 --op 指定一个；opdev status 可以一次看全部",
        "{path}: there are {count} operators below ({names}). Name one with --op; `opdev status` shows all of them",
    ),
    "bad-config": ("配置不可用：{why}", "the configuration cannot be used: {why}"),
    "head-open": ("门禁已开（{ok} 项通过）", "gate open ({ok} checks hold)"),
    "head-simulated": (
        "门禁已开（模拟）：{ok} 项通过，其中 {count} 项只在 CPU 模拟环境验证过",
        "gate open (simulated): {ok} checks hold, {count} of them on the CPU stand-in only",
    ),
    "open-simulated": ("已开（模拟）", "open (simulated)"),
    "simulated": ("只在模拟环境验证：{names}", "on the stand-in only: {names}"),
    "head-closed": ("门禁关闭：{failed} 项未过，{unknown} 项未证实", "gate closed: {failed} failed, {unknown} unproven"),
    "head-skipped": ("跳过：{why}", "skipped: {why}"),
    "holding": ("通过：{names}", "ok: {names}"),
    "exempt": ("不适用：{names}", "n/a: {names}"),
    "now": ("现在", "now"),
    "why": ("原因", "why"),
    "where": ("位置", "where"),
    "next": ("下一步", "next"),
    "round": ("轮次", "round"),
    "who": ("由谁做", "who"),
    "back": ("回到", "back to"),
    "behind": ("先看", "before"),
    "behind-text": ("前面的门禁没有全开：{names}", "gates before it are closed: {names}"),
    "row": ("恢复表第 {row} 行", "row {row} of the recovery matrix"),
    "complete": ("全部完成", "complete"),
    "later": ("还没到", "later"),
    "closed-by": ("关闭（{count} 项）", "closed ({count})"),
    "count": ("{count} 个算子", "{count} operators"),
    "interrupted": ("已中断", "interrupted"),
}  # fmt: skip


def say(key: str, lang: Lang, **values: object) -> str:
    """A text of the table, filled in."""
    zh, en = _TEXTS[key]
    return (zh if lang == "zh" else en).format(**values)


def word(pair: tuple[str, str], lang: Lang) -> str:
    """One of a pair (Chinese, English)."""
    return pair[0] if lang == "zh" else pair[1]
