# The compiler and the search paths of the stand-in.  Works for CXX projects and for CANN's ASC language.
set(OPDEV_SIM TRUE)
set(CMAKE_CXX_COMPILER "@OPDEV_SIM_ROOT@/bin/opdev-c++")
set(CMAKE_ASC_COMPILER "@OPDEV_SIM_ROOT@/bin/opdev-c++")
# It is g++ behind a rewriting step: trying it out once per configuration would only cost time.
set(CMAKE_CXX_COMPILER_WORKS TRUE)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
list(PREPEND CMAKE_MODULE_PATH "@OPDEV_SIM_ROOT@/cmake")
list(PREPEND CMAKE_PREFIX_PATH "@OPDEV_SIM_ROOT@/cmake" "@OPDEV_SIM_ROOT@/ascend" "@OPDEV_SIM_ROOT@/shmem-install/shmem")
foreach(package ASC AscendC shmem)
    set(${package}_DIR "@OPDEV_SIM_ROOT@/cmake")
endforeach()
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES OPDEV_SIM)
