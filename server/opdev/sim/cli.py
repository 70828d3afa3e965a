"""``opdev sim build|run|exec|api|doctor``.

Exit status: the script's own for ``run`` and ``exec`` (a program ends with 86 where a check failed; so does a run
whose script ended with 0 all the same), 1 when a build fails, 2 for usage or a missing tool, 3 for a fault of opdev itself.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from opdev.commandline import begin, guarded
from opdev.rules.model import Lang
from opdev.sim.texts import say
from opdev.sim.tools import MissingToolError, Tools, find_tools

if TYPE_CHECKING:
    from opdev.sim.root import Root

OK, FAILED, USAGE, INTERNAL = 0, 1, 2, 3
FAULT = 86
"""What a PE ends with when a check of the stand-in failed."""


class _UsageError(ValueError):
    pass


def main(argv: Sequence[str]) -> int:
    """Run one of the subcommands."""
    from opdev.sim.build import BuildError
    from opdev.sim.root import RootError

    arguments, rest = _split(list(argv))
    lang = begin(arguments)

    def work() -> int:
        args = _parser(lang).parse_args(arguments)
        os.environ["OPDEV_SIM_LANG"] = lang
        status: int = args.run(args, rest, lang)
        return status

    return guarded("opdev sim", lang, work, {
        _UsageError: lambda error: (str(error), USAGE),
        MissingToolError: lambda error: (say(error.key, lang, found=error.found), USAGE),
        RootError: lambda error: (f"{say('root-failed', lang)}\n{error}", INTERNAL),
        BuildError: lambda error: (say("build-failed", lang, step=error.step, status=error.status), FAILED),
    })  # fmt: skip


def _tell(text: str) -> None:
    sys.stderr.write(f"opdev sim: {text}\n")
    sys.stderr.flush()


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    if "--" in argv:
        at = argv.index("--")
        return argv[:at], argv[at + 1 :]
    return argv, []


def _parser(lang: Lang) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="opdev sim", description=say("help", lang))
    commands = p.add_subparsers(dest="command", required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("lang", lang))
    of_op = argparse.ArgumentParser(add_help=False)
    of_op.add_argument("operator", metavar="OP", help=say("op", lang))
    of_op.add_argument("--jobs", "-j", type=int, metavar="N", help=say("jobs", lang))
    of_op.add_argument("-D", dest="define", action="append", default=[], metavar="NAME=VALUE", help=say("define", lang))
    of_run = argparse.ArgumentParser(add_help=False)
    of_run.add_argument("--run-dir", metavar="DIR", help=say("run-dir", lang))
    of_run.add_argument("--results", metavar="DIR", help=say("results", lang))
    of_run.add_argument("--nbi", choices=("now", "lazy"), help=say("nbi", lang))
    of_run.add_argument("--gate", choices=("on", "off"), help=say("gate", lang))

    build = commands.add_parser("build", parents=[of_op, common], help=say("build-help", lang))
    build.add_argument("--out", metavar="DIR", help=say("out", lang))
    build.set_defaults(run=_build)
    run = commands.add_parser(
        "run", parents=[of_op, of_run, common], help=say("run-help", lang), epilog=say("args", lang)
    )
    run.set_defaults(run=_run)
    execute = commands.add_parser(
        "exec", parents=[of_op, of_run, common], help=say("exec-help", lang), epilog=say("command", lang)
    )
    execute.set_defaults(run=_exec)
    api = commands.add_parser("api", parents=[common], help=say("api-help", lang))
    api.add_argument("word", nargs="?", default="", help=say("filter", lang))
    api.set_defaults(run=_api)
    commands.add_parser("doctor", parents=[common], help=say("doctor-help", lang)).set_defaults(run=_doctor)
    return p


def _operator(text: str, lang: Lang) -> Path:
    for candidate in (Path(text), Path("custom-ops", text)):
        if candidate.is_dir():
            return candidate.absolute()
    raise _UsageError(say("no-operator", lang, path=text))


def _root(lang: Lang, tools: Tools) -> Root:
    from opdev.sim import root as roots

    if not (roots.sim_cache() / "root").exists():
        _tell(say("first-time", lang))
    return roots.root(tools)


def _build(args: argparse.Namespace, rest: list[str], lang: Lang) -> int:
    del rest
    from opdev.sim.build import build

    operator = _operator(args.operator, lang)
    tools = find_tools()
    built = build(
        operator,
        _root(lang, tools),
        tools,
        out=Path(args.out).absolute() if args.out else None,
        jobs=args.jobs,
        defines=args.define,
    )
    sys.stdout.write(say("built" if built.fresh else "reused", lang, path=built.folder) + "\n")
    sys.stdout.write(f"[SIM] {say('backend', lang)}\n")
    return OK


def _run(args: argparse.Namespace, rest: list[str], lang: Lang) -> int:
    return _in_workspace(args, None, rest, lang)


def _exec(args: argparse.Namespace, rest: list[str], lang: Lang) -> int:
    if not rest:
        raise _UsageError(say("command", lang))
    return _in_workspace(args, rest, [], lang)


def _in_workspace(args: argparse.Namespace, command: list[str] | None, rest: list[str], lang: Lang) -> int:
    from opdev.sim.build import build
    from opdev.sim.run import python_with_numpy, run
    from opdev.sim.workspace import changed, workspace

    operator = _operator(args.operator, lang)
    tools = find_tools()
    root = _root(lang, tools)

    def show(line: str) -> None:
        sys.stderr.write(line + "\n")

    built = build(operator, root, tools, jobs=args.jobs, defines=args.define, say=show)
    work = workspace(operator, built.folder, root, Path(args.run_dir).absolute() if args.run_dir else None)
    environment = work.environment(root)
    environment["OPDEV_SIM_LANG"] = lang
    if args.nbi:
        environment["OPDEV_SIM_NBI"] = args.nbi
    if args.gate:
        environment["OPDEV_SIM_GATE"] = args.gate
    python = python_with_numpy(environment)
    if python is None:
        _tell(say("no-numpy", lang))
    else:
        environment["PYTHON_CMD"] = python
    if command is None:
        script = work.run_script()
        if script is None:
            raise _UsageError(say("no-script", lang, path=operator))
        command = ["bash", str(script), *rest]
    sys.stdout.write(f"[SIM] {say('backend', lang)}\n")
    sys.stdout.flush()
    begin = time.time()
    faults = work.tree / ".sim-faults"
    faults.unlink(missing_ok=True)
    environment["OPDEV_SIM_FAULTS"] = str(faults)
    status = run(command, work.operator, environment)
    if status == 0 and faults.exists():
        _tell(say("fault-ignored", lang, count=len(faults.read_bytes().splitlines())))
        status = FAULT
    if args.results:
        for file in changed(work, begin):
            target = Path(args.results, file.relative_to(work.operator))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
    sys.stdout.write(f"[SIM] backend=sim {say('ended', lang, status=status, path=work.tree)}\n")
    return status


def _api(args: argparse.Namespace, rest: list[str], lang: Lang) -> int:
    del rest
    from opdev.sim.names import public_names

    there = _root(lang, find_tools()).names
    if not args.word:
        from opdev.sim.support import table

        sys.stdout.writelines(line + "\n" for line in table(there, public_names(), lang))
        return OK
    for name in sorted(public_names()):
        if args.word.lower() in name.lower():
            sys.stdout.write(f"{name:<48} {say('supported' if name in there else 'not-supported', lang)}\n")
    return OK


def _doctor(args: argparse.Namespace, rest: list[str], lang: Lang) -> int:
    del args, rest
    from opdev.sim.run import python_with_numpy

    tools = find_tools()
    lines = [("g++", f"{tools.compiler} {tools.version}"), ("cmake", tools.cmake)]
    bash = shutil.which("bash")
    lines.append(("bash", bash or say("not-supported", lang)))
    root = _root(lang, tools)
    lines.append(("runtime", str(root.library / "libopdev_sim.so")))
    python = python_with_numpy(os.environ)
    lines.append(("python + numpy", python or say("no-numpy", lang)))
    for name, found in lines:
        sys.stdout.write(say("tool", lang, name=name, found=found) + "\n")
    sys.stdout.write(say("ready", lang) + "\n")
    return OK
