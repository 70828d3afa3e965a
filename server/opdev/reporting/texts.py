"""What ``opdev report`` says on the terminal, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from opdev.rules.model import Lang

_TEXTS: Mapping[str, tuple[str, str]] = {
    "help": (
        "由运行记录写报告：docs 下的用例矩阵、正确性、性能报告，走读报告与交付总结里测得的部分；标记之外你自己写的内容不动。退出码：0 已是最新或已写，1（--check）不是最新，2 用法有误。",
        "Write the reports from run records: case matrix, correctness and performance in docs, and the measured parts of review and delivery summary; what you wrote outside the markers stays. Exit status: 0 up to date or written, 1 (--check) out of date, 2 usage.",
    ),
    "check": ("只看报告是否最新，不写", "only say whether the reports are up to date"),
    "only": ("只写这些报告（默认全部）", "only these reports (default: all)"),
    "html": (
        "改为写一个自包含的网页报告：各 PE 精度、误差直方图、带宽、利用率、轮次、门禁、运行记录",
        "write one self-contained HTML page instead: precision per PE, error histograms, bandwidth, utilisation, rounds, gates, runs",
    ),
    "written": ("已写 {path}", "{path} is written"),
    "same": ("{path} 已是最新", "{path} is up to date"),
    "old": ("{path} 不是最新：运行 opdev report", "{path} is not up to date: run `opdev report`"),
    "kept": (
        "{path} 第 {section} 节的标记之内被改过，没有动；要重新生成，删掉那对标记和中间的内容",
        "{path}: section {section} was changed inside its markers and was left alone; to have it again, delete the markers with what is between them",
    ),
    "not-begun": ("{path} 还没有：opdev run {phase} 会起草它", "{path} is not there yet: `opdev run {phase}` begins it"),
    "not-wanted": ("{path}：不做性能评估，不写", "{path}: performance is not evaluated, it is not written"),
    "no-matrix": (
        "没有用例矩阵（scripts/cases.json 或脚本里的列表），用例报告没有写",
        "there is no case matrix (scripts/cases.json, or a list in the script): the reports of cases are not written",
    ),
    "no-runs": (
        "没有矩阵的运行记录，报告里的用例都是“未执行”：先运行 opdev run 4",
        "no run of the matrix is on record, every case is reported as not run: `opdev run 4` first",
    ),
    "simulated": ("结果来自 CPU 模拟，报告里都标明“模拟”", "the results are of the CPU stand-in; the reports mark them 模拟 (simulated)"),
    "no-performance": ("{path} 没有写：没有硬件上的性能数据", "{path} is not written: there are no figures of hardware"),
    "unmeasured": ("没有硬件上的性能数据，性能报告里都写着“未测”", "there are no figures of hardware; the performance report says so everywhere"),
    "html-and-check": ("--html 不能和 --check、--only 一起用", "--html goes with neither --check nor --only"),
}  # fmt: skip


def say(key: str, lang: Lang, **values: object) -> str:
    """A text in one language."""
    zh, en = _TEXTS[key]
    return (zh if lang == "zh" else en).format(**values)
