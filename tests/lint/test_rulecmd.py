"""``opdev rule``: a scaffold says what it still lacks, wrong words are refused, a catalogue is counted."""

from __future__ import annotations

import re

import pytest

from opdev import cli
from opdev.config import Configs
from opdev.rules import store
from opdev.rules.page import parse_page


@pytest.fixture
def opdev(capsys):
    def run(*arguments):
        status = cli.main(["rule", *map(str, arguments)])
        out = capsys.readouterr()
        return status, out.out, out.err

    return run


def test_a_new_rule_of_ones_own_is_a_query_and_not_finished(opdev, tmp_path):
    page = tmp_path / "rules" / "team" / "no-offence.md"

    status, out, err = opdev("new", "team", "no-offence", "TM001", "--folder", tmp_path / "rules")

    assert (status, err) == (0, "")
    assert out == f"wrote {page}; write the query, then: opdev rule test {page}\n"
    assert opdev("test", page) == (
        1,
        (
            "rules/no-offence.md:1: Weak: the prose is the scaffold's: say what the rule finds, why it hurts, what to do\n"
            "1 pages, 2 examples, 0 known gaps, 1 problems\n"
        ),
        "",
    )

    text = page.read_text(encoding="utf-8").replace("# 中文标题", "# 冒犯").replace("# English title", "# An offence")
    page.write_text(text, encoding="utf-8")
    assert opdev("test", page) == (0, "1 pages, 2 examples, 0 known gaps, 0 problems\n", "")
    assert opdev("test", tmp_path / "rules") == (0, "1 pages, 2 examples, 0 known gaps, 0 problems\n", "")

    (tmp_path / "opdev.toml").write_text('rules = ["rules"]\nselect = ["team"]\n')
    assert [r.name for r in Configs().for_folder(str(tmp_path)).enabled] == ["no-offence"]


def test_what_a_page_lacks_is_said_with_its_line(opdev, tmp_path):
    opdev("new", "team", "no-offence", "TM001", "--folder", tmp_path)
    page = tmp_path / "team" / "no-offence.md"
    good = page.read_text(encoding="utf-8").replace("# 中文标题", "# 冒犯").replace("# English title", "# An offence")
    line = {m[1]: good.count("\n", 0, m.start()) + 1 for m in re.finditer(r"^```bash (\w+)", good, re.MULTILINE)}

    def problems(*changes):
        text = good
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        page.write_text(text, encoding="utf-8")
        return opdev("test", page)[1].splitlines()[:-1]

    bad, fine = (
        "```bash bad scripts/run.sh\necho offence\n#<---------- no-offence\n```\n",
        "```bash good scripts/run.sh\necho fine\n```\n",
    )
    shown = "rules/no-offence.md"
    assert problems() == []
    assert problems((bad, "")) == [f"{shown}:1: Weak: no bad example: the page does not show what it finds"]
    assert problems((fine, "")) == [f"{shown}:1: Weak: no good example: nothing shows what it leaves alone"]
    assert problems(("echo fine", "echo offence")) == [
        f"{shown}:{line['good']}: Noisy: fires at columns 0-12 of 'echo offence': say what is wrong with offence and what it does to the user"
    ]
    assert problems(("echo offence\n#<", "echo other\n#<"))[0].startswith(f"{shown}:{line['bad']}: Missing: ")
    assert problems(("{what}", "{wat}"))[0] == (
        f"{shown}:{line['bad']}: Weak: unfilled {{wat}} in: 在此说明 {{wat}} 有什么问题、后果是什么"
    )
    assert problems(("#eq? @what", "#eq? @wat"))[0].startswith(f"{shown}:{line['bad']}: Broken: ")
    assert problems(("severity: warning", "severity: bad")) == [
        f"{page}:4: severity is one of error, warning, info, hint",
    ]


def test_a_new_shipped_rule_names_the_check_to_write(opdev, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "rules_folder", lambda: tmp_path)

    status, out, _ = opdev("new", "kernel-api", "no-offence", "SH999")

    page = tmp_path / "kernel-api" / "no-offence.md"
    assert (status, out) == (
        0, f"wrote {page}; write the check opdev/checks/kernel_api.py:no_offence, then: opdev rule test no-offence\n",
    )  # fmt: skip
    rule = parse_page(page.read_text(encoding="utf-8"), "kernel-api/no-offence.md").rule
    assert (rule.id, rule.check, rule.family) == ("SH999", "kernel_api.no_offence", "kernel-api")
    status, out, _ = opdev("test", "no-offence")
    assert status == 1
    assert "rules/kernel-api/no-offence.md:1: Weak: the prose is the scaffold's" in out
    assert "the rule raised: rule no-offence failed" in out
    assert opdev("test", tmp_path / "kernel-api")[1] == out


def test_a_page_is_explained_by_any_of_its_ids(opdev):
    status, out, err = opdev("explain", "ol48", "--lang", "en")

    assert (status, err) == (0, "")
    assert out.startswith("rule runtime-tile-shape (PY148), severity error\ncatalogue rows: PY148, OL48\n")
    assert "the rest of OL48: invalid-cube-tile\n" in out
    assert opdev("explain", "PY148", "--lang", "zh")[1].startswith("规则 runtime-tile-shape（PY148），默认级别：错误\n")
    assert opdev("explain", "OL27", "--lang", "en")[:2] == (
        0,
        "OL27 has no rule: the existing linter never gave this number out\n",
    )
    status, out, err = opdev("explain", "OL98", "--lang", "en")
    assert (status, out) == (2, "")
    assert err.startswith("there is no rule OL98")


def test_a_page_is_never_written_over(opdev, tmp_path):
    opdev("new", "team", "no-offence", "TM001", "--folder", tmp_path)
    page = tmp_path / "team" / "no-offence.md"
    page.write_text("mine")

    assert opdev("new", "team", "no-offence", "TM001", "--folder", tmp_path) == (2, "", f"{page} exists already\n")
    assert page.read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("Team", "no-offence", "TM001"), "Team"),
        (("../x", "no-offence", "TM001"), "../x"),
        (("team", "No_Offence", "TM001"), "No_Offence"),
        (("team", "../../x", "TM001"), "../../x"),
        (("team", "no-offence", "1"), "1"),
    ],
)
def test_words_no_page_could_have_are_refused(opdev, tmp_path, words, wrong):
    status, out, err = opdev("new", *words, "--folder", tmp_path)

    assert (status, out) == (2, "")
    assert err.startswith(f"opdev rule new: {wrong!r} cannot be used; write it as ")
    assert list(tmp_path.iterdir()) == []


def test_pages_that_are_not_there_are_problems(opdev, tmp_path):
    assert opdev("test", "no-such-rule", tmp_path) == (
        1,
        (
            "no rule page 'no-such-rule': give a rule's name, a page or a folder\n"
            f"no rule pages in {tmp_path}\n"
            "0 pages, 0 examples, 0 known gaps, 2 problems\n"
        ),
        "",
    )


def test_a_shipped_rule_passes_by_name_by_page_and_by_folder(opdev):
    page = store.rules_folder() / "ports" / "hardcoded-endpoint.md"
    by_name = opdev("test", "hardcoded-endpoint")

    assert by_name[0] == 0
    assert re.fullmatch(r"1 pages, \d+ examples, 0 known gaps, 0 problems\n", by_name[1])
    assert opdev("test", page) == by_name


CATALOGUE = """# Rules

### Group: ports (2 rules)

#### SH700 a fixed endpoint — error
text
#### SH998 nobody's row — warning

### Group: style (1 rules)

#### PY997 another — error
"""


def test_coverage_counts_rows_by_group(opdev, tmp_path):
    path = tmp_path / "catalogue.md"
    path.write_text(CATALOGUE, encoding="utf-8")
    last = f"all: 1 of 3 rows by {len(store.load())} pages\n"

    assert opdev("coverage", path) == (
        0, "ports: 1 of 2 rows (1 of 1 errors)\nstyle: 0 of 1 rows (0 of 1 errors)\n" + last, "",
    )  # fmt: skip
    assert opdev("coverage", path, "--missing") == (
        0,
        "ports: 1 of 2 rows (1 of 1 errors)\n  SH998 warning: nobody's row\n"
        "style: 0 of 1 rows (0 of 1 errors)\n  PY997 error: another\n" + last,
        "",
    )
    assert opdev("coverage", tmp_path / "none.md") == (
        2,
        "",
        f"{tmp_path / 'none.md'}: cannot be read: No such file or directory\n",
    )


PYPTO = """\
| OL01 | S0 | D1 | E1 | 5,6 | impl | exactly one jit |
| PL01 | S4, M, post-edit | every test imports pl | per-file lines |
| PL99 | S4 | nobody's | |
| K02 | rows are multiples of 32 bytes | TileType | high when constant |
| K08 | the order of arguments | naming | low |
| K98 | nobody's fact | signal | medium |
"""


def test_coverage_counts_the_tables_of_pypto_too_and_tells_what_was_decided(opdev, tmp_path):
    path = tmp_path / "pypto.md"
    path.write_text(PYPTO, encoding="utf-8")

    status, out, _ = opdev("coverage", path, "--missing")

    assert status == 0
    lines = out.splitlines()
    assert lines[:4] == [
        "PyPTO: 1 of 1 rows (1 of 1 errors)",
        "PyPTO-Pro: 1 of 2 rows (1 of 2 errors)",
        "  PL99 error: nobody's",
        "PyPTO-Pro KB: 1 of 3 rows (1 of 1 errors), 1 decided against",
    ]
    assert lines[4].startswith("  K08 decided against: ")
    assert lines[5:] == ["  K98 warning: nobody's fact", f"all: 3 of 6 rows by {len(store.load())} pages"]


def test_a_row_that_runs_and_gates_hold_says_which(opdev, tmp_path):
    path = tmp_path / "catalogue.md"
    path.write_text(
        "### Group: perf (2 rules)\n\n#### SH905 a gap — warning\n#### SH998 nobody's — error\n", encoding="utf-8"
    )

    assert opdev("coverage", path)[1].startswith("perf: 0 of 2 rows (0 of 1 errors), 1 held by runs and gates\n")
    out = opdev("coverage", path, "--missing")[1]
    assert "  SH905 held elsewhere: run records show it" in out
    assert "  SH998 error: nobody's\n" in out
    assert opdev("explain", "sh905", "--lang", "zh")[:2] == (
        0, "SH905：没有规则页，由运行记录判断：opdev run 6 在基线之后等满 30 秒；opdev gate 6 的 perf-apart 检查记录下来的间隔\n",
    )  # fmt: skip


def test_every_row_on_figures_and_reports_has_a_page_or_says_who_holds_it():
    """SH800 to SH808 and SH900 to SH97D, those of the catalogue."""
    from opdev.lint.elsewhere import ELSEWHERE

    paged = {row for rule in store.load() for row in (rule.id, *rule.covers)}
    numbers = {f"SH80{n}" for n in range(9)} | {"SH905", "SH939", "SH93B", "SH974", "SH97D"}

    assert numbers <= paged | set(ELSEWHERE)
    assert not paged & set(ELSEWHERE)
