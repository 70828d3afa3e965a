"""What is offered and explained at a place of a contract, however much of it is written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.contracts.explain import explained
from opdev.contracts.offer import offered
from opdev.kinds import classify
from opdev.project.operators import Operator
from opdev.project.places import Places
from opdev.source import Source
from opdev.syntax.file import File

OP = "/w/custom/demo"
SPEC = "# 规格 😀\n\n```json machine-contract\n{}\n```\n\n## 说明\n"
SELECTION = json.dumps({
    "schema_version": 1, "op": "demo", "class_id": ".", "topologies": ["scan"], "properties": {},
    "optional_patterns": [{"path": "patterns/row.md", "reason": "行", "sha256": "sha256:" + "0" * 64}],
    "required_constraints": [{"path": "constraints/vec.md", "reason": "向量", "sha256": "sha256:" + "1" * 64}], "no_matching_pattern": False,
}, ensure_ascii=False)  # fmt: skip
INTERFACES = """op: demo
module_count: 2
primary_inputs:
  - {name: x, shape: "[N]", dtype: float16}
modules:
  - id: 1
    name: 归一
    section: ‸
    inputs:
      - name: x
        source: primary
    outputs:
      - {name: y, shape: "[N]", dtype: float32}
  - id: 2
    inputs:
      - {name: y, source: ‹}
    outputs: [{name: z, dtype: bool}]
final_outputs: [{name: z, source: module_2}]
"""


def operator(files):
    places = Places(lambda path: path in files or path == f"{OP}/.orchestrator_state.json")
    return Operator(OP, places, files.get, tuple(files)), places


def begun(name, text, others=()):
    """A file of an operator, and the byte where ``‸`` stood."""
    at = text.index("‸") if "‸" in text else len(text)
    text = text.replace("‸", "")
    path = f"{OP}/{name}"
    files = {path: text.encode(), **{f"{OP}/{n}": t.encode() for n, t in dict(others).items()}}
    project, places = operator(files)
    source = Source.from_disk(path, files[path])
    file = File(source, classify(path, source.data, in_operator=True), places.of(path))
    return file, len(text[:at].encode()), project


def labels(name, text, others=()):
    file, at, project = begun(name, text, others)
    found = offered(file, at, project)
    return [o.label for o in found.items] if found is not None else []


def applied(name, text, label, others=()):
    """The text after taking an offer."""
    file, at, project = begun(name, text, others)
    found = offered(file, at, project)
    offer = next(o for o in found.items if o.label == label)
    return (file.data[: found.start] + offer.text.encode() + file.data[found.end :]).decode()


def test_keys_that_are_missing_come_first_and_those_there_are_do_not_come():
    found = labels("KB_SELECTION.json", '{\n  "op": "demo",\n  ‸\n}\n')

    assert found[:3] == ["schema_version", "class_id", "topologies"]
    assert "op" not in found


def test_a_key_behind_the_place_is_not_offered_again():
    assert "op" not in labels("KB_SELECTION.json", '{\n  "‸\n  "op": "demo"\n}\n')


def test_a_key_comes_with_a_value_to_begin_with():
    assert (
        applied("KB_SELECTION.json", '{\n  "no‸\n}\n', "no_matching_pattern") == '{\n  "no_matching_pattern": true\n}\n'
    )


def test_a_key_that_has_its_colon_is_replaced_alone():
    text = '{"kin‸": 1}'

    assert applied("KB_USAGE.json", text, "op") == '{"op": 1}'


@pytest.mark.parametrize(
    ("name", "text", "has", "lacks"),
    [
        ("DESIGN_BINDINGS.json", '{"bindings": [{"requirements": [{"kind": "‸"}]}]}', ["obligation", "precondition"], ["met"]),
        ("DESIGN_BINDINGS.json", '{"bindings": [{"requirements": [{"status": ‸}]}]}', ["met", "applies"], ["obligation"]),
        ("DESIGN_BINDINGS.json", '{"bindings": [{"‸"}]}', ["reference", "requirements"], ["kind", "bindings"]),
        ("KB_SELECTION.json", '{"topologies": ["scan", "‸"]}', ["row-reduction", "cube-matmul"], []),
        ("KB_SELECTION.json", '{"no_matching_pattern": ‸}', ["true", "false"], []),
        (".orchestrator_state.json", '{"max_stage": 5, "stage_status": {"1": "‸"}}', ["in_progress", "not_started", "blocked"], ["verified"]),
        (".orchestrator_state.json", '{"max_stage": 5, "stage_status": {"‸": "pending"}}', ["1", "5"], ["6", "status"]),
        (".orchestrator_state.json", '{"stage5_phases": {"phase_status": {"M1": {"status": "‸"}}}}', ["awaiting_verify", "in_debug"], ["completed"]),
        (".orchestrator_state.json", '{"stage4_path": "‸"}', ["L0", "L1"], []),
        ("KB_USAGE.json", '{"invariants": [{"implementation": {"status": "‸"}}]}', ["implemented", "deviated"], ["verified"]),
        ("KB_USAGE.json", '{"op": "demo"} ‸', [], ["op"]),
        ("PERFORMANCE_CASES.json", '{"cases": [{"‸"}]}', ["id", "shape", "dtype", "test_function"], ["cases"]),
        ("PERFORMANCE_CASES.json", '{"optimization_target": {"selection_mode": "‸"}}', ["single_p0", "all_p0_no_questions"], []),
        ("PERFORMANCE_CASES.json", '{"cases": [{"id": "a"}, {"id": "b"}], "optimization_target": {"case_ids": ["a", "‸"]}}', ["a", "b"], ["single_p0"]),
        ("KB_USAGE.json", '{"op" ‸', [], ["op"]),
    ],
)  # fmt: skip
def test_values_are_those_of_the_key(name, text, has, lacks):
    found = labels(name, text)

    assert set(has) <= set(found)
    assert not set(lacks) & set(found)


@pytest.mark.parametrize(
    ("inner", "has", "lacks"),
    [
        ('{"supported_dtypes": ["‸"]}', ["bfloat16", "float16"], ["fp16"]),
        ('{"tolerance": {"‸"}}', ["policy", "atol", "rtol"], ["mare_matrix"]),
        ('{"tolerance": {"policy": "‸"}}', ["pro_scheme_a"], []),
        ('{"inputs": [{"name": "x", "shape": ["N", "M+1"]}], "p0_cases": [{"input_shapes": {"‸"}}]}', ["x"], ["y"]),
        ('{"inputs": [{"name": "x", "shape": ["N", "M+1"]}], "dynamic_axes_ranges": {"‸"}}', ["N", "M"], ["x"]),
        ('{"default_params": {"alpha": 1}, "p0_cases": [{"params": {"‸"}}]}', ["alpha"], []),
        ('{"inputs": [{"dtype": "‸"}]}', ["int8", "float32"], []),
        ('{"inputs": [{‸}]}', ["name", "shape", "dtype", "value_range"], ["formula"]),
    ],
)  # fmt: skip
def test_the_machine_contract_of_a_spec(inner, has, lacks):
    found = labels("SPEC.md", SPEC.replace("{}", inner))

    assert set(has) <= set(found)
    assert not set(lacks) & set(found)


def test_a_block_nobody_closed_yet_is_completed_too():
    assert "formula" in labels("SPEC.md", "# 规格\n\n```json machine-contract\n{\n  ‸")
    assert not labels("SPEC.md", SPEC + "\n正文 ‸")


def test_front_matter_has_the_keys_of_its_document():
    assert "p0_shapes" in labels("SPEC.md", "---\nop_name: demo\n‸\n---\n# pypto\n")
    assert labels("DESIGN.md", "---\nop_name: demo\n‸\n---\n# pypto\n") == ["schema_version", "dynamic_axes"]
    assert "bfloat16" in labels("SPEC.md", "---\nsupported_dtypes: [‸]\n---\n# pypto\n")
    assert "rtol" in labels("SPEC.md", "---\ntolerance: {atol: 0.001, ‸}\n---\n# pypto\n")


def test_modules_take_from_those_before_them():
    text = INTERFACES.replace("‸", "vector").replace("‹", "‸")

    assert labels("module_interfaces.yaml", text) == ["primary", "module_1"]


def test_a_modules_section_has_few_values():
    assert labels("module_interfaces.yaml", INTERFACES.replace("‹", "module_1")) == ["cube", "vector", "cube+vector"]
    written = applied("module_interfaces.yaml", INTERFACES.replace("‹", "module_1"), "cube+vector")
    assert "section: cube+vector\n" in written


def test_bindings_know_what_was_selected():
    text = '{"bindings": [{"reference": "‸"}]}'

    assert labels("DESIGN_BINDINGS.json", text, {"KB_SELECTION.json": SELECTION}) == [
        "patterns/row.md",
        "constraints/vec.md",
    ]


def test_the_record_knows_files_and_symbols_of_the_code():
    code = {"test_demo.py": "import pypto_pro.language as pl\n\nTILE = 64\n\n\ndef demo_kernel(x):\n    pass\n"}
    use = '{"invariants": [{"implementation": {"file": "%s", "symbol": "%s"}}]}'

    assert labels("KB_USAGE.json", use % ("‸", ""), code) == ["test_demo.py"]
    assert labels("KB_USAGE.json", use % ("test_demo.py", "‸"), code) == ["TILE", "demo_kernel"]


def test_performance_cases_know_the_specs_names_and_the_tests_that_take_nothing():
    others = {
        "SPEC.md": SPEC.replace("{}", '{"p0_cases": [{"name": "对齐"}, {"name": "尾块"}]}'),
        "test_demo.py": "import pypto_pro.language as pl\n\n\ndef test_aligned():\n    pass\n\n\ndef test_each(n):\n    pass\n",
    }

    assert labels("PERFORMANCE_CASES.json", '{"cases": [{"id": "‸"}]}', others) == ["对齐", "尾块"]
    assert labels("PERFORMANCE_CASES.json", '{"cases": [{"test_function": "‸"}]}', others) == ["test_aligned"]
    assert (
        told("PERFORMANCE_CASES.json", '{"optimization_target": {"selection_mode": "single‸_p0"}}', "en")[0].count(
            "one P0 case"
        )
        == 1
    )


def test_anchors_are_those_of_the_document_that_is_named(tmp_path):
    root = tmp_path / "custom" / "demo"
    kb = tmp_path / ".agents" / "skills" / "pypto-pro-op-kb" / "constraints"
    kb.mkdir(parents=True)
    root.mkdir(parents=True)
    (kb / "vec.md").write_text("# 向量\n\n## 32 字节对齐\n\n## Tail mask\n", encoding="utf-8")
    path = root / "DESIGN_BINDINGS.json"
    text = '{"bindings": [{"reference": "constraints/vec.md", "requirements": [{"source_anchors": ["‸"]}]}]}'
    path.write_text(text.replace("‸", ""), encoding="utf-8")
    (root / ".orchestrator_state.json").write_text("{}", encoding="utf-8")
    where = path.as_posix()
    source = Source.from_disk(where, path.read_bytes())
    file = File(source, classify(where, source.data, in_operator=True), Places().of(where))

    found = offered(file, text.index("‸"), Operator(root.as_posix(), Places()))

    assert [o.label for o in found.items] == ["向量", "32 字节对齐", "Tail mask"]


def told(name, text, lang="zh"):
    file, at, _ = begun(name, text)
    found = explained(file, at, lang)
    return (found.text, file.data[found.start : found.end].decode()) if found is not None else ("", "")


def test_a_key_is_explained_with_its_meaning_its_values_and_its_source():
    text, word = told("DESIGN_BINDINGS.json", '{"bindings": [{"selection_‸field": "x"}]}', "en")

    assert word == '"selection_field"'
    assert "required" in text
    assert "`optional_patterns`, `required_constraints`" in text
    assert "PyPTO-Pro workflow, DESIGN_BINDINGS.json" in text


def test_a_value_is_explained_by_itself():
    text, word = told(".orchestrator_state.json", '{"stage_status": {"1": "block‸ed"}}')

    assert word == '"blocked"'
    assert "做不下去" in text


def test_units_and_limits_are_told():
    text, _ = told("SPEC.md", SPEC.replace("{}", '{"dynamic_axes_ran‸ges": {"N": [1, 2]}}'), "en")

    assert "in elements" in text
    assert told("SPEC.md", SPEC.replace("{}", '{"dynamic_axes_ranges": {"‸N": [1, 2]}}'), "en")[1] == '"N"'
    assert told("module_interfaces.yaml", "modules:\n  - sect‸ion: cube\n")[1] == "section"
    assert told("KB_USAGE.json", '{"unkno‸wn": 1}') == ("", "")


NAMES = ("KB_SELECTION.json", "DESIGN_BINDINGS.json", "KB_USAGE.json", "module_interfaces.yaml", ".orchestrator_state.json", "SPEC.md", "DESIGN.md", "PERFORMANCE_CASES.json")  # fmt: skip
PIECES = ("{", "}", "[", "]", '"', ":", ",", "\n", "  ", "- ", "op", '"bindings"', '"modules": [{', "modules:\n  - id: 1\n    ", "测试🙂",
          '"status": "', "source: ", "```json machine-contract\n", "```\n", "---\n", "\\", "\t", '"inputs": [{"name": "x", "shape": ["N"]}]')  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(NAMES), st.lists(st.sampled_from(PIECES), max_size=25), st.integers(0, 200))
def test_any_text_is_answered_in_its_place(name, pieces, cut):
    text = "".join(pieces)
    cut = cut % (len(text) + 1)
    file, at, project = begun(name, text[:cut] + "‸" + text[cut:])

    found = offered(file, at, project)
    if found is not None:
        assert 0 <= found.start <= at <= found.end <= len(file.data)
        assert b"\n" not in file.data[found.start : found.end]
    meaning = explained(file, at, "en")
    if meaning is not None:
        assert 0 <= meaning.start <= at <= meaning.end <= len(file.data)
