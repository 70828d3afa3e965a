"""The formulas behind a design's fields, for hover: how cores share the work, what is precise enough, what counts.

Written down once in both languages, by the path of the field they belong to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from opdev.design.derived import COMPUTE_TIMES, SDMA_CHANNELS, expected_tolerance
from opdev.design.scale import power

Both = Mapping[str, str]

MODES: dict[str, Both] = {
    "A": {
        "zh": "全部 AIV 分一块数据：`len = total / aiv_num`，`offset = aiv_idx * len`；最后一个核取 `total − len * aiv_idx`。",
        "en": "All AIVs share one block: `len = total / aiv_num`, `offset = aiv_idx * len`; the last takes `total − len * aiv_idx`.",
    },
    "B": {
        "zh": "按 PE 分组：`core_per_rank = aiv_num / n_pes`，`pe_idx = aiv_idx / core_per_rank`，`chunk_idx = aiv_idx % core_per_rank`，"
        "`len = elems_per_pe / core_per_rank`；每组最后一块取余下的。",
        "en": "Cores grouped by PE: `core_per_rank = aiv_num / n_pes`, `pe_idx = aiv_idx / core_per_rank`, "
        "`chunk_idx = aiv_idx % core_per_rank`, `len = elems_per_pe / core_per_rank`; the last chunk takes the rest.",
    },
    "C1": {
        "zh": "收发各半：`group = aiv_num / 2`；`[0, group)` 按模式 A 发送，`[group, aiv_num)` 按模式 B 接收，`core_per_rank = group / n_pes`。",
        "en": "Half send, half receive: `group = aiv_num / 2`; `[0, group)` sends as in A, `[group, aiv_num)` receives as in B "
        "with `core_per_rank = group / n_pes`.",
    },
    "C2": {
        "zh": "按数据维度（如 K、V）：`cores_per_dim = aiv_num / n_dims`，`dim = aiv_idx / cores_per_dim`，`local = aiv_idx % cores_per_dim`。",
        "en": "By a dimension of the data (K, V): `cores_per_dim = aiv_num / n_dims`, `dim = aiv_idx / cores_per_dim`, "
        "`local = aiv_idx % cores_per_dim`.",
    },
    "C3": {
        "zh": "按引擎：`rdma_cores = ceil(rdma_bytes / total_bytes * aiv_num)`，其余核走机内通路。",
        "en": "By engine: `rdma_cores = ceil(rdma_bytes / total_bytes * aiv_num)`; the others work within the node.",
    },
    "CoC": {
        "zh": "AIC 与 AIV 两级流水：`WORKSPACE_STAGES = 2`，`stage = idx % 2`；AIV 置标志之前先做一次 barrier。",
        "en": "A two-stage pipeline of AIC and AIV: `WORKSPACE_STAGES = 2`, `stage = idx % 2`; a barrier stands before the AIV's flag.",
    },
}  # fmt: skip
_EVEN: Both = {
    "zh": "均匀切分：`base = total / n`，`extra = total % n`；`len = base + (idx < extra)`，`offset = idx * base + min(idx, extra)`。没有哪个核独自承担余数。",
    "en": "Even split: `base = total / n`, `extra = total % n`; `len = base + (idx < extra)`, `offset = idx * base + min(idx, extra)`. "
    "No core carries the remainder alone.",
}  # fmt: skip
_SDMA: Both = {
    "zh": f"SDMA 按字节切分：通道数 `aiv_num * sub_block_num`，至多 {SDMA_CHANNELS}；前 extra 个通道多一个字节。",
    "en": f"SDMA splits by bytes: `aiv_num * sub_block_num` channels, {SDMA_CHANNELS} at most; the first `extra` get one byte more.",
}
_SYNC: Both = {
    "zh": "标志地址：`base + (rank * aiv_num + aiv_idx) * 16` 个 int32，申请 `4 * n_pes * aiv_num * 16` 字节。轮次：值取 `(magic + iter) * 1024`，比较高位，旧一轮的信号就不会放行新一轮。",
    "en": "Flag address: `base + (rank * aiv_num + aiv_idx) * 16` in int32, `4 * n_pes * aiv_num * 16` bytes in all. "
    "Rounds: write `(magic + iter) * 1024` and compare the high part, so that a signal of the last round never lets this one pass.",
}  # fmt: skip
_ALIGN: Both = {
    "zh": "对齐：MTE 32 B，SDMA 512 B，Cube 的 tile 为 16 的倍数。",
    "en": "Alignment: MTE 32 B, SDMA 512 B, tiles of the Cube multiples of 16.",
}
_BUS: Both = {
    "zh": "`algo = 字节数 / 时间`，`bus = algo × factor`。factor：all-reduce 为 `2(n−1)/n`；all-gather、reduce-scatter、all-to-all、dispatch 为 `(n−1)/n`；broadcast、p2p、reduce、scatter、gather 为 1。",
    "en": "`algo = bytes / time`, `bus = algo × factor`. Factor: `2(n−1)/n` for all-reduce; `(n−1)/n` for all-gather, reduce-scatter, "
    "all-to-all and dispatch; 1 for broadcast, p2p, reduce, scatter and gather.",
}  # fmt: skip
_PEAK: Both = {
    "zh": "峰值（单 PE、单向）：集合通信为 `链路数 × 单链路带宽`，点对点为一条链路。8 卡全互联：7 × 28 = 196 GB/s。",
    "en": "Peak of one PE, one way: `links × bandwidth of one link` for a collective, one link point to point. "
    "Eight cards in a full mesh: 7 × 28 = 196 GB/s.",
}  # fmt: skip
_TIERS: Both = {
    "zh": "规模按每个 PE 的字节：XS < 64 KB ≤ S < 1 MB ≤ M < 64 MB ≤ L；总量 = 每 PE 字节 × n_pes，至少一个用例达到 256 MB。",
    "en": "Scale by bytes on each PE: XS < 64 KB ≤ S < 1 MB ≤ M < 64 MB ≤ L; total = bytes per PE × n_pes, and one case reaches 256 MB.",
}


def _tolerance_table(lang: str) -> str:
    dtypes = ("float16", "bfloat16", "float32")
    zh = lang == "zh"
    head = ("类别", "") if zh else ("class", "")
    rows = [f"| {head[0]} | " + " | ".join(dtypes) + " |", "|---" * (len(dtypes) + 1) + "|"]
    move = "搬运、整数" if zh else "moving, integers"
    rows.append(f"| {move} | 0 | 0 | 0 |")
    for many, said in ((False, "<"), (True, "≥")):
        times = COMPUTE_TIMES if many else COMPUTE_TIMES - 1
        values = [expected_tolerance("compute", d, "", times) for d in dtypes]
        name = (
            f"浮点计算，累加 {said} {COMPUTE_TIMES} 次"
            if zh
            else f"floating point, {said} {COMPUTE_TIMES} accumulations"
        )
        rows.append(f"| {name} | " + " | ".join(power(v or 0) for v in values) + " |")
    rows.append("")
    rows.append(
        "累加次数 = PE 数 × 每个 PE 上累加的元素数；rtol 与 atol 相等。"
        if zh
        else "Accumulations = PEs × elements accumulated on each; rtol and atol are equal."
    )
    return "\n".join(rows)


_TABLE: Both = {lang: _tolerance_table(lang) for lang in ("zh", "en")}

_OF: tuple[tuple[str, tuple[Both, ...]], ...] = (
    (r"schedule\.core_partition\.groups", (_EVEN, _SDMA)),
    (r"schedule\.core_partition\.sync_between_groups|memory\.state", (_SYNC,)),
    (r"schedule\.tiling", (_ALIGN, _EVEN)),
    (r"correctness\.tolerance", (_TABLE,)),
    (r"correctness\.case_matrix|performance\.(?:target_cases|min_scale)", (_TIERS,)),
    (r"performance\.(?:metric|baseline_target)", (_BUS, _PEAK)),
    (r"topology\.intra_node_link", (_PEAK,)),
)


def formula(path: str, lang: str, value: str = "") -> str:
    """The formulas of the field at ``path``, in Markdown; those of the modes that ``value`` names for the mode."""
    if path == "schedule.core_partition.mode":
        named = [m for m in MODES if re.search(rf"(?<![A-Za-z]){m}(?![A-Za-z0-9])", value)]
        return "\n".join(f"- **{m}** {MODES[m][lang]}" for m in named or MODES)
    for pattern, texts in _OF:
        if re.match(pattern, path):
            return "\n\n".join(text[lang] for text in texts)
    return ""
