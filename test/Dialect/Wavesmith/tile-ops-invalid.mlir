// RUN: wavesmith-opt %s -verify-diagnostics -split-input-file

// expected-error @+1 {{expected 6 lane entries, got 1}}
#l = #wavesmith.layout<registers = [], lanes = [[1]], waves = []>

// -----

// expected-error @+1 {{expected an entry that is a power of two, got 3}}
#l = #wavesmith.layout<registers = [[3]], lanes = [[1], [2], [4], [8], [16], [32]], waves = []>

// -----

// expected-error @+1 {{expected an entry that leads along one dimension, got one that leads along 0}}
#l = #wavesmith.layout<registers = [[0]], lanes = [[1], [2], [4], [8], [16], [32]], waves = []>

// -----

// expected-error @+1 {{expected an entry that leads along one dimension, got one that leads along 2}}
#l = #wavesmith.layout<registers = [[1, 1]], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]], waves = []>

// -----

// expected-error @+1 {{expected the entries of dimension 0 to be 1, 2, 4, ..., each once; 4 is missing}}
#l = #wavesmith.layout<registers = [], lanes = [[1], [2], [8], [16], [32], [64]], waves = []>

// -----

// expected-error @+1 {{expected the entries of dimension 0 to be 1, 2, 4, ..., each once; 1 is there twice}}
#l = #wavesmith.layout<registers = [[1]], lanes = [[1], [2], [4], [8], [16], [32]], waves = []>

// -----

// expected-error @+1 {{expected an entry of 1 numbers, got 2}}
#l = #wavesmith.layout<registers = [], lanes = [[1], [2, 0]], waves = []>

// -----

// expected-error @+1 {{expected the contiguous dimension to be 0 or 1, got 2}}
#l = #wavesmith.lds_layout<contiguous = 2, padding = 0>

// -----

// expected-error @+1 {{expected a padding from 0 to 1048576, got -1}}
#l = #wavesmith.lds_layout<contiguous = 0, padding = -1>

// -----

#l = #wavesmith.layout<registers = [], lanes = [[1], [2], [4], [8], [16], [32]], waves = []>
// expected-error @+1 {{expected the size of dimension 0 to be a multiple of the layout's extent 64, at most 1048576, got 32}}
func.func private @f(tensor<32xf32, #l>)

// -----

#l = #wavesmith.layout<registers = [], lanes = [[1], [2], [4], [8], [16], [32]], waves = []>
// expected-error @+1 {{expected a layout of rank 2, got one of rank 1}}
func.func private @f(tensor<64x64xf32, #l>)

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{expected a grid of one to three sizes, got 0}}
  wavesmith.grid_workgroup affine_map<(n) -> ()>(%n) waves 1 {
  }
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{expected as many operands as the grid's map has dimensions, 2, and no symbols, got 1 operands and 0 symbols}}
  wavesmith.grid_workgroup affine_map<(n, m) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
  }
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{expected a number of waves that is a power of two, at most 16, got 3}}
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 3 {
  ^bb0(%i: index):
  }
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{expected a body with an argument for each of the grid's 1 dimensions, got 0}}
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  }
  return
}

// -----

#l = #wavesmith.layout<registers = [], lanes = [[1], [2], [4], [8], [16], [32]], waves = []>
func.func @f(%x: memref<64xf32>, %n: index) {
  // expected-error @+1 {{expected to stand in a 'wavesmith.grid_workgroup'}}
  %0 = wavesmith.load_tile %x[%n] : memref<64xf32> -> tensor<64xf32, #l>
  return
}

// -----

#l = #wavesmith.layout<registers = [], lanes = [[1], [2], [4], [8], [16], [32]], waves = []>
func.func @f(%x: memref<64xf32>, %n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 2 {
  ^bb0(%i: index):
    // expected-error @+1 {{expected a tile with a layout over the workgroup's 2 wavefronts, got one over 1}}
    %0 = wavesmith.load_tile %x[%i] : memref<64xf32> -> tensor<64xf32, #l>
  }
  return
}

// -----

func.func @f(%x: memref<64xf32>, %n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    // expected-error @+1 {{expected a tile with a #wavesmith.layout, got 'tensor<64xf32>'}}
    %0 = wavesmith.load_tile %x[%i] : memref<64xf32> -> tensor<64xf32>
  }
  return
}

// -----

#l = #wavesmith.layout<registers = [], lanes = [[1], [2], [4], [8], [16], [32]], waves = []>
func.func @f(%x: memref<64xf16>, %n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    // expected-error @+1 {{expected memory of the tile's elements 'f32', got 'memref<64xf16>'}}
    %0 = wavesmith.load_tile %x[%i] : memref<64xf16> -> tensor<64xf32, #l>
  }
  return
}

// -----

#l = #wavesmith.layout<registers = [], lanes = [[1], [2], [4], [8], [16], [32]], waves = []>
func.func @f(%x: memref<64xf32>, %n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    // expected-error @+1 {{expected a vector of 1, 2, 4, 8 or 16 elements, got 3}}
    %0 = wavesmith.load_tile %x[%i] vector 3 : memref<64xf32> -> tensor<64xf32, #l>
  }
  return
}

// -----

#d = #wavesmith.layout<registers = [[1, 0], [2, 0], [4, 0], [16, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [8, 0]], waves = []>
#a = #wavesmith.layout<registers = [[0, 1], [0, 2]], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]], waves = []>
#b = #wavesmith.layout<registers = [[1, 0], [2, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = []>
func.func @f(%n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    %a = arith.constant dense<1.0> : tensor<32x8xf16, #a>
    %b = arith.constant dense<1.0> : tensor<8x32xf16, #b>
    %c = arith.constant dense<1.0> : tensor<32x32xf32, #d>
    // expected-error @+1 {{expected lane entry 2 of lhs to lead to row 8 as the accumulator does}}
    %0 = wavesmith.dot %a, %b, %c : tensor<32x8xf16, #a>, tensor<8x32xf16, #b>, tensor<32x32xf32, #d>
  }
  return
}

// -----

#d = #wavesmith.layout<registers = [[1, 0], [2, 0], [8, 0], [16, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = []>
#a = #wavesmith.layout<registers = [[0, 1], [0, 4]], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 2]], waves = []>
#b = #wavesmith.layout<registers = [[1, 0], [2, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = []>
func.func @f(%n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    %a = arith.constant dense<1.0> : tensor<32x8xf16, #a>
    %b = arith.constant dense<1.0> : tensor<8x32xf16, #b>
    %c = arith.constant dense<1.0> : tensor<32x32xf32, #d>
    // expected-error @+1 {{expected lane entry 5 of lhs and rhs to lead to the same place along K}}
    %0 = wavesmith.dot %a, %b, %c : tensor<32x8xf16, #a>, tensor<8x32xf16, #b>, tensor<32x32xf32, #d>
  }
  return
}

// -----

#l = #wavesmith.layout<registers = [], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 1]], waves = []>
#m = #wavesmith.layout<registers = [], lanes = [[1, 0], [0, 1], [0, 0], [0, 0], [0, 0], [0, 0]], waves = []>
func.func @f(%n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    %a = arith.constant dense<1.0> : tensor<32x2xf32, #l>
    %b = arith.constant dense<1.0> : tensor<2x2xf32, #m>
    // expected-error @+1 {{expected an accumulator in the layout of a 32x32 or 16x16 matrix instruction}}
    %0 = wavesmith.dot %a, %b, %a : tensor<32x2xf32, #l>, tensor<2x2xf32, #m>, tensor<32x2xf32, #l>
  }
  return
}

// -----

#d = #wavesmith.layout<registers = [[1, 0], [2, 0], [8, 0], [16, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = []>
#a = #wavesmith.layout<registers = [[0, 1], [0, 2]], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]], waves = []>
#b = #wavesmith.layout<registers = [[1, 0], [2, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = []>
func.func @f(%n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    %a = arith.constant dense<1.0> : tensor<32x24xf16, #a>
    %b = arith.constant dense<1.0> : tensor<24x32xf16, #b>
    %c = arith.constant dense<1.0> : tensor<32x32xf32, #d>
    // expected-error @+1 {{expected partial_sums to be a power of two that divides the instructions along K, 3, got 3}}
    %0 = wavesmith.dot %a, %b, %c partial_sums 3 : tensor<32x24xf16, #a>, tensor<24x32xf16, #b>, tensor<32x32xf32, #d>
  }
  return
}

// -----

#d = #wavesmith.layout<registers = [[1, 0], [2, 0], [8, 0], [16, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = []>
#a = #wavesmith.layout<registers = [[0, 1], [0, 2]], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]], waves = []>
#b = #wavesmith.layout<registers = [[1, 0], [2, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = []>
func.func @f(%n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    %a = arith.constant dense<1.0> : tensor<32x24xf16, #a>
    %b = arith.constant dense<1.0> : tensor<24x32xf16, #b>
    %c = arith.constant dense<1.0> : tensor<32x32xf32, #d>
    // expected-error @+1 {{expected partial_sums to be a power of two that divides the instructions along K, 3, got 2}}
    %0 = wavesmith.dot %a, %b, %c partial_sums 2 : tensor<32x24xf16, #a>, tensor<24x32xf16, #b>, tensor<32x32xf32, #d>
  }
  return
}

// -----

#d = #wavesmith.layout<registers = [[1, 0], [2, 0], [8, 0], [16, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = []>
#a = #wavesmith.layout<registers = [[0, 1], [0, 2]], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]], waves = []>
#b = #wavesmith.layout<registers = [[1, 0], [2, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = []>
func.func @f(%n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    %a = arith.constant dense<1.0> : tensor<32x16xf16, #a>
    %b = arith.constant dense<1.0> : tensor<16x32xf16, #b>
    %c = arith.constant dense<1.0> : tensor<32x32xf32, #d>
    // expected-error @+1 {{expected partial_sums to be a power of two that divides the instructions along K, 2, got 0}}
    %0 = wavesmith.dot %a, %b, %c partial_sums 0 : tensor<32x16xf16, #a>, tensor<16x32xf16, #b>, tensor<32x32xf32, #d>
  }
  return
}

// -----

#l = #wavesmith.layout<registers = [], lanes = [[1], [2], [4], [8], [16], [32]], waves = []>
func.func @f(%t: memref<?xf32>, %n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    %at = arith.constant dense<0> : tensor<64xi32, #l>
    // expected-error @+1 {{expected indices of 'tensor<64xi64, #wavesmith.layout<}}
    %0 = wavesmith.gather_tile %t[%at] : memref<?xf32>, tensor<64xi32, #l> -> tensor<64xf32, #l>
  }
  return
}

// -----

#l = #wavesmith.layout<registers = [], lanes = [[1], [2], [4], [8], [16], [32]], waves = []>
func.func @f(%t: memref<?xf16>, %n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    %at = arith.constant dense<0> : tensor<64xi64, #l>
    // expected-error @+1 {{expected memory of the tile's elements 'f32', got 'memref<?xf16>'}}
    %0 = wavesmith.gather_tile %t[%at] : memref<?xf16>, tensor<64xi64, #l> -> tensor<64xf32, #l>
  }
  return
}

// -----

#l = #wavesmith.layout<registers = [], lanes = [[1], [2], [4], [8], [16], [32]], waves = []>
func.func @f(%n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    %x = arith.constant dense<0> : tensor<64xi32, #l>
    // expected-error @+1 {{expected a tile of i1, got 'tensor<64xi32}}
    %0 = wavesmith.any_tile %x : tensor<64xi32, #l>
  }
  return
}

// -----

#d = #wavesmith.layout<registers = [[1, 0], [2, 0], [8, 0], [16, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = []>
func.func @f(%n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    // expected-error @+1 {{expected a tile of i32, got 'tensor<32x32xi64}}
    %0 = wavesmith.tile_position dimension 0 : tensor<32x32xi64, #d>
  }
  return
}
