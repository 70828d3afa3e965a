"""What is asked: the five as they have to be, and what only some machines raise."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from opdev.intake import TITLE, Probe, questions
from opdev.intake.model import FIVE, IDS

BARE = Probe()
READY = Probe(
    bisheng="/b", npu_smi="/n", conda_env="npu", shmem_repo="/r", repo_from="folder", installed=True, torch="ok"
)
CJK = re.compile(r"[\u4e00-\u9fff]")


def ids(asked):
    return [question.id for question in asked]


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("probe", [None, BARE, READY])
def test_the_five_come_first_and_are_always_the_same(lang, probe):
    asked = questions(lang, probe)[:5]

    assert ids(asked) == list(FIVE)
    assert [question.number for question in asked] == [1, 2, 3, 4, 5]
    assert [[option.id for option in question.options] for question in asked] == [
        ["session", "default"], ["custom_ops", "in_tree"], ["yes", "no"], ["yes", "no"], ["yes", "no"],
    ]  # fmt: skip
    assert [question.key for question in asked] == [
        "cann_source_mode", "build_mode", "torch_required", "performance_required", "performance_auto_optim",
    ]  # fmt: skip


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_only_the_first_takes_free_text_and_none_has_a_default(lang):
    cann, *others = questions(lang)

    assert cann.text
    assert "set_env.sh" in cann.detail
    assert len(cann.options) == 2
    assert not any(question.text for question in others)
    assert not any(question.default for question in (cann, *others))


def test_the_title_is_the_forms():
    assert TITLE["zh"] == "Phase 0 启动确认（SHMEM 算子开发）"


def test_a_machine_that_has_everything_raises_no_more_but_the_semantics():
    assert ids(questions("en", READY)) == [*FIVE, "semantics"]
    assert ids(questions("en", READY, semantics=True)) == list(FIVE)


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ({"bisheng": "", "npu_smi": ""}, ["container", "workdir"]),
        ({"bisheng": ""}, []),
        ({"conda_env": ""}, ["conda"]),
        ({"conda_env": "base"}, ["conda"]),
        ({"shmem_repo": ""}, ["shmem_repo"]),
        ({"installed": False}, ["shmem_install"]),
        ({"torch": "missing"}, ["torch_env"]),
        ({"torch": "timeout"}, ["torch_env"]),
        ({"torch": "unasked"}, []),
    ],
)
def test_what_the_machine_lacks_is_asked(change, asked):
    found = questions("zh", replace(READY, **change), semantics=True)[5:]

    assert ids(found) == asked
    assert all(question.why for question in found)


def test_the_languages_ask_the_same_and_each_in_its_own():
    chinese, english = questions("zh", BARE), questions("en", BARE)

    assert ids(chinese) == ids(english)
    assert set(ids(chinese)) <= set(IDS)
    for zh, en in zip(chinese, english, strict=True):
        assert CJK.search(zh.prompt)
        assert not CJK.search(str(en.as_json()))
        assert zh.default == en.default
        assert [option.value for option in zh.options] == [option.value for option in en.options]
