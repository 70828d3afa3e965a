"""A sound design whose lines, values and bytes were damaged: the rules of plan and results never raise, all they name stays inside."""

from __future__ import annotations

import importlib.util
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opdev.kinds import Place, classify
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.fixes import apply_edits
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

PATH = "custom-ops/ring_allgather/docs/design.md"
VALUES = [
    "", '""', "null", "[]", "{}", "[[]]", "{a: {b: []}}", "replace_me", "true", "-1", "0", "1e999", ".nan", "0x10", "2^-900", "2^-8", "'2^-8'",
    "{float16: 0.1, int32: x}", "none", "metric_only", "60%", "0.0.1%", "单核", "单核 单核", "小数据", "host put", "placement A", "RDMA", "B", "*a",
    "&a 1", "|\n      x", ">-\n      单核\n      二", '"a\\u0041单核"', "'it''s'", "for peer in x: get", "Functional", "stress", "[16M]", "中文🚀",
    "{case: x}", "- y", "user-custom", "relative/set_env.sh", "/opt/cann", "rank_patern", "[latency_us]", "fused_compute_comm", "transport",
]  # fmt: skip
TAIL = "\n## 5. 设计评审\n\n| a | b |\n|---|---|\n| 瓶颈 | x |\n\n### 6.1 编译契约\n\n| 字段 | 值 |\n|---|---|\n| cann_env | set_env.sh |\n"
COMPILE = "compile:\n  cann_set_env: /opt/set_env.sh\n  cann_source_mode: default_system\n"


def lines():
    path = Path(__file__).parents[1] / "design" / "full.py"
    spec = importlib.util.spec_from_file_location("design_full", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return (module.YAML + COMPILE).splitlines()


LINES = lines()
rewritten = st.tuples(st.integers(0, len(LINES) - 1), st.sampled_from(VALUES))
dropped = st.sets(st.integers(0, len(LINES) - 1), max_size=6)
cuts = st.tuples(
    st.integers(0, 6000),
    st.integers(0, 8),
    st.sampled_from(["", "\n", "🚀", '"', "[", "{", "\x00", "\r", "```\n", "- "]),
)


def damaged(rewrites, drops, cut, crlf):
    out = list(LINES)
    for index, value in rewrites:
        key, colon, _ = out[index].partition(":")
        out[index] = f"{key}{colon} {value}"
    yaml = "\n".join(line for index, line in enumerate(out) if index not in drops)
    text = f"# 设计 🚀\n\n## 2. Canonical DSL\n\n```yaml\n{yaml}\n```\n{TAIL}"
    for at, drop, piece in cut:
        text = text[:at] + piece + text[at + drop :]
    return (text.replace("\n", "\r\n") if crlf else text).encode()


@pytest.fixture(scope="module")
def selection():
    ours = ("design_plan.", "design_results.", "design_performance.")
    return Selection(tuple(r for r in store.load() if (r.check or "").startswith(ours)))


def findings_of(data, selection):
    source = Source(PATH, data)
    return Linter().lint(File(source, classify(PATH, data, in_operator=True), Place()), selection).findings


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(rewritten, max_size=5), dropped, st.lists(cuts, max_size=2), st.booleans())
def test_nothing_raises_and_places_stay_inside(selection, rewrites, drops, cut, crlf):
    data = damaged(rewrites, drops, cut, crlf)
    for finding in findings_of(data, selection):
        assert finding.rule.name != "internal-error", finding.message("en")
        assert 0 <= finding.start <= finding.end <= len(data)
        for lang in ("zh", "en"):
            assert not finding.message(lang).startswith("[")
            assert not finding.fix_title(lang).startswith("[")
        for other in finding.related:
            assert 0 <= other.start <= other.end <= len(data)
        edits = finding.fix.edits if finding.fix else ()
        places = sorted((e.start, e.end) for e in edits)
        assert all(0 <= start <= end <= len(data) for start, end in places)
        assert all(a[1] <= b[0] for a, b in pairwise(places))
        if edits:
            findings_of(apply_edits(data, edits), selection)
