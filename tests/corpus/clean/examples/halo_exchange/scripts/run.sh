#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# halo_exchange 示例：bash scripts/run.sh -pes 2 -rows 64 -width 1000 -fnpu 0
set -euo pipefail

EXAMPLE_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
PROJECT_ROOT="$(cd "${EXAMPLE_DIR}/../.." && pwd)"
PES=2
ROWS=64
WIDTH=1000
FIRST_NPU=0
while [[ $# -gt 0 ]]; do
    case "$1" in
        -pes) PES="$2"; shift 2 ;;
        -rows) ROWS="$2"; shift 2 ;;
        -width) WIDTH="$2"; shift 2 ;;
        -fnpu) FIRST_NPU="$2"; shift 2 ;;
        *) echo "未知选项 $1" >&2; exit 1 ;;
    esac
done
for number in "${PES}" "${ROWS}" "${WIDTH}" "${FIRST_NPU}"; do
    [[ "${number}" =~ ^[0-9]+$ ]] || { echo "不是非负整数：${number}" >&2; exit 1; }
done
BINARY="${PROJECT_ROOT}/build/bin/halo_exchange"
[[ -x "${BINARY}" ]] || { echo "请先编译：bash scripts/build.sh -examples" >&2; exit 1; }
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}"
source "${PROJECT_ROOT}/install/set_env.sh"

IPPORT="${IPPORT:-tcp://127.0.0.1:$((27010 + RANDOM % 900))}"
DATA_DIR="${EXAMPLE_DIR}/data"
rm -rf "${EXAMPLE_DIR:?}/data"
python3 "${EXAMPLE_DIR}/scripts/data_gen.py" --pes "${PES}" --rows "${ROWS}" --width "${WIDTH}" --data-dir "${DATA_DIR}"

pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true' EXIT
for ((pe = 0; pe < PES; pe++)); do
    timeout "${TIMEOUT:-120}" "${BINARY}" "${PES}" "${pe}" "${IPPORT}" "$((FIRST_NPU + pe))" \
        "${DATA_DIR}" "${ROWS}" "${WIDTH}" &
    pids+=("$!")
done
ret=0
for pid in "${pids[@]}"; do
    wait "${pid}" || ret=1
done
[[ "${ret}" -eq 0 ]] || exit 1
python3 "${EXAMPLE_DIR}/scripts/check_result.py" --data-dir "${DATA_DIR}"
