"""The tables of module_interfaces.yaml and of the state file."""

from __future__ import annotations

from opdev.contracts.fields import Contract, Field, Pair, top, words
from opdev.contracts.vocabulary import DTYPES, PARTS, STATUSES, tensor, tolerance

_DTYPES = {**DTYPES, **words("uint16 uint32 uint64 uint int float8_e4m3fn float8_e5m2 hif8")}
_NAME = Field("name", "text", ("张量名", "the tensor's name"), ("", ""), True)
_SOURCE = Field(
    "source", "text", ("来源", "source"), ("primary 是算子输入；module_k 是前面第 k 个模块的输出", "primary is the operator's input, module_k what module k before this one made"), True,
)  # fmt: skip
INTERFACES = Contract(
    "module_interfaces.yaml", top(
        Field("schema_version", "integer", ("格式版本", "version of the format"), ("固定为 1", "always 1"), fresh="1"),
        Field("op", "text", ("算子名", "operator's name"), ("与目录和文件名一致", "the folder's and the files'"), True),
        Field("module_count", "integer", ("模块数", "number of modules"), ("等于 modules 的个数", "as many as there are modules"), fresh="1"),
        Field("has_cross_core", "flag", ("跨核", "cross-core"), ("cube 与 vector 核之间有没有数据依赖", "whether data goes between cube and vector cores")),
        Field("is_fusion", "flag", ("融合算子", "fused operator"), ("true 走 L1，按模块开发", "true takes path L1, module by module")),
        tensor("primary_inputs", ("算子输入", "the operator's inputs"), ("按 wrapper 的参数顺序", "in the order of the wrapper's parameters"), values=_DTYPES),
        Field("modules", "list", ("模块", "modules"), ("编号从 1 连续", "numbered from 1 without a gap"), True, fields=(
            Field("id", "integer", ("编号", "number"), ("从 1 连续", "from 1 without a gap"), True, fresh="1"),
            Field("name", "text", ("模块名", "the module's name")),
            Field("description", "text", ("说明", "description")),
            Field("section", "text", ("核类型", "kind of core"), ("", ""), values={
                "cube": ("只用 cube 核", "cube cores alone"), "vector": ("只用 vector 核", "vector cores alone"), "cube+vector": ("两种都用", "both")}),
            Field("golden_steps", "list", ("参考步骤", "steps of the golden")),
            Field("inputs", "list", ("输入", "inputs"), fields=(_NAME, _SOURCE)),
            tensor("outputs", ("输出", "outputs"), ("至少一个", "one at least"), values=_DTYPES),
            Field("golden_stage_fn", "text", ("分步参考函数", "staged golden"), ("{op}_golden_stage<编号>", "{op}_golden_stage<numbers>")),
            Field("numerical_notes", "any", ("数值说明", "numerical notes")),
        )),
        Field("final_outputs", "list", ("最终输出", "final outputs"), ("算子的返回值", "what the operator returns"), True, fields=(_NAME, _SOURCE)),
        Field("composition_verification", "object", ("组合验证", "verification of the whole"), ("模块串起来与整体参考比较", "modules one after another against the whole golden"), fields=(
            *tolerance(("", "")).fields[:2],
            Field("seeds", "list", ("随机种子", "seeds"), ("默认 [42, 123, 456]", "[42, 123, 456] unless said"), fresh="[42, 123, 456]"),
            Field("shapes", "any", ("形状", "shapes")),
        ), fresh="{atol: 0.001, rtol: 0.001, seeds: [42, 123, 456], shapes: []}"),
    ), ("PyPTO 流程，module_interfaces.yaml", "PyPTO workflow, module_interfaces.yaml"),
)  # fmt: skip
_TIME: Pair = ("ISO 时间", "a time as ISO has it")
_COUNT = Field("", "integer", ("次数", "count"))
_HASH = Field("", "text", ("SHA-256", "SHA-256"), ("文件内容的哈希", "the hash of a file's bytes"))
STATE = Contract(
    ".orchestrator_state.json", top(
        Field("operator_name", "text", ("算子名", "operator's name"), ("默认为目录名", "the folder's unless said"), True),
        Field("schema_version", "text", ("格式版本", "version of the format"), ("", ""), values={"2.0": ("经典，及 4 阶段 Pro", "classic, and Pro with four stages"), "2.2": ("5 阶段 Pro", "Pro with five stages")}, usual=True),
        Field("max_stage", "integer", ("阶段数", "number of stages"), ("", ""), values={"7": ("经典", "classic"), "5": ("PyPTO-Pro", "PyPTO-Pro"), "4": ("PyPTO-Pro 第一代", "PyPTO-Pro, first generation")}, usual=True, fresh="7"),
        Field("current_stage", "integer", ("当前阶段", "current stage"), ("1 到 max_stage", "1 to max_stage"), True, fresh="1"),
        Field("stage_status", "object", ("各阶段状态", "status of the stages"), ("阶段号 → 状态；用 opdev state 改", "by stage; opdev state changes it"), True, each=Field("", "text", ("阶段状态", "a stage's status"), values=STATUSES), free=True),
        Field("stage_retry_count", "object", ("各阶段重试", "retries of the stages"), each=_COUNT, free=True),
        Field("stage5_phases", "object", ("第 5 阶段的 M_k", "phases of stage 5"), ("经典流程", "classic workflow"), fields=(
            Field("active_phase", "text", ("进行中的 M_k", "the phase worked on"), ("没有为 null", "null for none"), fresh="null"),
            Field("phase_status", "object", ("各 M_k", "the phases"), required=True, free=True, each=Field("", "object", ("一个 M_k", "a phase"), fields=(
                Field("status", "text", ("状态", "status"), required=True, values=PARTS, fresh='"pending"'),
                Field("cycles", "integer", ("失败次数", "failures"), ("满 max_cycles_per_phase 即 blocked", "blocked at max_cycles_per_phase")),
                Field("failure_category", "text", ("失败类别", "category of the failure")),
                Field("failing_module_boundary", "text", ("出错的模块边界", "the module boundary that fails"), fresh="null"),
                Field("last_error", "text", ("最后的错误", "the last error")),
                Field("verified_at", "text", ("验收时间", "when it was verified"), _TIME),
            ))),
            Field("max_cycles_per_phase", "integer", ("失败上限", "most failures"), ("默认 10", "10 unless said"), fresh="10"),
        )),
        Field("stage4_path", "text", ("第 4 阶段的路径", "path of stage 4"), ("PyPTO-Pro", "PyPTO-Pro"), values={"L0": ("一整个", "in one piece"), "L1": ("按模块", "module by module")}),
        Field("stage4_modules", "object", ("第 4 阶段的模块", "modules of stage 4"), ("只在 L1", "on L1 alone"), fields=(
            Field("module_count", "integer", ("模块数", "number of modules"), required=True, fresh="1"),
            Field("max_cycles_per_module", "integer", ("失败上限", "most failures"), ("默认 10", "10 unless said"), fresh="10"),
            Field("module_status", "object", ("各模块状态", "status of the modules"), required=True, each=Field("", "text", ("模块状态", "a module's status"), values=PARTS), free=True),
            Field("module_retry_count", "object", ("各模块失败次数", "failures of the modules"), each=_COUNT, free=True),
            Field("modules_verified", "list", ("已验收的模块", "verified modules")),
            Field("active_module", "integer", ("进行中的模块", "the module worked on"), ("没有为 null", "null for none"), fresh="null"),
        )),
        Field("artifact_hashes", "object", ("产物哈希", "hashes of artifacts"), ("spec_md、api_report_md、golden_py、design_md、module_interfaces_yaml", "spec_md, api_report_md, golden_py, design_md, module_interfaces_yaml"), each=_HASH, free=True,
              fields=tuple(Field(k, "text", _HASH.title, _HASH.about) for k in ("spec_md", "api_report_md", "golden_py", "design_md", "module_interfaces_yaml"))),
        Field("rollback_history", "list", ("回退记录", "rollbacks"), ("只增不减", "only added to"), fields=(
            Field("from_stage", "integer", ("从哪个阶段", "from stage")), Field("from_phase", "text", ("从哪个 M_k", "from phase")),
            Field("to_stage", "integer", ("到哪个阶段", "to stage")), Field("reason", "text", ("原因", "reason")),
            Field("failure_category", "text", ("失败类别", "category of the failure")), Field("timestamp", "text", ("时间", "time"), _TIME))),
        Field("last_updated", "text", ("更新时间", "last updated"), _TIME),
    ), ("PyPTO 流程，状态文件 2.0/2.2", "PyPTO workflow, state file 2.0/2.2"),
)  # fmt: skip
