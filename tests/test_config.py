"""Configuration: found from the file upwards, merged in order, wrong in one place with a line."""

from __future__ import annotations

import sys
from pathlib import Path

import jsonschema
import pytest

from opdev import config
from opdev.config import ConfigError, Configs, read
from opdev.configkeys import KEYS, schema

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RULE = "hardcoded-endpoint"


@pytest.fixture
def tree(tmp_path):
    """Writes files below a folder: ``tree({"a/opdev.toml": "…"})`` gives the folder."""

    def make(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path

    return make


def enabled(root, path="x.sh", configs=None):
    return {r.name for r in (configs or Configs()).for_path(f"{root}/{path}").selection_for(f"{root}/{path}").rules}


# Discovery


def test_the_nearest_file_counts_alone(tree):
    root = tree({"opdev.toml": f'ignore = ["{RULE}"]\n', "a/opdev.toml": "", "a/b/x.sh": "", "c/x.sh": ""})

    assert RULE in enabled(root, "a/b/x.sh")
    assert RULE not in enabled(root, "c/x.sh")
    assert Configs().for_path(f"{root}/a/b/x.sh").settings.path == f"{root}/a/opdev.toml"


def test_pyproject_counts_where_it_has_our_table(tree):
    root = tree(
        {
            "pyproject.toml": f'[tool.opdev]\nignore = ["{RULE}"]\n',
            "none/pyproject.toml": "[tool.ruff]\nignore = []\n# [tool.opdev]\n",
            "other/pyproject.toml": "[tool.opdev-other]\nignore = []\n",
            "spelt/pyproject.toml": "[ tool . \"opdev\" ]\nselect = ['style']\n",
            "sub/pyproject.toml": "[tool.opdev.severity]\nhardcoded-endpoint = 'hint'\n",
        }
    )

    assert RULE not in enabled(root, "none/x.sh")
    assert RULE not in enabled(root, "other/x.sh")
    assert Configs().for_path(f"{root}/spelt/x.sh").settings.select == ("style",)
    assert Configs().for_path(f"{root}/sub/x.sh").settings.severity == {RULE: "hint"}


def test_opdev_toml_wins_over_pyproject_beside_it(tree):
    root = tree({"pyproject.toml": "[tool.opdev]\nlang = 'zh'\n", "opdev.toml": "lang = 'en'\n"})

    assert Configs().for_path(f"{root}/x.sh").lang == "en"


def test_isolated_explicit_and_overridden(tree):
    root = tree({"opdev.toml": "lang = 'zh'\n", "other.toml": "lang = 'en'\n"})

    assert Configs(isolated=True).for_path(f"{root}/x.sh").settings == config.Settings()
    assert Configs(explicit=f"{root}/other.toml").for_path(f"{root}/x.sh").lang == "en"
    over = Configs(overrides=lambda s: config.replace(s, ignore=(*s.ignore, RULE)))
    assert RULE not in enabled(root, configs=over)
    assert over.for_path(f"{root}/x.sh").lang == "zh"
    assert [r.settings.lang for r in over.seen] == ["zh"]


# Extending


def test_a_chain_is_merged_from_the_far_end(tree):
    root = tree(
        {
            "base/base.toml": 'select = ["all"]\nignore = ["style"]\nprofile = "in-tree"\nlang = "zh"\nrespect-gitignore = false\n'
            f'exclude = ["gen/"]\n[severity]\n{RULE} = "hint"\nruntime = "info"\n[per-file-ignores]\n"*.sh" = ["build"]\n',
            "mid.toml": 'extend = "base/base.toml"\nignore = ["torch"]\nlang = "en"\n',
            "a/opdev.toml": f'extend = "../mid.toml"\nexclude = ["out/"]\n[severity]\n{RULE} = "warning"\n',
        }
    )

    found = read(f"{root}/a/opdev.toml")

    assert found.path == f"{root}/a/opdev.toml"
    assert found.root == f"{root}/a"
    assert found.select == ("all",)
    assert found.ignore == ("style", "torch")
    assert (found.profile, found.lang, found.respect_gitignore) == ("in-tree", "en", False)
    assert found.exclude == ((f"{root}/base", "gen/"), (f"{root}/a", "out/"))
    assert found.per_file_ignores == ((f"{root}/base", "*.sh", ("build",)),)
    assert list(found.severity.items()) == [("runtime", "info"), (RULE, "warning")]
    assert found.files == (f"{root}/base/base.toml", f"{root}/mid.toml", f"{root}/a/opdev.toml")


def test_of_several_the_last_that_says_something_counts(tree):
    root = tree(
        {
            "a.toml": 'profile = "in-tree"\nrespect-gitignore = false\nselect = ["ports"]\n',
            "b.toml": 'lang = "zh"\n',
            "opdev.toml": 'extend = ["a.toml", "b.toml"]\n',
        }
    )

    found = read(f"{root}/opdev.toml")

    assert (found.profile, found.respect_gitignore, found.lang, found.select) == ("in-tree", False, "zh", ("ports",))


def test_two_may_build_on_one(tree):
    root = tree(
        {
            "base.toml": 'ignore = ["style"]\n',
            "a.toml": 'extend = "base.toml"\nlang = "zh"\n',
            "b.toml": 'extend = "base.toml"\nignore = ["torch"]\n',
            "opdev.toml": 'extend = ["a.toml", "b.toml"]\n',
        }
    )

    found = read(f"{root}/opdev.toml")

    assert (set(found.ignore), found.lang) == ({"style", "torch"}, "zh")


def test_own_severity_wins_over_a_family_below(tree):
    root = tree(
        {
            "base.toml": f'[severity]\n{RULE} = "info"\nruntime = "hint"\nports = "hint"\n',
            "opdev.toml": f'extend = "base.toml"\n[severity]\n{RULE} = "error"\n',
        }
    )

    assert Configs().for_path(f"{root}/x.sh").selection.severity[RULE] == "error"


@pytest.mark.parametrize(
    ("files", "where", "words"),
    [
        ({"opdev.toml": '\nextend = "none.toml"\n'}, "opdev.toml:2", "`extend` names 'none.toml', and there is no file"),
        ({"opdev.toml": 'extend = "opdev.toml"\n'}, "opdev.toml:1", "goes round in a circle"),
        ({"opdev.toml": 'extend = "a.toml"\n', "a.toml": 'extend = "opdev.toml"\n'}, "opdev.toml:1", "goes round in a circle"),
        (
            {"opdev.toml": 'extend = "f0.toml"\n'} | {f"f{i}.toml": f'extend = "f{i + 1}.toml"\n' for i in range(12)} | {"f12.toml": ""},
            "f10.toml:1", "goes deeper than 10 files",
        ),
        ({"opdev.toml": 'extend = "a.toml"\n', "a.toml": "lang = 'de'\n"}, "a.toml:1", "`lang` is one of auto, zh, en, not 'de'"),
    ],
)  # fmt: skip
def test_extending_wrongly(tree, files, where, words):
    root = tree(files)

    with pytest.raises(ConfigError) as caught:
        read(f"{root}/opdev.toml")

    assert str(caught.value).startswith(f"{root}/{where}: ")
    assert words in caught.value.problem


# Paths and words


def test_per_file_ignores_are_relative_to_the_file_that_names_them(tree):
    root = tree(
        {
            "opdev.toml": f'[per-file-ignores]\n"/a/*.sh" = ["{RULE}"]\n"legacy/" = ["all"]\n',
            "b/opdev.toml": f'extend = "../opdev.toml"\n[per-file-ignores]\n"/x.sh" = ["{RULE}"]\n',
        }
    )

    assert RULE not in enabled(root, "a/x.sh")
    assert RULE in enabled(root, "c/a/x.sh")
    assert enabled(root, "a/legacy/b/x.sh") == set()
    assert RULE not in enabled(root, "b/x.sh")
    assert RULE in enabled(root, "b/a/x.sh")
    assert enabled(root, "b/legacy/x.sh") == set()


def test_exclude_is_relative_and_takes_back(tree):
    root = tree({"a/opdev.toml": 'exclude = ["build/*", "!build/keep.sh", "/top.sh"]\n'})
    found = Configs().for_path(f"{root}/a/x.sh")

    assert [found.excluded(f"{root}/{p}") for p in ("a/build/x.sh", "a/build/keep.sh", "a/top.sh", "a/b/top.sh", "build/x.sh")] == [
        True, False, True, False, False,
    ]  # fmt: skip
    assert found.excluded(f"{root}/a/build/sub", folder=True)


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("", True),
        ('select = ["all"]', True),
        ("select = []", False),
        (f'select = ["{RULE.upper()}"]', True),
        ('select = ["SH700"]', True),
        ('select = ["SH7"]', True),
        ('select = ["SH"]', True),
        ('select = ["style"]', False),
        (f'ignore = ["{RULE}"]', False),
        ('ignore = ["SH700"]', False),
        ('select = ["all"]\nignore = ["all"]', False),
    ],
)
def test_words_that_choose_rules(tree, text, runs):
    assert (RULE in enabled(tree({"opdev.toml": text + "\n"}))) is runs


QUIET_PAGE = """---
id: TM001
name: no-sleep
severity: info
kinds: [shell]
messages:
  default: {zh: 不要睡, en: do not sleep}
profiles: {default: off, in-tree: off}
since: 0.1.0
---
# 不要睡眠等待

睡眠等待既慢又不可靠，请改为等待条件成立。

# Sleeping

Sleeping to wait for something is slow and fails on a busy machine; wait for the condition.

```query bash
((command name: (command_name) @hit) (#eq? @hit "sleep"))
```
"""


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("", False),
        ('select = ["all"]', False),
        ('extend-select = ["all"]', False),
        ('severity = {TM001 = "error"}', False),
        ('select = ["no-sleep"]', True),
        ('select = ["team"]', True),
        ('select = ["all", "TM001"]', True),
        ('extend-select = ["no-sleep"]', True),
        ('extend-select = ["tm001"]', True),
        ('extend-select = ["TM"]', True),
        ('extend-select = ["team"]', True),
        ('extend-select = ["style"]', False),
        ('extend-select = ["TM001"]\nignore = ["no-sleep"]', False),
        ('extend = ["base.toml"]\nextend-select = ["style"]', True),
    ],
)
def test_a_rule_that_is_off_by_default_runs_where_it_is_asked_for(tree, text, runs):
    root = tree(
        {
            "rules/team/no-sleep.md": QUIET_PAGE,
            "base.toml": "rules = ['rules']\nextend-select = ['TM001']\n",
            "opdev.toml": text if "base" in text else f"rules = ['rules']\n{text}\n",
        }
    )
    selection = Configs().for_path(f"{root}/x.sh").selection
    kinds = frozenset({"shell"})

    def active(profile):
        return "no-sleep" in {one.rule.name for one in selection.plan(kinds, "bash", profile).all}

    assert active("custom-ops") is runs
    # Where the page itself says off it stays off: `profile` is for that.
    assert not active("in-tree")
    assert not active("skill-text")
    assert active("custom-ops") is (
        "no-sleep" in {a.rule.name for a in selection.only(selection.rules).plan(kinds, "bash", "custom-ops").all}
    )


def test_extend_select_keeps_what_runs_anyway(tree):
    root = tree({"opdev.toml": f'extend-select = ["{RULE}"]\n'})

    assert enabled(root) == enabled(tree({"none/opdev.toml": ""}), "none/x.sh")
    assert RULE in enabled(tree({"own/opdev.toml": f'select = ["style"]\nextend-select = ["{RULE}"]\n'}), "own/x.sh")


# What is wrong, and where


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('ignore = []\nselct = ["all"]\n', 2, "unknown key 'selct'; did you mean 'select'?"),
        ("\n\nzzz = 1\n", 3, "unknown key 'zzz'; known are extend, select"),
        ("# c\nselect = 'all'\n", 2, "`select` is a list of strings, not 'all'"),
        ("select = [1]\n", 1, "`select` is a list of strings"),
        ("extend = 3\n", 1, "`extend` is a string, not 3 or is a list of strings"),
        ("respect-gitignore = 'no'\n", 1, "`respect-gitignore` is a boolean, not 'no'"),
        ("severity = 'error'\n", 1, "`severity` is a table, not 'error'"),
        (
            f"lang = 'zh'\n[severity]\n{RULE} = 'fatal'\n",
            2,
            f"`severity` '{RULE}' is one of error, warning, info, hint, not 'fatal'",
        ),
        ("profile = 'mine'\n", 1, "`profile` is one of auto, custom-ops, in-tree, not 'mine'"),
        (
            "ignore = ['hardcoded-endpont']\n",
            1,
            f"`ignore` names 'hardcoded-endpont', and there is no such rule; did you mean '{RULE}'?",
        ),
        ("\nextend-select = ['zzzzzzzz']\n", 2, "`extend-select` names 'zzzzzzzz'"),
        ("\nselect = ['zzzzzzzz']\n", 2, "`opdev-lint rules` lists them"),
        ("[severity]\nnope-nope = 'error'\n", 1, "`severity` names 'nope-nope'"),
        ("lang = 'en'\n[per-file-ignores]\n'*.sh' = ['nope-nope']\n", 2, "`per-file-ignores` names 'nope-nope'"),
        ("rules = ['none']\n", 1, "there is no such folder"),
        ("lang = 'en'\nselect = [\n", 2, "is not TOML"),
        ("lang = 'en'\nlang = = 3\n", 2, "is not TOML"),
        ("lang = 'en'\nlang = 'zh'\n", 2, "is not TOML"),
        (b"# \xc4\xe3\xba\xc3\n", 1, "is not UTF-8 (byte 2); save it as UTF-8"),
    ],
)
def test_a_wrong_file_is_named_with_its_line(tree, text, line, words):
    root = tree({"opdev.toml": text})

    with pytest.raises(ConfigError) as caught:
        Configs().for_path(f"{root}/x.sh")

    assert (caught.value.path, caught.value.line) == (f"{root}/opdev.toml", line)
    assert words in caught.value.problem


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            "[tool.ruff]\nselect = ['E']\nignore = ['E501']\n\n[tool.opdev]\nignore = ['nope-nope']\n",
            6,
            "names 'nope-nope'",
        ),
        ("[tool.ruff]\nexclude = 1\n[tool.opdev.severity]\nnope-nope = 'error'\n", 3, "names 'nope-nope'"),
        ("[tool.opdev]\nselct = []\n", 2, "unknown key 'selct'"),
    ],
)
def test_in_pyproject_the_line_is_in_our_table(tree, text, line, words):
    root = tree({"pyproject.toml": text})

    with pytest.raises(ConfigError) as caught:
        Configs().for_path(f"{root}/x.sh")

    assert (caught.value.line, words in caught.value.problem) == (line, True)


def test_a_table_that_is_none(tree):
    root = tree({"pyproject.toml": "[tool]\nopdev = 3\n"})

    with pytest.raises(ConfigError, match=r"`tool\.opdev` is a table, not 3"):
        read(f"{root}/pyproject.toml")


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tree):
    root = tree({"opdev.toml": b"\xef\xbb\xbflang = 'zh'\r\nselect = ['all']\r\n"})

    assert read(f"{root}/opdev.toml").select == ("all",)


def test_an_unreadable_file_is_said(tmp_path, monkeypatch):
    (tmp_path / "opdev.toml").write_text("")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(ConfigError, match="cannot be read: Permission denied"):
        read(f"{tmp_path}/opdev.toml")


# The schema

SAMPLE = f"""
extend = []
select = ["all"]
extend-select = ["SH700"]
ignore = ["style", "SH7"]
profile = "custom-ops"
exclude = ["third_party/", "!third_party/ours.cpp"]
respect-gitignore = true
rules = []
lang = "zh"
clangd = "clangd-19"
[severity]
{RULE} = "warning"
[per-file-ignores]
"legacy/**" = ["memory"]
[run]
executor = "docker"
engine = ["podman", "--runtime", "runc"]
mounts = {{"/home/me/shmem" = "/workspace/shmem"}}
grace = 2.5
keep-runs = 10
external = {{design = ["write-design", "--context"]}}
"""


def test_the_schema_is_of_the_keys_and_takes_a_sample(tree):
    jsonschema.Draft202012Validator.check_schema(schema())

    assert set(schema()["properties"]) == set(KEYS) == set(tomllib.loads(SAMPLE))
    jsonschema.validate(tomllib.loads(SAMPLE), schema())
    assert read(f"{tree({'opdev.toml': SAMPLE})}/opdev.toml").profile == "custom-ops"


@pytest.mark.parametrize(
    "text",
    ["selct = []", "select = 'all'", "select = [1]", "lang = 'de'", "profile = ''", "respect-gitignore = 1", "severity = {a = 'x'}",
     "per-file-ignores = {a = 'x'}", "extend = 3", "extend = [1]", "exclude = 'x'", "rules = {}", "run = 1", "run = {grace = -1}", "run = {keep-runs = 1.5}",
     "run = {engine = 3}", "run = {external = {design = 'x'}}", "run = {nothing = 1}"],
)  # fmt: skip
def test_schema_and_reader_refuse_the_same(tree, text):
    root = tree({"opdev.toml": text + "\n"})

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(text), schema())
    with pytest.raises(ConfigError):
        read(f"{root}/opdev.toml")


def test_every_key_is_explained_in_both_languages():
    for key in KEYS.values():
        assert any("\u4e00" <= ch <= "\u9fff" for ch in key.zh)
        assert key.en.isascii()
