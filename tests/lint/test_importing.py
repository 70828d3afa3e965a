"""``--import-check`` runs real imports in real children: what is told, where, and that nothing is left of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from opdev.lint import importing
from opdev.lint.cli import main
from opdev.lint.collect import collect
from opdev.lint.session import Options, Session

IMPL = "# 算子\nimport pypto\n\n\ndef add_wrapper(x):\n    return x\n"
TEST = '# 测试\n"""pypto 算子 add 的测试。"""\nimport json\nfrom add_impl import add_wrapper\n\n\ndef test_level0():\n    add_wrapper(1)\n'


@pytest.fixture
def operator(tmp_path, monkeypatch):
    """An operator whose Python has a ``pypto``: an empty module, since only imports are looked at."""
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "pypto.py").write_text("", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(packages))
    monkeypatch.setenv("PYTHON_CMD", sys.executable)
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "custom" / "add"
    root.mkdir(parents=True)
    (root / "add_impl.py").write_text(IMPL, encoding="utf-8")
    (root / "test_add.py").write_text(TEST, encoding="utf-8")
    return root


def checked(capsys, *words):
    """(status, findings of the import check, standard error)."""
    status = main(["--isolated", "--no-cache", "--format", "json", "--lang", "en", *words, "custom"])
    out, err = capsys.readouterr()
    return status, [f for f in json.loads(out) if f["name"] == "import-fails"], err


def test_what_can_be_imported_is_no_finding_and_without_the_flag_nothing_runs(operator, capsys):
    ran = operator / "ran"
    with (operator / "add_impl.py").open("a", encoding="utf-8") as stream:
        stream.write(f"open({str(ran)!r}, 'w').close()\n")

    assert checked(capsys)[1] == []
    assert not ran.exists()
    assert checked(capsys, "--import-check")[1] == []
    assert ran.exists()


def test_a_missing_module_is_told_at_the_import(operator, capsys):
    (operator / "test_add.py").write_text(TEST.replace("import json", "import jsn_of_nobody  # 拼错"), encoding="utf-8")

    status, found, _ = checked(capsys, "--import-check")

    assert status == 1
    assert [(f["path"], f["line"], f["column"], f["severity"]) for f in found] == [
        ("custom/add/test_add.py", 3, 1, "error")
    ]
    assert "there is no module jsn_of_nobody" in found[0]["message"]


def test_an_exception_is_told_where_it_leaves_each_file(operator, capsys):
    (operator / "add_impl.py").write_text(IMPL + "\n\nWIDTH = 1 // 0\n", encoding="utf-8")

    found = checked(capsys, "--import-check")[1]

    assert [(f["path"], f["line"]) for f in found] == [("custom/add/add_impl.py", 9), ("custom/add/test_add.py", 4)]
    assert all("ZeroDivisionError" in f["message"] for f in found)


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("def broken(:\n", 7, "SyntaxError"),
        ("import os\nos._exit(3)\n", 1, "exit 3"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", 1, "signal 11"),
        ("raise SystemExit('设备不在')\n", 7, "SystemExit: 设备不在"),
    ],
)
def test_however_it_fails_it_is_one_finding(operator, capsys, body, line, words):
    (operator / "test_add.py").unlink()
    (operator / "add_impl.py").write_text(IMPL + body, encoding="utf-8")

    found = checked(capsys, "--import-check")[1]

    assert [(f["line"], words in f["message"]) for f in found] == [(line, True)]


def test_an_import_that_does_not_end_is_stopped_with_what_it_started(operator):
    (operator / "test_add.py").unlink()
    told = operator / "pid"
    (operator / "add_impl.py").write_text(
        "import pypto, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(told)!r}, 'w').write(str(child.pid))\ntime.sleep(600)\n",
        encoding="utf-8",
    )
    session = Session(Options(isolated=True, cwd=str(operator)))

    found = list(importing.check(collect([str(operator)], session.configs).files, session, sys.executable, 5.0))

    assert [(f.key, f.at.line) for f in found] == [("timeout", 1)]
    deadline = time.monotonic() + 20
    while _runs(int(told.read_text())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(int(told.read_text()))


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_the_machine_lacks_is_no_fault_of_the_file(operator, capsys, monkeypatch):
    monkeypatch.delenv("PYTHONPATH")
    (operator / "add_impl.py").write_text(IMPL.replace("import pypto", "import pypto.frontend"), encoding="utf-8")
    if not subprocess.run([sys.executable, "-c", "import pypto"], capture_output=True, check=False).returncode:
        pytest.fail("this environment has pypto: the tests' own must not")

    status, found, err = checked(capsys, "--import-check")

    assert (status, found) == (2, [])
    assert "custom/add/add_impl.py: not import-checked: no module pypto" in err


def test_it_goes_with_files_on_disk_only(operator, capsys):
    assert main(["--import-check", "--stdin-filename", "custom/add/add_impl.py"]) == 2
    assert "--import-check" in capsys.readouterr().err
    assert os.listdir(operator)


def test_what_is_meant_is_silenced_at_its_line_or_by_configuration(operator, capsys, tmp_path):
    said = TEST.replace("import json", "import jsn_of_nobody  # opdev: ignore[import-fails] 有意如此")
    (operator / "test_add.py").write_text(said, encoding="utf-8")
    assert checked(capsys, "--import-check")[1] == []
    assert [f["name"] for f in checked(capsys, "--import-check", "--ignore-suppressions")[1]] == ["import-fails"]
    # Without the flag nothing has looked, so nothing says that the comment is of no use.
    main(["--isolated", "--no-cache", "--format", "json", "custom"])
    assert [f["name"] for f in json.loads(capsys.readouterr().out) if "suppression" in f["name"]] == []

    (operator / "test_add.py").write_text(TEST.replace("import json", "import jsn_of_nobody"), encoding="utf-8")
    assert checked(capsys, "--import-check", "--ignore", "import-fails")[1] == []
    (tmp_path / "opdev.toml").write_text('[severity]\nimport-fails = "warning"\n', encoding="utf-8")
    status = main(["--no-cache", "--import-check", "--select", "import-fails", "--format", "json", "custom"])
    (found,) = json.loads(capsys.readouterr().out)
    assert (status, found["severity"], found["id"], found["doc"]) == (1, "warning", "OP904", "opdev-rule:import-fails")
