# find_package(AscendC): headers and libraries are on the compiler's own paths.
set(AscendC_FOUND TRUE)
include("@OPDEV_SIM_ROOT@/cmake/targets.cmake")
