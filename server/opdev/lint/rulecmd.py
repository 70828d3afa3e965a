"""``opdev rule``: explain, test, scaffold and count rule pages."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from opdev.lint.decisions import DECISIONS
from opdev.lint.elsewhere import ELSEWHERE
from opdev.rules import store
from opdev.rules.model import Lang
from opdev.rules.page import ID, NAME, Page, PageError, read_page

_TEMPLATE = """\
---
id: {id}
name: {name}
severity: warning
kinds: [run-script]
language: bash
{check}needs: []
since: 0.1.0
source: ""
messages:
  default:
    zh: 在此说明 {{what}} 有什么问题、后果是什么
    en: say what is wrong with {{what}} and what it does to the user
---
# 中文标题

问题是什么，后果如何表现，怎样改，什么情况下不适用。

# English title

What it finds, why it hurts and how that shows, what to do, when not to.

{query}```bash bad scripts/run.sh
echo offence
#<---------- {name}
```

```bash good scripts/run.sh
echo fine
```
"""

# A page of one's own is a query: it may bring no code.
_QUERY = """\
```query bash
((command argument: (word) @what) @hit (#eq? @what "offence"))
```

"""


_HELP = {
    "rule": ("规则页：查看、测试、新建、统计", "explain, test, scaffold and count rule pages"),
    "test": ("运行规则页里的例子", "run the examples of rule pages"),
    "pages": ("规则名、规则页或文件夹（默认：全部自带的规则页）", "rule names, page files or folders (default: all shipped pages)"),
    "new": ("新建规则页：opdev rule new 族 名称 编号", "scaffold a rule page: opdev rule new FAMILY NAME ID"),
    "family": ("规则的族，如 runtime", "the family, like runtime"),
    "name": ("规则名，说出毛病，如 hardcoded-endpoint", "the name, which says the offence, like hardcoded-endpoint"),
    "id": ("编号，如 SH999", "the id, like SH999"),
    "folder": ("你自己的规则文件夹；那里的规则只能是查询", "a rules folder of your own, for a rule that is a query"),
    "explain": ("显示一条规则：opdev rule explain OL12", "print a rule's page: opdev rule explain OL12"),
    "which": ("规则名、编号、目录条目，或原检查器的编号（OL12、PL01）", "a name, an id, a catalogue row, an id of the linter it takes over from (OL12, PL01)"),
    "lang": ("输出语言", "the language of the page"),
    "coverage": ("统计目录里有规则页的条目", "count the rows of a catalogue that pages cover"),
    "catalogue": ("目录文件（Markdown）", "the catalogue, a Markdown file"),
    "missing": ("列出还没有规则页的条目", "list the rows no page covers"),
}  # fmt: skip


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """``opdev rule …``."""

    def say(key: str) -> str:
        return _HELP[key][lang == "en"]

    parser = commands.add_parser("rule", help=say("rule"), description=say("rule"))
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    test = actions.add_parser("test", help=say("test"), description=say("test"))
    test.add_argument("pages", nargs="*", help=say("pages"))
    test.set_defaults(run=_test)
    new = actions.add_parser("new", help=say("new"), description=say("new"))
    for name in ("family", "name", "id"):
        new.add_argument(name, metavar=name.upper(), help=say(name))
    new.add_argument("--folder", type=Path, default=None, metavar="DIR", help=say("folder"))
    new.set_defaults(run=_new)
    explain = actions.add_parser("explain", help=say("explain"), description=say("explain"))
    explain.add_argument("rule", metavar="RULE", help=say("which"))
    explain.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("lang"))
    explain.set_defaults(run=_explain)
    coverage = actions.add_parser("coverage", help=say("coverage"), description=say("coverage"))
    coverage.add_argument("catalogue", type=Path, metavar="FILE", help=say("catalogue"))
    coverage.add_argument("--missing", action="store_true", help=say("missing"))
    coverage.set_defaults(run=_coverage)


def _pages(wanted: list[str]) -> tuple[list[Page], list[str]]:
    root = store.rules_folder()
    files: list[tuple[Path, Path]] = []
    names = {p.stem: p for p in sorted(root.rglob("*.md"))}
    if not wanted:
        files = [(p, root) for p in names.values()]
    problems: list[str] = []
    for word in wanted:
        path = Path(word)
        if path.is_dir():
            base = root.resolve() if _inside(path, root) else path.resolve()
            below = [(p, base) for p in sorted(path.resolve().rglob("*.md"))]
            files += below
            if not below:
                problems.append(f"no rule pages in {word}")
        elif path.is_file():
            files.append((path.resolve(), root.resolve() if _inside(path, root) else path.resolve().parent))
        elif word in names:
            files.append((names[word], root))
        else:
            problems.append(f"no rule page {word!r}: give a rule's name, a page or a folder")
    pages: list[Page] = []
    for path, base in files:
        try:
            pages.append(read_page(path, base))
        except PageError as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{path}: cannot be read: {error.strerror}")
    return pages, problems


def _inside(path: Path, root: Path) -> bool:
    return path.resolve().is_relative_to(root.resolve())


def _test(args: argparse.Namespace) -> int:
    from opdev.lint.pagetest import test_pages

    pages, problems = _pages(args.pages)
    known = {page.rule.name: page.rule for page in pages}
    if args.pages:
        for page, _ in [(p, None) for p in _pages([])[0]]:
            known.setdefault(page.rule.name, page.rule)
    report = test_pages(pages, list(known.values()))
    for line in [*problems, *map(str, report.problems)]:
        sys.stdout.write(line + "\n")
    failed = len(problems) + len(report.problems)
    sys.stdout.write(f"{len(pages)} pages, {report.examples} examples, {report.todos} known gaps, {failed} problems\n")
    return 1 if failed else 0


def _new(args: argparse.Namespace) -> int:
    for word, pattern, example in (
        (args.family, NAME, "runtime"),
        (args.name, NAME, "hardcoded-endpoint"),
        (args.id, ID, "SH999"),
    ):
        if not pattern.fullmatch(word):
            sys.stderr.write(f"opdev rule new: {word!r} cannot be used; write it as {example}\n")
            return 2
    folder = (args.folder or store.rules_folder()) / args.family
    path = folder / f"{args.name}.md"
    if path.exists():
        sys.stderr.write(f"{path} exists already\n")
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    module, function = args.family.replace("-", "_"), args.name.replace("-", "_")
    own = args.folder is not None
    text = _TEMPLATE.format(
        id=args.id,
        name=args.name,
        check="" if own else f"check: {module}.{function}\n",
        query=_QUERY if own else "",
    )
    path.write_text(text, encoding="utf-8")
    todo = "write the query" if own else f"write the check opdev/checks/{module}.py:{function}"
    sys.stdout.write(f"wrote {path}; {todo}, then: opdev rule test {path if own else args.name}\n")
    return 0


def _explain(args: argparse.Namespace) -> int:
    from opdev.config import language
    from opdev.lint.explain import explain

    text, status = explain(args.rule, store.load(), language(args.lang))
    (sys.stdout if status == 0 else sys.stderr).write(text)
    return status


_OF_TABLE = re.compile(r"\| (OL\d\d) \| (S[0-3]) \|(?:[^|]*\|){4} ([^|]*)\|")
_OF_PRO = re.compile(r"\| (PL\d\d|K\d\d) \| ([^|]*)\| ([^|]*)\|(?: ([^|]*)\|)?")
"""PyPTO-Pro's linter (id, gates, condition, answer) and its knowledge base (id, fact, signal, confidence)."""


def _coverage(args: argparse.Namespace) -> int:
    try:
        text = args.catalogue.read_text(encoding="utf-8")
    except OSError as error:
        sys.stderr.write(f"{args.catalogue}: cannot be read: {error.strerror}\n")
        return 2
    covered = {row for rule in store.load() for row in (rule.id, *rule.covers)}
    total = done = 0
    group = ""
    groups: dict[str, list[tuple[str, str, str, bool]]] = {}
    for line in text.splitlines():
        if head := re.match(r"### Group: (.+?) \(\d+ rules\)", line):
            group = head[1]
        elif row := re.match(r"#### ((?:SH|PY)\w+) (.+?) — (\w+)", line):
            groups.setdefault(group, []).append((row[1], row[2], row[3], row[1] in covered))
        elif row := _OF_TABLE.match(line):
            # The PyPTO linter's table: | OL01 | S0 | D1 | E1 | 5,6 | impl | subject |
            severity = "error" if row[2] in ("S0", "S1") else "warning"
            groups.setdefault("PyPTO", []).append((row[1], row[3].strip(), severity, row[1] in covered))
        elif row := _OF_PRO.match(line):
            linted = row[1].startswith("PL")
            name = "PyPTO-Pro" if linted else "PyPTO-Pro KB"
            severity = "error" if linted or (row[4] or "").startswith("high") else "warning"
            title = row[3 if linted else 2].strip()
            groups.setdefault(name, []).append((row[1], title, severity, row[1] in covered))
    for name, rows in groups.items():
        have = sum(r[3] for r in rows)
        hard = [r for r in rows if r[2] == "error"]
        total += len(rows)
        done += have
        decided = [r[0] for r in rows if not r[3] and r[0] in DECISIONS]
        held = [r[0] for r in rows if not r[3] and r[0] in ELSEWHERE]
        told = f", {len(decided)} decided against" if decided else ""
        told += f", {len(held)} held by runs and gates" if held else ""
        sys.stdout.write(
            f"{name}: {have} of {len(rows)} rows ({sum(r[3] for r in hard)} of {len(hard)} errors){told}\n"
        )
        if args.missing:
            for identity, title, severity, yes in rows:
                why = DECISIONS.get(identity)
                if not yes and why is not None:
                    sys.stdout.write(f"  {identity} decided against: {why['en']}\n")
                elif not yes and (by := ELSEWHERE.get(identity)) is not None:
                    sys.stdout.write(f"  {identity} held elsewhere: {by['en']}\n")
                elif not yes:
                    sys.stdout.write(f"  {identity} {severity}: {title}\n")
    sys.stdout.write(f"all: {done} of {total} rows by {len(store.load())} pages\n")
    return 0
