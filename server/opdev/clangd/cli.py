"""``opdev clangd [OP|DIR]``.

Exit status: 0 written (and, with ``--check``, no error), 1 a user's file was left alone or clangd found errors,
2 usage or no clangd, 3 a fault of opdev itself.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from opdev.clangd import finding
from opdev.clangd.texts import say
from opdev.clangd.writing import Written, database, write
from opdev.commandline import begin, guarded
from opdev.config import ConfigError, Configs, Settings
from opdev.programs import python_of
from opdev.rules.model import Lang

OK, FAILED, USAGE = 0, 1, 2


class _UsageError(ValueError):
    pass


def main(argv: Sequence[str]) -> int:
    """Run the command."""
    lang = begin(argv)

    def work() -> int:
        args = _parser(lang).parse_args(argv)
        return _at_best(args, lang) if args.best_effort else _run(args, lang)

    def told(error: Exception) -> tuple[str, int]:
        return str(error), USAGE

    return guarded("opdev clangd", lang, work, {_UsageError: told, ConfigError: told})


def _parser(lang: Lang) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="opdev clangd", description=say("help", lang), epilog=say("status", lang))
    p.add_argument("operator", nargs="?", default=".", metavar="OP|DIR", help=say("op", lang))
    p.add_argument("--check", action="store_true", help=say("check", lang))
    p.add_argument("--print", action="store_true", dest="show", help=say("print", lang))
    p.add_argument("--overwrite", action="store_true", help=say("overwrite", lang))
    p.add_argument("--best-effort", action="store_true", help=say("best-effort", lang))
    p.add_argument("--clangd", metavar="PATH", default="", help=say("clangd", lang))
    p.add_argument("--jobs", "-j", type=int, default=0, metavar="N", help=say("jobs", lang))
    p.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("lang", lang))
    return p


def _at_best(args: argparse.Namespace, lang: Lang) -> int:
    """Say what went wrong, and let whoever waits go on: a run is not about its editor."""
    try:
        _run(args, lang)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is said, and it is nobody's failure
        sys.stderr.write(f"opdev clangd: {error or type(error).__name__}\n")
    return OK


def _run(args: argparse.Namespace, lang: Lang) -> int:
    folder = next((p for p in (args.operator, f"custom-ops/{args.operator}") if os.path.isdir(p)), None)
    if folder is None:
        raise _UsageError(say("no-folder", lang, path=args.operator))
    roots = finding.roots(os.path.abspath(folder).replace("\\", "/"))
    configs = Configs()
    settings = [configs.for_folder(root).settings for root in roots]
    if args.show:
        return _show(roots, settings)
    clangd = ""
    if args.check:
        named = args.clangd or settings[0].clangd
        clangd = finding.program(named) or ""
        if not clangd:
            raise _UsageError(say("clangd-not-there" if named else "no-clangd", lang, path=named))
    status = OK
    files: list[str] = []
    for root, said in zip(roots, settings, strict=True):
        written = write(root, overwrite=args.overwrite, python=python_of(said.run, os.environ))
        if not written.files and not written.left_out and len(roots) == 1:
            raise _UsageError(say("no-code", lang, path=root))
        _tell(written, lang)
        status = max(status, FAILED if written.kept else OK)
        files += written.files
    return max(status, _check(clangd, files, args.jobs, lang)) if args.check else status


def _show(roots: Sequence[str], settings: Sequence[Settings]) -> int:
    from opdev.clangd.sources import sources

    for root, said in zip(roots, settings, strict=True):
        found = sources(root, os.environ, python_of(said.run, os.environ))
        sys.stdout.write(database(found.commands, root).decode("utf-8", "replace"))
    return OK


def _tell(written: Written, lang: Lang) -> None:
    head = say("written", lang, root=_short(written.root), count=len(written.files))
    of = say(f"of-{written.origin}", lang, home=written.home)
    out = [f"{head} {of}"]
    out += [f"  {say('wrote', lang)} {_short(path)}" for path in written.wrote]
    out += [f"  {say('same', lang)} {_short(path)}" for path in written.same]
    out += [f"  {_short(note.path)}: {note.text(lang)}" for note in (*written.notes, *written.left_out)]
    sys.stdout.write("\n".join(out) + "\n")
    for note in written.kept:
        sys.stderr.write(f"opdev clangd: {_short(note.path)}: {note.text(lang)}\n")
    sys.stderr.flush()


def _check(clangd: str, files: Sequence[str], jobs: int, lang: Lang) -> int:
    from opdev.clangd.checking import check

    errors = broken = 0
    for checked in check(clangd, files, jobs):
        for error in checked.errors:
            sys.stdout.write(f"{_short(error.path)}:{error.line}: error: {error.text} [{error.code}]\n")
        if checked.broken:
            sys.stdout.write(f"{_short(checked.path)}: {say('broken', lang, why=checked.broken)}\n")
        errors += len(checked.errors)
        broken += bool(checked.broken)
    sys.stdout.write(say("checked", lang, files=len(files), errors=errors, broken=broken) + "\n")
    return FAILED if errors or broken else OK


def _short(path: str) -> str:
    here = os.getcwd().replace("\\", "/")
    if path == here:
        return "."
    return path[len(here) + 1 :] if path.startswith(f"{here}/") else path
