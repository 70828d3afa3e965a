"""The Canonical DSL 0.3 as one model: the sections in their order."""

from typing import Annotated, Literal

from pydantic import BeforeValidator

from opdev.design.correctness import Correctness
from opdev.design.fields import Section, said
from opdev.design.interface import Interface, Semantics
from opdev.design.meta import Meta, Origin
from opdev.design.performance import Compile, Performance
from opdev.design.schedule import Schedule
from opdev.design.topology import Memory, Topology

VERSION = "0.3"


def _version(value: object) -> object:
    # Without quotes YAML reads a number.
    return VERSION if value == 0.3 and isinstance(value, float) else value


class Design(Section):
    """A whole design."""

    dsl_version: Annotated[
        Literal["0.3"],
        BeforeValidator(_version),
        said("DSL 版本", "DSL version", '固定为 "0.3"，带引号。', 'Always "0.3", in quotes.', template="0.3"),
    ]
    meta: Annotated[
        Meta, said("元信息", "Meta", "名字、类别、位置和要做的阶段。", "Name, kind, place and the phases to run.")
    ]
    source: Annotated[
        Origin,
        said("需求来源", "Source", "需求从哪来、用户确认了什么。", "Where it comes from and what the user confirmed."),
    ]
    interface: Annotated[Interface, said("接口", "Interface", "输入、输出和属性。", "Inputs, outputs and arguments.")]
    semantics: Annotated[
        Semantics,
        said("语义", "Semantics", "算什么、怎么通信、结果是什么。", "What is computed, communicated and produced."),
    ]
    topology: Annotated[Topology, said("拓扑", "Topology", "参与的 PE 与链路。", "The PEs and the links between them.")]
    memory: Annotated[
        Memory,
        said(
            "内存", "Memory", "缓冲区、对称内存布局、输出归属。", "Buffers, the symmetric heap, who writes the output."
        ),
    ]
    schedule: Annotated[
        Schedule, said("调度", "Schedule", "先分核，再切分，最后阶段。", "Cores first, then tiles, then phases.")
    ]
    correctness: Annotated[
        Correctness,
        said("正确性", "Correctness", "基准、误差、不变量、用例。", "Oracle, tolerance, invariants, cases."),
    ]
    performance: Annotated[
        Performance, said("性能", "Performance", "指标、基线、达标线。", "Metrics, baseline, target.")
    ]
    compile: Annotated[
        Compile | None,
        said("编译", "Compile", "用哪个 CANN；环境确认之后写。", "Which CANN; written once the environment is known."),
    ] = None
