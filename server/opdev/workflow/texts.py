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
    "spec-changed": ("SPEC.md 与冻结时不同", "SPEC.md is not what was frozen"),
}  # fmt: skip


def say(key: str, lang: Lang, **values: object) -> str:
    """A text of the table, filled in."""
    zh, en = _TEXTS[key]
    return (zh if lang == "zh" else en).format(**values)
