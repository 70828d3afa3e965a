"""Edits keep indentation, quotes, prefixes and line ends, and do what they say."""

from __future__ import annotations

import pytest

from opdev.design.changes import append, fill, insert, insert_in_order, plain, remove, rename, replace, sort

YAML = "meta:\n  op_name: demo  # 名字\n  scope: 'both'\n  empty:\ninputs:\n  - name: x\n    role: 'r'\n  - {name: y}\nlong: |\n  a\n  b\n"


def applied(doc, change, document):
    new = doc.data[: change.start] + change.text.encode() + doc.data[change.end :]
    return document(new)


@pytest.fixture(params=["", "> ", "    "], ids=["plain", "quoted", "indented"])
def framed(request, document):
    """The YAML in a fence, plain, in a quoted block, indented; with CRLF in the last."""
    newline = "\r\n" if request.param == "    " else "\n"
    lines = ["```yaml", "dsl_version: '0.3'", *YAML.splitlines(), "```"]
    return document("## 2. Canonical DSL\n\n" + newline.join(request.param + x for x in lines) + newline)


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [("meta.op_name", "other", "other"), ("meta.scope", "intra_node", "intra_node"), ("meta.empty", "now", "now"), ("inputs[1].name", "a: b", "a: b"), ("meta.op_name", "yes", "yes")],
)  # fmt: skip
def test_values_are_replaced_in_their_quotes(framed, document, path, text, value):
    new = applied(framed, replace(framed.get(path), text), document)

    assert new.faults == []
    assert new.get(path).data() == value
    assert new.get(path).style == framed.get(path).style or framed.get(path).style == "plain"


@pytest.mark.parametrize(
    ("parent", "after"),
    [("meta", None), ("meta", "op_name"), ("", "meta"), ("inputs[0]", None), ("inputs[1]", None), ("", None)],
)
def test_keys_are_inserted_where_they_belong(framed, document, parent, after):
    node = framed.get(parent) if parent else framed.root
    new = applied(framed, insert(framed, node, "new", "1", after), document)
    data = framed.root.data()
    (new.get(parent) if parent else new.root).data()

    assert new.faults == []
    got = new.root.at(parent) if parent else new.root
    assert got.get("new").data() == 1
    assert (
        {k: v for k, v in got.data().items() if k != "new"} == (framed.get(parent) or framed.root).data()
        if parent
        else data
    )
    if after:
        keys = [c.key for c in got.children]
        assert keys[keys.index(after) + 1] == "new"


def test_a_section_is_inserted_with_its_lines(framed, document):
    new = applied(framed, insert(framed, framed.root, "tiling", "  tile: 1\n  tail: 2\n", "meta"), document)

    assert new.faults == []
    assert new.root.data()["tiling"] == {"tile": 1, "tail": 2}


def test_keys_are_renamed_and_removed(framed, document):
    named = applied(framed, rename(framed.get("meta.scope"), "range"), document)
    gone = applied(framed, remove(framed, framed.get("meta.scope")), document)
    whole = applied(framed, remove(framed, framed.get("inputs")), document)

    assert named.get("meta.range").value == "both"
    assert list(gone.root.data()["meta"]) == ["op_name", "empty"]
    assert "inputs" not in whole.root.data()
    assert named.faults == gone.faults == whole.faults == []


def test_what_cannot_be_done_exactly_is_not_done(framed):
    assert replace(framed.get("long"), "x") is None
    assert replace(framed.get("meta"), "x") is None
    assert replace(framed.get("meta.scope"), "it's") is None
    assert remove(framed, framed.get("inputs[0].name")) is None
    assert remove(framed, framed.get("inputs[1].name")) is None
    assert insert(framed, framed.get("inputs"), "a", "b") is None


@pytest.mark.parametrize(
    ("text", "written"), [("a", "a"), ("中文", "中文"), ("a: b", '"a: b"'), ("[x]", '"[x]"'), ("", '""'), ('"', '"\\""'), ("yes", '"yes"'), ("true", "true"), ("5", "5"), (" x", '" x"'), ("a #b", '"a #b"')]
)  # fmt: skip
def test_plain_text_is_quoted_where_yaml_needs_it(text, written):
    assert plain(text) == written


ORDER = ("first", "op_name", "between", "scope", "last")


@pytest.mark.parametrize(("key", "at"), [("first", 0), ("between", 1), ("last", 2), ("unknown", 2)])
def test_a_key_finds_its_place_in_the_order(framed, document, key, at):
    change = insert_in_order(framed, framed.get("meta"), key, "1", ORDER)
    new = applied(framed, change, document)

    assert new.faults == []
    keys = [c.key for c in new.get("meta").children]
    assert keys.index(key) == at
    assert new.get("meta.op_name").data() == "demo"


@pytest.mark.parametrize("parent", ["inputs[0]", "inputs[1]"])
def test_a_key_goes_before_the_first_of_an_item(framed, document, parent):
    new = applied(framed, insert_in_order(framed, framed.get(parent), "kind", "1", ("kind", "name")), document)

    assert new.faults == []
    assert [c.key for c in new.get(parent).children][:2] == ["kind", "name"]
    assert len(new.items("inputs")) == 2


def test_a_list_gets_an_item(framed, document):
    new = applied(framed, append(framed, framed.get("inputs"), "{name: z}"), document)

    assert new.faults == []
    assert [i.get("name").text for i in new.items("inputs")] == ["x", "y", "z"]


@pytest.mark.parametrize("written", ["a:", "a: []", "a: []  # 待补", "a: # 待补", "a: {}"])
def test_an_empty_value_is_filled(document, written):
    doc = document(f"```yaml\ndsl_version: '0.3'\nmeta:\n  {written}\n  b: 1\n```\n")
    new = applied(doc, append(doc, doc.get("meta.a"), "{name: z}"), document)

    assert new.faults == []
    assert new.root.at("meta").data() == {"a": [{"name": "z"}], "b": 1}
    assert ("待补" in written) == ("待补" in new.data.decode())


@pytest.mark.parametrize("written", ["a:\n    |-\n    ", "a: text", "a: ''\n  c: &x []\n  d: *x"])
def test_what_is_not_empty_or_not_an_empty_list_is_left(document, written):
    doc = document(f"```yaml\ndsl_version: '0.3'\nmeta:\n  {written}\n```\n")
    node = doc.get("meta.d") or doc.get("meta.a")

    assert append(doc, node, "{name: z}") is None


SCHEDULE = "schedule:\n  # 最后\n  phases:\n    - {name: a, action: 写}  # 一步\n\n  notes: |\n    一\n\n  tiling:\n    tile: 64 KB\n    # 末尾\n  core_partition: {mode: A}  # 先\nlast: 1\n"


@pytest.mark.parametrize("prefix", ["", "> ", "    "])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_entries_are_sorted_with_their_comments(document, prefix, newline):
    lines = ["```yaml", "dsl_version: '0.3'", *SCHEDULE.splitlines(), "```"]
    doc = document("# 设计" + newline + newline.join(prefix + x for x in lines) + newline)
    order = ("core_partition", "tiling", "phases")
    changes = sort(doc, doc.get("schedule"), order)
    data = doc.data
    for change in reversed(changes):
        data = data[: change.start] + change.text.encode() + data[change.end :]
    new = document(data)

    assert new.faults == []
    assert [c.key for c in new.get("schedule").children] == ["core_partition", "notes", "tiling", "phases"]
    assert new.root.data() == doc.root.data()
    assert sorted(data.splitlines()) == sorted(doc.data.splitlines())
    assert sort(new, new.get("schedule"), order) == []


@pytest.mark.parametrize("yaml", ["{b: 1, a: {c: 2}}", "{b: , a: x}", "{b, a}"])
def test_entries_in_brackets_are_sorted(document, yaml):
    doc = document(f"```yaml\ndsl_version: '0.3'\nmeta: {yaml}\n```\n")
    data = doc.data
    for change in reversed(sort(doc, doc.get("meta"), ("a", "b"))):
        data = data[: change.start] + change.text.encode() + data[change.end :]

    assert document(data).root.data() == doc.root.data()
    assert [c.key for c in document(data).get("meta").children] == ["a", "b"]


@pytest.mark.parametrize("yaml", ["  b: &x 1\n  a: *x\n", "  b: 1\n  a: 2\n  b: 3\n", "  b: 'x\n  a: 1\n"])
def test_what_cannot_be_sorted_is_left(document, yaml):
    doc = document(f"```yaml\ndsl_version: '0.3'\nmeta:\n{yaml}```\n")

    assert sort(doc, doc.get("meta"), ("a", "b")) == []


@pytest.mark.parametrize("prefix", ["", "> ", "    "])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_empty_list_below_its_key_is_filled_where_it_stands(document, prefix, newline):
    lines = ["```yaml", "dsl_version: '0.3'", "items:", "    []  # 待填", "    # - name: x", "last: 1", "```"]
    before = document("## 2. Canonical DSL\n\n" + newline.join(prefix + x for x in lines) + newline)
    new = applied(before, fill(before, before.get("items"), "  - name: a\n    role: b\n"), document)

    assert new.faults == []
    assert new.root.data() == {"dsl_version": "0.3", "items": [{"name": "a", "role": "b"}], "last": 1}
    assert "待填" in new.data.decode()
    assert fill(new, new.get("items"), "  - c\n") is None
