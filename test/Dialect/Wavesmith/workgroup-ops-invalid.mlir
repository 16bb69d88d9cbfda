// RUN: wavesmith-opt %s -verify-diagnostics -split-input-file

func.func @f(%n: index) {
  // expected-error @+1 {{'wavesmith.workgroup' op expected a positive size, got 0}}
  wavesmith.workgroup zones %n size 0 {}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{'wavesmith.workgroup' op expected a positive size, got -64}}
  wavesmith.workgroup zones %n size -64 {}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{'wavesmith.workgroup' op expected a body without arguments, got 1}}
  "wavesmith.workgroup"(%n) <{size = 64 : i64}> ({
  ^bb0(%x: index):
  }) : (index) -> ()
  return
}

// -----

func.func @f(%in: memref<2x?xf64>, %i: index) {
  // expected-error @+1 {{'wavesmith.load_zones' op expected to stand in a 'wavesmith.workgroup'}}
  %0 = wavesmith.load_zones %in[%i] : memref<2x?xf64> -> tensor<64xf64>
  return
}

// -----

func.func @f(%out: memref<2x?xf64>, %i: index, %y: tensor<64xf64>) {
  // expected-error @+1 {{'wavesmith.store_zones' op expected to stand in a 'wavesmith.workgroup'}}
  wavesmith.store_zones %y, %out[%i] : tensor<64xf64>, memref<2x?xf64>
  return
}

// -----

func.func @f(%in: memref<2x?xf64>, %i: index) {
  wavesmith.workgroup zones %i size 64 {
    // expected-error @+1 {{'wavesmith.load_zones' op expected a block of the workgroup's size 64, got 'tensor<32xf64>'}}
    %0 = wavesmith.load_zones %in[%i] : memref<2x?xf64> -> tensor<32xf64>
  }
  return
}

// -----

func.func @f(%out: memref<2x?xf64>, %i: index, %y: tensor<?xf64>) {
  wavesmith.workgroup zones %i size 64 {
    // expected-error @+1 {{'wavesmith.store_zones' op expected a block of the workgroup's size 64, got 'tensor<?xf64>'}}
    wavesmith.store_zones %y, %out[%i] : tensor<?xf64>, memref<2x?xf64>
  }
  return
}

// -----

func.func @f(%in: memref<?x?xf64>, %i: index) {
  wavesmith.workgroup zones %i size 64 {
    // expected-error @+1 {{'wavesmith.load_zones' op expected exactly one dynamic dimension, the zones, got 'memref<?x?xf64>'}}
    %0 = wavesmith.load_zones %in[%i] : memref<?x?xf64> -> tensor<64xf64>
  }
  return
}

// -----

func.func @f(%in: memref<2x64xf64>, %i: index) {
  wavesmith.workgroup zones %i size 64 {
    // expected-error @+1 {{'wavesmith.load_zones' op expected exactly one dynamic dimension, the zones, got 'memref<2x64xf64>'}}
    %0 = wavesmith.load_zones %in[%i] : memref<2x64xf64> -> tensor<64xf64>
  }
  return
}

// -----

func.func @f(%in: memref<2x?xf64>, %n: index) {
  wavesmith.workgroup zones %n size 64 {
    %c2 = arith.constant 2 : index
    // expected-error @+1 {{'wavesmith.load_zones' op expected a row of 'memref<2x?xf64>' from 0 to 1, got 2}}
    %0 = wavesmith.load_zones %in[%c2] : memref<2x?xf64> -> tensor<64xf64>
  }
  return
}

// -----

func.func @f(%out: memref<?x2xf64>, %n: index) {
  wavesmith.workgroup zones %n size 64 {
    %c = arith.constant -1 : index
    %y = arith.constant dense<1.0> : tensor<64xf64>
    // expected-error @+1 {{'wavesmith.store_zones' op expected a row of 'memref<?x2xf64>' from 0 to 1, got -1}}
    wavesmith.store_zones %y, %out[%c] : tensor<64xf64>, memref<?x2xf64>
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'wavesmith.table' op expected at least one number, got none}}
  %0 = wavesmith.table dense<> : tensor<0xf64>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'wavesmith.table' op expected the numbers themselves, as dense<[...]>}}
  %0 = wavesmith.table dense_resource<blob> : tensor<2xf64>
  return
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x08000000000000000000F03F000000000000F03F"
    }
  }
#-}
