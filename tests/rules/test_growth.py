"""A rule's work grows with the file, not with its square: generated code and logs are long too.

Work is counted in calls, Python's and C's, so that nothing hangs on the machine.  A call that scans
the whole text counts as one however long it takes: for those `report` measures time, and only prints.

    python tests/rules/test_growth.py [RULE…]
"""

from __future__ import annotations

import gc
import sys
import time

import pytest

from opdev.lint.pagetest import World, strip_marks
from opdev.rules import store
from opdev.rules.page import read_page

ROOT = store.rules_folder()
ALL = [read_page(path, ROOT) for path in sorted(ROOT.rglob("*.md"))]
RULES = [page.rule for page in ALL]
FEW, MANY = 20, 80
MOST = 1.6
"""How much more than its share of the text the longer file may take: n log n and a bit."""


def bad(page):
    return [example for example in page.examples if example.role == "bad"]


class Copies:
    """An example of a page, as often as is asked for, under the page's rule alone."""

    def __init__(self, page, example):
        text, _ = strip_marks(example.text)
        self.text = text if text.endswith("\n") else text + "\n"
        self.world = World(page, example, self.text, RULES)

    def source(self, count):
        return self.world.source((self.text * count).encode())

    def calls(self, count):
        """Calls that linting ``count`` copies takes, and what was found."""
        source, made = self.source(count), 0

        def note(frame, event, argument):
            nonlocal made
            made += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            findings = self.world.lint(source)
        finally:
            sys.setprofile(before)
        return made, findings

    def seconds(self, count):
        source = self.source(count)
        gc.collect()
        gc.disable()
        try:
            start = time.process_time()
            self.world.lint(source)
            return time.process_time() - start
        finally:
            gc.enable()


@pytest.mark.parametrize(
    ("page", "example"),
    [pytest.param(page, example, id=f"{page.rule.name}:{example.line}") for page in ALL for example in bad(page)],
)
def test_calls_grow_with_the_text(page, example):
    copies = Copies(page, example)
    copies.world.lint(copies.source(1))  # what is made once a process is made

    few, _ = copies.calls(FEW)
    many, findings = copies.calls(MANY)

    assert not [f for f in findings if f.rule.name == "internal-error"]
    assert many <= few * MANY / FEW * MOST


def report(names):
    """Print the rules whose time grows faster than the text, slowest first."""
    rows = []
    for page in ALL:
        for example in bad(page) if not names or page.rule.name in names else ():
            copies = Copies(page, example)
            copies.seconds(FEW)
            few, many = copies.seconds(2 * FEW), copies.seconds(2 * MANY)
            if names or (many > 0.03 and many > few * MANY / FEW * MOST):
                rows.append((many, many / few, f"{page.rule.name}:{example.line}"))
    for many, ratio, name in sorted(rows, reverse=True):
        print(f"{many * 1000:7.0f} ms, {ratio:4.1f} times as long for {MANY // FEW} times the text: {name}")


if __name__ == "__main__":
    report(sys.argv[1:])
