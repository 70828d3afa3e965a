"""``result.json``: what is written is read back whole, what others wrote too, and what is damaged is named with its place."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from needed import package
from reports_made import edit, finished, measured

from opdev.bench import records, schemas, summary
from opdev.bench.model import BenchError, Generated
from opdev.bench.texts import say

SHIPPED = Path(schemas.__file__).parent


def folder_of(root):
    return root / "report/level1/19_ReLU"


def test_a_record_has_the_fields_of_the_field_and_its_evidence(tmp_path):
    root = tmp_path / "batch"
    outcome = finished(root, backend="ascend", performance=measured())
    found = records.read(outcome.report)

    assert {name: found[name] for name in ("op_name", "case_id", "level", "report_subdir", "pypto_status", "pypto_retry_count")} == {
        "op_name": "ReLU", "case_id": "19_ReLU", "level": "level1", "report_subdir": "level1/19_ReLU", "pypto_status": "success",
        "pypto_retry_count": 1,
    }  # fmt: skip
    assert (found["verifier_status"], found["correctness"], found["overall_status"]) == ("passed", True, "success")
    assert (found["perf_base_time_us"], found["perf_gen_time_us"], found["perf_speedup"]) == (100.0, 50.0, 2.0)
    assert (found["backend"], found["started_at"]) == ("ascend", "2026-01-02 03:04:05")
    evidence = found["evidence"]
    assert evidence["verification"] == "verification.json"
    assert evidence["verification_sha256"] == records.digest(f"{outcome.report}/verification.json")
    (source,) = evidence["sources"]
    assert source == {
        "path": "../../../ops/level1/19_ReLU/ReLU_impl.py", "copy": "ReLU_impl.py",
        "sha256": records.digest(str(root / "ops/level1/19_ReLU/ReLU_impl.py")),
    }  # fmt: skip
    assert evidence["case"]["path"] == outcome.case.path
    assert evidence["case"]["copy"] == "task_desc.py"
    assert [one["path"] for one in evidence["logs"]] == [
        "../../../logs/level1/19_ReLU/verify.log",
        "../../../logs/level1/19_ReLU/pypto_run.log",
    ]


def test_what_ended_before_verification_has_no_verdict(tmp_path):
    outcome = finished(tmp_path / "batch", generated=Generated("timeout", {"zh": "超时", "en": "timed out"}, 7200.0))
    found = records.read(outcome.report)

    assert (found["overall_status"], found["verifier_status"], found["correctness"], found["backend"]) == (
        "pypto_failed",
        None,
        None,
        None,
    )
    assert found["pypto_message"] == "超时"
    assert found["messages"]["pypto"] == {"zh": "超时", "en": "timed out"}
    assert found["evidence"]["verification"] is None


@pytest.mark.parametrize("name", ["result", "summary"])
def test_the_schema_that_is_shipped_is_the_one_that_is_made(name):
    assert (SHIPPED / f"{name}.schema.json").read_text(encoding="utf-8") == schemas.text(name)


def test_what_is_written_keeps_to_its_schema(tmp_path):
    jsonschema = package("jsonschema")
    root = tmp_path / "batch"
    finished(root)
    finished(root, "level2/3_Add", op="Add", backend="ascend", performance=measured())
    finished(root, "level2/4_Sub", op="Sub", generated=Generated("artifact_missing"))
    edit(folder_of(root) / "result.json", correctness=False)

    jsonschema.Draft202012Validator.check_schema(schemas.summary())
    jsonschema.validate(summary.build(str(root)), schemas.summary())
    for path in root.glob("report/*/*/result.json"):
        jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), schemas.result())


def test_older_records_are_read_as_they_are(tmp_path):
    old = {
        "op_name": "relu",
        "case_id": "19_ReLU",
        "overall_status": "verify_failed",
        "perf_speedup": float("inf"),
        "perf_gen_time_us": float("nan"),
        "token_usage": {"total": 3},
    }
    (tmp_path / "result.json").write_text("\ufeff" + json.dumps(old), encoding="utf-8")
    found = records.read(str(tmp_path))

    assert set(records.FIELDS) <= set(found)
    assert (found["perf_speedup"], found["perf_gen_time_us"], found["started_at"]) == (None, None, None)
    (tmp_path / "result.json").write_text('{"perf_speedup": 1e999}', encoding="utf-8")
    assert records.read(str(tmp_path))["perf_speedup"] is None
    assert found["token_usage"] == {"total": 3}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (b'{\n "op_name": "x",\n', ":3:1"), (b"", ":1:1"), (b"[1]", ":1:1"), (b'{\n "op_name": "\xff"}', ":2:1"),
        (b'{\n\n "correctness": "yes"}', ":3"), (b'{"perf_speedup": true}', ":1"), (b'{\n "level": 3}', ":2"),
        (b"[" * 100_000, ":1:1"), (b'{"pypto_retry_count": ' + b"9" * 5000 + b"}", ":1:1"),
    ],
)  # fmt: skip
def test_what_is_damaged_is_named_with_its_place(tmp_path, text, place):
    (tmp_path / "result.json").write_bytes(text)
    with pytest.raises(BenchError) as error:
        records.read(str(tmp_path))

    for lang in ("zh", "en"):
        assert f"{tmp_path}/result.json{place}" in say(error.value.key, lang, **error.value.values)


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*records.FIELDS, "path", "copy", "sources"]) | st.text(max_size=4), inner, max_size=5),
        max_leaves=25,
    ),
    st.sampled_from(["v.json", "v.json", "v.json", "\0", "..", "/dev/zero"]),
)  # fmt: skip
def test_whatever_is_in_a_record_a_batch_is_summed_up(tmp_path_factory, value, named):
    root = tmp_path_factory.mktemp("any")
    (root / "level1/1_x").mkdir(parents=True)
    (root / "level1/1_x/result.json").write_text(json.dumps(value), encoding="utf-8")
    (root / "level1/2_y").mkdir()
    told = {"verifier_status": "passed", "correctness": True, "pypto_status": "success", "overall_status": "success"}
    (root / "level1/2_y/result.json").write_text(
        json.dumps({**told, "evidence": {"verification": named, "sources": value, "logs": [value, {"path": "\0"}]}}),
        encoding="utf-8",
    )
    (root / "level1/2_y/v.json").write_text(
        json.dumps(value if isinstance(value, dict) else {"seeds": value}), encoding="utf-8"
    )

    made = summary.build(str(root))
    assert made["totals"]["total"] == 2
    assert made["totals"]["success"] == 0
    json.dumps(made, allow_nan=False)


def test_an_old_record_stays_where_a_new_one_cannot_be_written(tmp_path):
    outcome = finished(tmp_path / "batch")
    path = Path(outcome.report) / "result.json"
    before = path.read_bytes()
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        records.write(outcome, outcome.report)
    path.rmdir()
    path.write_bytes(before)

    assert sorted(os.listdir(outcome.report)) == ["ReLU_impl.py", "result.json", "task_desc.py", "verification.json"]
