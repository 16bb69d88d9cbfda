// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// KERNEL1/2/3(name, result, operand types, expression) makes a kernel that
// applies an expression in a, b and c to each element; for the host, a function
// of the same name with the same loop. test_hip_elementwise.py reads the lines
// that begin so.

#ifndef WAVESMITH_TEST_PEERS_HIP_ELEMENTWISE_H
#define WAVESMITH_TEST_PEERS_HIP_ELEMENTWISE_H

#include "peers.h"

#ifdef __HIP__
#define ELEMENTS                                                               \
  u32 i = globalX();                                                           \
  if (i < n)
#define ELEMENTWISE KERNEL
#else
#define ELEMENTS for (u32 i = 0; i < n; ++i)
#define ELEMENTWISE extern "C"
#endif

#define KERNEL1(NAME, R, A, ...)                                               \
  ELEMENTWISE void NAME(R *r, const A *as, u32 n) {                            \
    ELEMENTS {                                                                 \
      A a = as[i];                                                             \
      r[i] = __VA_ARGS__;                                                      \
    }                                                                          \
  }
#define KERNEL2(NAME, R, A, B, ...)                                            \
  ELEMENTWISE void NAME(R *r, const A *as, const B *bs, u32 n) {               \
    ELEMENTS {                                                                 \
      A a = as[i];                                                             \
      B b = bs[i];                                                             \
      r[i] = __VA_ARGS__;                                                      \
    }                                                                          \
  }
#define KERNEL3(NAME, R, A, B, C, ...)                                         \
  ELEMENTWISE void NAME(R *r, const A *as, const B *bs, const C *cs, u32 n) {  \
    ELEMENTS {                                                                 \
      A a = as[i];                                                             \
      B b = bs[i];                                                             \
      C c = cs[i];                                                             \
      r[i] = __VA_ARGS__;                                                      \
    }                                                                          \
  }

#endif // WAVESMITH_TEST_PEERS_HIP_ELEMENTWISE_H
