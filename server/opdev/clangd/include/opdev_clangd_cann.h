// Comes after opdev_clangd.h where CANN's own headers are read: the words, types and intrinsics that only CANN's
// compiler knows.  Intrinsics take anything: clangd is no judge of them, the headers that call them are CANN's.
#pragma once

#include <cstddef>
#include <cstdint>

#define __CCE__ 1
// `[aicore]` is an attribute of that compiler.
#define __aicore__
#define __host_aicore__
#define __simd_callee__
#define __simd_vf__
#define __simt_callee__
#define __simt_vf__
#define __global__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#define __ssbuf__
#define __in_pipe__(...)
#define __out_pipe__(...)
#define __inout_pipe__(...)
#define __sync_alias__
#define __check_sync_alias__
#define __sync_noalias__
#define __in__
#define __out__
#define __mix__(...)
#define __vector__
#define __cube__

// Types of that compiler.
using half = _Float16;
using float16_t = _Float16;
using bfloat16_t = __bf16;
enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL, PIPE_MTE4, PIPE_MTE5, PIPE_V2, PIPE_FIX };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };
enum cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum mem_dsb_t { DSB_ALL, DSB_DDR, DSB_UB, DSB_SEQ };
enum mem_t { L1, L0A, L0B, L0C, UB };
enum pad_t { PAD_NONE, PAD_MODE1, PAD_MODE2, PAD_MODE3, PAD_MODE4, PAD_MODE5, PAD_MODE6, PAD_MODE7, PAD_MODE8 };
enum addr_cal_mode_t { inc, dec };
enum atomic_type_t { ATOMIC_NONE, ATOMIC_F32, ATOMIC_F16, ATOMIC_S16, ATOMIC_S32, ATOMIC_S8, ATOMIC_BF16 };
enum atomic_op_t { ATOMIC_SUM, ATOMIC_MAX, ATOMIC_MIN };
enum Order_t { LOWEST, HIGHEST, L128, H128, VALUE_INDEX, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX };
enum ub_addr8_t { VA0, VA1, VA2, VA3, VA4, VA5, VA6, VA7 };
enum QuantMode_t {
    DEQF16, DEQS16, F322BF16, F322F16, NoQuant, QF162B8_PRE, QF162S16_PRE, QF162S4_PRE, QF322B8_PRE,
    QF322BF16_PRE, QF322F16_PRE, QF322F32_PRE, QF322FP8_PRE, QF322HIF8_PRE, QF322HIF8_PRE_HYBRID, QS322BF16_PRE,
    REQ4, REQ8, VDEQF16, VDEQS16, VQF162B8_PRE, VQF162S16_PRE, VQF162S4_PRE, VQF322B8_PRE, VQF322BF16_PRE,
    VQF322F16_PRE, VQF322F32_PRE, VQF322FP8_PRE, VQF322HIF8_PRE, VQF322HIF8_PRE_HYBRID, VQS322BF16_PRE, VREQ4,
    VREQ8
};
struct vector_bool {};
struct vector_address {};
struct vector_align {};

#define OPDEV_CLANGD_INTRINSICS(X) \
    X(__ib_set_stub) X(__ib_wait_stub) X(__sync_all_stub) X(asc_prof_start) X(asc_prof_stop) X(bcnt0) \
    X(bcnt1) X(clz) X(conv_f322f16o) X(conv_f322s32a) X(conv_f322s32c) X(conv_f322s32f) \
    X(conv_f322s32r) X(copy_cbuf_to_bt) X(copy_cbuf_to_fbuf) X(copy_cbuf_to_gm) X(copy_gm_to_cbuf) X(copy_gm_to_cbuf_multi_nd2nz_b16) \
    X(copy_gm_to_cbuf_multi_nd2nz_b32s) X(copy_gm_to_cbuf_multi_nd2nz_b8) X(copy_gm_to_ubuf) X(copy_ubuf_to_gm) X(copy_ubuf_to_ubuf) X(create_cbuf_matrix) \
    X(dc_preload) X(dcci) X(dsb) X(ffts_cross_core_sync) X(get_acc_val) X(get_arch_ver) \
    X(get_block_idx) X(get_block_num) X(get_coreid) X(get_ctrl) X(get_icache_prl_st) X(get_imm) \
    X(get_max_min_cnt) X(get_pc) X(get_rsvd_cnt) X(get_st_atomic_cfg) X(get_subblockdim) X(get_subblockid) \
    X(get_sys_cnt) X(get_vms4_sr) X(hset_flag) X(hwait_flag) X(img2colv2_cbuf_to_ca) X(img2colv2_cbuf_to_ca_s4) \
    X(img2colv2_cbuf_to_cb) X(ld_dev) X(load_cbuf_to_ca_s4) X(load_cbuf_to_cb_s4) X(load_cbuf_to_cb_sp) X(load_cbuf_to_cb_transpose_s4) \
    X(mad_sp) X(pipe_barrier) X(preload) X(sbitset0) X(sbitset1) X(scatter_vnchwconv_b16) \
    X(scatter_vnchwconv_b32) X(scatter_vnchwconv_b8) X(set_aipp_spr_0) X(set_aipp_spr_1) X(set_aipp_spr_18) X(set_aipp_spr_19) \
    X(set_aipp_spr_2) X(set_aipp_spr_20) X(set_aipp_spr_21) X(set_aipp_spr_3) X(set_aipp_spr_4) X(set_aipp_spr_5) \
    X(set_aipp_spr_6) X(set_aipp_spr_7) X(set_aipp_spr_8) X(set_aipp_spr_9) X(set_atomic_add) X(set_atomic_bf16) \
    X(set_atomic_f16) X(set_atomic_f32) X(set_atomic_max) X(set_atomic_min) X(set_atomic_none) X(set_atomic_s16) \
    X(set_atomic_s32) X(set_atomic_s8) X(set_cmpmask) X(set_ctrl) X(set_data_exp_0) X(set_data_exp_1) \
    X(set_data_exp_2) X(set_data_exp_3) X(set_deqscale) X(set_ffts_base_addr) X(set_flag) X(set_fmatrix) \
    X(set_fmatrix_b) X(set_fpc) X(set_l1_3d_size) X(set_l3d_rpt) X(set_mask_count) X(set_mask_norm) \
    X(set_mov_pad_val) X(set_nd_para) X(set_padding) X(set_quant_pre) X(set_st_atomic_cfg) X(set_va_reg_sb) \
    X(set_vector_mask) X(sff0) X(sff1) X(sflbits) X(st_dev) X(trap) \
    X(vadd) X(vand) X(vbrcb) X(vcmpv_eq) X(vcmpvs_eq) X(vconv_bf162f32) \
    X(vconv_bf162s32a) X(vconv_bf162s32c) X(vconv_bf162s32f) X(vconv_bf162s32r) X(vconv_bf162s32z) X(vconv_deq) \
    X(vconv_f162f32) X(vconv_f162s16a) X(vconv_f162s16c) X(vconv_f162s16f) X(vconv_f162s16r) X(vconv_f162s16z) \
    X(vconv_f162s32a) X(vconv_f162s32c) X(vconv_f162s32f) X(vconv_f162s32r) X(vconv_f162s32z) X(vconv_f162s4) \
    X(vconv_f162s4a) X(vconv_f162s4c) X(vconv_f162s4f) X(vconv_f162s4r) X(vconv_f162s4z) X(vconv_f162s8) \
    X(vconv_f162s8a) X(vconv_f162s8c) X(vconv_f162s8f) X(vconv_f162s8r) X(vconv_f162s8z) X(vconv_f162u8) \
    X(vconv_f162u8a) X(vconv_f162u8c) X(vconv_f162u8f) X(vconv_f162u8r) X(vconv_f162u8z) X(vconv_f322bf16a) \
    X(vconv_f322bf16c) X(vconv_f322bf16f) X(vconv_f322bf16r) X(vconv_f322bf16z) X(vconv_f322f16) X(vconv_f322f16a) \
    X(vconv_f322f16c) X(vconv_f322f16f) X(vconv_f322f16o) X(vconv_f322f16r) X(vconv_f322f16z) X(vconv_f322f32a) \
    X(vconv_f322f32c) X(vconv_f322f32f) X(vconv_f322f32r) X(vconv_f322f32z) X(vconv_f322s16a) X(vconv_f322s16c) \
    X(vconv_f322s16f) X(vconv_f322s16r) X(vconv_f322s16z) X(vconv_f322s32a) X(vconv_f322s32c) X(vconv_f322s32f) \
    X(vconv_f322s32r) X(vconv_f322s32z) X(vconv_f322s64a) X(vconv_f322s64c) X(vconv_f322s64f) X(vconv_f322s64r) \
    X(vconv_f322s64z) X(vconv_s162f16) X(vconv_s162f16a) X(vconv_s162f16c) X(vconv_s162f16f) X(vconv_s162f16r) \
    X(vconv_s162f16z) X(vconv_s162f32) X(vconv_s322f32) X(vconv_s322f32a) X(vconv_s322f32c) X(vconv_s322f32f) \
    X(vconv_s322f32r) X(vconv_s322f32z) X(vconv_s322s16) X(vconv_s322s64) X(vconv_s42f16) X(vconv_s642f32a) \
    X(vconv_s642f32c) X(vconv_s642f32f) X(vconv_s642f32r) X(vconv_s642f32z) X(vconv_s642s32) X(vconv_s82f16) \
    X(vconv_u82f16) X(vcopy) X(vector_dup) X(vgather) X(vld_va_reg) X(vmax) \
    X(vmulconv_f162s8) X(vmulconv_f162u8) X(vmuls) X(vor) X(vreducev2) X(vtranspose) \
    X(wait_flag) X(wait_flag_dev)
#define OPDEV_CLANGD_DECLARE(NAME) \
    template <class... Operands>   \
    uint64_t NAME(Operands...);
OPDEV_CLANGD_INTRINSICS(OPDEV_CLANGD_DECLARE)
#undef OPDEV_CLANGD_DECLARE
#undef OPDEV_CLANGD_INTRINSICS
