"""opdev-lint as its users meet it: exit status, stdout and stderr together."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from opdev.lint import cli

ONLY = ["--select", "hardcoded-endpoint,OP"]
SH = "custom-ops/demo/scripts/run.sh"


@pytest.fixture
def lint(capsys):
    def run(*arguments, only=True):
        status = cli.main([*arguments, *(ONLY if only else [])])
        out = capsys.readouterr()
        return status, out.out, out.err

    return run


def test_a_finding(lint, operator):
    assert lint("--format", "concise") == (
        1,
        f"{SH}:1:8: error hardcoded-endpoint: IPPORT is fixed to tcp://127.0.0.1:27010"
        + lint("--format", "concise")[1].split("27010", 1)[1],
        "",
    )


def test_full_shows_frame_and_fix(lint, operator):
    status, out, err = lint()

    assert (status, err) == (1, "")
    assert '  1 | IPPORT="tcp://127.0.0.1:27010"\n    |        ^^^^^^^^^^^^^^^^^^^^^^^\n' in out
    assert "[--fix]" in out
    assert out.endswith("1 finding: 1 error, 1 of them fixable with --fix\n")


def test_clean(lint, operator):
    (operator / "scripts" / "run.sh").write_text("echo\n")

    assert lint() == (0, "no findings in 1 file\n", "")


def test_chinese_by_locale_and_by_flag(lint, operator, monkeypatch):
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert "个问题" in lint()[1]
    assert "个问题" not in lint("--lang", "en")[1]
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    assert "个问题" in lint("--lang", "zh")[1]


def test_frames_line_up_under_chinese(lint, operator):
    (operator / "scripts" / "run.sh").write_text('echo "中文"; IPPORT="tcp://1.2.3.4:5678"\n', encoding="utf-8")

    frame = lint()[1].splitlines()[3:5]

    assert frame[0].index("1 |") == frame[1].index("  |")
    assert frame[1].count("^") == len('"tcp://1.2.3.4:5678"')
    assert frame[1].index("^") == frame[0].index('"tcp') + 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "nowhere: not linted: No such file or directory"),
        (["--select", "hardcoded-endpont"], "did you mean 'hardcoded-endpoint'"),
        (["--config", "none.toml"], "none.toml"),
        (["--baseline", "none.json"], "none.json"),
        (["--jobs", "0"], "at least 1"),
        (["--isolated", "--config", "x"], "--isolated"),
        (["--stdin-filename", "a.sh", "b.sh"], "standard input"),
    ],
)
def test_wrong_use_is_status_2_and_says_what(lint, operator, arguments, words):
    status, _, err = lint(*arguments, only=False)

    assert status == 2
    assert words in err


def test_a_wrong_config_names_file_and_line(lint, operator):
    (operator.parents[1] / "opdev.toml").write_text('ignore = []\nselct = ["all"]\n')

    status, out, err = lint(only=False)

    assert (status, out) == (2, "")
    assert err.endswith("opdev.toml:2: unknown key 'selct'; did you mean 'select'?\n")


def test_an_unreadable_file_is_named_and_the_rest_linted(lint, operator, monkeypatch):
    (operator / "scripts" / "perf.sh").write_text("x")
    real = Path.read_bytes

    def refuse(path):
        if path.name == "perf.sh":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    status, out, err = lint("--format", "concise", "--jobs", "1")

    assert status == 2
    assert "perf.sh: not linted: Permission denied" in err
    assert SH in out


def test_a_file_that_vanishes_is_named_and_the_rest_linted(lint, operator):
    (operator / "scripts" / "perf.sh").symlink_to(operator / "gone.sh")

    status, out, err = lint("--format", "concise", str(operator / "scripts" / "perf.sh"), str(operator))

    assert status == 2
    assert "perf.sh: not linted: No such file" in err
    assert SH in out


def test_fix_writes_and_keeps_mode_and_line_ends(lint, operator):
    path = operator / "scripts" / "run.sh"
    path.write_bytes("# 中文\r\nIPPORT=tcp://127.0.0.1:27010\r\n".encode("gbk"))
    path.chmod(0o750)

    status, out, err = lint("--fix")

    text = path.read_bytes().decode("gbk")
    assert (status, out) == (0, "no findings in 1 file\n")
    assert "fixed 1 (hardcoded-endpoint)" in err
    assert text.startswith("# 中文\r\n")
    assert "${IPPORT:-" in text
    assert "\n" not in text.replace("\r\n", "")
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert lint("--fix")[2] == ""


def test_fix_through_a_link_keeps_the_link(lint, operator):
    real = operator / "real.sh"
    (operator / "scripts" / "run.sh").rename(real)
    (operator / "scripts" / "run.sh").symlink_to(real)

    lint("--fix", SH)

    assert (operator / "scripts" / "run.sh").is_symlink()
    assert "${IPPORT:-" in real.read_text()


def test_diff_writes_nothing_and_git_takes_it(lint, operator):
    before = (operator / "scripts" / "run.sh").read_text()

    status, out, _ = lint("--diff")

    assert status == 1
    assert (operator / "scripts" / "run.sh").read_text() == before
    done = subprocess.run(["git", "apply", "--check", "-"], input=out, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_full_disk_leaves_the_file_whole(lint, operator, monkeypatch):
    path = operator / "scripts" / "run.sh"
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    status, _, err = lint("--fix")

    assert status == 2
    assert "not written: No space left on device" in err
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["run.sh"]


def test_stdin_is_judged_by_its_name(operator):
    done = subprocess.run(
        [sys.executable, "-m", "opdev.lint.cli", "--stdin-filename", SH, "--format", "json", *ONLY],
        input=b"IPPORT=tcp://127.0.0.1:1234\n", capture_output=True, check=False,
    )  # fmt: skip

    assert done.returncode == 1
    assert [(f["path"], f["line"], f["name"]) for f in json.loads(done.stdout)] == [(SH, 1, "hardcoded-endpoint")]


def test_stdin_fix_prints_the_fixed_text(operator):
    done = subprocess.run(
        [sys.executable, "-m", "opdev.lint.cli", "--stdin-filename", SH, "--fix", *ONLY],
        input=b"\xef\xbb\xbfIPPORT=tcp://127.0.0.1:1234\r\n", capture_output=True, check=False,
    )  # fmt: skip

    assert done.stdout.startswith(b"\xef\xbb\xbf")
    assert b"${IPPORT:-" in done.stdout
    assert done.stdout.endswith(b"\r\n")


def test_several_outputs_in_one_run(lint, operator):
    status, out, _ = lint("--output", "sarif=a.sarif", "--output", "junit=b.xml", "--format", "concise")

    assert status == 1
    assert SH in out
    assert json.loads(Path("a.sarif").read_text())["version"] == "2.1.0"
    assert Path("b.xml").read_text().startswith("<?xml")
    assert lint("--output", "c.json", "--format", "json")[1] == ""
    assert json.loads(Path("c.json").read_text())[0]["name"] == "hardcoded-endpoint"


def test_baseline_fails_new_findings_only(lint, operator):
    path = operator / "scripts" / "run.sh"
    assert lint("--write-baseline", "base.json")[0] == 0
    assert lint("--baseline", "base.json")[0] == 0

    path.write_text("# moved down\n\n" + path.read_text())
    assert lint("--baseline", "base.json") == (0, "no findings in 1 file; 1 more are in the baseline\n", "")

    path.write_text(path.read_text() + "export SHMEM_UID_SESSION_ID=127.0.0.1:9999\n")
    status, out, _ = lint("--baseline", "base.json", "--format", "concise")
    assert status == 1
    assert out.count("hardcoded-endpoint") == 1
    assert ":5:" in out

    path.write_text("echo\n")
    status, _, err = lint("--baseline", "base.json")
    assert (status, "are gone" in err) == (0, True)


def test_changed_since_reports_added_lines_only(lint, operator):
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True)
    assert lint("--changed-since", "HEAD")[0] == 0

    path = operator / "scripts" / "run.sh"
    path.write_text(path.read_text() + "export SHMEM_UID_SESSION_ID=127.0.0.1:9999\n")
    (operator / "scripts" / "run2.sh").write_text("IPPORT=tcp://127.0.0.1:1111\n")
    _, out, _ = lint("--changed-since", "HEAD", "--format", "concise")

    assert [line.split(":")[1] for line in out.splitlines()[:-1]] == ["3", "1"]
    assert lint("--changed-since", "nowhere")[0] == 2


def test_fail_level_and_level(lint, operator):
    assert lint("--fail-level", "never")[0] == 0
    assert lint("--fail-level", "error")[0] == 1
    (operator.parents[1] / "opdev.toml").write_text("[severity]\nhardcoded-endpoint = 'hint'\n")
    assert lint() == (0, "no findings in 1 file\n", "")
    assert lint("--level", "hint")[0] == 0
    assert "hint hardcoded-endpoint" in lint("--level", "hint", "--format", "concise")[1]


def test_configuration_nearest_wins_and_paths_are_its_own(lint, operator):
    (operator.parents[1] / "opdev.toml").write_text('ignore = ["hardcoded-endpoint"]\n')
    assert lint("--format", "concise", only=False)[1].count("hardcoded-endpoint") == 0
    (operator / "opdev.toml").write_text('[per-file-ignores]\n"scripts/*.sh" = ["runtime"]\n')
    assert lint("--format", "concise", only=False)[1].count("hardcoded-endpoint") == 1
    (operator / "opdev.toml").write_text('extend = "../../opdev.toml"\n')
    assert lint("--format", "concise", only=False)[1].count("hardcoded-endpoint") == 0


def test_exclude_and_gitignore(lint, operator):
    root = operator.parents[1]
    (root / ".gitignore").write_text("run.sh\n")
    assert lint()[1] == "no findings in 0 files\n"
    assert lint(SH)[0] == 1
    (root / "opdev.toml").write_text("respect-gitignore = false\n")
    assert lint()[0] == 1
    (root / "opdev.toml").write_text('respect-gitignore = false\nexclude = ["custom-ops/demo/"]\n')
    assert lint()[0] == 0
    assert lint(SH, "--force-exclude")[0] == 0


def test_cached_and_fresh_say_the_same(lint, operator):
    first = lint("--format", "json")

    assert lint("--format", "json") == first == lint("--format", "json", "--no-cache")
    path = operator / "scripts" / "run.sh"
    path.write_text("echo changed\n")
    assert json.loads(lint("--format", "json")[1]) == []


def test_serial_and_parallel_say_the_same(lint, operator):
    for number in range(60):
        (operator / "scripts" / f"run_{number}.sh").write_text(
            f"IPPORT=tcp://127.0.0.1:{2000 + number}\n" * (number % 3)
        )

    serial = lint("--no-cache", "--jobs", "1", "--format", "json")

    assert serial == lint("--no-cache", "--jobs", "2", "--format", "json")
    assert len(json.loads(serial[1])) == 1 + sum(n % 3 for n in range(60))


def test_an_internal_error_is_status_3_and_the_rest_is_linted(lint, operator, monkeypatch):
    from opdev.checks import ports

    (operator / "scripts" / "run2.sh").write_text("IPPORT=tcp://127.0.0.1:1111\n")
    real = ports.hardcoded_endpoint

    def broken(context):
        if context.file.path.endswith("run2.sh"):
            raise RuntimeError("boom")
        return real(context)

    monkeypatch.setattr(ports, "hardcoded_endpoint", broken)
    from opdev.rules.engine import check_of

    check_of.cache_clear()
    status, out, _ = lint("--no-cache", "--jobs", "1", "--format", "concise")
    monkeypatch.undo()
    check_of.cache_clear()

    assert status == 3
    assert "run2.sh:1:1: error internal-error: rule hardcoded-endpoint failed" in out
    assert f"{SH}:1:8: error hardcoded-endpoint" in out


def test_a_closed_pipe_is_no_error(operator):
    for number in range(400):
        (operator / "scripts" / f"run_{number}.sh").write_text("IPPORT=tcp://127.0.0.1:2000\n" * 20)
    command = f"{sys.executable} -m opdev.lint.cli --no-cache {' '.join(ONLY)} | head -1; echo ${{PIPESTATUS[0]}}"

    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)

    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] in ("0", "1")


def test_ctrl_c_ends_it_with_one_line(operator):
    (operator / "scripts" / "fifo.sh").unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "opdev.lint.cli", "--stdin-filename", SH],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    # It has begun to read once it took more than the pipe holds.
    process.stdin.write(b"#" * 200_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)

    out, err = process.communicate(timeout=20)

    assert process.returncode == 130
    assert (out, err) == (b"", b"interrupted\n")


def test_explain_rules_and_init(lint, operator, capsys):
    assert cli.main(["explain", "SH700"]) == 0
    assert "hardcoded-endpoint" in capsys.readouterr().out
    assert cli.main(["explain", "hardcoded-endpont", "--lang", "zh"]) == 2
    assert "是否想写 hardcoded-endpoint" in capsys.readouterr().err
    assert cli.main(["rules", "json"]) == 0
    assert "hardcoded-endpoint" in {r["name"] for r in json.loads(capsys.readouterr().out)}
    assert cli.main(["init"]) == 0
    assert lint(only=False)[0] in (0, 1)
    assert cli.main(["init"]) == 2


def test_version_and_help_in_both_languages(capsys):
    for arguments, words in ((["--help"], "Lint operators"), (["--help", "--lang", "zh"], "检查昇腾")):
        with pytest.raises(SystemExit) as caught:
            cli.main(arguments)
        assert caught.value.code == 0
        assert words in capsys.readouterr().out


def test_watch_lints_again_after_a_change(operator):
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "opdev.lint.cli", "--watch", "--format", "concise", "--no-cache", *ONLY],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        first = [process.stdout.readline() for _ in range(2)]
        (operator / "scripts" / "run.sh").write_text("echo fixed\n")
        again = process.stdout.readline()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=20)

    assert "hardcoded-endpoint" in first[0]
    assert again == "no findings in 1 file\n"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems' file names are Unicode")
def test_a_name_that_is_not_utf8_leaves_the_cache_warm(lint, operator, monkeypatch):
    odd = os.fsdecode(b"\xffrun.sh")
    (operator / "scripts" / odd).write_text("IPPORT=tcp://127.0.0.1:1111\n")
    first = lint("--format", "concise")

    monkeypatch.setattr("opdev.lint.session.Session.lint_path", lambda *_: pytest.fail("linted again"))

    assert lint("--format", "concise") == first


def test_a_file_of_any_name_that_comes_makes_its_operator_be_looked_at_again(lint, operator, monkeypatch):
    """Rules ask whether files are there, whatever their names."""
    from opdev.lint.session import Session

    first = lint("--format", "concise")
    (operator / "table.inc").write_text("1\n")
    looked = []
    real = Session.lint_path
    monkeypatch.setattr(Session, "lint_path", lambda session, path: looked.append(path) or real(session, path))

    assert lint("--format", "concise") == first
    assert [path.rpartition("/")[2] for path in looked] == ["run.sh"]
