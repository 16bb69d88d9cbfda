// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What OpenCL has and HIP has not: local memory as arguments, and, with code
// objects of version 4, sizes from the dispatch packet.

#define LOCAL __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()

kernel void exchange(global const uint *in, global uint *out, local uint *first,
                     local ulong *second) {
  local uint own[64];
  uint t = LOCAL, size = __builtin_amdgcn_workgroup_size_x();
  uint value = in[GROUP * size + t];
  own[t & 63] = t;
  first[t] = value;
  second[t] = (ulong)value * value;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  uint other = size - 1 - t;
  out[GROUP * size + t] = first[other] + (uint)(second[t ^ 1] >> 32) + own[other & 63];
}

kernel void sizes(global uint *out) {
  out[LOCAL] = __builtin_amdgcn_workgroup_size_x() +
               1000 * __builtin_amdgcn_workgroup_size_y() +
               1000000 * __builtin_amdgcn_grid_size_x();
}
