"""Contracts that hold, with one word of them changed: whatever is said of it stands at a word of the document."""

from __future__ import annotations

import json
import random
import re

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.contracts.fields import at
from opdev.contracts.parts import node_at, parts_of, steps_of
from opdev.kinds import classify
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

OP = "/w/custom/demo"
SHA = "sha256:" + "0123456789abcdef" * 4
MACHINE = {
    "schema_version": 1, "op_name": "demo", "formula": "y = α·x + b 🙂", "supported_dtypes": ["float16", "float32"],
    "inputs": [
        {"name": "x", "shape": ["N", "K"], "dtype": "float16", "value_range": [-1, 1]},
        {"name": "b", "shape": ["K"], "dtype": "float32", "value_range": [-1.5, 1.5]}],
    "outputs": [{"name": "y", "shape": ["N", "K // 2 + 1"], "dtype": "float16", "value_range": [-2, 2]}],
    "default_params": {"alpha": 1.0}, "tolerance": {"atol": 0.001, "rtol": 0.001}, "dynamic_axes_ranges": {"N": [1, 4096], "K": [16, 64]},
    "shape_constraints": ["K % 16 == 0"], "perf_target": None,
    "p0_cases": [
        {"name": "对齐", "params": {"alpha": 1.0}, "input_shapes": {"x": [64, 32], "b": [32]}, "output_shapes": {"y": [64, 17]},
         "input_dtypes": {"x": "float16", "b": "float32"}, "output_dtypes": {"y": "float16"}, "input_special_values": {"x": ["nan"]}},
        {"name": "尾块", "params": {"alpha": 0.5}, "input_shapes": {"x": [63, 16], "b": [16]}, "output_shapes": {"y": [63, 9]}}],
}  # fmt: skip
SELECTION = {
    "schema_version": 1, "op": "demo", "class_id": ".", "topologies": ["scan"], "properties": {"is_list": False},
    "optional_patterns": [{"path": "patterns/row.md", "reason": "行内归约", "sha256": SHA}],
    "required_constraints": [{"path": "constraints/vec.md", "reason": "向量", "sha256": SHA}], "no_matching_pattern": False,
}  # fmt: skip
BINDINGS = {"schema_version": 1, "bindings": [
    {"class_id": ".", "selection_field": "optional_patterns", "reference": "patterns/row.md", "selection_reason": "行", "requirements": [
        {"req_id": "R1", "kind": "precondition", "source_anchors": ["§1"], "status": "met", "class_evidence": "一行一核"}]},
    {"class_id": ".", "selection_field": "required_constraints", "reference": "constraints/vec.md", "selection_reason": "向量", "requirements": [
        {"req_id": "R2", "kind": "obligation", "source_anchors": ["§2"], "status": "applies", "invariant": "32 字节对齐",
         "planned_location": "§3 demo_kernel", "verification_method": "test_tail"}]}]}  # fmt: skip
USAGE = {"schema_version": 1, "op": "demo", "class_id": ".", "invariants": [
    {"reference": "constraints/vec.md", "invariant": '[required_constraints: "R2" | ["§2"]] 32 字节对齐', "justification": "tile 宽 64",
     "implementation": {"file": "test_demo.py", "symbol": "demo_kernel", "status": "implemented"}}]}  # fmt: skip
INTERFACES = {
    "schema_version": 1, "op": "demo", "module_count": 2, "has_cross_core": False, "is_fusion": True,
    "primary_inputs": [{"name": "x", "shape": "[N, K]", "dtype": "float16"}, {"name": "b", "shape": "[K]", "dtype": "float32"}],
    "modules": [
        {"id": 1, "name": "归一", "section": "vector", "inputs": [{"name": "x", "source": "primary"}], "outputs": [{"name": "h", "shape": "[N, (K + 1) // 2]", "dtype": "float32"}]},
        {"id": 2, "section": "cube+vector", "golden_stage_fn": "demo_golden_stage12", "inputs": [{"name": "h", "source": "module_1"}], "outputs": [{"name": "y", "shape": "[]", "dtype": "float16"}]}],
    "final_outputs": [{"name": "y", "source": "module_2"}], "composition_verification": {"atol": 0.01, "rtol": 0.01, "seeds": [42, 123], "shapes": []},
}  # fmt: skip
STATE = {
    "operator_name": "demo", "schema_version": "2.2", "max_stage": 5, "current_stage": 4,
    "stage_status": {"1": "completed", "2": "completed", "3": "completed", "4": "in_progress", "5": "pending"}, "stage_retry_count": {"1": 0, "4": 2},
    "stage4_path": "L1", "stage4_modules": {"module_count": 2, "max_cycles_per_module": 10, "module_status": {"1": "verified", "2": "in_debug"}, "active_module": 2},
    "artifact_hashes": {"spec_md": "ab"}, "rollback_history": [{"from_stage": 3, "to_stage": 2, "reason": "golden 错了"}], "备注": "🙂",
}  # fmt: skip
PERFORMANCE = {
    "schema_version": 1,
    "cases": [
        {"id": "对齐", "shape": "[64,32]", "dtype": "float16", "test_function": "test_aligned"},
        {"id": "尾块", "shape": "[63,16]", "dtype": "float16", "test_function": "test_tail"}],
    "optimization_target": {"case_ids": ["对齐", "尾块"], "selection_mode": "all_p0_no_questions"},
}  # fmt: skip
CODE = "import pypto_pro.language as pl\n\n\ndef demo_kernel(x, b):\n    pass\n\n\ndef test_aligned():\n    pass\n\n\ndef test_tail():\n    pass\n"
FILES = {
    "SPEC.md": "# 规格 🙂\n\n```json machine-contract\n"
    + json.dumps(MACHINE, ensure_ascii=False, indent=1)
    + "\n```\n",
    "KB_SELECTION.json": json.dumps(SELECTION, ensure_ascii=False, indent=2),
    "DESIGN_BINDINGS.json": json.dumps(BINDINGS, ensure_ascii=False, indent="\t"),
    "KB_USAGE.json": json.dumps(USAGE, ensure_ascii=True),
    "module_interfaces.yaml": yaml.safe_dump(INTERFACES, allow_unicode=True, sort_keys=False),
    ".orchestrator_state.json": json.dumps(STATE, ensure_ascii=False, indent=2).replace("\n", "\r\n"),
    "PERFORMANCE_CASES.json": json.dumps(PERFORMANCE, ensure_ascii=False, indent=1),
    "test_demo.py": CODE,
    "demo_golden.py": "import torch\n\n\ndef demo_golden(x, b, alpha=1.0):\n    return x\n",
}
NAMES = tuple(n for n in FILES if not n.endswith(".py"))
RULES = tuple(r for r in store.load() if r.family == "pypto-contract" or r.name == "invalid-pypto-state")
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\w.+-]+|[^\s\w]')


def judged(name, text):
    """The file, and what the rules find in it."""
    files = {f"{OP}/{n}": t.encode("utf-8", "surrogatepass") for n, t in {**FILES, name: text}.items()}
    places = Places(lambda path: path in files)
    path = f"{OP}/{name}"
    source = Source.from_disk(path, files[path])
    file = File(source, classify(path, source.data, in_operator=True), places.of(path))
    return file, Linter().lint(file, Selection(RULES, {}), Operator(OP, places, files.get, tuple(files))).findings


def words(file):
    """Where keys and values begin and end; one that is broken has only its place."""
    found = set()
    for part in parts_of(file):
        for node in part.root.walk() if part.root is not None else ():
            for start, end in ((node.start, node.end), (node.key_start, node.key_end)):
                found.add((start + part.start, end + part.start))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_hold(name):
    assert [f.message("en") for f in judged(name, FILES[name])[1] if f.severity in ("error", "warning")] == []


def tokens(name):
    """The words of the part that is a contract."""
    text = FILES[name]
    begin = text.index("```json") + 24 if name == "SPEC.md" else 0
    stop = text.rindex("```") if name == "SPEC.md" else len(text)
    return [m.span() for m in _TOKEN.finditer(text, begin, stop)]


OTHERS = ("", '""', '"demo"', "0", "-1", "1e400", "null", "true", "[]", "{}", '"测试🙂"', "NaN", '"applies"', "{", "]", ",", '"\\ud800"', '"K + M"', '"a', "- x", "2 ** 99")  # fmt: skip


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(NAMES), st.randoms(use_true_random=False), st.sampled_from(OTHERS), st.integers(1, 2))
def test_one_word_changed_is_told_at_words(name, rand, other, times):
    text = FILES[name]
    spans = sorted(rand.sample(tokens(name), times), reverse=True)
    for start, end in spans:
        text = text[:start] + (other or text[start : end - 1]) + text[end:]

    file, found = judged(name, text)

    known = words(file)
    for finding in found:
        assert 0 <= finding.start <= finding.end <= len(file.data)
        assert finding.start < finding.end or not file.data, finding.message("en")
        file.data[finding.start : finding.end].decode("utf-8")
        if finding.message_key not in ("json", "object", "mapping", "second"):
            assert (finding.start, finding.end) in known, (
                finding.message("en"),
                file.data[finding.start : finding.end],
            )
        for edit in finding.fix.edits if finding.fix else ():
            assert 0 <= edit.start <= edit.end <= len(file.data)
            # What is put in is still a text of its kind.
            after = file.data[: edit.start] + edit.text.encode("utf-8", "surrogatepass") + file.data[edit.end :]
            if name.endswith(".json"):
                json.loads(after.decode("utf-8", "surrogatepass"))


def closed_values(name):
    """(bytes of the value, its key) of all values that are one of few."""
    file, _ = judged(name, FILES[name])
    found = []
    for part in parts_of(file):
        for node in part.root.walk():
            field = at(part.contract.top, steps_of(node))
            if (
                node.kind == "scalar"
                and field is not None
                and field.values
                and not field.usual
                and field.kind in ("text", "list")
            ):
                found.append((node.start + part.start, node.end + part.start))
    return file, found


@pytest.mark.parametrize("name", NAMES)
def test_a_misspelt_word_of_few_is_told_at_itself_and_mended(name):
    file, spans = closed_values(name)
    rand = random.Random(name)
    for start, end in rand.sample(spans, min(6, len(spans))):
        word = file.data[start:end]
        if len(word) < 5:
            continue
        letters = [i for i, b in enumerate(word) if chr(b).isalpha()]
        cut = letters[-2]
        wrong = word[:cut] + word[cut + 1 :]
        before = file.source.data[:start] + wrong + file.source.data[end:]

        changed, found = judged(name, before.decode())

        here = [f for f in found if f.start == start and f.end == start + len(wrong)]
        assert here, (word, [f.message("en") for f in found])
        assert any(f.fix is not None and f.fix.edits[0].text.strip('"') == word.decode().strip('"') for f in here), word
        assert node_at(parts_of(changed)[0], start) is not None


def keys(name):
    """(bytes of the key, its word) of keys that must be there."""
    file, _ = judged(name, FILES[name])
    part = parts_of(file)[0]
    return file, [
        (node.key_start + part.start, node.key_end + part.start, node.key)
        for node in part.root.walk()
        if node.key_start >= 0 and (field := at(part.contract.top, steps_of(node))) is not None and field.required and field.key == node.key
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_misspelt_key_is_told_at_itself_and_mended(name):
    file, spans = keys(name)
    rand = random.Random(name)
    for start, end, key in rand.sample(spans, min(5, len(spans))):
        wrong = file.data[start:end].replace(
            key.encode(), key[:-2].encode() + key[-1:].encode() if len(key) > 3 else key.encode() + b"x"
        )
        text = (file.data[:start] + wrong + file.data[end:]).decode()

        _, found = judged(name, text)

        here = [f for f in found if (f.start, f.end) == (start, start + len(wrong))]
        if name == "module_interfaces.yaml" and not here:
            # Not every key of the table is demanded of old files.
            continue
        assert [f.fix.edits[0].text.strip('"') for f in here if f.message_key == "misspelt"] == [key], key
