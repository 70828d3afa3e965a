// SPDX-License-Identifier: Apache-2.0
#ifndef TORCH_REGISTER_H
#define TORCH_REGISTER_H

#include <torch/custom_class.h>

// 把 ShmemOps::Class 登记为 torch.classes.ShmemOps.Class；后面依次是要导出的方法，至多五个。
#define SHMEM_OPS_DEF_1(Class, a) .def(#a, &ShmemOps::Class::a)
#define SHMEM_OPS_DEF_2(Class, a, b) SHMEM_OPS_DEF_1(Class, a) SHMEM_OPS_DEF_1(Class, b)
#define SHMEM_OPS_DEF_3(Class, a, b, c) SHMEM_OPS_DEF_2(Class, a, b) SHMEM_OPS_DEF_1(Class, c)
#define SHMEM_OPS_DEF_4(Class, a, b, c, d) SHMEM_OPS_DEF_3(Class, a, b, c) SHMEM_OPS_DEF_1(Class, d)
#define SHMEM_OPS_DEF_5(Class, a, b, c, d, e) SHMEM_OPS_DEF_4(Class, a, b, c, d) SHMEM_OPS_DEF_1(Class, e)
#define SHMEM_OPS_PICK(a, b, c, d, e, name, ...) name

#define REGISTER_SHMEM_OPS_CLASS(Class, ...)                                                                      \
    static auto registry_##Class =                                                                                \
        torch::class_<ShmemOps::Class>("ShmemOps", #Class)                                                        \
            .def(torch::init<>())                                                                                 \
                SHMEM_OPS_PICK(__VA_ARGS__, SHMEM_OPS_DEF_5, SHMEM_OPS_DEF_4, SHMEM_OPS_DEF_3, SHMEM_OPS_DEF_2,   \
                               SHMEM_OPS_DEF_1)(Class, __VA_ARGS__)

#endif
