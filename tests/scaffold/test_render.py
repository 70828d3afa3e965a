"""What templates make: free of findings, readable by every language's own parser, the same every time."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess

import pytest
import yaml
from needed import needs

from opdev.kinds import Place, classify
from opdev.lint.collect import collect
from opdev.lint.session import Options as LintOptions
from opdev.lint.session import Session
from opdev.scaffold import cases as case_matrix
from opdev.scaffold import kinds
from opdev.scaffold.dtypes import DTYPES
from opdev.scaffold.options import KINDS, LONGEST_NAME, Options
from opdev.scaffold.render import render
from opdev.scaffold.texts import ScaffoldError
from opdev.source import Source
from opdev.syntax.file import File
from opdev.syntax.tree import errors

WIDE = re.compile(r"[\u2e80-\uffee]")


def options(kind, dtypes=("float16",), **given):
    return Options("demo_op", kind, tuple(dtypes), shmem_repo="/srv/shmem", skills_root="/srv/skills", **given)


def read(path):
    data = path.read_bytes()
    return File(Source(str(path), data), classify(str(path), data, in_operator=True), Place())


def test_operators_are_free_of_findings(made):
    session = Session(LintOptions(isolated=True, cwd=str(made.base)))
    folder = "examples" if made.mode == "in_tree_example" else "custom-ops"

    files = collect([str(made.base / folder)], session.configs).files
    found = []
    for file in files:
        result = session.lint_path(file.path)
        assert result.problem is None, result
        found += [(r.path, r.at.line, r.rule, r.message) for r in result.records]

    assert len(files) >= 17
    assert found == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_longest_name_keeps_lines_short(kind):
    named = Options("n" * LONGEST_NAME, kind, ("float16", "float32"), torch=True, shmem_repo="/s", skills_root="/s")

    for file in render(named):
        if file.path.endswith((".cpp", ".h")):
            wide = [line for line in file.text.splitlines() if len(line) + len(WIDE.findall(line)) > 120]
            assert wide == [], file.path


def test_the_design_has_no_problems_of_any_severity(made):
    from opdev.design.document import document_of
    from opdev.design.frame import frame_problems
    from opdev.design.model import problems_of

    file = read(made.root / "docs" / "design.md")

    assert [(p.code, p.path, p.args) for p in problems_of(file)] == []
    assert [(p.code, p.path, p.args) for p in frame_problems(document_of(file))] == []


def test_every_language_reads_its_files(made):
    for path in sorted(p for p in made.base.rglob("*") if p.is_file() and ".opdev" not in p.parts):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"@[{%#]|[}%#]@", text), path
        assert not re.search(r"[ \t]+$", text, re.MULTILINE), path
        assert text.endswith("\n") or not text, path
        assert not text.endswith("\n\n"), path
        if path.suffix == ".py":
            ast.parse(text)
        elif path.suffix == ".json":
            json.loads(text)


@needs("bash")
def test_bash_reads_the_scripts(made):
    for path in sorted(p for p in made.base.rglob("*.sh") if ".opdev" not in p.parts):
        done = subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), path
        assert path.name == "shmem_runtime_env.sh" or path.stat().st_mode & 0o111, path


def test_cpp_and_cmake_parse_without_error(made):
    for path in sorted(p for p in made.root.rglob("*") if p.name == "CMakeLists.txt" or p.suffix in (".cpp", ".h")):
        if ".opdev" not in path.parts:
            assert errors(read(path).root) == [], path


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_options_make_the_same_files(kind):
    first, second = render(options(kind)), render(options(kind))

    assert first == second
    assert len({file.path for file in first}) == len(first)


@pytest.mark.parametrize("kind", KINDS)
def test_every_single_dtype_has_a_whole_matrix(kind):
    for name in kinds.kind_of(kind).dtypes:
        cases = case_matrix.cases(kind, [DTYPES[name]])
        assert len(cases) >= 20
        assert len({case["case_id"] for case in cases}) == len(cases)
        assert {case["scale"] for case in cases} == {"XS", "S", "M", "L"}
        for case in cases:
            size = DTYPES[name].bytes
            for dim in case["shape"]:
                size *= dim
            assert case_matrix.scale_of(size) == case["scale"], case


def test_invariants_name_cases_of_the_matrix(made):
    matrix = json.loads((made.root / "scripts" / "cases.json").read_text(encoding="utf-8"))

    assert matrix["invariants"]
    assert {i["case"] for i in matrix["invariants"]} <= {c["case_id"] for c in matrix["cases"]}


def test_a_container_and_no_performance_phase():
    files = {
        f.path: f.text for f in render(options("allgather", perf=False, docker_container="npu", docker_workdir="/w"))
    }

    dsl = yaml.safe_load(files["docs/design.md"].partition("```yaml\n")[2].partition("```")[0])
    assert dsl["meta"]["docker_container"] == "npu"
    assert dsl["meta"]["docker_exec_required"] is True
    assert dsl["meta"]["performance_required"] is False
    assert not [path for path in files if path.startswith("baseline/") or path == "scripts/perf.sh"]
    assert "add_subdirectory(baseline)" not in files["CMakeLists.txt"]


def test_an_undefined_name_in_a_template_is_an_error(tmp_path, monkeypatch):
    shutil.copytree(kinds.templates_folder(), tmp_path / "operator")
    (tmp_path / "operator" / "README.md").write_text("# @{ no_such_name }@\n", encoding="utf-8")
    monkeypatch.setenv("OPDEV_TEMPLATES", str(tmp_path / "operator"))

    with pytest.raises(ScaffoldError) as caught:
        render(options("custom"))

    assert "README.md" in caught.value.text("en")
    assert "no_such_name" in caught.value.text("zh")


def test_paths_of_a_machine_are_quoted_where_yaml_needs_it():
    files = {
        f.path: f.text
        for f in render(Options("a", "custom", ("int8",), shmem_repo="/srv/共享: #1", skills_root="/s k"))
    }

    dsl = yaml.safe_load(files["docs/design.md"].partition("```yaml\n")[2].partition("```")[0])
    assert dsl["meta"]["shmem_repo"] == "/srv/共享: #1"
    assert dsl["meta"]["skills_root"] == "/s k"
