"""Which fence is the DSL, and where everything in it stands."""

from __future__ import annotations

import pytest
import yaml

from opdev.design.markdown import boxes

SMALL = """\
dsl_version: "0.3"
meta:
  op_name: allgather   # 名字
  target_soc: [ascend910b, 'ascend910c']
  说明: 每个 PE 写所有 PE 🚀
interface:
  inputs:
    - {name: input, dtype: fp16}
    - name: plan
      dtype: int64
  outputs:
  - name: out
semantics:
  result: |
    第一行
    第二行

topology: {}
"""


def shown(doc, node):
    return doc.source.text(node.start, node.end)


def key(doc, node):
    return doc.source.text(node.key_start, node.key_end)


@pytest.mark.parametrize("quote", ["", "> ", "> > ", "- ", "   "], ids=["plain", "quoted", "twice", "list", "indented"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_every_value_stands_where_it_is_written(document, quote, newline):
    lines = ["```yaml", *SMALL.splitlines(), "```"]
    blank = quote.replace("-", " ")
    text = "# 设计 🚀\n\n## 2. Canonical DSL\n\n" + "\n".join(
        (quote if i == 0 else blank) + line for i, line in enumerate(lines)
    )
    doc = document(text.replace("\n", newline) + newline)

    assert doc.faults == []
    assert doc.root.data() == yaml.safe_load(SMALL)
    seen = {}
    for node in doc.nodes():
        if node.key is not None:
            assert key(doc, node).strip("'\"") == node.key
        if node.kind == "scalar" and node.style == "plain":
            assert shown(doc, node) == node.value
        seen[node.path] = node
    assert shown(doc, seen["meta.target_soc[1]"]) == "'ascend910c'"
    assert shown(doc, seen["meta.target_soc"]) == "[ascend910b, 'ascend910c']"
    assert shown(doc, seen["interface.inputs[0]"]) == "{name: input, dtype: fp16}"
    assert seen["interface.outputs[0].name"].value == "out"
    assert shown(doc, seen["meta"]).startswith("op_name: allgather")
    assert shown(doc, seen["meta"]).endswith("🚀")
    assert shown(doc, seen["semantics.result"]).endswith("第二行")


def test_paths_lead_to_nodes(design):
    doc = design(SMALL)

    for node in doc.nodes():
        assert doc.get(node.path) is node
    assert doc.get("interface.inputs[1].dtype").value == "int64"
    assert doc.get("interface.inputs[9].dtype") is None
    assert doc.get("meta.nothing.at.all") is None
    assert doc.at(doc.get("interface.inputs[1].dtype").start + 2).path == "interface.inputs[1].dtype"
    assert doc.at(doc.get("meta.op_name").key_start).path == "meta.op_name"


def test_front_matter_and_other_fences_are_told_apart(document):
    doc = document(
        "---\nop_name: demo\n---\n\n# d\n\n```yaml\nimage: cann\nenv: {}\n```\n\n"
        "```yaml\nphase0_intake:\n  op_name: demo\n```\n\n## 2. Canonical DSL\n\n"
        "```yaml\nnotes: []\n```\n\n```yaml\nmeta:\n  op_name: demo\nsource: {}\n```\n"
    )

    assert doc.data[slice(*doc.front_matter)] == b"---\nop_name: demo\n---\n"
    assert [f.role for f in doc.fences] == ["other", "intake", "other", "dsl"]
    assert doc.intake.root.at("phase0_intake.op_name").value == "demo"
    assert doc.get("meta.op_name").value == "demo"


def test_a_dsl_without_its_heading_is_found_and_rivals_named(document):
    doc = document("```yml\na: 1\n```\n```yaml\ndsl_version: '0.3'\n```\n```yaml\nmeta: {}\nsource: {}\n```\n")

    assert [f.role for f in doc.fences] == ["other", "dsl", "other"]
    assert [f.start for f in doc.rivals] == [doc.fences[2].start]
    assert document("# no fence, SHMEM\n").dsl is None


def test_a_fence_nobody_closed_ends_where_the_document_goes_on(document):
    doc = document(
        "## 2. Canonical DSL\n\n```yaml\nmeta:\n  op_name: demo\n\n## 3. Capability\n\n| a | b |\n|---|---|\n\n"
        "```bash\nls\n```\n"
    )

    assert [(f.reason, doc.source.text(f.start, f.end)) for f in doc.faults] == [("unclosed-fence", "```yaml")]
    assert doc.root.data() == {"meta": {"op_name": "demo"}}


def test_types_are_those_of_a_yaml_loader(design):
    text = (
        "dsl_version: 0.3\nmeta: {a: yes, b: Off, c: 010, d: 0x1F, e: 1_000, f: .inf, g: ~, h: 1e-3,"
        " i: '5', j: 2024-01-01, k: null, l: -3, m: 1.5e+3}\nsource: !!str 5\n"
    )
    doc = design(text)
    plain = yaml.safe_load(text)
    plain["meta"]["j"] = "2024-01-01"

    assert doc.root.data() == plain


def test_numbers_too_long_for_python_stay_text(design):
    doc = design("dsl_version: '0.3'\nmeta: {a: " + "9" * 5000 + ", b: 1:30}\n")

    assert doc.root.data()["meta"] == {"a": "9" * 5000, "b": "1:30"}


def test_headings_number_their_sections(document):
    doc = document("# SHMEM\n## 1. 接口 ##\n### 1.3 假设\n```\n## 9. no\n```\n## 2、Canonical DSL\n")

    assert [(h.level, h.number, h.title) for h in doc.headings] == [
        (1, "", "SHMEM"), (2, "1", "1. 接口"), (3, "1.3", "1.3 假设"), (2, "2", "2、Canonical DSL"),
    ]  # fmt: skip
    assert doc.heading("1").stop == doc.heading("2").start == doc.heading("1.3").stop


def test_chinese_numerals_number_a_section(document):
    doc = document("## 一、接口\n\n## 第三章 能力\n\n## 一些说明\n")

    assert [h.number for h in doc.headings] == ["1", "3", ""]


def test_boxes_give_their_state_and_place(document):
    doc = document("## 7. 交接\n\n- [x] 完整\n* [ ] 未完\n  - [X]\n- [x](链接)\n```\n- [x] 围栏里\n```\n1. [x] 编号\n")

    found = boxes(doc.data, doc.headings[0].start, doc.headings[0].stop)

    assert [(b.ticked, b.text, doc.data[b.start : b.end]) for b in found] == [
        (True, "完整", b"[x]"),
        (False, "未完", b"[ ]"),
        (True, "", b"[X]"),
        (True, "编号", b"[x]"),
    ]
    assert all(doc.data[b.stop : b.stop + 1] == b"\n" for b in found)


def test_headings_behind_an_unclosed_fence_are_known(document):
    doc = document("## 2. DSL\n\n```yaml\ndsl_version: '0.3'\nmeta:\n\n## 3. 能力\n\n| a |\n|---|\n| 1 |\n")

    assert [h.number for h in doc.headings] == ["2", "3"]
    assert [t.heading.number for t in doc.tables] == ["3"]


def test_tables_give_every_cell_its_place(document):
    doc = document(
        "## 3. SHMEM\n\n| Requirement | Classification |\n| :--- | ---: |\n| 同步 `a|b` | 可复用 |\n| x \\| y |  |\ntext\n"
        "```\n| a |\n|---|\n```\n\na | b\n--|--\n1 | 2\n"
    )
    first, second = doc.tables

    assert first.heading.number == "3"
    assert [c.text for c in first.header] == ["Requirement", "Classification"]
    assert [[c.text for c in row] for row in first.rows] == [["同步 `a|b`", "可复用"], ["x \\| y", ""]]
    assert [[c.text for c in row] for row in second.rows] == [["1", "2"]]
    assert first.column("classification") == 1
    for table in doc.tables:
        for row in [table.header, *table.rows]:
            for cell in row:
                assert doc.source.text(cell.start, cell.end) == cell.text
