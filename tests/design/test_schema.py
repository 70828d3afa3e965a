"""The JSON Schema agrees with the models, the skeleton with the schema, the corpus with both."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml

from opdev.design.model import validate
from opdev.design.schema import schema, skeleton, template
from opdev.design.walk import all_fields, field, keys_at

CORPUS = Path(__file__).parents[1] / "corpus" / "clean" / "custom-ops"
DESIGNS = sorted(CORPUS.glob("*/docs/design.md"))


def judge(data):
    checker = jsonschema.Draft202012Validator(schema())
    return sorted(".".join(map(str, e.absolute_path)) + ": " + e.message for e in checker.iter_errors(data))


def test_the_schema_is_one_and_takes_a_whole_design(full):
    jsonschema.Draft202012Validator.check_schema(schema())

    assert judge(full().root.data()) == []


@pytest.mark.parametrize(
    "swap",
    [("op_kind: collective", "op_kind: x"), ("  oracle: file golden\n", ""), ("torch_required: false", "torch_required: x"), ("max_opt_rounds: 5", "max_opt_rounds: 9"), ("  engine:", "  engin:")],
)  # fmt: skip
def test_the_schema_refuses_what_validation_refuses(full, swap):
    doc = full(swap)

    assert judge(doc.root.data())
    assert validate(doc)


@pytest.mark.parametrize("path", DESIGNS, ids=lambda p: p.parts[-3])
def test_the_corpus_is_of_this_dsl(document, path):
    doc = document(path.read_bytes())

    assert doc.faults == []
    assert validate(doc) == []
    assert judge(doc.root.data()) == []


def test_the_corpus_was_found():
    assert len(DESIGNS) >= 5


def test_the_skeleton_is_a_design_with_blanks_to_fill(document):
    doc = document(f"## 1. 910B\n\n## 2. Canonical DSL\n\n```yaml\n{skeleton()}```\n")
    codes = {p.code for p in validate(doc)}

    assert doc.faults == []
    assert list(doc.root.data())[:2] == ["dsl_version", "meta"]
    assert codes <= {"placeholder", "empty-value", "engine-unstated", "target-cases-missing"}
    assert yaml.safe_load(skeleton("interface.inputs[]", 4)) == [
        {"name": "replace_me", "dtype": "fp16", "shape": "[n_pes, shard_elems]", "role": "local_input"}
    ]
    assert skeleton("schedule.tiling", 2).startswith("  tiling:\n    tile: ")
    assert skeleton("nothing") == skeleton("meta[]") == ""


def test_every_field_speaks_both_languages_and_has_a_template():
    fields = all_fields()

    assert len(fields) > 90
    for view in fields:
        assert all(view.title[lang].strip() and view.text[lang].strip() for lang in ("zh", "en")), view.path
        assert any("\u4e00" <= ch <= "\u9fff" for ch in view.text["zh"]), view.path
        assert not any("\u4e00" <= ch <= "\u9fff" for ch in view.text["en"]), view.path
        yaml.safe_load(f"{view.key}: {template(view)}")
        assert field(view.path) is view
        if view.closed:
            assert str(view.template) in view.values


def test_fields_are_found_by_path():
    assert field("interface.inputs[3].dtype").kind == "text"
    assert field("interface.inputs").kind == "list"
    assert field("meta.torch_required").kind == "flag"
    assert field("meta.op_kind").values == ("transport", "collective", "compute", "fused_compute_comm")
    assert field("meta.op_kind.x") is field("nope") is field("meta[0]") is None
    assert list(keys_at("correctness.tolerance")) == ["rtol", "atol"]
    assert list(keys_at("interface.attrs[1]"))[:3] == ["name", "type", "default"]
    assert keys_at("meta.op_kind") == {}
