# What an example inside a SHMEM checkout takes from the project around it.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(USE_EXAMPLES ON)
set(SOC_TYPE "$ENV{OPDEV_SIM_SOC}")
set(ASCEND_HOME_PATH "$ENV{ASCEND_HOME_PATH}")
# Public demos of single-source projects compile clean only under their own compiler.
add_compile_options(-O2 -w)
# Their kernels expect these from the project.
add_compile_definitions(FFTS_CONFIG=1)

function(opdev_sim_example target)
    target_include_directories(${target} PRIVATE
        "${CMAKE_CURRENT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/examples/utils" "${PROJECT_SOURCE_DIR}/examples")
    target_link_libraries(${target} PRIVATE shmem ascendcl runtime)
endfunction()

# A kernel library and the host program that launches it.
function(aclshmem_add_collective_example name)
    add_library(${name}_kernel SHARED ${name}_kernel.cpp)
    target_compile_options(${name}_kernel PRIVATE -xcce)
    opdev_sim_example(${name}_kernel)
    add_executable(${name} main.cpp)
    opdev_sim_example(${name})
    target_link_libraries(${name} PRIVATE ${name}_kernel)
endfunction()

# Host and kernels in one program.
function(aclshmem_add_fusion_example name)
    add_executable(${name} ${ARGN})
    target_compile_options(${name} PRIVATE -xcce)
    opdev_sim_example(${name})
endfunction()
