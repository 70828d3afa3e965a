"""What is shipped: the wheel works alone, and nothing it needs to build is missing."""

from __future__ import annotations

import configparser
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import opdev
from opdev.rules import store
from opdev.rules.page import parse_page

REPO = Path(opdev.__file__).parents[2]
pytestmark = pytest.mark.skipif(not (REPO / "pyproject.toml").is_file(), reason="not a checkout")


def pages():
    return {p.relative_to(REPO / "rules").as_posix() for p in (REPO / "rules").rglob("*.md")}


def build(folder, kind, temporary):
    temporary.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", str(folder), str(REPO)],
        cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build(folder, "wheel", folder / "temporary")
    assert [p.name for p in (folder / "temporary").iterdir()] == []
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The wheel's content in a folder of its own."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def run(installed, tmp_path):
    """Runs Python with the wheel's content first on its path, from an empty folder."""
    work = tmp_path / "empty"
    work.mkdir()
    safe = ["-P"] if sys.version_info >= (3, 11) else []

    def start(*arguments, **more):
        environment = {
            "PATH": os.environ["PATH"], "PYTHONPATH": str(installed), "OPDEV_CACHE_DIR": str(tmp_path / "cache"), "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(tmp_path),
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, *safe, *arguments], cwd=work, env=environment, capture_output=True, text=True, encoding="utf-8",
            check=False, **more,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    start.folder = work
    return start


def test_the_wheel_carries_rules_templates_commands_and_schemas(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        compiled = json.loads(archive.read("opdev/_data/rules.json"))
        docs = json.loads(archive.read("opdev/_data/rules-docs.json"))
        schemas = [json.loads(archive.read(f"opdev/_data/schemas/{n}.json"))["title"] for n in ("opdev.toml", "rule")]

    assert {
        n.removeprefix("opdev/_data/rules/") for n in names if n.startswith("opdev/_data/rules/") and n.endswith(".md")
    } == pages()
    for folder in ("templates", "commands"):
        here = {
            p.relative_to(REPO).as_posix()
            for p in (REPO / folder).rglob("*")
            if p.is_file() and "__pycache__" not in p.parts
        }
        assert {n.removeprefix("opdev/_data/") for n in names if n.startswith(f"opdev/_data/{folder}/")} == here
    sources = {p.relative_to(REPO / "server").as_posix() for p in (REPO / "server" / "opdev").rglob("*.py")}
    assert {n for n in names if n.endswith(".py") and "/_data/" not in n} == sources
    assert {n for n in names if n.endswith(".pyc") or "__pycache__" in n} == set()
    assert len(compiled["rules"]) == len(docs) == len(pages())
    assert schemas == ["opdev.toml", "opdev rule page front matter"]
    assert "opdev-0" not in "".join(n for n in names if ".dist-info/" not in n)
    assert any(n.endswith(".dist-info/licenses/LICENSE") for n in names)


def test_compiled_rules_are_those_of_the_pages(installed):
    compiled = json.loads((installed / "opdev" / "_data" / "rules.json").read_bytes())["rules"]
    fresh = {
        rule.name: rule
        for name in pages()
        for rule in [parse_page((REPO / "rules" / name).read_text(encoding="utf-8"), name).rule]
    }

    assert {r["name"]: store.rule_from(r) for r in compiled} == fresh


def test_the_wheel_is_what_runs(run, installed):
    status, out, _ = run("-c", "import opdev, opdev.rules.store as s; print(opdev.__file__); print(s.rules_folder())")

    assert status == 0
    assert [os.path.realpath(line) for line in out.splitlines()] == [
        os.path.realpath(installed / "opdev" / "__init__.py"), os.path.realpath(installed / "opdev" / "_data" / "rules"),
    ]  # fmt: skip


def test_version_rules_and_explain(run):
    assert run("-m", "opdev.lint.cli", "--version") == (0, f"opdev-lint {opdev.__version__}\n", "")

    status, out, err = run("-m", "opdev.lint.cli", "rules", "json")
    assert (status, err) == (0, "")
    assert {r["name"] for r in json.loads(out)} == {Path(p).stem for p in pages()}

    status, out, err = run("-m", "opdev.lint.cli", "explain", "hardcoded-endpoint", "--lang", "zh")
    prose = parse_page(
        (REPO / "rules/ports/hardcoded-endpoint.md").read_text(encoding="utf-8"), "ports/hardcoded-endpoint.md"
    ).docs["zh"]
    assert (status, err) == (0, "")
    assert prose.strip().splitlines()[0].removeprefix("# ") in out
    assert prose.strip().splitlines()[2] in out


def test_a_seeded_offence_is_found_and_no_page_is_compiled_again(run, tmp_path):
    script = run.folder / "custom-ops" / "demo" / "scripts" / "run.sh"
    script.parent.mkdir(parents=True)
    script.write_text('IPPORT="tcp://127.0.0.1:27010"\n')

    status, out, err = run("-m", "opdev.lint.cli", "--format", "json", "--select", "hardcoded-endpoint")

    assert (status, err) == (1, "")
    assert [(f["path"], f["line"], f["column"], f["name"]) for f in json.loads(out)] == [
        ("custom-ops/demo/scripts/run.sh", 1, 8, "hardcoded-endpoint")
    ]  # fmt: skip
    assert [p.name for p in (tmp_path / "cache").glob("*.json")] == []


def test_the_pages_in_the_wheel_pass_their_own_tests(run):
    status, out, err = run("-m", "opdev.cli", "rule", "test", "hardcoded-endpoint", "bare-cmake")

    assert (status, err) == (0, "")
    assert out.startswith("2 pages, ")


def test_every_command_starts(run, installed):
    parser = configparser.ConfigParser()
    parser.read(next(installed.glob("*.dist-info/entry_points.txt")))
    scripts = dict(parser["console_scripts"])

    assert sorted(scripts) == ["opdev", "opdev-lint", "opdev-lsp"]
    for name, place in scripts.items():
        module, function = place.split(":")
        code = f"import sys, {module} as m; sys.argv = [{name!r}, sys.argv[1]]; sys.exit(m.{function}())"
        assert run("-c", code, "--version") == (0, f"{name} {opdev.__version__}\n", "")
        status, out, err = run("-c", code, "--help")
        assert (status, err) == (0, "")
        assert name in out


def test_building_needs_only_what_the_build_system_names():
    """Rules are compiled where nothing but hatchling, PyYAML and pydantic is installed."""
    code = (
        "import sys\n"
        "class Block:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.split('.')[0] in ('tree_sitter', 'pygls', 'lsprotocol', 'watchdog', 'pathspec'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Block())\n"
        "from pathlib import Path\n"
        "from opdev.configkeys import schema\n"
        "from opdev.rules.page import schema as rule_schema\n"
        "from opdev.rules.store import compile_folder\n"
        "schema(), rule_schema()\n"
        "print(len(compile_folder(Path(sys.argv[1]), 'x')[0]['rules']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(REPO / "rules")], capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout, done.stderr) == (0, f"{len(pages())}\n", "")


def test_the_source_distribution_holds_all_a_wheel_is_built_from(tmp_path):
    build(tmp_path, "sdist", tmp_path / "temporary")
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = {n.partition("/")[2] for n in archive.getnames()}

    assert {n.removeprefix("rules/") for n in names if n.startswith("rules/") and n.endswith(".md")} == pages()
    assert {"pyproject.toml", "server/hatch_build.py", "README.md", "LICENSE", "server/opdev/__init__.py"} <= names
