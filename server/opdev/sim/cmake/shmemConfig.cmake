# find_package(shmem): one runtime stands behind SHMEM and the AscendCL.
set(shmem_FOUND TRUE)
include("@OPDEV_SIM_ROOT@/cmake/targets.cmake")
