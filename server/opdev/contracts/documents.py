"""The tables of what documents say in their front matter, and of the machine contract in SPEC.md."""

from __future__ import annotations

from opdev.contracts.fields import Contract, Field, top
from opdev.contracts.vocabulary import DTYPES, tensor, tolerance

_VERSION = Field(
    "schema_version",
    "integer",
    ("格式版本", "version of the format"),
    ("固定为 1", "always 1"),
    True,
    {"1": ("", "")},
    fresh="1",
)
_NAME = Field(
    "op_name", "text", ("算子名", "operator's name"),
    ("小写加下划线；与目录、文件名和状态文件一致", "lower case with underscores; the folder's, the files' and the state file's"), True,
)  # fmt: skip
_DTYPES = Field(
    "supported_dtypes", "list", ("支持的数据类型", "supported data types"),
    ("测试要逐一覆盖；machine-contract 里按输入、输出首次出现的顺序写", "tests cover each; in the machine contract in the order of inputs, then outputs"), True, DTYPES,
)  # fmt: skip
_FREE = Field("", "any", ("", ""))

SPEC = Contract(
    "SPEC.md", top(
        _VERSION, _NAME, _DTYPES,
        Field("p0_shapes", "list", ("P0 形状", "P0 shapes"),
              ("必须通过的形状，单位为元素；如 [[1024, 128], [1024, 256]]，多输入写 {x: [...], y: [...]}", "shapes that have to pass, in elements: [[1024, 128], [1024, 256]], or {x: [...], y: [...]} with several inputs"), True, fresh="[[1024, 128]]"),
        tolerance(("测试不得比它宽；atol 加 rtol，或三个误差矩阵", "no test may be looser; atol with rtol, or three matrices")),
        Field("p1_shapes", "list", ("P1 形状", "P1 shapes"), ("希望通过的形状", "shapes that should pass")),
        Field("dynamic_axis", "list", ("动态轴", "dynamic axes"), ("编译时不定的轴名", "axes that are open at compile time")),
    ), ("PyPTO 流程，SPEC.md 的 front matter", "PyPTO workflow, front matter of SPEC.md"),
)  # fmt: skip
DESIGN = Contract(
    "DESIGN.md", top(
        _VERSION, _NAME,
        Field("dynamic_axes", "list", ("动态轴", "dynamic axes"), ("kernel 注解里要有 pypto.DYNAMIC；全静态写 []", "the kernel's annotations have pypto.DYNAMIC for them; [] when all is static"), True),
    ), ("PyPTO 流程，DESIGN.md 的 front matter", "PyPTO workflow, front matter of DESIGN.md"),
)  # fmt: skip
API_REPORT = Contract(
    "API_REPORT.md", top(_VERSION, _NAME), ("PyPTO 流程，API_REPORT.md 的 front matter", "PyPTO workflow, front matter of API_REPORT.md")
)  # fmt: skip
EXPLORE_REPORT = Contract(
    "EXPLORE_REPORT.md", top(
        Field("schema_version", "integer", ("格式版本", "version of the format"), ("模板为 2", "2 in the template"), True, fresh="2"),
        _NAME, Field("feasibility", "text", ("可行性", "feasibility"), ("结论，一个词", "the conclusion, in a word"), True),
    ), ("PyPTO-Pro 流程，EXPLORE_REPORT.md 的 front matter", "PyPTO-Pro workflow, front matter of EXPLORE_REPORT.md"),
)  # fmt: skip
_SHAPES = Field("", "list", ("形状", "shape"), ("具体的整数，单位为元素", "integers, in elements"))
_CASE = (
    Field("name", "text", ("用例名", "the case's name"), ("不能重复", "each once"), True),
    Field("params", "object", ("参数", "parameters"), ("第一个用例等于 default_params", "of the first case the default_params"), True, each=_FREE, free=True),
    Field("input_shapes", "object", ("输入形状", "shapes of inputs"), ("每个声明的输入一项，同名同序，具体整数", "one of each declared input, in their order, in integers"), True, each=_SHAPES, free=True),
    Field("output_shapes", "object", ("输出形状", "shapes of outputs"), ("每个声明的输出一项，由输入形状算得出", "one of each declared output, as the inputs' shapes make it"), True, each=_SHAPES, free=True),
    Field("input_dtypes", "object", ("输入类型", "dtypes of inputs"), ("与 output_dtypes 成对；第一个用例等于声明", "with output_dtypes; of the first case the declared ones"), each=Field("", "text", ("数据类型", "data type"), values=DTYPES), free=True),
    Field("output_dtypes", "object", ("输出类型", "dtypes of outputs"), ("与 input_dtypes 成对", "with input_dtypes"), each=Field("", "text", ("数据类型", "data type"), values=DTYPES), free=True),
    Field("input_special_values", "object", ("特殊值", "special values"), ("输入名 → -inf、+inf、nan", "by input: -inf, +inf, nan"), each=Field("", "list", ("特殊值", "special values"), values={"-inf": ("负无穷", "minus infinity"), "+inf": ("正无穷", "infinity"), "nan": ("非数", "not a number")}), free=True),
)  # fmt: skip
MACHINE = Contract(
    "json machine-contract", top(
        _VERSION, _NAME,
        Field("formula", "text", ("数学公式", "formula"), ("算子算什么", "what the operator computes"), True),
        _DTYPES,
        tensor("inputs", ("输入", "inputs"), ("按参数顺序", "in the order of the parameters"), value_range=True),
        tensor("outputs", ("输出", "outputs"), ("按返回顺序", "in the order they are returned"), value_range=True),
        Field("default_params", "object", ("默认参数", "default parameters"), ("标量参数的默认值；没有写 {}", "scalar parameters and their defaults; {} for none"), True, each=_FREE, free=True),
        tolerance(("固定方案，或 {atol, rtol}；不能两样都写", "the fixed scheme, or {atol, rtol}; never both"), scheme=True),
        Field("dynamic_axes_ranges", "object", ("动态轴范围", "ranges of dynamic axes"), ("形状里的每个符号 → [最小 ≥ 1, 最大]，单位为元素", "each symbol of the shapes: [least >= 1, most], in elements"), True,
              each=Field("", "list", ("范围", "range"), ("[最小, 最大]", "[least, most]"), fresh="[1, 4096]"), free=True),
        Field("shape_constraints", "list", ("形状约束", "constraints on shapes"), ("文字，如 N % 16 == 0", "texts such as N % 16 == 0"), True),
        Field("p0_cases", "list", ("P0 用例", "P0 cases"), ("必须通过的用例，至少一个", "cases that have to pass, one at least"), True, fields=_CASE),
        Field("perf_target", "any", ("性能目标", "performance target"), ("大于 0 的数，或 null", "a number above 0, or null")),
        Field("exit_criteria", "any", ("结束条件", "exit criteria"), ("做到什么算完成", "what counts as done")),
    ), ("PyPTO-Pro 流程，SPEC.md 的 json machine-contract", "PyPTO-Pro workflow, json machine-contract of SPEC.md"),
)  # fmt: skip
