"""A sound design mutated at random: the rules of block, meta, source and interface never raise, their places and fixes stay inside."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from mutations import mutants

from opdev.kinds import Place, classify
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.fixes import apply_edits
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

PATH = "custom-ops/ring_allgather/docs/design.md"
PLACE = Place("custom-ops", "ring_allgather", "custom-ops/ring_allgather", "/opt/shmem", "docs/design.md")
PIECES = [
    "", "\n", "\r\n", "  ", "\t", ":", ": ", "- ", "[", "]", "{", "}", ",", "'", '"', "#", "|", "&a ", "*a", "<<: ", "---\n", "```\n", "> ",
    "| a | b |\n", "中文", "🚀", "\ufeff", "\x00", "replace_me", "[说明]", "null", "0", "-1", "true", "yes", "'no'", "@x", "    []\n", "[]",
    "meta:\n", "meta: {}\n", "dsl_version: 0.3\n", "  op_name: A-b\n", "  scope: inter-node\n", "docker_container: dev\n", "dtype: fp8",
    "interface: [1]\n", "source:\n", "```yaml\ndsl_version: 0.3\nmeta: 1\n```\n", "phase0_intake:\n  op_name: b\n", "user_pseudocode",
]  # fmt: skip


def design():
    path = Path(__file__).parents[1] / "design" / "full.py"
    spec = importlib.util.spec_from_file_location("design_full", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return f"# 设计 🚀\n\n## 2. Canonical DSL\n\n```yaml\n{module.YAML}```\n\n### 1.3 假设\n\n| 类型 | 内容 |\n|---|---|\n| assumption | [说明] |\n\n## 3. 能力\n\n| 需求 | 来源 |\n|---|---|\n| 传输 | aclshmemx_mte_put_nbi |\n"


TEXT = design()


@cache
def selection():
    ours = ("design_block.", "design_meta.", "design_source.", "design_interface.", "design_values.")
    return Selection(tuple(r for r in store.load() if (r.check or "").startswith(ours)))


def findings_of(data):
    source = Source(PATH, data)
    return Linter().lint(File(source, classify(PATH, data, in_operator=True), PLACE), selection()).findings


@settings(max_examples=150, deadline=None)
@given(data=mutants(TEXT, PIECES))
def test_nothing_raises_and_places_stay_inside(data):
    for finding in findings_of(data):
        assert finding.rule.name != "internal-error", finding.message("en")
        assert 0 <= finding.start <= finding.end <= len(data)
        for lang in ("zh", "en"):
            template = finding.rule.messages[finding.message_key][lang]
            assert set(re.findall(r"\{(\w+)\}", template)) <= set(finding.args)
            assert not finding.message(lang).startswith("[")
        for other in finding.related:
            assert 0 <= other.start <= other.end <= len(data)
        edits = finding.fix.edits if finding.fix else ()
        places = sorted((e.start, e.end) for e in edits)
        assert all(0 <= start <= end <= len(data) for start, end in places)
        assert all(a[1] <= b[0] for a, b in pairwise(places))
        if edits:
            findings_of(apply_edits(data, edits))
