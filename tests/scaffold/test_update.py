"""`opdev update`: the user's edits stay, the template's news arrive, conflicts go beside."""

from __future__ import annotations

import json
import shutil

import pytest

from opdev.scaffold import kinds
from opdev.scaffold.cli import main


@pytest.fixture
def templates(tmp_path, monkeypatch):
    """Templates of a newer version, to be changed by the test."""
    folder = tmp_path / "templates"
    shutil.copytree(kinds.templates_folder(), folder)
    monkeypatch.setenv("OPDEV_TEMPLATES", str(folder))
    return folder


def replace(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def update(capsys, root, *argv):
    status = main("update", ["--op", str(root), *argv])
    out = capsys.readouterr()
    return status, out.out, out.err


def snapshot(root):
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_without_news_nothing_changes(fresh, capsys):
    before = snapshot(fresh.base)

    assert update(capsys, fresh.root) == (0, "the template is up to date\n", "")
    assert snapshot(fresh.base) == before


def test_untouched_files_are_replaced_and_edited_ones_merged(fresh, templates, capsys):
    kernel, readme = fresh.root / "src" / "ring_kernel.cpp", fresh.root / "README.md"
    replace(kernel, "using namespace AscendC;", "using namespace AscendC;  // 我的注释")
    replace(templates / "parts" / "tiles.cpp", "64 * 1024", "32 * 1024")
    replace(templates / "README.md", "## 注意事项", "## 注意")
    kernel.chmod(0o640)

    status, out, _ = update(capsys, fresh.root)

    assert status == 0
    assert "merged, your edits kept" in out
    assert "// 我的注释" in kernel.read_text(encoding="utf-8")
    assert "32 * 1024" in kernel.read_text(encoding="utf-8")
    assert kernel.stat().st_mode & 0o777 == 0o640
    assert "## 注意\n" in readme.read_text(encoding="utf-8")
    assert update(capsys, fresh.root)[1] == "the template is up to date\n"


def test_a_conflict_leaves_the_file_and_is_told_until_dealt_with(fresh, templates, capsys):
    kernel = fresh.root / "src" / "ring_kernel.cpp"
    replace(kernel, "UB_PING = 1024", "UB_PING = 2048")
    mine = kernel.read_bytes()
    replace(templates / "parts" / "tiles.cpp", "UB_PING = 1024", "UB_PING = 4096")

    status, out, _ = update(capsys, fresh.root)
    merge = kernel.with_name("ring_kernel.cpp.merge")

    assert status == 1
    assert "ring_kernel.cpp.merge" in out
    assert kernel.read_bytes() == mine
    text = merge.read_text(encoding="utf-8")
    assert all(word in text for word in ("<<<<<<< yours", "= 2048", "= 1024", "= 4096", ">>>>>>> new template"))

    before = snapshot(fresh.base)
    status, _, err = update(capsys, fresh.root)
    assert (status, "ring_kernel.cpp.merge" in err) == (1, True)
    assert snapshot(fresh.base) == before

    merge.unlink()
    assert update(capsys, fresh.root)[:2] == (0, "the template is up to date\n")
    assert kernel.read_bytes() == mine


def test_what_the_user_deleted_stays_deleted(fresh, templates, capsys):
    (fresh.root / "scripts" / "perf.sh").unlink()
    replace(templates / "scripts" / "perf.sh", "热身 10 次", "热身十次")

    status, out, _ = update(capsys, fresh.root)

    assert status == 0
    assert "not restored" in out
    assert not (fresh.root / "scripts" / "perf.sh").exists()


def test_other_dtypes_are_merged_in(fresh, capsys):
    readme = fresh.root / "README.md"
    readme.write_text(readme.read_text(encoding="utf-8") + "\n自己写的一段。\n", encoding="utf-8")

    status, _, _ = update(capsys, fresh.root, "--dtypes", "fp32")

    assert status == 0
    cases = json.loads((fresh.root / "scripts" / "cases.json").read_text(encoding="utf-8"))["cases"]
    assert {case["dtype"] for case in cases} == {"float32"}
    assert "自己写的一段" in readme.read_text(encoding="utf-8")
    assert update(capsys, fresh.root)[1] == "the template is up to date\n"


def test_a_preview_writes_nothing(fresh, templates, capsys):
    replace(templates / "README.md", "## 注意事项", "## 注意")
    before = snapshot(fresh.base)

    status, out, _ = update(capsys, fresh.root, "--dry-run", "--lang", "zh")

    assert status == 0
    assert "更新：" in out
    assert "没有写入" in out
    assert snapshot(fresh.base) == before


def test_crlf_files_stay_crlf(fresh, templates, capsys):
    readme = fresh.root / "README.md"
    readme.write_bytes(readme.read_bytes().replace(b"\n", b"\r\n"))
    replace(templates / "README.md", "## 注意事项", "## 注意")

    assert update(capsys, fresh.root)[0] == 0

    data = readme.read_bytes()
    assert b"## \xe6\xb3\xa8\xe6\x84\x8f\r\n" in data
    assert data.count(b"\n") == data.count(b"\r\n")


@pytest.mark.parametrize(
    "text", ["", "{}", '{"format": 99}', '{"format": 1, "files": ["../../x"], "options": {}}', "[1]"]
)
def test_a_damaged_record_is_said(fresh, capsys, text):
    (fresh.root / ".opdev" / "template.json").write_text(text, encoding="utf-8")

    status, _, err = update(capsys, fresh.root)

    assert status == 2
    assert "template.json" in err


def test_an_operator_from_elsewhere_is_said(tmp_path, capsys):
    status, _, err = update(capsys, tmp_path)

    assert status == 2
    assert "opdev new" in err
