// RUN: wavesmith-opt %s --convert-wavesmith-attention-to-workgroup | FileCheck %s -enable-var-scope

// A causal mask: whole tiles in a loop without a mask, the rest in one with it.
// Keys and values of head 8 / 2 = 4 to 1.

// CHECK-LABEL: func.func @attend(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?xbf16, #gpu.address_space<global>> {wavesmith.name = "q"}
// CHECK-SAME: {wavesmith.name = "o", wavesmith.output}
// CHECK-SAME: memref<?xf32, #gpu.address_space<global>> {wavesmith.name = "lse", wavesmith.output}
// CHECK-SAME: {wavesmith.name = "batch"}, %{{.+}}: index {wavesmith.name = "queries"}, %{{.+}}: index {wavesmith.name = "keys"})
// CHECK: wavesmith.grid_workgroup #{{.+}} waves 4
// CHECK: memref.reinterpret_cast %[[Q]] to offset: [%{{.+}}], sizes: [64, %{{.+}}], strides: [1, 512]
// CHECK: scf.for
// CHECK: wavesmith.stage_tile
// CHECK: wavesmith.dot
// CHECK-NOT: arith.select %{{.+}}, %{{.+}}, %{{.+}} : tensor<64x128xi1
// CHECK: math.exp2
// CHECK: arith.truncf
// CHECK: wavesmith.dot
// CHECK: scf.for
// CHECK: wavesmith.dot
// CHECK: wavesmith.tile_position dimension 0
// CHECK: arith.select %{{.+}}, %{{.+}}, %{{.+}} : tensor<64x128xi1
// CHECK: wavesmith.dot
// CHECK: arith.divf
// CHECK: wavesmith.store_tile
// CHECK: math.log2
// CHECK: wavesmith.store_tile
func.func @attend(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>) -> (tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>) {
  %o, %lse = wavesmith.attention %q, %k, %v layout bshd scale 0.125 causal bottom_right : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> (tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>)
  return %o, %lse : tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>
}
