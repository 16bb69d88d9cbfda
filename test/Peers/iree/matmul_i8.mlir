// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
func.func @matmul(%a: tensor<64x128xi8>, %b: tensor<128x64xi8>) -> tensor<64x64xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<64x64xi32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<64x64xi32>) -> tensor<64x64xi32>
  %c = linalg.matmul ins(%a, %b : tensor<64x128xi8>, tensor<128x64xi8>) outs(%start : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %c : tensor<64x64xi32>
}
