"""The table of PERFORMANCE_CASES.json: what stage 5 of PyPTO-Pro measures, and what it makes faster."""

from __future__ import annotations

from opdev.contracts.fields import Contract, Field, top

MODES = {
    "user_selected": ("用户指定的用例", "the cases the user asked for"),
    "single_p0": ("只有一个 P0 用例，就是它", "there is one P0 case, so this is it"),
    "all_p0_no_questions": ("用户没指定又不再提问，取全部 P0 用例", "the user named none and asked for no questions: all P0 cases"),
}  # fmt: skip
_DTYPES = dict.fromkeys(("fp16", "bf16", "fp32", "float16", "bfloat16", "float32", "int8", "int32"), ("", ""))
CASES = Contract(
    "PERFORMANCE_CASES.json", top(
        Field("schema_version", "integer", ("格式版本", "version of the format"), ("固定为 1", "always 1"), True, {"1": ("", "")}, fresh="1"),
        Field("cases", "list", ("性能用例", "performance cases"), ("SPEC 的每个性能 P0 用例一项，开始采集后不再改", "one of each performance P0 case of the SPEC; not changed once collecting has begun"), True, fields=(
            Field("id", "text", ("用例编号", "the case's id"), ("不能重复；日志与证据目录都用它", "each once; logs and the folders of evidence go by it"), True),
            Field("shape", "text", ("形状", "shape"), ('文字，如 "[1,32]"，单位为元素', 'a text such as "[1,32]", in elements'), True, fresh='"[1,32]"'),
            Field("dtype", "text", ("数据类型", "data type"), ("与 golden 的报告一致", "as the golden's report has it"), True, _DTYPES, usual=True),
            Field("test_function", "text", ("测试函数", "test function"), ("test_<op>.py 里无参数的 test_*；几个用例又没有选择器时每个都要写", "a test_* of test_<op>.py without parameters; with several cases and no selector each has one")),
        )),
        Field("optimization_target", "object", ("优化目标", "what is to become faster"), ("采集和改代码之前就定下来", "decided before anything is collected or changed"), True, fields=(
            Field("case_ids", "list", ("目标用例", "target cases"), ("cases 里的 id，至少一个，不重复", "ids of cases, one at least, each once"), True),
            Field("selection_mode", "text", ("怎么选的", "how they were chosen"), ("", ""), True, MODES),
        ), fresh='{"case_ids": [], "selection_mode": "user_selected"}'),
    ), ("PyPTO-Pro 流程第 5 阶段，PERFORMANCE_CASES.json", "PyPTO-Pro workflow, stage 5, PERFORMANCE_CASES.json"),
)  # fmt: skip
