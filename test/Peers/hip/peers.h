// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels share, in place of HIP's headers: clang's builtins are all
// that is needed.

#ifndef WAVESMITH_TEST_PEERS_HIP_PEERS_H
#define WAVESMITH_TEST_PEERS_HIP_PEERS_H

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
typedef _Float16 f16;

#ifdef __HIP__
#define DEVICE __attribute__((device))
#define KERNEL extern "C" __attribute__((global))
#define SHARED __attribute__((shared))
#define CONSTANT __attribute__((constant))
#define NOINLINE __attribute__((noinline))

DEVICE inline u32 threadX() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE inline u32 threadY() { return __builtin_amdgcn_workitem_id_y(); }
DEVICE inline u32 threadZ() { return __builtin_amdgcn_workitem_id_z(); }
DEVICE inline u32 blockX() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE inline u32 blockY() { return __builtin_amdgcn_workgroup_id_y(); }
DEVICE inline u32 blockZ() { return __builtin_amdgcn_workgroup_id_z(); }
DEVICE inline u32 blockDimX() { return __builtin_amdgcn_workgroup_size_x(); }
DEVICE inline u32 blockDimY() { return __builtin_amdgcn_workgroup_size_y(); }
DEVICE inline u32 blockDimZ() { return __builtin_amdgcn_workgroup_size_z(); }
DEVICE inline u32 gridSizeX() { return __builtin_amdgcn_grid_size_x(); }
/// The number of the work-item in the first dimension of the grid.
DEVICE inline u32 globalX() { return blockX() * blockDimX() + threadX(); }
DEVICE inline u32 laneId() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}

/// What __syncthreads is in HIP.
DEVICE inline void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#else
#define DEVICE
#endif

#endif // WAVESMITH_TEST_PEERS_HIP_PEERS_H
