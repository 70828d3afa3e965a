"""What `opdev rounds` says, in both languages; why something is refused stands in ``opdev.rounds.texts``."""

from __future__ import annotations

from collections.abc import Mapping

from opdev.rules.model import Lang

_TEXTS: Mapping[str, tuple[str, str]] = {
    "help": (
        "优化轮次（Phase 6.5）：一轮一项机制改动，复测后保留或撤回。快照放在 .opdev/rounds，不用 git。不带子命令时列出全部。退出码：0 完成，1 没有做（并说明原因），2 用法有误。",
        "Optimisation rounds (phase 6.5): one mechanism each, retested, then kept or taken back. Snapshots lie in .opdev/rounds; git is not used. Without an action they are listed. Exit status: 0 done, 1 not done (and why), 2 usage.",
    ),
    "start-help": ("记下现在的状态，开一轮", "keep the present state and open a round"),
    "keep-help": ("保留开着的一轮（须复测通过）", "keep the open round (its retest must have passed)"),
    "revert-help": ("撤回开着的一轮：文件内容和权限回到开始时，新加的文件删除；撤回前的状态另存", "take the open round back: content and modes as at its start, added files gone; what was there before is kept"),
    "restore-help": ("放回某一轮、某次复测或某次撤回前的状态", "put back the state of a round, of a retest, or from before a restore"),
    "diff-help": ("一轮改了什么（默认开着的一轮，否则最后一轮）", "what a round changed (default: the open one, else the last)"),
    "hypothesis-help": ("瓶颈假设：这项改动要去掉什么瓶颈，一句话，写进性能报告", "the bottleneck the change is meant to remove, in a sentence; it goes into the performance report"),
    "idea-help": ("这一轮的机制改动，一句话", "the one mechanism this round changes"),
    "max-help": ("允许做到第 N 轮（默认 5，或 design.md 的 max_opt_rounds）", "allow rounds up to N (default 5, or max_opt_rounds of design.md)"),
    "reason-help": ("撤回的原因", "why it is taken back"),
    "state-help": ("2、2.1 或 before-…", "2, 2.1 or before-…"),
    "number-help": ("轮次号", "number of a round"),
    "schema-help": ("打印 --format json 的 JSON Schema", "print the JSON Schema of --format json"),
    "mended": ("上次恢复被打断，已接着做完；恢复前的状态在 {saved}", "a restore had been cut off and was finished; what was there before it is {saved}"),
    "left": ("{path} 在这期间被改过，保持原样没有动", "{path} was changed meanwhile and left as it is"),
    "unmeasured": ("Round 0 没有测过：现在的状态记为 Round 0。改代码之前先 opdev run 6，才有可比的数据", "Round 0 was not measured: the present state is Round 0. Run `opdev run 6` before changing code, or there is nothing to compare with"),
    "started": ("Round {number} 开始：{idea}\n改好代码后运行 opdev run 6.5", "round {number} is open: {idea}\nchange the code, then `opdev run 6.5`"),
    "kept": ("Round {number} 保留：{idea}（{count} 个文件）", "round {number} is kept: {idea} ({count} files)"),
    "against-keep": ("复测建议撤回，这是用户的决定", "the retest proposed to take it back; this is the user's decision"),
    "reverted": ("Round {number} 已撤回，{count} 个文件放回；撤回前的状态：opdev rounds restore {saved}\n可执行文件和报告还是撤回前代码的：opdev run 4 重新编译、复测", "round {number} is taken back, {count} files put back; what it was: `opdev rounds restore {saved}`\nbinary and reports are still those of the code taken back: `opdev run 4` builds and tests again"),
    "against-revert": ("复测建议保留，这是用户的决定", "the retest proposed to keep it; this is the user's decision"),
    "restored": ("已放回 {state} 的状态，{count} 个文件；恢复前的状态：opdev rounds restore {saved}", "the state of {state} is back, {count} files; what was there before: `opdev rounds restore {saved}`"),
    "columns": ("轮次|机制改动|状态|正确性|kernel_bus GB/s|e2e us|vs R0|vs 上次保留|SHMEM/基线|文件", "round|mechanism|state|correct|kernel_bus GB/s|e2e us|vs R0|vs last kept|SHMEM/baseline|files"),
    "step": ("Round {number} 的复测 {number}.{best} 更好（{value:.2f} GB/s）：opdev rounds restore {number}.{best}", "retest {number}.{best} of round {number} was better ({value:.2f} GB/s): `opdev rounds restore {number}.{best}`"),
    "simulated": ("带“模拟”的数据来自 CPU 模拟，不是实测，不比较快慢", "figures marked sim are simulated, not measured; no speed is compared"),
    "proposal": ("Round {number}：{text}", "round {number}: {text}"),
    "open-next": ("Round {number} 开着：opdev run 6.5 复测，然后 opdev rounds keep 或 revert", "round {number} is open: `opdev run 6.5` retests it, then `opdev rounds keep` or `revert`"),
    "limit": ("已做 {done} 轮，上限 {limit} 轮", "rounds done: {done} of {limit}"),
    "limit-asked": ("已做 {done} 轮，用户要求到 {limit} 轮", "rounds done: {done}, of {limit} the user asked for"),
    "saved": ("恢复前的状态：{names}", "from before restores: {names}"),
    "state-round": ("Round {number}（{state}）：{idea}", "round {number} ({state}): {idea}"),
    "state-base": ("Round 0：起点", "round 0: the starting point"),
    "state-step": ("Round {number} 的复测 {step}：{result}", "retest {step} of round {number}: {result}"),
    "state-saved": ("{time} 放回别的状态之前", "before another state was put back, {time}"),
    "changed": ("  {number}: {files}", "  {number}: {files}"),
    "more": ("等 {count} 个", "and {count} more"),
}  # fmt: skip


def say(key: str, lang: Lang, **values: object) -> str:
    """A text of the table, filled in."""
    zh, en = _TEXTS[key]
    return (zh if lang == "zh" else en).format(**values)
