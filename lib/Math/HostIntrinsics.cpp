//===- HostIntrinsics.cpp - Device intrinsics for the host's ocml ---------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that HostBitcode.cmake puts in place of the device intrinsics
// that ocml calls.
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Target/HardwareSeeds.h"

using namespace wavesmith;

/// The fraction of 2/pi, most significant word first.
static constexpr uint64_t twoOverPi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
    0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab};
/// The number of bits that the instruction knows.
static constexpr unsigned twoOverPiBits = 1201;

extern "C" {

double wavesmith_device_amdgcn_rcp_f64(double x) {
  return hardware::rcp_f64(x);
}

double wavesmith_device_amdgcn_rsq_f64(double x) {
  return hardware::rsq_f64(x);
}

bool wavesmith_device_amdgcn_class_f64(double x, int32_t mask) {
  return hardware::class_f64(x, static_cast<uint32_t>(mask));
}

double wavesmith_device_amdgcn_frexp_mant_f64(double x) {
  return hardware::frexp_mant_f64(x);
}

int32_t wavesmith_device_amdgcn_frexp_exp_i32_f64(double x) {
  return hardware::frexp_exp_i32_f64(x);
}

double wavesmith_device_amdgcn_fract_f64(double x) {
  return hardware::fract_f64(x);
}

/// v_trig_preop_f64 (AMD Instinct MI300 ISA guide, "VOP3"): 53 bits of 2/pi
/// from the bit at which the product with x begins to matter modulo 4, as a
/// number; `segment` counts in steps of 53 bits.
double wavesmith_device_amdgcn_trig_preop_f64(double x, int32_t segment) {
  unsigned exponent = (hardware::bitsOf(x) >> 52) & 0x7ff;
  unsigned shift = (static_cast<unsigned>(segment) & 31) * 53;
  if (exponent > 1077)
    shift += exponent - 1077;
  uint64_t bits = 0;
  for (unsigned i = shift; i != shift + 53; ++i)
    bits = (bits << 1) |
           (i < twoOverPiBits ? (twoOverPi[i / 64] >> (63 - i % 64)) & 1 : 0);
  int scale = -53 - static_cast<int>(shift);
  if (exponent >= 1968)
    scale += 128;
  return hardware::ldexp_f64(static_cast<double>(bits), scale);
}

/// LLVM's f32 exp2 on the device: v_exp_f32 flushes denormal results, so small
/// ones are computed scaled.
float wavesmith_device_exp2_f32(float x) {
  bool small = x < -126.0f;
  float result = hardware::exp_f32(small ? x + 64.0f : x);
  return small ? result * 0x1p-64f : result;
}

/// LLVM's f32 log2 on the device: v_log_f32 flushes denormal sources, so they
/// are scaled first.
float wavesmith_device_log2_f32(float x) {
  bool small = std::fabs(x) < 0x1p-126f;
  float result = hardware::log_f32(small ? x * 0x1p32f : x);
  return small ? result - 32.0f : result;
}

} // extern "C"
