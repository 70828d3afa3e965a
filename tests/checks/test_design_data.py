"""What a design says of its data, as it is typed: what the examples of the pages cannot show."""

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
    return Selection(tuple(r for r in store.load() if (r.check or "").startswith("design_data.")))


def markdown(yaml, prefix="", newline="\n"):
    text = BEFORE + "".join(f"{prefix}{line}\n" for line in ["```yaml", *yaml.splitlines(), "```"])
    return text.replace("\n", newline).encode()


def parse(source, profile="custom-ops"):
    return File(source, classify(source.path, source.data, in_operator=True), Place(profile))


def lint(data, selection, profile="custom-ops"):
    return Linter().lint(parse(Source(PATH, data), profile), selection).findings


def names(findings):
    return sorted({f.rule.name for f in findings})


def fixed(data, selection, levels=("safe", "unsafe", "suggestion")):
    return fix_to_the_end(Source(PATH, data), lambda s: lint(s.data, selection), parse, levels)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("prefix", ["", "> ", "    "])
def test_a_sound_design_has_no_findings(yaml, selection, prefix, newline):
    assert lint(markdown(yaml, prefix, newline), selection) == []


DAMAGE = [
    ("  communication: 每个 PE 把数据写给其余所有 PE\n", "", "missing-semantics"),
    ("  peer_model: 每个 PE 与其余所有 PE\n", "", "missing-topology"),
    ("  deployment: intra_node\n", "  deployment:\n", "missing-topology"),
    ("  intra_node_topology: full-mesh\n", "  intra_node_topology: fullmesh  # 八卡\n", "wrong-topology-value"),
    ("  scope: intra_node\n", "  scope: both\n", "missing-inter-node-link"),
    ("  symmetric_layout: 依次申请\n", "", "missing-memory-plan"),
    ("name: flags, type: signal/state, size", "name: tmp, type: local, size", "signal-without-buffer"),
    ("name: output, type: symmetric", "name: output, type: output", "no-symmetric-buffer"),
    ("name: output, type: symmetric", "name: output, type: symetric", "unknown-buffer-type"),
]


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
    assert lint(outcome.data, selection) == []
    lines = outcome.data.decode().split(newline)
    assert not any("\r" in line or "\n" in line for line in lines)
    body = lines[lines.index(prefix + "```yaml") + 1 : lines.index(prefix + "```")]
    assert all(line.startswith(prefix) for line in body)
    assert data.decode().count("#") == outcome.data.decode().count("#")
    assert fixed(outcome.data, selection).data == outcome.data


def test_only_another_spelling_is_fixed_unasked(yaml, selection):
    yaml = yaml.replace("full-mesh", "Full_Mesh").replace("addressing: symmetric_memory", "addressing: remote")
    outcome = fixed(markdown(yaml), selection, ("safe",))

    assert b"intra_node_topology: full-mesh" in outcome.data
    assert b"addressing: remote" in outcome.data


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  peer_model: 每个 PE 与其余所有 PE\n", "  peer\n"),
        ("  peer_model: 每个 PE 与其余所有 PE\n", "  peer_model: '每个 PE\n"),
        ("  peer_model: 每个 PE 与其余所有 PE\n", "  peer_model: [每个 PE,\n"),
        ("  finalize: 等齐全部信号\n", "  fin\n"),
        ("  finalize: 等齐全部信号\n", '  finalize: "等齐\n'),
        ("  symmetric_layout: 依次申请\n", "  symm\n"),
        ("    - {name: flags, type: signal/state, size: 4 KB}\n", "    - {name: flags, ty\n"),
        ("    - {name: flags, type: signal/state, size: 4 KB}\n", "    - name: flags\n      ty\n"),
    ],
)
def test_a_key_half_typed_is_not_called_missing(yaml, selection, old, new):
    assert yaml.count(old) == 1
    found = names(lint(markdown(yaml.replace(old, new)), selection))

    assert not [name for name in found if name.startswith("missing-")]


def test_places_count_characters(yaml, selection):
    line = "  addressing: symmetric_memory\n"
    (found,) = lint(markdown(yaml.replace(line, "  addressing: 🚀直连\n")), selection)

    assert found.source.data[found.start : found.end].decode() == "🚀直连"
    assert found.span("utf-16")[1::2] == (14, 18)
    assert found.span("utf-32")[1::2] == (14, 17)


def test_a_section_brought_in_by_an_alias_is_not_edited(yaml, selection):
    begin, end = yaml.index("semantics:\n"), yaml.index("topology:\n")
    yaml = yaml[:begin] + "semantics: &s\n  local_compute: 无计算\n" + yaml[end:] + "compile: *s\n"
    findings = lint(markdown(yaml), selection)

    assert names(findings) == ["missing-semantics"]
    assert fixed(markdown(yaml), selection).data.count(b"finalize") == 1


@pytest.mark.parametrize(("profile", "found"), [("custom-ops", True), ("in-tree", False), ("skill-text", False)])
def test_designs_of_operators_are_judged_and_no_others(yaml, selection, profile, found):
    data = markdown(yaml.replace("  peer_model: 每个 PE 与其余所有 PE\n", ""))

    assert bool(lint(data, selection, profile)) is found
