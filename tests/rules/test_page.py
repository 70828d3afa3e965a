"""A page that cannot be used says at which line, and what to do."""

from __future__ import annotations

import pytest

from opdev.rules.page import PageError, parse_page, schema

GOOD = """---
id: SH999
name: some-offence
severity: warning
kinds: [shell]
language: bash
check: ports.hardcoded_endpoint
since: 0.1.0
messages:
  default: {zh: 这样不行, en: this is wrong}
---
# 中文标题

这里说明问题、后果、改法，至少十五个字。

# English title

What it finds, why it hurts, and what to do about it.

```bash bad scripts/run.sh
IPPORT="tcp://1.2.3.4:5"
```
```bash file scripts/other.sh
echo
```
```bash good scripts/run.sh profile=in-tree
echo
```
"""


def test_a_good_page():
    page = parse_page(GOOD, "ports/some-offence.md")

    assert (page.rule.id, page.rule.covers, page.rule.family) == ("SH999", ("SH999",), "ports")
    assert [(e.role, e.path, e.aux, dict(e.options)) for e in page.examples] == [
        ("bad", "scripts/run.sh", (("scripts/other.sh", "echo\n"),), {}),
        ("good", "scripts/run.sh", (), {"profile": "in-tree"}),
    ]
    assert page.docs["zh"].startswith("# 中文标题")
    assert page.docs["en"].startswith("# English title")


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("---\nid", "id", 1, "front matter"),
        (
            "  default: {zh: 这样不行, en: this is wrong}\n---",
            "  default: {zh: 这样不行, en: this is wrong}",
            1,
            "not closed",
        ),
        ("severity: warning", "severity: bad", 4, "severity is one of"),
        ("severity: warning", "severty: warning", 4, "unknown key 'severty'"),
        ("id: SH999", "id: 999", 2, "not letters and a number"),
        ("name: some-offence", "name: Some_Offence", 3, "not words joined by dashes"),
        ("kinds: [shell]", "kinds: [shel]", 5, "unknown kind 'shel'"),
        ("language: bash", "language: fish", 2, "unknown language"),
        ("check: ports.hardcoded_endpoint\n", "", 2, "either a query or a check"),
        ("since: 0.1.0\n", "", 2, "lacks 'since'"),
        ("{zh: 这样不行, en: this is wrong}", "{en: this is wrong}", 9, "a text in zh and one in en"),
        ("{zh: 这样不行, en: this is wrong}", "{zh: wrong, en: this is wrong}", 9, "zh is Chinese"),
        ("since: 0.1.0", "since: 0.1.0\nfix: safe", 9, "fixes.default"),
        ("since: 0.1.0", "since: [", 10, "not YAML"),
        ("# English title\n", "", 12, "two headings"),
        ("# 中文标题", "# A title", 12, "first heading is Chinese"),
        ("What it finds, why it hurts, and what to do about it.", "Bad.", 12, "says too little"),
        ("```bash bad scripts/run.sh", "```bash bad", 20, "names its file"),
        ("severity: warning", "severity: warning\nprofiles: {in-tree: maybe}", 5, "profile in-tree"),
    ],
)
def test_a_wrong_page_names_line_and_remedy(old, new, line, words):
    assert old in GOOD

    with pytest.raises(PageError) as caught:
        parse_page(GOOD.replace(old, new, 1), "x.md")

    assert (caught.value.line, words in caught.value.problem) == (line, True), caught.value


def test_crlf_pages_are_read_the_same():
    assert parse_page(GOOD.replace("\n", "\r\n"), "a/b.md") == parse_page(GOOD, "a/b.md")


def test_the_schema_knows_every_key_the_reader_knows():
    from opdev.rules.page import _KEYS

    assert set(schema()["properties"]) == _KEYS
