"""``topology`` and ``memory``: which PEs talk over which links, and where their data lies."""

from typing import Annotated, Any, Literal

from opdev.design.fields import Items, MaybeText, Section, Text, choice, said

BUFFER_TYPES = ("symmetric", "local", "signal/state", "output")
_POSITIVE: dict[str, object] = {"gt": 0}


class Topology(Section):
    """Which PEs take part, who their peers are, and the links between them."""

    group: Annotated[
        Text,
        said(
            "参与的 PE", "Group",
            "哪些 PE 参与；写 all_pes 要有依据（需求或 assumption 说明全部 PE 参与）。",
            "The PEs that take part; all_pes needs a ground in the summary or an assumption.",
            examples=["all_pes"],
        ),
    ]  # fmt: skip
    peer_model: Annotated[
        Text,
        said(
            "对端模型", "Peer model",
            "每个 PE 与谁通信：全部对端、环上邻居、树。",
            "Whom each PE talks to: everyone, its neighbours on a ring, a tree.",
        ),
    ]  # fmt: skip
    addressing: Annotated[
        Text,
        said(
            "寻址方式", "Addressing",
            "远端地址怎么来；这里用对称内存。",
            "How remote addresses are found: by the symmetric heap.",
            template="symmetric_memory", values=["symmetric_memory"],
        ),
        choice(["symmetric_memory"]),
    ]  # fmt: skip
    deployment: Annotated[
        Literal["intra_node", "inter_node"],
        said(
            "部署", "Deployment",
            "机内还是机间；要与 meta.scope 一致。",
            "Within a node or between nodes; must agree with meta.scope.",
            template="intra_node",
        ),
    ]  # fmt: skip
    intra_node_topology: Annotated[
        Literal["full-mesh", "switch", "ring"],
        said(
            "机内拓扑", "Topology within a node",
            "8 卡 910B 是 full-mesh，910C 是 switch。",
            "Eight 910B cards are a full-mesh, 910C has a switch.",
            template="full-mesh",
        ),
    ]  # fmt: skip
    intra_node_link_bandwidth_gbps: Annotated[
        float,
        said(
            "单链路带宽（GB/s）", "Bandwidth of one link (GB/s)",
            "单向、单条链路；HCCS 为 28。",
            "One link, one direction; 28 for HCCS.",
            template=28, **_POSITIVE,
        ),
    ]  # fmt: skip
    intra_node_links_per_npu: Annotated[
        int,
        said(
            "每卡链路数", "Links of one NPU",
            "8 卡全互联为 7。",
            "7 in a full mesh of eight.",
            template=7, **_POSITIVE,
        ),
    ]  # fmt: skip
    inter_node_fabric: Annotated[
        Text | None,
        said(
            "机间网络", "Fabric between nodes",
            "RoCE 或 IB；涉及机间时必填。",
            "RoCE or IB; needed once nodes talk to each other.",
            template="RoCE", values=["RoCE", "IB"],
        ),
        choice(["RoCE", "IB"], pattern=r"(?i:roce|ib)\b"),
    ] = None  # fmt: skip
    inter_node_bandwidth_gbps: Annotated[
        float | None,
        said(
            "机间带宽（Gbps）", "Bandwidth between nodes (Gbps)",
            "RoCE v2 一般为 200；涉及机间时必填。",
            "Typically 200 for RoCE v2; needed once nodes talk to each other.",
            template=200, **_POSITIVE,
        ),
    ] = None  # fmt: skip


class Buffer(Section):
    """One piece of memory the operator uses."""

    name: Annotated[Text, said("名称", "Name", "代码里的名字。", "Its name in the code.")]
    type: Annotated[
        Text,
        said(
            "类别", "Type",
            "symmetric 对称内存，local 本 PE 的 GM，signal/state 信号与状态，output 用户输出。",
            "symmetric heap, local GM of this PE, signal/state for flags, output of the user.",
            template="symmetric", values=BUFFER_TYPES,
        ),
        choice(BUFFER_TYPES, pattern=r"(?i:symmetric|local|signal|state|output)"),
    ]  # fmt: skip
    size: Annotated[
        Text,
        said(
            "大小", "Size",
            "字节数，带 sizeof() 或单位，如 n_pes * elements * sizeof(T)、64 KB。",
            "In bytes, with sizeof() or a unit: n_pes * elements * sizeof(T), 64 KB.",
            template='"shard_elems * sizeof(T)"',
        ),
    ]  # fmt: skip
    role: Annotated[
        MaybeText, said("作用", "Role", "可选的说明。", "What it is, if that needs saying.", template="")
    ] = ""


class Memory(Section):
    """Buffers, how the symmetric heap is laid out, and who writes the output."""

    buffers: Annotated[
        Items[Buffer],
        said(
            "缓冲区", "Buffers",
            "各有 name、type、size；有通信就至少有一块 symmetric。",
            "Each with name, type and size; with communication at least one is symmetric.",
            template=[], min_length=1,
        ),
    ]  # fmt: skip
    symmetric_layout: Annotated[
        Text,
        said(
            "对称内存布局", "Layout of the symmetric heap",
            "申请的顺序和大小；所有 PE 必须一致。",
            "Order and sizes of the allocations; the same on all PEs.",
        ),
    ]  # fmt: skip
    output_ownership: Annotated[
        Text,
        said(
            "输出归属", "Ownership of the output",
            "谁写哪一段输出，有没有多个来源写同一处。",
            "Who writes which part of the output, and whether several sources write the same place.",
        ),
    ]  # fmt: skip
    state: Annotated[
        Any,
        said(
            "同步状态", "State",
            "信号、计数器等跨次启动保留的资源；用信号时要写。",
            "Signals, counters and what else outlives a launch; needed with signals.",
        ),
    ] = None  # fmt: skip
