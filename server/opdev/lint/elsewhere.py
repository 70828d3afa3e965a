"""Rows of the catalogue that no rule page stands for, because no text shows them: who holds them instead.

A row that is nobody's would be missing without a word; here each says what looks at it, and when.
"""

from __future__ import annotations

from collections.abc import Mapping

from opdev.rules.model import Text


def _both(zh: str, en: str) -> Text:
    return {"zh": zh, "en": en}


_GIT = _both(
    "由 git 的索引判断（不运行 git）：opdev gate 7 的 upstream-untouched 检查列出 SHMEM 仓库 docs/、include/、src/ 下未提交的改动",
    "git's index shows it (git is not run): check upstream-untouched of `opdev gate 7` lists what is changed and not committed below docs/, include/ and src/ of the SHMEM repository",
)
ELSEWHERE: Mapping[str, Text] = {
    "SH905": _both(
        "由运行记录判断：opdev run 6 在基线之后等满 30 秒；opdev gate 6 的 perf-apart 检查记录下来的间隔",
        "run records show it: `opdev run 6` waits 30 s behind the baseline, and check perf-apart of `opdev gate 6` judges the gap on record",
    ),
    "SH939": _both(
        "报告里的比值由 wrong-ratio 和 number-not-in-log 核对；对比由 opdev perf compare 完成，不需要手写的 perf_compare.py",
        "ratios of reports are checked by wrong-ratio and number-not-in-log; `opdev perf compare` does the comparison, without a perf_compare.py of one's own",
    ),
    "SH93B": _both(
        "由运行记录判断：opdev gate 6 的 perf-after-correctness 检查测量时同一份代码是否已通过用例矩阵",
        "run records show it: check perf-after-correctness of `opdev gate 6` judges whether the same code had passed its case matrix when it was measured",
    ),
    "SH974": _both(
        "对话不在目录里，无从读取；opdev perf show 打印的表和报告取自同一份运行记录，opdev report --check 指出报告落后于记录",
        "a chat lies in no folder and cannot be read; what `opdev perf show` prints and the report are made of the same records, and `opdev report --check` says when the report is behind them",
    ),
    "SH97D": _GIT,
    "SH987": _GIT,
}  # fmt: skip
