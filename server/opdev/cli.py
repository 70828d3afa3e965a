"""``opdev``: one entry point whose subcommands are loaded when called."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import opdev


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand; the exit status is 0, 1 (findings or failures), 2 (usage) or 3 (internal)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
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
    if arguments[:1] == ["sim"]:
        from opdev.sim.cli import main as sim

        return sim(arguments[1:])
    if arguments[:1] == ["clangd"]:
        from opdev.clangd.cli import main as clangd

        return clangd(arguments[1:])
    if arguments[:1] in (["new"], ["update"]):
        from opdev.scaffold.cli import main as scaffold

        return scaffold(arguments[0], arguments[1:])
    from opdev.lint import rulecmd

    parser = argparse.ArgumentParser(prog="opdev", description="Editor backend and CI linter for Ascend NPU operators.")
    parser.add_argument("--version", action="version", version=f"opdev {opdev.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("lint", help="same as opdev-lint", add_help=False)
    commands.add_parser("lsp", help="same as opdev-lsp", add_help=False)
    commands.add_parser("gate", help="what keeps a phase of an operator closed, and what opens it", add_help=False)
    commands.add_parser("status", help="where an operator stands, and what comes next", add_help=False)
    commands.add_parser("hook", help="what an agent's editor asks: post-edit, pre-commit, stop", add_help=False)
    commands.add_parser("state", help="a PyPTO operator's state file: look at it, move it on", add_help=False)
    commands.add_parser("intake", help="ask the five questions an operator starts with", add_help=False)
    commands.add_parser("run", help="run a phase, or all of them", add_help=False)
    commands.add_parser("runs", help="the runs there were", add_help=False)
    commands.add_parser("show", help="a run again", add_help=False)
    commands.add_parser("tail", help="follow a run", add_help=False)
    commands.add_parser("stop", help="end a run", add_help=False)
    commands.add_parser("precision", help="judge outputs by a precision standard", add_help=False)
    commands.add_parser("perf", help="measurements: show, compare, report", add_help=False)
    commands.add_parser("report", help="the operator's documents and one HTML page, from run records", add_help=False)
    commands.add_parser(
        "rounds", help="the optimisation rounds: list, start, keep, revert, restore, diff", add_help=False
    )
    commands.add_parser("doctor", help="what the environment has, and what it lacks", add_help=False)
    commands.add_parser("sim", help="build and run operators on the CPU stand-in", add_help=False)
    commands.add_parser("clangd", help="let clangd understand an operator, with or without CANN", add_help=False)
    commands.add_parser("new", help="write a new operator from templates", add_help=False)
    commands.add_parser("update", help="merge newer templates into an operator", add_help=False)
    rulecmd.add_parser(commands)
    args = parser.parse_args(arguments)
    status: int = args.run(args)
    return status


if __name__ == "__main__":
    sys.exit(main())
