#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 跑一个用例：run.sh [PE 数] [@{ elements_zh }@] [dtype] [首个 NPU] [次数]@{ ' [even|random|sparse]' if kind == 'alltoallv' }@@{ ' [root]' if kind == 'broadcast' }@

# RUN_TAG 换一个数据与输出的子目录，两次运行可以同时进行；WARM_UP 大于 0 时另打印 [PERF]。
set -euo pipefail

SCRIPT_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
OP_DIR="$(dirname "${SCRIPT_DIR}")"
SHMEM_REPO="${SHMEM_REPO:-$(cd "${OP_DIR}/../.." && pwd)}"
PYTHON_CMD="${PYTHON_CMD:-python3}"
TIMEOUT="${TIMEOUT:-120}"
@% if in_tree %@
EXEC_BIN="${SHMEM_REPO}/build/bin/@{ op }@"
@% else %@
EXEC_BIN="${OP_DIR}/build/bin/@{ op }@"
@% endif %@

PE_SIZE="${1:-2}"
ELEMENTS="${2:-100003}"
DTYPE="${3:-@{ main.name }@}"
FIRST_NPU="${4:-0}"
ITERATIONS="${5:-1}"
@% if kind == 'alltoallv' %@
PATTERN="${6:-random}"
@% elif kind == 'broadcast' %@
ROOT="${6:-0}"
@% endif %@
WARM_UP="${WARM_UP:-0}"
RUN_TAG="${RUN_TAG:-case}"
for number in "${PE_SIZE}" "${ELEMENTS}" "${FIRST_NPU}" "${ITERATIONS}" "${WARM_UP}"@{ ' "${ROOT}"' if kind == 'broadcast' }@; do
    if [[ ! "${number}" =~ ^[0-9]+$ ]]; then
        echo "[FAIL] 不是非负整数：${number}" >&2
        exit 1
    fi
done
if [[ ! "${RUN_TAG}" =~ ^[A-Za-z0-9_-]+$ ]]; then
    echo "[FAIL] RUN_TAG 只能有字母、数字、_ 与 -：${RUN_TAG}" >&2
    exit 1
fi
@% if kind == 'broadcast' %@
if [[ "${ROOT}" -ge "${PE_SIZE}" ]]; then
    echo "[FAIL] root ${ROOT} 不在 0 到 PE 数减一之间" >&2
    exit 1
fi
@% endif %@
case "${DTYPE}" in
@% for group in tolerances %@
    @{ group.names | join('|') }@) RTOL=@{ group.rtol }@ ;;
@% endfor %@
    *) echo "[FAIL] 不支持的 dtype：${DTYPE}" >&2; exit 1 ;;
esac
if [[ ! -x "${EXEC_BIN}" ]]; then
    echo "[FAIL] 请先编译：@{ build_hint }@" >&2
    exit 1
fi

@% if in_tree %@
source "${SCRIPT_DIR}/shmem_runtime_env.sh"
@% else %@
source "${SHMEM_REPO}/custom-ops/scripts/shmem_runtime_env.sh"
@% endif %@
setup_shmem_runtime_env "${SHMEM_REPO}" "${OP_DIR}"
setup_shmem_dynamic_endpoints
warn_shmem_stale_processes

# 先删旧结果：没写出来的输出不能拿上一轮的顶替。
DATA_DIR="${OP_DIR}/data/${RUN_TAG}"
OUTPUT_DIR="${OP_DIR}/output/${RUN_TAG}"
rm -rf "${OP_DIR:?}/data/${RUN_TAG:?}" "${OP_DIR:?}/output/${RUN_TAG:?}"
mkdir -p "${DATA_DIR}" "${OUTPUT_DIR}"
"${PYTHON_CMD}" "${SCRIPT_DIR}/gen_data.py" --pes "${PE_SIZE}" --elements "${ELEMENTS}" \
    --dtype "${DTYPE}"@{ ' --pattern "${PATTERN}"' if kind == 'alltoallv' }@@{ ' --root "${ROOT}"' if kind == 'broadcast' }@ --data-dir "${DATA_DIR}"

pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true' EXIT
for ((pe = 0; pe < PE_SIZE; pe++)); do
    timeout "${TIMEOUT}" "${EXEC_BIN}" "${PE_SIZE}" "${pe}" "${IPPORT}" "$((FIRST_NPU + pe))" \
        "${DATA_DIR}" "${OUTPUT_DIR}" "${ELEMENTS}" "${DTYPE}" "${ITERATIONS}" "${WARM_UP}"@{ ' "${ROOT}"' if kind == 'broadcast' }@ &
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
    --rtol "${RTOL}" --atol "${RTOL}"
