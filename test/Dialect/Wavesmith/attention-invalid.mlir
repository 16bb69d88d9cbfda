// RUN: wavesmith-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

func.func @f(%q: tensor<?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected q of rank 4 with layout bshd, got 'tensor<?x8x64xf16>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected k of rank 3 with layout thd, got 'tensor<?x?x2x64xf16>'}}
  %o = wavesmith.attention %q, %k, %v layout thd scale 0.125
      : (tensor<?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xbf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected v with elements of q's type 'f16', got 'tensor<?x?x2x64xbf16>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xbf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf64>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op operand #0 must be ranked tensor of 32-bit float or 16-bit float or bfloat16 type or f8E4M3FNUZ type values, but got 'tensor<?x?x8x64xf64>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf64>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf8E4M3FN>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op operand #0 must be ranked tensor of 32-bit float or 16-bit float or bfloat16 type or f8E4M3FNUZ type values, but got 'tensor<?x?x8x64xf8E4M3FN>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf8E4M3FN>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected a static number of heads, at least 1, in dimension #2 of q, got 'tensor<?x?x?x64xf16>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x?x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x8x?x64xf16>, %k: tensor<?x0x?x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected a static number of heads, at least 1, in dimension #1 of k, got 'tensor<?x0x?x64xf16>'}}
  %o = wavesmith.attention %q, %k, %v layout bhsd scale 0.125
      : (tensor<?x8x?x64xf16>, tensor<?x0x?x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x60xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected the head dim of v, its last dimension, to be a multiple of 8 from 16 to 256, got 'tensor<?x?x2x60xf16>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x60xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x8xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected the head dim of v, its last dimension, to be a multiple of 8 from 16 to 256, got 'tensor<?x?x2x8xf16>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x8xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x264xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected the head dim of v, its last dimension, to be a multiple of 8 from 16 to 256, got 'tensor<?x?x2x264xf16>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x264xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x?xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected the head dim of v, its last dimension, to be a multiple of 8 from 16 to 256, got 'tensor<?x?x2x?xf16>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x?xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x128xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected k with the head dim of q, 64, got 'tensor<?x?x2x128xf16>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x128xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x4x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected v with as many heads as k, 2, got 'tensor<?x?x4x64xf16>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x4x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x3x64xf16>, %v: tensor<?x?x3x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected the heads of q to be a multiple of those of k and v, 3, got 8}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x3x64xf16>, tensor<?x?x3x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<3x?x2x64xf16>, %v: tensor<2x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected dimension #0 of v, the batch, to be 3, got 'tensor<2x?x2x64xf16>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<3x?x2x64xf16>, tensor<2x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x3x2x64xf16>, %v: tensor<?x2x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected dimension #1 of v, the keys, to be 3, got 'tensor<?x2x2x64xf16>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x3x2x64xf16>, tensor<?x2x2x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x8x64xf16>, %k: tensor<3x2x64xf16>, %v: tensor<2x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected dimension #0 of v, the tokens, to be 3, got 'tensor<2x2x64xf16>'}}
  %o = wavesmith.attention %q, %k, %v layout thd scale 0.125
      : (tensor<?x8x64xf16>, tensor<3x2x64xf16>, tensor<2x2x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected a finite scale, got INF}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0x7FF0000000000000
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected a softcap that is positive and finite, got 0}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 softcap 0.0
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected a softcap that is positive and finite, got -1}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 softcap -1.0
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected window [left, right], got 3 numbers}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 window [1, 2, 3]
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected the edges of the window to be -1 (unlimited) or more, got -2}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 window [1, -2]
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected a window with window_alignment, got none}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 window_alignment top_left
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x8x64xf16>, %k: tensor<?x2x64xf16>, %v: tensor<?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected cumulative_lengths with layout thd, got none}}
  %o = wavesmith.attention %q, %k, %v layout thd scale 0.125
      : (tensor<?x8x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16>) -> tensor<?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>, %a: tensor<?xi32>, %b: tensor<?xi32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected layout thd with cumulative_lengths, got bshd}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 cumulative_lengths %a, %b
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x8x64xf16>, %k: tensor<?x2x64xf16>, %v: tensor<?x2x64xf16>, %a: tensor<3xi32>, %b: tensor<4xi32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected dimension #0 of the cumulative lengths of kv, the batch + 1, to be 3, got 'tensor<4xi32>'}}
  %o = wavesmith.attention %q, %k, %v layout thd scale 0.125 cumulative_lengths %a, %b
      : (tensor<?x8x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16>, tensor<3xi32>, tensor<4xi32>) -> tensor<?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x8x64xf16>, %k: tensor<?x2x64xf16>, %v: tensor<?x2x64xf16>, %a: tensor<0xi32>, %b: tensor<?xi32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected batch + 1 numbers in the cumulative lengths of q, got 'tensor<0xi32>'}}
  %o = wavesmith.attention %q, %k, %v layout thd scale 0.125 cumulative_lengths %a, %b
      : (tensor<?x8x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16>, tensor<0xi32>, tensor<?xi32>) -> tensor<?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>, %b: tensor<?x2x?x?xf32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected dimension #1 of bias, the query heads, to be 1 or 8, got 'tensor<?x2x?x?xf32>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 bias %b
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>, tensor<?x2x?x?xf32>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>, %b: tensor<?x?x?x?xf32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected dimension #1 of bias, the query heads, to be 1 or 8, got 'tensor<?x?x?x?xf32>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 bias %b
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x?x?xf32>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<2x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>, %b: tensor<3x8x?x?xf32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected dimension #0 of bias, the batch (or 1), to be 2, got 'tensor<3x8x?x?xf32>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 bias %b
      : (tensor<2x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>, tensor<3x8x?x?xf32>) -> tensor<2x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x8x64xf16>, %k: tensor<?x2x64xf16>, %v: tensor<?x2x64xf16>, %b: tensor<3x8x?x?xf32>, %x: tensor<3xi32>, %y: tensor<?xi32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected dimension #0 of bias, the batch (or 1), to be 2, got 'tensor<3x8x?x?xf32>'}}
  %o = wavesmith.attention %q, %k, %v layout thd scale 0.125 bias %b cumulative_lengths %x, %y
      : (tensor<?x8x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16>, tensor<3x8x?x?xf32>, tensor<3xi32>, tensor<?xi32>) -> tensor<?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x5x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>, %b: tensor<?x8x4x?xf32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected dimension #2 of bias, the queries (or 1), to be 5, got 'tensor<?x8x4x?xf32>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 bias %b
      : (tensor<?x5x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>, tensor<?x8x4x?xf32>) -> tensor<?x5x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x5x2x64xf16>, %v: tensor<?x?x2x64xf16>, %b: tensor<?x8x?x1xf32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected dimension #3 of bias, the keys, to be 5, got 'tensor<?x8x?x1xf32>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 bias %b
      : (tensor<?x?x8x64xf16>, tensor<?x5x2x64xf16>, tensor<?x?x2x64xf16>, tensor<?x8x?x1xf32>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>, %b: tensor<?x?xf32>) {
  // expected-error @+1 {{'wavesmith.attention' op operand #3 must be 4D tensor of 32-bit float or 16-bit float or bfloat16 type values, but got 'tensor<?x?xf32>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 bias %b
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?xf32>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>, %a: tensor<f32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected alibi slopes as heads or batch x heads, got 'tensor<f32>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 alibi %a
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>, tensor<f32>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>, %a: tensor<2xf32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected one alibi slope a query head, 8, got 'tensor<2xf32>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 alibi %a
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>, tensor<2xf32>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<2x?x2x64xf16>, %v: tensor<?x?x2x64xf16>, %a: tensor<3x8xf32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected dimension #0 of alibi, the batch, to be 2, got 'tensor<3x8xf32>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 alibi %a
      : (tensor<?x?x8x64xf16>, tensor<2x?x2x64xf16>, tensor<?x?x2x64xf16>, tensor<3x8xf32>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>, %a: tensor<1xf32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected q, k and v of type f8E4M3FNUZ with descale_k, got 'f16'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 descale_k %a
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>, tensor<1xf32>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf8E4M3FNUZ>, %k: tensor<?x?x2x64xf8E4M3FNUZ>, %v: tensor<?x?x2x64xf8E4M3FNUZ>, %a: tensor<8xf32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected descale_v to have one number, or one for each of 2 heads, got 'tensor<8xf32>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 descale_v %a
      : (tensor<?x?x8x64xf8E4M3FNUZ>, tensor<?x?x2x64xf8E4M3FNUZ>, tensor<?x?x2x64xf8E4M3FNUZ>, tensor<8xf32>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf8E4M3FNUZ>, %k: tensor<?x?x2x64xf8E4M3FNUZ>, %v: tensor<?x?x2x64xf8E4M3FNUZ>, %a: tensor<?xf32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected descale_q to have one number, or one for each of 8 heads, got 'tensor<?xf32>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 descale_q %a
      : (tensor<?x?x8x64xf8E4M3FNUZ>, tensor<?x?x2x64xf8E4M3FNUZ>, tensor<?x?x2x64xf8E4M3FNUZ>, tensor<?xf32>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>, %a: tensor<?xf32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected a score or mask region with captures, got neither}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 captures(%a)
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>, tensor<?xf32>) -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected o to have the shape of q with the head dim of v, 'tensor<?x?x8x64xf16>', got 'tensor<?x?x8x128xf16>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x128xf16>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op result #0 must be ranked tensor of 32-bit float or 16-bit float or bfloat16 type values, but got 'tensor<?x?x8x64xf64>'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf64>
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected lse to be batch x query heads x queries, 'tensor<?x8x?xf32>', got 'tensor<?x?x8xf32>'}}
  %o, %lse = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> (tensor<?x?x8x64xf16>, tensor<?x?x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<?x8x64xf16>, %k: tensor<?x2x64xf16>, %v: tensor<?x2x64xf16>, %a: tensor<?xi32>, %b: tensor<?xi32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected lse to be query heads x tokens, 'tensor<8x?xf32>', got 'tensor<?x8xf32>'}}
  %o, %lse = wavesmith.attention %q, %k, %v layout thd scale 0.125 cumulative_lengths %a, %b
      : (tensor<?x8x64xf16>, tensor<?x2x64xf16>, tensor<?x2x64xf16>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x8x64xf16>, tensor<?x8xf32>)
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>, %a: tensor<?xf32>) {
  // expected-error @+1 {{'wavesmith.attention' op expected the score region to have 6 arguments (score, batch, head, query, key and 1 captured tensors), got 5}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 captures(%a)
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>, tensor<?xf32>) -> tensor<?x?x8x64xf16>
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        wavesmith.yield %s : f32
      }
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected the mask region to have 4 arguments (batch, head, query, key and 0 captured tensors), got 0}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
      mask {
        %t = arith.constant true
        wavesmith.yield %t : i1
      }
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected argument #0 of the score region to be 'f32', got 'f16'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
      score {
      ^bb0(%s: f16, %b: index, %h: index, %i: index, %j: index):
        wavesmith.yield %s : f16
      }
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected argument #4 of the score region to be 'index', got 'i32'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: i32):
        wavesmith.yield %s : f32
      }
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected the score region to yield one 'f32', got 'index'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        wavesmith.yield %i : index
      }
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected the score region to yield one 'f32', got nothing}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        wavesmith.yield
      }
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-error @+1 {{'wavesmith.attention' op expected the score region to end with a 'wavesmith.yield'}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        "unknown.op"() : () -> ()
      }
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        // expected-error @+1 {{expected arith and math operations and tensor.extract in a region of attention, got 'tensor.empty'}}
        %e = tensor.empty() : tensor<4xf32>
        wavesmith.yield %s : f32
      }
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        // expected-error @+1 {{expected arith and math operations and tensor.extract in a region of attention, got 'unknown.op'}}
        "unknown.op"() : () -> ()
        wavesmith.yield %s : f32
      }
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        // expected-error @+1 {{expected scalars of f32, f16, bf16, i1, i32, i64 and index in a region of attention, got 'f64'}}
        %e = arith.extf %s : f32 to f64
        wavesmith.yield %s : f32
      }
  return
}

// -----

func.func @f(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125
      : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
      score {
      ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
        // expected-error @+1 {{'tensor.extract' op using value defined outside the region}}
        %e = tensor.extract %q[%b, %i, %h, %j] : tensor<?x?x8x64xf16>
        wavesmith.yield %s : f32
      }
  return
}

// -----

func.func @dropout(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x8x64xf16>, %v: tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf16> {
  // expected-error @+1 {{'wavesmith.attention' op does not support the attribute 'dropout', got 1.000000e-01 : f32}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 {dropout = 0.1 : f32}
      : (tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf16>
  return %o : tensor<?x?x8x64xf16>
}

// -----

func.func @misspelt(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x8x64xf16>, %v: tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf16> {
  // expected-error @+1 {{'wavesmith.attention' op does not support the attribute 'soft_cap', got 5.000000e+00 : f64}}
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 {soft_cap = 5.0}
      : (tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>, tensor<?x?x8x64xf16>) -> tensor<?x?x8x64xf16>
  return %o : tensor<?x?x8x64xf16>
}
