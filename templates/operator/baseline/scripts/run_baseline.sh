#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 采一组 HCCL 基线：run_baseline.sh [设备列表] [@{ elements_zh }@] [dtype] [次数]
# 与 perf.sh 分两个 shell 采，中间隔 30 秒以上。
set -euo pipefail

SCRIPT_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
OP_DIR="$(cd "${SCRIPT_DIR}/../.." && pwd)"
SHMEM_REPO="${SHMEM_REPO:-$(cd "${OP_DIR}/../.." && pwd)}"
TIMEOUT="${TIMEOUT:-120}"
@% if in_tree %@
EXEC_BIN="${SHMEM_REPO}/build/bin/@{ op }@_baseline"
@% else %@
EXEC_BIN="${OP_DIR}/build/bin/@{ op }@_baseline"
@% endif %@

DEVICE_LIST="${1:-0,1}"
BASE_COUNT="${2:-8388608}"
DTYPE="${3:-@{ main.name }@}"
ITERATIONS="${4:-50}"
for number in "${BASE_COUNT}" "${ITERATIONS}"; do
    if [[ ! "${number}" =~ ^[0-9]+$ ]]; then
        echo "[FAIL] 不是非负整数：${number}" >&2
        exit 1
    fi
done
if [[ ! -x "${EXEC_BIN}" ]]; then
    echo "[FAIL] 请先编译基线：@{ baseline_build }@" >&2
    exit 1
fi

@% if in_tree %@
source "${OP_DIR}/scripts/shmem_runtime_env.sh"
@% else %@
source "${SHMEM_REPO}/custom-ops/scripts/shmem_runtime_env.sh"
@% endif %@
setup_shmem_runtime_env "${SHMEM_REPO}" "${OP_DIR}"
export HCCL_WHITELIST_DISABLE=1

IFS=',' read -r -a devices <<< "${DEVICE_LIST}"
mkdir -p "${OP_DIR}/data/perf"
LOG="${OP_DIR}/data/perf/baseline_${BASE_COUNT}_${DTYPE}.log"
ROOT_FILE="$(mktemp -u "${OP_DIR}/data/perf/hccl_root.XXXXXX")"
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -f "${ROOT_FILE}" "${ROOT_FILE}.part"' EXIT
: > "${LOG}"
for ((pe = 0; pe < ${#devices[@]}; pe++)); do
    timeout "${TIMEOUT}" "${EXEC_BIN}" "${#devices[@]}" "${pe}" "${devices[pe]}" "${ROOT_FILE}" \
        "${BASE_COUNT}" "${DTYPE}" "${ITERATIONS}" 10 >> "${LOG}" 2>&1 &
    pids+=("$!")
done
ret=0
for pid in "${pids[@]}"; do
    wait "${pid}" || ret=1
done
cat "${LOG}"
if [[ "${ret}" -ne 0 ]]; then
    echo "[FAIL] one or more PE processes failed or timed out" >&2
    exit 1
fi
