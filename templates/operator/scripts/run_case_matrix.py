# SPDX-License-Identifier: Apache-2.0
"""跑 @{ op }@ 的用例矩阵（scripts/cases.json），由测得的结果写 docs 下的两份报告。

每个用例一行 [CASE]，最后一行 [MATRIX]；有一个失败就以 1 退出，一个也没跑以 2 退出。只点名规模太大的用例时
说明为什么没跑（[SKIP]）。
data/case_results.json 记着每个用例上一次的结果；换了程序的结果作废，报告里写“未执行”。
报告里只重写 opdev:report 标记之间的内容，其余是你的；opdev report 会给同一批内容补上运行编号与日志行号。
CPU 模拟（opdev sim run）下默认只跑到 M 规模，报告注明是模拟的结果。
"""

import argparse
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path

OP_DIR = Path(__file__).resolve().parent.parent
@% if in_tree %@
BINARY = OP_DIR.parent.parent / "build" / "bin" / "@{ op }@"
LIBRARY = OP_DIR.parent.parent / "build" / "lib" / "lib@{ op }@_kernel.so"
@% else %@
BINARY = OP_DIR / "build" / "bin" / "@{ op }@"
LIBRARY = OP_DIR / "build" / "lib" / "lib@{ op }@_kernel.so"
@% endif %@
RECORD = OP_DIR / "data" / "case_results.json"
LOGS = OP_DIR / "data" / "logs"
SCALES = ["XS", "S", "M", "L"]
SIMULATED = bool(os.environ.get("OPDEV_SIM_RUN"))
BACKEND = "sim" if SIMULATED else "npu"
ERRORS = re.compile(r"^PE \d+: .*?MaxAE=(\S+) MaxRE=(\S+)", re.MULTILINE)
COLUMNS = ["Case ID", "category", "scale", "n_pes", "shape", "dtype", "Result", "MaxAE", "MaxRE", "备注"]


def load_matrix() -> dict:
    """cases.json：cases 是全部用例，invariants 是每条不变量和验证它的用例。"""
    return json.loads((OP_DIR / "scripts" / "cases.json").read_text(encoding="utf-8"))


def program() -> str:
    """编译产物的指纹，结果只对这一份程序有效；没有编译时为空。"""
    found = [path for path in (BINARY, LIBRARY) if path.is_file()]
    if BINARY not in found:
        return ""
    return hashlib.sha256(b"".join(path.read_bytes() for path in found)).hexdigest() + BACKEND


def run(case: dict, timeout: int) -> dict:
    """跑一个用例；result 是 PASS 或 FAIL，误差取各 PE 的最大值，没有测到时为空。"""
    log = LOGS / f"{case['case_id']}.log"
    tag = os.environ.get("RUN_TAG", "matrix")
    command = ["bash", str(OP_DIR / "scripts" / "run.sh"), str(case["n_pes"]), str(math.prod(case["shape"]))]
    command += [case["dtype"], "0", str(case["repeat"])@{ ', case["pattern"]' if kind == 'alltoallv' }@@{ ', str(case["root"])' if kind == 'broadcast' }@]
    begin = time.monotonic()
    note = ""
    with log.open("wb") as output:
        try:
            done = subprocess.run(
                command,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=timeout,
                check=False,
                env={**os.environ, "RUN_TAG": tag},
            )
            passed = done.returncode == 0
        except subprocess.TimeoutExpired:
            passed, note = False, f"超过 {timeout} 秒"
    keep(case["case_id"], tag)
    measured = ERRORS.findall(log.read_text(encoding="utf-8", errors="replace"))
    return {
        "result": "PASS" if passed else "FAIL",
        "maxae": max((m[0] for m in measured), key=float, default=""),
        "maxre": max((m[1] for m in measured), key=float, default=""),
        "seconds": round(time.monotonic() - begin, 1),
        "log": log.relative_to(OP_DIR).as_posix(),
        "note": note,
    }


def keep(name: str, tag: str) -> None:
    """opdev run 给出 OPDEV_CASES 时，把这个用例的数据与输出另留一份，由精度引擎逐个判断：只是硬链接，不复制。"""
    if not os.environ.get("OPDEV_CASES"):
        return
    folder = Path(os.environ["OPDEV_CASES"])
    part = folder / f".{name}"
    try:
        for kind in ("data", "output"):
            (part / kind).mkdir(parents=True)
            for path in (OP_DIR / kind / tag).glob("*"):
                os.link(path, part / kind / path.name)
        if os.geteuid() == 0:  # 容器里常是 root：目录归算子目录的主人，他才清理得了
            owner = OP_DIR.stat()
            for path in (folder, part, part / "data", part / "output"):
                os.chown(path, owner.st_uid, owner.st_gid)
        part.rename(folder / name)
    except OSError as error:
        print(f"[WARN] 没有留下 {name} 的输出：{error}", file=sys.stderr)


def shape_text(case: dict) -> str:
    """表格里的形状，如 [7, 13]。"""
    return f"[{', '.join(map(str, case['shape']))}]"


def case_table(cases: list[dict], results: dict[str, dict]) -> list[str]:
    """每个用例一行；没有结果的写 BLOCKED 与未执行。"""
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    for case in cases:
        found = results.get(case["case_id"], {})
        note = found.get("note", "") if found else "未执行"
        cells = [case["case_id"], case["category"], case["scale"], case["n_pes"], shape_text(case), case["dtype"]]
        cells += [found.get("result", "BLOCKED"), found.get("maxae", ""), found.get("maxre", ""), note]
        lines.append("| " + " | ".join(str(cell) if cell != "" else "-" for cell in cells) + " |")
    return lines


def invariant_table(invariants: list[dict], results: dict[str, dict]) -> list[str]:
    """不变量由它的用例证明；用例没跑就是未验证。"""
    lines = ["| Invariant | 验证方式 | 结果 | 说明 |", "|---|---|---|---|"]
    for item in invariants:
        verdict = results.get(item["case"], {}).get("result", "未验证")
        lines.append(f"| {item['invariant']} | {item['test_method']} | {verdict} | {item['case']} |")
    return lines


def block(number: str, body: str) -> str:
    """带指纹的一段：指纹对不上，就是有人改过。"""
    digest = hashlib.sha256(body.encode("utf-8")).hexdigest()[:12]
    return f"<!-- opdev:report {number} {digest} -->\n{body}\n<!-- /opdev:report {number} -->"


def keep_report(name: str, title: str, sections: list[tuple[str, str, list[str]]]) -> None:
    """写 docs 下的一份报告；已有标记时只换标记之间的内容，被改过的一段不动。"""
    path = OP_DIR / "docs" / name
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if "<!-- opdev:report " not in text:
        text = f"# {title}\n"
    for number, heading, lines in sections:
        body = "\n".join(lines)
        pattern = rf"<!-- opdev:report {number} ([0-9a-f]{{12}}) -->\n(.*?)\n<!-- /opdev:report {number} -->"
        found = re.search(pattern, text, re.DOTALL)
        if found is None:
            text = f"{text.rstrip()}\n\n## {number}. {heading}\n\n{block(number, body)}\n"
        elif block(number, found[2]) == found[0]:
            text = text[: found.start()] + block(number, body) + text[found.end() :]
        else:
            print(f"[WARN] docs/{name} 的“{heading}”在标记之内被改过，没有更新", file=sys.stderr)
    path.write_text(text, encoding="utf-8")


def write_reports(matrix: dict, results: dict[str, dict]) -> tuple[int, int, int]:
    """两份报告；返回通过、失败、未执行的个数。"""
    cases = matrix["cases"]
    verdicts = [results.get(case["case_id"], {}).get("result") for case in cases]
    passed, failed = verdicts.count("PASS"), verdicts.count("FAIL")
    blocked = len(cases) - passed - failed
    rate = f"{100 * passed / len(cases):.1f}%"
    backend = "CPU 模拟（backend: sim），不代表 NPU 上的结果" if SIMULATED else "NPU"
    table = [f"后端：{backend}。每个用例的日志在 data/logs/ 下。", "", *case_table(cases, results)]
    summary = ["| 项目 | 值 |", "|---|---|", f"| 总用例数 | {len(cases)} |", f"| 通过数 | {passed} |"]
    summary += [f"| 失败数 | {failed} |", f"| 通过率 | {rate} |", f"| 阻塞（未执行）数 | {blocked} |"]
    invariants = invariant_table(matrix["invariants"], results)
    keep_report("case_matrix_report.md", "@{ op }@ 用例矩阵", [("1", "结果", table)])
    sections = [("1", "汇总", summary), ("2", "用例", table), ("3", "不变量", invariants)]
    keep_report("correctness_report.md", "正确性报告：@{ op }@", sections)
    return passed, failed, blocked


def previous(fingerprint: str) -> dict[str, dict]:
    """同一份程序已有的结果。"""
    if not RECORD.is_file():
        return {}
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    return record["results"] if record["program"] == fingerprint else {}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="只跑编号里有这些词之一的用例，逗号分隔")
    parser.add_argument("--pes", type=int, help="只跑这个 PE 数的用例")
    parser.add_argument("--max-scale", choices=SCALES, default="M" if SIMULATED else "L", help="跑到哪个规模")
    parser.add_argument("--timeout", type=int, default=600, help="单个用例的秒数上限")
    args = parser.parse_args()

    fingerprint = program()
    if not fingerprint:
        print(f"[FAIL] 请先编译：没有 {BINARY}", file=sys.stderr)
        return 2
    matrix, results = load_matrix(), previous(fingerprint)
    LOGS.mkdir(parents=True, exist_ok=True)
    ran = failures = 0
    too_large = []
    for case in matrix["cases"]:
        named = any(word in case["case_id"] for word in args.only.split(","))
        if not named or args.pes not in (None, case["n_pes"]):
            continue
        if SCALES.index(case["scale"]) > SCALES.index(args.max_scale):
            too_large.append(case)
            continue
        found = results[case["case_id"]] = run(case, args.timeout)
        ran += 1
        failures += found["result"] != "PASS"
        shape = "x".join(map(str, case["shape"]))
        print(
            f"[CASE] id={case['case_id']} category={case['category']} scale={case['scale']} n_pes={case['n_pes']} "
            f"dtype={case['dtype']} shape={shape} result={found['result']} maxae={found['maxae'] or 'nan'} "
            f"maxre={found['maxre'] or 'nan'} seconds={found['seconds']} log={found['log']} backend={BACKEND}",
            flush=True,
        )
        record = {"program": fingerprint, "backend": BACKEND, "results": results}
        RECORD.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    passed, failed, blocked = write_reports(matrix, results)
    total = passed + failed + blocked
    print(f"[MATRIX] total={total} passed={passed} failed={failed} blocked={blocked} backend={BACKEND}")
    for case in too_large if args.only and not ran else []:
        limit = f"CPU 模拟默认只跑到 {args.max_scale}" if SIMULATED else f"--max-scale 是 {args.max_scale}"
        print(f"[SKIP] 没有跑 {case['case_id']}：规模 {case['scale']}，{limit}")
    if not ran:
        return 2
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
