// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches, loops and calls, where the lanes of a wavefront part ways.

#include "peers.h"

KERNEL void collatz(const u32 *in, u32 *steps) {
  u64 value = in[globalX()];
  u32 count = 0;
  while (value != 1) {
    value = value & 1 ? 3 * value + 1 : value >> 1;
    ++count;
  }
  steps[globalX()] = count;
}

KERNEL void switches(const u32 *in, u32 *out) {
  u32 v = in[globalX()], result = 0;
  switch (v % 12) {
  case 0:
    result = v + 1;
    break;
  case 1:
    result = v * 3;
    [[fallthrough]];
  case 2:
    result += v >> 2;
    break;
  case 3:
  case 4:
    result = __builtin_popcount(v);
    break;
  case 5:
    for (u32 k = 0; k < (v >> 4) % 7; ++k)
      result = result * 5 + k;
    break;
  case 6:
    out[globalX()] = 66;
    return;
  case 7:
    result = v > 1000000 ? v / 7 : v % 13;
    break;
  case 9:
    result = ~v;
    break;
  default:
    result = 12345;
  }
  out[globalX()] = result ^ 0x5a5a;
}

/// Breaks, continues and an exit from the inside of two loops.
KERNEL void nested(const u32 *in, u32 *out) {
  u32 v = in[globalX()], sum = 0;
  for (u32 i = 0; i < 20; ++i) {
    if ((v >> (i % 8)) & 1)
      continue;
    for (u32 j = 0; j < 10; ++j) {
      if (i * j > v % 50)
        break;
      sum += i ^ j;
      if (sum > 400)
        goto done;
    }
    sum += 3;
  }
  sum += 100000;
done:
  out[globalX()] = sum;
}

DEVICE NOINLINE u32 mix(u32 a, u32 b) { return (a ^ (b << 7)) * 2654435761u; }
DEVICE NOINLINE f64 polynomial(const f64 *coefficients, f64 x, u32 n) {
  f64 sum = 0;
  for (u32 k = 0; k < n; ++k)
    sum = sum * x + coefficients[k];
  return sum;
}
struct Pair {
  u64 low;
  f32 high;
  u32 tail[6];
};
/// Arguments and results that do not fit into registers.
DEVICE NOINLINE Pair combine(Pair a, Pair b, u32 x0, u32 x1, u32 x2, u32 x3,
                             u32 x4, u32 x5, u32 x6, u32 x7) {
  Pair result = {a.low + b.low * x7, a.high - b.high, {x0, x1, x2, x3, x4, x5}};
  result.tail[0] += a.tail[5] ^ b.tail[3];
  result.tail[5] += x6;
  return result;
}

/// Calls, some of them by a part of the lanes only.
KERNEL void calls(const u32 *in, const f64 *coefficients, u64 *out, f64 *sums) {
  u32 i = globalX(), v = in[i];
  u32 mixed = mix(v, i);
  if (v & 1)
    mixed += mix(mixed, 17);
  Pair a = {v, f32(v % 100), {1, 2, 3, 4, 5, v}};
  Pair b = {i, 3.0f, {9, 8, 7, v ^ 3, 5, 4}};
  Pair c = combine(a, b, v, i, 2, 3, 4, 5, v % 6, v % 7);
  u64 sum = c.low + u64(i64(c.high));
  for (u32 k = 0; k < 6; ++k)
    sum = sum * 3 + c.tail[k];
  out[i] = sum ^ mixed;
  sums[i] = polynomial(coefficients, f64(v % 10) * 0.1, 3 + v % 4);
}

DEVICE NOINLINE u32 twice(u32 v) { return 2 * v; }
DEVICE NOINLINE u32 square(u32 v) { return v * v; }
DEVICE NOINLINE u32 flip(u32 v) { return ~v; }
typedef u32 (*Function)(u32);
/// Calls by address: each lane another function.
KERNEL void indirect(const u32 *in, u32 *out) {
  Function functions[3] = {twice, square, flip};
  u32 v = in[globalX()];
  out[globalX()] = functions[v % 3](v) + functions[(v >> 8) % 3](v + 1);
}

/// Recursion: a stack whose depth depends on the data.
DEVICE NOINLINE u32 ackermann(u32 m, u32 n) {
  if (m == 0)
    return n + 1;
  if (n == 0)
    return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
KERNEL void recursion(const u32 *in, u32 *out) {
  u32 v = in[globalX()];
  out[globalX()] = ackermann(v % 3, v / 3 % 4);
}

/// Bits of the wavefront's state that a kernel may set.
KERNEL void priorities(const u32 *in, u32 *out) {
  u32 v = in[globalX()];
  __builtin_amdgcn_s_setprio(2);
  v = v * 3 + 1;
  __builtin_amdgcn_s_sleep(1);
  __builtin_amdgcn_sched_barrier(0);
  __builtin_amdgcn_s_setprio(0);
  __builtin_amdgcn_wave_barrier();
  out[globalX()] = v ^ __builtin_amdgcn_wavefrontsize();
}

/// Rounding towards zero for one instruction, by the MODE register; in one piece,
/// as the compiler would set the mode that it expects in between.
KERNEL void rounding(const f64 *in, f64 *out) {
  f64 v = in[globalX()], sum;
  asm volatile("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 3\n"
               "v_add_f64 %0, %1, %2\n"
               "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 0"
               : "=v"(sum)
               : "v"(v), "v"(0x1p-10 * v));
  out[globalX()] = sum;
}

/// Barriers in a loop that all wavefronts run equally often, at their own pace.
KERNEL void barriers(const u32 *in, u32 *out, u32 rounds) {
  SHARED u32 values[256];
  u32 t = threadX(), n = blockDimX();
  values[t] = in[globalX()];
  barrier();
  for (u32 k = 0; k < rounds; ++k) {
    u32 next = values[(t + 64 + k) % n];
    for (u32 j = 0; j < t / 64; ++j)
      next = next * 3 + j;
    barrier();
    values[t] += next;
    barrier();
  }
  out[globalX()] = values[t];
}
