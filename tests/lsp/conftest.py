"""Servers, workspaces and operators for the tests of the language server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from operators import HELD, make
from raw import Raw
from talking import CAN

HERE = Path(__file__).parent
RUN_BAD = '#!/bin/bash\nset -euo pipefail\nIPPORT="tcp://127.0.0.1:27010"\n'


@pytest.fixture(scope="session")
def raw():
    """The client's class, for servers that several tests share."""
    return Raw


@pytest.fixture
def start():
    """Start servers: ``start(*args, script=…, cwd=…, env=…)``."""
    running = []

    def begin(*args, **options):
        client = Raw(*args, **options)
        running.append(client)
        return client

    yield begin
    for client in running:
        client.kill()


@pytest.fixture
def work(tmp_path):
    """A workspace with one operator whose run.sh has one offence."""
    scripts = tmp_path / "work" / "custom-ops" / "demo" / "scripts"
    scripts.mkdir(parents=True)
    (scripts / "run.sh").write_text(RUN_BAD, encoding="utf-8")
    return tmp_path / "work"


@pytest.fixture
def run_sh(work):
    return work / "custom-ops" / "demo" / "scripts" / "run.sh"


@pytest.fixture(scope="session")
def capabilities():
    """Client capabilities by name: ``vscode-1.9x``, ``neovim-0.11``, ``bare``."""

    def load(name):
        return json.loads((HERE / "clients" / f"{name}.json").read_text(encoding="utf-8"))

    return load


@pytest.fixture
def faulty():
    """A script that runs the server with rules that print, crash and hang."""
    return HERE / "faulty_server.py"


@pytest.fixture
def demo(tmp_path):
    op = make(tmp_path / "repo 仓")
    yield op
    op.end()


@pytest.fixture
def held(tmp_path):
    """An operator whose smoke run waits for the file ``go``."""
    op = make(tmp_path / "repo", run=HELD)
    yield op
    op.end()


@pytest.fixture
def edit(start):
    """``edit(op)``: an editor on an operator's repository."""

    def edit(op, can=CAN, **more):
        client = start("--log-level", "info", **more.pop("server", {}))
        client.initialize(op.repo, capabilities=can, **more)
        return client

    return edit
