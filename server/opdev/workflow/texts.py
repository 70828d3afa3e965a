"""What `opdev state` and `opdev hook` say, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from opdev.rules.model import Lang

_TEXTS: Mapping[str, tuple[str, str]] = {
    "state-help": (
        """查看 PyPTO 算子的状态文件，或按流程推进它：不合规矩的改动一律拒绝并说明原因，写入是原子的。
退出码：0 完成，1 拒绝（没有写入），2 用法有误。""",
        """Look at the state file of a PyPTO operator, or move it on: what the workflow does not allow is refused with the
reason, and the file is replaced whole. Exit status: 0 done, 1 refused (nothing written), 2 usage.""",
    ),
    "action": ("做什么：{names}", "what to do: {names}"),
    "what": ("阶段号、M_k、模块号或哈希的名称", "a stage, a phase like M1, a module, or the name of a hash"),
    "hash": ("record-hash 的值", "the value for record-hash"),
    "op": ("算子目录，默认当前目录", "the operator's folder (default: the current one)"),
    "workflow": ("init：哪种流程（默认按目录里的文件判断）", "init: which workflow (default: by the files of the folder)"),
    "again": ("init：已有完成的阶段也重新开始", "init: begin again although stages are completed"),
    "reason": ("rollback 的原因", "why it is rolled back"),
    "category": ("失败类别", "category of the failure"),
    "boundary": ("出错的模块边界", "the module boundary that fails"),
    "error": ("最后的错误信息", "the last error"),
    "phase-of": ("rollback：从哪个 M_k 退回", "rollback: the phase it comes from"),
    "fusion": ("plan-modules：L1，N 个模块", "plan-modules: L1 with N modules"),
    "single": ("plan-modules：L0，不拆分", "plan-modules: L0, one piece"),
    "file": ("record-hash：记这个文件的 SHA-256", "record-hash: the SHA-256 of this file"),
    "dry-run": ("只判断，不写入", "only judge, write nothing"),
    "format": ("输出格式", "format of the output"),
    "lang": ("文字的语言", "language of texts"),
    "no-folder": ("{path}：没有这个目录", "{path}: no such folder"),
    "want-number": ("{what} 不是数字", "{what} is no number"),
    "want-target": ("说明退到第几阶段：rollback N --reason …", "say which stage to go back to: rollback N --reason …"),
    "hash-or-file": ("HASH 和 --file 只给一个", "give HASH or --file, not both"),
    "done": ("已完成 {action}", "{action}: done"),
    "would": ("可以 {action}（没有写入）", "{action}: allowed (nothing written)"),
    "retries": ("重试 {n} 次", "{n} retries"),
    "phases": ("子阶段", "phases"),
    "modules": ("模块", "modules"),
    "allowed": ("现在可以", "may be done now"),
    "bad-config": ("配置不可用：{why}", "the configuration cannot be used: {why}"),
    "hook-help": (
        "代理的编辑器钩子：从标准输入读 JSON，按约定的格式回答。stop 和 pre-commit 在不该结束时退出码为 2",
        "Hooks for an agent's editor: JSON on standard input, an answer in the agreed shape. stop and pre-commit end with 2 where work must not end yet",
    ),
    "compat-help": (
        "现有 PyPTO 检查器的选项，用 opdev 的规则判断。退出码：0 通过，2 有阻断问题或用法有误",
        "The options of the existing PyPTO linter, judged by opdev's rules. Exit status: 0, or 2 for what blocks and for wrong usage",
    ),
    "check-gate": ("判断一个阶段的门禁（默认）", "judge the gate of a stage (default)"),
    "check-phase-gate": ("判断一个 M_k", "judge one phase"),
    "check-module-gate": ("判断一个模块（PyPTO-Pro）", "judge one module (PyPTO-Pro)"),
    "check-design-gate": ("判断设计", "judge the design"),
    "lint-group": ("只判断这一组规则", "judge this group of rules alone"),
    "compat-stage": ("阶段，默认 5（PyPTO-Pro 为 4）", "the stage (default: 5, PyPTO-Pro's 4)"),
    "compat-phase": ("子阶段，如 M1", "the phase, like M1"),
    "compat-module": ("模块号", "the module's number"),
    "compat-no-stage": ("没有第 {stage} 阶段：有 1 到 {last}", "there is no stage {stage}: they are 1 to {last}"),
    "compat-need-phase": ("--check-phase-gate 要用 --phase 说明子阶段，如 M1", "--check-phase-gate needs --phase, like M1"),
    "compat-need-module": ("--check-module-gate 要用 --module 说明模块号", "--check-module-gate needs --module"),
    "compat-module-stage": ("模块属于第 4 阶段：--stage 写 4 或不写", "modules are of stage 4: give --stage 4, or none"),
    "compat-no-state": ("没有状态文件，看不出有哪些模块：先 opdev state init", "there is no state file to say which modules there are: `opdev state init` first"),
    "compat-no-module": ("没有模块 {n}：状态文件里有 {count} 个", "there is no module {n}: the state file has {count}"),
    "compat-no-files": ("没有第 {n} 部分的文件：先写出它", "there are no files of part {n}: write them first"),
    "need-op-dir": ("用 --op-dir 指明算子目录", "name the operator's folder with --op-dir"),
    "hook-input": ("输入不能用（{why}），只认其中写明的路径", "the input cannot be used ({why}): only a path that stands in it counts"),
    "hook-no-path": ("输入里没有 tool_input.file_path，不判断", "no tool_input.file_path in the input: nothing is judged"),
    "hook-blocked": ("有 {n} 个问题必须先改：", "to be mended first ({n}):"),
    "hook-more": ("……另有 {n} 个", "… and {n} more"),
    "hook-footer": ("请用编辑工具改文件，不要用 shell 绕过检查", "mend the files with the edit tool; do not go round the check with a shell"),
    "hook-failed": ("opdev 出错，这一步没有判断：见标准错误，修复前不放行", "opdev failed and judged nothing: see standard error; it does not pass before that is mended"),
    "hook-config": ("改正 opdev.toml", "mend opdev.toml"),
    "hook-frozen": ("SPEC.md 在第 1 阶段后冻结：后面的产物都按它做", "SPEC.md is frozen after stage 1: everything after it was made by it"),
    "hook-rollback": ("先 opdev state rollback 1 --reason …", "`opdev state rollback 1 --reason …` first"),
    "hook-state": (
        "状态文件不能直接改：用 opdev state（它检查流程并原子写入）",
        "the state file is not edited by hand: use `opdev state`, which checks the workflow and writes it whole",
    ),
    "hook-mend-state": ("改正状态文件", "mend the state file"),
    "verdict-precision_fail": ("精度不达标：先查实现，不要放宽容差", "precision missed: look at the implementation, leave the tolerance"),
    "verdict-precision_pass": ("精度达标", "precision holds"),
    "verdict-runtime_error": ("运行出错：先看报错", "it failed to run: read the error first"),
    "verdict-no_marker": ("输出里没有精度结论，不能算通过", "the output has no verdict on precision: it is no pass"),
    "spec-changed": ("SPEC.md 与冻结时不同", "SPEC.md is not what was frozen"),
}  # fmt: skip


def say(key: str, lang: Lang, **values: object) -> str:
    """A text of the table, filled in."""
    zh, en = _TEXTS[key]
    return (zh if lang == "zh" else en).format(**values)
