"""What is written, what is left alone, and what is said of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import yaml

from opdev.clangd import write
from opdev.clangd.cli import main
from opdev.clangd.dotclangd import BEGIN
from opdev.clangd.finding import program, roots
from opdev.clangd.headers import MARK

NOWHERE = {"PATH": os.environ["PATH"]}


@pytest.fixture(autouse=True)
def no_cann(monkeypatch):
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "SHMEM_HOME_PATH", "PYTHON_CMD"):
        monkeypatch.delenv(name, raising=False)


def commands(root):
    entries = json.loads((root / "compile_commands.json").read_text(encoding="utf-8"))
    return {os.path.relpath(entry["file"], root): entry["arguments"] for entry in entries}


def after(arguments, flag):
    return [arguments[i + 1] for i, word in enumerate(arguments) if word == flag]


def test_an_operator_gets_a_command_for_every_file(corpus):
    root = corpus / "custom-ops" / "allgather"

    written = write(str(root))

    found = commands(root)
    assert set(found) == {"src/allgather_kernel.cpp", "src/allgather_kernel.h", "src/main.cpp", "src/op_runtime.h"}
    assert written.origin == "stand-in"
    assert [os.path.basename(p) for p in written.wrote] == ["compile_commands.json", ".clangd"]
    assert (written.kept, written.left_out, written.notes) == ((), (), ())
    for arguments in found.values():
        assert all(os.path.exists(p) for p in (*after(arguments, "-I"), *after(arguments, "-include"), arguments[-1]))
        assert MARK in arguments
        assert "-xcuda" in arguments
    assert [str(root / "src")] == [p for p in after(found["src/main.cpp"], "-I") if p.startswith(str(corpus))]
    assert yaml.safe_load((root / ".clangd").read_text(encoding="utf-8")) == {
        "Diagnostics": {"Suppress": ["kern_call_not_global_function"]}
    }


def test_writing_again_changes_nothing(corpus):
    root = corpus / "custom-ops" / "allgather"
    write(str(root))
    before = [(p.read_bytes(), p.stat().st_mtime_ns) for p in (root / "compile_commands.json", root / ".clangd")]

    written = write(str(root))

    assert (written.wrote, len(written.same)) == ((), 2)
    assert before == [
        (p.read_bytes(), p.stat().st_mtime_ns) for p in (root / "compile_commands.json", root / ".clangd")
    ]


def test_new_files_and_cmake_show_in_the_next_writing(corpus):
    root = corpus / "custom-ops" / "allgather"
    write(str(root))
    (root / "tools").mkdir()
    (root / "tools" / "dump.cpp").write_text("int main() { return 0; }\n", encoding="utf-8")
    with open(root / "CMakeLists.txt", "a", encoding="utf-8") as stream:
        stream.write(
            "set(CMAKE_CXX_STANDARD 20)\nset(EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/tools)\n"
            "target_include_directories(allgather PRIVATE ${EXTRA} ${UNKNOWN}/x /nowhere $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/scripts>)\n"
            "target_compile_definitions(allgather PRIVATE TILE=64 ${NOBODY})\nadd_definitions(-DFAST -O2)\n"
        )

    assert len(write(str(root)).wrote) == 1

    arguments = commands(root)["tools/dump.cpp"]
    assert {str(root / "tools"), str(root / "scripts")} <= set(after(arguments, "-I"))
    assert [word for word in arguments if word.startswith(("-D", "-std")) and word != MARK] == [
        "-std=c++17",
        "-DTILE=64",
        "-DFAST",
    ]


@pytest.mark.parametrize(
    "content", ['[{"directory": ".", "file": "a.cpp", "command": "bisheng -c a.cpp"}]', "not json", "{}"]
)
def test_a_database_of_the_user_is_left_alone(corpus, content):
    root = corpus / "custom-ops" / "allgather"
    path = root / "compile_commands.json"
    path.write_text(content, encoding="utf-8")

    written = write(str(root))

    assert path.read_text(encoding="utf-8") == content
    assert [(os.path.basename(n.path), n.key) for n in written.kept] == [("compile_commands.json", "foreign-database")]
    assert "--overwrite" in written.kept[0].text("zh")
    assert "--overwrite" in written.kept[0].text("en")
    assert len(write(str(root), overwrite=True).wrote) == 1
    assert commands(root)


def test_a_link_to_a_builds_database_is_not_written_through(corpus):
    root = corpus / "custom-ops" / "allgather"
    (root / "build").mkdir()
    (root / "build" / "compile_commands.json").write_text("[]", encoding="utf-8")
    (root / "compile_commands.json").symlink_to("build/compile_commands.json")

    assert [n.key for n in write(str(root)).kept] == ["foreign-database"]
    write(str(root), overwrite=True)

    assert (root / "build" / "compile_commands.json").read_text(encoding="utf-8") == "[]"
    assert commands(root)


def test_a_config_of_the_user_keeps_every_byte(corpus):
    root = corpus / "custom-ops" / "allgather"
    own = "# 我的设置\nCompileFlags:\n  Add: [-Wshadow]\n"
    (root / ".clangd").write_text(own, encoding="utf-8")

    for _ in range(2):
        write(str(root))

        text = (root / ".clangd").read_text(encoding="utf-8")
        assert text.startswith(own + "---\n")
        assert text.count(BEGIN) == 1
        assert len(list(yaml.safe_load_all(text))) == 2


@pytest.mark.parametrize("content", [b"a: [\n", b"\xff\xfe\x00", f"{BEGIN}\nDiagnostics:\n".encode()])
def test_a_config_nobody_can_read_is_left_alone(corpus, content):
    root = corpus / "custom-ops" / "allgather"
    (root / ".clangd").write_bytes(content)

    written = write(str(root))

    assert [n.key for n in written.kept] == ["foreign-config"]
    assert (root / ".clangd").read_bytes() == content


def test_a_config_that_leads_elsewhere_is_told(corpus):
    root = corpus / "custom-ops" / "allgather"
    (root / ".clangd").write_text("CompileFlags: {CompilationDatabase: build}\n", encoding="utf-8")

    assert [(n.key, n.values["where"]) for n in write(str(root)).notes] == [("other-database", "build")]


def test_what_is_of_this_machine_stays_out_of_git(corpus):
    with_ignore, without = corpus / "custom-ops" / "allgather", corpus / "custom-ops" / "alltoallv"
    (with_ignore / ".gitignore").write_bytes(b"build/\n*.clangd")
    subprocess.run(["git", "init", "-q"], cwd=corpus, check=True)

    ours, theirs = write(str(with_ignore)), write(str(without))

    assert (with_ignore / ".gitignore").read_bytes() == b"build/\n*.clangd\ncompile_commands.json\n.cache/\n"
    assert ours.notes == ()
    assert not (without / ".gitignore").exists()
    assert [n.values["names"] for n in theirs.notes] == ["compile_commands.json .clangd .cache/"]
    assert write(str(with_ignore)).wrote == ()


def test_bindings_wait_for_torch(corpus, tmp_path):
    root = corpus / "custom-ops" / "torch_binding"
    none = write(str(root), environ=NOWHERE, python=sys.executable)
    site = tmp_path / "site"
    api = site / "torch" / "include" / "torch" / "csrc" / "api" / "include"
    (api / "torch").mkdir(parents=True)
    (api / "torch" / "torch.h").write_text("#pragma once\n", encoding="utf-8")
    (site / "torch" / "__init__.py").write_text("raise RuntimeError('nobody may import it')\n", encoding="utf-8")

    some = write(str(root), environ={**NOWHERE, "PYTHONPATH": str(site)}, python=sys.executable)

    assert (none.files, none.wrote, {n.key for n in none.left_out}) == ((), (), {"no-torch"})
    assert some.left_out == ()
    arguments = commands(root)["src/torch_bind_allgather.cpp"]
    assert "-xc++" in arguments
    assert {str(api), str(site / "torch" / "include")} <= set(after(arguments, "-isystem"))
    assert str(corpus / "custom-ops" / "allgather" / "src") in after(arguments, "-I")


def test_roots_are_operators_and_the_bindings_they_share(corpus):
    ops = corpus / "custom-ops"

    assert roots(str(ops / "allgather" / "src")) == [str(ops / "allgather")]
    assert roots(str(ops / "torch_binding" / "src")) == [str(ops / "torch_binding")]
    assert [os.path.basename(r) for r in roots(str(ops))] == [
        "allgather", "alltoallv", "matmul_allreduce", "put_signal", "reduce_scatter", "torch_binding",
    ]  # fmt: skip
    assert str(corpus / "examples" / "halo_exchange") in roots(str(corpus))


def test_the_command_writes_and_tells(corpus, capsys, monkeypatch):
    monkeypatch.chdir(corpus)

    assert main(["examples/halo_exchange", "--lang", "zh"]) == 0
    said = capsys.readouterr()
    assert "模拟环境" in said.out
    assert "已写 examples/halo_exchange/compile_commands.json" in said.out
    (corpus / "custom-ops" / "allgather" / "compile_commands.json").write_text("[1]", encoding="utf-8")
    assert main(["allgather", "--lang", "en"]) == 1
    assert "custom-ops/allgather/compile_commands.json: there is a compile_commands.json" in capsys.readouterr().err
    assert main(["allgather", "--best-effort"]) == 0
    assert main(["nowhere"]) == 2
    assert main(["nowhere", "--best-effort"]) == 0


def test_printing_writes_nothing(corpus, capsys):
    root = corpus / "custom-ops" / "allgather"

    assert main([str(root), "--print"]) == 0

    assert len(json.loads(capsys.readouterr().out)) == 4
    assert not (root / "compile_commands.json").exists()
    assert not (root / ".clangd").exists()


def test_a_clangd_that_is_not_there_is_said_before_anything_is_written(corpus, capsys):
    root = corpus / "custom-ops" / "allgather"
    (root / "opdev.toml").write_text('clangd = "/nowhere/clangd"\n', encoding="utf-8")

    assert main([str(root), "--check", "--lang", "en"]) == 2

    assert "/nowhere/clangd" in capsys.readouterr().err
    assert not (root / "compile_commands.json").exists()
    assert program("/nowhere/clangd") is None


def test_a_folder_without_code_is_said(tmp_path, capsys):
    assert main([str(tmp_path), "--lang", "en"]) == 2
    assert "no C++ file" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_nobody_may_write_to_is_said(corpus):
    root = corpus / "custom-ops" / "allgather"
    (root / "compile_commands.json").mkdir()

    written = write(str(root))

    assert [n.key for n in written.kept] == ["foreign-database"]
    assert len(written.wrote) == 1
