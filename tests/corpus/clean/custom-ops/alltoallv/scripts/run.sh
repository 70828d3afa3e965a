#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 跑一个用例：run.sh [PE 数] [每 PE 容量] [dtype] [首个 NPU] [次数] [even|random|sparse]
set -euo pipefail

SCRIPT_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
OP_DIR="$(dirname "${SCRIPT_DIR}")"
SHMEM_REPO="${SHMEM_REPO:-$(cd "${OP_DIR}/../.." && pwd)}"
PYTHON_CMD="${PYTHON_CMD:-python3}"
TIMEOUT="${TIMEOUT:-120}"
EXEC_BIN="${OP_DIR}/build/bin/alltoallv"

PE_SIZE="${1:-2}"
CAPACITY="${2:-100003}"
DTYPE="${3:-float16}"
FIRST_NPU="${4:-0}"
ITERATIONS="${5:-1}"
PATTERN="${6:-random}"
for number in "${PE_SIZE}" "${CAPACITY}" "${FIRST_NPU}" "${ITERATIONS}"; do
    if [[ ! "${number}" =~ ^[0-9]+$ ]]; then
        echo "[FAIL] 不是非负整数：${number}" >&2
        exit 1
    fi
done
case "${DTYPE}" in
    float16) ELEM_BYTES=2 ;;
    float32|int32) ELEM_BYTES=4 ;;
    *) echo "[FAIL] 不支持的 dtype：${DTYPE}" >&2; exit 1 ;;
esac
if [[ ! -x "${EXEC_BIN}" ]]; then
    echo "[FAIL] 请先编译：bash ${SHMEM_REPO}/custom-ops/scripts/build.sh alltoallv" >&2
    exit 1
fi

source "${SHMEM_REPO}/custom-ops/scripts/shmem_runtime_env.sh"
setup_shmem_runtime_env "${SHMEM_REPO}" "${OP_DIR}"
setup_shmem_dynamic_endpoints
warn_shmem_stale_processes

# 先删旧结果：没写出来的输出不能拿上一轮的顶替。
DATA_DIR="${OP_DIR}/data/case"
OUTPUT_DIR="${OP_DIR}/output"
rm -rf "${OP_DIR:?}/data/case" "${OP_DIR:?}/output"
mkdir -p "${DATA_DIR}" "${OUTPUT_DIR}"
"${PYTHON_CMD}" "${SCRIPT_DIR}/gen_data.py" --pes "${PE_SIZE}" --elements "${CAPACITY}" \
    --dtype "${DTYPE}" --pattern "${PATTERN}" --data-dir "${DATA_DIR}"

pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true' EXIT
for ((pe = 0; pe < PE_SIZE; pe++)); do
    timeout "${TIMEOUT}" "${EXEC_BIN}" "${PE_SIZE}" "${pe}" "${IPPORT}" "$((FIRST_NPU + pe))" \
        "${DATA_DIR}" "${OUTPUT_DIR}" "${CAPACITY}" "${ELEM_BYTES}" "${ITERATIONS}" &
    pids+=("$!")
done
ret=0
for pid in "${pids[@]}"; do
    wait "${pid}" || ret=1
done
if [[ "${ret}" -ne 0 ]]; then
    echo "[FAIL] one or more PE processes failed or timed out" >&2
    exit 1
fi

"${PYTHON_CMD}" "${SCRIPT_DIR}/check_result.py" --data-dir "${DATA_DIR}" --output-dir "${OUTPUT_DIR}" \
    --rtol 0 --atol 0
