"""A state file keeps every byte that a move does not change."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.pypto.moves import Move, applied
from opdev.pypto.patching import patched
from opdev.pypto.statefile import parsed, read, write

ODD = """{
    "note": "\\u4e00 / \\/ caf\\u00e9",
    "current_stage": 3.0,
    "x":    [1,2 ,3],
    "stage_status": {"1":"completed", "2":"completed", "3":"in_progress", "4":"not_started", "5":"blocked", "6":"pending", "7":"pending"},
    "stage_retry_count": {
        "1": 0, "2": 1, "3": 0,
        "4": 0, "5": 0, "6": 0, "7": 0
    },
    "operator_name":"demo" ,
    "max_stage": 7,
    "artifact_hashes": {},
    "rollback_history": [{"from_stage": 2, "to_stage": 1, "reason": "x", "by": "someone"}],
    "last_updated": "2025-01-01T00:00:00Z",
    "big": 12345678901234567890123, "float": 1.50e+3
}"""


def moved(text, *words, **more):
    state = parsed(text.encode(), "state")
    return patched(text, state, applied(state, Move(*words, now="2026-01-01T00:00:00Z", **more)))


def test_a_completed_stage_changes_its_own_words_alone():
    after = moved(ODD, "complete-stage")

    assert after == ODD.replace('"current_stage": 3.0', '"current_stage": 4').replace(
        '"3":"in_progress", "4":"not_started"', '"3":"completed", "4":"in_progress"'
    ).replace("2025-01-01", "2026-01-01")


def test_a_rollback_is_written_behind_the_others():
    after = moved(ODD, "rollback", stage=2, reason="golden 错了")

    assert '[{"from_stage": 2, "to_stage": 1, "reason": "x", "by": "someone"}, {' in after.replace(",\n", ", ")
    assert parsed(after.encode(), "state")["rollback_history"][1]["reason"] == "golden 错了"
    assert '"big": 12345678901234567890123, "float": 1.50e+3' in after
    assert after.isascii()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", [None, 1, 2, 4, "\t"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_the_layout_stays(newline, indent, end):
    state = applied(None, Move("init", operator="演示", workflow="pro"))
    text = (json.dumps(state, ensure_ascii=False, indent=indent) + end).replace("\n", newline)

    after = moved(text, "record-hash", name="spec_md", hash="ab")

    wanted = parsed(after.encode(), "state")
    assert after == (json.dumps(wanted, ensure_ascii=False, indent=indent) + end).replace("\n", newline)
    assert wanted["artifact_hashes"] == {"spec_md": "ab"}


def test_what_goes_takes_its_comma_along():
    text = '{"a": 1, "b": 2, "c": 3}'

    assert patched(text, json.loads(text), {"b": 2, "c": 3}) == '{"b": 2, "c": 3}'
    assert patched(text, json.loads(text), {"a": 1, "c": 3}) == '{"a": 1, "c": 3}'
    assert patched(text, json.loads(text), {"a": 1}) == '{"a": 1}'
    assert patched(text, json.loads(text), {"a": 1, "d": 4}) == '{"a": 1, "d": 4}'
    assert patched(text, json.loads(text), {"d": 4}) == '{"d": 4}'
    assert json.loads(patched(text, json.loads(text), {})) == {}


def test_a_mark_at_the_beginning_and_the_rest_of_the_file_survive_on_disk(tmp_path):
    root = tmp_path.as_posix()
    path = tmp_path / ".orchestrator_state.json"
    path.write_bytes(b"\xef\xbb\xbf" + ODD.replace("\n", "\r\n").encode())
    before = path.read_bytes()

    state = read(root)
    write(root, state)
    assert path.read_bytes() == before

    write(root, {**state, "max_stage": 8})
    assert path.read_bytes() == before.replace(b'"max_stage": 7', b'"max_stage": 8')
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.5, "", 'a"b', "中", "\ud800", "é\n"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcde"), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
OBJECTS = st.dictionaries(st.sampled_from("abcdef"), VALUES, max_size=5)


@settings(max_examples=200, deadline=None)
@given(OBJECTS, OBJECTS, st.sampled_from([None, 0, 2, "\t"]), st.booleans(), st.booleans())
def test_any_change_comes_out_as_it_is_meant(old, new, indent, escaped, mixed):
    if mixed:
        new = {**old, **new}
    text = json.dumps(old, ensure_ascii=escaped, indent=indent)

    after = patched(text, old, new)

    assert json.dumps(json.loads(after), sort_keys=True) == json.dumps(new, sort_keys=True)
    assert patched(after, new, new) == after
