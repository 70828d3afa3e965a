"""Contracts of any content, whole and cut off: every rule gives findings in the file and none fails."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.kinds import classify
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

OP = "/w/custom/demo"
RULES = tuple(r for r in store.load() if r.family == "pypto-contract" or r.name == "invalid-pypto-state")
KEYS = (
    "schema_version", "op", "class_id", "topologies", "properties", "optional_patterns", "required_constraints", "path",
    "reason", "sha256", "no_matching_pattern", "bindings", "selection_field", "reference", "requirements", "req_id", "kind",
    "status", "source_anchors", "invariant", "invariants", "implementation", "file", "symbol", "justification", "modules",
    "primary_inputs", "final_outputs", "outputs", "inputs", "name", "source", "dtype", "id", "module_count", "section",
    "formula", "supported_dtypes", "shape", "value_range", "default_params", "tolerance", "p0_cases", "params", "input_shapes",
    "output_shapes", "dynamic_axes_ranges", "shape_constraints", "atol", "rtol", "policy", "op_name", "cases", "test_function", "optimization_target", "case_ids", "selection_mode",
)  # fmt: skip
WORDS = ("demo", ".", "", " ", "../x", "patterns/a.md", "sha256:" + "0" * 64, "obligation", "applies", "verified", "module_1",
         "module_9999", "primary.x", "float32", "测试🙂", "a\tb", "x\u2028y", "{{OP_NAME}}", "test_demo.py", "N", "2*(N+1)")  # fmt: skip
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(WORDS)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=25,
)  # fmt: skip
TOP = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=10) | VALUES
NAMES = (
    "KB_SELECTION.json", "DESIGN_BINDINGS.json", "KB_USAGE.json", "module_interfaces.yaml", "SPEC.md", "PERFORMANCE_CASES.json",
)  # fmt: skip


def judged(name, text, others=()):
    files = {f"{OP}/{name}": text.encode("utf-8", "surrogatepass"), **dict(others)}
    places = Places(lambda path: path in files or path == f"{OP}/.orchestrator_state.json")
    operator = Operator(OP, places, files.get, tuple(files))
    path = f"{OP}/{name}"
    source = Source.from_disk(path, files[path])
    file = File(source, classify(path, source.data, in_operator=True), places.of(path))
    assert file.kind
    found = Linter().lint(file, Selection(RULES, {}), operator).findings
    for finding in found:
        assert finding.rule.name in {rule.name for rule in RULES}, finding.message("en")
        assert 0 <= finding.start <= finding.end <= len(source.data)
        assert finding.message("zh") != ""
        assert "{" not in finding.message("en").replace("{…}", "").replace("{{OP_NAME}}", "") or "{" in text
    return found


def written(name, value):
    if name.endswith(".yaml"):
        return yaml.safe_dump(value, allow_unicode=True)
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return f"# 规格\n\n```json machine-contract\n{text}\n```\n" if name == "SPEC.md" else text


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), TOP, st.integers(0, 400), st.booleans())
def test_any_content_is_judged_in_its_place(name, value, cut, whole):
    text = written(name, value)
    selection = {
        f"{OP}/KB_SELECTION.json": b'{"optional_patterns": [{"path": "patterns/a.md"}], "required_constraints": 3}'
    }
    judged(
        name,
        text if whole else text[: cut % (len(text) + 1)],
        selection.items() if name == "DESIGN_BINDINGS.json" else (),
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text", ["", "\ufeff{}", "null", "[" * 3000, "{" * 3000, '{"a": NaN}', "\x00", "a: &x [*x]", "{}\r\n", "9" * 6000]
)
def test_odd_files_are_judged(name, text):
    judged(name, text if name != "SPEC.md" else f"```json machine-contract\n{text}\n```\n")


def test_the_rules_are_there():
    assert {rule.id for rule in RULES} >= {"PK101", "PK102", "PK103", "PK104", "PK105"}
