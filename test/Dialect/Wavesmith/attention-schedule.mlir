// RUN: wavesmith-opt %s | FileCheck %s -enable-var-scope
// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s -enable-var-scope
// RUN: wavesmith-opt %s --mlir-print-op-generic | wavesmith-opt | FileCheck %s -enable-var-scope

// What has the value that it would have anyway is not printed; all else comes back.

// CHECK: least = #wavesmith.attention_schedule<version = 1>
// CHECK-SAME: most = #wavesmith.attention_schedule<version = 1, waves = 8, keys = 128, waves_per_simd = 1, prefetch = 0, rescale_above = 8, rounding = truncate, priority = 3, dies = 8>
// CHECK-SAME: order = #wavesmith.attention_schedule<version = 1, waves = 2, keys = 32>
// CHECK-SAME: same = #wavesmith.attention_schedule<version = 1>
module attributes {
  test.least = #wavesmith.attention_schedule<version = 1>,
  test.most = #wavesmith.attention_schedule<version = 1, waves = 8, keys = 128, waves_per_simd = 1, prefetch = 0, rescale_above = 8, rounding = truncate, priority = 3, dies = 8>,
  test.order = #wavesmith.attention_schedule<keys = 32, waves = 2, version = 1>,
  test.same = #wavesmith.attention_schedule<version = 1, waves = 4, keys = 64, waves_per_simd = 2, prefetch = 1, rescale_above = 0, rounding = nearest_even, priority = 0, dies = 1>
} {}
