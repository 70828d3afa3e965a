"""Answers as words and files: understood, or said to be wrong with their line; nothing is guessed."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.intake import Probe, questions, record
from opdev.intake.answers import read_answers, template, understood
from opdev.intake.model import FIVE, IDS

GOOD = "cann: default\nbuild_mode: custom-ops\ntorch: 需要\nperf: no\nperf_auto_optim: false\n"


def codes(found):
    return [(r.code, r.id, r.args.get("line", 0)) for r in found.remarks]


@pytest.mark.parametrize(
    ("question", "text", "word"),
    [
        ("torch", "YES", "yes"), ("torch", "是", "yes"), ("torch", "不需要", "no"), ("perf", "true", "yes"), ("perf", "off", "no"),
        ("build_mode", "independent_project", "custom_ops"), ("build_mode", "in-tree", "in_tree"),
        ("cann", " session_preconfigured ", "session"), ("cann", "pending", "later"), ("cann", "/中 文/set_env.sh", "/中 文/set_env.sh"),
        ("conda", "无", "none"), ("container", "null", "none"), ("semantics", "a: b # c", "a: b # c"),
    ],
)  # fmt: skip
def test_words(question, text, word):
    assert understood(question, text) == (word, None)


@pytest.mark.parametrize(
    ("question", "text", "code"),
    [("torch", "maybe", "bad-choice"), ("build_mode", "src", "bad-choice"), ("perf", "", "empty"), ("cann", "<path>", "empty"),
     ("cann", "/x\n/y", "bad-text"), ("semantics", "x" * 2000, "bad-text"), ("cann", "/x\x1b[2J", "bad-text")],
)  # fmt: skip
def test_no_answers(question, text, code):
    word, remark = understood(question, text)
    assert (word, remark.code) == ("", code)


def test_a_file():
    found = read_answers("a.yaml", GOOD.encode())

    assert (found.words, found.remarks, found.missing) == (
        {"cann": "default", "build_mode": "custom_ops", "torch": "yes", "perf": "no", "perf_auto_optim": "no"}, [], [],
    )  # fmt: skip
    assert read_answers(
        "a.json", json.dumps({"answers": {"torch": True, "perf": False}}, indent="\t").encode()
    ).words == {"torch": "yes", "perf": "no"}
    assert read_answers("a.yaml", GOOD.encode("gb18030")).words == found.words
    assert read_answers("a.yaml", "\ufeff".encode() + GOOD.replace("\n", "\r\n").encode()).words == found.words


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("torch: yes\ntorch: no\n", ("twice", "", 2)),
        ("torch: yes\nprof: no\n", ("unknown-question", "prof", 2)),
        ("\ntorch: [yes]\n", ("not-text", "torch", 2)),
        ("torch: yes\nperf: 'no\n", ("unreadable", "", 2)),
        ("- yes\n", ("no-mapping", "", 0)),
        ("perf: vielleicht\n", ("bad-choice", "perf", 1)),
        ("perf:\n", ("empty", "perf", 1)),
        ("x" * 200_000, ("too-large", "", 0)),
    ],
)  # fmt: skip
def test_what_is_wrong_has_its_line(text, code):
    found = read_answers("a.yaml", text.encode())

    assert code in codes(found)
    for remark in found.remarks:
        for lang in ("zh", "en"):
            assert "{" not in remark.text(lang)
            assert remark.id or code[0] in ("twice", "unreadable") or "a.yaml" in remark.text(lang)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_template_has_every_question_and_no_answer(lang):
    text = template(lang, questions(lang, Probe(torch="failed")))
    found = read_answers("a.yaml", text.encode())

    assert list(yaml.safe_load(text)) == list(FIVE)
    assert found.missing == list(FIVE)
    for question in ("semantics", "container", "conda", "shmem_repo", "torch_env"):
        assert f"# {question}:\n" in text
    filled = text.replace("\ncann:\n", "\ncann: later\n").replace("\nbuild_mode:\n", "\nbuild_mode: in_tree\n")
    for question in ("torch", "perf", "perf_auto_optim"):
        filled = filled.replace(f"\n{question}:\n", f"\n{question}: yes\n")
    assert not read_answers("a.yaml", filled.encode()).remarks


# Damage: every file is refused or means what stands in it; nothing raises, however it is broken.
LINES = [*GOOD.splitlines(keepends=True), "container: dev\n", "answers:\n", "  torch: yes\n", "- x\n", "? [a]\n", "cann: &a /x\n", "perf: *a\n", "\t\n", "'", "{", "---\n", "\x00", "perf: |\n  yes\n"]  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.lists(st.sampled_from(LINES), max_size=14).map("".join) | st.text(max_size=80) | st.binary(max_size=60))
def test_damaged_files(text):
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    found = read_answers("a.yaml", raw)

    assert set(found.words) <= set(IDS)
    for remark in found.remarks:
        assert remark.kind == "problem"
        assert remark.text("zh")
        assert remark.text("en")
    made, remarks = record(found.words, Probe(), sees=lambda _kind, _path: False)
    if found.missing:
        assert made == ""
        assert {r.id for r in remarks if r.code == "missing"} == set(found.missing)


@settings(deadline=None, max_examples=100)
@given(st.integers(0, len(GOOD.encode())), st.integers(0, 8), st.binary(max_size=6))
def test_a_damaged_place_costs_answers_but_never_changes_one(at, cut, put):
    raw = GOOD.encode()
    found = read_answers("a.yaml", raw[:at] + put + raw[at + cut :])
    good = read_answers("a.yaml", raw).words

    first = raw[:at].count(b"\n")
    for index, question in enumerate(FIVE):
        if index < first and question in found.words and not found.remarks:
            assert found.words[question] == good[question]
