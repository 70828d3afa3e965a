"""What the batch verifier says, in both languages: the tables of its parts put together."""

from __future__ import annotations

from collections.abc import Mapping

from opdev.bench import batch_texts, case_texts, report_texts, verify_texts
from opdev.rules.model import Lang, Text

_TEXTS: Mapping[str, tuple[str, str]] = {
    "help": (
        "成批验证 KernelBench 形式的用例：生成、验证、监视、汇总。",
        "Verify a batch of cases in the form of KernelBench: generate, verify, watch, sum up.",
    ),
    "h-lang": ("输出语言", "the language of the output"),
    "h-cases": ("列出选中的用例和它们的要求", "list the cases selected, and what they ask for"),
    "h-run": ("生成并验证一批用例", "generate and verify a batch of cases"),
    "h-stop": ("停止一批", "end a batch"),
    "h-verify": ("验证一个实现", "verify one implementation"),
    "h-check": ("静态检查一个实现有没有作弊", "look for cheating in one implementation, without running it"),
    "h-monitor": ("看着一批进行", "watch a batch"),
    "h-report": ("由证据重新汇总一批，并核对", "sum a batch up again from its evidence, and check it"),
    "os": ("{path}：{why}", "{path}: {why}"),
    **case_texts.TEXTS, **batch_texts.TEXTS, **verify_texts.TEXTS, **report_texts.TEXTS,
}  # fmt: skip


def say(key: str, lang: Lang, **values: object) -> str:
    """One text, filled."""
    zh, en = _TEXTS[key]
    return (zh if lang == "zh" else en).format(**values)


def both(key: str, **values: object) -> Text:
    """One text in both languages, filled."""
    return {"zh": say(key, "zh", **values), "en": say(key, "en", **values)}
