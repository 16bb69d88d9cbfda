// RUN: wavesmith-opt %s --convert-wavesmith-attention-to-workgroup -verify-diagnostics -split-input-file

module attributes {wavesmith.target = #wavesmith.target<"gfx90a", chip = "mi250x">} {
func.func @f(%q: tensor<?x8x64xf16>, %k: tensor<?x8x64xf16>, %v: tensor<?x8x64xf16>, %a: tensor<?xi32>, %b: tensor<?xi32>) -> tensor<?x8x64xf16> {
  // expected-error @+1 {{attention with layout thd is not supported on gfx90a yet}}
  %o = wavesmith.attention %q, %k, %v layout thd scale 0.125 cumulative_lengths %a, %b : (tensor<?x8x64xf16>, tensor<?x8x64xf16>, tensor<?x8x64xf16>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x8x64xf16>
  return %o : tensor<?x8x64xf16>
}
}

// -----

module attributes {wavesmith.target = #wavesmith.target<"gfx942", chip = "mi300x">} {
func.func @f(%q: tensor<?x8x?x64xf16>, %k: tensor<?x8x?x64xf16>, %v: tensor<?x8x?x64xf16>) -> tensor<?x8x?x64xf16> {
  // expected-error @+1 {{attention with softcap is not supported on gfx942 yet}}
  %o = wavesmith.attention %q, %k, %v layout bhsd scale 0.125 softcap 30.0 : (tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>) -> tensor<?x8x?x64xf16>
  return %o : tensor<?x8x?x64xf16>
}
}

// -----

func.func @f(%q: tensor<?x8x?x64xf16>, %k: tensor<?x8x?x64xf16>, %v: tensor<?x8x?x64xf16>, %bias: tensor<1x8x?x?xf16>) -> tensor<?x8x?x64xf16> {
  // expected-error @+1 {{attention with bias is not supported on any target yet}}
  %o = wavesmith.attention %q, %k, %v layout bhsd scale 0.125 bias %bias : (tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>, tensor<1x8x?x?xf16>) -> tensor<?x8x?x64xf16>
  return %o : tensor<?x8x?x64xf16>
}

// -----

func.func @f(%q: tensor<?x8x?x64xf16>, %k: tensor<?x8x?x64xf16>, %v: tensor<?x8x?x64xf16>, %slopes: tensor<8xf32>) -> tensor<?x8x?x64xf16> {
  // expected-error @+1 {{attention with alibi is not supported on any target yet}}
  %o = wavesmith.attention %q, %k, %v layout bhsd scale 0.125 alibi %slopes : (tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>, tensor<8xf32>) -> tensor<?x8x?x64xf16>
  return %o : tensor<?x8x?x64xf16>
}

// -----

func.func @f(%q: tensor<?x8x?x96xf16>, %k: tensor<?x8x?x96xf16>, %v: tensor<?x8x?x96xf16>) -> tensor<?x8x?x96xf16> {
  // expected-error @+1 {{attention with head dim 96 is not supported on any target yet}}
  %o = wavesmith.attention %q, %k, %v layout bhsd scale 0.125 : (tensor<?x8x?x96xf16>, tensor<?x8x?x96xf16>, tensor<?x8x?x96xf16>) -> tensor<?x8x?x96xf16>
  return %o : tensor<?x8x?x96xf16>
}

// -----

func.func @f(%q: tensor<?x8x?x64xf16>, %k: tensor<?x8x?x64xf16>, %v: tensor<?x8x?x32xf16>) -> tensor<?x8x?x32xf16> {
  // expected-error @+1 {{attention with head dim of v of 32 is not supported on any target yet}}
  %o = wavesmith.attention %q, %k, %v layout bhsd scale 0.125 : (tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>, tensor<?x8x?x32xf16>) -> tensor<?x8x?x32xf16>
  return %o : tensor<?x8x?x32xf16>
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

// -----

module attributes {wavesmith.target = #wavesmith.target<"gfx942", chip = "mi300x">} {
  func.func @attend(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x8x64xf16>, %v: tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf16> {
    // expected-error @+1 {{needs tiles of at least 4096 elements for its wavefronts, got 32 x 64}}
    %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 {schedule = #wavesmith.attention_schedule<version = 1, waves = 8, keys = 32>} : (tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf16>
    return %o : tensor<?x?x8x64xf16>
  }
}

// -----

module attributes {wavesmith.target = #wavesmith.target<"gfx942", chip = "mi300x">} {
  func.func @attend(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x8x64xf16>, %v: tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf16> {
    // expected-error @+1 {{sets a priority, which is not supported yet}}
    %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 {schedule = #wavesmith.attention_schedule<version = 1, priority = 1>} : (tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf16>
    return %o : tensor<?x?x8x64xf16>
  }
}

// -----

module attributes {wavesmith.target = #wavesmith.target<"gfx942", chip = "mi300x">} {
  func.func @attend(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x8x64xf16>, %v: tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf16> {
    // expected-error @+1 {{renumbers workgroups for dies, which is not supported yet}}
    %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 {schedule = #wavesmith.attention_schedule<version = 1, dies = 8>} : (tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf16>
    return %o : tensor<?x?x8x64xf16>
  }
}
