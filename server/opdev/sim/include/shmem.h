// The ACLSHMEM interface of the stand-in, host and device side.  `opdev sim api` lists what is here.
#pragma once
#pragma GCC system_header

#include "acl/acl.h"
#include "kernel_operator.h"
#include "opdev_sim/shmem/alias.h"
#include "opdev_sim/shmem/atomic.h"
#include "opdev_sim/shmem/engines.h"
#include "opdev_sim/shmem/host.h"
#include "opdev_sim/shmem/mte.h"
#include "opdev_sim/shmem/prof.h"
#include "opdev_sim/shmem/sync.h"
#include "opdev_sim/shmem/typed.h"
#include "opdev_sim/shmem/types.h"
