// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s -enable-var-scope

#d = #wavesmith.layout<registers = [[1, 0], [2, 0], [8, 0], [16, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = [[0, 32]]>
#a = #wavesmith.layout<registers = [[0, 1], [0, 2]], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]], waves = [[0, 0]]>
#b = #wavesmith.layout<registers = [[1, 0], [2, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = [[0, 32]]>
#row = #wavesmith.layout<registers = [], lanes = [[1], [2], [4], [8], [16], [0]], waves = [[32]]>
#load = #wavesmith.layout<registers = [[0, 1]], lanes = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0], [8, 0]], waves = [[16, 0]]>
#lds = #wavesmith.lds_layout<contiguous = 1, padding = 8>

// CHECK-LABEL: func.func @tiles
func.func @tiles(%x: memref<?xf16>, %y: memref<32xf32>, %n: index) {
  // CHECK: wavesmith.grid_workgroup #{{.+}}(%{{.+}}) waves 2 {
  wavesmith.grid_workgroup affine_map<(n) -> (n ceildiv 64)>(%n) waves 2 {
  ^bb0(%i: index):
    %c0 = arith.constant 0 : index
    %view = memref.reinterpret_cast %x to offset: [0], sizes: [%n, 8], strides: [8, 1] : memref<?xf16> to memref<?x8xf16, strided<[8, 1]>>
    // CHECK: wavesmith.load_tile %{{.+}}[%{{.+}}, %{{.+}}] vector 2 : memref<?x8xf16, strided<[8, 1]>> -> tensor<32x8xf16, #
    %loaded = wavesmith.load_tile %view[%i, %c0] vector 2 : memref<?x8xf16, strided<[8, 1]>> -> tensor<32x8xf16, #load>
    // CHECK: wavesmith.stage_tile %{{.+}} : tensor<32x8xf16, #wavesmith.layout<{{.+}}>> -> tensor<32x8xf16, #
    %staged = wavesmith.stage_tile %loaded : tensor<32x8xf16, #load> -> tensor<32x8xf16, #lds>
    // CHECK: wavesmith.read_tile
    %lhs = wavesmith.read_tile %staged : tensor<32x8xf16, #lds> -> tensor<32x8xf16, #a>
    %rhs = arith.constant dense<1.0> : tensor<8x64xf16, #b>
    // CHECK: arith.constant dense<0.000000e+00> : tensor<32x64xf32, #wavesmith.layout<registers = {{\[}}[1, 0], [2, 0], [8, 0], [16, 0]], lanes = {{\[}}[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = {{\[}}[0, 32]]>>
    %zero = arith.constant dense<0.0> : tensor<32x64xf32, #d>
    // CHECK: wavesmith.dot %{{.+}}, %{{.+}}, %{{.+}} : tensor<32x8xf16, #wavesmith.layout<{{.+}}>>, tensor<8x64xf16, #wavesmith.layout<{{.+}}>>, tensor<32x64xf32, #wavesmith.layout<{{.+}}>>
    %sum = wavesmith.dot %lhs, %rhs, %zero : tensor<32x8xf16, #a>, tensor<8x64xf16, #b>, tensor<32x64xf32, #d>
    %long_lhs = arith.constant dense<1.0> : tensor<32x32xf16, #a>
    %long_rhs = arith.constant dense<1.0> : tensor<32x64xf16, #b>
    // CHECK: wavesmith.dot %{{.+}}, %{{.+}}, %{{.+}} partial_sums 4 : tensor<32x32xf16,
    %parts = wavesmith.dot %long_lhs, %long_rhs, %zero partial_sums 4 : tensor<32x32xf16, #a>, tensor<32x64xf16, #b>, tensor<32x64xf32, #d>
    // CHECK: wavesmith.reduce_tile %{{.+}} dimension 0 : tensor<32x64xf32, #wavesmith.layout<{{.+}}>> -> tensor<64xf32, #wavesmith.layout<{{.+}}>> {
    %largest = wavesmith.reduce_tile %sum dimension 0 : tensor<32x64xf32, #d> -> tensor<64xf32, #row> {
    ^bb0(%one: f32, %other: f32):
      %both = arith.maxnumf %one, %other : f32
      wavesmith.yield %both : f32
    }
    // CHECK: wavesmith.broadcast_tile %{{.+}} dimension 0
    %spread = wavesmith.broadcast_tile %largest dimension 0 : tensor<64xf32, #row> -> tensor<32x64xf32, #d>
    // CHECK: wavesmith.tile_position dimension 1 : tensor<32x64xi32, #wavesmith.layout<{{.+}}>>
    %position = wavesmith.tile_position dimension 1 : tensor<32x64xi32, #d>
    // CHECK: wavesmith.store_tile %{{.+}}, %{{.+}}[%{{.+}}] : tensor<64xf32, #wavesmith.layout<{{.+}}>>, memref<32xf32>
    wavesmith.store_tile %largest, %y[%i] : tensor<64xf32, #row>, memref<32xf32>
  }
  return
}

// What scores with options take.
// CHECK-LABEL: func.func @gathered
func.func @gathered(%table: memref<?xf16>, %y: memref<64xf16>, %n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n ceildiv 64)>(%n) waves 2 {
  ^bb0(%i: index):
    // CHECK: %[[AT:.+]] = arith.constant dense<3> : tensor<64xi64, #[[ROW:.+]]>
    %at = arith.constant dense<3> : tensor<64xi64, #row>
    // CHECK: %[[GATHERED:.+]] = wavesmith.gather_tile %{{.+}}[%[[AT]]] : memref<?xf16>, tensor<64xi64, #{{.+}}> -> tensor<64xf16, #
    %gathered = wavesmith.gather_tile %table[%at] : memref<?xf16>, tensor<64xi64, #row> -> tensor<64xf16, #row>
    %zero = arith.constant dense<0.0> : tensor<64xf16, #row>
    %grows = arith.cmpf ogt, %gathered, %zero : tensor<64xf16, #row>
    // CHECK: wavesmith.any_tile %{{.+}} : tensor<64xi1, #
    %any = wavesmith.any_tile %grows : tensor<64xi1, #row>
    wavesmith.store_tile %gathered, %y[%i] : tensor<64xf16, #row>, memref<64xf16>
  }
  return
}
