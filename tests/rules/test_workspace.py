"""A workspace's rules are queries: no code, no regular expression that takes for ever, no taken name."""

from __future__ import annotations

import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.config import Configs
from opdev.kinds import Place, classify
from opdev.rules import store
from opdev.rules.engine import Linter
from opdev.rules.page import PageError
from opdev.rules.workspace import dangerous, load_folder, nested_repeat
from opdev.source import Source
from opdev.syntax.file import File

PAGE = """---
id: TM001
name: forbidden-sleep
severity: warning
kinds: [shell]
language: bash
since: 0.1.0
messages:
  default: {zh: "“{name}”只会掩盖竞态", en: "{name} only hides the race"}
---
# 不要睡眠

睡眠只会掩盖竞态，请等待条件成立，而不是等待一段时间。

# No sleeping

A sleep only hides the race; wait for the condition, not for time.

```query bash
((command name: (command_name) @name) @hit (#eq? @name "sleep"))
```

```bash bad scripts/run.sh
sleep 1
#<----- forbidden-sleep
```

```bash good scripts/run.sh
wait "$pid"
```
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rules" / "team").mkdir(parents=True)
    return tmp_path / "rules"


def write(folder, text=PAGE, name="forbidden-sleep"):
    path = folder / "team" / f"{name}.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_rule_of_a_workspace_finds_what_its_query_says(folder):
    write(folder)
    (folder.parent / "opdev.toml").write_text('rules = ["rules"]\nselect = ["forbidden-sleep"]\n')
    resolved = Configs().for_folder(str(folder.parent))
    data = "echo 中文; sleep 1\n".encode()
    place = Place("custom-ops", "x", "/w/custom-ops/x")
    file = File(Source("/w/custom-ops/x/run.sh", data), classify("custom-ops/x/run.sh", data, in_operator=True), place)

    [finding] = Linter().lint(file, resolved.selection).findings

    assert data[finding.start : finding.end] == b"sleep 1"
    assert finding.message("en") == "sleep only hides the race"
    assert finding.message("zh") == "“sleep”只会掩盖竞态"
    assert finding.rule.family == "team"


QUERY = PAGE[PAGE.index("```query") : PAGE.index("```bash bad")]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (QUERY, "", "either a query or a check"),
        ("language: bash", "language: bash\ncheck: ports.hardcoded_endpoint", "either a query or a check"),
        ("name: forbidden-sleep", "name: hardcoded-endpoint", "'hardcoded-endpoint' is taken by another rule"),
        ("id: TM001", "id: SH700", "'SH700' is taken by another rule"),
        ("(command name", "(comand name", "the query does not compile"),
        ('(#eq? @name "sleep")', '(#match? @name "(s+)+")', "repeats a repetition"),
        ('(#eq? @name "sleep")', '(#match?@name"(s+)+")', "repeats a repetition"),
        ('(#eq? @name "sleep")', '(#match? ; why\n @name "(s+)+")', "repeats a repetition"),
        ('(#eq? @name "sleep")', '(#not-any-match? @name "(s+)+")', "repeats a repetition"),
        ('(#eq? @name "sleep")', '(#match? @name "s(")', "does not compile"),
        ('(#eq? @name "sleep")', f'(#match? @name "{"s" * 501}")', "501 characters; 500 at most"),
        ("severity: warning", "severity: bad", "severity is one of"),
    ],
)
def test_what_may_not_be_used_is_refused_with_its_page(folder, old, new, words):
    assert old in PAGE
    path = write(folder, PAGE.replace(old, new, 1))

    with pytest.raises(PageError) as caught:
        load_folder(folder, store.load())

    assert words in caught.value.problem
    assert str(path) in str(caught.value)


def test_code_is_refused(folder):
    path = write(folder, PAGE.replace(QUERY, "").replace("language: bash", "language: bash\ncheck: os.system"))

    with pytest.raises(PageError, match="runs Python and is not allowed here"):
        load_folder(folder, store.load())
    assert path.is_file()


def test_a_catalogue_row_another_page_covers_is_taken(folder):
    covering = next(r for r in store.load() if sum(c[-1].isdigit() for c in r.covers) > 1)
    row = next(c for c in covering.covers if c != covering.id and c[-1].isdigit())
    write(folder, PAGE.replace("TM001", row))

    with pytest.raises(PageError, match=f"'{row}' is taken"):
        load_folder(folder, store.load())


def test_two_pages_of_one_name_are_refused(folder):
    write(folder)
    write(folder, PAGE.replace("TM001", "TM002"), "other")

    with pytest.raises(PageError, match="'forbidden-sleep' is taken"):
        load_folder(folder, store.load())


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        (r"(a+)+b", True),
        (r"(a*)*", True),
        (r"(?:a|aa)+b", True),
        (r"(a{1,50})*b", True),
        (r"(a?){50}a{50}", True),
        (r"(a?a?)*b", True),
        (r"(a+){10}b", True),
        (r"((a+){3}){3}", True),
        (r"(?=(a+)+b)", True),
        (r"(a)\1", True),
        pytest.param(r"(?>(a+)+b)", True, marks=pytest.mark.skipif(sys.version_info < (3, 11), reason="new in 3.11")),
        (r"(a)?(?(1)b|c)", True),
        (r"^(pkill|killall)$", False),
        (r"\d{1,3}(?:\.\d{1,3}){3}", False),
        (r"[a-z]+_\w*\.sh", False),
        (r"(?:ab)*c", False),
        (r"(?:x|y)?z", False),
        (r"中+文", False),
    ],
)
def test_regular_expressions(text, refused):
    assert nested_repeat(text) is refused
    assert bool(list(dangerous(f'((word) @a (#match? @a "{text}"))'.replace("\\", "\\\\")))) is refused


ATOMS = st.sampled_from(["a", "b", "[ab]", "."])
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda p: f"(?:{p[0]}|{p[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,60}", "+?"])).map(
            lambda p: f"(?:{p[0]}){p[1]}"
        ),
    ),
    max_leaves=5,
)


@settings(deadline=None, max_examples=100)
@given(EXPRESSIONS)
def test_what_is_let_through_ends(text):
    import re

    if nested_repeat(text):
        return
    began = time.process_time()
    re.search(f"(?:{text})c", "ab" * 15 + "a" * 15 + "!")

    assert time.process_time() - began < 2
