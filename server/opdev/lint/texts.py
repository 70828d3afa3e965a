"""What the command line says, in both languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from opdev.lint.formats import Run
from opdev.lint.record import Record
from opdev.rules.model import SEVERITIES, Lang, Rule

_SEVERITY: Mapping[str, tuple[str, str]] = {
    "error": ("错误", "error"),
    "warning": ("警告", "warning"),
    "info": ("提示", "info"),
    "hint": ("建议", "hint"),
}
_TEXTS: Mapping[str, tuple[str, str]] = {
    "clean": ("没有发现问题（{files} 个文件）", "no findings in {files} file{s}"),
    "found": ("{total} 个问题：{parts}", "{total} finding{s}: {parts}"),
    "fixable": ("，其中 {count} 个可用 --fix 自动修复", ", {count} of them fixable with --fix"),
    "baselined": ("；基线中的 {count} 个未列出", "; {count} more are in the baseline"),
    "unreadable": ("{path}：无法检查：{why}", "{path}: not linted: {why}"),
    "not-imported": ("{path}：没有做导入检查：{why}", "{path}: not import-checked: {why}"),
    "no-path": ("{path}：没有这个文件或文件夹", "{path}: no such file or folder"),
    "no-files": ("没有可检查的文件", "there is nothing to lint here"),
    "fixed": ("{path}：已修复 {count} 处（{rules}）", "{path}: fixed {count} ({rules})"),
    "fixed-total": ("共修复 {count} 处，{files} 个文件", "fixed {count} in {files} files"),
    "not-written": ("{path}：未写入：{why}；文件保持原样", "{path}: not written: {why}; the file is as it was"),
    "fix-broke": (
        "{path}:{line}：规则 {rule} 的修复会破坏语法，已撤回；请报告此问题",
        "{path}:{line}: the fix of {rule} would break the syntax and was put back; please report it",
    ),
    "fix-fight": (
        "{path}：规则 {rules} 的修复互相抵消，已停止；请报告此问题",
        "{path}: the fixes of {rules} undo each other, stopped; please report it",
    ),
    "baseline-written": ("已把 {count} 个问题写入基线 {path}", "wrote {count} findings to the baseline {path}"),
    "baseline-stale": (
        "基线 {path} 中有 {count} 个问题已不存在，请用 --write-baseline 更新",
        "{count} findings of the baseline {path} are gone; update it with --write-baseline",
    ),
    "bad-baseline": ("基线 {path} 无法使用：{why}", "the baseline {path} cannot be used: {why}"),
    "no-rule": ("没有名为 {name} 的规则{guess}", "there is no rule {name}{guess}"),
    "decided": ("{row} 没有规则：{why}", "{row} has no rule: {why}"),
    "elsewhere": ("{row}：没有规则页，{by}", "{row} has no page: {by}"),
    "guess": ("；是否想写 {name}？", "; did you mean {name}?"),
    "bad-revision": ("git 无法比较 {rev}：{why}", "git cannot compare with {rev}: {why}"),
    "watching": ("正在监视 {paths}，按 Ctrl-C 结束", "watching {paths}; Ctrl-C ends it"),
    "interrupted": ("已中断", "interrupted"),
    "internal": (
        "opdev-lint 内部错误（{error}）；请附上命令和文件报告此问题",
        "opdev-lint failed ({error}); please report it with the command and the file",
    ),
    "rule-head": ("规则 {name}（{id}），默认级别：{severity}", "rule {name} ({id}), severity {severity}"),
    "covers": ("对应目录条目：{rows}", "catalogue rows: {rows}"),
    "off": (
        '默认关闭；在 opdev.toml 中写 extend-select = ["{name}"] 打开',
        'off by default; `extend-select = ["{name}"]` in opdev.toml turns it on',
    ),
    "off-hint": (
        '默认关闭；在 opdev.toml 中写 extend-select = ["{name}"] 打开，命令行上再加 --level hint 才会列出',
        'off by default; `extend-select = ["{name}"]` in opdev.toml turns it on; --level hint lists it',
    ),
    "others": ("{word} 的其余部分见：{names}", "the rest of {word}: {names}"),
    "off-mark": ("（默认关闭）", " (off by default)"),
    "fix-level": ("自动修复：{level}", "fix: {level}"),
    "init-exists": ("{path} 已存在，未改动", "{path} exists and was left as it is"),
    "init-written": ("已写入 {path}", "wrote {path}"),
}


def say(key: str, lang: Lang, **values: object) -> str:
    """A text of the table, filled in."""
    zh, en = _TEXTS[key]
    return (zh if lang == "zh" else en).format(**values)


def severity_word(severity: str, lang: Lang) -> str:
    """The word for a severity."""
    zh, en = _SEVERITY[severity]
    return zh if lang == "zh" else en


def summary(records: Sequence[Record], lang: Lang, run: Run) -> str:
    """The last line: how many of what, how many fixable."""
    tail = say("baselined", lang, count=run.baselined) if run.baselined else ""
    if not records:
        return say("clean", lang, files=run.files, s="" if run.files == 1 else "s") + tail
    counts = Counter(r.severity for r in records)
    parts = ("、" if lang == "zh" else ", ").join(
        f"{counts[s]} {severity_word(s, lang)}" for s in SEVERITIES if counts[s]
    )
    fixable = sum(r.applicability == "safe" for r in records)
    fix = say("fixable", lang, count=fixable) if fixable else ""
    return say("found", lang, total=len(records), parts=parts, s="" if len(records) == 1 else "s") + fix + tail


def doc_url(rule: Rule) -> str:
    """Where a rule's page can be read; empty for the engine's own."""
    return f"opdev-rule:{rule.name}" if rule.page else ""
