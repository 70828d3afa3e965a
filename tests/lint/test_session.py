"""What linting one file of an operator says of the others."""

from opdev.lint.session import Options, Session


def test_the_other_side_of_a_finding_has_its_place(tmp_path):
    operator = tmp_path / "custom-ops" / "demo"
    for name, text in (
        ("scripts/run.sh", 'EXEC_BIN="${OP_DIR}/build/bin/other"\n"${EXEC_BIN}" "${IPPORT}"\n'),
        ("CMakeLists.txt", "# 目标\nproject(demo LANGUAGES CXX)\n  add_executable(demo src/main.cpp)\n"),
    ):
        path = operator / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    session = Session(Options(select=("binary-not-built",), isolated=True, cwd=str(tmp_path)))

    (found,) = session.lint_path(str(operator / "scripts" / "run.sh")).records

    ((place, note),) = found.related
    assert (place.path, place.line, place.column, place.end_column) == ("custom-ops/demo/CMakeLists.txt", 3, 18, 22)
    assert note["en"] == "this is what CMake builds"
