"""A record in any state: kept, changed to what was answered, or refused; never lost, never half of both."""

from __future__ import annotations

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.facts.intake import FIELDS
from opdev.intake import Probe, record
from opdev.intake.recording import parsed
from opdev.intake.resolving import Setting

READY = Probe(
    ascend_home="/opt/cann", session_script="/opt/cann/set_env.sh", bisheng="/b", npu_smi="/n", conda_env="npu",
    shmem_repo="/opt/shmem", repo_from="folder", installed=True, skills_root="/opt/skills",
)  # fmt: skip
RING = Setting(name="ring", around="custom-ops")
FIVE = {"cann": "session", "build_mode": "custom_ops", "torch": "yes", "perf": "no", "perf_auto_optim": "yes"}
WANTED = yaml.safe_load(record(FIVE, READY, RING)[0])["phase0_intake"]
KEYS = [*FIELDS, "note", "备注"]
VALUES = ["ring", "true", "no", "", "null", '"x # y"', "'it''s'", "[1, 2]", "{a: b}", "pending", "~", "/a/b", "🚀 值", "1.5", "&a z", "*a", "|\n    text", "\n    - 1\n    - 3", "\n    k: v", "!!str 7"]  # fmt: skip
COMMENTS = ["", "", "  # 注释 🚀", " #"]
SPACE = ["", "", "\n", "  # 单独一行\n", "# 顶格\n"]


@st.composite
def records(draw):
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    lines = [draw(st.sampled_from(["", "# 头\n", "owner: 张三\n", "---\n"])), "phase0_intake:\n"]
    for key in draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=12)):
        value = draw(st.sampled_from(VALUES))
        end = "" if "\n" in value else draw(st.sampled_from(COMMENTS))
        lines.append(f"  {key}: {value}{end}\n{draw(st.sampled_from(SPACE))}")
    lines.append(draw(st.sampled_from(["", "tail: 1\n", "tail: 1", "# 尾"])))
    return "".join(lines).replace("\n", newline)


def loaded(text):
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None


@settings(deadline=None, max_examples=300)
@given(records())
def test_any_record_ends_up_with_the_answers_or_untouched(old):
    text, remarks = record(FIVE, READY, RING, old.encode())

    if not text:
        assert next(r.code for r in remarks if r.kind == "problem") in ("unreadable", "uneditable")
        return
    top, before = loaded(text), loaded(old)
    assert {k: top["phase0_intake"][k] for k in FIELDS} == WANTED
    if before is not None:
        own = before["phase0_intake"] or {}
        assert {k: v for k, v in top["phase0_intake"].items() if k not in FIELDS} == {
            k: v for k, v in own.items() if k not in FIELDS
        }
        assert {k: v for k, v in top.items() if k != "phase0_intake"} == {
            k: v for k, v in before.items() if k != "phase0_intake"
        }
    for comment in ("# 头", "# 单独一行", "# 顶格", "# 注释 🚀", "# 尾"):
        assert text.count(comment) == old.count(comment)
    assert record(FIVE, READY, RING, text.encode())[0] == text


@settings(deadline=None, max_examples=200)
@given(records(), st.integers(0, 400), st.integers(0, 20), st.binary(max_size=5))
def test_damage_is_found_or_harmless(old, at, cut, put):
    raw = old.encode()
    raw = raw[:at] + put + raw[at + cut :]
    before = parsed("/w/docs/phase0_intake.yaml", raw)
    text, remarks = record(FIVE, READY, RING, raw)

    assert before.damaged >= 0
    assert set(before.confirmed) <= set(FIELDS)
    if text:
        found = loaded(text)
        inner = found.get("phase0_intake", found) if isinstance(found, dict) else None
        assert inner is None or {k: inner.get(k) for k in FIELDS} == WANTED
    else:
        assert any(r.kind == "problem" for r in remarks)
