// RUN: wavesmith-opt %s --wavesmith-distribute-to-threads -verify-diagnostics -split-input-file

// expected-error @+1 {{expected one wavesmith.workgroup and a return, nothing else}}
func.func @f(%n: index) {
  wavesmith.workgroup zones %n size 64 {}
  wavesmith.workgroup zones %n size 64 {}
  return
}

// -----

// expected-error @+1 {{expected one wavesmith.workgroup and a return, nothing else}}
func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  wavesmith.workgroup zones %n size 64 {}
  return
}

// -----

// expected-error @+1 {{expected a kernel without results, got 1}}
func.func @f(%n: index) -> index {
  wavesmith.workgroup zones %n size 64 {}
  return %n : index
}

// -----

// expected-error @+1 {{expected batches in memory and scalars as arguments, got 'tensor<2x64xf64>'}}
func.func @f(%a: tensor<2x64xf64>, %n: index) {
  wavesmith.workgroup zones %n size 64 {}
  return
}

// -----

module attributes {wavesmith.target = #wavesmith.target<"gfx942", chip = "mi300x">} {
  func.func @f(%n: index) {
    // expected-error @+1 {{expected a size that is a multiple of 64 and at most 1024 on gfx942, got 48}}
    wavesmith.workgroup zones %n size 48 {}
    return
  }
}

// -----

module attributes {wavesmith.target = #wavesmith.target<"gfx90a", chip = "mi210">} {
  func.func @f(%n: index) {
    // expected-error @+1 {{expected a size that is a multiple of 64 and at most 1024 on gfx90a, got 4294967296}}
    wavesmith.workgroup zones %n size 4294967296 {}
    return
  }
}

// -----

module attributes {wavesmith.target = #wavesmith.target<"gfx1", chip = "">} {
  func.func @f(%n: index) {
    // expected-error @+1 {{unknown target architecture 'gfx1'; known are gfx90a, gfx942}}
    wavesmith.workgroup zones %n size 64 {}
    return
  }
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{expected a size that fits in 32 bits, got 4294967296}}
  wavesmith.workgroup zones %n size 4294967296 {}
  return
}

// -----

func.func @f(%n: index) {
  wavesmith.workgroup zones %n size 2 {
    // expected-error @+1 {{expected the same number in all zones; constants that differ are a wavesmith.table}}
    %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf64>
  }
  return
}

// -----

func.func @f(%n: index) {
  wavesmith.workgroup zones %n size 64 {
    // expected-error @+1 {{result of type 'tensor<32xf64>' is not a block of size 64}}
    %0 = arith.constant dense<1.0> : tensor<32xf64>
  }
  return
}

// -----

func.func @f(%n: index) {
  wavesmith.workgroup zones %n size 64 {
    // expected-error @+1 {{expected the numbers of a constant themselves, as dense<...>}}
    %0 = arith.constant dense_resource<blob> : tensor<64xf64>
  }
  return
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x08000000000000000000F03F"
    }
  }
#-}

// -----

func.func @f(%n: index) {
  wavesmith.workgroup zones %n size 64 {
    // expected-error @+1 {{expected an array of rows of size 64}}
    %0 = tensor.empty() : tensor<64xf64>
  }
  return
}

// -----

func.func @f(%n: index, %x: f64) {
  wavesmith.workgroup zones %n size 64 {
    // expected-error @+1 {{result of type 'tensor<2x64xf64>' is not a block of size 64}}
    %0 = tensor.splat %x : tensor<2x64xf64>
  }
  return
}

// -----

func.func @f(%n: index, %x: f64) {
  wavesmith.workgroup zones %n size 64 {
    %0 = tensor.splat %x : tensor<64xf64>
    // expected-error @+1 {{expected to read a wavesmith.table; one zone's value of a block has no meaning in a thread}}
    %1 = tensor.extract %0[%n] : tensor<64xf64>
  }
  return
}

// -----

func.func @f(%n: index, %x: f64) {
  wavesmith.workgroup zones %n size 64 {
    %0 = tensor.splat %x : tensor<64xf64>
    // expected-error @+1 {{result of type 'tensor<32xf64>' is not a block of size 64}}
    %1 = tensor.extract_slice %0[0] [32] [1] : tensor<64xf64> to tensor<32xf64>
  }
  return
}

// -----

func.func @f(%n: index, %x: f64) {
  wavesmith.workgroup zones %n size 64 {
    %0 = tensor.splat %x : tensor<64xf64>
    // expected-error @+1 {{expected to take a row of an array}}
    %1 = tensor.extract_slice %0[0] [64] [1] : tensor<64xf64> to tensor<64xf64>
  }
  return
}

// -----

func.func @f(%n: index, %x: f64) {
  wavesmith.workgroup zones %n size 64 {
    %0 = tensor.splat %x : tensor<64xf64>
    // expected-error @+1 {{expected to replace a row of an array}}
    %1 = tensor.insert_slice %0 into %0[0] [64] [1] : tensor<64xf64> into tensor<64xf64>
  }
  return
}

// -----

// A column of 64 rows has the size of a block, but is none.
func.func @f(%n: index, %x: f64) {
  wavesmith.workgroup zones %n size 64 {
    %0 = arith.constant dense<0.0> : tensor<64x64xf64>
    // expected-error @+1 {{expected one whole row of an array}}
    %1 = tensor.extract_slice %0[0, 0] [64, 1] [1, 1] : tensor<64x64xf64> to tensor<64xf64>
  }
  return
}

// -----

func.func @f(%n: index, %x: f64) {
  wavesmith.workgroup zones %n size 64 {
    %0 = arith.constant dense<0.0> : tensor<2x64xf64>
    // expected-error @+1 {{operand of type 'tensor<2x64xf64>' is not a block of size 64}}
    %1 = arith.addf %0, %0 : tensor<2x64xf64>
  }
  return
}

// -----

func.func @f(%n: index, %x: f64) {
  wavesmith.workgroup zones %n size 64 {
    %0 = wavesmith.table dense<1.0> : tensor<64xf64>
    // expected-error @+1 {{expected a wavesmith.table to be read with tensor.extract only}}
    %1 = arith.addf %0, %0 : tensor<64xf64>
  }
  return
}

// -----

func.func @f(%n: index, %out: memref<1x?xf64>) {
  wavesmith.workgroup zones %n size 64 {
    %c0 = arith.constant 0 : index
    %0 = wavesmith.table dense<1.0> : tensor<64xf64>
    // expected-error @+1 {{expected a wavesmith.table to be read with tensor.extract only}}
    wavesmith.store_zones %0, %out[%c0] : tensor<64xf64>, memref<1x?xf64>
  }
  return
}

// -----

func.func @f(%n: index, %x: f64) {
  wavesmith.workgroup zones %n size 64 {
    %true = arith.constant true
    // expected-error @+1 {{result of type 'tensor<3xf64>' is not a block of size 64}}
    %1 = scf.if %true -> tensor<3xf64> {
      %2 = tensor.splat %x : tensor<3xf64>
      scf.yield %2 : tensor<3xf64>
    } else {
      %2 = tensor.splat %x : tensor<3xf64>
      scf.yield %2 : tensor<3xf64>
    }
  }
  return
}

// -----

func.func @f(%n: index, %x: f64) {
  wavesmith.workgroup zones %n size 64 {
    // expected-error @+1 {{not supported in a workgroup that gives each zone to a thread}}
    %0 = memref.alloc() : memref<1xf64>
  }
  return
}

// -----

func.func @f(%n: index, %x: f64) {
  wavesmith.workgroup zones %n size 64 {
    // expected-error @+1 {{not supported in a workgroup that gives each zone to a thread}}
    wavesmith.workgroup zones %n size 64 {}
  }
  return
}

// -----

// Arrays are changed in place.

func.func @f(%n: index, %x: f64) {
  wavesmith.workgroup zones %n size 64 {
    %y = tensor.splat %x : tensor<64xf64>
    %array = tensor.empty() : tensor<2x64xf64>
    // expected-note @+1 {{the array is changed here}}
    %1 = tensor.insert_slice %y into %array[0, 0] [1, 64] [1, 1] : tensor<64xf64> into tensor<2x64xf64>
    // expected-error @+1 {{reads an array after a row of it has been replaced; arrays of a workgroup are changed in place}}
    %2 = tensor.extract_slice %array[0, 0] [1, 64] [1, 1] : tensor<2x64xf64> to tensor<64xf64>
  }
  return
}

// -----

func.func @f(%n: index, %x: f64) {
  wavesmith.workgroup zones %n size 64 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %array = tensor.empty() : tensor<2x64xf64>
    %other = arith.constant dense<0.0> : tensor<2x64xf64>
    // expected-error @+1 {{carries an array that is not changed in place}}
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %array) -> tensor<2x64xf64> {
      scf.yield %other : tensor<2x64xf64>
    }
  }
  return
}

// -----

func.func @f(%n: index, %choice: i1) {
  wavesmith.workgroup zones %n size 64 {
    %a = tensor.empty() : tensor<2x64xf64>
    %b = tensor.empty() : tensor<2x64xf64>
    // expected-error @+1 {{yields different arrays from its branches}}
    %1 = scf.if %choice -> tensor<2x64xf64> {
      scf.yield %a : tensor<2x64xf64>
    } else {
      scf.yield %b : tensor<2x64xf64>
    }
  }
  return
}
