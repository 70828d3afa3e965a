"""One offence of a design is one finding: what all rules together say of one damage."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from opdev.kinds import Place, classify
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

PATH = "custom-ops/ring_allgather/docs/design.md"
BEFORE = "# 设计\n\n每个 PE 都参与。\n\n## 2. Canonical DSL\n\n"
# What stands around the DSL is missing here altogether.
AROUND = {"missing-design-section"}


@pytest.fixture(scope="module")
def yaml():
    path = Path(__file__).parents[1] / "design" / "full.py"
    spec = importlib.util.spec_from_file_location("design_full", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.YAML


@pytest.fixture(scope="module")
def selection():
    return Selection(tuple(r for r in store.load() if (r.check or "").startswith("design_")))


def lint(yaml, selection, *swaps):
    for old, new in swaps:
        assert yaml.count(old) == 1, old
        yaml = yaml.replace(old, new)
    return run(f"{BEFORE}```yaml\n{yaml}```\n".encode(), selection)


def run(data, selection):
    place = Place("custom-ops")
    findings = Linter().lint(File(Source(PATH, data), classify(PATH, data, in_operator=True), place), selection)
    return [f for f in findings.findings if f.rule.name not in AROUND]


def test_the_whole_one_has_none(yaml, selection):
    assert lint(yaml, selection) == []


@pytest.mark.parametrize(
    ("old", "new", "name", "severity", "told"),
    [
        # A misspelt key is told where it stands, and not as missing too.
        ("  op_name: ring", "  op_nmae: ring", "unknown-design-key", "error", "op_name"),
        ("semantics:\n", "semantic:\n", "unknown-design-key", "error", "semantics"),
        ("  finalize:", "  finalise:", "unknown-design-key", "error", "finalize"),
        ("  group: all", "  grup: all", "unknown-design-key", "error", "group"),
        ("    rationale:", "    rational:", "unknown-design-key", "error", "rationale"),
        ("    tail:", "    tial:", "unknown-design-key", "error", "tail"),
        ("{name: 写, action:", "{name: 写, acton:", "phase-detail", "error", "action"),
        ("type: int, default: 16", "type: int, defalt: 16", "unknown-design-key", "warning", "default"),
        ("  references:", "  reference:", "unknown-design-key", "warning", "references"),
        # What is still open is open, and not wrong besides.
        ("container: null", "container: replace_me", "placeholder-left", "error", "docker_container"),
        ("placement: A", "placement: replace_me", "placeholder-left", "error", "placement"),
        ("type: symmetric", "type: replace_me", "placeholder-left", "error", "type"),
        # A value of the wrong kind says nothing else.
        ("op_name: ring_allgather", "op_name: {a: b}", "wrong-value-type", "error", "op_name"),
        ("rationale: core-allocation 模式 B", "rationale: {a: b}", "wrong-value-type", "error", "rationale"),
        (
            "    cross_pe_dataplane: aclshmemx_mte_put_nbi",
            "    cross_pe_dataplane: {a: b}",
            "wrong-value-type",
            "error",
            "cross_pe_dataplane",
        ),
        ("  result: 各 PE 输入按 PE 号拼接", "  result: {a: b}", "wrong-value-type", "error", "result"),
        ("  group: all_pes", "  group: {a: b}", "wrong-topology-value", "warning", "应该是文本"),
        ("type: symmetric", "type: symetrik", "unknown-buffer-type", "warning", "symetrik"),
        ("baseline: HcclAllGather", "baseline: {a: b}", "missing-baseline", "error", "应该是文本"),
        ("placement: A", "placement: C", "unstated-engine", "warning", "“C”"),
        (
            "  result: 各 PE 输入按 PE 号拼接",
            "  result: [all parts, in order]",
            "english-description",
            "info",
            "result",
        ),
    ],
)
def test_one_offence_is_one_finding(yaml, selection, old, new, name, severity, told):
    found = lint(yaml, selection, (old, new))

    assert [(f.rule.name, f.severity) for f in found] == [(name, severity)]
    assert told in found[0].message("zh")
    assert "{" not in found[0].message("en").replace("{a", "")


def test_a_number_is_no_english(yaml, selection):
    assert lint(yaml, selection, ("  finalize: 等齐全部信号", "  finalize: 7")) == []


def test_an_unknown_mode_is_not_told_to_be_no_pipeline(yaml, selection):
    swaps = ("op_kind: collective", "op_kind: fused_compute_comm"), ("    mode: B", "    mode: 轮流")
    names = {f.rule.name for f in lint(yaml, selection, *swaps)}

    assert "unknown-partition-mode" in names
    assert "fused-without-pipeline" not in names


def test_an_empty_schedule_lacks_no_engine_besides(yaml, selection):
    start, end = yaml.index("schedule:\n"), yaml.index("correctness:\n")

    assert [f.rule.name for f in lint(yaml[:start] + "schedule:\n" + yaml[end:], selection)] == ["missing-dsl-section"]


def test_what_a_message_cites_of_a_long_value_says_that_there_is_more(yaml, selection):
    swaps = (("rationale: core-allocation 模式 B", "rationale: " + "按经验取值" * 20),)
    (found,) = lint(yaml, selection, *swaps)

    assert "按经验取值…”" in found.message("zh")


@pytest.mark.parametrize(
    ("gone", "told"),
    [
        ("  peer_model: 每个 PE 与其余所有 PE\n", "谁与谁通信"),
        ("  intra_node_links_per_npu: 7\n", "带宽上限"),
        ("  output_ownership: 各 PE 写自己的一段\n", "哪个 PE 写"),
        ("  symmetric_layout: 依次申请\n", "对称地址"),
        ("  invariants:\n    - {invariant: 不越界, test_method: file golden, case: all cases}\n", "缺少 invariants"),
    ],
)
def test_what_is_missing_says_what_that_does(yaml, selection, gone, told):
    (found,) = lint(yaml, selection, (gone, ""))

    assert told in found.message("zh")


def test_an_open_cell_is_open_and_nothing_else(yaml, selection):
    data = f"{BEFORE}```yaml\n{yaml}```\n\n### 6.1 Compile contract\n\n| 字段 | 值 |\n|---|---|\n| cann_env | [CANN 的 set_env.sh 的绝对路径] |\n"
    found = run(data.encode(), selection)

    assert [f.rule.name for f in found if "set_env" in f.message("zh")] == ["placeholder-left"]


def test_a_column_that_is_missing_says_nothing_of_the_classes(yaml, selection):
    table = "| Requirement | Classification | Adaptation / Gap | Risk |\n|---|---|---|---|\n| 同步（sync） | aclshmemx_signal_op | 可复用 | 无 | 低 |\n"
    found = run(f"{BEFORE}```yaml\n{yaml}```\n\n## 3. Capability\n\n{table}".encode(), selection)

    assert {f.rule.name for f in found if f.rule.name in ("malformed-capability-table", "unknown-gap-class")} == {
        "malformed-capability-table"
    }


def test_a_row_whose_name_is_a_list_is_one_row(yaml, selection):
    table = "| Check | Result | Fix or rationale |\n|---|---|---|\n"
    found = run(f"{BEFORE}```yaml\n{yaml}```\n\n## 5. Review\n\n{table}".encode(), selection)

    assert any("“tile、chunk、tail”、" in f.message("zh") for f in found)


@pytest.mark.parametrize(
    ("old", "rule"),
    [
        ("  result: 各 PE 输入按 PE 号拼接", "wrong-value-type"),
        ("    rationale: core-allocation 模式 B", "wrong-value-type"),
        ("    cross_pe_dataplane: aclshmemx_mte_put_nbi", "wrong-value-type"),
        ("  shmem_repo: /opt/shmem", "wrong-value-type"),
        ("  op_root: custom-ops/ring_allgather", "wrong-value-type"),
        ("  placement: A", "unstated-engine"),
        ("  baseline: HcclAllGather", "missing-baseline"),
    ],
)
def test_true_is_no_text_and_nothing_else(yaml, selection, old, rule):
    yaml = yaml.replace(f"{old}\n", f"{old.partition(':')[0]}: true\n")

    assert [f.rule.name for f in lint(yaml, selection)] == [rule]


def test_an_engine_nobody_knows_is_told_even_beside_a_call_that_tells(yaml, selection):
    (found,) = lint(yaml, selection, ("  engine: MTE", "  engine: warp"))

    assert (found.rule.name, found.message_key) == ("unstated-engine", "unknown-engine")


def test_a_tolerance_for_dtypes_of_several_standards_is_mended_at_once(yaml, selection):
    swaps = [
        ("op_kind: collective", "op_kind: fused_compute_comm"), ("dtypes: [fp16, int32]", "dtypes: [fp16, fp32]"),
        ("    rtol: 0\n", "    rtol: 7\n"), ("    atol: 0\n", "    atol: 7\n"),
    ]  # fmt: skip
    found = [f for f in lint(yaml, selection, *swaps) if f.rule.name == "tolerance-off-standard"]
    data = found[0].source.data
    for edit in sorted((e for f in found for e in f.fix.edits), key=lambda e: -e.start):
        data = data[: edit.start] + edit.text.encode() + data[edit.end :]

    assert {f.message_key for f in found} == {"tolerance-loose"}
    assert [
        f for f in run(data, selection) if f.rule.name in ("tolerance-off-standard", "unreadable-design-yaml")
    ] == []
