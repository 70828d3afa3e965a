#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 采一组性能数据：perf.sh [设备列表] [@{ elements_zh }@] [dtype] [次数]
# 热身 10 次不计时，重复测 3 次。S、L 两档各跑一次（元素数不同）。HCCL 基线要在另一个 shell 里、隔 30 秒以上单独采。
set -euo pipefail

SCRIPT_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
OP_DIR="$(dirname "${SCRIPT_DIR}")"
DEVICE_LIST="${1:-0,1}"
BASE_COUNT="${2:-8388608}"
DTYPE="${3:-@{ main.name }@}"
ITERATIONS="${4:-50}"

# PE 依次用从首个设备开始的连续编号。
IFS=',' read -r -a devices <<< "${DEVICE_LIST}"
for ((index = 0; index < ${#devices[@]}; index++)); do
    if [[ "${devices[index]}" -ne "$((devices[0] + index))" ]]; then
        echo "[FAIL] 设备编号须连续：${DEVICE_LIST}" >&2
        exit 1
    fi
done
mkdir -p "${OP_DIR}/data/perf"
RUN_TAG=perf_run WARM_UP="${WARM_UP:-10}" TIMEOUT="${TIMEOUT:-600}" bash "${SCRIPT_DIR}/run.sh" \
    "${#devices[@]}" "${BASE_COUNT}" "${DTYPE}" "${devices[0]}" "${ITERATIONS}"@{ ' even' if kind == 'alltoallv' }@ 2>&1 \
    | tee "${OP_DIR}/data/perf/shmem_${BASE_COUNT}_${DTYPE}.log"
