"""A design's block, meta, source and interface as they are typed: what the examples of the pages cannot show."""

from __future__ import annotations

import copy
import importlib.util
from pathlib import Path

import pytest
import yaml as pyyaml

from opdev.design.model import problems_of
from opdev.kinds import Place, classify
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.fixes import fix_to_the_end
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

PATH = "/w/custom-ops/ring_allgather/docs/design.md"
BEFORE = "# 设计 🚀\n\n## 1. 接口\n\n目标 SoC 已确认。\n\n## 2. Canonical DSL\n\n"
PLACE = Place("custom-ops", "ring_allgather", "/w/custom-ops/ring_allgather", None, "docs/design.md")
MODULES = ("design_block", "design_meta", "design_source", "design_interface", "design_values")
LEVELS = ("safe", "unsafe", "suggestion")


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
    return Selection(tuple(r for r in store.load() if (r.check or "").partition(".")[0] in MODULES))


def markdown(yaml, prefix="", newline="\n"):
    text = BEFORE + "".join(f"{prefix}{line}\n" for line in ["```yaml", *yaml.splitlines(), "```"])
    return text.replace("\n", newline).encode()


def parse(source):
    return File(source, classify(source.path, source.data, in_operator=True), PLACE)


def lint(data, selection):
    return Linter().lint(parse(Source(PATH, data)), selection).findings


def names(findings):
    return sorted({f.rule.name for f in findings})


def fixed(data, selection):
    return fix_to_the_end(Source(PATH, data), lambda s: lint(s.data, selection), parse, LEVELS)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("prefix", ["", "> ", "    "])
def test_a_sound_design_has_no_findings(yaml, selection, prefix, newline):
    assert lint(markdown(yaml, prefix, newline), selection) == []


# What somebody has just typed, and the rules that may speak: the broken place, nothing that follows from it.
HALF_TYPED = [
    ("  op_kind: collective\n", "  op_k\n", ["unreadable-design-yaml"]),
    ("  op_kind: collective\n", '  op_kind: "coll\n', ["unreadable-design-yaml"]),
    ("  target_soc: [ascend910b1]\n", "  target_soc: [asc\n", ["unreadable-design-yaml"]),
    ("    dtypes: [fp16, int32]\n", "    dtypes: [fp16, \n", ["unreadable-design-yaml"]),
    ("  inputs:\n", "  inputs:\n    []\n", ["unreadable-design-yaml"]),
    ("  inputs:\n", "  inputs: []\n", ["unreadable-design-yaml"]),
    ("meta:\n", "meta\n", ["unreadable-design-yaml"]),
    ("  op_name: ring_allgather\n", "  op_name:\n", ["missing-meta-key"]),
    ("  scope: intra_node\n", "  scope: intra\n", ["unknown-meta-value"]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "wanted"), HALF_TYPED)
def test_a_half_typed_line_is_one_finding(yaml, selection, old, new, wanted):
    assert yaml.count(old) == 1
    found = lint(markdown(yaml.replace(old, new)), selection)
    assert names(found) == wanted
    assert len(found) == 1


def test_columns_count_characters_behind_chinese_and_emoji(yaml, selection):
    data = markdown(yaml.replace("role: 本 PE 的数据}", "role: 本 🚀 PE 的数据, 备注: x}"))
    (found,) = lint(data, selection)
    line, start, end_line, end = found.span("utf-32")
    assert (line, end_line) == (data[: found.start].count(b"\n"), line)
    assert data.decode().split("\n")[line][start:end] == "备注"
    assert found.span("utf-16")[1] == start + 1


BROKEN = [
    ("  op_name: ring_allgather\n", "  op_name: Ring-AllGather\n"),
    ("  op_root: custom-ops/ring_allgather\n", "  op_root: custom-ops/ring  # 旧名\n"),
    ("  op_root: custom-ops/ring_allgather\n", ""),
    ("  target_soc: [ascend910b1]\n", "  target_soc: ascend910b1\n"),
    ("  torch_required: false\n", "  torch_required: 'no'\n"),
    ('  docker_container: null\n  docker_workdir: ""\n', "  docker_container: dev\n  docker_workdir: /w\n"),
    ("  performance_required: true\n  performance_auto_optim: false\n", "  performance_required: false\n  performance_auto_optim: true\n"),
    ("  skills_root: /opt/shmem/.agents/skills\n", ""),
    ("    dtypes: [fp16, int32]\n", "    dtypes: []\n"),
    ("    dtypes: [fp16, int32]\n", "    dtypes: [int32]\n"),
    ("      visibility: replicated\n", ""),
    ("  inputs:\n", "  inputs:\n    []\n"),
    ("  inputs:\n", "  inputs: []  # 至少一个\n"),
    ("  summary: 每个 PE 拿到所有 PE 的数据\n", "  summary: 每个 PE: 拿到所有 PE 的数据\n"),
    ("  kind: natural_language\n", "  kind: natural-language\n  kind: natural-language\n"),
    ('dsl_version: "0.3"\n', "dsl_version: 0.3\n"),
    ('dsl_version: "0.3"\n', ""),
    ("semantics:\n", "semantic:\n"),
]  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("old", "new"), BROKEN)
def test_fixes_mend_once_and_keep_line_ends(yaml, selection, old, new, newline):
    assert yaml.count(old) == 1
    data = markdown(yaml.replace(old, new), newline=newline)
    before = lint(data, selection)
    assert any(f.fix for f in before)
    outcome = fixed(data, selection)
    assert not outcome.broke
    assert not outcome.fighting
    assert outcome.data.count(b"\n") == outcome.data.count(newline.encode())
    assert not any(f.fix for f in lint(outcome.data, selection))
    assert fixed(outcome.data, selection).data == outcome.data
    # A template's text waits to be filled in; everything else is mended.
    assert set(names(lint(outcome.data, selection))) <= {"placeholder-left"}


def test_fixes_keep_a_quoted_fence(yaml, selection):
    data = markdown(yaml.replace("  scope: intra_node\n", ""), "> ")
    outcome = fixed(data, selection)
    assert b"> " + b"  scope: " in outcome.data
    assert lint(outcome.data, selection) == []


def test_the_skeleton_of_an_empty_fence_reads(selection):
    data = b"## 2. Canonical DSL\r\n\r\n```yaml\r\n```\r\n\r\n## 3. x\r\n"
    outcome = fixed(data, selection)
    assert outcome.data.count(b"```yaml") == 1
    assert outcome.data.count(b"\n") == outcome.data.count(b"\r\n")
    left = names(lint(outcome.data, selection))
    assert "missing-design-block" not in left
    assert "missing-dsl-section" not in left
    assert "placeholder-left" in left


@pytest.mark.parametrize("text", ["", "# PyPTO 算子\n\nimport pypto\n"])
def test_other_designs_need_no_block(selection, text):
    found = names(lint(text.encode(), selection))
    assert found == ([] if text else ["missing-design-block"])


def paths(data, above=()):
    entries = data.items() if isinstance(data, dict) else list(enumerate(data))[:1] if isinstance(data, list) else ()
    for key, value in entries:
        yield (*above, key)
        yield from paths(value, (*above, key))


@pytest.mark.parametrize("section", ["dsl_version", "meta", "source", "interface", "semantics"])
def test_whatever_is_wrong_with_a_field_some_rule_says_so(yaml, section):
    whole = pyyaml.safe_load(yaml)
    selection = Selection(tuple(r for r in store.load() if "design-doc" in r.kinds))
    silent = []
    for path in paths(whole):
        if path[0] != section:
            continue
        for value in (..., None, {"a": 1}, -7, "zzz", [], ""):
            design = copy.deepcopy(whole)
            inner = design
            for key in path[:-1]:
                inner = inner[key]
            if value is ...:
                del inner[path[-1]]
            else:
                inner[path[-1]] = value
            file = parse(Source(PATH, markdown(pyyaml.safe_dump(design, allow_unicode=True, sort_keys=False))))
            if problems_of(file) and not Linter().lint(file, selection).findings:
                silent.append((path, value, [(p.code, p.path) for p in problems_of(file)]))
    assert silent == []
