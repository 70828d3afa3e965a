"""A half-written design is read as far as it makes sense, and its errors stand where they are."""

from __future__ import annotations

import sys

import pytest

from opdev.design import judged, pieces
from opdev.design.complete import complete
from opdev.design.model import validate

HEAD = "dsl_version: '0.3'\n"


def faults(doc):
    return [(f.reason, doc.source.text(f.start, f.end)) for f in doc.faults]


@pytest.mark.parametrize(
    ("yaml", "data", "fault"),
    [
        ("meta:\n  op_name: a\n  op_k\n  scope: both\n", {"meta": {"op_name": "a", "op_k": None, "scope": "both"}}, ("missing-colon", "op_k")),
        ("meta:\n  op_name: a\nsour\n", {"meta": {"op_name": "a"}, "sour": None}, ("missing-colon", "sour")),
        ("meta:\n  op_name: [a, b\n  scope: both\n", {"meta": {"op_name": None, "scope": "both"}}, ("unclosed-bracket", "[a, b")),
        ('meta:\n  op_name: "a\n  scope: both\nsource: {}\n', {"meta": {"op_name": None, "scope": "both"}, "source": {}}, ("unclosed-quote", '"a')),
        ("meta:\n  op_name: a\n  kind: x: y\n", {"meta": {"op_name": "a", "kind": None}}, ("colon-in-value", ": y")),
        ("meta:\n  op_name: a\n\tscope: both\n", {"meta": {"op_name": "a"}}, ("tab-indentation", "\tscope: both")),
        ("meta:\n  op_name: a\n  role: @todo\n", {"meta": {"op_name": "a", "role": None}}, ("reserved-character", "@todo")),
        ("meta:\n  op_name: a\n    scope: both\n", {"meta": {"op_name": "a"}}, ("colon-in-value", ": both")),
        ("meta:\n  op_name: a\n scope: both\n", {"meta": {"op_name": "a", "scope": "both"}}, ("bad-indentation", "scope: both")),
        ("inputs:\n  []\n  - name: x\n  - name: y\n", {"inputs": [{"name": "x"}, {"name": "y"}]}, ("items-after-empty", "[]")),
        ("inputs:\n  - {name: x}\n  - {name: y, dtype: \n  - {name: z}\nmeta: {}\n", {"inputs": [{"name": "x"}, None, {"name": "z"}], "meta": {}}, ("unclosed-bracket", "{name: y, dtype:")),
        ("inputs:\n  - name: x\n    dtype: [\n    role: r\n  - name: z\n", {"inputs": [{"name": "x", "dtype": None, "role": "r"}, {"name": "z"}]}, ("unclosed-bracket", "[")),
        ("inputs:\n- name: x\n- name\n  role: r\n- name: z\nmeta: 1\n", {"inputs": [{"name": "x"}, None, {"name": "z"}], "meta": 1}, ("colon-in-value", ": r")),
    ],
)  # fmt: skip
def test_the_sound_part_is_read(design, yaml, data, fault):
    doc = design(HEAD + yaml)

    assert {k: v for k, v in doc.root.data().items() if k != "dsl_version"} == data
    assert faults(doc) == [fault]


@pytest.mark.parametrize(
    ("yaml", "fault"),
    [
        ("meta: {a: 1, a: 2}\n", ("duplicate-key", "a")),
        ("meta:\n  x: 1\nmeta:\n  y: 2\n", ("duplicate-key", "meta")),
        ("meta:\n  x: [\nmeta:\n  y: 2\n", ("duplicate-key", "meta")),
        ("meta: *nobody\n", ("unknown-alias", "*nobody")),
        ("meta: &a [*a]\n", ("unknown-alias", "*a")),
        ("meta: 1\n---\nmeta: 2\n", ("second-document", "---")),
        ("? [a]\n: b\n", ("complex-key", "[a]")),
        ("meta: a\x07b\n", ("control-character", "\x07")),
    ],
)
def test_what_reads_but_misleads_is_said(design, yaml, fault):
    assert fault in faults(design(HEAD + yaml))


def test_the_later_of_two_keys_wins_and_shows_the_first(design):
    doc = design(HEAD + "meta: 1\nmeta: 2\n")

    assert doc.get("meta").value == "2"
    (fault,) = doc.faults
    assert doc.data[: fault.related[0]].count(b"\n") + 1 == doc.data[: fault.start].count(b"\n")


def test_aliases_stand_where_they_are_written(design):
    doc = design(HEAD + "meta: &m {op_name: a, list: [1, 2]}\nsource: *m\nx:\n  <<: *m\n  op_name: b\n")

    assert doc.root.data()["source"] == {"op_name": "a", "list": [1, 2]}
    assert doc.root.data()["x"] == {"op_name": "b", "list": [1, 2]}
    node = doc.get("source.list[1]")
    assert doc.source.text(node.start, node.end) == "*m"


def test_a_billion_laughs_stay_few(design):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    doc = design(HEAD + "\n".join(lines) + "\n")

    assert any(f.reason == "too-large" for f in doc.faults)
    assert sum(1 for _ in doc.root.walk()) < 60_000


@pytest.mark.parametrize(
    "deep", ["[" * 5000, "a: " + "{a: " * 5000, "".join("  " * i + "a:\n" for i in range(200)), "- " * 3000]
)
def test_depth_is_bounded(design, deep):
    doc = design(HEAD + "meta: 1\nx:\n" + "".join(f"  {line}\n" for line in deep.splitlines()))

    assert doc.faults
    assert doc.get("meta").value == "1"


@pytest.mark.parametrize(
    "line", ["  - {name: x, dtype: [\n", '  key{n}: "\n', "- a: b: c\n", "k{n}:\n", "   x{n}\n  y: [\n", "a{n}: &a{n} [1\n", "word\n"]
)  # fmt: skip
def test_time_grows_with_the_text(design, line):
    def cost(count):
        pieces.forget()
        doc = design(HEAD + "meta:\n" + "".join(line.replace("{n}", f"{n:05}") for n in range(count)))
        return sum(doc.dsl.events) + len(doc.faults)

    assert cost(4000) <= 11 * cost(400)


@pytest.mark.parametrize("line", ["x\n", "k{n}: 1\n", "  - {case: c{n}, n_pes: {n}}\n"])
def test_judging_grows_with_the_text(design, line):
    """Counted in calls, not in seconds: many faults, many unknown keys, many items."""

    def cost(count):
        pieces.forget()
        judged.forget()
        doc = design(
            HEAD + "correctness:\n case_matrix:\n" + "".join(line.replace("{n}", f"{n:05}") for n in range(count))
        )
        calls = 0

        def tick(_frame, event, _arg):
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(tick)
        try:
            validate(doc)
            complete(doc, len(doc.data) - 20)
        finally:
            sys.setprofile(None)
        return calls

    cost(1)  # imports and patterns that are compiled once
    assert cost(1500) <= 11 * cost(150)


def test_a_design_with_too_many_values_says_so_once(design):
    cases = "".join(
        f"    - {{case: c{i}, shape: '[8]', dtype: float16, n_pes: 2, category: stress}}\n" for i in range(2500)
    )
    found = design(f'dsl_version: "0.3"\nmeta:\n  op_name: x\ncorrectness:\n  case_matrix:\n{cases}')
    faults = [fault for fence in found.fences for fault in fence.faults]

    assert [fault.reason for fault in faults] == ["too-large"]
    assert found.text("meta.op_name") == "x", "what could be read stays known"
