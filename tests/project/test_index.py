"""The list of a workspace's operators follows what comes and goes."""

from __future__ import annotations

from opdev.kinds import Place
from opdev.project.index import MOST, Entry, Index


def place(root):
    return Place("custom-ops", root.rpartition("/")[2], root, None, "x")


def filled(there):
    index = Index(exists=lambda path: any(p == path or p.startswith(f"{path}/") for p in there))
    for path in there:
        index.note(path, place("/w/custom-ops/" + path.split("/")[3]))
    return index


def test_operators_are_listed_by_folder_and_say_whether_they_are_designed():
    there = ["/w/custom-ops/b/run.sh", "/w/custom-ops/a/docs/design.md", "/w/custom-ops/a/run.sh"]
    # What all of them use is none of them, as on the command line.
    index = filled([*there, "/w/custom-ops/torch_binding/CMakeLists.txt", "/w/custom-ops/utils/x.h"])

    assert index.entries() == [
        Entry("/w/custom-ops/a", "a", "custom-ops", True),
        Entry("/w/custom-ops/b", "b", "custom-ops", False),
    ]
    assert index.changed()
    assert not index.changed()


def test_what_goes_is_taken_out_file_by_file_or_with_its_folder():
    there = ["/w/custom-ops/a/docs/design.md", "/w/custom-ops/a/run.sh", "/w/custom-ops/b/run.sh"]
    index = filled(there)
    index.changed()
    del there[0]
    index.gone("/w/custom-ops/a/docs/design.md")
    assert [e.designed for e in index.entries()] == [False, False]
    assert index.changed()
    there.remove("/w/custom-ops/a/run.sh")
    index.gone("/w/custom-ops/a")
    assert [e.name for e in index.entries()] == ["b"]
    there.clear()
    index.gone("/w/custom-ops")

    assert index.entries() == []


def test_a_walk_takes_out_what_it_did_not_meet():
    index = filled(["/w/custom-ops/a/run.sh", "/w/custom-ops/b/run.sh"])
    index.begin()
    index.note("/w/custom-ops/b/run.sh", place("/w/custom-ops/b"))
    index.end()

    assert [e.name for e in index.entries()] == ["b"]


def test_it_is_bounded():
    index = Index(exists=lambda _: True)
    for number in range(MOST + 10):
        index.note(f"/w/custom-ops/o{number}/run.sh", place(f"/w/custom-ops/o{number}"))

    assert len(index.entries()) == MOST
    assert not [e for e in index.entries() if e.name == f"o{MOST + 1}"]
    index.note("/w/x.sh", Place())
    assert len(index.entries()) == MOST
