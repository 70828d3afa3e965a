"""The READMEs promise what is there, in both languages the same; so does the pre-commit hook."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import opdev
from opdev import config
from opdev.configkeys import KEYS
from opdev.kinds import SUFFIXES, has_known_suffix
from opdev.lint import cli as lint_cli
from opdev.lint.formats import NAMES
from opdev.lint.options import COMMANDS, parser
from opdev.rules import store

REPO = Path(opdev.__file__).parents[2]
READMES = ("README.md", "README.zh-CN.md")
pytestmark = pytest.mark.skipif(not (REPO / "README.md").is_file(), reason="not a checkout")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(params=READMES)
def readme(request):
    return (REPO / request.param).read_text(encoding="utf-8")


def texts():
    return [(REPO / name).read_text(encoding="utf-8") for name in READMES]


def fences(text, language):
    return [m[2] for m in FENCE.finditer(text) if m[1] == language]


def options(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", text))


def commands(text):
    """What a reader is told to type, comments left out."""
    lines = [line for fence in fences(text, "console") for line in fence.splitlines() if line.startswith("$ ")]
    return [re.sub(r"\s+#.*", "", line) for line in lines]


def test_both_say_the_same_commands_options_and_code():
    english, chinese = texts()

    assert commands(english) == commands(chinese)
    assert options(english) == options(chinese)
    for language in ("toml", "yaml", "lua"):
        assert [re.sub(r"#.*|<.*>", "", f) for f in fences(english, language)] == [
            re.sub(r"#.*|<.*>", "", f) for f in fences(chinese, language)
        ]
    directive = re.compile(r"opdev: [a-z-]+\[[^\]]*\]")
    assert directive.findall(english) == directive.findall(chinese) != []
    assert english.count("\n## ") == chinese.count("\n## ")


def help_of(*command):
    done = subprocess.run([sys.executable, "-m", *command, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    return done.stdout


def test_every_option_named_is_one(readme):
    known = (
        options(parser("en").format_help())
        | options(help_of("opdev.lsp.cli"))
        | options(help_of("opdev.cli", "rule", "new"))
        | options(help_of("opdev.cli", "gate"))
        | options(help_of("opdev.cli", "intake"))
        | options(help_of("opdev.cli", "sim", "exec"))
        | options(help_of("opdev.cli", "clangd"))
        | options(help_of("opdev.cli", "precision"))
        | options(help_of("opdev.cli", "perf", "show"))
        | options(help_of("opdev.cli", "rounds", "start"))
        | {
            o
            for command in ("run", "show", "stop", "doctor", "new", "update", "report")
            for o in options(help_of("opdev.cli", command))
        }
        | {o for action in ("cases", "run", "report", "verify") for o in options(help_of("opdev.cli", "bench", action))}
    )

    assert options(readme) - known == set()


def test_every_command_named_is_one(readme):
    named = {w for m in re.finditer(r"opdev-lint ([a-z]+)\b", readme) for w in [m[1]]}
    rule_actions = set(re.findall(r"opdev rule ([a-z]+)", readme))

    assert named - {*COMMANDS, "custom"} == set()
    assert rule_actions - set(re.findall(r"[a-z]+", help_of("opdev.cli", "rule"))) == set()
    makefile = (REPO / "Makefile").read_text()
    for target in re.findall(r"make ([a-z]+)", readme):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_commands_of_the_terminal_are_accepted(readme):
    for line in commands(readme):
        words = line.removeprefix("$ ").split()
        if words[0] == "opdev-lint" and words[1:2] not in ([c] for c in COMMANDS) and words[1:] != ["--version"]:
            parser("en").parse_args(words[1:])


def test_every_rule_named_is_one(readme):
    names = {r.name for r in store.load()}
    ours = {"opdev-lint", "opdev-lsp", "in-tree", "custom-ops", *KEYS}
    quoted = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", readme))
    suppressed = set(re.findall(r"opdev: [a-z-]+\[([a-z-]+)\]", readme))

    assert quoted - ours - names == set()
    assert suppressed - names == set()
    assert len(quoted & names) >= 6
    table = store.by_name(store.load())
    for name, row in re.findall(r"([a-z]+(?:-[a-z]+)+) \(([A-Z]{2}\d\w+)\)", readme):
        assert table[row.lower()].name == name


def test_the_configuration_shown_is_one(readme, tmp_path):
    (tmp_path / "opdev.toml").write_text(fences(readme, "toml")[0], encoding="utf-8")

    assert config.read(str(tmp_path / "opdev.toml")).exclude == ((str(tmp_path), "third_party/"),)


def test_every_format_is_listed(readme):
    listed = re.search(r"`(full [a-z ]+)`", readme)[1].split()

    assert tuple(listed) == NAMES
    for fence in fences(readme, "yaml"):
        yaml.safe_load(fence)


def test_the_number_of_rules_is_about_right(readme):
    claimed = int(re.search(r"(?:Some|约) (\d+) (?:rules|条规则)", readme)[1])

    assert abs(claimed - len(store.load())) <= len(store.load()) / 10


def test_the_python_needed_is_the_one_packaged(readme):
    needed = re.search(r'requires-python = ">=([\d.]+)"', (REPO / "pyproject.toml").read_text())[1]

    assert f"Python {needed}" in readme


def test_linked_files_exist(readme):
    for target in re.findall(r"\]\(([^)#:]+)\)", readme):
        assert (REPO / target).exists(), target


def test_the_map_for_contributors_has_every_package_and_nothing_else():
    text = (REPO / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Invariants")[0]
    packages = {p.name for p in Path(opdev.__file__).parent.iterdir() if (p / "__init__.py").is_file()}
    rows = [line for line in text.splitlines() if line.startswith("| `server/opdev/")]

    assert {name for row in rows for name in re.findall(r"[`/](\w+)/`", row)} - {
        "parsers",
        "executors",
        "formats",
        "templates",
    } == packages


# The pre-commit hook


@pytest.fixture
def hook():
    hooks = yaml.safe_load((REPO / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert [h["id"] for h in hooks] == ["opdev-lint"]
    return hooks[0]


def test_the_hook_is_shown_and_its_entry_exists(readme, hook):
    shown = next(yaml.safe_load(f) for f in fences(readme, "yaml") if "repos:" in f)

    assert shown["repos"][0]["hooks"] == [{"id": hook["id"]}]
    assert (hook["language"], hook["require_serial"], hook.get("pass_filenames", True)) == ("python", True, True)
    entry = hook["entry"].split()
    scripts = re.search(r"\[project\.scripts\]\n((?:.+\n)+)", (REPO / "pyproject.toml").read_text())[1]
    assert f"{entry[0]} = " in scripts
    parser("en").parse_args([*entry[1:], "a.sh"])


def test_the_hook_is_given_exactly_the_files_that_could_be_ours(hook):
    pattern = re.compile(hook["files"])
    names = [f"x{suffix}" for suffix in {*SUFFIXES, ".log", ".txt", ".bin", ".hp", ".pyc", ""}]
    names += [
        "CMakeLists.txt",
        "MyCMakeLists.txt",
        "RUN.SH",
        "cmakelists.txt",
        "cmakelists",
        "sh",
        "x.sh.bak",
        ".sh",
        "x.cpp~",
    ]

    for folder in ("", "custom-ops/中/"):
        for name in names:
            assert bool(pattern.search(folder + name)) == has_known_suffix(name), name


def test_the_hook_honours_exclude(hook, operator, capsys):
    arguments = [*hook["entry"].split()[1:], "--select", "hardcoded-endpoint", "custom-ops/demo/scripts/run.sh"]
    assert lint_cli.main(arguments) == 1

    (operator.parents[1] / "opdev.toml").write_text('exclude = ["custom-ops/"]\n')
    assert lint_cli.main(arguments) == 0
    assert capsys.readouterr().out.endswith("no findings in 0 files\n")
