#include "@{ op }@_kernel.h"

#include "kernel_operator.h"
#include "shmem.h"

using namespace AscendC;

