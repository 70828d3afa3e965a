"""One answer judged at its own question: what is wrong at once is said at once, what is still open later."""

from __future__ import annotations

from pathlib import Path

import pytest

from opdev.intake.checking import check
from opdev.intake.model import Probe
from opdev.intake.resolving import Setting

NPU = Probe(bisheng="/opt/bisheng")
BARE = Probe()


def said(question: str, answers: dict[str, str], probe: Probe = NPU, setting: Setting | None = None) -> list[str]:
    return [one.code for one in check(question, answers, probe, setting or Setting("demo", "custom-ops"))]


@pytest.mark.parametrize("probe", [NPU, BARE])
def test_a_place_of_cann_that_is_no_path_is_wrong_on_every_machine(probe: Probe) -> None:
    assert said("cann", {"cann": "CANN/set_env.sh"}, probe) == ["relative-cann"]


def test_a_place_of_cann_is_looked_at_where_it_is_used(tmp_path: Path) -> None:
    there = tmp_path / "set_env.sh"
    there.write_text("")
    assert said("cann", {"cann": str(there)}) == []
    assert said("cann", {"cann": str(tmp_path)}) == ["cann-folder"]
    assert said("cann", {"cann": str(tmp_path / "other/set_env.sh")}) == ["no-cann-file"]
    assert said("cann", {"cann": str(tmp_path / "bin")}) == ["not-set-env"]


def test_what_a_container_may_have_is_judged_when_that_is_known(tmp_path: Path) -> None:
    answers = {"cann": str(tmp_path / "bin")}
    assert said("cann", answers, BARE) == []
    assert "not-set-env" in said("container", {**answers, "container": "none"}, BARE)
    assert said("cann", {"cann": "session"}, BARE) == []
    assert "session-unset" in said("container", {"cann": "session", "container": "none"}, BARE)


def test_other_answers_are_judged_by_the_same_words_as_the_record() -> None:
    assert said("build_mode", {"build_mode": "in_tree"}) == ["mode-folder"]
    assert said("torch", {"torch": "perhaps"}) == ["bad-choice"]
    assert said("torch", {"torch": "yes"}) == []
    assert said("shmem_repo", {"shmem_repo": "a/b"}) == ["relative-repo"]
    assert said("cann", {}) == ["empty"]
    assert said("nothing", {"nothing": "x"}) == ["unknown-question"]
