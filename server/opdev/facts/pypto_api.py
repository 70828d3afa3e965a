"""The names PyPTO has, of all versions known: what ``pypto.<name>`` may be.

A linter that imported PyPTO to ask it would need an environment, seconds, and the right version.
"""

from __future__ import annotations

_ALL = """
Any AtomicRMWMode AtomicType CachePolicy CastMode CompStage ConfigScope ConvParams ConvReLuType ConvTile CubeTile
DT_BF16 DT_BOOL DT_BOTTOM DT_DOUBLE DT_FP16 DT_FP32 DT_FP4_E1M2 DT_FP4_E1M2X2 DT_FP4_E2M1 DT_FP4_E2M1X2 DT_FP8
DT_FP8E4M3 DT_FP8E5M2 DT_FP8E8M0 DT_HF4 DT_HF8 DT_INT16 DT_INT32 DT_INT4 DT_INT64 DT_INT8 DT_UINT16 DT_UINT32
DT_UINT64 DT_UINT8 DYN DYNAMIC DataType DequantScaleRoundingMode Dict Element FeError Function InternalError List
LogBaseType LogLevel OpType Optional OutType PassConfigKey PassConfigs PrecisionType PyptoError ROUND_DOWN ROUND_UP
ReLuType ReduceMode RunMode STATIC SatStatus SaturationMode ScatterMode Sequence StatusType SymInt SymbolicScalar
Tensor TileOpFormat TopKAlgo TransMode Tuple Type Union VerifyError abs acos acosh add amax amin arange argmax
argmin argsort asin asinh assemble atan atan2 atanh atomic_add axpy_ bitwise_and bitwise_left_shift bitwise_not
bitwise_or bitwise_right_shift bitwise_xor bytes_of cast cbrt ceil ceil_div ceildiv check clip clone concat cond
config conv convert_to_element converter copysign cos cosh cost_model cumprod cumsum dataclass deinterleave
dequantize distributed div element enum eq erf erfc error exp exp2 expand_clone expand_exp_dif experimental expm1
fillpad floor floor_div fmod from_torch frontend full function functions gather gathermask gcd ge
get_codegen_options get_conv_tile_shapes get_cube_tile_shapes get_current_function get_current_scope
get_debug_options get_global_config get_host_options get_last_function get_log_level get_operation_options
get_options_tree get_pass_config get_pass_configs get_pass_default_config get_pass_options get_scatter_mode
get_vec_tile_shapes get_verify_options greater gt hypot index_add index_add_ index_add__ub index_add_ub index_put_
index_select interleave internal_check ir is_loop_begin is_loop_end isfinite isnan jit le log log10 log1p log2
log_debug log_error log_event log_fatal log_info log_warn logging logical_and logical_not loop loop_unroll lrelu lt
matmul max maximum min minimum mrgsort mul ne neg normal np one_hot ones op op_wrapper operation operator options
overload pack pad pass_config pass_verify_print pass_verify_save permute pil platform pow prelu prod pypto
pypto_impl quant_mx quantize raise_error re reciprocal relu remainder reset_options reshape rms_norm round rsqrt
runtime scaled_mm scatter scatter_ scatter_update set_codegen_options set_conv_tile_shapes set_cube_tile_shapes
set_debug_options set_global_config set_host_options set_log_level set_matrix_size set_options set_pass_config
set_pass_default_config set_pass_options set_print_options set_semantic_label set_vec_tile_shapes
set_verify_golden_data set_verify_options sigmoid sign signbit sin sinh softmax sort32 sqrt struct sub sum
symbolic_scalar sys tan tanh tensor to_sym to_syms topk transpose tril triu trunc uniform uniform_impl unpack
unsqueeze var verify view where wraps zeros
"""

NAMES = frozenset(_ALL.split())
"""Public names of the package, versions 0.2.0 and later; submodules and what it imports for itself included."""

FRONTEND = frozenset({"SymbolicScalar", "dynamic", "function", "jit", "parser"})
"""Public names of ``pypto.frontend``."""

INSTEAD: dict[str, tuple[str, ...]] = {
    "empty": ("zeros", "full"),
    "empty_like": ("zeros", "full"),
    "zeros_like": ("zeros", "full"),
    "ones_like": ("ones", "full"),
    "constant": ("full",),
    "rand": ("uniform",),
    "randn": ("normal",),
    "cat": ("concat",),
    "pow_": ("pow",),
    "mm": ("matmul",),
    "bmm": ("matmul",),
    "divide": ("div",),
    "multiply": ("mul",),
    "subtract": ("sub",),
    "to": ("cast",),
    "squeeze": ("reshape",),
}
"""What to use instead of names people know from elsewhere."""


def near(name: str) -> list[str]:
    """Names that may have been meant, the likeliest first; none where nothing is like it."""
    from difflib import get_close_matches

    known = [n for n in INSTEAD.get(name, ()) if n in NAMES]
    return known or get_close_matches(name, sorted(n for n in NAMES if not n.startswith("log_")), n=3, cutoff=0.8)
