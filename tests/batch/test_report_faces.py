"""The report as Markdown and as a page: whatever cases are called and programs say, it is text in its place."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from reports_made import TEXT, finished, measured

from opdev.bench import charts, summary
from opdev.bench.model import Generated
from opdev.bench.page import html
from opdev.bench.report import cell, markdown
from opdev.bench.showing import text

EVIL = '"><script>alert(1)</script>|`</td></table> ![x](http://e.vil/x.png) <!-- \n# h\n\x1b[31m\u202e @team'
NAME = "4_<img src=x onerror=alert(1)>|`*x*"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("faces") / "batch"
    message = {"zh": f"不对 {EVIL}", "en": f"wrong {EVIL}"}
    finished(root, f"level1/{NAME}", op="evil", generated=Generated("subprocess_error", message))
    finished(root, "level1/1_Good", op="Good", backend="ascend", performance=measured(4.0))
    finished(root, "level2/2_Slow", op="Slow", backend="ascend", performance=measured(0.25))
    finished(root, "level2/3_Simulated", op="Simulated")
    return summary.build(str(root))


def rows(part):
    return [line for line in part.splitlines() if line.startswith("|")]


@pytest.mark.parametrize(
    ("lang", "titles"),
    [
        ("zh", ["元数据", "总览", "按 Level 汇总", "用例明细", "性能明细", "证据"]),
        ("en", ["Metadata", "Overview", "By level", "Cases", "Performance", "Evidence"]),
    ],
)
def test_markdown_has_its_sections_and_every_row_its_columns(made, lang, titles):
    found = markdown(made, lang)

    assert re.findall(r"^## (.*)$", found, re.M) == titles
    for part in found.split("\n## ")[1:]:
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in rows(part)}
        assert len(counts) == 1, part
    cases = rows(found.split("\n## ")[4])
    assert len(re.findall(r"(?<!\\)\|", cases[0])) == 14
    assert len(cases) == 2 + 4
    assert [re.split(r"(?<!\\)\|", line)[5].strip() for line in cases[2:]] == [
        "PASS", "FAIL (pypto)", "PASS", "PASS（模拟）" if lang == "zh" else "PASS (simulated)",
    ]  # fmt: skip


def test_nothing_in_markdown_is_markup_or_moves_a_cursor(made):
    found = markdown(made, "en")

    assert not re.search(r"<(?!/?details)[a-zA-Z!/]", found)
    assert "\x1b" not in found
    assert "\u202e" not in found
    assert "@team" not in found
    assert "](" not in re.sub(r"\\\]\(", "", found)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "-"), ("", "-"), (0, "0"), ("19_ReLU", "19_ReLU"), ("a|b", "a\\|b"), ("_x_", "\\_x\\_"), ("`|", "\\`\\|"),
        ("a\nb", "a b"), ("<b>&", "&lt;b&gt;&amp;"), (["a", 1], "a, 1"), ("\\|", "\\\\\\|"), ("x" * 300, "x" * 239 + "…"),
    ],
)  # fmt: skip
def test_a_cell_is_one_line_of_text(value, shown):
    assert cell(value) == shown


class Page(HTMLParser):
    """What a browser makes of it: elements and their attributes."""

    def __init__(self, text):
        super().__init__()
        self.seen, self.open, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "br", "line", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("line", "rect"):
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_page_is_whole_and_loads_and_runs_nothing(made, lang):
    source = html(made, lang)
    page = Page(source)

    assert page.open == []
    tags = {tag for tag, _ in page.seen}
    assert not tags & {"script", "img", "iframe", "link", "object", "embed", "base", "form", "a"}
    for _, attributes in page.seen:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "href", "action")]
    assert "\x1b" not in source
    assert "\u202e" not in source
    words = "".join(page.words)
    assert "alert(1)" in words  # It is shown, as text.
    for said in ("成批验证报告", "Batch verification report", "带“模拟”的结果", "1× 为基准", "1× is the reference"):
        assert said in words


def bars(svg, kind):
    return [e for e in ET.fromstring(svg).iter("rect") if kind in e.get("class", "").split()]


def test_speedups_stand_on_a_logarithmic_axis_around_one():
    svg = charts.speedups([("a", 10.0), ("b", 0.1), ("c", 100.0), ("d", 0.0), ("e", float("inf"))])
    fast = [(float(e.get("x")), float(e.get("width"))) for e in bars(svg, "fast")]
    ((x, wide),) = [(float(e.get("x")), float(e.get("width"))) for e in bars(svg, "slow")]
    one = x + wide

    assert [x for x, _ in fast] == pytest.approx([one, one], abs=0.2)
    assert fast[1][1] == pytest.approx(2 * fast[0][1], abs=0.3)
    assert fast[0][1] == pytest.approx(wide, abs=0.2)


def test_levels_are_parted_by_how_their_cases_ended():
    svg = charts.levels({"level1": {"success": 3, "verify_failed": 1}, "<b>": {"pending": 2}}, {})
    wide = {kind: float(bars(svg, kind)[0].get("width")) for kind in ("success", "verify_failed", "pending")}

    assert wide["success"] == pytest.approx(3 * wide["verify_failed"], abs=0.2)
    assert wide["pending"] == pytest.approx(wide["success"] + wide["verify_failed"], abs=0.2)


@pytest.mark.parametrize("values", [[], [1e-300], [1e300, 1e-300], [1.0] * 500])
def test_speedups_of_every_size_are_drawn(values):
    svg = charts.speedups([(f"case {n}", value) for n, value in enumerate(values)])

    for e in bars(svg, "fast") + bars(svg, "slow") if svg else ():
        assert 0 <= float(e.get("x")) <= float(e.get("x")) + float(e.get("width")) <= 400
    assert (svg == "") == (not values)
    assert svg.count("<rect") == min(len(values), charts.MOST)


def test_a_terminal_gets_one_line_for_each_case(made):
    lines = text(made, "en").splitlines()

    assert sum("level1/" in line or "level2/" in line for line in lines) == 4
    assert "\x1b" not in "".join(lines)
    assert TEXT["en"] not in lines
