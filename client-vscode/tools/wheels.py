"""Collects into ``client-vscode/wheels`` what the extension makes its own Python environment of, without a network.

That is our wheel and the wheels of everything it needs, for each Python we serve on this platform.  What comes from a
registry is fetched again only when the requirements changed; our wheel is built each time.  ``packs.py`` lays them out
for the extension, in ``client-vscode/packs``: its environment is made anew when ``manifest.json`` there says something else.
"""

from __future__ import annotations

import email
import hashlib
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import canonicalize_name, parse_wheel_filename

sys.path.insert(0, str(Path(__file__).parent))

from packs import pack

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
WHEELS = ROOT / "client-vscode" / "wheels"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
SCRIPTS = ("numpy>=1.26,<2.3; python_version < '3.14'", "numpy>=2.3,<3; python_version >= '3.14'")
"""What the scripts of operators need, and the precision panel: the last that run where glibc is 2.17."""
FROM_SOURCE = {"tree-sitter-cmake"}
"""Packages without wheels; they are built here, for the stable ABI."""
MACHINE = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
PLATFORMS = [
    *(f"manylinux_2_{minor}_{MACHINE}" for minor in range(28, 4, -1)),
    f"manylinux2014_{MACHINE}",
    f"linux_{MACHINE}",
]


def main() -> int:
    if sys.platform != "linux":
        print("wheels are collected on Linux only; elsewhere the extension comes without them", file=sys.stderr)
        return 0
    needed = [*tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"], *SCRIPTS]
    key = hashlib.sha256(f"{needed} {PYTHONS} {PLATFORMS} {Path(__file__).read_text()}".encode()).hexdigest()
    stamp = WHEELS / ".key"
    if not stamp.exists() or stamp.read_text() != key:
        with tempfile.TemporaryDirectory(dir=ROOT / "client-vscode", prefix=".wheels-") as name:
            folder = Path(name)
            collect(needed, folder)
            (folder / ".key").write_text(key)
            shutil.rmtree(WHEELS, ignore_errors=True)
            shutil.copytree(folder, WHEELS)
    own()
    found = {python: needs(["opdev", *SCRIPTS], python, WHEELS) for python in PYTHONS}
    problems = [f"Python {python}: no wheel for {text}" for python, (_, unmet) in found.items() for text in unmet]
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        pack({python: wheels for python, (wheels, _) in found.items()}, f"linux-{MACHINE}")
    return 1 if problems else 0


def collect(needed: list[str], folder: Path) -> None:
    """Fetch everything but our own wheel."""
    say(f"collecting the wheels of {len(needed)} requirements for Python {', '.join(PYTHONS)} (once)")
    requirements = [Requirement(text) for text in needed]
    for one in requirements:
        if one.name in FROM_SOURCE:
            pip("wheel", "--no-deps", "-w", str(folder), f"{one.name}{one.specifier}")
    for python in PYTHONS:
        # pip judges markers by the Python it runs with; what they ask of this one is found here, round by round.
        wanted = [f"{one.name}{one.specifier}" for one in requirements if applies(one, python)]
        while wanted:
            fetch(wanted, python, folder)
            wanted = [text for text in needs(needed, python, folder)[1] if text not in wanted]


def fetch(wanted: Iterable[str], python: str, folder: Path) -> None:
    abi = f"cp{python.replace('.', '')}"
    pip("download", "--only-binary=:all:", "--find-links", str(folder), "-d", str(folder),
        "--python-version", python, "--implementation", "cp", "--abi", abi, "--abi", "abi3", "--abi", "none",
        *(word for name in PLATFORMS for word in ("--platform", name)), *wanted)  # fmt: skip


def own() -> None:
    """Our wheel, of the tree as it is."""
    for old in WHEELS.glob("opdev-*.whl"):
        old.unlink()
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(WHEELS), str(ROOT))


def needs(wanted: Iterable[str], python: str, folder: Path) -> tuple[list[Path], list[str]]:
    """Wheels in the folder for ``wanted`` and for what these need, and the requirements that no wheel there meets."""
    wheels = usable(python, folder)
    todo = [Requirement(text) for text in wanted]
    chosen: dict[str, Path] = {}
    unmet: list[str] = []
    while todo:
        one = todo.pop()
        name = canonicalize_name(one.name)
        if not applies(one, python):
            continue
        fitting = [path for version, path in wheels.get(name, ()) if one.specifier.contains(version)]
        if not fitting or chosen.get(name, fitting[-1]) not in fitting:
            unmet.append(f"{one.name}{one.specifier}")
        elif name not in chosen:
            chosen[name] = fitting[-1]
            todo += [Requirement(text) for text in requires(fitting[-1])]
    return list(chosen.values()), unmet


def usable(python: str, folder: Path) -> dict[str, list[tuple[str, Path]]]:
    """Wheels that can be installed with this Python, by name: (version, file)."""
    version = tuple(map(int, python.split(".")))
    tags: set[Tag] = {*cpython_tags(version, platforms=PLATFORMS), *compatible_tags(version, platforms=PLATFORMS)}
    found: dict[str, list[tuple[str, Path]]] = {}
    for path in sorted(folder.glob("*.whl")):
        name, number, _, those = parse_wheel_filename(path.name)
        if tags & those:
            found.setdefault(name, []).append((str(number), path))
    return found


def requires(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        name = next(one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name)).get_all("Requires-Dist") or []


def applies(one: Requirement, python: str) -> bool:
    where = {
        "python_version": python, "python_full_version": f"{python}.0", "extra": "", "sys_platform": "linux",
        "platform_system": "Linux", "os_name": "posix", "platform_machine": MACHINE,
        "implementation_name": "cpython", "platform_python_implementation": "CPython",
    }  # fmt: skip
    return one.marker is None or one.marker.evaluate(where)


def pip(*words: str) -> None:
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *words)


def run(*argv: str) -> None:
    done = subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        say(done.stdout)
        raise SystemExit(f"failed: {' '.join(argv)}")


def say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
