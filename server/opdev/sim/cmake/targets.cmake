# Imported targets under the names projects link.
foreach(name shmem::shmem aclshmem::shmem AscendC::ascendcl ascendcl::ascendcl)
    if(NOT TARGET ${name})
        # UNKNOWN: a package may be looked for before project() says what the platform can do.
        add_library(${name} UNKNOWN IMPORTED)
        set_target_properties(${name} PROPERTIES
            IMPORTED_LOCATION "@OPDEV_SIM_ROOT@/lib/libopdev_sim.so"
            INTERFACE_INCLUDE_DIRECTORIES "@OPDEV_SIM_ROOT@/include")
    endif()
endforeach()
