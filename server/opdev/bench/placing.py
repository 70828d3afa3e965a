"""A program on a slot: on this machine as it is, on another one behind its host's prefix.

Behind a prefix (``ssh node1``) a command becomes one word for the shell over there, ``cd … && exec env … sh -c …``, in
which every word of it is quoted.  A keeper runs over there, too (its source travels with the command; ``python3`` is
needed), and holds the command by its standard input: when that ends, because the batch asked for it, was killed, or
the connection broke, the keeper ends all that the command started: SIGTERM, one second later SIGKILL.  That is
guaranteed for prefixes that pass standard input on (``ssh``, ``docker exec -i``) and needs no terminal; with ``ssh -n``
the command is ended at once, which the preflight finds out.  Folders are shared and have the same paths everywhere.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from functools import cache

from opdev.bench.model import Slot
from opdev.keeping import keeper
from opdev.runs import process
from opdev.runs.execute import Command

GRACE = 10.0
"""Seconds between SIGTERM and SIGKILL on this machine."""
NOT_STARTED = 127
# Descriptor 3 is the connection's input, 4 what the keeper tells; the program's output goes on to 1 and 2.
_OUTSIDE = """
python=$1 keeper=$2 grace=$3
shift 3
exec 5>&1
told=$("$python" -I -S -c "$keeper" 3 4 "$grace" null "$@" 3<&0 4>&1 1>&5 5>&- </dev/null)
case $told in
*'"failed": "'*)
    why=${told##*'"failed": "'}
    printf 'opdev: %s\\n' "${why%%'"'*}" >&2
    exit 127 ;;
*'"signal": null'*)
    code=${told##*'"exit": '}
    exit "${code%%[!0-9]*}" ;;
*'"signal": '*)
    number=${told##*'"signal": '}
    exit $((128 + ${number%%[!0-9]*})) ;;
esac
echo "opdev: $python on this host did not keep the command" >&2
exit 125
"""


@cache
def _keeper() -> str:
    with open(keeper.__file__, encoding="utf-8") as stream:
        return stream.read()


def device_env(slot: Slot) -> dict[str, str]:
    """What tells a program its device.  Both are the device's number on its host.

    ASCEND_RT_VISIBLE_DEVICES is left alone: it would renumber devices, and TILE_FWK_DEVICE_ID would name one that is
    not there.
    """
    return {"TILE_FWK_DEVICE_ID": str(slot.device), "ASCEND_VISIBLE_DEVICES": str(slot.device)}


def command(
    slot: Slot, argv: Sequence[str], cwd: str, env: Mapping[str, str], *,
    token: str, timeout: float | None = None, grace: float = GRACE,
) -> Command:  # fmt: skip
    """The command that runs ``argv`` in ``cwd`` on a slot; ``env`` comes on top of the place's own environment.

    ``token`` is carried by every process of it (``opdev.runs.process``); it is to be unique, because what carries it
    is ended with the command.
    """
    added = {**device_env(slot), **env, process.TOKEN: token}
    if not slot.host.prefix:
        return Command(list(argv), cwd, {**os.environ, **added}, timeout, grace)
    words = ["env", *(f"{name}={value}" for name, value in sorted(added.items()))]
    words += ["sh", "-c", _OUTSIDE, "opdev", "python3", _keeper(), str(grace), *argv]
    text = f"cd {shlex.quote(cwd)} && exec {shlex.join(words)}"
    return Command([*slot.host.prefix, text], cwd, {**os.environ, process.TOKEN: token}, timeout, grace, hold=True)


def not_started(slot: Slot, exit_status: int | None, failed: str) -> bool:
    """Whether a command could not be started at all; over there that is exit status 127."""
    return bool(failed) or (bool(slot.host.prefix) and exit_status == NOT_STARTED)
