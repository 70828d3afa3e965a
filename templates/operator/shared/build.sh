#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 唯一的编译入口：bash custom-ops/scripts/build.sh <算子名> [cmake 选项…]
set -euo pipefail

OP_NAME="${1:?用法：build.sh <算子名> [cmake 选项…]}"
shift
OPS_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
SHMEM_REPO="${SHMEM_REPO:-$(dirname "${OPS_DIR}")}"
OP_DIR="${OPS_DIR}/${OP_NAME}"

if [[ ! -f "${OP_DIR}/CMakeLists.txt" ]]; then
    echo "[FAIL] 没有算子 ${OP_NAME}：${OP_DIR} 下缺 CMakeLists.txt" >&2
    exit 1
fi
source "${OPS_DIR}/scripts/shmem_runtime_env.sh"
setup_shmem_runtime_env "${SHMEM_REPO}" "${OP_DIR}"

cmake -S "${OP_DIR}" -B "${OP_DIR}/build" -DSHMEM_REPO="${SHMEM_REPO}" "$@"
cmake --build "${OP_DIR}/build" -j "${JOBS:-8}"
