// RUN: wavesmith-opt %s --wavesmith-attach-target=architecture=gfx942 --wavesmith-select-schedule | FileCheck %s '-D$DIES=, dies = 8' -enable-var-scope
// RUN: wavesmith-opt %s --wavesmith-attach-target=architecture=gfx90a --wavesmith-select-schedule | FileCheck %s '-D$DIES=' -enable-var-scope

// The schedules that attention takes if it has none. Lengths change
// nothing yet, targets the order of workgroups alone. What is not printed has its default.

// CHECK-LABEL: func.func @f16_64(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, priority = 1[[$DIES]]>}
func.func @f16_64(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x8x64xf16>, %v: tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 : (tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf32>
  return %o : tensor<?x?x8x64xf32>
}

// CHECK-LABEL: func.func @f16_128_causal(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, priority = 1[[$DIES]]>}
func.func @f16_128_causal(%q: tensor<?x?x8x128xf16>, %k: tensor<?x?x8x128xf16>, %v: tensor<?x?x8x128xf16>) -> tensor<?x?x8x128xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 causal bottom_right : (tensor<?x?x8x128xf16>, tensor<?x?x8x128xf16>, tensor<?x?x8x128xf16>) -> tensor<?x?x8x128xf32>
  return %o : tensor<?x?x8x128xf32>
}

// CHECK-LABEL: func.func @f16_96_40(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, priority = 1[[$DIES]]>}
func.func @f16_96_40(%q: tensor<?x?x8x96xf16>, %k: tensor<?x?x8x96xf16>, %v: tensor<?x?x8x40xf16>) -> tensor<?x?x8x40xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 window [64, 0] softcap 30.0 : (tensor<?x?x8x96xf16>, tensor<?x?x8x96xf16>, tensor<?x?x8x40xf16>) -> tensor<?x?x8x40xf32>
  return %o : tensor<?x?x8x40xf32>
}

// CHECK-LABEL: func.func @f16_192_128(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, waves_per_simd = 1, prefetch = 0, priority = 1[[$DIES]]>}
func.func @f16_192_128(%q: tensor<?x?x8x192xf16>, %k: tensor<?x?x8x192xf16>, %v: tensor<?x?x8x128xf16>) -> tensor<?x?x8x128xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 : (tensor<?x?x8x192xf16>, tensor<?x?x8x192xf16>, tensor<?x?x8x128xf16>) -> tensor<?x?x8x128xf32>
  return %o : tensor<?x?x8x128xf32>
}

// CHECK-LABEL: func.func @f16_256_causal(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, waves_per_simd = 1, prefetch = 0, priority = 1[[$DIES]]>}
func.func @f16_256_causal(%q: tensor<?x?x8x256xf16>, %k: tensor<?x?x8x256xf16>, %v: tensor<?x?x8x256xf16>) -> tensor<?x?x8x256xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 causal top_left : (tensor<?x?x8x256xf16>, tensor<?x?x8x256xf16>, tensor<?x?x8x256xf16>) -> tensor<?x?x8x256xf32>
  return %o : tensor<?x?x8x256xf32>
}

// CHECK-LABEL: func.func @bf16_64(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, priority = 1[[$DIES]]>}
func.func @bf16_64(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x8x64xbf16>, %v: tensor<?x?x8x64xbf16>) -> tensor<?x?x8x64xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 : (tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>) -> tensor<?x?x8x64xf32>
  return %o : tensor<?x?x8x64xf32>
}

// CHECK-LABEL: func.func @bf16_128_causal(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, priority = 1[[$DIES]]>}
func.func @bf16_128_causal(%q: tensor<?x?x8x128xbf16>, %k: tensor<?x?x8x128xbf16>, %v: tensor<?x?x8x128xbf16>) -> tensor<?x?x8x128xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 causal bottom_right : (tensor<?x?x8x128xbf16>, tensor<?x?x8x128xbf16>, tensor<?x?x8x128xbf16>) -> tensor<?x?x8x128xf32>
  return %o : tensor<?x?x8x128xf32>
}

// CHECK-LABEL: func.func @bf16_96_40(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, priority = 1[[$DIES]]>}
func.func @bf16_96_40(%q: tensor<?x?x8x96xbf16>, %k: tensor<?x?x8x96xbf16>, %v: tensor<?x?x8x40xbf16>) -> tensor<?x?x8x40xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 window [64, 0] softcap 30.0 : (tensor<?x?x8x96xbf16>, tensor<?x?x8x96xbf16>, tensor<?x?x8x40xbf16>) -> tensor<?x?x8x40xf32>
  return %o : tensor<?x?x8x40xf32>
}

// CHECK-LABEL: func.func @bf16_192_128(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, waves_per_simd = 1, prefetch = 0, priority = 1[[$DIES]]>}
func.func @bf16_192_128(%q: tensor<?x?x8x192xbf16>, %k: tensor<?x?x8x192xbf16>, %v: tensor<?x?x8x128xbf16>) -> tensor<?x?x8x128xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 : (tensor<?x?x8x192xbf16>, tensor<?x?x8x192xbf16>, tensor<?x?x8x128xbf16>) -> tensor<?x?x8x128xf32>
  return %o : tensor<?x?x8x128xf32>
}

// CHECK-LABEL: func.func @bf16_256_causal(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, waves_per_simd = 1, prefetch = 0, priority = 1[[$DIES]]>}
func.func @bf16_256_causal(%q: tensor<?x?x8x256xbf16>, %k: tensor<?x?x8x256xbf16>, %v: tensor<?x?x8x256xbf16>) -> tensor<?x?x8x256xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 causal top_left : (tensor<?x?x8x256xbf16>, tensor<?x?x8x256xbf16>, tensor<?x?x8x256xbf16>) -> tensor<?x?x8x256xf32>
  return %o : tensor<?x?x8x256xf32>
}

// CHECK-LABEL: func.func @f8_128(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, rescale_above = 8, priority = 1[[$DIES]]>}
func.func @f8_128(%q: tensor<?x?x8x128xf8E4M3FNUZ>, %k: tensor<?x?x8x128xf8E4M3FNUZ>, %v: tensor<?x?x8x128xf8E4M3FNUZ>) -> tensor<?x?x8x128xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 : (tensor<?x?x8x128xf8E4M3FNUZ>, tensor<?x?x8x128xf8E4M3FNUZ>, tensor<?x?x8x128xf8E4M3FNUZ>) -> tensor<?x?x8x128xf32>
  return %o : tensor<?x?x8x128xf32>
}

// CHECK-LABEL: func.func @f8_256(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, waves_per_simd = 1, prefetch = 0, rescale_above = 8, priority = 1[[$DIES]]>}
func.func @f8_256(%q: tensor<?x?x8x256xf8E4M3FNUZ>, %k: tensor<?x?x8x256xf8E4M3FNUZ>, %v: tensor<?x?x8x256xf8E4M3FNUZ>) -> tensor<?x?x8x256xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 causal bottom_right : (tensor<?x?x8x256xf8E4M3FNUZ>, tensor<?x?x8x256xf8E4M3FNUZ>, tensor<?x?x8x256xf8E4M3FNUZ>) -> tensor<?x?x8x256xf32>
  return %o : tensor<?x?x8x256xf32>
}

// CHECK-LABEL: func.func @f32_64(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, rescale_above = 8, priority = 1[[$DIES]]>}
func.func @f32_64(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x8x64xf32>, %v: tensor<?x?x8x64xf32>) -> tensor<?x?x8x64xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 : (tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32>) -> tensor<?x?x8x64xf32>
  return %o : tensor<?x?x8x64xf32>
}

// CHECK-LABEL: func.func @f32_64_softcap(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, keys = 32, waves_per_simd = 1, prefetch = 0, rescale_above = 8, priority = 1[[$DIES]]>}
func.func @f32_64_softcap(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x8x64xf32>, %v: tensor<?x?x8x64xf32>) -> tensor<?x?x8x64xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 softcap 30.0 : (tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32>) -> tensor<?x?x8x64xf32>
  return %o : tensor<?x?x8x64xf32>
}

// CHECK-LABEL: func.func @f32_128(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, keys = 32, waves_per_simd = 1, prefetch = 0, rescale_above = 8, priority = 1[[$DIES]]>}
func.func @f32_128(%q: tensor<?x?x8x128xf32>, %k: tensor<?x?x8x128xf32>, %v: tensor<?x?x8x128xf32>) -> tensor<?x?x8x128xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 causal bottom_right : (tensor<?x?x8x128xf32>, tensor<?x?x8x128xf32>, tensor<?x?x8x128xf32>) -> tensor<?x?x8x128xf32>
  return %o : tensor<?x?x8x128xf32>
}

// CHECK-LABEL: func.func @f32_256(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, keys = 32, waves_per_simd = 1, prefetch = 0, rescale_above = 8, priority = 1[[$DIES]]>}
func.func @f32_256(%q: tensor<?x?x8x256xf32>, %k: tensor<?x?x8x256xf32>, %v: tensor<?x?x8x256xf32>) -> tensor<?x?x8x256xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 : (tensor<?x?x8x256xf32>, tensor<?x?x8x256xf32>, tensor<?x?x8x256xf32>) -> tensor<?x?x8x256xf32>
  return %o : tensor<?x?x8x256xf32>
}

// Scores that take registers of their own: addresses and functions.
// CHECK-LABEL: func.func @bias(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, keys = 32, waves_per_simd = 1, prefetch = 0, priority = 1[[$DIES]]>}
func.func @bias(%q: tensor<?x?x8x128xbf16>, %k: tensor<?x?x8x128xbf16>, %v: tensor<?x?x8x128xbf16>, %b: tensor<1x1x?x?xf32>) -> tensor<?x?x8x128xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 bias %b : (tensor<?x?x8x128xbf16>, tensor<?x?x8x128xbf16>, tensor<?x?x8x128xbf16>, tensor<1x1x?x?xf32>) -> tensor<?x?x8x128xf32>
  return %o : tensor<?x?x8x128xf32>
}

// CHECK-LABEL: func.func @mask(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, keys = 32, waves_per_simd = 1, prefetch = 0, priority = 1[[$DIES]]>}
func.func @mask(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x8x64xf16>, %v: tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 : (tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf32> mask {
  ^bb0(%b: index, %h: index, %i: index, %j: index):
    %seen = arith.cmpi sle, %j, %i : index
    wavesmith.yield %seen : i1
  }
  return %o : tensor<?x?x8x64xf32>
}

// A schedule that is given stays.
// CHECK-LABEL: func.func @given(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, waves = 1, keys = 128>}
func.func @given(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x8x64xf16>, %v: tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf32> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 {schedule = #wavesmith.attention_schedule<version = 1, waves = 1, keys = 128>} : (tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf32>
  return %o : tensor<?x?x8x64xf32>
}

// Slopes take registers of their own: with the larger tile this one spilled.

// CHECK-LABEL: func.func @f16_128_alibi(
// CHECK: schedule = #wavesmith.attention_schedule<version = 1, keys = 32, waves_per_simd = 1, prefetch = 0, priority = 1[[$DIES]]>}
func.func @f16_128_alibi(%q: tensor<?x?x8x128xf16>, %k: tensor<?x?x8x128xf16>, %v: tensor<?x?x8x128xf16>, %slopes: tensor<8xf32>) -> tensor<?x?x8x128xf16> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 alibi %slopes : (tensor<?x?x8x128xf16>, tensor<?x?x8x128xf16>, tensor<?x?x8x128xf16>, tensor<8xf32>) -> tensor<?x?x8x128xf16>
  return %o : tensor<?x?x8x128xf16>
}
