// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the two kernels share, in place of HIP's headers, which need ROCm.

#ifndef WAVESMITH_BENCH_LADDER_DEVICE_H
#define WAVESMITH_BENCH_LADDER_DEVICE_H

#define DEVICE __attribute__((device)) inline
#define KERNEL extern "C" __attribute__((global))
#define SHARED __attribute__((shared))

extern "C" __attribute__((device, const)) double __ocml_exp_f64(double);
extern "C" __attribute__((device, const)) double __ocml_log_f64(double);
extern "C" __attribute__((device, const)) double __ocml_cbrt_f64(double);
extern "C" __attribute__((device, const)) double __ocml_pow_f64(double, double);

DEVICE unsigned threadOfBlock() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE unsigned block() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE unsigned blockSize() { return __builtin_amdgcn_workgroup_size_x(); }
DEVICE unsigned laneOfWave() { return threadOfBlock() & 63; }
DEVICE unsigned waveOfBlock() { return threadOfBlock() >> 6; }

/// __syncthreads.
DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

DEVICE double absolute(double x) { return __builtin_fabs(x); }
DEVICE double larger(double a, double b) { return __builtin_fmax(a, b); }
DEVICE double smaller(double a, double b) { return __builtin_fmin(a, b); }

/// __shfl_down: the value of the lane that is so many further on. What lanes
/// get whose source is another segment's is not used.
DEVICE double shuffleDown(double value, unsigned delta) {
  int source = (laneOfWave() + delta) << 2;
  unsigned long long bits = __builtin_bit_cast(unsigned long long, value);
  unsigned low = __builtin_amdgcn_ds_bpermute(source, int(bits));
  unsigned high = __builtin_amdgcn_ds_bpermute(source, int(bits >> 32));
  return __builtin_bit_cast(double, (unsigned long long)high << 32 | low);
}

#endif // WAVESMITH_BENCH_LADDER_DEVICE_H
