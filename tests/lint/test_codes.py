"""Whatever code opdev prints, somebody looks it up: each has a page, in both languages, under that very word."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import opdev
from opdev.lint import importing
from opdev.lint.explain import explain
from opdev.lsp import diagnostics
from opdev.phases.verdicts import _ENGINE
from opdev.rules import store
from opdev.rules.engine import BUILTIN, INTERNAL_ERROR
from opdev.workflow.compat import Found
from opdev.workflow.rows import ABSENT, MISSING

HOME = Path(opdev.__file__).parent
PLACES = {field: index for index, field in enumerate(Found.__dataclass_fields__)}


def written(field):
    """The texts that the hooks and the gate give a field of what they found, wherever they make one."""
    found = set()
    for path in sorted((HOME / "workflow").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Found":
                given = [
                    *node.args[PLACES[field] : PLACES[field] + 1],
                    *(k.value for k in node.keywords if k.arg == field),
                ]
                found |= {one.value for one in given if isinstance(one, ast.Constant)}
    return found


def codes_of_the_server():
    """The texts that are ``code`` of a diagnostic the server makes itself."""
    found = set()
    for name in ("diagnostics", "session", "analysis"):
        tree = ast.parse((HOME / "lsp" / f"{name}.py").read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
            found |= {
                value.value
                for key, value in pairs
                if isinstance(key, ast.Constant) and key.value == "code" and isinstance(value, ast.Constant)
            }
    return found


CODES = sorted(
    {INTERNAL_ERROR.name, INTERNAL_ERROR.id, _ENGINE, importing.NAME, diagnostics.TOO_MANY, diagnostics.UNUSABLE}
    | written("rule_id") | written("name") | codes_of_the_server() | set(ABSENT.values())
)  # fmt: skip


@pytest.fixture(scope="module")
def rules():
    # Whoever read them while tests were collected read them into another cache.
    store.forget()
    return store.load()


@pytest.fixture(scope="module")
def table(rules):
    return store.by_name(rules)


def test_there_is_something_to_look_up():
    assert {"SYNTAX", "CONFIG", "INTERNAL", "SPEC-FREEZE", "syntax-error"} <= set(CODES)
    assert set(ABSENT) == set(MISSING)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_code_is_explained_by_its_page(code, lang, rules, table):
    text, status = explain(code, rules, lang)

    assert status == 0, text
    rule = table[code.lower()]
    assert rule.page
    assert (store.rules_folder() / rule.page).is_file()
    assert store.docs(rule)[lang].splitlines()[0] in text


def test_what_the_engine_says_without_pages_is_what_its_page_says(table):
    page = table[INTERNAL_ERROR.name]

    assert page.check == BUILTIN
    assert page.apart
    for field in ("id", "name", "severity", "messages", "summary", "page", "tags"):
        assert getattr(page, field) == getattr(INTERNAL_ERROR, field), field


def test_a_name_of_a_row_is_a_page_of_that_row(table):
    for row, name in ABSENT.items():
        assert row in table[name].covers
