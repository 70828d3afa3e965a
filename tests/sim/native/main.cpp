#include "cases.h"

std::map<std::string, Case> &cases()
{
    static std::map<std::string, Case> all;
    return all;
}

int main(int argc, char **argv)
{
    if (argc != 5 || cases().count(argv[1]) == 0) return 2;
    std::string name = argv[1];
    Here here{atoi(argv[3]), atoi(argv[4]), std::string(argv[2]) == "fault", nullptr};
    aclInit(nullptr);
    // Cases of the life cycle make and end their own session.
    bool own = name.rfind("life_", 0) == 0;
    if (!own) {
        aclshmemx_init_attr_t a;
        a.my_pe = here.pe;
        a.n_pes = here.n;
        a.local_mem_size = 64 << 20;
        strcpy(a.ip_port, "tcp://127.0.0.1:8666");
        if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &a) != 0) return 4;
        aclrtCreateStream(&here.stream);
    }
    cases()[name](here);
    if (!own) {
        aclrtDestroyStream(here.stream);
        if (aclshmem_finalize() != 0) return 5;
    }
    aclFinalize();
    printf("ok %d\n", here.pe);
    return 0;
}
