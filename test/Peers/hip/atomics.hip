// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomics on LDS and on global memory. What they leave does not depend on their
// order; what they return is a permutation that a test can check.

#include "peers.h"

#define RELAXED __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT
#define GROUP __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP

/// Ten places, one for each operation; `old` takes what the operations return.
#define INTEGER_ATOMICS(NAME, T)                                               \
  KERNEL void global_##NAME(T *at, const T *in, T *old) {                      \
    u32 i = globalX(), n = gridSizeX();                                        \
    T v = in[i];                                                               \
    old[i] = __hip_atomic_fetch_add(at, v, RELAXED);                           \
    old[n + i] = __hip_atomic_fetch_sub(at + 1, v, RELAXED);                   \
    old[2 * n + i] = __hip_atomic_fetch_and(at + 2, v | T(0xff00), RELAXED);   \
    old[3 * n + i] = __hip_atomic_fetch_or(at + 3, v & T(0x7777), RELAXED);    \
    old[4 * n + i] = __hip_atomic_fetch_xor(at + 4, v, RELAXED);               \
    old[5 * n + i] = __hip_atomic_fetch_min(at + 5, v, RELAXED);               \
    old[6 * n + i] = __hip_atomic_fetch_max(at + 6, v, RELAXED);               \
    old[7 * n + i] = __hip_atomic_exchange(at + 7, v, RELAXED);                \
    T expected = __hip_atomic_load(at + 8, RELAXED);                           \
    while (!__hip_atomic_compare_exchange_strong(                              \
        at + 8, &expected, T(expected * 3 + 1), __ATOMIC_RELAXED,              \
        __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))                           \
      ;                                                                        \
    old[8 * n + i] = expected;                                                 \
    /* Without a returned value. */                                            \
    __hip_atomic_fetch_add(at + 9, v, RELAXED);                                \
  }                                                                            \
  KERNEL void lds_##NAME(T *out, const T *in, T *old) {                        \
    SHARED T at[10];                                                           \
    u32 i = globalX(), n = gridSizeX(), t = threadX();                         \
    T v = in[i];                                                               \
    if (t < 10)                                                                \
      at[t] = out[10 * blockX() + t];                                          \
    barrier();                                                                 \
    old[i] = __hip_atomic_fetch_add(at, v, GROUP);                             \
    old[n + i] = __hip_atomic_fetch_sub(at + 1, v, GROUP);                     \
    old[2 * n + i] = __hip_atomic_fetch_and(at + 2, v | T(0xff00), GROUP);     \
    old[3 * n + i] = __hip_atomic_fetch_or(at + 3, v & T(0x7777), GROUP);      \
    old[4 * n + i] = __hip_atomic_fetch_xor(at + 4, v, GROUP);                 \
    old[5 * n + i] = __hip_atomic_fetch_min(at + 5, v, GROUP);                 \
    old[6 * n + i] = __hip_atomic_fetch_max(at + 6, v, GROUP);                 \
    old[7 * n + i] = __hip_atomic_exchange(at + 7, v, GROUP);                  \
    T expected = __hip_atomic_load(at + 8, GROUP);                             \
    while (!__hip_atomic_compare_exchange_strong(                              \
        at + 8, &expected, T(expected * 3 + 1), __ATOMIC_RELAXED,              \
        __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP))                       \
      ;                                                                        \
    old[8 * n + i] = expected;                                                 \
    __hip_atomic_fetch_add(at + 9, v, GROUP);                                  \
    barrier();                                                                 \
    if (t < 10)                                                                \
      out[10 * blockX() + t] = at[t];                                          \
  }
INTEGER_ATOMICS(u32, u32)
INTEGER_ATOMICS(i32, i32)
INTEGER_ATOMICS(u64, u64)
INTEGER_ATOMICS(i64, i64)

/// Counters that wrap at a bound.
KERNEL void wrapping(u32 *at, u32 *old, u32 bound) {
  SHARED u32 shared[2];
  u32 i = globalX(), n = gridSizeX(), t = threadX();
  if (t < 2)
    shared[t] = at[2 + t];
  barrier();
  old[i] = __builtin_amdgcn_atomic_inc32(at, bound, __ATOMIC_RELAXED, "agent");
  old[n + i] =
      __builtin_amdgcn_atomic_dec32(at + 1, bound, __ATOMIC_RELAXED, "agent");
  old[2 * n + i] = __builtin_amdgcn_atomic_inc32(shared, bound, __ATOMIC_RELAXED,
                                                 "workgroup");
  old[3 * n + i] = __builtin_amdgcn_atomic_dec32(shared + 1, bound,
                                                 __ATOMIC_RELAXED, "workgroup");
  barrier();
  if (t < 2)
    at[4 + 2 * blockX() + t] = shared[t];
}

/// Sums, minima and maxima of floating-point numbers. With
/// -munsafe-fp-atomics these are single instructions, else loops.
#define FLOAT_ATOMICS(NAME, T)                                                 \
  KERNEL void float_##NAME(T *at, const T *in) {                               \
    SHARED T shared[3];                                                        \
    u32 i = globalX(), t = threadX();                                          \
    T v = in[i];                                                               \
    if (t < 3)                                                                 \
      shared[t] = 0;                                                           \
    barrier();                                                                 \
    __hip_atomic_fetch_add(at, v, RELAXED);                                    \
    __hip_atomic_fetch_min(at + 1, v, RELAXED);                                \
    __hip_atomic_fetch_max(at + 2, v, RELAXED);                                \
    __hip_atomic_fetch_add(shared, v, GROUP);                                  \
    __hip_atomic_fetch_min(shared + 1, v, GROUP);                              \
    __hip_atomic_fetch_max(shared + 2, v, GROUP);                              \
    barrier();                                                                 \
    if (t < 3)                                                                 \
      at[3 + 3 * blockX() + t] = shared[t];                                    \
  }
FLOAT_ATOMICS(f32, f32)
FLOAT_ATOMICS(f64, f64)

/// Two halves at once; sums of small integers are exact.
typedef f16 f16x2 __attribute__((ext_vector_type(2)));
KERNEL void packed_halves(f16x2 *at, const f16x2 *in) {
  u32 i = globalX();
  __builtin_amdgcn_global_atomic_fadd_v2f16(
      (__attribute__((address_space(1))) f16x2 *)(at + i % 7), in[i]);
}

/// The same through pointers of unknown space.
KERNEL void flat_atomics(u32 *at, const u32 *in, u32 *out) {
  SHARED u32 shared[16];
  u32 i = globalX(), t = threadX();
  if (t < 16)
    shared[t] = 0;
  barrier();
  u32 *pointer = in[i] & 1 ? &shared[in[i] / 2 % 16] : &at[in[i] / 2 % 16];
  __hip_atomic_fetch_add(pointer, in[i], RELAXED);
  barrier();
  if (t < 16)
    out[16 * blockX() + t] = shared[t];
}

/// Work that blocks hand out by a counter, with release and acquire: the last block
/// sums what all wrote.
KERNEL void last_block(u32 *counter, u32 *partial, const u32 *in, u32 *out,
                       u32 blocks) {
  SHARED u32 sum, last;
  u32 t = threadX();
  if (t == 0)
    sum = 0;
  barrier();
  __hip_atomic_fetch_add(&sum, in[globalX()], GROUP);
  barrier();
  if (t == 0) {
    __hip_atomic_store(partial + blockX(), sum, __ATOMIC_RELEASE,
                       __HIP_MEMORY_SCOPE_AGENT);
    last = __hip_atomic_fetch_add(counter, 1u, __ATOMIC_ACQ_REL,
                                  __HIP_MEMORY_SCOPE_AGENT) == blocks - 1;
  }
  barrier();
  if (last && t == 0) {
    u32 total = 0;
    for (u32 k = 0; k < blocks; ++k)
      total += __hip_atomic_load(partial + k, RELAXED);
    *out = total;
  }
}

#define AGENT __HIP_MEMORY_SCOPE_AGENT

/// One wavefront after the other adds to a plain variable, under a lock.
KERNEL void spin_lock(u32 *lock, u32 *count) {
  if (laneId() != 0)
    return;
  u32 expected = 0;
  while (!__hip_atomic_compare_exchange_weak(lock, &expected, 1u, __ATOMIC_ACQUIRE,
                                             __ATOMIC_RELAXED, AGENT)) {
    expected = 0;
    __builtin_amdgcn_s_sleep(2);
  }
  *count = *count + 1;
  __hip_atomic_store(lock, 0u, __ATOMIC_RELEASE, AGENT);
}

/// Wavefronts of one workgroup, and workgroups, hand data on through a flag.
KERNEL void flags(u32 *data, u32 *flag, u32 *out) {
  u32 place = blockX() * (blockDimX() / 64) + threadX() / 64;
  if (place) {
    while (!__hip_atomic_load(&flag[place - 1], __ATOMIC_ACQUIRE, AGENT))
      ;
    out[place * 64 + laneId()] = data[(place - 1) * 64 + laneId()];
  }
  data[place * 64 + laneId()] = 3 * place + laneId();
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  if (laneId() == 0)
    __hip_atomic_store(&flag[place], 1u, __ATOMIC_RELEASE, AGENT);
}

/// A scan in one pass: workgroups take tickets and look at the sum of the one
/// before.
KERNEL void look_back(const u32 *in, u32 *out, u32 *state) {
  SHARED u32 ticket, before, sums[64];
  u32 t = threadX();
  if (t == 0)
    ticket = __hip_atomic_fetch_add(&state[0], 1u, __ATOMIC_RELAXED, AGENT);
  barrier();
  u32 block = ticket;
  sums[t] = in[64 * block + t];
  barrier();
  if (t == 0) {
    u32 sum = 0;
    for (u32 i = 0; i < 64; ++i) {
      u32 value = sums[i];
      sums[i] = sum;
      sum += value;
    }
    u32 seen = 0x80000000u;
    if (block)
      do
        seen = __hip_atomic_load(&state[block], __ATOMIC_ACQUIRE, AGENT);
      while (!(seen & 0x80000000u));
    before = seen & 0x7fffffffu;
    __hip_atomic_store(&state[block + 1], (before + sum) | 0x80000000u,
                       __ATOMIC_RELEASE, AGENT);
  }
  barrier();
  out[64 * block + t] = before + sums[t];
}
