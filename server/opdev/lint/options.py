"""The command line of ``opdev-lint``: what may be said, and what of it makes no sense."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field

import opdev
from opdev.lint.formats import NAMES
from opdev.lint.session import Options
from opdev.rules.model import SEVERITIES, Lang

COMMANDS = ("explain", "rules", "init")
_HELP: dict[str, tuple[str, str]] = {
    "description": (
        "检查昇腾 SHMEM / PyPTO 算子工程。退出码：0 无问题，1 有问题，2 用法、配置或文件有误，3 内部错误。",
        "Lint operators for Ascend NPUs. Exit status: 0 clean, 1 findings, 2 usage, configuration or files, 3 internal error.",
    ),
    "epilog": (
        "其他命令：opdev-lint explain 规则 | opdev-lint rules | opdev-lint init",
        "Other commands: opdev-lint explain RULE | opdev-lint rules | opdev-lint init",
    ),
    "paths": ("要检查的文件或文件夹（默认当前文件夹）", "files or folders (default: the current folder)"),
    "format": ("标准输出的格式", "format of standard output"),
    "output": ("写入文件；[格式=]文件，可多次给出", "write to a file: [FORMAT=]FILE, may be repeated"),
    "fix": ("应用安全的修复", "apply safe fixes"),
    "unsafe": ("也应用可能改变行为的修复", "apply also fixes that may change behaviour"),
    "diff": (
        "只显示修复的差异，不写文件；有差异时退出码为 1",
        "show what fixing would change, write nothing; status 1 if anything",
    ),
    "watch": ("文件变化后重新检查", "lint again when files change"),
    "stdin": ("从标准输入读取，按此文件名判断类型和配置", "read standard input as the content of this file"),
    "select": (
        "只运行这些规则（名称、编号、族名，逗号分隔）",
        "run only these rules (names, ids, families; comma separated)",
    ),
    "extend-select": (
        "另外运行这些规则，包括默认关闭的",
        "run these rules, too, also those that are off by default",
    ),
    "ignore": ("不运行这些规则", "do not run these rules"),
    "profile": ("按哪种口径判断文件", "judge files by this profile"),
    "baseline": ("只报告基线之外的问题", "report only what is not in this baseline"),
    "write-baseline": ("把当前问题写成基线", "write the present findings as a baseline"),
    "changed": ("只报告自某个 git 版本以来新增行上的问题", "report only on lines added since a git revision"),
    "fail": ("达到该级别才以 1 退出（默认 info）", "findings from this severity on make the status 1 (default info)"),
    "level": ("显示该级别及以上（默认 info）", "show findings from this severity on (default info)"),
    "stats": ("在标准错误上列出各规则的耗时和数量", "list time and findings by rule on standard error"),
    "jobs": ("进程数（默认可用核数）", "processes (default: the cores there are)"),
    "no-cache": ("不使用缓存", "do not use the cache"),
    "lang": ("消息语言", "language of messages"),
    "config": ("使用此配置文件", "use this configuration file"),
    "isolated": ("不读任何配置文件", "read no configuration file"),
    "no-suppress": ("不理会 opdev: ignore 注释", "do not honour opdev: ignore comments"),
    "force-exclude": ("命令行直接给出的文件也受 exclude 约束", "let exclude apply to files named outright too"),
    "schema": ("打印 JSON Schema", "print a JSON Schema"),
    "no-frames": ("不显示源码片段", "do not show source lines"),
    "import-check": (
        "在子进程里导入 PyPTO 算子的测试、实现和 golden（会运行它们），报告导入失败；用 PYTHON_CMD 指定 Python",
        "import tests, implementations and goldens of PyPTO operators in child processes (which runs them) and report what fails; PYTHON_CMD names the Python",
    ),
    "files": ("列出会检查的文件", "list the files that would be linted"),
}


@dataclass
class Command:
    """A parsed and checked command line."""

    paths: list[str]
    format: str
    outputs: list[tuple[str, str]]
    """(format, file)"""
    to_stdout: bool
    levels: tuple[str, ...]
    """Applicabilities of the fixes to apply."""
    options: Options
    args: argparse.Namespace = field(repr=False)


class UsageError(ValueError):
    """A command line that makes no sense."""


def parser(lang: Lang) -> argparse.ArgumentParser:
    """The argument parser with help in one language."""

    def text(key: str) -> str:
        return _HELP[key][0 if lang == "zh" else 1]

    p = argparse.ArgumentParser(prog="opdev-lint", description=text("description"), epilog=text("epilog"))
    p.add_argument("paths", nargs="*", help=text("paths"))
    p.add_argument("--version", action="version", version=f"opdev-lint {opdev.__version__}")
    p.add_argument("--format", choices=NAMES, default="full", help=text("format"))
    p.add_argument("--output", action="append", default=[], metavar="[FORMAT=]FILE", help=text("output"))
    p.add_argument("--fix", action="store_true", help=text("fix"))
    p.add_argument("--unsafe-fixes", action="store_true", help=text("unsafe"))
    p.add_argument("--diff", action="store_true", help=text("diff"))
    p.add_argument("--watch", action="store_true", help=text("watch"))
    p.add_argument("--stdin-filename", metavar="FILE", help=text("stdin"))
    p.add_argument("--select", action="append", metavar="RULES", help=text("select"))
    p.add_argument("--extend-select", action="append", metavar="RULES", help=text("extend-select"))
    p.add_argument("--ignore", action="append", metavar="RULES", help=text("ignore"))
    p.add_argument("--profile", choices=("auto", "custom-ops", "in-tree"), help=text("profile"))
    p.add_argument("--baseline", metavar="FILE", help=text("baseline"))
    p.add_argument("--write-baseline", metavar="FILE", help=text("write-baseline"))
    p.add_argument("--changed-since", metavar="REV", help=text("changed"))
    p.add_argument("--fail-level", choices=(*SEVERITIES, "never"), default="info", help=text("fail"))
    p.add_argument("--level", choices=SEVERITIES, default="info", help=text("level"))
    p.add_argument("--stats", action="store_true", help=text("stats"))
    p.add_argument("--jobs", type=int, metavar="N", help=text("jobs"))
    p.add_argument("--no-cache", action="store_true", help=text("no-cache"))
    p.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=text("lang"))
    p.add_argument("--config", metavar="FILE", help=text("config"))
    p.add_argument("--isolated", action="store_true", help=text("isolated"))
    p.add_argument("--ignore-suppressions", action="store_true", help=text("no-suppress"))
    p.add_argument("--force-exclude", action="store_true", help=text("force-exclude"))
    p.add_argument("--no-frames", action="store_true", help=text("no-frames"))
    p.add_argument("--import-check", action="store_true", help=text("import-check"))
    p.add_argument("--show-files", action="store_true", help=text("files"))
    p.add_argument("--print-schema", choices=("config", "rule"), help=text("schema"))
    return p


def asked_language(argv: Sequence[str]) -> str:
    """What ``--lang`` asks for, before parsing, so that usage errors speak it too."""
    for index, word in enumerate(argv):
        if word == "--lang" and index + 1 < len(argv):
            return argv[index + 1]
        if word.startswith("--lang="):
            return word.partition("=")[2]
    return "auto"


def parse(argv: Sequence[str], cwd: str, lang: Lang) -> Command:
    """The command of an argument list; UsageError for one that makes no sense, SystemExit from argparse."""
    args = parser(lang).parse_args(list(argv))
    if args.stdin_filename and (args.paths not in ([], ["-"]) or args.watch):
        raise UsageError("--stdin-filename reads standard input: give no paths and no --watch")
    if args.stdin_filename and args.unsafe_fixes and not args.fix and not args.diff:
        raise UsageError("--unsafe-fixes with --stdin-filename needs --fix or --diff")
    if args.write_baseline and (args.changed_since or args.stdin_filename):
        raise UsageError("--write-baseline takes the whole tree: drop --changed-since and --stdin-filename")
    if args.isolated and args.config:
        raise UsageError("--isolated reads no configuration: drop --config")
    if args.import_check and (args.stdin_filename or args.watch):
        raise UsageError("--import-check imports files as they are on disk: drop --stdin-filename and --watch")
    if args.jobs is not None and args.jobs < 1:
        raise UsageError("--jobs is at least 1")
    outputs, plain = [], False
    for given in args.output:
        name, equals, file = given.partition("=")
        if equals and name in NAMES:
            outputs.append((name, file))
        else:
            outputs.append((args.format, given))
            plain = True
    levels: tuple[str, ...] = ()
    if args.fix or args.unsafe_fixes or args.diff:
        levels = ("safe", "unsafe") if args.unsafe_fixes else ("safe",)
    options = Options(
        select=_words(args.select) if args.select is not None else None,
        extend_select=_words(args.extend_select or []),
        ignore=_words(args.ignore or []),
        profile=args.profile if args.profile != "auto" else None,
        isolated=args.isolated,
        config=args.config,
        ignore_suppressions=args.ignore_suppressions,
        stats=args.stats,
        cwd=cwd,
    )
    paths = args.paths or ["."]
    return Command(paths, args.format, outputs, not plain, levels, options, args)


def _words(groups: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.strip() for group in groups for word in group.split(",") if word.strip())
