// RUN: wavesmith-opt %s --convert-wavesmith-attention-to-workgroup -verify-diagnostics -split-input-file

module attributes {wavesmith.target = #wavesmith.target<"gfx90a", chip = "mi250x">} {
func.func @f(%q: tensor<?x8x?x64xf8E4M3FNUZ>, %k: tensor<?x8x?x64xf8E4M3FNUZ>, %v: tensor<?x8x?x64xf8E4M3FNUZ>) -> tensor<?x8x?x64xf16> {
  // expected-error @+1 {{attention of 'f8E4M3FNUZ' is not supported on gfx90a, which has no matrix instruction for it}}
  %o = wavesmith.attention %q, %k, %v layout bhsd scale 0.125 : (tensor<?x8x?x64xf8E4M3FNUZ>, tensor<?x8x?x64xf8E4M3FNUZ>, tensor<?x8x?x64xf8E4M3FNUZ>) -> tensor<?x8x?x64xf16>
  return %o : tensor<?x8x?x64xf16>
}
}

// -----

func.func @f(%q: tensor<?x8x?x64xf16>, %k: tensor<?x8x?x64xf16>, %v: tensor<?x8x?x64xf16>) -> tensor<?x8x?x64xf16> {
  // expected-error @+1 {{expected the function's arguments as operands, each once and in order}}
  %o = wavesmith.attention %q, %v, %k layout bhsd scale 0.125 : (tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>) -> tensor<?x8x?x64xf16>
  return %o : tensor<?x8x?x64xf16>
}

// -----

// expected-error @+1 {{expected one wavesmith.attention and the return of its results, nothing else}}
func.func @f(%q: tensor<?x8x?x64xf16>, %k: tensor<?x8x?x64xf16>, %v: tensor<?x8x?x64xf16>) -> tensor<?x8x?x64xf16> {
  %o = wavesmith.attention %q, %k, %v layout bhsd scale 0.125 : (tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>) -> tensor<?x8x?x64xf16>
  return %q : tensor<?x8x?x64xf16>
}

// -----

module attributes {wavesmith.target = #wavesmith.target<"gfx942", chip = "mi300x">} {
  func.func @attend(%q: tensor<?x?x8x128xf32>, %k: tensor<?x?x8x128xf32>, %v: tensor<?x?x8x128xf32>) -> tensor<?x?x8x128xf32> {
    // expected-error @+1 {{needs 131072 bytes of LDS; gfx942 has 65536}}
    %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 {schedule = #wavesmith.attention_schedule<version = 1, keys = 128, waves_per_simd = 1>} : (tensor<?x?x8x128xf32>, tensor<?x?x8x128xf32>, tensor<?x?x8x128xf32>) -> tensor<?x?x8x128xf32>
    return %o : tensor<?x?x8x128xf32>
  }
}

// -----

module attributes {wavesmith.target = #wavesmith.target<"gfx942", chip = "mi300x">} {
  func.func @attend(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x8x64xf16>, %v: tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf16> {
    // expected-error @+1 {{needs more than 96 registers; with waves_per_simd = 8 gfx942 has 64}}
    %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 {schedule = #wavesmith.attention_schedule<version = 1, keys = 64, waves_per_simd = 8>} : (tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf16>
    return %o : tensor<?x?x8x64xf16>
  }
}
