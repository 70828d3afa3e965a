"""What a design says of its schedule, as it is typed: what the examples of the pages cannot show."""

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
    return Selection(tuple(r for r in store.load() if (r.check or "").startswith("design_schedule.")))


def markdown(yaml, prefix="", newline="\n"):
    lines = ["# 设计 🚀", "", "## 2. Canonical DSL", ""]
    lines += [prefix + line for line in ["```yaml", *yaml.splitlines(), "```"]]
    return "".join(line + newline for line in lines).encode()


def parse(source):
    return File(source, classify(source.path, source.data, in_operator=True), Place())


def lint(data, selection):
    return Linter().lint(parse(Source(PATH, data)), selection).findings


def names(findings):
    return sorted({f.rule.name for f in findings})


def fixed(data, selection, levels=("safe", "unsafe", "suggestion")):
    return fix_to_the_end(Source(PATH, data), lambda s: lint(s.data, selection), parse, levels)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("prefix", ["", "> ", "    "])
def test_a_sound_design_has_no_findings(yaml, selection, prefix, newline):
    assert lint(markdown(yaml, prefix, newline), selection) == []


GROUPS = (
    '    groups:\n      - {name: all, aiv_range: "0..15", role: "core_per_rank = 16 / n_pes", '
    "data_interface: aclshmemx_mte_put_nbi}\n"
)
DAMAGE = [
    ("    overlap: 并行\n", "", "incomplete-core-partition"),
    (GROUPS, "    groups: []  # 待补\n", "incomplete-core-partition"),
    (GROUPS, "    groups:\n", "incomplete-core-partition"),
    (", data_interface: aclshmemx_mte_put_nbi}", "}", "incomplete-core-partition"),
    ("    mode: B\n", "    mode: coc  # 流水\n", "unknown-partition-mode"),
    ("    cross_pe_dataplane: aclshmemx_mte_put_nbi\n", "    cross_pe_dataplane: 用aclshmemx_rdma_put_nbi写\n", "api-not-in-shmem"),
    ("type: int, default: 16", "type: int, default: 64", "more-cores-than-soc"),
]  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("prefix", ["", "> "])
@pytest.mark.parametrize(("old", "new", "name"), DAMAGE)
def test_fixing_ends_and_keeps_the_layout(yaml, selection, old, new, name, prefix, newline):
    assert yaml.count(old) == 1
    data = markdown(yaml.replace(old, new), prefix, newline)
    outcome = fixed(data, selection)

    assert name in names(lint(data, selection))
    assert not outcome.broke
    assert not outcome.fighting
    assert name not in names(lint(outcome.data, selection))
    lines = outcome.data.decode().split(newline)
    assert not any("\r" in line or "\n" in line for line in lines)
    body = lines[lines.index(prefix + "```yaml") + 1 : lines.index(prefix + "```")]
    assert all(line.startswith(prefix) for line in body)
    assert data.decode().count("#") == outcome.data.decode().count("#")
    assert fixed(outcome.data, selection).data == outcome.data


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("prefix", ["", "> "])
def test_the_schedule_is_put_in_order_unasked(yaml, selection, prefix, newline):
    tiling = yaml[yaml.index("  tiling:\n") : yaml.index("  phases:\n")]
    turned = yaml.replace(tiling, "").replace("  core_partition:\n", f"{tiling}  core_partition:\n")
    data = markdown(turned, prefix, newline)

    assert names(lint(data, selection)) == ["schedule-out-of-order"]
    assert fixed(data, selection, ("safe",)).data == markdown(yaml, prefix, newline)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    overlap: 并行\n", "    over\n"),
        ("    overlap: 并行\n", '    overlap: "并行\n'),
        ("    overlap: 并行\n", "    overlap: [并行\n"),
        ("    mode: B\n", "    mode: 'B\n"),
        (', role: "core_per_rank = 16 / n_pes"', ', role: "core_per'),
        ("  tiling:\n", "  til\n"),
    ],
)
def test_a_key_half_typed_is_not_called_missing(yaml, selection, old, new):
    assert yaml.count(old) == 1

    assert "incomplete-core-partition" not in names(lint(markdown(yaml.replace(old, new)), selection))


def test_places_count_characters(yaml, selection):
    line = "    cross_pe_dataplane: aclshmemx_mte_put_nbi\n"
    text = '    cross_pe_dataplane: "🚀先写aclshmem_put_nbi，再等"\n'
    (found,) = lint(markdown(yaml.replace(line, text)), selection)

    assert found.source.data[found.start : found.end] == b"aclshmem_put_nbi"
    assert found.span("utf-16")[1::2] == (29, 45)
    assert found.span("utf-32")[1::2] == (28, 44)


def test_modes_in_words_have_their_conditions(yaml, selection):
    data = markdown(yaml.replace("    mode: B\n", "    mode: 模式 C1（收发对半）\n").replace("n_pes: 8", "n_pes: 3"))
    (found,) = lint(data, selection)

    assert found.rule.name == "indivisible-cores"
    assert "16" in found.message("zh")
    assert "3" in found.message("en")


def test_names_in_many_cells_are_looked_up_once(yaml, selection):
    rows = "| 传输 | aclshmemx_mte_put_nby | 可复用 |\n" * 300
    table = f"\n## 3. 能力\n\n| 需求 | 来源 | 分类 |\n|---|---|---|\n{rows}".encode()

    assert len(lint(markdown(yaml) + table, selection)) == 300


def test_a_message_is_one_line(yaml, selection):
    text = "    rationale: |\n      充分并行\n      性能更好\n"
    (found,) = lint(markdown(yaml.replace("    rationale: core-allocation 模式 B\n", text)), selection)

    assert "充分并行 性能更好" in found.message("zh")
    assert "\n" not in found.message("en")
