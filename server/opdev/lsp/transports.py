"""Where messages come from and go to: standard streams, a socket we listen on, a pipe we connect to.

Standard output is the protocol's alone.  It is set aside before anything else is imported, and what
a rule, a library or a child prints goes to standard error instead.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import BinaryIO

Streams = tuple[BinaryIO, BinaryIO]


class TransportError(Exception):
    """A transport that cannot be had; the text says what to do."""


def take_stdio() -> Streams:
    """The protocol's private streams; from now on fd 0 is empty and fd 1 is standard error."""
    source, sink = os.dup(0), os.dup(1)
    os.set_inheritable(source, False)
    os.set_inheritable(sink, False)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        os.dup2(2, 1)
    except OSError:
        # No standard error: prints go nowhere.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(source, os.O_BINARY)
        msvcrt.setmode(sink, os.O_BINARY)
    return os.fdopen(source, "rb"), os.fdopen(sink, "wb")


def listen(address: str) -> Streams:
    """Wait for one client on HOST:PORT and serve it."""
    host, separator, port = address.rpartition(":")
    if not separator or not port.isdecimal() or int(port) > 65535:
        raise TransportError(f"--tcp takes HOST:PORT, such as 127.0.0.1:2087, not {address!r}")
    try:
        with socket.create_server((host.strip("[]") or "127.0.0.1", int(port)), family=_family(host)) as server:
            sys.stderr.write(f"opdev-lsp listens on {host or '127.0.0.1'}:{server.getsockname()[1]}\n")
            sys.stderr.flush()
            client, _ = server.accept()
    except OSError as error:
        raise TransportError(f"cannot listen on {address}: {error.strerror or error}") from None
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return _files(client)


def connect(path: str) -> Streams:
    """Connect to the pipe the client listens on."""
    if not hasattr(socket, "AF_UNIX"):
        raise TransportError("--pipe needs Unix sockets, which this Python has not; use --stdio or --tcp")
    client = socket.socket(socket.AF_UNIX)
    try:
        client.connect(path)
    except OSError as error:
        client.close()
        raise TransportError(f"cannot connect to the pipe {path}: {error.strerror or error}") from None
    return _files(client)


def _files(client: socket.socket) -> Streams:
    source, sink = client.makefile("rb"), client.makefile("wb")
    # The files keep the connection open.
    client.close()
    return source, sink


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
