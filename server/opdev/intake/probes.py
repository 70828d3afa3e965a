"""What the machine has, asked of child processes that are ended when they take too long.

Looking at a path can hang (a dead network mount), importing Torch can crash: neither may take the form with it.
Nothing of CANN is sourced and Torch is imported by the child alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

from opdev.intake.model import Probe

CANDIDATES = (
    "/usr/local/Ascend/ascend-toolkit/set_env.sh", "/usr/local/Ascend/cann/set_env.sh", "~/Ascend/cann/set_env.sh",
)  # fmt: skip
"""Where a system-wide CANN is looked for: shown, never sourced."""
PATIENCE = 5.0
TORCH_PATIENCE = 60.0
_MOST = 4000
# Run by the child: [names to look up on PATH, paths] -> [what was found, "f"/"d"/"" of each path].
_LOOK = """
import json, os, shutil, sys
names, paths = json.load(sys.stdin)
kind = lambda p: "f" if os.path.isfile(p) else "d" if os.path.isdir(p) else ""
print(json.dumps([[shutil.which(n) or "" for n in names], [kind(p) for p in paths]]))
"""
_TORCH = "import torch, torch_npu; print(torch.__version__, torch_npu.__version__)"


def probe(
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    recorded: Mapping[str, object] | None = None,
    root: str = "",
    patience: float = PATIENCE,
) -> Probe:
    """The machine as seen from ``cwd``; ``recorded`` are the answers of an earlier record, ``root`` the operator.

    Torch is left out: see ``with_torch``.
    """
    environ = os.environ if environ is None else environ
    cwd = (cwd or os.getcwd()).replace("\\", "/")
    said = {key: value for key, value in (recorded or {}).items() if isinstance(value, str) and value.startswith("/")}
    home = environ.get("ASCEND_HOME_PATH", "")
    candidates = [_expanded(path, environ) for path in CANDIDATES]
    scripts = [f"{home}/set_env.sh", f"{home.rstrip('/').rpartition('/')[0]}/set_env.sh"] if home else []
    repos = _repositories(said.get("shmem_repo", ""), cwd, environ.get("SHMEM_REPO", ""), root)
    skills = [str(said.get("skills_root", "")), environ.get("SKILLS_ROOT", "")]
    paths = [*candidates, *scripts]
    for _, repo in repos:
        paths += [
            f"{repo}/include",
            f"{repo}/src",
            f"{repo}/install/set_env.sh",
            f"{repo}/.agents/skills/shmem-ops-dev",
        ]
    paths += [f"{folder}/shmem-ops-dev" for folder in skills if folder]
    looked = _look(("bisheng", "npu-smi", "conda"), paths, environ, patience)
    known = Probe(
        ascend_home=home, opp_path=environ.get("ASCEND_OPP_PATH", ""), conda_env=environ.get("CONDA_DEFAULT_ENV", ""),
        conda=environ.get("CONDA_EXE", ""), candidates=tuple((path, False) for path in candidates), asked=False,
    )  # fmt: skip
    if looked is None:
        return known
    (bisheng, npu, conda), kinds = looked
    repo, origin = next(
        ((r, o) for o, r in repos if _is_repository(kinds, r) or (o == "environment" and kinds[f"{r}/install/set_env.sh"] == "f")),
        ("", ""),
    )  # fmt: skip
    homes = [s for s in skills if s and kinds[f"{s}/shmem-ops-dev"] == "d"]
    if repo and kinds[f"{repo}/.agents/skills/shmem-ops-dev"] == "d":
        homes.append(f"{repo}/.agents/skills")
    return replace(
        known, bisheng=bisheng, npu_smi=npu, conda=known.conda or conda, asked=True,
        session_script=next((s for s in scripts if kinds[s] == "f"), ""),
        candidates=tuple((path, kinds[path] == "f") for path in candidates),
        shmem_repo=repo, repo_from=origin, installed=bool(repo) and kinds[f"{repo}/install/set_env.sh"] == "f",
        skills_root=homes[0] if homes else "",
    )  # fmt: skip


def _expanded(path: str, environ: Mapping[str, str]) -> str:
    return environ.get("HOME", "") + path[1:] if path.startswith("~/") else path


def _repositories(recorded: str, cwd: str, named: str, root: str) -> list[tuple[str, str]]:
    """(how it is known, folder) of what may be the SHMEM repository, the first that is one being it."""
    found = [("record", recorded), ("folder", cwd), ("below", f"{cwd.rstrip('/')}/shmem"), ("environment", named)]
    found.append(("operator", holder_of(root) or holder_of(cwd)))
    return [(origin, path.rstrip("/")) for origin, path in found if path.startswith("/") and path.rstrip("/")]


def holder_of(path: str) -> str:
    """The folder that holds the ``custom-ops`` or ``examples`` a path is or lies in; empty where it lies in neither."""
    parts = path.split("/")
    at = next((i for i in range(len(parts) - 1, 0, -1) if parts[i] in ("custom-ops", "examples")), 0)
    return "/".join(parts[:at])


def _is_repository(kinds: Mapping[str, str], folder: str) -> bool:
    return kinds[f"{folder}/include"] == "d" and kinds[f"{folder}/src"] == "d"


def look(path: str, *inside: str, patience: float = PATIENCE) -> list[str] | None:
    """``f``, ``d`` or nothing for a path and what should be below it; None where there is no answer in time."""
    paths = [path, *(f"{path.rstrip('/')}/{name}" for name in inside)]
    looked = _look((), paths, os.environ, patience)
    return None if looked is None else [looked[1][p] for p in paths]


def _look(
    names: Sequence[str], paths: Sequence[str], environ: Mapping[str, str], patience: float
) -> tuple[list[str], dict[str, str]] | None:
    status, out, _ = ask([sys.executable, "-I", "-S", "-c", _LOOK], environ, patience, json.dumps([names, list(paths)]))
    if status != 0:
        return None
    found, kinds = json.loads(out)
    return found, dict(zip(paths, kinds, strict=True))


def with_torch(known: Probe, environ: Mapping[str, str] | None = None, patience: float = TORCH_PATIENCE) -> Probe:
    """The machine, and whether its Python can import torch and torch_npu (``PYTHON_CMD``, else python3)."""
    environ = dict(os.environ if environ is None else environ)
    # A torch_npu that is broken must not break the import of plain Torch before it is asked for.
    environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    python = environ.get("PYTHON_CMD") or "python3"
    status, out, err = ask([python, "-c", _TORCH], environ, patience)
    said = ((out if status == 0 else err).strip().splitlines() or [""])[-1].strip()[:200]
    if status == 0:
        return replace(known, torch="ok", torch_detail=said)
    if status is None:
        return replace(known, torch="timeout", torch_detail=f"{python}: > {patience:g} s")
    if status == 127 or "ModuleNotFoundError" in said:
        return replace(known, torch="missing", torch_detail=said or python)
    return replace(known, torch="failed", torch_detail=said or f"{python}: {status}")


def in_container(engine: Sequence[str], container: str, test: str, path: str, patience: float = 20.0) -> bool | None:
    """Whether ``test`` (``-f``, ``-d``) holds for a path in a container; None where the container does not answer."""
    status, out, _ = ask(
        [*engine, "exec", container, "sh", "-c", 'test "$1" "$2" && echo yes || echo no', "opdev", test, path],
        os.environ,
        patience,
    )
    word = out.strip()
    return word == "yes" if status == 0 and word in ("yes", "no") else None


def ask(
    argv: Sequence[str], environ: Mapping[str, str], patience: float, said: str = ""
) -> tuple[int | None, str, str]:
    """(exit status, output, errors) of a program; status None where it took too long, 127 where there is none.

    It runs in a session of its own, which is ended whole, away from the user's folder (a torch.py there is no Torch).
    """
    try:
        child = subprocess.Popen(
            list(argv), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/" if os.name == "posix" else None,
            env=dict(environ), start_new_session=os.name == "posix",
        )  # fmt: skip
    except OSError as error:
        return 127, "", str(error)
    try:
        out, err = child.communicate(said.encode(), timeout=patience)
    except subprocess.TimeoutExpired:
        _end(child)
        return None, "", ""
    except BaseException:
        _end(child)
        raise
    return child.returncode, out[-_MOST:].decode("utf-8", "replace"), err[-_MOST:].decode("utf-8", "replace")


def _end(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if os.name == "posix":
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        # A child that waits for a dead disk cannot be ended: it is left behind, not waited for.
        child.communicate(timeout=1.0)
