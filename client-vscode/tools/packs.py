"""Lays out the collected wheels for the .vsix: what several Pythons share is in it once, and all is compressed together.

Five Pythons need five NumPys whose largest part, OpenBLAS, is the same in four of them; and a wheel compresses each of
its files alone.  So the files of all wheels, as they lie in ``site-packages``, are sorted by the Pythons that need
them.  Each such set is one pack: the length of its list (4 bytes, the highest first), the list (JSON, ``[path, size]``
for each file), the contents one after another, all of it through Brotli, which every editor's Node can read.
"""

from __future__ import annotations

import configparser
import csv
import hashlib
import io
import json
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CLIENT = Path(__file__).resolve().parents[1]
PACKS = CLIENT / "packs"
OWN = "opdev"
# Tests, what only they use, and what compiles against it: no script of an operator asks for these.  numpy.testing takes
# one name from its own tests.
_LEFT_OUT = {
    "numpy": re.compile(
        r"numpy/(?!_core/tests/(__init__|_natype)\.py)(.*/)?tests/|numpy/(f2py|distutils|_pyinstaller)/|numpy/_core/(include|lib)/|numpy/random/(lib|_examples)/"
        r"|numpy/_core/_simd\.|.*\.(pyi|pxd)$"
    )
}

Files = dict[str, bytes]


def pack(chosen: Mapping[str, Sequence[Path]], platform: str) -> None:
    """Write the packs and their manifest; ``chosen`` has the wheels for each Python.  A pack that is right stays."""
    PACKS.mkdir(exist_ok=True)
    wheels = {wheel: files(wheel) for wheel in {one for some in chosen.values() for one in some}}
    made = {name: (pythons, joined(group)) for name, pythons, group in groups(chosen, wheels)}
    manifest = PACKS / "manifest.json"
    before = json.loads(manifest.read_text("utf-8"))["packs"] if manifest.exists() else []
    known = {one["file"]: one for one in before}
    raws = {name: hashlib.sha256(raw).hexdigest() for name, (_, raw) in made.items()}
    stale = [name for name in made if known.get(name, {}).get("raw") != raws[name] or not right(known[name])]
    with tempfile.TemporaryDirectory(dir=CLIENT, prefix=".packs-") as folder:
        for name in stale:
            Path(folder, name).write_bytes(made[name][1])
        compress([Path(folder, name) for name in stale])
        for name in stale:
            shutil.move(Path(folder, name), PACKS / name)
    for old in PACKS.glob("*.br"):
        if old.name not in made:
            old.unlink()
    packs = [
        {"file": name, "pythons": pythons, "raw": raws[name], "sha256": hashed(PACKS / name)}
        for name, (pythons, _) in made.items()
    ]
    own = next(one for one in wheels if distribution(one) == OWN)
    digest = hashlib.sha256(json.dumps(raws, sort_keys=True).encode()).hexdigest()
    told = {"pythons": list(chosen), "platform": platform, "digest": digest, "programs": programs(own), "packs": packs}
    manifest.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def groups(chosen: Mapping[str, Sequence[Path]], wheels: Mapping[Path, Files]) -> list[tuple[str, list[str], Files]]:
    """Packs by name, the Pythons each is for, and its files.  Ours is one of its own: it changes with every build."""
    found: dict[tuple[bool, tuple[str, ...]], Files] = {}
    for wheel, contents in wheels.items():
        for path, data in contents.items():
            users = tuple(
                python for python, some in chosen.items() if any(wheels[one].get(path) == data for one in some)
            )
            found.setdefault((distribution(wheel) == OWN, users), {})[path] = data
    return [
        (f"{OWN if own else '-'.join(users)}.br", list(users), group) for (own, users), group in sorted(found.items())
    ]


def files(wheel: Path) -> Files:
    """What an installation of the wheel puts into ``site-packages``, without what is left out."""
    leave = _LEFT_OUT.get(distribution(wheel))
    found: Files = {}
    with zipfile.ZipFile(wheel) as archive:
        for one in archive.infolist():
            if one.is_dir():
                continue
            if ".data/" in one.filename:
                raise SystemExit(
                    f"{wheel.name}: {one.filename} belongs outside site-packages, which packs have no place for"
                )
            if not (leave and leave.match(one.filename)):
                found[one.filename] = archive.read(one)
    record = next(path for path in found if path.endswith(".dist-info/RECORD"))
    installer = record.replace("RECORD", "INSTALLER")
    found[installer] = b"opdev\n"
    rows = [row for row in csv.reader(io.StringIO(found[record].decode())) if row and row[0] in found]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([*rows, [installer, "", ""]])
    found[record] = text.getvalue().encode()
    return found


def programs(wheel: Path) -> dict[str, str]:
    """Programs of a wheel and what they call: ``{"opdev": "opdev.entry:opdev"}``."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(one for one in archive.namelist() if one.endswith(".dist-info/entry_points.txt"))
        points = configparser.ConfigParser(delimiters="=")
        points.read_string(archive.read(name).decode())
    return dict(points["console_scripts"])


def joined(group: Files) -> bytes:
    """The files as one; the same kinds beside each other."""
    paths = sorted(group, key=lambda path: (path.rpartition(".")[2], path))
    listed = json.dumps([[path, len(group[path])] for path in paths]).encode()
    return b"".join([len(listed).to_bytes(4, "big"), listed, *(group[path] for path in paths)])


def compress(drafts: Sequence[Path]) -> None:
    """Through Brotli, each in its place."""
    if drafts:
        subprocess.run(["node", str(CLIENT / "tools/compress.mjs"), *map(str, drafts)], check=True)


def right(one: Mapping[str, Any]) -> bool:
    path = PACKS / one["file"]
    return path.exists() and hashed(path) == one["sha256"]


def hashed(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def distribution(wheel: Path) -> str:
    return wheel.name.partition("-")[0].lower()
