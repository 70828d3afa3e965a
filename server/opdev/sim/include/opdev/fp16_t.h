// The host's half, by the name CANN gives it.
#pragma once
#pragma GCC system_header

#include "opdev_sim/half.h"

namespace op {
using fp16_t = opdev_sim::half_t;
}
