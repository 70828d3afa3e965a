// SPDX-License-Identifier: Apache-2.0
#ifndef @{ OP }@_KERNEL_H
#define @{ OP }@_KERNEL_H

#include <cstdint>

enum class @{ Op }@Type : int32_t { @% for dtype in dtypes %@@{ dtype.name | upper }@ = @{ loop.index0 }@@{ ', ' if not loop.last }@@% endfor %@ };

// input 是 n_pes × elements（普通 GM），output 是 elements（对称内存）：output = 各 PE 第 my_pe 段之和。
@{ ('void launch_' ~ op ~ '(') | parameters(launch_parameters, ');') }@

#endif
