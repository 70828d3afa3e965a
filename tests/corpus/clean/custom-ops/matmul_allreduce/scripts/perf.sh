#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 用 msprof 采 PE 0 的流水：perf.sh [PE 数] [m] [n] [k]，其余 PE 照常运行。
set -euo pipefail

SCRIPT_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
OP_DIR="$(dirname "${SCRIPT_DIR}")"
PROF_DIR="${OP_DIR}/data/perf/msprof"

if ! command -v msprof > /dev/null; then
    echo "[FAIL] 找不到 msprof：先加载 CANN 环境" >&2
    exit 1
fi
mkdir -p "${PROF_DIR}"
TIMEOUT="${TIMEOUT:-600}" PROFILE_DIR="${PROF_DIR}" bash "${SCRIPT_DIR}/run.sh" "$@"
