// RUN: wavesmith-opt %s --wavesmith-distribute-tiles -verify-diagnostics -split-input-file

// expected-error @+1 {{expected one wavesmith.grid_workgroup and a return, nothing else}}
func.func @f(%n: index) {
  %c = arith.constant 0 : index
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
  }
  return
}

// -----

#l = #wavesmith.layout<registers = [], lanes = [[1], [2], [4], [8], [16], [32]], waves = []>
func.func @f(%x: memref<?xf32>, %n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    // expected-error @+1 {{expected a memref.reinterpret_cast of a kernel argument, or one of fixed shape, got 'memref<?xf32>'}}
    %0 = wavesmith.load_tile %x[%i] : memref<?xf32> -> tensor<64xf32, #l>
  }
  return
}

// -----

#l = #wavesmith.layout<registers = [], lanes = [[1], [2], [4], [8], [16], [0]], waves = []>
#s = #wavesmith.lds_layout<contiguous = 0, padding = 0>
func.func @f(%n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    %0 = arith.constant dense<1.0> : tensor<32xf32, #l>
    // expected-error @+1 {{cannot stage a tile that several lanes hold}}
    %1 = wavesmith.stage_tile %0 : tensor<32xf32, #l> -> tensor<32xf32, #s>
  }
  return
}

// -----

#l = #wavesmith.layout<registers = [], lanes = [[1], [2], [4], [8], [16], [32]], waves = []>
#s = #wavesmith.lds_layout<contiguous = 0, padding = 0>
module attributes {wavesmith.target = #wavesmith.target<"gfx942", chip = "mi300x">} {
func.func @f(%n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    %0 = arith.constant dense<1.0> : tensor<32768xf32, #l>
    // expected-error @+1 {{the workgroup's staged tiles need 131072 bytes of LDS with this one; gfx942 has 65536}}
    %1 = wavesmith.stage_tile %0 : tensor<32768xf32, #l> -> tensor<32768xf32, #s>
  }
  return
}
}

// -----

#d = #wavesmith.layout<registers = [[1, 0], [2, 0], [8, 0], [16, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = []>
#a = #wavesmith.layout<registers = [[0, 1], [0, 2], [0, 4]], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 8]], waves = []>
#b = #wavesmith.layout<registers = [[1, 0], [2, 0], [4, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [8, 0]], waves = []>
module attributes {wavesmith.target = #wavesmith.target<"gfx90a", chip = "mi250x">} {
func.func @f(%n: index) {
  wavesmith.grid_workgroup affine_map<(n) -> (n)>(%n) waves 1 {
  ^bb0(%i: index):
    %a = arith.constant dense<1.0> : tensor<32x16xf8E4M3FNUZ, #a>
    %b = arith.constant dense<1.0> : tensor<16x32xf8E4M3FNUZ, #b>
    %c = arith.constant dense<1.0> : tensor<32x32xf32, #d>
    // expected-error @+1 {{gfx90a has no matrix instruction for 'f8E4M3FNUZ'}}
    %0 = wavesmith.dot %a, %b, %c : tensor<32x16xf8E4M3FNUZ, #a>, tensor<16x32xf8E4M3FNUZ, #b>, tensor<32x32xf32, #d>
  }
  return
}
}
