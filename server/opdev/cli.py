"""``opdev``: one entry point whose subcommands are loaded when called."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import opdev

_LANGS = ("auto", "zh", "en")
_COMMANDS = {
    "new": ("用模板写出一个能用的新算子", "write a new operator from templates"),
    "intake": ("开始之前的五个问题", "ask the five questions an operator starts with"),
    "status": ("算子做到哪一步、接着做什么", "where an operator stands, and what comes next"),
    "gate": ("某个阶段为什么过不去、怎样才能过", "what keeps a phase of an operator closed, and what opens it"),
    "run": ("运行一个阶段，或全部阶段", "run a phase, or all of them"),
    "runs": ("以往的运行", "the runs there were"),
    "show": ("重看一次运行", "a run again"),
    "tail": ("跟踪一次运行", "follow a run"),
    "stop": ("停止一次运行", "end a run"),
    "doctor": ("环境里有什么、缺什么", "what the environment has, and what it lacks"),
    "lint": ("同 opdev-lint", "same as opdev-lint"),
    "precision": ("按精度标准判断输出", "judge outputs by a precision standard"),
    "perf": ("测量结果：查看、比较、写报告", "measurements: show, compare, report"),
    "report": ("由运行记录写出算子的文档和一个网页", "the operator's documents and one HTML page, from run records"),
    "rounds": ("优化轮次：列出、开始、保留、撤回、恢复、比较", "the optimisation rounds: list, start, keep, revert, restore, diff"),
    "bench": ("成批验证 KernelBench 用例：运行、监视、汇总", "a batch of KernelBench cases: run, watch, sum up"),
    "sim": ("在 CPU 模拟环境里编译和运行算子", "build and run operators on the CPU stand-in"),
    "clangd": ("让 clangd 看懂算子，有没有 CANN 都行", "let clangd understand an operator, with or without CANN"),
    "update": ("把新版模板合并进算子", "merge newer templates into an operator"),
    "state": ("PyPTO 算子的状态文件：查看、推进", "a PyPTO operator's state file: look at it, move it on"),
    "hook": ("回答代理的钩子：post-edit、pre-commit、stop", "what an agent's editor asks: post-edit, pre-commit, stop"),
    "lsp": ("同 opdev-lsp", "same as opdev-lsp"),
}  # fmt: skip
_TEXTS = {
    "zh": {
        "what": "昇腾 NPU 算子的编辑器后端与 CI 检查工具。",
        "more": "opdev 命令 --help 说明一个命令；语言跟随系统，或用 --lang、OPDEV_LANG 指定。",
        "lang": "输出语言",
    },
    "en": {
        "what": "Editor backend and CI linter for Ascend NPU operators.",
        "more": "`opdev COMMAND --help` tells of one. The language follows the locale, --lang or OPDEV_LANG.",
        "lang": "the language of the output",
    },
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand; the exit status is 0, 1 (findings or failures), 2 (usage) or 3 (internal)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["--lang"] and arguments[1:2] and arguments[1] in _LANGS:
        os.environ["OPDEV_LANG"] = arguments[1]
        del arguments[:2]
    if arguments[:1] == ["lint"]:
        if any(word.startswith(("--op-dir", "--hook", "--check-")) for word in arguments):
            from opdev.workflow.hookcli import gate, is_ours

            if is_ours(arguments[1:]):
                return gate(arguments[1:])
        from opdev.lint.cli import main as lint

        return lint(arguments[1:])
    if arguments[:1] == ["lsp"]:
        from opdev.lsp.cli import main as lsp

        return lsp(arguments[1:])
    if arguments[:1] in (["gate"], ["status"]):
        from opdev.phases.cli import main as phases

        return phases(arguments[0], arguments[1:])
    if arguments[:1] == ["hook"]:
        from opdev.workflow.hookcli import hook

        return hook(arguments[1:])
    if arguments[:1] == ["state"]:
        from opdev.workflow.statecli import main as state

        return state(arguments[1:])
    if arguments[:1] == ["intake"]:
        from opdev.intake.cli import main as intake

        return intake(arguments[1:])
    if arguments[:1] and arguments[0] in ("run", "runs", "show", "tail", "stop", "doctor"):
        from opdev.runs.cli import main as runs

        return runs(arguments[0], arguments[1:])
    if arguments[:1] == ["precision"]:
        if any(word.startswith("--run") for word in arguments):
            from opdev.runs.case_precision import main as of_run

            return of_run(arguments[1:])
        from opdev.precision.cli import main as precision

        return precision(arguments[1:])
    if arguments[:1] == ["perf"]:
        from opdev.runs.perfing import main as perf

        return perf(arguments[1:])
    if arguments[:1] == ["report"]:
        from opdev.reporting.cli import main as report

        return report(arguments[1:])
    if arguments[:1] == ["rounds"]:
        from opdev.runs.rounds import main as rounds

        return rounds(arguments[1:])
    if arguments[:1] == ["bench"]:
        from opdev.bench.cli import main as bench

        return bench(arguments[1:])
    if arguments[:1] == ["sim"]:
        from opdev.sim.cli import main as sim

        return sim(arguments[1:])
    if arguments[:1] == ["clangd"]:
        from opdev.clangd.cli import main as clangd

        return clangd(arguments[1:])
    if arguments[:1] in (["new"], ["update"]):
        from opdev.scaffold.cli import main as scaffold

        return scaffold(arguments[0], arguments[1:])
    from opdev.commandline import begin
    from opdev.lint import rulecmd

    lang = begin(arguments)
    said = _TEXTS[lang]
    parser = argparse.ArgumentParser(prog="opdev", description=said["what"], epilog=said["more"])
    parser.add_argument("--version", action="version", version=f"opdev {opdev.__version__}")
    parser.add_argument("--lang", choices=_LANGS, default="auto", help=said["lang"])
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, texts in _COMMANDS.items():
        commands.add_parser(name, help=texts[lang == "en"], add_help=False)
    rulecmd.add_parser(commands, lang)
    args = parser.parse_args(arguments)
    status: int = args.run(args)
    return status


if __name__ == "__main__":
    sys.exit(main())
