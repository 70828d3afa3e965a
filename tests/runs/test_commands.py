"""``commands/``: every phase has a file, every file is valid, and every word in braces means something."""

from __future__ import annotations

import re

import jsonschema
import pytest
import yaml

from opdev.phases.graph import BY_ID, ORDER
from opdev.phases.records import STEPS
from opdev.runs.commands import WORDS, commands, fill, folder, holds, parse, schema
from opdev.runs.parsers import NAMES

VALIDATOR = jsonschema.Draft202012Validator(schema())
BRACES = re.compile(r"\{([^}]*)\}")


def raw(phase):
    return yaml.safe_load((folder() / f"{phase}.yaml").read_text(encoding="utf-8"))


def test_every_phase_has_one_file_and_no_other_is_there():
    assert {p.stem for p in folder().glob("*.yaml")} == set(ORDER)


@pytest.mark.parametrize("phase", ORDER)
def test_a_file_is_valid(phase):
    VALIDATOR.validate(raw(phase))
    found = commands(phase)

    assert found.phase == phase
    assert set(found.routes) <= set(schema()["properties"]["routes"]["propertyNames"]["enum"])
    for step in found.steps:
        assert set(step.parse) <= set(NAMES)
        assert step.record == "" or step.record in STEPS


@pytest.mark.parametrize("phase", ORDER)
def test_braces_hold_known_words_and_no_shell_gets_text(phase):
    def texts(value):
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for item in value.values():
                yield from texts(item)
        elif isinstance(value, list):
            for item in value:
                yield from texts(item)

    for text in texts(raw(phase)):
        assert set(BRACES.findall(text)) <= set(WORDS), text
    for step in commands(phase).steps:
        words = list(step.argv)
        for at, word in enumerate(words):
            # What a shell or an interpreter reads as a program holds no word of the user's.
            if word in ("-c", "-lc", "-e", "eval"):
                assert "{" not in words[at + 1]


@pytest.mark.parametrize("phase", ORDER)
@pytest.mark.parametrize("mode", ["independent_project", "in_tree_example"])
def test_a_wanted_verdict_can_be_parsed(phase, mode):
    needed = {"check": "checker", "case": "matrix", "perf": "perf", "": None}
    for step in commands(phase).steps:
        if mode in step.modes and step.needs:
            assert needed[step.needs] in step.parse


def test_baseline_and_shmem_are_programs_of_their_own_with_a_pause_between():
    steps = {s.id: s for s in commands("6").steps}

    assert steps["perf"].pause_after == ("baseline", 30)
    assert steps["baseline"].executors == ("host", "docker")
    assert list(steps)[:2] == ["baseline", "perf"]


@pytest.mark.parametrize("phase", ["3", "4"])
@pytest.mark.parametrize("mode", ["independent_project", "in_tree_example"])
@pytest.mark.parametrize("wrapper", [True, False])
def test_exactly_one_build_fits(phase, mode, wrapper):
    values = dict.fromkeys(WORDS, "/x")
    there = (lambda path: "build.sh" in path) if wrapper else (lambda _: False)

    fitting = [
        s
        for s in commands(phase).steps
        if s.record == "build" and mode in s.modes and holds(s.when, values, there) is None
    ]

    assert len(fitting) == 1
    assert fitting[0].sim == "build"


def test_phases_whose_work_is_a_persons_say_what_to_do():
    for phase in ORDER:
        ask = commands(phase).ask
        assert any("一" <= ch <= "鿿" for ch in ask["zh"])
        assert BY_ID[phase].title["en"]


def test_filling_in():
    assert fill("{op}/build -DX={name}", {"op": "/a b", "name": "数据"}) == "/a b/build -DX=数据"
    with pytest.raises(KeyError):
        fill("{nobody}", {"op": "x"})


@pytest.mark.parametrize(
    "damage",
    [{}, {"phase": "1"}, {"phase": "1", "work": "person", "ask": {}, "steps": [{"id": "x"}], "routes": {}}, []],
)
def test_a_damaged_file_is_named(damage):
    with pytest.raises(ValueError, match=r"x\.yaml"):
        parse(damage, "x.yaml")
