"""``opdev-lsp``: the process around the server.

The order of things matters here.  First the streams are set aside and the import path is put right,
then ``initialize`` is answered, and only then is anything heavy imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

USAGE = """\
usage: opdev-lsp [--stdio | --tcp HOST:PORT | --pipe PATH] [options]

Language server for Ascend SHMEM and PyPTO operator projects.

  --stdio              serve on standard input and output (default)
  --tcp HOST:PORT      wait for one client on a socket (PORT 0: any; it is said on standard error)
  --pipe PATH          connect to the Unix socket the client listens on
  --log-level LEVEL    error, warning, info or debug (default warning); the log goes to standard error
  --version            print the version
  --help               print this

Exit status: 0 after `shutdown` and `exit`; 1 when the client left without; 2 usage.
"""
_LEVELS = ("error", "warning", "info", "debug")


class _UsageError(Exception):
    """A command line that means nothing."""


def main(argv: Sequence[str] | None = None) -> int:
    """Serve a client until it goes; the exit status is that of the protocol."""
    isolate()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        options = parse(arguments)
    except _UsageError as error:
        sys.stderr.write(f"opdev-lsp: {error}\n")
        return 2
    if "help" in options:
        sys.stdout.write(USAGE)
        return 0
    if "version" in options:
        import opdev

        sys.stdout.write(f"opdev-lsp {opdev.__version__}\n")
        return 0
    from opdev.lsp import transports

    stdio = transports.take_stdio()
    try:
        if "tcp" in options:
            source, sink = transports.listen(options["tcp"])
        elif "pipe" in options:
            source, sink = transports.connect(options["pipe"])
        else:
            source, sink = stdio
    except transports.TransportError as error:
        sys.stderr.write(f"opdev-lsp: {error}\n")
        return 2
    status = _serve(source, sink, options.get("log-level", "warning"), watch="tcp" not in options)
    sys.stderr.flush()
    # A rule that does not come back must not keep the process.
    os._exit(status)


def isolate() -> None:
    """Put what the user's environment adds to the import path last.

    An editor starts us with the project as working directory and the user's PYTHONPATH; an old
    ``typing_extensions`` or a file named ``yaml.py`` there must not stand in for the real one.
    """
    given = [os.path.abspath(p) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    suspect = {*given, os.getcwd()}
    kept = [p for p in sys.path if p and os.path.abspath(p) not in suspect]
    moved = [p for p in sys.path if p and os.path.abspath(p) in suspect and os.path.abspath(p) in given]
    # opdev itself may be run from a checkout through one of them.
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    own = [here] if os.path.abspath(here) in suspect and here not in moved else []
    sys.path[:] = [*kept, *own, *moved]


def parse(arguments: Sequence[str]) -> dict[str, str]:
    """Options by name; ``--name=value`` and ``--name value`` both, as editors write them."""
    options: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        name, separator, value = word.partition("=")
        if name in ("--stdio", "--help", "-h", "--version"):
            options["help" if name == "-h" else name[2:]] = ""
            continue
        if name not in ("--tcp", "--pipe", "--log-level", "--clientProcessId"):
            raise _UsageError(f"unknown argument {word!r}; --help lists what there is")
        if not separator:
            if not rest:
                raise _UsageError(f"{name} needs a value")
            value = rest.pop(0)
        options[name[2:]] = value
    if sum(name in options for name in ("stdio", "tcp", "pipe")) > 1:
        raise _UsageError("--stdio, --tcp and --pipe exclude each other")
    if options.get("log-level", "warning").lower() not in _LEVELS:
        raise _UsageError(f"--log-level is one of {', '.join(_LEVELS)}, not {options['log-level']!r}")
    return options


def _serve(source: object, sink: object, level: str, *, watch: bool) -> int:
    import logging
    import threading

    from opdev.lsp import wire
    from opdev.lsp.handshake import handshake

    # An edit passes through three threads; each waits this long at most for one that computes.
    sys.setswitchinterval(0.001)
    logging.raiseExceptions = False
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("opdev").setLevel(level.upper())
    logging.getLogger("pygls").setLevel(logging.ERROR)
    inbox = wire.Inbox()
    outbox = wire.Outbox(sink)  # type: ignore[arg-type]  # binary files, made by transports
    threading.Thread(
        target=wire.read_messages,
        args=(source, inbox),
        name="opdev-lsp-read",
        daemon=True,
    ).start()
    client = handshake(inbox, outbox)
    if isinstance(client, int):
        outbox.close(1.0)
        return client
    import asyncio

    from opdev.lsp.server import serve

    try:
        status = asyncio.run(serve(client, inbox, outbox, watch=watch))
    except KeyboardInterrupt:
        status = 1
    outbox.close(1.0)
    return status


if __name__ == "__main__":
    sys.exit(main())
