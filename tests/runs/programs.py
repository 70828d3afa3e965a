"""Programs that operators of tests run as perf.sh, as their baseline and as their case matrix, and the cases of it."""

PERF = """\
IFS=, read -r -a devices <<< "$1"
n=${#devices[@]}
for repeat in 1 2 3; do
    for pe in "${devices[@]}"; do
        awk -v n="$n" -v pe="$pe" -v count="$2" -v repeat="$repeat" -v tag="TAG" -v slow="$(cat slow 2>/dev/null || echo 1)" 'BEGIN {
            payload = count * 2 * n; factor = (n - 1) / n; peak = 28 * (n - 1)
            kernel = payload / 20000 * slow * (1 + repeat / 1000); e2e = kernel * 1.02
            bus = payload / kernel / 1000 * factor
            printf "%s pe=%d e2e_us=%.6g kernel_us=%.6g algo_bandwidth_GBps=%.6g e2e_bus_bandwidth_GBps=%.6g kernel_bus_bandwidth_GBps=%.6g", tag, pe, e2e, kernel, payload / e2e / 1000, payload / e2e / 1000 * factor, bus
            if (tag == "[PERF]") printf " bandwidth_utilization_pct=%.6g peak_bandwidth_GBps=%.6g", bus / peak * 100, peak
            printf " payload_bytes=%d bus_factor=%.6g%s\\n", payload, factor, tag == "[PERF]" ? "" : " api=HcclAllGather"
        }'
    done
done
"""  # fmt: skip
SHMEM, BASELINE = PERF.replace("TAG", "[PERF]"), PERF.replace("TAG", "[BASELINE_PERF]")

CASES = [
    {"case_id": "smoke_2pe_fp16", "category": "functional", "scale": "XS", "n_pes": 2, "dtype": "float16", "shape": [64]},
    {"case_id": "medium_8pe_fp16", "category": "functional", "scale": "M", "n_pes": 8, "dtype": "float16", "shape": [1048576]},
    {"case_id": "large_8pe_fp16", "category": "performance", "scale": "L", "n_pes": 8, "dtype": "float16", "shape": [33554432]},
]  # fmt: skip
MATRIX = """\
import pathlib, sys
root = pathlib.Path(__file__).parents[1]
(root / "data/logs").mkdir(parents=True, exist_ok=True)
(root / "docs").mkdir(exist_ok=True)
print("noise before")
told = (root / "told.txt").read_text().split()
for word in told:
    case, result, error = word.split(":")
    (root / f"data/logs/{case}.log").write_text(
        f"PE 0: dtype=float16 MaxAE=1e-05 MaxRE=1e-04 MeanRE=2e-06 rtol=0.0078125 atol=0.0078125\\nPE 0: PASS (8 elements)\\n"
        f"PE 1: dtype=float16 MaxAE={error} MaxRE=0.5 MeanRE=3e-06 rtol=0.0078125 atol=0.0078125\\nPE 1: {result} (8 elements)\\n")
    print(f"[CASE] id={case} category=functional scale=XS n_pes=2 dtype=float16 shape=64 result={result} maxae={error} maxre=0.5 seconds=1 log=data/logs/{case}.log", flush=True)
report = "后端：NPU。每个用例的日志在 data/logs/ 下。\\n\\n| Case ID | category | scale | n_pes | shape | dtype | Result | MaxAE | MaxRE | 备注 |\\n|---|---|---|---|---|---|---|---|---|---|\\n"
report += "".join(f"| {w.split(':')[0]} | - | - | - | - | - | {w.split(':')[1]} | 9 | 9 | - |\\n" for w in told)
if not (root / "keep").exists():
    (root / "docs/case_matrix_report.md").write_text("# 用例矩阵\\n\\n我们的前言。\\n\\n" + report)
failed = sum(":FAIL" in w for w in told)
print(f"[MATRIX] total=3 passed={len(told) - failed} failed={failed} blocked=0")
sys.exit(int(failed > 0))
"""  # fmt: skip
TWO = "smoke_2pe_fp16:PASS:0.25 medium_8pe_fp16:PASS:0.5"
