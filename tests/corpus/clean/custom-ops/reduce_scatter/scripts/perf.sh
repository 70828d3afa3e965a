#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 采一组性能数据：perf.sh [设备列表] [每 PE 元素数] [dtype] [次数]
# HCCL 基线要在另一个 shell 里、隔 30 秒以上单独采。
set -euo pipefail

SCRIPT_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
OP_DIR="$(dirname "${SCRIPT_DIR}")"
DEVICE_LIST="${1:-0,1}"
BASE_COUNT="${2:-8388608}"
DTYPE="${3:-float16}"
ITERATIONS="${4:-50}"

IFS=',' read -r -a devices <<< "${DEVICE_LIST}"
mkdir -p "${OP_DIR}/data/perf"
TIMEOUT="${TIMEOUT:-600}" bash "${SCRIPT_DIR}/run.sh" "${#devices[@]}" "${BASE_COUNT}" "${DTYPE}" \
    "${devices[0]}" "${ITERATIONS}" 2>&1 | tee "${OP_DIR}/data/perf/shmem_${BASE_COUNT}_${DTYPE}.log"
