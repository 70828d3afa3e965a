"""``schedule``: how the cores share the work, the tiles, and the phases, in this order."""

from typing import Annotated

from opdev.design.fields import Items, MaybeText, Section, Text, choice, said

MODES = ("A", "B", "C1", "C2", "C3", "CoC")
# Combined (A+B, "A then B"), explained (A（全员协作）), and the B1…B3 one checklist has.
_MODE = r"(?:模式\s*)?(?:A|B[123]?|C[123]|CoC)(?![A-Za-z0-9_])"


class Group(Section):
    """Cores with one job."""

    name: Annotated[Text, said("名称", "Name", "组名，如 send、recv。", "The group's name, like send or recv.")]
    aiv_range: Annotated[
        Text,
        said(
            "AIV 范围", "Range of AIVs",
            '如 "0..15" 或 "[0, aiv_num/2)"；各组不重叠、不留空。',
            'Like "0..15" or "[0, aiv_num/2)"; groups neither overlap nor leave holes.',
            template='"[0, aiv_num)"',
        ),
    ]  # fmt: skip
    role: Annotated[
        Text,
        said(
            "职责", "Role",
            "数据范围的公式（含尾块）、与 PE 的对应、本端与远端的路径。",
            "The formula of its data range with the tail, how it maps to PEs, and the local and remote path.",
        ),
    ]  # fmt: skip
    data_interface: Annotated[
        Text,
        said(
            "数据接口", "Data interface",
            "这一组用的搬运接口，如 aclshmemx_mte_put_nbi。",
            "The transfer call of the group, like aclshmemx_mte_put_nbi.",
            template="aclshmemx_mte_put_nbi",
        ),
    ]  # fmt: skip


class CorePartition(Section):
    """How the AIVs (and AICs) share the work."""

    mode: Annotated[
        Text,
        said(
            "分核模式", "Mode",
            "A 全员分一块数据，B 按 PE 分组，C1 收发对半，C2 按数据维度，C3 按引擎，CoC 通算流水；可组合，如 A+B。",
            "A: all cores share one block; B: grouped by PE; C1: half send, half receive; C2: by a dimension of the data; "
            "C3: by engine; CoC: AIC/AIV pipeline. May be combined, like A+B.",
            values=MODES,
        ),
        choice(MODES, pattern=_MODE),
    ]  # fmt: skip
    groups: Annotated[
        Items[Group],
        said(
            "分组", "Groups",
            "至少一组；各有 name、aiv_range、role、data_interface。",
            "At least one, each with name, aiv_range, role and data_interface.",
            template=[], min_length=1,
        ),
    ]  # fmt: skip
    overlap: Annotated[
        Text,
        said(
            "重叠", "Overlap",
            "组之间怎么重叠：并行、2-stage pipeline、无。",
            "How the groups overlap: in parallel, a 2-stage pipeline, not at all.",
            values=["并行", "2-stage pipeline", "无"],
        ),
    ]  # fmt: skip
    sync_between_groups: Annotated[
        Text,
        said(
            "组间同步", "Sync between groups",
            "cross-core flag、barrier、signal-wait 或 quiet；用信号要写明轮次（epoch）怎么区分。",
            "cross-core flag, barrier, signal-wait or quiet; with signals also how rounds (epochs) are told apart.",
            values=["cross-core flag", "barrier", "signal-wait", "quiet"],
        ),
    ]  # fmt: skip
    rationale: Annotated[
        Text,
        said(
            "分核依据", "Rationale",
            "引用 core-allocation 的模式或 examples/ 下的实现。",
            "Cites a mode of core-allocation or an implementation below examples/.",
        ),
    ]  # fmt: skip
    cross_pe_dataplane: Annotated[
        Text,
        said(
            "跨 PE 数据面", "Data plane between PEs",
            "aclshmem_* 或 aclshmemx_* 的接口名；compute 类写 none。",
            "Names of aclshmem_* or aclshmemx_* calls; none for op_kind compute.",
            examples=["aclshmemx_mte_put_nbi", "aclshmemx_mte_get_nbi"],
        ),
    ]  # fmt: skip


class Tiling(Section):
    """How one core's share is cut."""

    tile: Annotated[
        Text, said("tile", "Tile", "一次处理多少、公式或大小。", "What is handled at once: formula or size.")
    ]
    chunk: Annotated[Text, said("chunk", "Chunk", "一个核的份额怎么切。", "How one core's share is cut.")]
    tail: Annotated[
        Text,
        said(
            "尾块", "Tail",
            "不整除时怎么处理；不能退化成单核。",
            "What happens to the remainder; it may not fall back to one core.",
        ),
    ]  # fmt: skip


class Phase(Section):
    """One step, in one sentence."""

    name: Annotated[Text, said("名称", "Name", "阶段名。", "The phase's name.")]
    action: Annotated[
        Text,
        said(
            "动作", "Action",
            "一句话说做什么；不写输入输出、依赖和同步细节。",
            "One sentence; no inputs, outputs, dependencies or sync details.",
        ),
    ]  # fmt: skip


class Schedule(Section):
    """Cores first, then tiles, then phases."""

    core_partition: Annotated[
        CorePartition,
        said("分核", "Core partition", "哪些核做什么。", "Which cores do what."),
    ]
    tiling: Annotated[
        Tiling, said("切分", "Tiling", "每个核的份额怎么切：tile、chunk、tail。", "tile, chunk and tail.")
    ]
    phases: Annotated[
        Items[Phase],
        said(
            "阶段", "Phases",
            "按执行顺序；每项只有 name 和 action。",
            "In the order they run; each has a name and an action only.",
            template=[], min_length=1,
        ),
    ]  # fmt: skip
    engine: Annotated[
        MaybeText,
        said(
            "引擎", "Engine",
            "MTE、SDMA、UDMA 或 RDMA；通信算子要写。",
            "MTE, SDMA, UDMA or RDMA; communication operators say it.",
            template="MTE", values=["MTE", "SDMA", "UDMA", "RDMA"],
        ),
    ] = ""  # fmt: skip
    placement: Annotated[
        MaybeText,
        said(
            "计时位置", "Placement",
            "A 输入在 kernel 内进对称内存，B 由 host 先拷；RDMA 只能用 B。",
            "A: the kernel copies the input to the symmetric heap; B: the host does before it. RDMA needs B.",
            template="A", values=["A", "B"],
        ),
    ] = ""  # fmt: skip
    notes: Annotated[
        MaybeText,
        said(
            "备注", "Notes",
            "框架相关的提示、引擎与计时位置等。",
            "Hints for the framework, engine and placement, anything else.",
            template="",
        ),
    ] = ""  # fmt: skip
