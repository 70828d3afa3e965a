// The host's bfloat16, by the name CANN gives it.
#pragma once
#pragma GCC system_header

#include "opdev_sim/half.h"

namespace op {
using bfloat16 = opdev_sim::bf16_t;
}
