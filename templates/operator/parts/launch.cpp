#define @{ OP }@_KERNEL(suffix, type) \
    extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void @{ op }@_##suffix( \
        @{ ['uint64_t ffts', pointers | map('prefix', 'GM_ADDR '), scalars] | join_flat }@) \
    { \
        util_set_ffts_config(ffts); \
        @{ op }@_impl<type>(@{ [pointers, scalars | map('last_word')] | join_flat }@); \
    }

// 只搬不算：同样宽度的类型共用一个 kernel。
@% for width in widths %@
@{ OP }@_KERNEL(b@{ width * 8 }@, int@{ width * 8 }@_t)
@% endfor %@

@{ ('void launch_' ~ op ~ '(') | parameters(launch_parameters, ')') }@
{
@% for width in widths %@
    @{ '} else ' if not loop.first }@if (elem_bytes == sizeof(int@{ width * 8 }@_t)) {
@{ ('        ' ~ op ~ '_b' ~ width * 8 ~ '<<<block_dim, nullptr, stream>>>(') | parameters(kernel_arguments, ');') }@
@% endfor %@
    }
}
