// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A 3 by 3 convolution with 16 channels.
func.func @convolution(%x: tensor<1x18x34x16xf16>, %w: tensor<3x3x16x32xf16>) -> tensor<1x16x32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x16x32x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x16x32x32xf32>) -> tensor<1x16x32x32xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x18x34x16xf16>, tensor<3x3x16x32xf16>) outs(%start : tensor<1x16x32x32xf32>) -> tensor<1x16x32x32xf32>
  return %y : tensor<1x16x32x32xf32>
}
