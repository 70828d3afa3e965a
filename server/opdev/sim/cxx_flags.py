"""The compiler's command line, sorted by what each step of a compilation needs."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

_SOURCES = (".cpp", ".cc", ".cxx", ".c++", ".C", ".asc", ".cce")
# Flags with a value of their own, by who needs them.
_DEFINES = ("-D", "-U", "-include", "-imacros")
_INCLUDES = ("-I", "-isystem", "-iquote", "-idirafter")
_DEPENDENCIES = ("-MF", "-MT", "-MQ")
_DEVICE_MODES = ("-xcce", "-xasc")
_CCE_SWITCHES = ("--cce-", "-cce-", "--npu-arch", "--aicore-", "-fcce-")
# What bisheng defines when it compiles for the vector cores of a chip: kernels are guarded by it.
_CHIP_220 = ("-D__DAV_C220_VEC__", "-D__NPU_ARCH__=2201")
_CHIP_310 = ("-D__DAV_C310_VEC__", "-D__NPU_ARCH__=3510")
_OF_310 = ("c310", "3510", "Ascend950")


@dataclass
class Command:
    """One call of the compiler, bisheng's own flags gone.  ``rest`` are queries like ``--version``."""

    device: bool = False
    chip: tuple[str, ...] = _CHIP_220
    compile_only: bool = False
    preprocess_only: bool = False
    output: str = ""
    sources: list[str] = field(default_factory=list)
    inputs: bool = False
    flags: list[str] = field(default_factory=list)
    defines: list[str] = field(default_factory=list)
    includes: list[str] = field(default_factory=list)
    dependencies: list[str] = field(default_factory=list)
    link: list[str] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)


def parse(args: list[str], *, device: bool = False) -> Command:
    """Sort ``args``; ``device`` when the compiler was called by bisheng's name."""
    command = Command(device=device)
    queue = _expanded(args)
    while queue:
        _take(queue.pop(0), queue, command)
    return command


def _expanded(args: list[str]) -> list[str]:
    """Response files opened."""
    found: list[str] = []
    for arg in args:
        if arg.startswith("@") and os.path.isfile(arg[1:]):
            import shlex

            with open(arg[1:], encoding="utf-8") as file:
                found += _expanded(shlex.split(file.read()))
        else:
            found.append(arg)
    return found


def _take(arg: str, queue: list[str], command: Command) -> None:
    if _bisheng(arg, queue, command):
        return
    if arg == "-c":
        command.compile_only = True
    elif arg in ("-E", "-M", "-MM"):
        command.preprocess_only = True
        command.rest.append(arg)
    elif arg == "-o":
        command.output = queue.pop(0) if queue else ""
    elif arg.startswith("-o") and not arg.startswith("-openmp"):
        command.output = arg[2:]
    elif (
        _with_value(arg, queue, _DEFINES, command.defines)
        or _with_value(arg, queue, _INCLUDES, command.includes)
        or _with_value(arg, queue, _DEPENDENCIES, command.dependencies)
    ):
        return
    elif arg in ("-MD", "-MMD", "-MP", "-MG"):
        command.dependencies.append(arg)
    elif arg.startswith(("-l", "-L", "-Wl,")) or arg in ("-shared", "-static", "-rdynamic"):
        command.link.append(arg)
    elif arg in ("-Xlinker", "-u", "-z"):
        command.link += [arg, *queue[:1]]
        del queue[:1]
    elif arg in ("--version", "-dumpversion", "-dumpmachine", "-dumpfullversion") or arg.startswith("-print-"):
        command.rest.append(arg)
    elif arg.startswith("-"):
        command.flags.append(arg)
    elif arg.endswith(_SOURCES):
        command.sources.append(arg)
    else:
        # Objects, archives and libraries, in their order among the -l flags.
        command.inputs = True
        command.link.append(arg)


def _bisheng(arg: str, queue: list[str], command: Command) -> bool:
    """Flags only bisheng knows; True when ``arg`` was one."""
    if arg in _DEVICE_MODES or (arg == "-x" and queue[:1] in (["cce"], ["asc"])):
        command.device = True
        if arg == "-x":
            queue.pop(0)
    elif arg == "-x" and queue:
        queue.pop(0)
    elif arg == "-xc++":
        command.device = False
    elif arg == "-mllvm":
        del queue[:1]
    elif arg in ("-Xhost-start", "-Xhost-end"):
        return True
    elif arg == "-Xaicore-start":
        while queue and queue.pop(0) != "-Xaicore-end":
            pass
    elif not arg.startswith(_CCE_SWITCHES):
        return False
    elif any(word in arg for word in _OF_310):
        command.chip = _CHIP_310
    return True


def _with_value(arg: str, queue: list[str], names: tuple[str, ...], into: list[str]) -> bool:
    for name in names:
        if arg == name:
            into += [name, *queue[:1]]
            del queue[:1]
            return True
        if arg.startswith(name) and name in ("-D", "-U", "-I"):
            into.append(arg)
            return True
    return False
