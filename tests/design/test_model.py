"""Every kind of problem, with its path and its place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import opdev.design
from opdev.design.model import load, problems_of, snake, validate
from opdev.design.problems import CODES, generic, nearest


def found(doc):
    problems = validate(doc)
    for problem in problems:
        assert set(problem.args) <= set(CODES[problem.code]), problem
    return [(p.code, p.path, doc.source.text(p.start, p.end)) for p in problems]


def test_a_whole_design_has_no_problem(full):
    doc = full()

    assert found(doc) == []
    assert load(doc).meta.op_name == "ring_allgather"
    assert load(doc).schedule.core_partition.groups[0].name == "all"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("  op_kind: collective\n", "", ("missing-key", "meta.op_kind", "meta")),
        ("  oracle: file golden\n", "", ("missing-key", "correctness.oracle", "correctness")),
        (", role: 本 PE 的数据}", "}", ("missing-key", "interface.inputs[0].role", "name")),
        ("      visibility: replicated\n", "", ("missing-key", "interface.outputs[0].visibility", "name")),
        ("op_kind: collective", "op_kind: colective", ("wrong-enum", "meta.op_kind", "colective")),
        ("full-mesh", "fullmesh", ("wrong-enum", "topology.intra_node_topology", "fullmesh")),
        ("mode: B", "mode: D", ("wrong-enum", "schedule.core_partition.mode", "D")),
        ("dtype: half", "dtype: fp17", ("wrong-enum", "interface.outputs[0].dtype", "fp17")),
        ("test_method: file golden", "test_method: by eye", ("wrong-enum", "correctness.invariants[0].test_method", "by eye")),
        ("torch_required: false", "torch_required: maybe", ("wrong-type", "meta.torch_required", "maybe")),
        ("torch_required: false", "torch_required: 0", ("wrong-type", "meta.torch_required", "0")),
        ("torch_required: false", "torch_required:", ("empty-value", "meta.torch_required", "torch_required")),
        ("tile: 64 KB", "tile: {a: 1}", ("wrong-type", "schedule.tiling.tile", "{a: 1}")),
        ("  summary: 每个 PE 拿到所有 PE 的数据", "  summary: ''", ("empty-value", "source.summary", "''")),
        ("dtypes: [fp16, int32]", "dtypes: []", ("empty-value", "source.user_confirmations.dtypes", "[]")),
        ("profiling_method: msprof", "profiling_method: replace_me", ("placeholder", "performance.profiling_method", "replace_me")),
        ("mode: B", "mode: replace_me", ("placeholder", "schedule.core_partition.mode", "replace_me")),
        ("  oracle:", "  oracel:", ("unknown-key", "correctness.oracel", "oracel")),
        ("action: 写给对端}", "action: 写给对端, input: x}", ("unknown-key", "schedule.phases[0].input", "input")),
        ("op_name: ring_allgather", "op_name: RingAllGather", ("wrong-pattern", "meta.op_name", "RingAllGather")),
        ("max_opt_rounds: 5", "max_opt_rounds: 6", ("out-of-range", "performance.max_opt_rounds", "6")),
        ("max_opt_rounds: 5", "max_opt_rounds: '5'", ("wrong-type", "performance.max_opt_rounds", "'5'")),
        ("rtol: 0", "rtol: small", ("wrong-number", "correctness.tolerance.rtol", "small")),
        ("rtol: 0", "rtol: {fp16: x}", ("wrong-number", "correctness.tolerance.rtol.fp16", "x")),
        ('dsl_version: "0.3"', 'dsl_version: "0.2"', ("wrong-enum", "dsl_version", '"0.2"')),
        ('dsl_version: "0.3"', "dsl_version: 0.3", ("unquoted-version", "dsl_version", "0.3")),
        ("  op_kind: collective\n", "  op_kind: collective\n  op_kind: collective\n", ("duplicate-key", "", "op_kind")),
    ],
)  # fmt: skip
def test_one_field_one_problem(full, old, new, problem):
    problems = found(full((old, new)))

    assert problem in problems
    # A wrong name makes the old key missing; nothing else follows.
    assert all(p == problem or p[0] in ("missing-key", "op-root-mismatch") for p in problems), problems


@pytest.mark.parametrize(
    ("swaps", "problem"),
    [
        ([("op_root: custom-ops/", "op_root: examples/")], ("op-root-mismatch", "meta.op_root", "examples/ring_allgather")),
        ([("performance_required: true", "performance_required: false"), ("auto_optim: false", "auto_optim: true")], ("auto-optim-without-performance", "meta.performance_auto_optim", "true")),
        ([("docker_container: null", "docker_container: npu"), ('docker_workdir: ""', "docker_workdir: /w")], ("docker-exec-mismatch", "meta.docker_exec_required", "false")),
        ([("docker_container: null", "docker_container: npu"), ("docker_exec_required: false", "docker_exec_required: true")], ("docker-workdir-missing", "meta.docker_workdir", '""')),
        ([("docker_exec_required: false", "docker_exec_required: true")], ("docker-exec-mismatch", "meta.docker_exec_required", "true")),
        ([("shmem_repo: /opt/shmem", "shmem_repo: ../shmem")], ("relative-path", "meta.shmem_repo", "../shmem")),
        ([("max_opt_rounds: 5", "max_opt_rounds: 5\ncompile: {cann_set_env: /usr/env.sh}")], ("not-set-env", "compile.cann_set_env", "/usr/env.sh")),
        ([("max_opt_rounds: 5", "max_opt_rounds: 5\ncompile: {build_mode: in_tree_example}")], ("build-mode-mismatch", "compile.build_mode", "in_tree_example")),
        ([("kind: natural_language", "kind: user_pseudocode")], ("references-missing", "source.references", "[]")),
        ([("deployment: intra_node", "deployment: inter_node\n  inter_node_fabric: roce\n  inter_node_bandwidth_gbps: 200")], ("scope-deployment-mismatch", "topology.deployment", "inter_node")),
        ([("scope: intra_node", "scope: both")], ("inter-node-missing", "topology.inter_node_fabric", "topology")),
        ([("dtype: half", "dtype: bf16")], ("dtype-not-confirmed", "interface.outputs[0].dtype", "bf16")),
        ([('  shape_relations: ["output[0] == n_pes * input[0]"]\n', "")], ("relations-missing", "interface.shape_relations", "interface")),
        ([("op_kind: collective", "op_kind: transport")], ("kind-contradicts", "meta.op_kind", "transport")),
        ([("{name: output, type: symmetric", "{name: output, type: local")], ("no-symmetric-buffer", "memory.buffers", "buffers")),
        ([("cross_pe_dataplane: aclshmemx_mte_put_nbi", "cross_pe_dataplane: HcclSend")], ("dataplane-not-shmem", "schedule.core_partition.cross_pe_dataplane", "HcclSend")),
        ([("    - {name: flags, type: signal/state, size: 4 KB}\n", "")], ("signal-without-buffer", "schedule.core_partition.sync_between_groups", "signal-wait，值为递增的 magic")),
        ([("size: 4 KB", "size: n_pes * 16")], ("size-without-unit", "memory.buffers[1].size", "n_pes * 16")),
        ([("communication: 每个 PE 把数据写给其余所有 PE", "communication: 每个 PE 用 16 个 AIV 写")], ("schedule-in-semantics", "semantics.communication", "每个 PE 用 16 个 AIV 写")),
        ([("finalize: 等齐全部信号", "finalize: wait for all")], ("not-chinese", "semantics.finalize", "wait for all")),
        ([("result: 各 PE 输入按 PE 号拼接", "result: 输出是输入之和")], ("accumulation-unnamed", "semantics.local_compute", "无计算")),
        ([("overlap: 并行", "overlap: 后续优化再并行")], ("partition-avoided", "schedule.core_partition.overlap", "后续优化再并行")),
        ([('role: "core_per_rank = 16 / n_pes"', "role: 搬数据")], ("role-vague", "schedule.core_partition.groups[0].role", "搬数据")),
        ([("0..15", "[0, 8)"), ("    overlap: 并行", '      - {name: b, aiv_range: "7..15", role: "len = n / 8", data_interface: x}\n    overlap: 并行')], ("aiv-overlap", "schedule.core_partition.groups[1].aiv_range", '"7..15"')),
        ([("0..15", "[0, aiv_num/2)"), ("    overlap: 并行", '      - {name: b, aiv_range: "[10, aiv_num)", role: "len = n / 8", data_interface: x}\n    overlap: 并行')], ("aiv-hole", "schedule.core_partition.groups[1].aiv_range", '"[10, aiv_num)"')),
        ([("default: 16", "default: 64")], ("too-many-cores", "interface.attrs[0].default", "64")),
        ([("default: 16", "default: 1")], ("single-core", "interface.attrs[0].default", "1")),
        ([("default: 16", "default: 12")], ("cores-not-divisible", "interface.attrs[0].default", "12")),
        ([("default: 16", "default: 48"), ("0..15", "0..47"), ("data_interface: aclshmemx_mte_put_nbi", "data_interface: aclshmemx_sdma_put_nbi")], ("sdma-lanes", "interface.attrs[0].default", "48")),
        ([("tail: 不退化为单核，最后一块按实际长度", "tail: 最后一块由单核处理")], ("single-core-tail", "schedule.tiling.tail", "最后一块由单核处理")),
        ([("chunk: 按 tile 切", "chunk: 小数据一次搬完")], ("size-split", "schedule.tiling.chunk", "小数据一次搬完")),
        ([("  placement: A\n", "")], ("engine-unstated", "schedule", "schedule")),
        ([("engine: MTE", "engine: RDMA")], ("rdma-placement", "schedule.placement", "A")),
        ([("action: 写给对端", "action: 用 Host put 写")], ("host-rma", "schedule.phases[0].action", "用 Host put 写")),
        ([("rationale: core-allocation 模式 B", "rationale: 这样快")], ("rationale-unsourced", "schedule.core_partition.rationale", "这样快")),
        ([("rtol: 0", "rtol: 1e-3")], ("tolerance-not-zero", "correctness.tolerance.rtol", "1e-3")),
        ([("atol: 0", "atol: {fp16: 2^-10}")], ("tolerance-not-zero", "correctness.tolerance.atol.fp16", "2^-10")),
        ([("category: stress", "category: functional")], ("category-missing", "correctness.case_matrix", "case_matrix")),
        ([("[16M]", "[1M]"), ("min_scale: 256 MB", "min_scale: 64 MB")], ("no-medium-case", "correctness.case_matrix", "case_matrix")),
        ([("min_scale: 256 MB", "min_scale: 64 MB")], ("min-scale-low", "performance.min_scale", "64 MB")),
        ([(", kernel_bus_bandwidth_GBps]", "]")], ("metric-missing", "performance.metric", "[e2e_latency_us, kernel_latency_us, algo_bandwidth_GBps, e2e_bus_bandwidth_GBps]")),
        ([("baseline: HcclAllGather", "baseline: none")], ("baseline-none", "performance.baseline", "none")),
        ([("baseline: HcclAllGather", "baseline: metric_only")], ("hccl-overlooked", "performance.baseline", "metric_only")),
        ([("baseline: HcclAllGather", "baseline: metric_only"), ("查过 HCCL 与 aclnn", "查过 HcclAllGather")], ("search-thin", "performance.baseline_search", "查过 HcclAllGather")),
        ([("current >= 80% baseline", "current >= 60% baseline")], ("target-low", "performance.baseline_target", "current >= 60% baseline")),
        ([("current >= 80% baseline", "metric_only")], ("target-without-number", "performance.baseline_target", "metric_only")),
        ([("target_cases: [big]", "target_cases: []")], ("target-cases-missing", "performance.target_cases", "target_cases")),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)  # fmt: skip
def test_fields_must_agree(full, swaps, problem):
    assert problem in found(full(*swaps))


def test_the_whole_tolerance_table_is_judged(full):
    reduce = [
        ("op_name: ring_allgather", "op_name: ring_allreduce"),
        ("op_root: custom-ops/ring_allgather", "op_root: custom-ops/ring_allreduce"),
        ("无计算", "SetAtomicAdd 累加"),
    ]
    right = full(
        *reduce, ("rtol: 0", "rtol: {fp16: 2^-8, int32: 0}"), ("atol: 0", "atol: {fp16: 0.00390625, int32: 0}")
    )
    loose = full(
        *reduce, ("rtol: 0", "rtol: {fp16: 1e-2, int32: 1e-3}"), ("atol: 0", "atol: {fp16: 0.01, int32: 0.002}")
    )
    one = full(*reduce, ("rtol: 0", "rtol: 2^-8"), ("atol: 0", "atol: 2^-8"))

    assert found(right) == []
    assert {(p.code, p.path.rsplit(".", 1)[-1]) for p in validate(loose)} == {
        ("tolerance-loose", "fp16"), ("tolerance-not-zero", "int32"), ("tolerance-unequal", "int32"),
    }  # fmt: skip
    assert {p.code for p in validate(one)} == {"tolerance-for-all"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("op_root: custom-ops/ring_allgather", "op_root: custom-ops/ring_allgather/"),
        ("mode: B", "mode: A+B"),
        ("mode: B", "mode: B（按 PE 分组）"),
        ("torch_required: false", "torch_required: no"),
        ("cross_pe_dataplane: aclshmemx_mte_put_nbi", "cross_pe_dataplane: [aclshmemx_mte_put_nbi, aclshmem_quiet]"),
        ("tile: 64 KB", "tile: 65536"),
        ("dtype: half", "dtype: T"),
        ("dtype: half", "dtype: fp16 / int32"),
        ("test_method: file golden", "test_method: file golden，逐字节"),
        ("rtol: 0", "rtol: 0.0"),
        ("  references: []\n", ""),
        ("  references: []", "  references:\n    []\n    # - 文档"),
        ("shmem_repo: /opt/shmem", "shmem_repo: pending"),
        ("shmem_repo: /opt/shmem", "shmem_repo: ${SHMEM_REPO}"),
        ("baseline: HcclAllGather", "baseline: metric_only # 无\n  # x"),
        ("max_opt_rounds: 5", "max_opt_rounds: 5\ncompile:\n  cann_set_env: /usr/local/Ascend/set_env.sh\n  cann_source_mode: user_custom"),
        ("op_name: confirmed_by_user", "op_name: phase0_intake\n    build_mode: independent_project"),
    ],
)  # fmt: skip
def test_other_spellings_are_fine(full, old, new):
    assert [p for p in found(full((old, new))) if p[0] != "hccl-overlooked"] == []


def test_messages_have_what_they_need(full):
    (wrong,) = validate(
        full(("op_kind: collective", "op_kind: Fused-Compute-Comm"), ("mode: B", "mode: CoC"), ("无计算", "矩阵乘"))
    )
    (unknown, lost) = validate(full(("  oracle:", "  oracel:")))

    assert wrong.args["nearest"] == "fused_compute_comm"
    assert wrong.args["allowed"] == "transport, collective, compute, fused_compute_comm"
    assert {unknown.code: unknown, lost.code: lost}["unknown-key"].args["nearest"] == "oracle"
    assert {unknown.code: unknown, lost.code: lost}["missing-key"].args["zh"] == "基准"
    assert wrong.under("meta.op_kind", "topology")
    assert not wrong.under("meta.op")


def test_an_order_other_than_the_dsls_is_said(full):
    doc = full(
        ("  engine: MTE\n  placement: A\n", ""),
        ("  tiling:\n    tile: 64 KB\n    chunk: 按 tile 切\n    tail: 不退化为单核，最后一块按实际长度\n", ""),
        (
            "    - {name: 写, action: 写给对端}\n",
            "    - {name: 写, action: 写给对端}\n  tiling: {tile: 1, chunk: 2, tail: 3}\n  engine: MTE\n  placement: A\n",
        ),
    )

    assert found(doc) == [("key-order", "schedule.tiling", "tiling")]


def test_a_swallowed_key_is_not_called_missing(full):
    doc = full(("  op_kind: collective\n", "  op_kind: [collective\n"))
    deeper = full(("  op_kind: collective\n", "    op_kind: collective\n"))

    assert [p[0] for p in found(doc)] == ["yaml"]
    assert {p[0] for p in found(deeper)} == {"yaml"}


def test_a_section_that_is_missing_is_one_problem(full, document):
    text = full().data.decode()
    start, stop = text.index("correctness:"), text.index("performance:\n")

    assert found(document(text[:start] + text[stop:])) == [("missing-key", "correctness", "```yaml")]


def test_documents_without_a_dsl(document):
    assert found(document("# SHMEM\n\n## 2. Canonical DSL\n\n无\n")) == [("no-dsl", "", "## 2. Canonical DSL")]
    assert found(document("")) == [("no-dsl", "", "")]
    listed = document("## 2. Canonical DSL\n```yaml\n- a\n```\n")
    assert found(listed) == [("not-a-mapping", "", "```yaml")]


def test_the_default_soc_needs_its_row(full):
    soc = ("target_soc: [ascend910b1]", "target_soc: [ascend910b]")

    assert found(full(soc, before="## 1. 接口\n\n所有 PE\n\n## 2. Canonical DSL\n\n"))[0][0] == "soc-not-assumed"
    assert found(full(soc, before="## 1. 接口\n\n所有 PE，SoC 取 910B\n\n## 2. Canonical DSL\n\n")) == []


def test_the_intake_record_is_compared(full):
    record = "```yaml\nphase0_intake:\n  op_name: other\n  torch_required: false\n  docker_container: null\n  shmem_repo: pending\n```\n\n"
    doc = full(before=record + "## 2. Canonical DSL\n\n")

    assert found(doc) == [("intake-mismatch", "meta.op_name", "ring_allgather")]


def test_problems_are_found_once_a_file(full):
    doc = full()

    assert problems_of(doc.file) is problems_of(doc.file)


@pytest.mark.parametrize(
    ("text", "name"),
    [("AllGather v2", "all_gather_v2"), ("2d-reduce", "d_reduce"), ("归约", None), ("ReduceScatter", "reduce_scatter")],
)
def test_snake(text, name):
    assert snake(text) == name


def test_small_helpers():
    assert nearest("owner-only", ["replicated", "owner_only"]) == "owner_only"
    assert nearest("zzz", ["replicated"]) is None
    assert generic("a.b[12].c") == "a.b[].c"


def test_pydantic_is_not_loaded_to_read_a_document():
    code = (
        "import sys, opdev.design.document, opdev.design.derived, opdev.design.problems, opdev.design.changes;"
        "sys.exit('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_code_is_listed_and_used():
    sources = "".join(
        p.read_text(encoding="utf-8")
        for p in Path(opdev.design.__file__).parent.glob("*.py")
        if p.name not in ("problems.py", "__init__.py")
    )

    assert {code for code in CODES if f'"{code}"' not in sources} == set()
    # The package's docstring leads a rule's author to each.
    assert [c for c in CODES if c not in opdev.design.__doc__ and not c.startswith(("docker-", "tolerance-"))] == []
