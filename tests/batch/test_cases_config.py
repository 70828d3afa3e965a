"""The field's own files go on working, what means nothing is told, and what is wrong is told with its place."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import opdev.bench
from opdev.bench import keys
from opdev.bench.config import settings_of
from opdev.bench.model import BenchError, GeneratorSettings, Host, Settings, VerifierSettings
from opdev.bench.texts import both

# Every key of the field's benchmark with its default, in our own order.
FIELD = """
bench_dir: cases
cases: "level1=19_ReLU"
limit: null
dry_run: false
log_level: INFO
devices: [0]
concurrency: 1
device_mode: pool
pool_preflight_timeout_sec: 120
output: {root_dir: "", base_dir: benchmark_runs}
pypto:
  repo_root: pypto
  opencode_bin: ""
  opencode_model: ""
  agent: pypto-op-orchestrator
  timeout_sec: 7200
  pref_round: 3
  skip_pypto_gen: false
  force_regen: false
  incomplete_workflow_retry: 1
  incomplete_workflow_retry_min_gap_sec: 1800
  workdir_root: custom
  output_format: default
verifier:
  framework: torch
  backend: ascend
  verify_timeout: 900
  verify_rtol: 1e-3
  verify_atol: "0.001"
  mode: performance
  verifier_mode: opencode
  skip: false
  validator_agent: pypto-kernel-validator
  skill_timeout_sec: 1800
  skill_retry: 2
  skill_retry_interval_sec: 600
  keep_artifacts: false
monitor:
  poll_sec: 3
"""


@pytest.fixture
def write(tmp_path):
    (tmp_path / "pypto" / ".opencode").mkdir(parents=True)

    def put(text, name="batch.yaml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return put


def told(path, given=None):
    """What is said of a file that cannot be used, without the folder it is in."""
    with pytest.raises(BenchError) as caught:
        settings_of(path, given or {}, {})
    text = both(caught.value.key, **caught.value.values)
    assert text["zh"] != text["en"]
    return text["en"].replace(os.path.dirname(path) + "/", "")


def test_a_file_of_the_field_means_what_it_means_there(write, tmp_path):
    got = settings_of(write(FIELD), {}, {})

    assert got.bench_dir == str(tmp_path / "cases")
    assert got.root.startswith(str(tmp_path / "benchmark_runs" / "Task_"))
    assert (got.cases, got.limit, got.concurrency, got.preflight, got.poll) == ("level1=19_ReLU", None, 1, 120.0, 3.0)
    assert got.hosts == (Host(devices=(0,)),)
    assert got.generator == GeneratorSettings(
        command=(
            "opencode", "run", "--dangerously-skip-permissions", "--agent", "{agent}", "--format", "default",
            "--title", "pypto-bench:pypto:{op}:device{device}", "{prompt}",
        ),
        repo_root=str(tmp_path / "pypto"),
    )  # fmt: skip
    assert got.verifier == VerifierSettings(backend="ascend", rtol=1e-3, atol=1e-3)
    unused, itself = (w["en"].partition(": ")[2] for w in got.warnings)
    assert unused.split(": ")[1].split(", ") == [
        "log_level", "pypto.pref_round", "pypto.incomplete_workflow_retry_min_gap_sec", "verifier.validator_agent",
        "verifier.skill_timeout_sec", "verifier.skill_retry", "verifier.skill_retry_interval_sec",
    ]  # fmt: skip
    assert itself == "verifier_mode: opencode changes nothing, opdev verifies itself"


def test_without_a_file_the_defaults_hold(tmp_path):
    got = settings_of("", {"bench_dir": str(tmp_path)}, {})

    assert got == Settings(bench_dir=str(tmp_path), cases="level1=19_ReLU", root=got.root)
    assert os.path.dirname(got.root) == os.path.abspath("benchmark_runs")
    assert settings_of("", {"bench_dir": str(tmp_path)}, {}).root != got.root


def test_the_command_line_wins_key_by_key(write, tmp_path, monkeypatch):
    path = write("bench_dir: b\nverifier: {mode: full, seeds: 5}\ndevices: [3]\noutput: {root_dir: out}\n")
    monkeypatch.chdir("/")

    got = settings_of(
        path, {"devices": "0, 1", "limit": None, "verifier": {"mode": "correctness", "python": None}, "cases": "l=1",
               "output": {"root_dir": "elsewhere"}, "verifier.backend": "sim"}, {},
    )  # fmt: skip

    assert (got.verifier.mode, got.verifier.seeds, got.verifier.backend) == ("correctness", 5, "sim")
    assert (got.hosts, got.cases, got.root) == ((Host(devices=(0, 1)),), "l=1", "/elsewhere")
    assert got.bench_dir == str(tmp_path / "b")


def test_ours_come_on_top(write, tmp_path):
    path = write("""
bench_dir: ~/cases
generator:
  command: [./make.sh, "{op}", '{"json": 1}', "{folder}", 3]
hosts:
- devices: 0,1
- {name: node1, prefix: ssh -tt "node 1", devices: [4]}
- name: node2
  prefix: [ssh, node2]
devices: [7]
verifier: {backend: sim, python: .venv/bin/python, seeds: 3, memory: 4000, warmup: 0, runs: 10}
""")
    got = settings_of(path, {}, {"HOME": "/home/us"})

    assert got.bench_dir == "/home/us/cases"
    assert got.generator.command == (str(tmp_path / "make.sh"), "{op}", '{"json": 1}', "{folder}", "3")
    assert got.hosts == (
        Host(devices=(0, 1)), Host("node1", ("ssh", "-tt", "node 1"), (4,)), Host("node2", ("ssh", "node2"), (7,)),
    )  # fmt: skip
    assert got.verifier == VerifierSettings(
        backend="sim", python=str(tmp_path / ".venv/bin/python"), seeds=3, memory=4000, warmup=0, runs=10
    )
    assert got.warnings == ()
    assert [h.devices for h in settings_of(path, {"devices": [2]}, {}).hosts] == [(2,), (2,), (2,)]


def test_keys_that_a_command_of_ones_own_makes_idle_are_told(write):
    text = "bench_dir: b\npypto: {opencode_model: m}\ngenerator: {command: [gen, '%s']}\n"

    (said,) = settings_of(write(text % "{op}"), {}, {}).warnings
    assert "change nothing, as generator.command has no {model}" in said["en"]
    assert settings_of(write(text % "{model}"), {}, {}).warnings == ()
    got = settings_of(write("bench_dir: b\npypto: {repo_root: pypto, opencode_model: m}\n"), {}, {}).generator
    assert (got.command[-3:], got.model) == (("-m", "{model}", "{prompt}"), "m")


def test_what_only_verifies_needs_no_opencode(write):
    assert settings_of(write("bench_dir: b\npypto: {skip_pypto_gen: true}\n"), {}, {}).generator.skip
    assert settings_of(write("bench_dir: b\npypto:\n"), {}, {}).generator.command == ()
    got = settings_of(write("bench_dir: b\npypto: {repo_root: pypto}\ngenerator: {command: []}\n"), {}, {})
    assert got.generator.command == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bench_dir: b\ncase: x\n", "batch.yaml:2:1: there is no key case; did you mean cases?"),
        ("zzz: 1\n", "batch.yaml:1:1: there is no key zzz; known here are: dry_run, log_level, bench_dir"),
        ("verifier:\n  用例: 1\n", "batch.yaml:2:3: there is no key verifier.用例; known here are: framework"),
        ("verifier: [1]\n", "batch.yaml:1:11: verifier has keys below it, and is not […]"),
        ("verifier.mode: full\n", "batch.yaml:1:1: there is no key verifier.mode"),
        ("bench_dir: a\nlimit: 3\nbench_dir: b\n", "batch.yaml:3:1: bench_dir is there twice, first in line 1"),
        ("dry_run: 'no'\n", "batch.yaml:1:10: dry_run is true or false, not 'no'"),
        ("limit: 0\n", "batch.yaml:1:8: limit is at least 1, not 0"),
        ("limit: 1.5\n", "batch.yaml:1:8: limit is a whole number, not 1.5"),
        ("limit: yes\n", "batch.yaml:1:8: limit is a whole number, not True"),
        ("pypto: {timeout_sec: 0}\n", "batch.yaml:1:22: pypto.timeout_sec is more than 0, not 0"),
        ("pypto: {timeout_sec: .inf}\n", "pypto.timeout_sec is a number, not inf"),
        ("verifier: {verify_rtol: small}\n", "verifier.verify_rtol is a number, not 'small'"),
        ("verifier: {mode: quick}\n", "verifier.mode is one of correctness, performance, full, not 'quick'"),
        ("verifier: {framework: mindspore}\n", "verifier.framework is one of torch, not 'mindspore'"),
        ("cases: [level1]\n", "batch.yaml:1:8: cases is a text, not […]"),
        ("devices: []\n", "devices has numbers of devices"),
        ("devices: 0,-1\n", "devices has numbers of devices, like [0, 1] or \"0,1\", not '0,-1'"),
        ("devices: [1, true]\n", "devices has numbers"),
        ("devices: [1, 1]\n", "devices has device 1 twice"),
        ("hosts: {name: a}\n", "hosts has hosts, each with name, prefix and devices, not {…}"),
        ("hosts: [{nmae: a}]\n", "batch.yaml:1:10: there is no key hosts[0].nmae; did you mean name?"),
        ("hosts: [{prefix: ssh a}]\n", "a host with a prefix needs one"),
        ("hosts: [{name: a}, {name: a}]\n", "two hosts called 'a'"),
        ("hosts: [{name: a, devices: x}]\n", "hosts[0].devices has numbers of devices"),
        ("generator: {command: [gen, '{operator}']}\nbench_dir: b\n", "batch.yaml:1:22: nothing is filled in for {operator} in generator.command"),
        ("generator: {command: 'a \"b'}\n", "generator.command is a list of arguments"),
        ("pypto: {repo_root: nowhere}\nbench_dir: b\n", "batch.yaml:1:20: a section pypto means that opencode generates"),
        ("pypto: {repo_root: nowhere, skip_pypto_gen: true}\nbench_dir: b\n", "there is no such folder"),
        ("pypto: {workdir_root: ../x, skip_pypto_gen: true}\nbench_dir: b\n", "pypto.workdir_root is a path inside the repository"),
        ("cases: l=1\n", "does not say where the cases are"),
        ("- a\n", "batch.yaml:1:1: a configuration is made of 'key: value'"),
        ("中: '没有结束\n", "batch.yaml:"),
        ("verifier:\n\tmode: full\n", "batch.yaml:2:1: YAML cannot be indented by tabs"),
        ("a: 1\n---\nb: 2\n", "another document begins here"),
        ("cases: *nothing\n", "batch.yaml:1:8: this alias has no anchor"),
        ("cases: \x07\n", "batch.yaml:1:8: a control character"),
        (b"cases: \xff\xfe\x00\xff\n", "is no text"),
        ("[" * 200, "nested too deeply"),
        ("# 注释\r\nlimit: 中\r\n", "batch.yaml:2:8: limit is a whole number"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(write, text, expected):
    assert expected in told(write(text))


def test_aliases_are_bounded(write):
    lines = ["a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]"] + [
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)
    ]

    assert "too many values" in told(write("\n".join(lines)))


def test_an_unreadable_file_is_told(write, tmp_path):
    assert "cannot be read" in told(str(tmp_path / "none.yaml"))
    assert "cannot be read" in told(str(tmp_path / "pypto"))
    assert "which no configuration has" in told(write("#" * 1_000_001))


def test_other_encodings_and_aliases_are_read(write, tmp_path):
    assert settings_of(write("bench_dir: 用例\n".encode("gb18030")), {}, {}).bench_dir == str(tmp_path / "用例")
    assert settings_of(write("\ufeffbench_dir: a\n"), {}, {}).bench_dir == str(tmp_path / "a")
    got = settings_of(
        write("bench_dir: &b x\noutput: {root_dir: *b}\nverifier: {<<: {mode: full}, seeds: 3}\n"), {}, {}
    )
    assert (got.root, got.verifier.mode, got.verifier.seeds) == (str(tmp_path / "x"), "full", 3)


def test_what_the_command_line_gives_is_checked_as_well():
    assert (
        told("", {"bench_dir": "b", "verifier": {"seeds": 0}}) == "verifier.seeds: verifier.seeds is at least 1, not 0"
    )
    assert "--bench-dir" in told("", {})


def test_the_schema_that_is_shipped_is_that_of_the_keys():
    shipped = Path(opdev.bench.__file__).parent / "config.schema.json"

    assert shipped.read_text(encoding="utf-8") == keys.text(), "python -m opdev.bench.keys"
    jsonschema.Draft202012Validator.check_schema(keys.schema())


def test_the_schema_takes_what_is_read_and_refuses_what_is_not(write):
    check = jsonschema.Draft202012Validator(keys.schema())

    check.validate(yaml.safe_load(FIELD))
    for text in (
        "case: 1",
        "limit: 0",
        "dry_run: 'no'",
        "verifier: {mode: quick}",
        "devices: []",
        "hosts: [{nmae: a}]",
    ):
        assert list(check.iter_errors(yaml.safe_load(text))), text
    defaults = {"default": [key.default for key in keys.KEYS.values()]}
    assert json.dumps(defaults)


PIECES = st.sampled_from([
    *keys.KEYS, *keys.SECTIONS, ": ", ":\n  ", "\n", "- ", "[", "]", "{", "}", ", ", "&a ", "*a", "<<: ", "1", "1e-3",
    "0x1F", "1:40", "true", "~", ".nan", "'", '"', "|\n  ", "# ", "\t", "用例", "\ufeff", "\x85", "---\n", "!!int ", "!x ", "? ",
])  # fmt: skip


@settings(max_examples=300, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.lists(PIECES, max_size=14).map("".join).map(str.encode), st.binary(max_size=60)))
def test_any_file_is_read_or_refused_in_words(write, data):
    path = write(data)
    got = text = None
    try:
        got = settings_of(path, {"bench_dir": "b"}, {})
    except BenchError as error:
        text = both(error.key, **error.values)
    assert (got is None) == bool(text)


VALUES = st.sampled_from([
    "~", "1", "-1", "0", "1e-3", ".inf", ".nan", "[]", "{}", "[1, [2]]", "{a: 1}", r'"\0"', r'"a\tb"', "yes", "0x1F",
    "1_000", "9" * 400, "-" + "9" * 5000, "|\n    x", '"{foo}"', "[ssh, 1.5, true]", "用例", "!!binary aGk=", "12:30:00",
    '[{name: a, prefix: "b"}]', "~/x", "../..", '""',
])  # fmt: skip
LINES = [at for at, line in enumerate(FIELD.splitlines()) if ": " in line]


@settings(max_examples=200, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(LINES), VALUES, min_size=1, max_size=3))
def test_any_value_of_any_key_is_taken_or_told_with_its_place(write, changes):
    lines = FIELD.splitlines()
    for at, value in changes.items():
        lines[at] = f"{lines[at].partition(': ')[0]}: {value}"
    path = write("\n".join(lines))
    got, where = None, path
    try:
        got = settings_of(path, {}, {"HOME": "/home/us"})
    except BenchError as error:
        where = both(error.key, **error.values)["en"]
    assert (got is None) == where.startswith(f"{path}:")


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_the_batch_that_is_shown_is_one(name, tmp_path):
    readme = Path(opdev.bench.__file__).parents[3] / name
    if not readme.is_file():
        pytest.skip("not a checkout")
    shown = next(
        text for text in readme.read_text(encoding="utf-8").split("```yaml\n") if text.startswith("bench_dir:")
    )
    (tmp_path / "batch.yaml").write_text(shown.partition("```")[0], encoding="utf-8")

    got = settings_of(str(tmp_path / "batch.yaml"), {}, {})
    assert (got.hosts[0].prefix, got.generator.command[0], got.warnings) == (("ssh", "node1"), "my-generator", ())
