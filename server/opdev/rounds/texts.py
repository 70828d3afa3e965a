"""What rounds say to people, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from opdev.rounds.errors import Refused
from opdev.rounds.verdict import Verdict
from opdev.rules.model import Lang, Text

_TEXTS: Mapping[str, tuple[str, str]] = {
    "unreadable": ("{path} 读不了（{why}），没有做快照，什么都没有改", "{path} cannot be read ({why}): no snapshot was made, nothing was changed"),
    "too-large": (
        "算子自己的文件超过 {limit} MB（最多的是 {path}，到此已 {size:.0f} MB），没有做快照，什么都没有改。把数据放进 data/ 或 output/（快照不管它们），或调大设置 run.rounds-megabytes",
        "the operator's own files are more than {limit} MB (most of it in {path}: {size:.0f} MB so far): no snapshot was made, nothing was changed. Put data into data/ or output/, which snapshots leave alone, or raise the setting run.rounds-megabytes",
    ),
    "too-many": (
        "算子自己的文件超过 {limit} 个（最多的是 {path}），没有做快照，什么都没有改。把生成的文件放进 data/、output/ 或 build/",
        "the operator has more than {limit} files of its own (most of them in {path}): no snapshot was made, nothing was changed. Put generated files into data/, output/ or build/",
    ),
    "damaged": ("快照不完整：{path}（{why}），什么都没有改", "the snapshot is damaged: {path} ({why}); nothing was changed"),
    "special": ("{path} 现在既不是文件也不是目录或链接，不能放回快照里的文件；先移走它", "{path} is now neither file, folder nor link, and the snapshot's file cannot be put there; move it away first"),
    "no-state": ("没有状态 {name}。用轮次号（2）、复测号（2.1）或 opdev rounds 列出的 before-…", "there is no state {name}. Name a round (2), a retest (2.1), or a before-… that `opdev rounds` lists"),
    "no-round": ("没有 Round {number}；opdev rounds 列出全部", "there is no round {number}; `opdev rounds` lists them"),
    "no-rounds": ('还没有轮次。先运行 opdev run 6 测 Round 0，再 opdev rounds start "一项机制改动"', 'there are no rounds yet. Measure Round 0 with `opdev run 6`, then `opdev rounds start "one mechanism"`'),
    "open-already": ("Round {number} 还开着（{idea}）：先 opdev run 6.5 复测，再 opdev rounds keep 或 opdev rounds revert", "round {number} is open ({idea}): retest it with `opdev run 6.5`, then `opdev rounds keep` or `opdev rounds revert`"),
    "none-open": ('没有开着的轮次；opdev rounds start "一项机制改动" 开一轮', 'no round is open; `opdev rounds start "one mechanism"` opens one'),
    "limit-default": ("已经到 {limit} 轮的上限。要再做第 {number} 轮，须由用户明确提出：加 --max-rounds {number}", "{limit} rounds are the limit. Round {number} takes the user's word: add --max-rounds {number}"),
    "limit-design": ("design.md 的 max_opt_rounds 是 {limit}，第 {number} 轮超出了。要再做，加 --max-rounds {number}", "max_opt_rounds in design.md is {limit}, and this would be round {number}. To go on, add --max-rounds {number}"),
    "limit-asked": ("已经到所要求的 {limit} 轮。再做第 {number} 轮，加 --max-rounds {number}", "the {limit} rounds asked for are done. For round {number}, add --max-rounds {number}"),
    "no-idea": ('Round {number} 没有写机制改动：opdev rounds start "一项机制改动" 补上', 'round {number} names no mechanism: `opdev rounds start "one mechanism"` adds it'),
    "unchanged": ("Round {number} 没有改任何代码，没有可保留的；opdev rounds revert 结束它", "round {number} changed no code, there is nothing to keep; `opdev rounds revert` ends it"),
    "not-retested": ("现在的代码没有复测过，不能保留：先 opdev run 6.5", "the present code was not retested and cannot be kept: `opdev run 6.5` first"),
    "keep-red": ("复测 {number}.{step} 的正确性没有通过，不能保留：改好再 opdev run 6.5，或 opdev rounds revert", "retest {number}.{step} failed on correctness and cannot be kept: mend it and `opdev run 6.5` again, or `opdev rounds revert`"),
    "keep-untested": ("{number}.{step} 只测了性能，没有复测正确性，不能保留：先 opdev run 6.5", "{number}.{step} was only measured, its correctness was not retested: `opdev run 6.5` first"),
    "keep-payload": ("复测 {number}.{step} 的 payload 与前面的轮次不同，没有可比性，不能保留：恢复同样的用例再 opdev run 6.5", "retest {number}.{step} moved another payload than the rounds before it and cannot be compared or kept: measure the same case with `opdev run 6.5`"),
    "keep-parameters": ("复测 {number}.{step} 的 PE 数、dtype 或元素数与前面的轮次不同，没有可比性，不能保留：用同样的参数再 opdev run 6.5", "retest {number}.{step} used other PEs, dtype or count than the rounds before it and cannot be compared or kept: `opdev run 6.5` with the same ones"),
    "busy": ("运行 {run} 正在使用这个算子；等它结束，或 opdev stop", "run {run} is using this operator; wait for it, or `opdev stop`"),
    "verdict-red": ("正确性没有通过：撤回", "correctness failed: take it back"),
    "verdict-untested": ("没有复测正确性，不下结论", "correctness was not retested: no verdict"),
    "verdict-payload": ("payload 与前面的轮次不同，没有可比性，不下结论", "another payload than the rounds before it: not comparable, no verdict"),
    "verdict-parameters": ("PE 数、dtype 或元素数与前面的轮次不同，没有可比性，不下结论", "other PEs, dtype or count than the rounds before it: not comparable, no verdict"),
    "verdict-unmeasured": ("正确性通过；没有测到性能，快慢不下结论", "correct; nothing was measured, no verdict on speed"),
    "verdict-simulated": ("正确性通过；性能是模拟的，快慢不下结论", "correct; simulated: no verdict on speed"),
    "verdict-no-reference": ("正确性通过；没有可比的基准（Round 0 没有测过），快慢不下结论", "correct; there is nothing to compare with (Round 0 was not measured), no verdict on speed"),
    "verdict-gain": ("kernel_bus {gain:+.1f}%，超过噪声 {noise:.1f}%：保留", "kernel_bus {gain:+.1f} %, more than the noise of {noise:.1f} %: keep"),
    "verdict-noise": ("kernel_bus {gain:+.1f}%，没有超过噪声 {noise:.1f}%：撤回", "kernel_bus {gain:+.1f} %, within the noise of {noise:.1f} %: take it back"),
    "verdict-slower": ("kernel_bus {gain:+.1f}%，变慢（噪声 {noise:.1f}%）：撤回", "kernel_bus {gain:+.1f} %, slower (noise {noise:.1f} %): take it back"),
    "state-base": ("起点", "base"),
    "state-open": ("进行中", "open"),
    "state-kept": ("保留", "kept"),
    "state-reverted": ("撤回", "reverted"),
    "correct-pass": ("PASS", "PASS"),
    "correct-fail": ("FAIL", "FAIL"),
    "correct-none": ("—", "—"),
    "sim": ("模拟", "sim"),
}  # fmt: skip


def text(key: str, **values: object) -> Text:
    """A text of the table in both languages, filled in."""
    zh, en = _TEXTS[key]
    return {"zh": zh.format(**values), "en": en.format(**values)}


def say(key: str, lang: Lang, **values: object) -> str:
    """A text of the table in one language."""
    return text(key, **values)[lang]


def refusal(error: Refused) -> Text:
    """Why something was not done."""
    values = {k: v.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") if isinstance(v, str) else v for k, v in error.values.items()}  # fmt: skip
    return text(error.key, **values)


def verdict(found: Verdict) -> Text:
    """A verdict with its reason."""
    return text(f"verdict-{found.code}", gain=(found.gain or 0.0) * 100, noise=(found.noise or 0.0) * 100)
