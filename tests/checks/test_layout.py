"""A file in the wrong place, or of the wrong name, is one finding: not also a file that is missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from opdev.lint.collect import collect
from opdev.lint.session import Options, Session

CLEAN = Path(__file__).parents[1] / "corpus" / "clean" / "custom-ops"


@pytest.fixture
def allgather(tmp_path):
    shutil.copytree(CLEAN, tmp_path / "custom-ops")
    return tmp_path / "custom-ops" / "allgather"


def findings(op, *families):
    session = Session(Options(isolated=True, cwd=str(op)))
    found = [r for f in collect([str(op)], session.configs).files for r in session.lint_path(f.path).records]
    assert found
    return sorted((r.path, r.rule) for r in found if r.rule != "source-not-built"), found


@pytest.mark.parametrize(
    ("old", "new", "rule", "told"),
    [
        ("src/main.cpp", "main.cpp", "source-outside-src", "src/main.cpp"),
        ("src/allgather_kernel.cpp", "allgather_kernel.cpp", "source-outside-src", "src/allgather_kernel.cpp"),
        ("src/allgather_kernel.h", "scripts/allgather_kernel.h", "source-outside-src", "src/allgather_kernel.h"),
        ("scripts/run.sh", "run.sh", "script-outside-scripts", "scripts/run.sh"),
        ("scripts/gen_data.py", "gen_data.py", "script-outside-scripts", "scripts/gen_data.py"),
        ("docs/design.md", "design.md", "misplaced-design", "allgather"),
        ("docs/design.md", "src/design.md", "document-outside-docs", "docs/design.md"),
        ("docs/design.md", "docs/Design.md", "document-outside-docs", "docs/design.md"),
    ],
)
def test_a_misplaced_file_is_told_where_it_stands(allgather, old, new, rule, told):
    (allgather / old).rename(allgather / new)
    found, records = findings(allgather)

    assert found == [(new, rule)]
    assert any(told in str(r.args) for r in records)


@pytest.mark.parametrize(("suffix", "message"), [(".cpp", "kernel"), (".h", "header")])
def test_a_kernel_of_another_name_is_told_at_the_name(allgather, suffix, message):
    (allgather / f"src/allgather_kernel{suffix}").rename(allgather / f"src/gather_kernel{suffix}")
    found, records = findings(allgather)

    assert found == [("docs/design.md", "operator-name-mismatch")]
    assert message in {r.key for r in records}


@pytest.mark.parametrize(
    ("gone", "told"),
    [("scripts/gen_data.py", "没有输入数据"), ("scripts/check_result.py", "判断结果"), ("scripts/run.sh", "入口")],
)
def test_a_missing_script_says_what_cannot_be_done(allgather, gone, told):
    (allgather / gone).unlink()
    found, records = findings(allgather)

    assert found == [("docs/design.md", "missing-operator-file")]
    assert told in records[0].args["zh"]
