"""The page of a batch in a real browser, wide and narrow: nothing from outside, nothing cut off, one language at a time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "batch"))

from reports_made import edit, finished, measured

from opdev.bench.model import Generated
from opdev.cli import main

pytestmark = [pytest.mark.e2e]
CLIPPED = """() => [...document.querySelectorAll('svg text')].filter(text => {
    const box = text.getBoundingClientRect(), svg = text.ownerSVGElement.getBoundingClientRect();
    return box.width && (box.left < svg.left - 1 || box.right > svg.right + 1 || box.top < svg.top - 1 || box.bottom > svg.bottom + 1);
}).map(text => text.textContent)"""
# A name of a chart that runs into its bars.
TOUCHING = """() => [...document.querySelectorAll('svg')].flatMap(svg => {
    const bars = [...svg.querySelectorAll('rect')].map(r => r.getBoundingClientRect()).filter(b => b.width);
    return [...svg.querySelectorAll('text')].filter(t => { const a = t.getBoundingClientRect();
        return bars.some(b => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2); })
        .map(t => t.textContent); })"""
WORDS = {
    "zh": ("成批验证报告", "各 Level 的结果", "加速比", "各用例耗时", "用例明细", "证据", "元数据", "带“模拟”的结果"),
    "en": ("Batch verification report", "How each level ended", "Speedups", "How long each case took", "Evidence", "Metadata", "marked simulated"),
}  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A batch with every kind of case: names in Chinese, long ones, hostile ones, a forged result."""
    root = tmp_path_factory.mktemp("page") / "批次"
    message = {"zh": "生成超时 <b>7200</b> 秒", "en": "generation timed out after <b>7200</b> s"}
    for number, fast in enumerate((0.02, 0.4, 1.0, 3.7, 52.0), 1):
        finished(root, f"level1/{number}_op", op=f"op{number}", backend="ascend", performance=measured(fast))
    finished(root, "level1/19_ReLU", op="ReLU")
    finished(
        root,
        "level2/100_ConvTranspose3d_BatchNorm_AvgPool_AvgPool_with_a_name",
        op="long",
        generated=Generated("timeout", message, 7200.0),
    )
    finished(root, "level2/7_中文名字很长很长很长很长很长", op="zh", backend="ascend", performance=measured(2.0))
    finished(root, "level3/1_<img src=x onerror=alert(1)>", op="evil")
    finished(root, "level3/2_Forged", op="Forged", backend="ascend", performance=measured(2.0))
    edit(root / "report/level3/2_Forged/result.json", perf_speedup=1e4)
    page = root.parent / "batch.html"
    assert main(["bench", "report", str(root), "--format", "html", "--output", str(page)]) == 1
    return page


@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_page_is_legible_in_both_languages_and_themes(path, browser, lang, theme, width):
    said: list[str] = []
    asked: list[str] = []
    context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": 900})
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.locator(f"label[for={lang}]").click()

    text = page.locator("main").inner_text()
    assert said == []
    assert [url for url in asked if url != path.as_uri() and not url.startswith("data:")] == []
    for word in WORDS[lang]:
        assert word in text
    for word in WORDS["en" if lang == "zh" else "zh"]:
        assert word not in text
    for word in ("8 / 10", "6 / 7", "2 / 2", "1_<img src=x onerror=alert(1)>", "<b>7200</b>", "UNPROVEN", "2_Forged"):
        assert word in text
    charts = page.locator("svg:visible")
    assert charts.count() == 3
    assert all(charts.nth(n).bounding_box()["width"] > 250 for n in range(3))
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate(TOUCHING) == []
    assert page.locator("svg:visible rect.fast").count() + page.locator("svg:visible rect.slow").count() == 6
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(13, 17, 23)" if theme == "dark" else "rgb(255, 255, 255)")
    wider = page.locator(".scroll").evaluate_all(
        "tables => tables.filter(e => e.scrollWidth > e.clientWidth + 1).length"
    )
    assert wider == (0 if width == 1200 else 2)
    # The page itself never scrolls sideways; its tables do.
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()
