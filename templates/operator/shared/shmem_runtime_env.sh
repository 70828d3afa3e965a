#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 只供 source：算子共用的运行环境，定义三个函数，自身不做任何事。

# 加载 CANN 与 SHMEM 的环境，再补上算子自己的库目录。
# 参数：SHMEM 仓库根目录、算子目录
setup_shmem_runtime_env() {
    local shmem_repo="$1" op_dir="$2"
    if [[ -z "${ASCEND_HOME_PATH:-}" ]]; then
        # shellcheck disable=SC1090
        source "${CANN_SET_ENV:?先 export CANN_SET_ENV=<CANN 的 set_env.sh>}"
    fi
    source "${shmem_repo}/install/set_env.sh"
    export LD_LIBRARY_PATH="${shmem_repo}/build/lib:${op_dir}/build/lib:${ASCEND_HOME_PATH}/lib64:${LD_LIBRARY_PATH:-}"
}

# 每次运行取一个新端口；调用方已经给出的不动。
setup_shmem_dynamic_endpoints() {
    export IPPORT="${IPPORT:-tcp://127.0.0.1:$((27010 + RANDOM % 900))}"
    export SHMEM_UID_SESSION_ID="${SHMEM_UID_SESSION_ID:-127.0.0.1:$((8899 + RANDOM % 900))}"
}

# 残留的 Torch 测试会占着 NPU，这里只提醒，不代替用户结束它们。
warn_shmem_stale_processes() {
    if pgrep -f 'torch_test_[a-z_]*\.py' > /dev/null; then
        echo "[WARN] 仍有 torch_test_*.py 在运行，端口和显存可能被占用" >&2
    fi
}
