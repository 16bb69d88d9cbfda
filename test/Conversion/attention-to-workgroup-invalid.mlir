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
