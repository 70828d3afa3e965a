"""``opdev new`` and ``opdev update``.

Exit status: 0 done, 1 the target cannot be written or has conflicts, 2 wrong usage, 3 a fault of opdev itself.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from opdev.commandline import begin, guarded
from opdev.rules.model import Lang
from opdev.scaffold.dtypes import DTYPES
from opdev.scaffold.options import BUILD_MODES, KINDS, Options, check_dtypes, check_name
from opdev.scaffold.texts import ScaffoldError, say

DONE, REFUSED, USAGE = 0, 1, 2


def main(command: str, argv: Sequence[str]) -> int:
    """Run ``new`` or ``update``; the result is the exit status."""
    arguments = list(argv)
    lang = begin(arguments)

    def work() -> int:
        args = (_new_parser if command == "new" else _update_parser)(lang).parse_args(arguments)
        return _new(args, lang) if command == "new" else _update(args, lang)

    def refused(error: ScaffoldError) -> tuple[str, int]:
        return error.text(lang), USAGE if error.usage else REFUSED

    return guarded(f"opdev {command}", lang, work, {ScaffoldError: refused})


def _new_parser(lang: Lang) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="opdev new", description=say("new-help", lang))
    switch = argparse.BooleanOptionalAction
    p.add_argument("name", metavar="OP", help=say("op", lang))
    p.add_argument("--kind", required=True, choices=KINDS, help=say("kind", lang))
    p.add_argument("--dtypes", required=True, nargs="+", metavar="DTYPE", help=say("dtypes", lang))
    p.add_argument("--build-mode", choices=BUILD_MODES, help=say("build-mode", lang))
    p.add_argument("--dir", metavar="DIR", help=say("dir", lang))
    p.add_argument("--torch", action=switch, default=None, help=say("torch", lang))
    p.add_argument("--perf", action=switch, default=None, help=say("perf", lang))
    p.add_argument("--auto-optim", action=switch, default=None, help=say("auto-optim", lang))
    p.add_argument("--shmem-repo", metavar="PATH", help=say("repo", lang))
    p.add_argument("--skills-root", metavar="PATH", help=say("skills", lang))
    p.add_argument("--docker-container", metavar="NAME", help=say("container", lang))
    p.add_argument("--docker-workdir", metavar="PATH", help=say("workdir", lang))
    p.add_argument("--force", action="store_true", help=say("force", lang))
    p.add_argument("--dry-run", action="store_true", help=say("dry-run", lang))
    p.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("lang", lang))
    return p


def _update_parser(lang: Lang) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="opdev update", description=say("update-help", lang))
    p.add_argument("--op", metavar="DIR", default=".", help=say("update-op", lang))
    p.add_argument("--dtypes", nargs="+", metavar="DTYPE", help=say("update-dtypes", lang))
    p.add_argument("--dry-run", action="store_true", help=say("dry-run", lang))
    p.add_argument("--lang", choices=("auto", "zh", "en"), default="auto", help=say("lang", lang))
    return p


def _new(args: argparse.Namespace, lang: Lang) -> int:
    from opdev.scaffold import place, record
    from opdev.scaffold.render import render
    from opdev.scaffold.write import refuse_full, write_new

    base = place.base_folder(args.dir)
    options = _options(args, base)
    if options.in_tree:
        place.check_tree(base)
    root = f"{base}/{options.op_root}"
    refuse_full(root, force=args.force)
    files = render(options)
    done = write_new(root, files, dry_run=args.dry_run)
    if not args.dry_run:
        record.save(root, options, files)
    out = [f"  {_shown(path)}" for path in done.new]
    out += [say("kept", lang, path=_shown(path)) for path in done.kept]
    out.append(say("would-write" if args.dry_run else "wrote", lang, count=len(done.new), path=_shown(root)))
    for entry in place.register(base, options, dry_run=args.dry_run):
        key = "registered" if entry.done else "register-yourself"
        out.append(say(key, lang, path=_shown(entry.path), what=entry.line))
    if not args.dry_run:
        out += [f"{say('next', lang)}:", *_next(_shown(root), lang)]
    sys.stdout.write("\n".join(out) + "\n")
    return DONE


def _options(args: argparse.Namespace, base: str) -> Options:
    """What was asked for, completed by the intake's record where there is one."""
    from opdev.scaffold import place
    from opdev.scaffold.kinds import kind_of

    check_name(args.name)
    dtypes = check_dtypes(args.dtypes, kind_of(args.kind).dtypes, args.kind)
    mode = args.build_mode
    folders = {BUILD_MODES[0]: "custom-ops", BUILD_MODES[1]: "examples"}
    homes = [f"{base}/{folder}/{args.name}" for m, folder in folders.items() if mode in (None, m)]
    found = next((record for home in homes if (record := place.intake_beside(home)) is not None), None)
    path, said = found if found is not None else ("", {})
    place.agreed(path, said, "op_name", args.name)
    switches = {name: place.agreed(path, said, field, getattr(args, name)) for name, field in place.FLAGS.items()}
    perf = switches["perf"] is not False
    if switches["auto_optim"] and not perf:
        raise ScaffoldError("optim-without-perf")
    if switches["torch"]:
        unknown = [dtype.name for dtype in map(DTYPES.__getitem__, dtypes) if not dtype.torch]
        if unknown:
            raise ScaffoldError("no-torch-dtype", dtypes=", ".join(unknown))
    container = place.agreed(path, said, "docker_container", args.docker_container) or ""
    workdir = place.agreed(path, said, "docker_workdir", args.docker_workdir) or ""
    if bool(container) != bool(workdir):
        raise ScaffoldError("workdir-without-container")
    repo = _absolute(args.shmem_repo) or _path(said.get("shmem_repo")) or base
    return Options(
        op=args.name,
        kind=args.kind,
        dtypes=dtypes,
        build_mode=place.agreed(path, said, "build_mode", mode) or BUILD_MODES[0],
        torch=bool(switches["torch"]),
        perf=perf,
        auto_optim=bool(switches["auto_optim"]),
        shmem_repo=repo,
        skills_root=_absolute(args.skills_root) or _path(said.get("skills_root")) or f"{repo}/.agents/skills",
        docker_container=container,
        docker_workdir=workdir,
        confirmed="phase0_intake" if found is not None else "confirmed_by_user",
    )


def _absolute(path: str | None) -> str:
    if path and not os.path.isabs(path):
        raise ScaffoldError("relative-path", path=path)
    return (path or "").replace("\\", "/")


def _path(value: object) -> str:
    """A recorded path; ``pending`` and the like are none yet."""
    return value if isinstance(value, str) and os.path.isabs(value) else ""


def _next(root: str, lang: Lang) -> list[str]:
    steps = [
        ("next-intake", f"opdev intake --op {root}"),
        ("next-gate", f"opdev gate 1 --op {root}"),
        ("next-sim", f"opdev run all --executor sim --op {root}"),
    ]
    return [f"  {command}    # {say(key, lang)}" for key, command in steps]


def _shown(path: str) -> str:
    """A path as the user would type it."""
    relative = os.path.relpath(path).replace("\\", "/")
    return path if relative.startswith("../../..") else relative


def _update(args: argparse.Namespace, lang: Lang) -> int:
    from opdev.scaffold import record
    from opdev.scaffold.kinds import kind_of
    from opdev.scaffold.update import update

    root = os.path.abspath(os.path.expanduser(args.op)).replace("\\", "/")
    if not os.path.isdir(root):
        raise ScaffoldError("no-folder", path=args.op)
    known = record.load(root)
    options = known.options
    if args.dtypes:
        dtypes = check_dtypes(args.dtypes, kind_of(options.kind).dtypes, options.kind)
        options = replace(options, dtypes=dtypes)
    changes = update(root, options, known, dry_run=args.dry_run)
    out = []
    for change in changes:
        shown = _shown(f"{root}/{change.path}")
        out.append(say(change.outcome, lang, path=shown, merge=_shown(f"{root}/{change.written_to}")))
    conflicts = sum(change.outcome == "conflict" for change in changes)
    if not changes:
        out.append(say("up-to-date", lang))
    if conflicts:
        out.append(say("conflicts", lang, count=conflicts))
    if args.dry_run:
        out.append(say("would", lang))
    sys.stdout.write("\n".join(out) + "\n")
    return REFUSED if conflicts else DONE
