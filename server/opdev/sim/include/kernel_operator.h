// The AscendC kernel interface of the stand-in.  `opdev sim api` lists what is here.
#pragma once
#pragma GCC system_header

#include "opdev_sim/ascendc/block.h"
#include "opdev_sim/ascendc/cast.h"
#include "opdev_sim/ascendc/copy.h"
#include "opdev_sim/ascendc/crosscore.h"
#include "opdev_sim/ascendc/kernel_call.h"
#include "opdev_sim/ascendc/names.h"
#include "opdev_sim/ascendc/queue.h"
#include "opdev_sim/ascendc/reduce.h"
#include "opdev_sim/ascendc/sync.h"
#include "opdev_sim/ascendc/tensor.h"
#include "opdev_sim/ascendc/vector.h"
