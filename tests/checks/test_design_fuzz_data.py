"""A sound design mutated at random: the rules of data and schedule never raise, their places and fixes stay inside."""

from __future__ import annotations

import importlib.util
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from mutations import mutants

from opdev.kinds import Place, classify
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.fixes import apply_edits
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

PATH = "custom-ops/ring_allgather/docs/design.md"
PIECES = [
    "", "\n", "\r\n", "  ", "\t", ":", ": ", "- ", "[", "]", "{", "}", ",", "'", '"', "#", "|", "&a ", "*a", "<<: ", "---\n", "```\n", "> ",
    "| a | b |\n", "中文", "🚀", "\ufeff", "\x00", "replace_me", "null", "0", "-1", "1e9", "0..15", "[0, aiv_num)", "n_pes", "A", "C1", "CoC",
    "mode: A\n", "groups: []\n", "signal", "aclshmemx_rdma_put_nbi", "aclshmem_x", "all_pes", "both", "fullmesh", "symmetric", "compute",
    "fused_compute_comm", "topology:\n", "schedule:\n", "  core_partition: {}\n", "  buffers:\n", "memory: [1]\n",
]  # fmt: skip


def design():
    path = Path(__file__).parents[1] / "design" / "full.py"
    spec = importlib.util.spec_from_file_location("design_full", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return f"# 设计 🚀\n\n## 2. Canonical DSL\n\n```yaml\n{module.YAML}```\n\n## 3. 能力\n\n| 需求 | 来源 |\n|---|---|\n| 传输 | aclshmemx_mte_put_nbi |\n"


TEXT = design()


@pytest.fixture(scope="module")
def selection():
    ours = ("design_data.", "design_schedule.")
    return Selection(tuple(r for r in store.load() if (r.check or "").startswith(ours)))


def findings_of(data, selection):
    source = Source(PATH, data)
    return Linter().lint(File(source, classify(PATH, data, in_operator=True), Place()), selection).findings


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=mutants(TEXT, PIECES))
def test_nothing_raises_and_places_stay_inside(selection, data):
    for finding in findings_of(data, selection):
        assert finding.rule.name != "internal-error", finding.message("en")
        assert 0 <= finding.start <= finding.end <= len(data)
        for lang in ("zh", "en"):
            assert "{" not in finding.message(lang).replace(str(finding.args.get("value", "")), "")
            assert not finding.message(lang).startswith("[")
        for other in finding.related:
            assert 0 <= other.start <= other.end <= len(data)
        edits = finding.fix.edits if finding.fix else ()
        places = sorted((e.start, e.end) for e in edits)
        assert all(0 <= start <= end <= len(data) for start, end in places)
        assert all(a[1] <= b[0] for a, b in pairwise(places))
        if edits:
            findings_of(apply_edits(data, edits), selection)
