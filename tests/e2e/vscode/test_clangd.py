"""The offer to set up clangd: every button of it, and of what follows it, pressed once."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from code_server import ROOT

sys.path.append(str(ROOT / "tests/lsp"))

from operators import make

if TYPE_CHECKING:
    from code_server import CodeServer
    from workbench import Workbench

OFFER = "With the clangd extension the kernels of {} can be navigated"
WRITTEN = ("compile_commands.json", ".clangd")


def test_buttons_of_the_offer_do_what_they_say(
    serve: Callable[..., CodeServer], window: Callable[..., Workbench], tmp_path: Path
) -> None:
    first = make(tmp_path / "repo").root
    operators = {name: first.with_name(name) for name in ("one", "two", "three", "four")}
    for root in operators.values():
        shutil.copytree(first, root)
    shutil.rmtree(first)
    # An editor of its own: what is pressed here is remembered for all its windows.
    server = serve(machine={"opdev.python": sys.executable, "opdev.run.executor": "host"})
    bench = window(server, tmp_path / "repo")
    bench.view("opdev").locator(".monaco-list-row", has_text="four").wait_for()

    # Look at it: the extensions view searches for it.
    bench.open("one/src/demo_kernel.cpp")
    bench.notification(OFFER.format("one")).wait_for()
    bench.picture("clangd-offered-without")
    bench.answer(OFFER.format("one"), "Look at clangd")
    search = bench.page.locator(".extensions-viewlet .view-line", has_text="llvm-vs-code-extensions.vscode-clangd")
    search.wait_for()
    bench.picture("clangd-looked-at")
    assert not any((operators["one"] / name).exists() for name in WRITTEN)

    # Set it up: what opdev did not write is kept, until the user says otherwise.
    own = operators["two"] / WRITTEN[0]
    text = '[{"directory": "/", "file": "a.cpp", "command": "g++ a.cpp"}]'
    bench.open("two/src/demo_kernel.cpp")
    bench.notification(OFFER.format("two")).wait_for()
    own.write_text(text)
    bench.answer(OFFER.format("two"), "Set up clangd")
    bench.notification(own.name).wait_for()
    bench.picture("clangd-kept")
    assert own.read_text() == text
    bench.answer(own.name, "Replace")
    bench.notification("clangd is set up; sources it knows: 1.").wait_for()
    assert "demo_kernel.cpp" in own.read_text()

    # Don't ask again: no other operator, and no other window, is asked about.
    bench.palette("Notifications: Clear All Notifications")
    bench.open("three/src/demo_kernel.cpp")
    bench.answer(OFFER.format("three"), "Don't ask again")
    bench.notification(OFFER.format("three")).wait_for(state="detached")
    bench.reload()
    bench.open("four/src/demo_kernel.cpp")
    # The palette has what the editor knew when it was opened.
    bench.page.locator(".codelens-decoration").first.wait_for()
    bench.palette("opdev: Let clangd understand this operator")
    bench.notification("clangd is set up; sources it knows: 1.").wait_for()
    assert all((operators["four"] / name).is_file() for name in WRITTEN)
    for name in ("one", "three"):
        assert not any((operators[name] / file).exists() for file in WRITTEN)
    assert bench.page.locator(".notification-list-item", has_text="With the clangd extension").count() == 0
