"""A whole design without a fault, to break in tests."""

from __future__ import annotations

YAML = """\
dsl_version: "0.3"
meta:
  op_name: ring_allgather
  op_kind: collective
  build_mode: independent_project
  op_root: custom-ops/ring_allgather
  target_soc: [ascend910b1]
  scope: intra_node
  torch_required: false
  performance_required: true
  performance_auto_optim: false
  docker_container: null
  docker_workdir: ""
  docker_exec_required: false
  skills_root: /opt/shmem/.agents/skills
  shmem_repo: /opt/shmem
source:
  kind: natural_language
  summary: 每个 PE 拿到所有 PE 的数据
  user_confirmations:
    op_name: confirmed_by_user
    dtypes: [fp16, int32]
  references: []
interface:
  inputs:
    - {name: input, dtype: float16, shape: "[elements]", role: 本 PE 的数据}
  outputs:
    - name: output
      dtype: half
      shape: "[n_pes * elements]"
      visibility: replicated
  attrs:
    - {name: block_dim, type: int, default: 16}
  shape_relations: ["output[0] == n_pes * input[0]"]
semantics:
  local_compute: 无计算
  communication: 每个 PE 把数据写给其余所有 PE
  finalize: 等齐全部信号
  result: 各 PE 输入按 PE 号拼接
topology:
  group: all_pes
  peer_model: 每个 PE 与其余所有 PE
  addressing: symmetric_memory
  deployment: intra_node
  intra_node_topology: full-mesh
  intra_node_link_bandwidth_gbps: 28
  intra_node_links_per_npu: 7
memory:
  buffers:
    - {name: output, type: symmetric, size: "n_pes * elements * sizeof(T)"}
    - {name: flags, type: signal/state, size: 4 KB}
  symmetric_layout: 依次申请
  output_ownership: 各 PE 写自己的一段
schedule:
  core_partition:
    mode: B
    groups:
      - {name: all, aiv_range: "0..15", role: "core_per_rank = 16 / n_pes", data_interface: aclshmemx_mte_put_nbi}
    overlap: 并行
    sync_between_groups: signal-wait，值为递增的 magic
    rationale: core-allocation 模式 B
    cross_pe_dataplane: aclshmemx_mte_put_nbi
  tiling:
    tile: 64 KB
    chunk: 按 tile 切
    tail: 不退化为单核，最后一块按实际长度
  phases:
    - {name: 写, action: 写给对端}
  engine: MTE
  placement: A
correctness:
  oracle: file golden
  tolerance:
    rtol: 0
    atol: 0
  invariants:
    - {invariant: 不越界, test_method: file golden, case: all cases}
  case_matrix:
    - {case: smoke, shape: "[1024]", category: functional, n_pes: 2}
    - {case: big, shape: "[16M]", category: stress, n_pes: 8}
performance:
  metric: [e2e_latency_us, kernel_latency_us, algo_bandwidth_GBps, e2e_bus_bandwidth_GBps, kernel_bus_bandwidth_GBps]
  baseline: HcclAllGather
  baseline_search: 查过 HCCL 与 aclnn
  baseline_target: current >= 80% baseline
  target_cases: [big]
  min_scale: 256 MB
  profiling_method: msprof
  max_opt_rounds: 5
"""
