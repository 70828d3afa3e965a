"""What the batch verifier says of cases."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, tuple[str, str]] = {
    # Selection.
    "c-no-bench": (
        "没有用例文件夹 {path}；用 bench_dir（或 --bench-dir）给出 level1 等所在的文件夹",
        "there is no folder of cases {path}; name the folder that has level1 and so on with bench_dir (or --bench-dir)",
    ),
    "c-nothing-selected": (
        "cases 没有选中任何东西；写成 level1=19_ReLU、level1=1:40 或 level1=（整个 level）",
        "cases selects nothing; write level1=19_ReLU, level1=1:40 or level1= (the whole level)",
    ),
    "c-no-equals": (
        "cases 里的 {piece!r} 缺少“=”；写成 level=用例，例如 level1=19_ReLU，整个 level 写 level1=",
        "{piece!r} in cases has no '='; write level=cases, like level1=19_ReLU, or level1= for the whole level",
    ),
    "c-no-level-name": (
        "cases 里的 {piece!r} 在“=”之前没有 level 文件夹名",
        "{piece!r} in cases has no folder of a level before its '='",
    ),
    "c-level-twice": (
        "cases 里 {level} 写了两次；把它的用例写在一处，用逗号分开",
        "cases names {level} twice; write its cases in one place, with commas between them",
    ),
    "c-no-level": (
        "{path} 下没有文件夹 {level}；现有：{there}",
        "there is no folder {level} in {path}; there are: {there}",
    ),
    "c-empty-level": ("{path} 里没有 .py 用例", "there is no .py case in {path}"),
    "c-bad-range": (
        "{level} 的范围 {piece!r} 要写成“数字:数字”，例如 1:40",
        "the range {piece!r} of {level} has to be number:number, like 1:40",
    ),
    "c-range-down": (
        "{level} 的范围 {piece!r} 是倒的；写成 {turned}",
        "the range {piece!r} of {level} runs downwards; write {turned}",
    ),
    "c-unknown-cases": (
        "{level} 里没有用例 {cases}；现有：{there}",
        "{level} has no case {cases}; there are: {there}",
    ),
}  # fmt: skip
