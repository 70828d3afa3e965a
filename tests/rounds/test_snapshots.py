"""States of an operator's files: what is taken, and that putting one back is exact and loses nothing."""

from __future__ import annotations

import os
import signal
import socket
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trees import described, write

from opdev.rounds.errors import Refused
from opdev.rounds.ledger import interrupted
from opdev.rounds.restore import restore, settle
from opdev.rounds.scan import Limits
from opdev.rounds.store import Store
from opdev.rounds.tree import Tree

BASE = "1/base"


def paths(store):
    return set(store.present().tree.entries)


def test_what_is_the_operators_own(op):
    found = paths(Store(str(op)))

    assert found == {
        "CMakeLists.txt", "baseline", "baseline/src", "baseline/src/b.cpp", "docs", "docs/design.md", "empty", "scripts", "scripts/run.sh",
        "scripts/数据.py", "src", "src/demo_kernel.cpp", "src/link.h", "src/main.cpp",
    }  # fmt: skip


def test_reports_and_markdown_do_not_change_what_code_is(op):
    store = Store(str(op))
    before = store.present().tree.code
    write(op, {"docs/performance_report.md": "more\n", "README.md": "x", "docs/design.md": "y", "build/bin/demo": "z"})

    assert store.present().tree.code == before
    write(op, {"src/main.cpp": "int c;\n"})
    assert store.present().tree.code != before


def test_a_restore_is_exact(op):
    store = Store(str(op))
    store.take(BASE)
    before = described(op)
    (op / "scripts/run.sh").chmod(0o644)
    (op / "src/link.h").unlink()
    (op / "src/link.h").write_text("now a file")
    (op / "src/main.cpp").unlink()
    (op / "src/main.cpp").mkdir()
    write(op, {"src/main.cpp/inner.txt": "x", "src/new/deep/file.h": "y", "CMakeLists.txt": "", "src/name\udcff.h".encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape"): "odd"})  # fmt: skip
    (op / "empty").rmdir()
    edited = described(op)

    done = restore(store, BASE)

    assert described(op) == before
    assert done.left == []
    assert not interrupted(str(op))
    restore(store, done.saved)
    assert described(op) == edited


def test_what_is_not_the_operators_own_stays(op):
    store = Store(str(op))
    store.take(BASE)
    write(op, {"build/bin/demo": "newer", "data/perf/y.log": "y", "docs/performance_report.md": "Round 1", "src/build/a.o": "o", "new/build/b.o": "o"})  # fmt: skip
    before = described(op)

    restore(store, BASE)

    assert described(op) == before


def test_restored_files_are_new_to_a_build(op):
    store = Store(str(op))
    store.take(BASE)
    kept = (op / "src/demo_kernel.cpp").stat().st_mtime_ns
    os.utime(op / "src/main.cpp", (1, 1))
    write(op, {"src/main.cpp": "edited"})
    edited = (op / "src/main.cpp").stat().st_mtime_ns

    restore(store, BASE)

    assert (op / "src/main.cpp").stat().st_mtime_ns >= edited
    assert (op / "src/demo_kernel.cpp").stat().st_mtime_ns == kept


def test_links_are_never_followed(op, tmp_path):
    outside = write(tmp_path / "outside", {"main.cpp": "not yours", "other.h": "x"})
    store = Store(str(op))
    store.take(BASE)
    before = described(op)
    for path in (op / "src").iterdir():
        path.unlink()
    (op / "src").rmdir()
    (op / "src").symlink_to(outside)
    (op / "docs/design.md").unlink()
    (op / "docs/design.md").symlink_to(outside / "main.cpp")

    assert "src/main.cpp" not in paths(store)
    restore(store, BASE)

    assert described(op) == before
    assert {p.name: p.read_text() for p in outside.iterdir()} == {"main.cpp": "not yours", "other.h": "x"}


def test_a_folder_nobody_may_write_is_restored_with_its_mode(op):
    store = Store(str(op))
    (op / "src").chmod(0o555)
    store.take(BASE)
    before = described(op)
    (op / "src").chmod(0o755)
    write(op, {"src/main.cpp": "edited", "src/added.h": "x"})
    (op / "src").chmod(0o555)

    restore(store, BASE)

    assert described(op) == before


def test_what_is_too_large_is_refused_by_name_and_nothing_is_touched(op):
    store = Store(str(op), Limits(bytes=2_000_000))
    store.take(BASE)
    write(op, {"golden/big.bin": b"x" * 2_500_000})
    before = described(op)

    for call in (lambda: store.take("2/base"), lambda: restore(store, BASE)):
        with pytest.raises(Refused) as refused:
            call()
        assert (refused.value.key, refused.value.values["path"]) == ("too-large", "golden")
    assert described(op) == before
    with pytest.raises(Refused, match="too-many"):
        Store(str(op), Limits(entries=5)).present()


def test_a_damaged_snapshot_is_refused_before_anything_is_touched(op):
    store = Store(str(op))
    tree = store.take(BASE).tree
    write(op, {"src/main.cpp": "edited", "src/added.h": "x"})
    before = described(op)
    content = tree.entries["src/main.cpp"].content
    path = op / ".opdev/rounds/objects" / content[:2] / content[2:]
    path.write_bytes(b"int B;\n")

    with pytest.raises(Refused, match="damaged"):
        restore(store, BASE)
    assert described(op) == before
    path.unlink()
    with pytest.raises(Refused, match="damaged"):
        restore(store, BASE)
    (op / ".opdev/rounds/1/base.json").write_text('{"version": 1, "entries": {"../x": {"kind": "file", "mode": "0644", "content": "", "size": 0}}}')  # fmt: skip
    with pytest.raises(Refused, match="damaged"):
        restore(store, BASE)
    assert described(op) == before


def test_pipes_and_sockets_are_passed_over(op, monkeypatch):
    os.mkfifo(op / "src/pipe")
    monkeypatch.chdir(op)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("sock")
        store = Store(str(op))

        assert store.take(BASE).passed == ["sock", "src/pipe"]
        restore(store, BASE)
        assert (op / "src/pipe").is_fifo()
    (op / "src/main.cpp").unlink()
    os.mkfifo(op / "src/main.cpp")
    with pytest.raises(Refused, match="special"):
        restore(store, BASE)


def test_only_the_newest_of_what_restores_replaced_is_kept(op):
    store = Store(str(op))
    store.take(BASE)
    for number in range(23):
        write(op, {"src/main.cpp": f"attempt {number}\n"})
        last = restore(store, BASE).saved

    assert len(store.saved()) == 20
    objects = [p for p in (op / ".opdev/rounds/objects").rglob("*") if p.is_file()]
    contents = {p.read_bytes() for p in objects}
    assert b"attempt 22\n" in contents
    assert b"attempt 0\n" not in contents
    restore(store, last)
    assert (op / "src/main.cpp").read_text() == "attempt 22\n"
    restore(store, BASE)
    assert (op / "src/main.cpp").read_text() == "int b;\n"


def killed_at(moment: int, work) -> bool:
    """Do ``work`` in a child that gets SIGKILL when it is about to change the disk for the ``moment``-th time.

    Whether it was killed: False when it came to its end before.
    """
    child = os.fork()
    if child == 0:
        left = moment

        def hook(event, args):
            nonlocal left
            writes = event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink", "os.chmod")
            if writes or (event == "open" and isinstance(args[2], int) and args[2] & os.O_CREAT):
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(hook)
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def edit(op):
    """From the state of ``op`` to another: changed, added, removed, other modes, other kinds."""
    write(op, {"src/main.cpp": "int edited;\n", "src/new/deep.h": "added\n", "scripts/run.sh": "#!/bin/bash\n"})
    (op / "scripts/run.sh").chmod(0o700)
    (op / "src/demo_kernel.cpp").unlink()
    (op / "src/link.h").unlink()
    (op / "src/link.h").symlink_to("new/deep.h")
    (op / "empty").rmdir()
    (op / "empty").write_text("now a file")


def test_a_restore_killed_at_any_moment_ends_as_the_old_or_the_new_state(op):
    store = Store(str(op))
    store.take(BASE)
    before = described(op)
    edit(op)
    edited = described(op)
    outcomes = set()
    for moment in range(1, 200):
        if not killed_at(moment, lambda: restore(store, BASE)):
            break
        began, mixed = interrupted(str(op)), described(op)
        done = settle(store)
        assert described(op) == (before if began else mixed), moment
        assert mixed in (before, edited) or began, moment
        outcomes.add("old" if mixed == edited else "new" if mixed == before else "mixed")
        if described(op) == before:
            # Nothing of the edit is lost, whenever it was.
            assert done is None or done.left == []
            restore(store, f"saved/{store.saved()[-1]}")
        assert described(op) == edited, moment
    else:
        raise AssertionError("the restore never came to its end")
    assert moment > 15
    assert outcomes == {"old", "mixed", "new"}


def test_a_snapshot_killed_at_any_moment_leaves_the_one_before(op):
    store = Store(str(op))
    first = store.take(BASE).tree
    for moment in range(1, 200):
        edit(op) if moment == 1 else write(op, {"src/main.cpp": f"edit {moment}"})
        here = described(op)
        killed = killed_at(moment, lambda: store.take(BASE))
        assert described(op) == here
        tree = store.tree(BASE)
        if not killed:
            break
        assert tree.entries == first.entries
    assert tree.entries == store.present().tree.entries != first.entries
    restore(store, BASE)


def test_what_was_edited_after_an_interruption_is_left_and_named(op):
    store = Store(str(op))
    store.take(BASE)
    edit(op)
    moment = 1
    while not (killed_at(moment, lambda: restore(store, BASE)) and interrupted(str(op))):
        moment += 1
    write(op, {"src/main.cpp": "typed after the crash\n", "src/new/deep.h": "this, too\n"})

    done = settle(store)

    assert done.left == ["src/new/deep.h", "src/main.cpp"]
    assert (op / "src/main.cpp").read_text() == "typed after the crash\n"
    assert (op / "src/new/deep.h").read_text() == "this, too\n"
    assert (op / "scripts/run.sh").read_text() == "#!/bin/sh\n"
    assert settle(store) is None


NAMES = st.sampled_from(["a", "b", "src", "run.sh", "名字", "x y", "-r", "e\u0301"])
NODE = st.recursive(
    st.one_of(
        st.tuples(st.just("file"), st.sampled_from([0o644, 0o755, 0o600, 0o444]), st.binary(max_size=12)),
        st.tuples(st.just("link"), st.just(0), st.sampled_from([b"a", b"../b", b"/etc/hostname", b"nowhere"])),
    ),
    lambda inner: st.tuples(
        st.just("folder"), st.sampled_from([0o755, 0o700, 0o555]), st.dictionaries(NAMES, inner, max_size=4)
    ),
    max_leaves=12,
)
TREES = st.dictionaries(NAMES, NODE, max_size=5)


def grow(folder, nodes):
    for name, (kind, mode, content) in nodes.items():
        path = folder / name
        if kind == "file":
            path.write_bytes(content)
            path.chmod(mode)
        elif kind == "link":
            path.symlink_to(os.fsdecode(content))
        else:
            path.mkdir()
            grow(path, content)
            path.chmod(mode)


def clear(folder):
    for path in folder.iterdir():
        if path.name == ".opdev":
            continue
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
            clear(path)
            path.rmdir()
        else:
            path.unlink()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TREES, TREES)
def test_taking_editing_and_restoring_is_identity(tmp_path_factory, before, after):
    root = tmp_path_factory.mktemp("op")
    store = Store(str(root))
    grow(root, before)
    store.take(BASE)
    was = described(root)
    clear(root)
    grow(root, after)
    edited = described(root)

    done = restore(store, BASE)

    assert described(root) == was
    assert done.left == []
    restore(store, done.saved)
    assert described(root) == edited
    assert Tree.read(store.tree(BASE).data()) == store.tree(BASE)
