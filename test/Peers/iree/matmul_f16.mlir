// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix product of halves, summed in f32: MFMA.
func.func @matmul(%a: tensor<128x256xf16>, %b: tensor<256x192xf16>) -> tensor<128x192xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x192xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x192xf32>) -> tensor<128x192xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x256xf16>, tensor<256x192xf16>) outs(%start : tensor<128x192xf32>) -> tensor<128x192xf32>
  return %c : tensor<128x192xf32>
}
