"""A batch's settings: its YAML file, deep-merged with what the command line gives.

The keys are those of the field's own benchmark (``keys``), so that its files go on working: what started opencode there
becomes a ``generator.command`` here, and what means nothing here is told about once.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from opdev.bench.keys import KEYS, SECTIONS, below
from opdev.bench.model import BenchError, GeneratorSettings, Host, Settings, VerifierSettings
from opdev.bench.texts import both
from opdev.bench.values import Item, of_node, of_plain, placeholders, unknown, value_of
from opdev.bench.yamlfile import Yaml
from opdev.rules.model import Text

_TITLE = "pypto-bench:pypto:{op}:device{device}"


def settings_of(path: str, given: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
    """The settings of a batch.  ``path`` is a YAML file, empty for none; ``given`` has the file's keys, None for what is not given.

    Relative paths start from the file's folder, those of ``given`` from the working folder.  BenchError names file, line
    and column, and what is allowed there.
    """
    home = environ.get("HOME", "")
    said: dict[str, Item] = {}
    if path:
        file = Yaml(os.path.abspath(path))
        if file.root is not None:
            said.update(_flat(of_node(file.root, file, home)))
    over = {name: item for name, item in _flat(of_plain(_nested(given), "", home)).items() if not item.absent}
    items = {**said, **over}
    values = {name: value_of(name, key, items[name]) if name in items else key.default for name, key in KEYS.items()}
    if not values["bench_dir"]:
        raise BenchError("c-no-bench-dir", where=path or "--bench-dir")
    settings = Settings(
        bench_dir=values["bench_dir"],
        cases=values["cases"],
        root=_root(values, items),
        limit=values["limit"],
        hosts=_hosts(values, "devices" in over),
        concurrency=values["concurrency"],
        preflight=values["pool_preflight_timeout_sec"],
        dry_run=values["dry_run"],
        poll=values["monitor.poll_sec"],
        generator=_generator(values, items),
        verifier=_verifier(values),
        path=os.path.abspath(path) if path else "",
    )
    return replace(settings, warnings=tuple(_warnings(items, values)))


def _nested(given: Mapping[str, Any]) -> dict[str, Any]:
    """``verifier.mode`` as well as a mapping in a mapping."""
    made: dict[str, Any] = {}
    for name, value in given.items():
        section, dot, last = name.partition(".")
        if dot:
            made.setdefault(section, {})[last] = value
        elif isinstance(value, Mapping) and isinstance(made.get(name), dict):
            made[name].update(value)
        else:
            made[name] = dict(value) if isinstance(value, Mapping) else value
    return made


def _flat(root: Item) -> dict[str, Item]:
    """Items by the dotted names of their keys; BenchError for one that nobody knows.  A section that is there is one, too."""
    found: dict[str, Item] = {}
    for name, item in (root.entries or {}).items():
        if name in SECTIONS:
            found.update(_section(name, item))
        elif name in KEYS and "." not in name:
            found[name] = item
        else:
            raise unknown(name, root, name, below(""))
    return found


def _section(section: str, item: Item) -> Iterator[tuple[str, Item]]:
    if item.absent:
        return
    if item.entries is None:
        raise BenchError("c-want-section", where=item.where, name=section, given=item.shown, known=", ".join(below(section)))  # fmt: skip
    yield section, item
    for last, one in item.entries.items():
        name = f"{section}.{last}"
        if name not in KEYS:
            raise unknown(name, item, last, below(section))
        yield name, one


def _root(values: Mapping[str, Any], items: Mapping[str, Item]) -> str:
    """The batch's folder: the one named, else a new one whose name no other batch has."""
    if values["output.root_dir"]:
        return str(values["output.root_dir"])
    base = values["output.base_dir"]
    if "output.base_dir" not in items or items["output.base_dir"].absent:
        base = os.path.abspath(base)
    return f"{base}/Task_{time.strftime('%Y%m%d-%H%M%S')}_{secrets.token_hex(4)}"


def _hosts(values: Mapping[str, Any], over: bool) -> tuple[Host, ...]:
    """Where cases run; ``over``: the command line names devices, and they hold for every host."""
    devices = values["devices"]
    if not values["hosts"]:
        return (Host(devices=devices),)
    return tuple(host if host.devices and not over else replace(host, devices=devices) for host in values["hosts"])


def _generator(values: Mapping[str, Any], items: Mapping[str, Item]) -> GeneratorSettings:
    command = values["generator.command"]
    repo = values["pypto.repo_root"]
    skip = values["pypto.skip_pypto_gen"]
    if command is None:
        # The field's files say by their section that opencode generates.
        command = _opencode(values) if "pypto" in items and not skip else ()
        if command and not os.path.isdir(f"{repo}/.opencode"):
            item = items.get("pypto.repo_root", items["pypto"])
            raise BenchError("c-no-opencode", where=item.where, repo=repo or '""')
    else:
        placeholders("generator.command", command, items["generator.command"])
    if repo and not os.path.isdir(repo):
        raise BenchError("c-no-repo", where=items["pypto.repo_root"].where, repo=repo)
    workdir = values["pypto.workdir_root"]
    if os.path.isabs(workdir) or ".." in workdir.split("/") or not workdir:
        raise BenchError("c-workdir", where=items["pypto.workdir_root"].where, given=workdir)
    return GeneratorSettings(
        command=command,
        repo_root=repo,
        workdir_root=workdir,
        timeout=values["pypto.timeout_sec"],
        retry=values["pypto.incomplete_workflow_retry"],
        skip=skip,
        force=values["pypto.force_regen"],
        agent=values["pypto.agent"],
        model=values["pypto.opencode_model"],
        need_stages=values["generator.need_stages"],
    )


def _opencode(values: Mapping[str, Any]) -> tuple[str, ...]:
    model = ("-m", "{model}") if values["pypto.opencode_model"] else ()
    return (
        values["pypto.opencode_bin"] or "opencode", "run", "--dangerously-skip-permissions", "--agent", "{agent}",
        "--format", values["pypto.output_format"], "--title", _TITLE, *model, "{prompt}",
    )  # fmt: skip


def _verifier(values: Mapping[str, Any]) -> VerifierSettings:
    return VerifierSettings(
        backend=values["verifier.backend"],
        mode=values["verifier.mode"],
        python=values["verifier.python"],
        timeout=values["verifier.verify_timeout"],
        rtol=values["verifier.verify_rtol"],
        atol=values["verifier.verify_atol"],
        seeds=values["verifier.seeds"],
        memory=values["verifier.memory"],
        keep=values["verifier.keep_artifacts"],
        skip=values["verifier.skip"],
        warmup=values["verifier.warmup"],
        runs=values["verifier.runs"],
    )


def _warnings(items: Mapping[str, Item], values: Mapping[str, Any]) -> Iterator[Text]:
    """What the file says and nothing comes of."""
    named = [name for name, key in KEYS.items() if key.unused and name in items and not items[name].absent]
    if named:
        yield both("c-unused", where=items[named[0]].where, names=", ".join(named))
    if "verifier.verifier_mode" in items and values["verifier.verifier_mode"] == "opencode":
        yield both("c-verifies-itself", where=items["verifier.verifier_mode"].where)
    command = items.get("generator.command")
    if (
        command is not None
        and not command.absent
        and any(name in items for name in ("pypto.opencode_bin", "pypto.opencode_model"))
        and not any("{model}" in word for word in values["generator.command"])
    ):
        yield both("c-own-command", where=command.where)
