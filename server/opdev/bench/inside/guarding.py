"""What an implementation does to the process it runs in: told afterwards, by means that it cannot take back.

An audit hook cannot be removed.  It tells of ways to whoever called (frames, all objects, other code in a function's place)
where the implementation itself takes them; Torch, pypto and Python's own library use some of them for their work.
"""

from __future__ import annotations

import builtins
import gc
import re
import signal
import sys
import sysconfig
from types import FrameType
from typing import Any

_EVENTS = frozenset(
    [
        "gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys._current_frames", "sys._current_exceptions", "sys.settrace",
        "sys.setprofile", "sys.addaudithook", "code.__new__", "sys.monitoring.register_callback",
    ]
)  # fmt: skip
_OUTSIDE = frozenset(
    [
        "open",
        "os.listdir",
        "os.scandir",
        "os.system",
        "os.fork",
        "os.exec",
        "os.posix_spawn",
        "subprocess.Popen",
        "socket.connect",
    ]
)
_MODULES = (".py", ".pyc", ".so", ".pyi")
_REFERENCE = re.compile(r"(?:^|/)(?:task_desc|test_\w+|\w*golden\w*|\w+_torch|\d+_\w+)\.py$")
_CODE = ("__code__", "__defaults__", "__kwdefaults__")
_FRAME = "sys._getframe"
_STDLIB = tuple(sysconfig.get_paths()[name] + "/" for name in ("stdlib", "platstdlib"))
_PACKAGES = ("/site-packages/", "/dist-packages/")
_MOST = 20
_signal, _setitimer, _alarm = signal.signal, signal.setitimer, signal.alarm
_frames, _disable, _callbacks = sys._current_frames, gc.disable, gc.callbacks
_HANDLED = tuple(set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
_BUILTINS = builtins.__dict__


class Guard:
    """``reached`` are the ways it took, ``outside`` what it read or started; ``folder`` is the implementation's."""

    def __init__(self, folder: str) -> None:
        self.folder, self.reached = f"{folder}/", dict[str, None]()
        self.outside: dict[tuple[str, str, str, int], None] = {}
        self._busy = False
        self._builtins = dict(_BUILTINS)

    def install(self) -> None:
        sys.addaudithook(self._heard)

    def _heard(self, event: str, args: tuple[Any, ...]) -> None:
        if self._busy or not self._meant(event, args):
            return
        self._busy = True
        try:
            frame: FrameType | None = sys._getframe(1)
            at = self._whose(frame, direct=event == _FRAME)
            if at is None:
                return
            if event in _OUTSIDE:
                if len(self.outside) < _MOST:
                    self.outside[(event, _text(args[0] if args else ""), at[0], at[1])] = None
            elif len(self.reached) < _MOST:
                self.reached[f"{event} {at[0]}:{at[1]}"] = None
        finally:
            self._busy = False

    def _meant(self, event: str, args: tuple[Any, ...]) -> bool:
        if event in _OUTSIDE:
            name = _text(args[0] if args else "")
            # Modules are imported, its own files are its own.
            return not (event == "open" and (name.endswith(_MODULES) and not _REFERENCE.search(name))) and not (
                event in ("open", "os.listdir", "os.scandir") and f"{name}/".startswith(self.folder)
            )
        if event == "object.__setattr__":
            return len(args) > 1 and args[1] in _CODE
        return event in _EVENTS or event == _FRAME or event.startswith("ctypes.")

    def _whose(self, frame: FrameType | None, *, direct: bool) -> tuple[str, int] | None:
        """The implementation's line, where it is the implementation that does this."""
        steps = 0
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(self.folder):
                return name[len(self.folder) :], frame.f_lineno
            library = name.startswith(_STDLIB) and not any(part in name for part in _PACKAGES)
            if direct and library and not name.endswith("/inspect.py"):
                # Logging, named tuples and others of Python's own look at their caller for their own work.
                return None
            if not library and name[:1] != "<":
                return None
            frame, steps = frame.f_back, steps + 1
        return None

    def calm(self) -> list[str]:
        """Nothing of the implementation's runs from here on: what it left that would."""
        left = []
        for timer in _TIMERS:
            _setitimer(timer, 0)
        for number in _HANDLED:
            try:
                if callable(_signal(number, signal.SIG_DFL)):
                    left.append(f"signal {number}")
            except (OSError, ValueError):
                continue
        # Python's own handler of Ctrl-C is no implementation's.
        left = [one for one in left if one != f"signal {int(signal.SIGINT)}"]
        _disable()
        if _callbacks:
            left.append("gc.callbacks")
            _callbacks.clear()
        self._busy = True
        if len(_frames()) > 1:
            left.append("threads")
        self._busy = False
        return left

    def builtins_changed(self) -> list[str]:
        """Python's own functions that are others now; asked without any of them."""
        found = []
        for key in self._builtins:
            if key != "_" and _BUILTINS.get(key) is not self._builtins[key]:
                found += [f"builtins.{key}"]
        return found


def _text(value: Any) -> str:
    """A path as text, whatever it is; nothing of a user's is called for it."""
    if type(value) is bytes:
        return value.decode("utf-8", "replace")
    return value if type(value) is str else str(value) if type(value) is int else ""


def hidden() -> None:
    """What verification consists of is no longer among the modules that can be imported."""
    main = sys.modules.get("__main__")
    for name in [name for name in sys.modules if name.startswith("opdev_")]:
        del sys.modules[name]
    for key in ("m", "s", "n", "p", "u", "names", "path"):
        vars(main).pop(key, None)


def overridden() -> set[str]:
    """Operations of Torch whose implementation was replaced by way of ``torch.library``."""
    found = getattr(sys.modules.get("torch.library"), "_impls", ())
    return {str(name) for name in found if str(name).startswith(("aten/", "prims/"))}
