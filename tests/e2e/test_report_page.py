"""The HTML report in a real browser: nothing from outside, nothing on the console, the measured numbers in sight."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from needed import package

sys.path.insert(0, str(Path(__file__).parents[1] / "runs"))
sys.path.insert(0, str(Path(__file__).parents[1] / "rounds"))

from fakes import ANSWERED, BUILDING, PASSING, Fake
from programs import BASELINE, CASES, MATRIX, SHMEM
from tuned import made

from opdev.rounds import work
from opdev.rounds.store import Store

np = package("numpy")

pytestmark = [pytest.mark.e2e]
CLIPPED = """() => [...document.querySelectorAll('svg text')].filter(text => {
    const box = text.getBoundingClientRect(), svg = text.ownerSVGElement.getBoundingClientRect();
    return box.width && (box.left < svg.left - 1 || box.right > svg.right + 1 || box.top < svg.top - 3 || box.bottom > svg.bottom + 1);
}).map(text => text.textContent)"""
# Tables that go on beyond the page, and texts above bars that run into each other.
WIDER = """() => [...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent.slice(0, 80))"""
TOUCHING = """() => { const boxes = [...document.querySelectorAll('text.above')].map(t => t.getBoundingClientRect());
    return boxes.flatMap((a, i) => boxes.slice(i + 1).filter(b => a.left < b.right + 2 && b.left < a.right + 2 && a.top < b.bottom - 2 && b.top < a.bottom - 2)).length; }"""
WORDS = {
    "zh": ("算子报告", "各用例、各 PE 的精度", "总线带宽与消息大小", "链路利用率", "优化轮次", "门禁", "运行记录"),
    "en": ("Operator report", "Precision per case and PE", "Bus bandwidth against message size", "Link utilisation",
           "Optimisation rounds", "Gates", "Runs"),
}  # fmt: skip


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """An operator with a matrix, measurements, a baseline and outputs on disk; the page of it, and its last run."""
    op = Fake(tmp_path_factory.mktemp("report") / "repo" / "custom-ops" / "demo_allgather")
    op.write("CMakeLists.txt", "project(demo_allgather)\n")
    op.write("src/main.cpp", "int main() { return 0; }\n")
    op.write("scripts/run.sh", PASSING)
    intake = ANSWERED.format(name=op.name).replace("performance_required: false", "performance_required: true")
    op.write("docs/phase0_intake.yaml", intake)
    op.write("../scripts/build.sh", BUILDING)
    op.write("../../include/x.h", "")
    op.write("scripts/cases.json", json.dumps({"cases": CASES, "invariants": []}))
    op.write("scripts/run_case_matrix.py", MATRIX)
    op.write("told.txt", "smoke_2pe_fp16:PASS:0.004 medium_8pe_fp16:FAIL:0.02")
    op.go("4")
    op.write("scripts/perf.sh", SHMEM)
    op.go("6")
    (op.root / "scripts" / "perf.sh").unlink()
    op.write("baseline/scripts/run_baseline.sh", BASELINE)
    run, _ = op.go("6")
    random = np.random.default_rng(42)
    for pe in range(2):
        golden = random.normal(size=2048).astype(np.float16)
        op.write(f"data/case/golden_pe{pe}.bin", golden.tobytes())
        op.write(f"output/case/output_pe{pe}.bin", (golden * np.float16(1.002)).tobytes())
    op.write("data/case/config.json", json.dumps({"n_pes": 2, "dtype": "float16", "expected_elems": 2048}))
    done = op.cli("report", "--html", "report.html", "--lang", "zh")
    assert done.returncode == 0, done.stderr
    return op, run, op.root / "report.html"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_page_says_it_all_in_both_languages_and_themes(reported, browser, lang, theme):
    _, run, path = reported
    said: list[str] = []
    asked: list[str] = []
    context = browser.new_context(color_scheme=theme, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
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
    assert "1 / 3" in text
    assert "9.98 GB/s" in text
    assert "0.004" in text
    assert run.id in text
    assert len(re.findall(r"\bPASS\b|\bFAIL\b", text)) >= 2
    assert ("模拟" if lang == "zh" else "simulated") not in text
    # Every chart is there with a size, and its marks have colours of the theme.
    charts = page.locator("section svg")
    assert charts.count() >= 6
    assert all(charts.nth(n).bounding_box()["width"] > 100 for n in range(charts.count()))
    points = page.locator("circle.point")
    assert points.count() >= 4
    # The roofline: the peak, 80 and 20 percent of it, and what 80 percent of the baseline would be.
    labels = page.locator("svg text").all_text_contents()
    assert {"100% = 28 GB/s", "80%", "20%"} <= set(labels)
    assert page.locator("line.goal").count() >= 2
    assert page.locator("rect.verdict.fail").count() == 2
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate(WIDER) == []
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == ("rgb(13, 17, 23)" if theme == "dark" else "rgb(255, 255, 255)")
    width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1]
    context.close()


def test_the_numbers_of_the_page_are_those_of_the_runs(reported, browser):
    op, _, path = reported
    shown = json.loads(op.cli("perf", "show", "--format", "json").stdout)
    page = browser.new_page()
    page.goto(path.as_uri())
    text = page.locator("main").inner_text()

    for group in shown["groups"]:
        assert f"{group['metrics']['kernel_bus_bandwidth_GBps']['median']:.5g}" in text
        assert all(source["run"] in text for source in group["sources"])
    page.close()


def test_what_the_stand_in_measured_is_marked(reported, browser, tmp_path):
    op, _, _ = reported
    copy = Fake(tmp_path / "repo" / "custom-ops" / op.name)
    shutil.copytree(op.root.parents[1], tmp_path / "repo")
    for run in copy.runs():
        for name in ("events.jsonl", "status.json"):
            file = Path(run.folder) / name
            text = file.read_text(encoding="utf-8").replace('"backend":"npu"', '"backend":"sim"').replace('"backend": "npu"', '"backend": "sim"')  # fmt: skip
            file.write_text(text, encoding="utf-8")
    assert copy.cli("report", "--html", "sim.html").returncode == 0
    page = browser.new_page()
    page.goto((copy.root / "sim.html").as_uri())
    text = page.locator("main").inner_text()

    assert "simulated" in text
    assert "not measured" in text
    assert "GB/s\nbest bus bandwidth" not in text
    assert page.locator("circle.point.dashed").count() >= 4
    page.close()


@pytest.fixture(scope="module")
def optimised(tmp_path_factory):
    """The page of an operator with two rounds, the second of which was taken back."""
    op = made(tmp_path_factory.mktemp("rounds"))
    op.go("6")
    for idea, bus in (("双缓冲 double buffer on the receiving side", 120), ("more blocks", 118)):
        work.start(Store(str(op.root)), idea, work.Limit())
        op.source(f"BUS={bus}\n")
        op.go("6.5")
        (work.keep if bus == 120 else work.revert)(Store(str(op.root)))
    done = Fake(op.root).cli("report", "--html", "report.html")
    assert done.returncode == 0, done.stderr
    return op.root / "report.html"


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_rounds_are_legible_and_what_was_taken_back_is_not_the_present(optimised, browser, lang):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(optimised.as_uri())
    page.locator(f"label[for={lang}]").click()
    text = page.locator("main").inner_text()

    assert page.evaluate(CLIPPED) == page.evaluate(WIDER) == []
    assert page.evaluate(TOUCHING) == 0
    assert page.locator("text.above").count() == 5
    assert {"zh": "超过噪声", "en": "more than the noise"}[lang] in text
    assert {"zh": "more than the noise", "en": "超过噪声"}[lang] not in text
    assert "NONE" not in text
    # Round 1 is what the operator is now; Round 2 stands among the rounds alone.
    medians = page.locator("table.dense").first.inner_text()
    best = page.locator("rect.round").nth(1)
    assert "121" in medians
    assert "119" not in medians
    assert best.bounding_box()["height"] > page.locator("rect.round").nth(2).bounding_box()["height"]
    page.close()
