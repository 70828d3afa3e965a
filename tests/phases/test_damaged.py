"""Artifacts of any content: half-written, binary, empty, folders, unreadable.  Never a crash, always an answer."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest
from build import finished, performance_report, review_report
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from test_gates import with_intake

from opdev.phases import records
from opdev.phases.evidence import Evidence
from opdev.phases.gates import gate
from opdev.phases.graph import ORDER
from opdev.phases.status import glance, status
from opdev.project.operators import Operator
from opdev.project.places import Places

ARTEFACTS = (
    "docs/design.md", "docs/phase0_intake.yaml", "docs/correctness_report.md", "docs/case_matrix_report.md", "docs/review-report.md",
    "docs/performance_report.md", "scripts/cases.json", "scripts/run_case_matrix.py", "scripts/gen_data.py", "scripts/check_result.py",
    "scripts/run.sh", "README.md", "CMakeLists.txt", "src/main.cpp", "src/allgather_kernel.cpp", "build/bin/allgather",
    "build/build.log", "data/smoke_2pe.log", "data/torch/torch_8pe.log", "data/perf/shmem_8388608_float16.log",
    ".opdev/runs/r1/events.jsonl",
)  # fmt: skip


def judge(root: Path) -> None:
    """Everything there is to ask; places stay inside their files."""
    project = Operator(root.as_posix(), Places())
    evidence = Evidence(project)
    found = status(project)
    assert found.at.phase.id in ORDER
    assert glance(project).text["zh"]
    for phase in ORDER:
        for check in gate(evidence, phase).checks:
            assert check.detail["zh"]
            assert check.detail["en"]
            assert check.holds or check.opens["en"]
            if check.place is not None:
                assert check.place.line >= 1
                assert check.place.column >= 1
                path = Path(check.place.path)
                if path.is_file() and os.access(path, os.R_OK):
                    assert check.place.line <= path.read_bytes().count(b"\n") + path.read_bytes().count(b"\r") + 1


@pytest.fixture(scope="module")
def operator():
    with tempfile.TemporaryDirectory() as folder:
        op = finished(Path(folder), "allgather", optimise=True, met=False, rounds=2)
        with_intake(op)
        op.write("build/build.log", "", 400)
        op.write(".opdev/runs/r1/events.jsonl", '{"step": "build", "result": "pass", "time": 1}\n', 400)
        yield op


CONTENTS = (b"", b"\0" * 100, b"\xff\xfe\xfd\x80" * 9, b"# \xb2\xe2\xca\xd4", b"---\n{[\n", b"| a |\n|---|\n|")


@pytest.mark.parametrize(("number", "path"), list(enumerate(ARTEFACTS)), ids=ARTEFACTS)
def test_one_spoilt_file(operator, number, path):
    whole = (operator.root / path).read_bytes()
    try:
        for content in (CONTENTS[number % len(CONTENTS)], CONTENTS[(number + 3) % len(CONTENTS)]):
            operator.write(path, content, 500)
            judge(operator.root)
    finally:
        operator.write(path, whole, 500)


@pytest.mark.parametrize("content", CONTENTS, ids=repr)
def test_all_files_spoilt(operator, content):
    kept = {path: (operator.root / path).read_bytes() for path in ARTEFACTS}
    try:
        for path in ARTEFACTS:
            operator.write(path, content, 500)
        judge(operator.root)
    finally:
        for path, data in kept.items():
            operator.write(path, data, 500)


def test_folders_where_files_should_be(tmp_path):
    op = finished(tmp_path, "allgather", optimise=True, met=False, rounds=2)
    for path in ARTEFACTS:
        target = op.root / path
        if target.is_file():
            target.unlink()
        target.mkdir(parents=True, exist_ok=True)
        judge(op.root)


def test_files_nobody_may_read(tmp_path, monkeypatch):
    """Root may read everything, so the refusal is made here."""
    op = finished(tmp_path, "allgather")
    refused = {(op.root / path).as_posix() for path in ARTEFACTS}
    real = open

    def refusing(path, *rest, **more):
        if str(path) in refused:
            raise PermissionError(13, "Permission denied", path)
        return real(path, *rest, **more)

    def read(path):
        return None if path in refused else Path(path).read_bytes()

    monkeypatch.setattr("builtins.open", refusing)
    project = Operator(op.root.as_posix(), Places(), read)
    found = status(project)
    assert found.at.row == 1
    assert "cannot be read" in found.at.why["en"]
    for phase in ORDER:
        gate(Evidence(project), phase)


def test_folders_where_files_should_be_are_said(tmp_path):
    op = finished(tmp_path, "allgather")
    op.remove("docs/correctness_report.md")
    (op.root / "docs" / "correctness_report.md").mkdir()

    at = status(Operator(op.root.as_posix(), Places())).at

    assert "cannot be read" in at.why["en"]


def test_links_that_lead_nowhere_or_round(tmp_path):
    op = finished(tmp_path, "allgather")
    op.remove("docs/design.md", "data")
    os.symlink("nowhere.md", op.root / "docs" / "design.md")
    os.symlink(".", op.root / "data", target_is_directory=True)

    judge(op.root)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_artefacts_cut_and_spliced(operator, data):
    path = data.draw(st.sampled_from(ARTEFACTS))
    whole = (operator.root / path).read_bytes()
    start, stop = sorted(data.draw(st.tuples(st.integers(0, len(whole)), st.integers(0, len(whole)))))
    new = whole[:start] + data.draw(st.binary(max_size=20)) + whole[stop:]
    try:
        operator.write(path, new, data.draw(st.integers(0, 3000)))
        judge(operator.root)
    finally:
        operator.write(path, whole, 500)


TEXT = st.text(alphabet="|-#: \n表达标PASSFAIL0123456789.%keeprevert未执行（）*`", max_size=200)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["docs/performance_report.md", "docs/review-report.md", "docs/correctness_report.md"]),
    TEXT,
    st.integers(0, 4000),
)
def test_reports_with_odd_text_inside(operator, path, text, at):
    whole = (operator.root / path).read_text(encoding="utf-8")
    try:
        operator.write(path, whole[:at] + text + whole[at:], 5000)
        judge(operator.root)
    finally:
        operator.write(path, whole, 1300)


LINE = st.one_of(
    st.binary(max_size=80),
    st.dictionaries(
        st.sampled_from(["step", "result", "time", "n_pes", "sources", "message"]),
        st.one_of(st.none(), st.integers(), st.floats(), st.sampled_from(["build", "pass", "fail", "2026-01-01T00:00:00Z", "x"]), st.lists(st.none())),
    ).map(lambda value: __import__("json").dumps(value).encode()),
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.lists(LINE, max_size=8))
@example([b'{"step": "build", "result": "pass", "time": 1e400}'])
@example([b'{"step": "build", "result": "pass", "time": "9999-12-31T23:59:59+99:99"}'])
@example([b"[" * 100_000])
@example([b'{"step": ["build"], "result": {"pass": 1}}'])
def test_run_records_of_any_content(lines):
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / ".opdev" / "runs" / "r" / "events.jsonl"
        target.parent.mkdir(parents=True)
        target.write_bytes(b"\n".join(lines))

        for record in records.read(folder):
            assert record.step in records.STEPS
            assert record.result in records.RESULTS


def calls(root):
    """How many calls an answer takes: no machine is slow or quick at that."""
    made = 0

    def note(frame, event, argument):
        nonlocal made
        made += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        judge(root)
    finally:
        sys.setprofile(before)
    return made


def test_work_grows_with_the_text_and_not_with_its_square(tmp_path):
    taken = []
    for times in (5, 20):
        op = finished(tmp_path / str(times), "allgather", optimise=True, met=False, rounds=2)
        op.write("docs/performance_report.md", performance_report(op, met=False, rounds=2) * times, 1100)
        op.write("docs/review-report.md", review_report(op, final=True) * times, 1300)
        op.write("data/torch/torch_8pe.log", "[PE 0] PASS\n" * 1000 * times, 1200)
        taken.append(calls(op.root))

    assert taken[1] <= taken[0] * 4 * 1.6
