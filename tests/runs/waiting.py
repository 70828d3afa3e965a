"""An operator for the stand-in whose PEs meet, tell that they did, and wait until they may go on."""

from __future__ import annotations

CMAKE = """\
cmake_minimum_required(VERSION 3.18)
project(demo LANGUAGES CXX)
find_package(shmem CONFIG QUIET)
add_executable(demo src/main.cpp)
target_include_directories(demo PRIVATE "$ENV{SHMEM_HOME_PATH}/shmem/include")
target_link_directories(demo PRIVATE "$ENV{SHMEM_HOME_PATH}/shmem/lib")
target_link_libraries(demo PRIVATE shmem)
"""
# A PE tells that it is in the session, waits until it may go on, and meets the others at a barrier.
MAIN = """\
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include "acl/acl.h"
#include "shmem.h"
int main(int, char **argv)
{
    int n = atoi(argv[1]), pe = atoi(argv[2]);
    std::string here = argv[3];
    aclInit(nullptr);
    aclrtSetDevice(pe);
    aclshmemx_init_attr_t attr;
    attr.my_pe = pe;
    attr.n_pes = n;
    attr.local_mem_size = 64 << 20;
    snprintf(attr.ip_port, sizeof attr.ip_port, "%s", getenv("IPPORT"));
    if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr) != 0) return 4;
    void *room = aclshmem_malloc(1024);
    std::string mine = here + "/in-" + argv[2];
    FILE *f = fopen((mine + ".tmp").c_str(), "w");
    fprintf(f, "%d", getpid());
    fclose(f);
    rename((mine + ".tmp").c_str(), mine.c_str());
    while (access((here + "/go").c_str(), F_OK) != 0) usleep(5000);
    aclshmem_barrier_all();
    aclshmem_free(room);
    printf("PE %d: PASS (1 elements)\\n", pe);
    return aclshmem_finalize();
}
"""
RUN = """\
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p output
echo 准备
pids=()
for ((pe = 0; pe < $1; pe++)); do timeout 300 "$here/build/bin/demo" "$1" "$pe" "$here" & pids+=($!); done
setsid sleep 300 &
for pid in "${pids[@]}"; do wait "$pid" || exit 5; done
echo "PASS: all $1 PE outputs match"
"""
