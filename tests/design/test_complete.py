"""What may stand at the cursor (written as ‸) while the YAML is half written."""

from __future__ import annotations

import pytest

from opdev.design.complete import complete, describe

HEAD = "# 设计\n\n## 2. Canonical DSL\n\n"


def at(document, text, *, prefix=""):
    whole = HEAD + "".join(f"{prefix}{line}\n" for line in ["```yaml", *text.split("\n"), "```"])
    offset = whole.encode().index("‸".encode())
    doc = document(whole.replace("‸", ""))
    return doc, complete(doc, offset)


def labels(completion):
    return [c.label for c in completion.candidates] if completion else None


@pytest.mark.parametrize(
    ("text", "path", "wanted", "unwanted"),
    [
        ("‸", "", ["dsl_version", "meta", "compile"], []),
        ("meta:\n  op_name: x\n‸", "", ["source"], ["meta"]),
        ("meta:\n  op_name: x\n  ‸\n  scope: both\nsource: {}\n", "meta", ["op_kind"], ["op_name", "scope"]),
        ("meta:\n  op_name: x\n  op_‸\n", "meta", ["op_kind", "op_root"], ["op_name"]),
        ("interface:\n  inputs:\n    - ‸", "interface.inputs[]", ["name", "dtype", "shape", "role"], ["visibility"]),
        ("interface:\n  inputs:\n    - name: x\n      ‸\n    - name: y\n      role: z\n", "interface.inputs[]", ["dtype", "role"], ["name"]),
        ("interface:\n  outputs:\n  - name: x\n    ‸", "interface.outputs[]", ["visibility"], ["name"]),
        ("interface:\n  outputs:\n  - name: x\n  - ‸", "interface.outputs[]", ["visibility", "name"], []),
        ("interface:\n  outputs:\n    - {name: x, ‸", "interface.outputs[]", ["visibility"], ["name"]),
        ("interface:\n  outputs: [{name: x}, {dtype: T, v‸", "interface.outputs[]", ["visibility", "name"], ["dtype"]),
        ("schedule:\n  core_partition:\n    groups:\n      []\n    ‸\n  tiling: {}\n", "schedule.core_partition", ["mode", "overlap"], ["groups", "tiling"]),
        ("schedule:\n  core_partition:\n    mode: [\n  ‸", "schedule", ["tiling", "phases"], ["core_partition", "mode"]),
        ("correctness:\n  tolerance: {‸", "correctness.tolerance", ["rtol", "atol"], []),
        ("correctness:\n  # 注释\n\n  tolerance:\n\n    # 说明: x\n    ‸", "correctness.tolerance", ["rtol", "atol"], []),
        ("source:\n  user_confirmations:\n    ‸", "source.user_confirmations", ["op_name", "dtypes"], []),
    ],
)  # fmt: skip
@pytest.mark.parametrize("prefix", ["", "> ", "   "], ids=["plain", "quoted", "indented"])
def test_keys(document, text, path, wanted, unwanted, prefix):
    _, completion = at(document, text, prefix=prefix)

    assert completion is not None
    assert completion.path == path
    assert set(wanted) <= set(labels(completion))
    assert not set(unwanted) & set(labels(completion))
    assert {c.kind for c in completion.candidates} == {"key"}


@pytest.mark.parametrize(
    ("text", "path", "wanted"),
    [
        ("meta:\n  op_kind: ‸", "meta.op_kind", ["transport", "collective", "compute", "fused_compute_comm"]),
        ("meta:\n  op_kind: col‸lective\n", "meta.op_kind", ["collective"]),
        ("meta:\n  torch_required: ‸\n", "meta.torch_required", ["true", "false"]),
        ("meta: {op_name: a, scope: ‸}\n", "meta.scope", ["intra_node", "inter_node", "both"]),
        ("meta:\n  target_soc: [ascend910b1, ‸]\n", "meta.target_soc", ["ascend910b2"]),
        ("meta:\n  target_soc:\n    - ‸\n", "meta.target_soc", ["ascend910c"]),
        ("interface:\n  inputs:\n    - {name: x, dtype: ‸}\n", "interface.inputs[].dtype", ["bfloat16"]),
        ("correctness:\n  case_matrix:\n    - case: a\n      category: ‸\n", "correctness.case_matrix[].category", ["stress"]),
        ("schedule:\n  core_partition:\n    mode: ‸", "schedule.core_partition.mode", ["A", "CoC"]),
        ("performance:\n  max_opt_rounds: ‸", "performance.max_opt_rounds", ["5"]),
        ("performance:\n  baseline: ‸", "performance.baseline", ["HcclAllGather", "metric_only"]),
        ("topology:\n  intra_node_topology: ‸", "topology.intra_node_topology", ["full-mesh"]),
    ],
)  # fmt: skip
def test_values(document, text, path, wanted):
    _, completion = at(document, text)

    assert completion.path == path
    assert set(wanted) <= set(labels(completion))
    assert {c.kind for c in completion.candidates} == {"value"}


@pytest.mark.parametrize(
    ("text", "replaced", "insert"),
    [
        ("meta:\n  op_kind: col‸lect\n", "collect", "collective"),
        ("meta:\n  op_kind: 'col‸'\n", "'col'", "'collective'"),
        ('meta:\n  op_kind: "‸"\n', '""', '"collective"'),
        ("meta:\n  说明: 中文\n  op_ki‸nd\n", "op_kind", "op_kind: "),
        ("topology:\n  intra_node_topology: full-‸mesh\n", "full-mesh", "full-mesh"),
        ("meta: {op_name: 中文, op_k‸}\n", "op_k", "op_kind: "),
        ("sched‸\n", "sched", "schedule:"),
    ],
)  # fmt: skip
def test_what_was_typed_is_replaced(document, text, replaced, insert):
    doc, completion = at(document, text)

    assert doc.source.text(completion.start, completion.end) == replaced
    assert insert in [c.insert for c in completion.candidates]


@pytest.mark.parametrize(
    "text", ["meta:\n  op_kind: x # ‸", "# ‸", "meta:\n  op_kind:‸", "meta:\n  a: b: ‸", "nothing:\n  ‸", "meta:\n  op_name: ‸"]
)  # fmt: skip
def test_nothing_to_offer(document, text):
    _, completion = at(document, text)

    assert not labels(completion)


def test_outside_the_dsl_there_is_nothing(document):
    doc = document("# SHMEM\n\n```yaml\nmeta:\nsource:\n```\n\nmeta:\n")

    assert complete(doc, 0) is None
    assert complete(doc, len(doc.data)) is None


def test_hover_has_the_field():
    view = describe("interface.inputs[0].dtype")

    assert view.title == {"zh": "数据类型", "en": "Dtype"}
    assert "bfloat16" in view.text["en"]
    assert describe("interface.inputs[0].colour") is None
