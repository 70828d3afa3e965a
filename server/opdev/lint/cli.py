"""``opdev-lint``: lint, fix, report.

Exit status: 0 clean, 1 findings, 2 usage, configuration or files that could not be looked at or
written, 3 a fault of opdev itself (which names the file, and the rest is linted all the same).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence

import opdev
from opdev.config import ConfigError, check_words, language
from opdev.lint.cache import Cache
from opdev.lint.collect import Collected, Found, absolute, collect
from opdev.lint.formats import Run, writer
from opdev.lint.options import COMMANDS, Command, UsageError, asked_language, parse
from opdev.lint.record import Record, Texts, rank
from opdev.lint.session import FileResult, Session, rules_by_name
from opdev.lint.texts import say
from opdev.rules.errors import PageError
from opdev.rules.model import Lang

CLEAN, FINDINGS, USAGE, INTERNAL = 0, 1, 2, 3
_INTERRUPTED = 130
_TOO_FEW = 24
_NO_MODULE = "no module "


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the result is the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    lang = language(asked_language(arguments))
    _plain_streams()
    try:
        status = _main(arguments, lang)
        sys.stdout.flush()
        return status
    except (UsageError, ConfigError, PageError) as error:
        _err(f"opdev-lint: {error}")
        return USAGE
    except KeyboardInterrupt:
        _err(say("interrupted", lang))
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader has gone; what it read was right.  Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLEAN
    except OSError as error:
        _err(f"opdev-lint: {error.filename or ''}: {error.strerror or error}")
        return USAGE
    except Exception as error:
        _err(say("internal", lang, error=f"{type(error).__name__}: {error}"))
        if os.environ.get("OPDEV_DEBUG"):
            raise
        return INTERNAL


def _plain_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def _err(text: str) -> None:
    sys.stderr.write(text.rstrip("\n") + "\n")


def _main(arguments: list[str], lang: Lang) -> int:
    if arguments[:1] and arguments[0] in COMMANDS and not os.path.exists(arguments[0]):
        return _command(arguments, lang)
    command = parse(arguments, absolute("."), lang)
    if command.args.print_schema:
        return _schema(command.args.print_schema)
    configs = command.options.configs()
    here = configs.for_folder(command.options.cwd)
    if command.args.lang == "auto" and here.lang != "auto":
        lang = language(here.lang)
    check_words(
        command.options.over(here.settings), lambda key, problem: UsageError(problem.replace(f"`{key}`", f"--{key}"))
    )
    session = Session(command.options, configs)
    if command.args.stdin_filename:
        return _stdin(command, session, lang)
    if command.args.watch:
        from opdev.lint.watch import watch

        _err(say("watching", lang, paths=", ".join(command.paths)))
        watch(command.paths, lambda: _once(command, Session(command.options), lang))
        return CLEAN
    return _once(command, session, lang)


def _command(arguments: list[str], lang: Lang) -> int:
    from opdev.lint import explain
    from opdev.rules import store

    name, rest = (
        arguments[0],
        [a for i, a in enumerate(arguments[1:], 1) if not a.startswith("--lang") and arguments[i - 1] != "--lang"],
    )
    if name == "explain":
        if len(rest) != 1:
            raise UsageError("explain takes one rule: opdev-lint explain hardcoded-endpoint")
        text, status = explain.explain(rest[0], store.load(), lang)
    elif name == "rules":
        as_json = "json" in rest or "--format=json" in rest
        text, status = explain.list_rules(store.load(), lang, as_json=as_json), CLEAN
    else:
        text, status = explain.init(rest[0] if rest else ".", lang)
    (sys.stdout if status == CLEAN else sys.stderr).write(text)
    return status


def _schema(name: str) -> int:
    import json

    from opdev.configkeys import schema
    from opdev.rules.page import schema as rule_schema

    sys.stdout.write(json.dumps(schema() if name == "config" else rule_schema(), ensure_ascii=False, indent=1) + "\n")
    return CLEAN


def _once(command: Command, session: Session, lang: Lang) -> int:
    args = command.args
    collected = collect(command.paths, session.configs, force_exclude=args.force_exclude)
    if args.show_files:
        sys.stdout.write("".join(session.shown(f.path) + "\n" for f in collected.files))
        return CLEAN
    status = CLEAN
    if command.levels:
        status = max(status, _fix(command, collected, session, lang))
        if args.diff:
            return status
        collected = collect(command.paths, session.configs, force_exclude=args.force_exclude)
    records, run = _lint(command, collected, session)
    return max(status, _report(command, records, run, session, lang))


def _lint(command: Command, collected: Collected, session: Session) -> tuple[list[Record], Run]:
    args = command.args
    run = Run(opdev.__version__, problems=list(collected.problems))
    cache = Cache(session, enabled=not args.no_cache and not args.stats)
    records: list[Record] = []
    fresh = []
    for found in collected.files:
        result = cache.get(found)
        if result is None:
            fresh.append(found)
        else:
            records += result.records
            run.suppressed += result.suppressed
            run.files += result.ours
    seconds: dict[str, float] = {}
    for found, result, spent in _results(fresh, session, args.jobs):
        cache.put(found, result)
        records += result.records
        run.suppressed += result.suppressed
        run.files += result.ours
        if result.problem is not None:
            run.problems.append((session.shown(found.path), result.problem))
        for name, value in spent.items():
            seconds[name] = seconds.get(name, 0.0) + value
    cache.save()
    if args.import_check:
        _import(collected, session, records, run)
    if args.stats:
        _stats(records, seconds or session.linter.seconds or {})
    run.problems.sort()
    return sorted(records, key=lambda r: r.sort_key), run


def _import(collected: Collected, session: Session, records: list[Record], run: Run) -> None:
    """What cannot be imported; never from the cache, since it hangs on what is installed."""
    from opdev.lint.importing import check

    python = os.environ.get("PYTHON_CMD") or sys.executable
    for found in check(collected.files, session, python):
        if isinstance(found, Record):
            records.append(found)
        else:
            run.problems.append((found[0], f"{_NO_MODULE}{found[1]} ({python})"))


def _results(
    fresh: list[Found], session: Session, jobs: int | None
) -> Iterable[tuple[Found, FileResult, Mapping[str, float]]]:
    """Results of the files that are not in the cache; a few are not worth starting processes for."""
    if len(fresh) < _TOO_FEW:
        return [(found, session.lint_path(found.path), {}) for found in fresh]
    from opdev.lint.work import default_jobs, lint_files

    return lint_files(fresh, session, jobs or default_jobs())


def _report(command: Command, records: list[Record], run: Run, session: Session, lang: Lang) -> int:
    args = command.args
    status = CLEAN
    records = [r for r in records if rank(r.severity) <= rank(args.level) or r.rule == "internal-error"]
    from opdev.lint import baseline

    if args.write_baseline:
        count = baseline.write(args.write_baseline, records)
        _err(say("baseline-written", lang, count=count, path=args.write_baseline))
        return USAGE if run.problems else CLEAN
    if args.baseline:
        try:
            known = baseline.read(args.baseline)
        except baseline.BaselineError as error:
            raise UsageError(say("bad-baseline", lang, path=args.baseline, why=error)) from None
        records, run.baselined, gone = baseline.split(records, known)
        if gone and not args.changed_since:
            _err(say("baseline-stale", lang, count=gone, path=args.baseline))
    if args.changed_since:
        from opdev.lint.changed import RevisionError, added_lines, only_added

        try:
            added = added_lines(args.changed_since, command.options.cwd)
        except RevisionError as error:
            raise UsageError(say("bad-revision", lang, rev=args.changed_since, why=error)) from None
        records = only_added(records, added, command.options.cwd)
    _write(command, records, run, session, lang)
    for path, why in run.problems:
        _err(say("not-imported" if why.startswith(_NO_MODULE) else "unreadable", lang, path=path, why=why))
        status = USAGE
    if any(r.rule == "internal-error" for r in records):
        return INTERNAL
    if args.fail_level != "never" and any(rank(r.severity) <= rank(args.fail_level) for r in records):
        status = status or FINDINGS
    return status


def _write(command: Command, records: list[Record], run: Run, session: Session, lang: Lang) -> None:
    from opdev.atomic import write_bytes

    rules = {rule.name: rule for config in session.configs.seen for rule in config.rules}
    texts = Texts(rules_by_name(rules.values()), lang)
    run.frames = not command.args.no_frames
    for name, file in command.outputs:
        write_bytes(os.path.abspath(file), writer(name)(records, texts, run).encode("utf-8", "backslashreplace"))
    if command.to_stdout:
        run.colour = _colour()
        sys.stdout.write(writer(command.format)(records, texts, run))


def _colour() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def _fix(command: Command, collected: Collected, session: Session, lang: Lang) -> int:
    from opdev.lint.fixing import fix_files

    diff = command.args.diff
    fixes = fix_files(collected.files, session, command.levels, write=True, diff=diff)  # type: ignore[arg-type]  # parse() makes no others
    if diff:
        sys.stdout.write("".join(fixes.diff))
    else:
        for path, counts in fixes.applied.items():
            rules = ", ".join(f"{name} ×{n}" if n > 1 else name for name, n in sorted(counts.items()))
            _err(say("fixed", lang, path=path, count=sum(counts.values()), rules=rules))
        if fixes.applied:
            _err(say("fixed-total", lang, count=fixes.count, files=len(fixes.applied)))
    for path, line, rule in fixes.broke:
        _err(say("fix-broke", lang, path=path, line=line, rule=rule))
    for path, names in fixes.fighting:
        _err(say("fix-fight", lang, path=path, rules=", ".join(names)))
    for path, why in fixes.failed:
        _err(say("not-written", lang, path=path, why=why))
    if fixes.broke or fixes.fighting:
        return INTERNAL
    if fixes.failed:
        return USAGE
    return FINDINGS if diff and fixes.diff else CLEAN


def _stdin(command: Command, session: Session, lang: Lang) -> int:
    path = absolute(command.args.stdin_filename)
    raw = sys.stdin.buffer.read()
    if command.levels:
        from opdev.lint.fixing import fix_source, unified
        from opdev.source import Source

        source = Source.from_disk(path, raw)
        fixed = fix_source(source, session, command.levels)  # type: ignore[arg-type]  # parse() makes no others
        if command.args.diff:
            changed = fixed.data != source.data
            sys.stdout.write(unified(session.shown(path), source, fixed.data) if changed else "")
            return FINDINGS if changed else CLEAN
        sys.stdout.flush()
        sys.stdout.buffer.write(source.to_disk(fixed.data))
        sys.stdout.buffer.flush()
        return CLEAN
    result = session.lint_bytes(path, raw)
    run = Run(opdev.__version__, files=int(result.ours), suppressed=result.suppressed)
    return _report(command, sorted(result.records, key=lambda r: r.sort_key), run, session, lang)


def _stats(records: list[Record], seconds: dict[str, float]) -> None:
    from collections import Counter

    counts = Counter(r.rule for r in records)
    rows = sorted({*seconds, *counts}, key=lambda name: (-seconds.get(name, 0.0), name))
    for name in rows:
        _err(f"{seconds.get(name, 0.0) * 1000:9.1f} ms  {counts.get(name, 0):5d}  {name}")


if __name__ == "__main__":
    sys.exit(main())
