"""Reports in the editor follow the logs and cases they are held against, though nobody lints those."""

from __future__ import annotations

import pytest

REPORT = """# 性能报告：demo

## 3. 基线数据

| case_id | kernel_us |
|---|---|
| large | 1050.1 |
"""


@pytest.fixture
def operator(start, tmp_path):
    root = tmp_path / "custom-ops" / "demo"
    for folder in ("docs", "data/perf", "scripts"):
        (root / folder).mkdir(parents=True)
    log = root / "data" / "perf" / "shmem_1_float16.log"
    log.write_text("[PERF] pe=0 kernel_us=1050.1\n", encoding="utf-8")
    client = start()
    client.initialize(tmp_path, options={"select": ["number-not-in-log", "unreported-case"]})
    return client, root, log


def changed(client, path, kind):
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": kind}]})


def test_a_report_follows_the_log_it_cites(operator):
    client, root, log = operator
    where = client.open(root / "docs" / "performance_report.md", REPORT, language="markdown")
    assert client.diagnostics(where) == []
    since = client.mark
    log.write_text("[PERF] pe=0 kernel_us=990.4\n", encoding="utf-8")
    changed(client, log, 2)
    (found,) = client.diagnostics(where, len, since)
    assert (found["code"], "shmem_1_float16.log" in found["message"]) == ("number-not-in-log", True)
    since = client.mark
    log.write_text("[PERF] pe=0 kernel_us=1050.12\n", encoding="utf-8")
    changed(client, log, 2)
    assert client.diagnostics(where, lambda items: not items, since) == []
    since = client.mark
    log.unlink()
    changed(client, log, 3)

    (found,) = client.diagnostics(where, len, since)
    assert found["severity"] == 2


def test_a_closed_report_follows_a_case_that_is_typed(operator):
    client, root, _ = operator
    report = root / "docs" / "correctness_report.md"
    report.write_text("| Case ID | n_pes | Result |\n|---|---|---|\n| a_2pe | 2 | PASS |\n", encoding="utf-8")
    changed(client, report, 1)
    cases = client.open(root / "scripts" / "cases.json", '[{"case_id": "a_2pe", "n_pes": 2}]\n', language="json")
    client.change(cases, 2, '[{"case_id": "a_2pe", "n_pes": 2}, {"case_id": "b_8pe", "n_pes": 8}]\n')
    (found,) = client.diagnostics(report.as_uri(), len)
    assert "b_8pe" in found["message"]
    since = client.mark
    client.change(cases, 3, '[{"case_id": "a_2pe", "n_pes": 2}]\n')

    assert client.diagnostics(report.as_uri(), lambda items: not items, since) == []


def test_a_log_with_measurements_is_judged_as_it_is_opened_and_typed_into(start, tmp_path):
    log = tmp_path / "custom-ops" / "demo" / "data" / "perf" / "shmem_1_float16.log"
    log.parent.mkdir(parents=True)
    client = start()
    client.initialize(tmp_path, options={"select": ["impossible-measurement", "cut-measurement"]})
    where = client.open(log, "启动\n[PERF] pe=0 kernel_us=nan e2e_us=12\n", language="log")
    (found,) = client.diagnostics(where, len)

    assert (found["code"], found["severity"]) == ("impossible-measurement", 1)
    assert found["range"] == {"start": {"line": 1, "character": 22}, "end": {"line": 1, "character": 25}}

    since = client.mark
    client.change(where, 2, "启动\n[PERF] pe=0 kernel_us=11 e2e_us=12\n")
    assert client.diagnostics(where, lambda items: not items, since) == []

    since = client.mark
    client.change(where, 3, "启动\n[PERF] pe=0 kernel_us=11 e2e_us=1")
    (found,) = client.diagnostics(where, len, since)
    assert found["code"] == "cut-measurement"


def test_nothing_is_said_of_a_log_without_measurements(operator):
    client, root, _ = operator
    where = client.open(root / "data" / "run.log", "PE 0: kernel_us=nan\n", language="plaintext")

    assert client.diagnostics(where) == []
