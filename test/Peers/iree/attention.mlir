// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two heads, 256 queries and keys, of 64 elements.
#q = affine_map<(h, m, n, k, d) -> (h, m, k)>
#k = affine_map<(h, m, n, k, d) -> (h, n, k)>
#v = affine_map<(h, m, n, k, d) -> (h, n, d)>
#s = affine_map<(h, m, n, k, d) -> ()>
#o = affine_map<(h, m, n, k, d) -> (h, m, d)>
func.func @attention(%q: tensor<2x256x64xf16>, %k: tensor<2x256x64xf16>, %v: tensor<2x256x64xf16>) -> tensor<2x256x64xf16> {
  %scale = arith.constant 0.5 : f16
  %empty = tensor.empty() : tensor<2x256x64xf16>
  %y = iree_linalg_ext.attention <{indexing_maps = [#q, #k, #v, #s, #o]}>
      ins(%q, %k, %v, %scale : tensor<2x256x64xf16>, tensor<2x256x64xf16>, tensor<2x256x64xf16>, f16)
      outs(%empty : tensor<2x256x64xf16>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<2x256x64xf16>
  return %y : tensor<2x256x64xf16>
}
