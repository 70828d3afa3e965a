"""The invariants of CONTRIBUTING.md, each held here."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import opdev

PACKAGE = Path(opdev.__file__).parent
REPO = PACKAGE.parents[1]
CORE = {"source", "kinds", "syntax", "design", "rules", "project", "config", "programs"}
# What each part may import, itself apart.  One way only.
LAYERS = {
    "source": set(),
    "kinds": set(),
    "api": set(),
    "ourselves": set(),
    "pipes": set(),
    "syntax": {"source", "kinds", "api"},
    "design": {"source", "kinds", "syntax"},
    "facts": {"source", "kinds", "syntax", "design", "api"},
    "rules": {"source", "kinds", "syntax", "design", "api"},
    "contracts": {"source", "kinds", "syntax", "design", "facts", "rules"},
    "checks": {"source", "kinds", "syntax", "design", "facts", "rules", "api", "blocks", "contracts", "perf"},
    "project": {"source", "kinds", "syntax", "design", "facts", "rules", "checks", "contracts"},
    "rounds": {"rules", "atomic"},
    "phases": {
        "source",
        "kinds",
        "syntax",
        "design",
        "facts",
        "rules",
        "project",
        "config",
        "rounds",
        "commandline",
        "columns",
        "pypto",
    },
    "pypto": CORE | {"facts", "atomic"},
    "ignore": set(),
    "columns": set(),
    "atomic": set(),
    "blocks": set(),
    "keeping": set(),
    "configkeys": {"rules"},
    "config": {"configkeys", "ignore", "rules", "kinds"},
    "programs": {"config"},
    "commandline": {"config", "rules", "pipes"},
    "sim": {"source", "kinds", "syntax", "api", "rules", "config", "keeping", "commandline"},
    "precision": CORE | {"facts", "atomic", "commandline", "columns"},
    "perf": {"source", "kinds", "syntax", "design", "facts", "rules", "columns", "atomic", "blocks"},
    "pyptosim": {"rules", "commandline", "keeping", "atomic", "precision", "pypto"},
    "runs": CORE
    | {
        "blocks",
        "facts",
        "phases",
        "sim",
        "api",
        "scaffold",
        "keeping",
        "perf",
        "precision",
        "columns",
        "atomic",
        "rounds",
        "ourselves",
        "pypto",
        "commandline",
    },
    "scaffold": CORE | {"facts", "atomic", "commandline"},
    "clangd": CORE | {"facts", "phases", "atomic", "commandline"},
    "intake": CORE | {"facts", "phases", "atomic", "commandline"},
    "lint": CORE | {"configkeys", "ignore", "api", "checks", "atomic"},
    "workflow": CORE | {"facts", "pypto", "phases", "commandline"},
    "lsp": CORE
    | {
        "facts",
        "phases",
        "ignore",
        "api",
        "checks",
        "intake",
        "runs",
        "clangd",
        "perf",
        "rounds",
        "ourselves",
        "scaffold",
        "contracts",
    },
    "reporting": CORE | {"commandline", "facts", "phases", "runs", "perf", "precision", "rounds", "atomic", "blocks"},
    "bench": CORE
    | {"commandline", "columns", "atomic", "keeping", "ourselves", "runs", "pypto", "pyptosim", "precision", "facts"},
    "cli": {
        "bench",
        "commandline",
        "workflow",
        "lint",
        "lsp",
        "phases",
        "runs",
        "sim",
        "scaffold",
        "intake",
        "clangd",
        "precision",
        "reporting",
    },
    "entry": {"workflow", "pipes", "cli", "lint", "lsp", "phases", "runs", "sim", "scaffold"},
}
LONGEST = 500


def modules():
    return sorted(p for p in PACKAGE.rglob("*.py") if "_data" not in p.parts)


def layer_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[0]


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "opdev" else [f"opdev.{a.name}" for a in node.names]
        found |= {n.split(".")[1] for n in names if n.startswith("opdev.")}
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_imports_point_one_way(path):
    layer = layer_of(path)
    if layer == "__init__":
        return

    assert imported(path) - {layer, "__version__"} <= LAYERS[layer]


def test_checks_are_only_loaded_by_name():
    """The engine imports a check when a rule that names it first runs."""
    for path in modules():
        if layer_of(path) in ("rules", "lint", "lsp", "project"):
            assert "checks" not in imported(path), path


@pytest.mark.parametrize("path", modules(), ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_modules_are_short_and_say_why_they_exist(path):
    text = path.read_text(encoding="utf-8")

    assert text.count("\n") <= LONGEST
    if path.name != "__init__.py" or text.strip():
        assert ast.get_docstring(ast.parse(text))


def test_the_linter_imports_neither_torch_nor_the_server_stack():
    code = (
        "import sys, opdev.lint.cli as c; c.main(['--isolated', '--no-cache', sys.argv[1]]);"
        "bad = {'torch', 'pygls', 'lsprotocol', 'pydantic', 'jinja2', 'watchdog'} & set(sys.modules);"
        "sys.exit(f'imported {sorted(bad)}' if bad else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(REPO / "tests" / "test_architecture.py")],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_top_level_is_what_was_agreed():
    tracked = subprocess.run(["git", "ls-files"], cwd=REPO, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    top = {line.split("/", 1)[0] for line in tracked.stdout.splitlines()}
    allowed = {"pyproject.toml", "server", "client-vscode", "rules", "templates", "commands", "tests", "README.md",
               "README.zh-CN.md", "Makefile", "LICENSE", "CONTRIBUTING.md", "CHANGELOG.md"}  # fmt: skip

    assert {name for name in top if not name.startswith(".")} <= allowed


def test_no_path_of_a_machine_is_tracked():
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=REPO, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    home = str(REPO)
    for name in filter(None, tracked.stdout.split("\0")):
        path = REPO / name
        if path.is_file() and path.stat().st_size < 2_000_000:
            assert home.encode() not in path.read_bytes(), name
