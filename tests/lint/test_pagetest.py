"""Examples in Markdown with a YAML fence inside: marks are comments of the YAML, or of the Markdown around it."""

from __future__ import annotations

import pytest

from opdev.lint.pagetest import Mark, strip_marks
from opdev.lint.pagetest import test_page as run_page
from opdev.rules.page import parse_page

PAGE = """---
id: SH999
name: some-offence
severity: error
kinds: [design-doc]
language: markdown
check: design_meta.scope
since: 0.1.0
messages:
  default: {zh: 这样不行, en: this is wrong}
---
# 两处不一致

这里说明问题、后果、改法，至少十五个字。

# Two places disagree

What it finds, why it hurts, and what to do about it.

````markdown bad docs/design.md
## 2. 数据 Canonical DSL

```yaml
meta: {scope: inter_node}   # 机间
topology: {deployment: intra_node}   # 机内
@mark@
```
````

````markdown good docs/design.md
# 没有 DSL
````
"""


def report(mark):
    page = parse_page(PAGE.replace("@mark@", mark), "a/some-offence.md")
    return [f"{p.verdict}: {p.text}" for p in run_page(page, []).problems]


def test_a_mark_is_a_comment_of_the_yaml():
    assert report("#                      ^^^^^^^^^^ some-offence") == []


@pytest.mark.parametrize("mark", ["#    ^^^ some-offence", ""])
def test_a_mark_elsewhere_or_none_is_said(mark):
    found = report(mark)
    assert any(line.startswith("Noisy") for line in found)
    assert any(line.startswith(("Missing", "Weak")) for line in found)


def test_a_mark_below_a_heading_is_a_comment_of_the_markdown():
    text, marks = strip_marks(
        "## 2. Canonical DSL\n<!--<-------------- some-offence -->\n| 格 | 值 |\n<!-- ^ some-offence -->\n"
    )
    assert text == "## 2. Canonical DSL\n| 格 | 值 |\n"
    assert marks == [Mark(0, 0, 19, "some-offence"), Mark(1, 5, 6, "some-offence")]
