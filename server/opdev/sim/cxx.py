"""The compiler that projects get in the place of bisheng and of g++.

A source is preprocessed, rewritten and compiled, in three steps that look like one: flags of bisheng
are dropped, diagnostics keep the user's lines, and an object whose text and flags were compiled
before is taken from the cache.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from opdev.sim.cxx_flags import Command, parse
from opdev.sim.cxx_text import explain, missing_header, missing_name

_LINE_MARKER = re.compile(rb"^# \d+ ", re.MULTILINE)


@dataclass
class _Place:
    root: Path
    names: frozenset[str] = field(default_factory=frozenset)

    @property
    def include(self) -> str:
        return str(self.root / "include")

    def owns(self, path: str) -> bool:
        """Whether a header is the stand-in's own."""
        return os.path.realpath(path).startswith(os.path.realpath(self.include) + os.sep)


def main(root: str, argv: list[str]) -> int:
    """Act as the compiler; ``argv[1]`` is the name it was called by."""
    place = _Place(Path(root))
    compiler = (place.root / "bin" / ".gxx").read_text(encoding="utf-8")
    command = parse(argv[2:], device=os.path.basename(argv[1]) in ("bisheng", "ccec"))
    if not command.sources or command.preprocess_only:
        return _link(compiler, place, command)
    place.names = frozenset((place.root / "names.txt").read_text(encoding="utf-8").split())
    if command.compile_only:
        for source in command.sources:
            made = command.output or os.path.splitext(os.path.basename(source))[0] + ".o"
            status = _compile(compiler, place, command, source, made)
            if status:
                return status
        return 0
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for index, source in enumerate(command.sources):
            objects.append(os.path.join(folder, f"{index}.o"))
            status = _compile(compiler, place, command, source, objects[-1])
            if status:
                return status
        return _link(compiler, place, command, objects)


def _include_flags(place: _Place, command: Command) -> list[str]:
    # The stand-in's headers come first, also before a checkout's own include folder.
    kept = [f"-I{place.include}"]
    for flag in command.includes:
        folder = flag.removeprefix("-I")
        if not os.path.realpath(folder).startswith(os.path.realpath(place.include)):
            kept.append(flag)
    return kept


def _compile(compiler: str, place: _Place, command: Command, source: str, made: str) -> int:
    standard = [] if any(flag.startswith("-std=") for flag in command.flags) else ["-std=gnu++17"]
    device = command.device or source.endswith((".asc", ".cce"))
    prelude = [*command.chip, "-include", "kernel_operator.h"] if device else []
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [compiler, *standard, *_include_flags(place, command), *prelude, *command.flags, *command.defines, *command.dependencies,
         *(["-MT", made] if command.dependencies and "-MT" not in command.dependencies else []),
         "-E", "-fdirectives-only", "-x", "c++", source],
        capture_output=True, check=False, env=environment,
    )  # fmt: skip
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode:
        sys.stderr.write(missing_header(said))
        return done.returncode
    from opdev.sim.names import public_names
    from opdev.sim.rewrite import cube_only, rewrite

    family = public_names()
    unit = rewrite(done.stdout, lambda path: _system(path) or place.owns(path), place.names, family)
    missing = [*unit.missing, *(cube_only(source, Path(source).read_bytes()) if device else ())]
    if missing:
        for one in missing:
            sys.stderr.write(missing_name(one, place.names))
        return 1
    flags = [*standard, *command.flags, "-Wno-attributes", "-Wno-unknown-pragmas"]
    key = hashlib.sha256(b"\0".join([unit.text, *map(os.fsencode, [compiler, str(place.root), *flags])])).hexdigest()
    cached = place.root.parent.parent / "objects" / key[:2] / key[2:]
    if cached.exists():
        shutil.copyfile(cached, made)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "unit.ii")
        Path(text).write_bytes(unit.text)
        done = subprocess.run(
            [compiler, *flags, "-fpreprocessed", "-fdirectives-only", "-x", "c++", "-c", text, "-o", made],
            capture_output=True, check=False, env=environment,
        )  # fmt: skip
    said = done.stderr.decode("utf-8", "replace")
    sys.stderr.write(explain(said, place.names, family))
    if not done.returncode and not said:
        _keep(cached, made)
    return done.returncode


def _system(path: str) -> bool:
    return path.startswith(("/usr/include/", "/usr/lib/", "/usr/local/include/"))


def _keep(cached: Path, made: str) -> None:
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        draft = tempfile.mktemp(dir=cached.parent)  # noqa: S306  # renamed over the final name: nobody opens it by this one
        shutil.copyfile(made, draft)
        os.replace(draft, cached)
    except OSError:
        return  # a cache that cannot be written costs time, nothing else


def _link(compiler: str, place: _Place, command: Command, objects: list[str] | None = None) -> int:
    library = str(place.root / "lib")
    if command.preprocess_only or not (command.inputs or objects):
        return subprocess.run(
            [compiler, *_include_flags(place, command), *command.flags, *command.defines, *command.rest, *command.sources,
             *(["-o", command.output] if command.output else [])],
            check=False,
        ).returncode  # fmt: skip
    output = ["-o", command.output] if command.output else []
    # -lshmem is found as a linker script, wherever the project's own search path leads first.
    return subprocess.run(
        [compiler, *command.flags, *output, *(objects or []), f"-L{library}", *command.link, f"-L{library}",
         "-Wl,-rpath,$ORIGIN/../lib", f"-Wl,-rpath,{library}", "-lopdev_sim", "-pthread"],
        check=False,
    ).returncode  # fmt: skip
