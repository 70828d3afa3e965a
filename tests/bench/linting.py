"""opdev-lint on trees, cold and warm, against ast-grep and semgrep with as many rules."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from generate import kernel, tree
from measure import Row, alternate, program, run

from opdev.rules import store

_LANGUAGES = {"cpp": "Cpp", "python": "Python", "bash": "Bash"}


def ast_grep_rules(folder: Path) -> Path:
    """As many ast-grep rules as we have, in the same languages: a call of a name each."""
    rules = folder / "sgrules"
    rules.mkdir(exist_ok=True)
    for rule in store.load():
        for language in rule.languages & _LANGUAGES.keys():
            word = next(iter(rule.needs), rule.name.replace("-", "_")).rstrip("*")
            word = word if word.isidentifier() else rule.name.replace("-", "_")
            kind = "command" if language == "bash" else "call" if language == "python" else "call_expression"
            text = {"id": f"{rule.name}-{language}", "language": _LANGUAGES[language], "severity": "warning", "message": "x",
                    "rule": {"kind": kind, "regex": f"^{word}\\b"}}  # fmt: skip
            (rules / f"{rule.name}-{language}.yml").write_text(json.dumps(text))
            break
    (folder / "sgconfig.yml").write_text("ruleDirs: [sgrules]\n")
    return folder / "sgconfig.yml"


def semgrep_rules(folder: Path) -> Path:
    """The same for semgrep."""
    rules = []
    for rule in store.load():
        for language in sorted(rule.languages & _LANGUAGES.keys()):
            name = rule.name.replace("-", "_")
            pattern = f"{name} ..." if language == "bash" else f"{name}(...)"
            rules.append(
                {"id": name, "languages": [language], "severity": "WARNING", "message": "x", "pattern": pattern}
            )
            break
    path = folder / "semgrep.json"
    path.write_text(json.dumps({"rules": rules}))
    return path


def measure(work: Path, trees: Path | None, *, semgrep: bool) -> list[Row]:
    rows: list[Row] = []
    lint = program("opdev-lint") or "opdev-lint"
    peer = program("ast-grep")
    config = ast_grep_rules(work)
    own = work / "generated"
    files = tree(own, 10)
    for name, folder, budget in (
        ("public trees", trees, 0.5),
        (f"generated corpus ({files} files, all ours)", own, 1.2),
    ):
        if folder is None:
            continue

        def cold(folder: Path = folder) -> None:
            run([lint, ".", "--no-cache", "--format", "json"], folder)

        actions = [cold]
        if peer:
            actions.append(lambda folder=folder: run([peer, "scan", "-c", str(config), "--json=stream", str(folder)]))
        times = alternate(3, *actions)
        ratio = times[0] / times[1] if peer else None
        rows.append(Row(f"opdev-lint, {name}, cold", times[0], "s", None, ratio, budget, "ast-grep"))
        if peer:
            rows.append(Row(f"  ast-grep, {len(list((work / 'sgrules').iterdir()))} rules, the same", times[1], "s"))
        cache = str(work / "cache")
        run([lint, ".", "--format", "json"], folder, OPDEV_CACHE_DIR=cache)
        (warm,) = alternate(
            5, lambda folder=folder, cache=cache: run([lint, ".", "--format", "json"], folder, OPDEV_CACHE_DIR=cache)
        )
        rows.append(Row(f"opdev-lint, {name}, warm", warm, "s", 0.4))
    if semgrep and (program_ := program("semgrep")) and trees is not None:
        rules = semgrep_rules(work)
        arguments = [
            program_,
            "scan",
            "--metrics=off",
            "--disable-version-check",
            "--config",
            str(rules),
            "--json",
            "-j",
            "2",
            str(trees),
        ]
        (spent,) = alternate(1, lambda: run(arguments))
        rows.append(Row("  semgrep, public trees", spent, "s"))
    return rows


def start_up(work: Path) -> list[Row]:
    """Cold processes: one file, and --version."""
    lint = program("opdev-lint") or "opdev-lint"
    path = work / "one" / "custom-ops" / "demo" / "src" / "demo_kernel.cpp"
    path.parent.mkdir(parents=True)
    path.write_text(kernel(300), encoding="utf-8")
    one, version = alternate(9, lambda: run([lint, str(path), "--no-cache"]), lambda: run([lint, "--version"]))
    return [Row("opdev-lint one file, cold process", one, "s", 0.25), Row("opdev-lint --version", version, "s", 0.08)]


def growth(work: Path) -> list[Row]:
    """Ten times the tree, ten times the file: the cost in ratio."""
    lint = program("opdev-lint") or "opdev-lint"
    small, large = work / "small", work / "large"
    tree(small, 0.7)
    tree(large, 7)
    one, ten = alternate(3, *(lambda f=f: run([lint, ".", "--no-cache"], f) for f in (small, large)))
    rows = [Row("tree 10x larger", ten, "s", None, ten / one, 11, "the small one")]
    short, long = work / "short.cpp", work / "long.cpp"
    for path, lines in ((short, 2000), (long, 20000)):
        target = work / path.stem / "custom-ops" / "demo" / "src" / "demo_kernel.cpp"
        target.parent.mkdir(parents=True)
        target.write_text(kernel(lines), encoding="utf-8")
    one, ten = alternate(
        3, *(lambda s=s: run([lint, str(work / s), "--no-cache", "--jobs", "1"]) for s in ("short", "long"))
    )
    rows.append(Row("file 10x longer", ten, "s", None, ten / one, 11, "the short one"))
    for folder in (small, large):
        shutil.rmtree(folder)
    return rows
