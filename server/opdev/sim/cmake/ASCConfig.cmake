# find_package(ASC): the language's compiler is the toolchain's, so there is nothing to find.
set(ASC_FOUND TRUE)
include("@OPDEV_SIM_ROOT@/cmake/targets.cmake")
