"""An operator as cross-file rules see it: unsaved text first, a bounded walk, a record of what was asked."""

from __future__ import annotations

import os

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from opdev.kinds import LOG_HEAD
from opdev.project import operators
from opdev.project.operators import Operator, kind_of, read_disk
from opdev.project.places import Places


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "custom-ops" / "demo"
    for name, text in {
        "src/demo_kernel.cpp": "__global__ __aicore__ void k() {}\n",
        "scripts/run.sh": "echo run\n",
        "scripts/gen_data.py": "import numpy\n",
        "CMakeLists.txt": "project(demo)\n",
        "README.md": "# demo\n",
        "notes.txt": "no kind of ours\n",
        "build/CMakeLists.txt": "generated\n",
        "data/golden.py": "x\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def relative(root, files):
    return [os.path.relpath(f.path, root) for f in files]


def test_files_by_kind_in_path_order(root):
    operator = Operator(str(root), Places())

    assert operator.name == "demo"
    assert relative(root, operator.files()) == [
        "CMakeLists.txt", "README.md", "scripts/gen_data.py", "scripts/run.sh", "src/demo_kernel.cpp",
    ]  # fmt: skip
    assert relative(root, operator.files("kernel")) == ["src/demo_kernel.cpp"]
    assert relative(root, operator.files("run-script", "golden")) == ["scripts/gen_data.py", "scripts/run.sh"]
    assert relative(root, operator.files("torch-test")) == []
    assert {f.place.operator for f in operator.files()} == {"demo"}
    assert [f.place.relative for f in operator.files("shell")] == ["scripts/run.sh"]


def test_what_was_asked_is_recorded(root):
    operator = Operator(str(root), Places())
    assert operator.asked == set()

    operator.files("kernel", "host")
    operator.files("cmake")
    assert operator.asked == {"kernel", "host", "cmake"}
    operator.files()
    assert operator.asked == {"kernel", "host", "cmake", "*"}


def test_unsaved_text_wins_over_disk(root):
    run, new = f"{root}/scripts/run.sh", f"{root}/scripts/new.sh"
    buffers = {run: b"echo unsaved\n", new: b"echo new\n", f"{root.parent}/other/x.sh": b"echo other\n"}
    operator = Operator(str(root), Places(), lambda path: buffers.get(path) or read_disk(path), buffers)

    assert {os.path.basename(f.path): f.data for f in operator.files("shell")} == {
        "run.sh": b"echo unsaved\n", "new.sh": b"echo new\n",
    }  # fmt: skip
    assert operator.exists("scripts/new.sh")
    assert operator.exists("scripts/gen_data.py")
    assert not operator.exists("scripts/none.sh")
    assert not operator.exists("../other/x.sh")


def test_a_file_that_goes_away_or_is_too_large_is_left_out(root, monkeypatch):
    gone = f"{root}/scripts/run.sh"
    operator = Operator(str(root), Places(), lambda path: None if path == gone else read_disk(path))
    assert relative(root, operator.files("shell")) == []

    monkeypatch.setattr(operators, "_MOST_BYTES", 5)
    assert read_disk(gone) is None
    assert read_disk(f"{root}/none") is None
    assert relative(root, Operator(str(root), Places()).files()) == []


def test_the_encoding_of_a_file_is_read(root):
    (root / "scripts" / "run.sh").write_bytes("echo 中文\n".encode("gb18030"))

    [file] = Operator(str(root), Places()).files("shell")

    assert (file.data.decode(), file.source.encoding) == ("echo 中文\n", "gb18030")


def test_the_walk_is_bounded_in_files_and_in_entries(root, monkeypatch):
    for number in range(30):
        (root / "scripts" / f"run_{number:02}.sh").write_text("echo\n")
    monkeypatch.setattr(operators, "_MOST_FILES", 10)
    assert len(list(Operator(str(root), Places()).walk())) == 10

    monkeypatch.setattr(operators, "_MOST_FILES", 400)
    everything = list(Operator(str(root), Places()).walk())
    for number in range(40):
        (root / "z_dump").mkdir(exist_ok=True)
        (root / "z_dump" / f"{number}.bin").write_text("")
    (root / "z_dump" / "deep").mkdir()
    (root / "z_dump" / "deep" / "x.sh").write_text("")
    monkeypatch.setattr(operators, "_MOST_ENTRIES", 60)
    assert list(Operator(str(root), Places()).walk()) == everything


def test_links_to_folders_are_not_followed(root):
    os.symlink(root, root / "src" / "up", target_is_directory=True)

    assert len(list(Operator(str(root), Places()).files())) == 5


def test_in_shmems_own_tree_the_list_of_examples_belongs_to_each(tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "shmem.h").write_text("")
    (tmp_path / "version.info").write_text("")
    (tmp_path / "examples" / "put" / "src").mkdir(parents=True)
    (tmp_path / "examples" / "CMakeLists.txt").write_text("add_subdirectory(put)\n")
    (tmp_path / "examples" / "put" / "run.sh").write_text("echo\n")

    operator = Operator(f"{tmp_path}/examples/put", Places())

    assert relative(tmp_path, operator.files()) == ["examples/CMakeLists.txt", "examples/put/run.sh"]


FILES = st.dictionaries(st.sampled_from(["a.sh", "b.sh", "c.py", "src/d.cpp"]), st.binary(max_size=4), max_size=4)


@settings(deadline=None)
@example({"a.sh": b""}, {"a.sh": b"\xef\xbb\xbf"})
@given(FILES, FILES)
def test_the_digest_changes_exactly_with_the_files(before, after):
    def digest(files):
        places = Places(lambda _: False)
        buffers = {f"/none/custom-ops/x/{name}": data for name, data in files.items()}
        return Operator("/none/custom-ops/x", places, buffers.get, buffers).digest()

    assert (digest(before) == digest(after)) == (before == after)


def test_the_digest_changes_with_any_file_on_disk(root):
    def digest():
        return Operator(str(root), Places()).digest()

    seen = [digest()]
    assert digest() == seen[0]
    for change in (
        lambda: (root / "README.md").write_text("# other\n"),
        lambda: (root / "src" / "new.h").write_text(""),
        (root / "scripts" / "run.sh").unlink,
        lambda: (root / "src" / "new.h").rename(root / "src" / "newer.h"),
    ):
        change()
        seen.append(digest())
    assert len(set(seen)) == len(seen)
    (root / "notes.txt").write_text("nobody asks")
    assert digest() == seen[-1]


def test_generated_and_huge_text_is_nobodys():
    assert kind_of("custom-ops/x/a.sh", b"echo\n", in_operator=True).language == "bash"
    assert not kind_of("custom-ops/x/a.sh", b" " * 50_000_001, in_operator=True)


def test_the_newest_logs_of_measurements_are_seen_and_the_rest_of_data_is_not(root, monkeypatch):
    monkeypatch.setattr(operators, "_MOST_LOGS", 3)
    perf = root / "data" / "perf"
    (perf / "old").mkdir(parents=True)
    for age, name in enumerate(["d.log", "c.log", "b.log", "a.log", "config.json", "old/x.log"]):
        (perf / name).write_text("[PERF] pe=0 kernel_us=1\n")
        os.utime(perf / name, (1_000_000 - age, 1_000_000 - age))
    (perf / "huge.log").write_bytes(b"[PERF] pe=0 kernel_us=1\n" + b" " * 3_000_000)
    (root / "data" / "golden.log").write_text("x\n")

    operator = Operator(str(root), Places())
    assert relative(root, operator.files("perf-log")) == ["data/perf/c.log", "data/perf/d.log", "data/perf/huge.log"]
    assert [f.language for f in operator.files("log")] == ["log"] * 3
    # Of a long one the head, and enough of it to know that there is more.
    assert LOG_HEAD < len(next(f for f in operator.files("log") if "huge" in f.path).data) < LOG_HEAD + 100_000
    assert not any("/data/" in path for path in operator.names())


def test_the_intake_record_among_our_own_files_is_seen(root):
    (root / ".opdev" / "runs").mkdir(parents=True)
    (root / ".opdev" / "phase0_intake.yaml").write_text("phase0_intake: {}\n")
    (root / ".opdev" / "runs" / "x.yaml").write_text("a: 1\n")

    assert relative(root, Operator(str(root), Places()).files("contract")) == [".opdev/phase0_intake.yaml"]
