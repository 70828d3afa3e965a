# project(... LANGUAGES ASC): kernels are compiled by the stand-in's compiler.
set(CMAKE_ASC_COMPILER "@OPDEV_SIM_ROOT@/bin/opdev-c++")
set(CMAKE_ASC_COMPILER_ENV_VAR "ASC")
configure_file("@OPDEV_SIM_ROOT@/cmake/CMakeASCCompiler.cmake.in"
    "${CMAKE_PLATFORM_INFO_DIR}/CMakeASCCompiler.cmake" COPYONLY)
