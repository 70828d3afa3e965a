"""The tables of what the knowledge base asks of an operator: its selection, the design's bindings, the code's record."""

from __future__ import annotations

from opdev.contracts.fields import Contract, Field, top

FIELDS = ("optional_patterns", "required_constraints")
PAIRS = (
    ("precondition", "met"), ("obligation", "applies"), ("obligation", "not_triggered"), ("validation_scope", "applies"),
)  # fmt: skip
"""Kinds of requirements with the statuses that go with them."""
IMPLEMENTED = {
    "implemented": ("代码照做了", "the code keeps it"),
    "deviated": ("没有照做，justification 说明理由", "the code does otherwise; the justification says why"),
}
"""What the implementer may say; verification has words of its own."""
_VERSION = Field("schema_version", "integer", ("格式版本", "version of the format"), required=True, fresh="1")
_OP = Field("op", "text", ("算子名", "operator's name"), ("与算子一致", "the operator's"), True)
_CLASS = Field(
    "class_id", "text", ("类目", "class"), ("在算子根目录写 .，在类目录写目录名", ". beside the operator's files, else the folder's name"), True, fresh='"."'
)  # fmt: skip
_SHA = (
    "sha256: 加 64 位小写十六进制，所选文件内容的哈希",
    "sha256: and 64 lower-case hex digits, the hash of the selected file's bytes",
)


def _chosen(key: str, folder: str, zh: str, en: str) -> Field:
    return Field(
        key, "list", (zh, en), (f"路径在知识库的 {folder}/ 下", f"paths below {folder}/ of the knowledge base"), True,
        fields=(
            Field("path", "text", ("知识库里的路径", "path in the knowledge base"), (f"以 {folder}/ 开头，不能有 ..", f"begins with {folder}/, without .."), True),
            Field("reason", "text", ("理由", "reason"), ("为什么选它", "why it is chosen"), True),
            Field("sha256", "text", ("内容哈希", "hash of the content"), _SHA, True),
        ),
    )  # fmt: skip


SELECTION = Contract(
    "KB_SELECTION.json", top(
        _VERSION, _OP, _CLASS,
        Field("topologies", "list", ("拓扑", "topologies"), ("符合的全部写上，没有写 []", "all that fit, [] for none"), True,
              dict.fromkeys(("cube-matmul", "row-reduction", "multi-phase-fusion", "scan", "elementwise"), ("", "")), usual=True),
        Field("properties", "object", ("性质", "properties"), ("触发额外约束的性质", "properties that bring more constraints"), True,
              each=Field("", "any", ("性质", "property")), free=True,
              fields=tuple(Field(k, "any", (zh, k.replace("_", " "))) for k, zh in (
                  ("is_list", "TensorList"), ("dtypes", "数据类型"), ("ranks", "秩"), ("unaligned_shapes", "不对齐的形状"), ("tail_blocks", "尾块"),
                  ("long_axis", "长轴"), ("mixed_precision", "混合精度"), ("dynamic_dims", "动态维")))),
        _chosen("optional_patterns", "patterns", "选用的模式", "patterns taken over"),
        _chosen("required_constraints", "constraints", "必须遵守的约束", "constraints to keep"),
        Field("no_matching_pattern", "flag", ("没有合适的模式", "no pattern fits"), ("等于 optional_patterns 为空", "true exactly where optional_patterns is empty"), True, fresh="true"),
    ), ("PyPTO-Pro 流程，KB_SELECTION.json", "PyPTO-Pro workflow, KB_SELECTION.json"),
)  # fmt: skip
BINDINGS = Contract(
    "DESIGN_BINDINGS.json", top(
        Field("schema_version", "integer", ("格式版本", "version of the format"), ("固定为 1", "always 1"), True, {"1": ("", "")}, fresh="1"),
        Field("bindings", "list", ("绑定", "bindings"), ("与 KB_SELECTION.json 一一对应", "one to one with KB_SELECTION.json"), True, fields=(
            _CLASS,
            Field("selection_field", "text", ("选择里的键", "key of the selection"), ("", ""), True, {
                "optional_patterns": ("模式", "a pattern"), "required_constraints": ("约束", "a constraint")}),
            Field("reference", "text", ("知识库里的路径", "path in the knowledge base"), ("与选择里的 path 相同", "the path of the selection"), True),
            Field("selection_reason", "text", ("选用理由", "why it was selected"), ("与选择里的 reason 一致", "the reason of the selection"), True),
            Field("requirements", "list", ("要求", "requirements"), ("至少一条", "one at least"), True, fields=(
                Field("req_id", "text", ("要求的编号", "the requirement's id"), ("在这个 reference 里不重复", "once in its reference"), True),
                Field("kind", "text", ("种类", "kind"), ("", ""), True, {
                    "precondition": ("前提，status 为 met", "a precondition; status met"),
                    "obligation": ("义务，status 为 applies 或 not_triggered", "an obligation; status applies or not_triggered"),
                    "validation_scope": ("验证范围，status 为 applies", "a scope of validation; status applies")}),
                Field("source_anchors", "list", ("出处", "sources"), ("reference 那篇文档里的标题或锚点", "headings or anchors of the referenced document"), True),
                Field("status", "text", ("状态", "status"), ("要与 kind 搭配", "goes with the kind"), True, {
                    "met": ("满足（precondition）", "is met (precondition)"),
                    "applies": ("适用；义务要写 invariant 和 planned_location", "applies; an obligation then has invariant and planned_location"),
                    "not_triggered": ("没有触发（obligation）", "not triggered (obligation)")}),
                Field("class_evidence", "text", ("类目依据", "evidence of the class"), ("这一类为什么这样判断", "why it is so for this class")),
                Field("invariant", "text", ("不变量", "invariant"), ("代码必须保持的条件", "what the code has to keep")),
                Field("planned_location", "text", ("落点", "where it is kept"), ("DESIGN 的决定，加 test_<op>.py 里的符号", "a decision of DESIGN and a symbol of test_<op>.py")),
                Field("verification_method", "text", ("验证方法", "how it is verified")),
            )),
        )),
    ), ("PyPTO-Pro 流程，DESIGN_BINDINGS.json", "PyPTO-Pro workflow, DESIGN_BINDINGS.json"),
)  # fmt: skip
USAGE = Contract(
    "KB_USAGE.json", top(
        _VERSION, _OP, _CLASS,
        Field("invariants", "list", ("不变量", "invariants"), ("每条适用的义务一条；L1 每个分步文件可另有一条", "one of each obligation that applies; on L1 also one a staged file"), True, fields=(
            Field("reference", "text", ("知识库里的路径", "path in the knowledge base"), ("与绑定的 reference 相同", "the reference of the binding"), True),
            Field("invariant", "text", ("不变量", "invariant"), ('以 [selection_field: "req_id" | ["source_anchors"]] 开头，后接绑定里的 invariant', 'begins with [selection_field: "req_id" | ["source_anchors"]], then the binding\'s invariant'), True),
            Field("implementation", "object", ("实现", "implementation"), ("", ""), True, fields=(
                Field("file", "text", ("文件", "file"), ("算子目录下的路径", "path below the operator"), True),
                Field("symbol", "text", ("符号", "symbol"), ("文件里的函数或变量", "a function or name of the file"), True),
                Field("status", "text", ("状态", "status"), ("验收结论不由实现者写", "the verdict is not the implementer's"), True, IMPLEMENTED)),
                fresh='{"file": "", "symbol": "", "status": "implemented"}'),
            Field("justification", "text", ("理由", "justification"), ("怎样保持住的", "how it is kept"), True),
        )),
    ), ("PyPTO-Pro 流程，KB_USAGE.json", "PyPTO-Pro workflow, KB_USAGE.json"),
)  # fmt: skip
