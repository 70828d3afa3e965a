"""A design's plan, results and performance as they are typed: what the examples of the pages cannot show."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from opdev.kinds import Place, classify
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.fixes import fix_to_the_end
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

PATH = "custom-ops/ring_allgather/docs/design.md"
BEFORE = "# 设计 🚀\n\n## 1. 接口\n\n每个 PE 都参与。\n\n## 2. Canonical DSL\n\n"
OURS = ("design_plan.", "design_results.", "design_performance.")


@pytest.fixture(scope="module")
def yaml():
    """A whole design without a fault."""
    path = Path(__file__).parents[1] / "design" / "full.py"
    spec = importlib.util.spec_from_file_location("design_full", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.YAML


@pytest.fixture(scope="module")
def selection():
    return Selection(tuple(r for r in store.load() if (r.check or "").startswith(OURS)))


def swapped(text, *pairs):
    for old, new in pairs:
        assert text.count(old) == 1, (old, text.count(old))
        text = text.replace(old, new)
    return text


def markdown(yaml, prefix="", newline="\n", after=""):
    text = BEFORE + "".join(f"{prefix}{line}\n" for line in ["```yaml", *yaml.splitlines(), "```"]) + after
    return text.replace("\n", newline).encode()


def parse(source):
    return File(source, classify(source.path, source.data, in_operator=True), Place("custom-ops"))


def lint(data, selection):
    return Linter().lint(parse(Source(PATH, data)), selection).findings


def names(data, selection):
    return sorted({f.rule.name for f in lint(data, selection)})


def fixed(data, selection, levels=("safe", "unsafe", "suggestion")):
    return fix_to_the_end(Source(PATH, data), lambda s: lint(s.data, selection), parse, levels)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("prefix", ["", "> ", "    "])
def test_a_sound_design_has_no_findings(yaml, selection, prefix, newline):
    assert lint(markdown(yaml, prefix, newline), selection) == []


@pytest.mark.parametrize(
    "typed",
    [
        ("    tail: 不退化为单核，最后一块按实际长度\n", '    tail: "不退化为\n'),
        ("  engine: MTE\n  placement: A\n", "  engi\n"),
        ("    rtol: 0\n    atol: 0\n", "    rtol: [0\n    at\n"),
        ('    - {case: big, shape: "[16M]", category: stress, n_pes: 8}\n', '    - {case: big, shape: "[16M\n'),
        ('    - {case: big, shape: "[16M]", category: stress, n_pes: 8}\n', "    - {case: big, categ\n"),
        ("  baseline_search: 查过 HCCL 与 aclnn\n", "  baseline_sea\n"),
        ("  max_opt_rounds: 5\n", '  max_opt_rounds: "5\n'),
    ],
)  # fmt: skip
def test_while_a_line_is_typed_nothing_else_is_called_missing(yaml, selection, typed):
    assert names(markdown(swapped(yaml, typed)), selection) == []


BROKEN = (
    ("category: stress, n_pes: 8", "category: stress, n_pes: 8, scale: L"),
    ("    tile: 64 KB\n    chunk: 按 tile 切\n", "    tile: 64 KB  # 说明\n"),
    ("    - {name: 写, action: 写给对端}\n", "    - name: 写\n"),
    ("  engine: MTE\n", ""),
    ("data_interface: aclshmemx_mte_put_nbi", "data_interface: aclshmem_put"),
    ("cross_pe_dataplane: aclshmemx_mte_put_nbi", "cross_pe_dataplane: aclshmem_put"),
    ("    rtol: 0\n    atol: 0\n", "    rtol: 0.1\n"),
    ("    - {invariant: 不越界, test_method: file golden, case: all cases}\n", "    - 不越界\n"),
    ("category: functional, n_pes: 2", "category: functionel, n_pes: 2"),
    ("  metric: [e2e_latency_us, kernel_latency_us, ", "  metric: [kernel_latency_us, "),
    ("  baseline: HcclAllGather\n", "  baseline: none\n"),
    ("current >= 80% baseline", "current >= 8% baseline"),
    ("  target_cases: [big]\n  min_scale: 256 MB\n", ""),
    ("  max_opt_rounds: 5\n", "  max_opt_rounds: 50\n"),
)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("prefix", ["", "> ", "    "])
def test_fixes_come_to_an_end_in_every_layout(yaml, selection, prefix, newline):
    data = markdown(swapped(yaml, *BROKEN), prefix, newline)
    once = fixed(data, selection)
    again = fixed(once.data, selection)

    assert not once.broke
    assert not once.fighting
    assert once.data != data
    assert again.data == once.data
    assert (b"\r\n" in once.data) == (newline == "\r\n")
    assert once.data.count(b"\r") == (once.data.count(b"\n") if newline == "\r\n" else 0)
    assert names(once.data, selection) == []
    for text in ("# 说明", "baseline: HcclAllGather", ">= 80%", "max_opt_rounds: 5", "engine: MTE"):
        assert text.encode() in once.data


def test_safe_fixes_alone_only_complete_the_metrics(yaml, selection):
    data = fixed(markdown(swapped(yaml, *BROKEN)), selection, ("safe",)).data
    expected = swapped(
        swapped(yaml, *BROKEN), ("kernel_bus_bandwidth_GBps]", "kernel_bus_bandwidth_GBps, e2e_latency_us]")
    )

    assert data == markdown(expected)


def test_columns_count_characters_whatever_they_are(yaml, selection):
    data = markdown(swapped(yaml, ("tail: 不退化为单核，最后一块按实际长度", "tail: 🚀 余下由单核处理")))
    (finding,) = lint(data, selection)
    line, start, end_line, end = finding.span("utf-16")

    assert data[finding.start : finding.end].decode() == "单核"
    assert end_line == line
    assert end - start == 2
    assert start == len("    tail: 🚀 余下由") + 1


@pytest.mark.parametrize(
    ("kind", "name", "dtypes", "rtol", "atol", "messages", "after"),
    [
        ("transport", "pair_copy", "[fp16]", "0", "0", [], None),
        ("transport", "pair_copy", "[fp16]", "1e-9", "0", ["tolerance-not-zero"], ("0", "0")),
        ("collective", "all_reduce", "[bf16]", "2^-6", "2^-6", [], None),
        ("collective", "all_reduce", "[bf16]", "2^-5", "2^-7", ["tolerance-loose"], ("0.015625", "0.015625")),
        ("collective", "all_reduce", "[int32]", "1", "1", ["tolerance-not-zero"] * 2, ("0", "0")),
        ("collective", "all_reduce", "[fp32, int8]", "1e-4", "1e-4", ["tolerance-for-all"] * 2, ("{float32: 0.0001, int8: 0}",) * 2),
        ("collective", "all_reduce", "[fp32]", "1e-4", "1e-5", ["tolerance-unequal"], ("1e-4", "1e-4")),
        ("collective", "all_reduce", "[fp64]", "0.5", "0.5", [], None),
        ("collective", "all_reduce", "[T]", "0.5", "0.5", [], None),
        ("wrong", "all_reduce", "[fp32]", "0.5", "0.5", ["tolerance-loose"] * 2, ("0.0009765625",) * 2),
    ],
)  # fmt: skip
def test_tolerances_are_the_standards(selection, kind, name, dtypes, rtol, atol, messages, after):
    text = (
        "dsl_version: '0.3'\nmeta: {op_name: %s, op_kind: %s}\nsource:\n  user_confirmations: {op_name: x, dtypes: %s}\n"
        "correctness:\n  oracle: CPU golden\n  tolerance:\n    rtol: %s\n    atol: %s\n"
    )
    chosen = Selection(tuple(r for r in selection.rules if r.name == "tolerance-off-standard"))
    data = markdown(text % (name, kind, dtypes, rtol, atol))

    assert [f.message_key for f in lint(data, chosen)] == messages
    if after is not None:
        assert fixed(data, chosen).data == markdown(text % (name, kind, dtypes, *after))


@pytest.mark.parametrize(("wanted", "severity"), [("true", "error"), ("false", "warning"), ("maybe", "error")])
def test_without_performance_its_keys_can_wait(yaml, selection, wanted, severity):
    text = swapped(
        yaml, ("performance_required: true", f"performance_required: {wanted}"), ("  min_scale: 256 MB\n", "")
    )
    found = [f for f in lint(markdown(text), selection) if f.rule.name == "missing-performance-key"]

    assert [f.severity for f in found] == [severity]


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("`source /opt/cann/set_env.sh`", []),
        ("`source ~/cann/set_env.sh`，已核对", []),
        ('`source "${CANN_SET_ENV}"`', []),
        ("pending", []),
        ("replace_me", []),
        ("", []),
        ("set_env.sh", ["relative-path"]),
        ("`cann/set_env.sh`", ["relative-path"]),
        ("/opt/cann/latest", ["not-set-env"]),
    ],
)  # fmt: skip
def test_the_contracts_cann_is_an_absolute_set_env(yaml, selection, cell, found):
    after = f"\n### 6.1 Compile contract\n\n| 字段 | 值 |\n|---|---|\n| cann_env | {cell} |\n"

    assert [f.message_key for f in lint(markdown(yaml, after=after), selection)] == found


@pytest.mark.parametrize("value", ["|\n    none\n", ">-\n    none\n"])
def test_a_block_of_text_is_not_written_over(yaml, selection, value):
    data = markdown(swapped(yaml, ("  baseline: HcclAllGather\n", f"  baseline: {value}")))
    (finding,) = lint(data, selection)

    assert (finding.rule.name, finding.fix) == ("missing-baseline", None)


def test_what_an_alias_brings_in_is_not_written_over(yaml, selection):
    text = swapped(yaml, ("  max_opt_rounds: 5\n", "  max_opt_rounds: *many\n"))
    text = swapped(text, ("  target_cases: [big]\n", "  target_cases: [&many 90]\n"))
    found = [f for f in lint(markdown(text), selection) if f.rule.name == "opt-rounds-out-of-range"]

    assert [f.fix for f in found] == [None]


def test_keys_that_are_missing_are_one_finding_and_come_in_order(yaml, selection):
    start = yaml.index("performance:\n")
    data = markdown(yaml[:start] + "performance:\n  profiling_method: msprof\n")
    (finding,) = lint(data, selection)
    text = fixed(data, selection).data.decode()
    order = [
        "metric",
        "baseline",
        "baseline_search",
        "baseline_target",
        "target_cases",
        "min_scale",
        "profiling_method",
    ]

    assert finding.rule.name == "missing-performance-key"
    assert data[finding.start : finding.end] == b"performance"
    places = [text.index(f"\n  {key}:") for key in [*order, "max_opt_rounds"]]
    assert places == sorted(places)
