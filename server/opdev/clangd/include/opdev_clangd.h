// Comes before every file that clangd reads with the flags `opdev clangd` writes.
//
// clangd takes kernels as CUDA, the one dialect it knows that has `<<<...>>>`.  What of CUDA an operator never says is
// declared here; __global__ and __aicore__ stay without meaning, because host and device overloads would clash.
#pragma once

// bisheng gives them to every file; headers of kernels count on it.
#include <stddef.h>
#include <stdint.h>

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
// Kernels mark functions for the analyser of CANN with it.
#define attribute(x)

// What a launch kernel<<<block_dim, l2ctrl, stream>>>(...) is checked against.
extern "C" int __cudaPushCallConfiguration(unsigned long block_dim, const void *l2ctrl, void *stream);
