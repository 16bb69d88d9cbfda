// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that ask the host's runtime for something.

#include "peers.h"

extern "C" {
/// Of the code object: the libraries look for the hidden arguments by it.
CONSTANT int __oclc_ABI_version = 500;
DEVICE int printf(const char *, ...);
DEVICE u64 __ockl_dm_alloc(u64);
}

KERNEL void prints(u32 *out) {
  out[threadX()] = 1;
  printf("work-item %u\n", threadX());
}

KERNEL void allocates(u64 *out) { out[threadX()] = __ockl_dm_alloc(16); }
