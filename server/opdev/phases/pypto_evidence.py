"""What stage 5 of PyPTO-Pro has to show for its numbers: cases, measurements, timelines, what limits the kernel.

Files are judged by what they say of themselves; whether a number is right only another run shows.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from opdev.phases.model import Check, Spot, Title, both
from opdev.phases.pypto_checks import PyptoEvidence, json_of, listed

_CASES = Title("perf-cases", "性能用例可用", "the performance cases can be used")
_ROUND = Title("perf-round", "有正式采集", "there is a formal collection")
_MEASURED = Title("perf-measurements", "目标用例都有测量", "every target case was measured")
_HOW = Title("perf-protocol", "按规程测量", "measured by the protocol")
_TIMELINE = Title("perf-timeline", "目标用例都有指令时间线", "every target case has its timeline")
_MARKS = Title("perf-marks", "日志里有每个目标用例", "the log has every target case")
_FRESH = Title("perf-age", "测的是现在的代码", "the present code was measured")
_TARGET = Title("perf-target", "说明了目标是否达到", "it says whether the target is met")
_LIMITS = Title("perf-limits", "说明了瓶颈", "it says what limits the kernel")
_FOLDER = "docs/perf"
_MODES = ("user_selected", "single_p0", "all_p0_no_questions")
_WARM_UP, _REPEATS, _SEED = 3, 3, 42
_MOST = 400
_WORDS: Mapping[str, Mapping[str, bool]] = {
    "golden_reference_ratio": {"met": True, "not_met": False, "unavailable": False},
    "roofline_terminal": {
        "compute_bound": True, "data_movement_bound": True, "balanced_compute_movement": True, "scalar_bound": True,
        "wait_bound": True, "insufficient_evidence": False,
    },
    "pipeline_evidence": {"proven": True, "not_applicable_with_dag": True, "residual_not_overlapped": True, "unverified": False},
}  # fmt: skip
"""Statuses by what they are of; false for those that prove nothing."""
_NUMBERS: Mapping[str, tuple[tuple[str, ...], int]] = {
    "warm-up": (("warmup", "warm_up", "warmup_count", "warm_up_count", "warmups"), _WARM_UP),
    "repeats": (("repeats", "repeat", "repeat_count", "num_repeats"), _REPEATS),
    "seed": (("seed",), _SEED),
}


def targets(e: PyptoEvidence) -> Iterator[Check]:
    """The cases that are to become faster."""
    found, fault = json_of(e, "PERFORMANCE_CASES.json")
    if fault is not None:
        yield fault
    elif e.named("PERFORMANCE_CASES.json") is not None:
        faults = list(_faults(e, found))
        place = e.at(e.there("PERFORMANCE_CASES.json") or "PERFORMANCE_CASES.json")
        if faults:
            zh, en = "；".join(f[0] for f in faults), "; ".join(f[1] for f in faults)
            yield _CASES.failed(both(zh, en), both("改正用例表", "mend the table of cases"), place)
        else:
            count = len(_ids(found))
            yield _CASES.ok(both(f"{count} 个用例", f"{count} cases"), place)


def _ids(found: object) -> list[str]:
    """The ids of the cases, in order."""
    cases = found.get("cases") if isinstance(found, dict) else None
    return [str(c["id"]) for c in cases if isinstance(c, dict) and c.get("id")] if isinstance(cases, list) else []


def _target(found: object) -> dict[str, Any]:
    target = found.get("optimization_target") if isinstance(found, dict) else None
    return target if isinstance(target, dict) else {}


def _wanted(found: object) -> list[str]:
    """The ids of the cases that are targets."""
    ids = _target(found).get("case_ids")
    return [str(i) for i in ids] if isinstance(ids, list) else []


def _faults(e: PyptoEvidence, found: object) -> Iterator[tuple[str, str]]:
    version = found.get("schema_version") if isinstance(found, dict) else None
    if version != 1 or isinstance(version, bool):
        yield "schema_version 要是 1", "schema_version is to be 1"
    ids = _ids(found)
    if not ids:
        yield "cases 没有带 id 的用例", "cases has none with an id"
    twice = sorted({i for i in ids if ids.count(i) > 1})
    if twice:
        yield f"id 重复：{'、'.join(twice)}", f"ids that are there twice: {', '.join(twice)}"
    wanted = _wanted(found)
    unknown = [i for i in wanted if i not in ids]
    if not wanted:
        yield "optimization_target.case_ids 没有写", "optimization_target.case_ids is missing"
    elif unknown:
        yield f"目标 {'、'.join(unknown)} 不在 cases 里", f"targets that are no cases: {', '.join(unknown)}"
    if _target(found).get("selection_mode") not in _MODES:
        yield f"selection_mode 要是 {'、'.join(_MODES)} 之一", f"selection_mode is to be one of {', '.join(_MODES)}"
    test = e.named("test_<op>.py")
    named = (
        [c.get("test_function") for c in found["cases"] if isinstance(c, dict)]
        if isinstance(found, dict) and ids
        else []
    )
    missing = [
        n for n in named if isinstance(n, str) and test is not None and not re.search(rb"def[ \t]+%s[ \t]*\(" % re.escape(n.encode()), test.data)
    ]  # fmt: skip
    if missing:
        yield f"测试里没有 {'、'.join(missing)}", f"the test has no {', '.join(missing)}"


def measured(e: PyptoEvidence) -> Iterator[Check]:
    """The newest collection: each target's measurement, how it was made, its timeline; what the reports conclude."""
    found, _ = json_of(e, "PERFORMANCE_CASES.json")
    wanted = list(dict.fromkeys(_wanted(found)))
    folder = _newest(e)
    if folder is None:
        yield _ROUND.failed(
            both(f"没有 {_FOLDER}/round_NNN/collection.json", f"there is no {_FOLDER}/round_NNN/collection.json"),
            both("用采集脚本正式测一轮", "measure a round with the collecting script"),
            e.at(_FOLDER),
        )
    else:
        yield _ROUND.ok(both(folder, folder), e.at(f"{folder}/collection.json"))
        yield from _cases(e, folder, wanted)
    yield from _marks(e, wanted)
    yield from _concluded(e)


def _names(e: PyptoEvidence, folder: str) -> list[str]:
    try:
        return sorted(os.listdir(e.path(folder)))[:_MOST]
    except OSError:
        return []


def _newest(e: PyptoEvidence) -> str | None:
    """The folder of the last round that was collected to its end."""
    rounds = [(int(m[1]), n) for n in _names(e, _FOLDER) if (m := re.fullmatch(r"round_(\d{1,6})", n))]
    there = [f"{_FOLDER}/{n}" for _, n in sorted(rounds) if e.exists(f"{_FOLDER}/{n}/collection.json")]
    return there[-1] if there else None


def _case(e: PyptoEvidence, folder: str, case: str) -> str | None:
    """The folder of a case: ``case_<id>_<hash>``."""
    pattern = re.compile(rf"case_{re.escape(case)}(?:_[0-9a-fA-F]{{4,64}})?")
    found = [n for n in _names(e, folder) if pattern.fullmatch(n)]
    return f"{folder}/{found[-1]}" if found else None


def _cases(e: PyptoEvidence, folder: str, wanted: list[str]) -> Iterator[Check]:
    places = {case: _case(e, folder, case) for case in wanted}
    files = {c: f"{p}/measurement.json" for c, p in places.items() if p is not None}
    missing = [c for c in wanted if c not in files or not e.exists(files[c])]
    if missing:
        zh, en = listed(missing)
        todo = both("补测这些用例", "measure these cases too")
        yield _MEASURED.failed(both(f"没有测量：{zh}", f"not measured: {en}"), todo, e.at(folder))
    elif wanted:
        yield _MEASURED.ok(both(f"{len(wanted)} 个用例", f"{len(wanted)} cases"), e.at(folder))
    odd: list[tuple[str, str, str]] = []
    for case in wanted:
        if case not in missing:
            odd += [(files[case], f"{case}：{zh}", f"{case}: {en}") for zh, en in _protocol(e, files[case])]
    if odd:
        yield _HOW.failed(
            both("；".join(o[1] for o in odd[:5]), "; ".join(o[2] for o in odd[:5])),
            both(
                "按规程重测：预热 3 次，重复 3 次，种子 42",
                "measure again by the protocol: 3 warm-ups, 3 repeats, seed 42",
            ),
            e.at(odd[0][0]),
        )
    elif wanted and not missing:
        yield _HOW.ok(both("预热、重复与种子相符", "warm-ups, repeats and seed are right"), e.at(folder))
    lines = [c for c in wanted if not (p := places[c]) or not any(
        e.exists(f"{p}/{below}instruction_timeline/timeline_evidence.json") for below in ("", *(f"{n}/" for n in _names(e, p)))
    )]  # fmt: skip
    if lines:
        zh, en = listed(lines)
        todo = both("采集这些用例的指令时间线", "collect the timelines of these cases")
        yield _TIMELINE.failed(both(f"没有时间线：{zh}", f"no timeline of: {en}"), todo, e.at(folder))
    elif wanted:
        yield _TIMELINE.ok(both("齐全", "all are there"), e.at(folder))
    yield from _age(e, [files[c] for c in wanted if c not in missing])


def _read(e: PyptoEvidence, relative: str) -> object:
    """A JSON file's content; None for one that is none."""
    try:
        return json.loads(e.log(relative))
    except (ValueError, RecursionError):
        return None


def _protocol(e: PyptoEvidence, relative: str) -> Iterator[tuple[str, str]]:
    """What a measurement says against the protocol; what it does not say is not held against it."""
    found = _read(e, relative)
    if not isinstance(found, dict):
        yield "measurement.json 不是 JSON 对象", "measurement.json is no JSON object"
        return
    for title, (keys, wanted) in _NUMBERS.items():
        for value in _values(found, keys):
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                is_wrong = value < wanted if title == "repeats" else value != wanted
                if is_wrong:
                    yield f"{title} 是 {value:g}，应是 {wanted}", f"{title} is {value:g} and is to be {wanted}"
                break
    folder = relative.rpartition("/")[0]
    repeats = [n for n in _names(e, folder) if re.fullmatch(r"repeat_\d{1,6}", n)]
    if len(repeats) < _REPEATS:
        yield f"只有 {len(repeats)} 次重复", f"there are {len(repeats)} repeats"
    names = [v for v in _values(found, ("op_name", "Op Name", "operator_name", "kernel_name")) if isinstance(v, str)]
    if names and not any(n.strip() for n in names):
        yield "Op Name 是空的", "its Op Name is empty"


def _values(found: object, keys: tuple[str, ...]) -> Iterator[object]:
    """The values of some keys anywhere in a JSON value, the outermost first."""
    level = [found]
    seen = 0
    while level and seen < 20_000:
        below: list[object] = []
        for one in level:
            seen += 1
            if isinstance(one, dict):
                yield from (one[k] for k in keys if k in one)
                below += one.values()
            elif isinstance(one, list):
                below += one
        level = below


def _age(e: PyptoEvidence, files: list[str]) -> Iterator[Check]:
    """Whether what was measured is what stands there: by the hash that was kept, else by time."""
    test = e.there("test_<op>.py")
    if test is None or not files or test not in e.files:
        return
    digest = e.digest(test)
    kept = [v for f in files for v in _values(_read(e, f), ("executable_sha256",)) if isinstance(v, str)]
    if kept and all(v.removeprefix("sha256:").lower() == digest for v in kept):
        yield _FRESH.ok(both("哈希相同", "the hashes are the same"), e.at(test))
        return
    code = e.newest([test])
    late = [f for f in files if e.older(e.time(f), code)]
    if late:
        todo = both("重新测量", "measure it again")
        yield _FRESH.failed(
            both(f"{test} 在测量之后改过", f"{test} was changed after it was measured"), todo, e.at(late[0])
        )
    elif kept:
        yield _FRESH.unknown(
            both("executable_sha256 不是测试文件的哈希，看不出测的是哪个版本", "executable_sha256 is not the test file's hash: nothing shows which version was measured"),
            both("核对后重测", "look at it, and measure again"),
            e.at(files[0]),
        )  # fmt: skip
    else:
        yield _FRESH.ok(both("测量比代码新", "it is younger than the code"), e.at(files[0]))


def _marks(e: PyptoEvidence, wanted: list[str]) -> Iterator[Check]:
    """Every target case names itself in the log."""
    at = e.there("performance.log")
    if at is None or not wanted:
        return
    log = e.log(at)
    missing = [
        c for c in wanted if not re.search(rb"PYPTO_PERF_SELECTED_CASE=%s(?![\w.-])" % re.escape(c.encode()), log)
    ]
    if missing:
        zh, en = listed(missing)
        text = both(f"日志里没有 PYPTO_PERF_SELECTED_CASE={zh}", f"the log has no PYPTO_PERF_SELECTED_CASE={en}")
        yield _MARKS.failed(text, both("逐个用例重测并保存输出", "measure case by case and keep the output"), e.at(at))
    else:
        yield _MARKS.ok(both("都有", "all are there"), e.at(at))


def _concluded(e: PyptoEvidence) -> Iterator[Check]:
    """The conclusions of performance.json and of the timelines: words of their vocabularies, and what they leave open."""
    found, fault = json_of(e, "performance.json")
    if fault is not None:
        yield fault
        return
    at = e.at(e.there("performance.json") or "performance.json")
    if e.named("performance.json") is None:
        return
    said = {key: list(_statuses(found, key)) for key in _WORDS}
    yield from _judged(_TARGET, {"golden_reference_ratio": said["golden_reference_ratio"]}, at)
    limits = {key: said[key] for key in ("roofline_terminal", "pipeline_evidence")}
    scalars = [v.get("dominant") for v in _values(found, ("scalar_evidence",)) if isinstance(v, dict)]
    if not scalars or None in scalars:
        text = both("没有 scalar_evidence.dominant", "there is no scalar_evidence.dominant")
        yield _LIMITS.unknown(
            text, both("在 performance.json 里逐用例写明", "say it for each case in performance.json"), at
        )
        return
    yield from _judged(_LIMITS, limits, at)


def _statuses(found: object, key: str) -> Iterator[str]:
    for value in _values(found, (key,)):
        status = value.get("status") if isinstance(value, dict) else value
        if isinstance(status, str):
            yield status


def _judged(title: Title, said: Mapping[str, list[str]], at: Spot) -> Iterator[Check]:
    """Failed for words there are none of, unknown where nothing is proven, else what was said."""
    strange = [f"{key}: {word}" for key, words in said.items() for word in words if word not in _WORDS[key]]
    if strange:
        allowed = "、".join(w for key in said for w in _WORDS[key])
        todo = both(f"可用：{allowed}", f"there are: {allowed.replace('、', ', ')}")
        yield title.failed(both(f"不认识 {'、'.join(strange)}", f"unknown: {', '.join(strange)}"), todo, at)
        return
    silent = [key for key, words in said.items() if not words]
    open_ = [f"{key}: {word}" for key, words in said.items() for word in words if not _WORDS[key][word]]
    if silent or open_:
        zh = "；".join([*(f"没有 {key}.status" for key in silent), *open_])
        en = "; ".join([*(f"there is no {key}.status" for key in silent), *open_])
        yield title.unknown(
            both(zh, en), both("在 performance.json 里逐用例写明", "say it for each case in performance.json"), at
        )
        return
    words = ", ".join(dict.fromkeys(word for found in said.values() for word in found))
    yield title.ok(both(words, words), at)
