// RUN: wavesmith-opt %s --convert-wavesmith-attention-to-workgroup | FileCheck %s -enable-var-scope

// A causal mask: tiles are masked where an edge passes. The loop is one tile
// ahead with the products of keys and queries: they do not need the exponents
// that weigh the values of the tile before. Loads are on their way for half an
// iteration.
// Keys and values of head 8 / 2 = 4 to 1.

// CHECK-LABEL: func.func @attend(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?xbf16, #gpu.address_space<global>> {wavesmith.name = "q"}
// CHECK-SAME: {wavesmith.name = "o", wavesmith.output}
// CHECK-SAME: memref<?xf32, #gpu.address_space<global>> {wavesmith.name = "lse", wavesmith.output}
// CHECK-SAME: {wavesmith.name = "batch"}, %{{.+}}: index {wavesmith.name = "queries"}, %{{.+}}: index {wavesmith.name = "keys"})
// CHECK: wavesmith.grid_workgroup #{{.+}} waves 4
// CHECK: memref.reinterpret_cast %[[Q]] to offset: [%{{.+}}], sizes: [64, %{{.+}}], strides: [1, 512]
// Nothing is read where no pair takes part.
// CHECK: %[[HAS_TILES:.+]] = arith.cmpi slt, %[[BEGIN:.+]], %[[END:[a-z0-9_]+]] : index
// CHECK: scf.if %[[HAS_TILES]]
// CHECK: wavesmith.stage_tile
// CHECK: wavesmith.stage_tile
// CHECK: wavesmith.dot
// CHECK: wavesmith.stage_tile %{{.+}} into
// CHECK: %[[BEFORE_LAST:.+]] = arith.subi %[[END]], %{{.+}} : index
// CHECK: %[[LOOP:.+]]:7 = scf.for %{{.+}} = %[[BEGIN]] to %[[BEFORE_LAST]] {{.+}} iter_args(%[[KEYS:[a-z0-9]+]] = %{{[^,]+}}, %[[VALUES:[a-z0-9]+]] = %{{[^,]+}}, %[[EXPONENTS:[a-z0-9]+]] = %{{[^,]+}}, {{.+}}, %[[NEXT_KEYS:[a-z0-9]+]] = %{{[^,]+}}) ->
// CHECK: rocdl.s.setprio 1
// CHECK: %[[KEY_TILE:.+]] = wavesmith.read_tile %[[KEYS]]
// CHECK: %[[PRODUCTS:.+]] = wavesmith.dot %[[KEY_TILE]]
// CHECK: wavesmith.stage_tile %[[NEXT_KEYS]] into %[[KEYS]]
// CHECK: %[[NEXT_VALUES:.+]] = wavesmith.load_tile
// CHECK: math.exp2 %[[EXPONENTS]]
// CHECK: arith.truncf
// CHECK: wavesmith.read_tile %[[VALUES]]
// CHECK: wavesmith.dot
// CHECK: wavesmith.stage_tile %[[NEXT_VALUES]] into %[[VALUES]]
// CHECK: wavesmith.load_tile
// CHECK: %[[LARGEST:.+]] = wavesmith.reduce_tile %[[PRODUCTS]] dimension 0 : tensor<64x128xf32, {{.+}}> -> tensor<2x128xf32
// CHECK: rocdl.s.setprio 0
// CHECK: %[[SCORES:.+]]:2 = scf.if
// CHECK: wavesmith.tile_position dimension 0
// CHECK: %[[MASKED:.+]] = arith.select %{{.+}}, %[[PRODUCTS]], %{{.+}} : tensor<64x128xi1
// CHECK: %[[OF_MASKED:.+]] = wavesmith.reduce_tile %[[MASKED]]
// CHECK: scf.yield %[[MASKED]], %[[OF_MASKED]]
// CHECK: scf.yield %[[PRODUCTS]], %[[LARGEST]]
// CHECK: %[[GROWS:.+]] = arith.cmpf ogt
// CHECK: %[[ANY:.+]] = wavesmith.any_tile %[[GROWS]]
// CHECK: scf.if %[[ANY]]
// CHECK: math.exp2 %{{.+}} : tensor<128xf32
// CHECK: %[[NEXT:.+]] = math.fma %[[SCORES]]#0
// CHECK: scf.yield %{{.+}}, %{{.+}}, %[[NEXT]],
// The last tile.
// CHECK: math.exp2 %[[LOOP]]#2
// CHECK: wavesmith.read_tile %[[LOOP]]#1
// CHECK: wavesmith.dot
// CHECK: arith.divf
// CHECK: wavesmith.store_tile
// CHECK: math.log2
// CHECK: wavesmith.store_tile
func.func @attend(%q: tensor<?x?x8x64xbf16>, %k: tensor<?x?x2x64xbf16>, %v: tensor<?x?x2x64xbf16>) -> (tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>) {
  %o, %lse = wavesmith.attention %q, %k, %v layout bshd scale 0.125 causal bottom_right : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> (tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>)
  return %o, %lse : tensor<?x?x8x64xbf16>, tensor<?x8x?xf32>
}

// What a schedule says: one wavefront, tiles of 32 keys, nothing loaded ahead,
// priority where there are products.

// CHECK-LABEL: func.func @scheduled(
// CHECK: waves 1
// CHECK: scf.for {{.+}} -> (tensor<32x64xf16, #wavesmith.lds_layout<{{[^>]+}}>>, tensor<64x32xf16, #wavesmith.lds_layout<{{[^>]+}}>>, tensor<32x32xf32,
// CHECK: rocdl.s.setprio 2
// CHECK: wavesmith.dot
// CHECK-NEXT: arith.constant 0 : index
// CHECK-NEXT: %[[STEP:.+]] = wavesmith.load_tile
// CHECK-NEXT: wavesmith.stage_tile %[[STEP]]
// CHECK: wavesmith.dot
// CHECK: rocdl.s.setprio 0
// CHECK: arith.constant dense<4.000000e+00> : tensor<2x32xf32
func.func @scheduled(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %v: tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16> {
  %o = wavesmith.attention %q, %k, %v layout bshd scale 0.125 {schedule = #wavesmith.attention_schedule<version = 1, waves = 1, keys = 32, prefetch = 0, rescale_above = 4, priority = 2>} : (tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16>) -> tensor<?x?x8x64xf16>
  return %o : tensor<?x?x8x64xf16>
}
