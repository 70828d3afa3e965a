"""Every shipped page: its examples hold, its check exists, its words are unique and reachable."""

from __future__ import annotations

import pytest

from opdev.lint.pagetest import test_page as run_page
from opdev.rules import store
from opdev.rules.engine import BUILTIN, check_of
from opdev.rules.page import read_page

ROOT = store.rules_folder()
PAGES = sorted(ROOT.rglob("*.md"))
ALL = [read_page(path, ROOT) for path in PAGES]
RULES = [page.rule for page in ALL]
CALLING_CARDS = {
    "bare-cmake", "hardcoded-endpoint", "unscoped-process-kill", "top-level-dev-import", "missing-contiguous", "lost-exit-status",
}  # fmt: skip


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.rule.name)
def test_examples_hold(page):
    report = run_page(page, RULES)

    assert [str(problem) for problem in report.problems] == []


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.rule.name)
def test_page_is_named_after_its_rule_and_its_check_exists(page):
    assert page.path.endswith(f"/{page.rule.name}.md")
    if page.rule.check not in (None, BUILTIN):
        assert callable(check_of(page.rule.check))


def test_the_calling_cards_are_there():
    assert {page.rule.name for page in ALL} >= CALLING_CARDS


def test_no_two_pages_cover_the_same_row():
    """A row is one page's; only a page whose id it is may share it with one that covers more."""
    seen = {}
    for page in ALL:
        for row in page.rule.covers:
            other = seen.setdefault(row, page.rule)
            assert other is page.rule or row in (other.id, page.rule.id), f"{row}: {page.rule.name} and {other.name}"


def test_words_find_their_rule():
    table = store.by_name(RULES)

    for rule in RULES:
        assert table[rule.name] is rule
        assert table[rule.id.lower()] is rule


def test_compiled_form_is_the_pages():
    assert {r.name: r for r in store.load()} == {r.name: r for r in RULES}
