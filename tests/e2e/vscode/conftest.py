"""One code-server for all tests in a trusted English window, others on request; a browser page for each test."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from code_server import ROOT, CodeServer, vsix  # noqa: E402 - found by the line above
from walkthrough import copied_corpus  # noqa: E402
from workbench import Workbench  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PICTURES = ROOT / "tests" / "e2e" / "vscode" / ".pictures"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            # One editor at a time: two on two cores wait for each other.
            item.add_marker(pytest.mark.xdist_group("vscode"))
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The .vsix of this tree."""
    return vsix(tmp_path_factory.mktemp("vsix"))


@pytest.fixture(scope="session")
def serve(extension: Path) -> Iterator[Callable[..., CodeServer]]:
    """Starts code-servers; all are gone at the end, whatever happened."""
    started: list[CodeServer] = []
    # Not pytest's folder: the names of sockets may not be long.
    with tempfile.TemporaryDirectory(prefix="ode2e-", ignore_cleanup_errors=True) as folder:

        def start(**options: Any) -> CodeServer:
            server = CodeServer(Path(folder) / str(len(started)), extension, **options)
            started.append(server)
            return server.start()

        try:
            yield start
        finally:
            for server in started:
                server.stop()


@pytest.fixture(scope="session")
def code_server(serve: Callable[..., CodeServer]) -> CodeServer:
    return serve()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A copy of our clean operators."""
    return copied_corpus(tmp_path / "shmem")


@pytest.fixture
def window(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Callable[..., Workbench]]:
    """Opens windows: ``window(server, folder)``."""
    contexts: list[Any] = []
    shown: list[tuple[Workbench, CodeServer]] = []

    def open_one(server: CodeServer, folder: Path, **context: Any) -> Workbench:
        made = browser.new_context(viewport={"width": 1280, "height": 800}, **context)
        contexts.append(made)
        bench = Workbench(made.new_page(), PICTURES)
        shown.append((bench, server))
        return bench.load(server.url(folder))

    yield open_one
    failed = getattr(request.node, "failed", False)
    for bench, server in shown:
        if failed:
            print(server.logs())
            bench.picture(f"FAILED-{request.node.name}")
    for made in contexts:
        made.close()
    for _, server in shown:
        assert server.thrown() == []


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome: Any = yield
    if outcome.get_result().failed:
        item.failed = True
