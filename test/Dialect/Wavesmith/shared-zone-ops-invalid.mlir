// RUN: wavesmith-opt %s -verify-diagnostics -split-input-file

// The operations of workgroups with several threads a zone.

func.func @f(%n: index) {
  // expected-error @+1 {{'wavesmith.workgroup' op expected threads_per_zone to divide the size 64, got 0}}
  wavesmith.workgroup zones %n size 64 threads_per_zone 0 {}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{'wavesmith.workgroup' op expected threads_per_zone to divide the size 64, got -2}}
  wavesmith.workgroup zones %n size 64 threads_per_zone -2 {}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{'wavesmith.workgroup' op expected threads_per_zone to divide the size 64, got 48}}
  wavesmith.workgroup zones %n size 64 threads_per_zone 48 {}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{'wavesmith.workgroup' op expected threads_per_zone to be a power of two or the size 96, got 48}}
  wavesmith.workgroup zones %n size 96 threads_per_zone 48 {}
  return
}

// -----

func.func @f(%n: index, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.load_zones' op expected a workgroup of one thread a zone; load_zone and store_zone serve several}}
    %y = wavesmith.load_zones %m[%n] : memref<4x?xf64> -> tensor<64xf64>
  }
  return
}

// -----

func.func @f(%n: index, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 {
    // expected-error @+1 {{'wavesmith.load_zone' op expected to stand in a 'wavesmith.workgroup' with threads_per_zone}}
    %y = wavesmith.load_zone %m : memref<4x?xf64> -> tensor<4xf64>
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 {
    // expected-error @+1 {{'wavesmith.store_zone' op expected to stand in a 'wavesmith.workgroup' with threads_per_zone}}
    wavesmith.store_zone %v, %m : tensor<4xf64>, memref<4x?xf64>
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 {
    // expected-error @+1 {{'wavesmith.stage' op expected to stand in a 'wavesmith.workgroup' with threads_per_zone}}
    %s = wavesmith.stage %v in lds : tensor<4xf64>
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 {
    // expected-error @+1 {{'wavesmith.gather' op expected to stand in a 'wavesmith.workgroup' with threads_per_zone}}
    %g = wavesmith.gather %v[%i] : tensor<4xf64>, tensor<3xi32> -> tensor<3xf64>
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op expected to stand in a 'wavesmith.workgroup' with threads_per_zone}}
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [0, 1, 4] : (tensor<4xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%v: tensor<4xf64>) {
  // expected-error @+1 {{'wavesmith.stage' op expected to stand in a 'wavesmith.workgroup' with threads_per_zone}}
  %s = wavesmith.stage %v in lds : tensor<4xf64>
  return
}

// -----

func.func @f(%n: index, %m: memref<?x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.load_zone' op expected exactly one dynamic dimension, the zones, got 'memref<?x?xf64>'}}
    %y = wavesmith.load_zone %m : memref<?x?xf64> -> tensor<4xf64>
  }
  return
}

// -----

func.func @f(%n: index, %z: f64, %m: memref<4xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.store_zone' op expected exactly one dynamic dimension, the zones, got 'memref<4xf64>'}}
    wavesmith.store_zone %z, %m : f64, memref<4xf64>
  }
  return
}

// -----

func.func @f(%n: index, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.load_zone' op expected 'tensor<4xf64>' for 'memref<4x?xf64>', got 'tensor<5xf64>'}}
    %y = wavesmith.load_zone %m : memref<4x?xf64> -> tensor<5xf64>
  }
  return
}

// -----

func.func @f(%n: index, %m: memref<?x4xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.load_zone' op expected 'tensor<4xf64>' for 'memref<?x4xf64>', got 'tensor<4xf32>'}}
    %y = wavesmith.load_zone %m : memref<?x4xf64> -> tensor<4xf32>
  }
  return
}

// -----

func.func @f(%n: index, %z: f64, %m: memref<?xi32>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.store_zone' op expected 'i32' for 'memref<?xi32>', got 'f64'}}
    wavesmith.store_zone %z, %m : f64, memref<?xi32>
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.stage' op expected tensors of a fixed number of elements, at least one, got 'tensor<?xf64>'}}
    %s = wavesmith.stage %v in lds : tensor<?xf64>
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<0xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.stage' op expected tensors of a fixed number of elements, at least one, got 'tensor<0xf64>'}}
    %s = wavesmith.stage %v in registers : tensor<0xf64>
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<?xf64>, %i: tensor<3xi32>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.gather' op expected tensors of a fixed number of elements, at least one, got 'tensor<?xf64>'}}
    %g = wavesmith.gather %v[%i] : tensor<?xf64>, tensor<3xi32> -> tensor<3xf64>
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<?xi32>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.gather' op expected tensors of a fixed number of elements, at least one, got 'tensor<?xi32>'}}
    %g = wavesmith.gather %v[%i] : tensor<4xf64>, tensor<?xi32> -> tensor<?xf64>
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.gather' op expected a result of type 'tensor<3xf64>', got 'tensor<4xf64>'}}
    %g = wavesmith.gather %v[%i] : tensor<4xf64>, tensor<3xi32> -> tensor<4xf64>
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    %t = wavesmith.table dense<[0, 4]> : tensor<2xi32>
    // expected-error @+1 {{'wavesmith.gather' op expected indices from 0 to 3, got 4 at position 1}}
    %g = wavesmith.gather %v[%t] : tensor<4xf64>, tensor<2xi32> -> tensor<2xf64>
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    %t = wavesmith.table dense<[-1, 2]> : tensor<2xi32>
    // expected-error @+1 {{'wavesmith.gather' op expected indices from 0 to 3, got -1 at position 0}}
    %g = wavesmith.gather %v[%t] : tensor<4xf64>, tensor<2xi32> -> tensor<2xf64>
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op expected at least one tensor of elements and one accumulator}}
    "wavesmith.segmented_reduce"(%v) <{operandSegmentSizes = array<i32: 1, 0>, segments = array<i32: 0, 4>}> ({
    ^bb0(%x: f64):
      wavesmith.yield
    }, {
    ^bb0:
      wavesmith.yield
    }) : (tensor<4xf64>) -> ()
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op expected at least one tensor of elements and one accumulator}}
    %r = "wavesmith.segmented_reduce"(%z) <{operandSegmentSizes = array<i32: 0, 1>, segments = array<i32: 0, 4>}> ({
    ^bb0(%a: f64):
      wavesmith.yield %a : f64
    }, {
    ^bb0(%a: f64, %b: f64):
      wavesmith.yield %a : f64
    }) : (f64) -> tensor<1xf64>
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<?xf64>, %z: f64) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op expected tensors of a fixed number of elements, at least one, got 'tensor<?xf64>'}}
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [0, 1, 4] : (tensor<?xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op expected tensors of the same number of elements and the same layout, got 'tensor<4xf64>' and 'tensor<3xi32>'}}
    %r = wavesmith.segmented_reduce(%v, %i) init(%z) segments [0, 1, 4] : (tensor<4xf64>, tensor<3xi32>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64, %j: i32):
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op expected segments that ascend from 0 to 4, the number of elements}}
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [0] : (tensor<4xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op expected segments that ascend from 0 to 4, the number of elements}}
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [1, 4] : (tensor<4xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op expected segments that ascend from 0 to 4, the number of elements}}
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [0, 2, 3] : (tensor<4xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op expected segments that ascend from 0 to 4, the number of elements}}
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [0, 3, 1, 4] : (tensor<4xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op expected one result an accumulator, got 2 accumulators and 1 results}}
    %r = wavesmith.segmented_reduce(%v) init(%z, %z) segments [0, 1, 4] : (tensor<4xf64>), f64, f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op expected a result of type 'tensor<2xf64>', got 'tensor<3xf64>'}}
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [0, 1, 4] : (tensor<4xf64>), f64 -> tensor<3xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op expected lanes for all segments or for each of the 2, got 3}}
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [0, 1, 4] lanes [1, 1, 1] : (tensor<4xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op expected lanes to be powers of two up to the 16 threads of a zone, got 0}}
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [0, 1, 4] lanes [1, 0] : (tensor<4xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op expected lanes to be powers of two up to the 16 threads of a zone, got -1}}
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [0, 1, 4] lanes [1, -1] : (tensor<4xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op expected lanes to be powers of two up to the 16 threads of a zone, got 3}}
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [0, 1, 4] lanes [1, 3] : (tensor<4xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op expected lanes to be powers of two up to the 16 threads of a zone, got 32}}
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [0, 1, 4] lanes [1, 32] : (tensor<4xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op accumulate: expected arguments of types 'f64', 'f64', got 'f64'}}
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [0, 1, 4] : (tensor<4xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64):
      %s = arith.addf %a, %a : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    // expected-error @+1 {{'wavesmith.segmented_reduce' op combine: expected arguments of types 'f64', 'f64', got 'f64'}}
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [0, 1, 4] : (tensor<4xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64):
      %s = arith.addf %a, %a : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [0, 1, 4] : (tensor<4xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %s = arith.addf %a, %x : f64
      // expected-error @+1 {{'wavesmith.yield' op expected values of types 'f64', got 'f64', 'f64'}}
      wavesmith.yield %s, %a : f64, f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [0, 1, 4] : (tensor<4xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      %w = arith.truncf %s : f64 to f32
      // expected-error @+1 {{'wavesmith.yield' op expected values of types 'f64', got 'f32'}}
      wavesmith.yield %w : f32
    }
  }
  return
}

// -----

func.func @f(%n: index, %v: tensor<4xf64>, %i: tensor<3xi32>, %z: f64, %m: memref<4x?xf64>) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 16 {
    %r = wavesmith.segmented_reduce(%v) init(%z) segments [0, 1, 4] : (tensor<4xf64>), f64 -> tensor<2xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      // expected-error @+1 {{'tensor.empty' op not supported in a reduction: expected operations of arith and math}}
      %e = tensor.empty() : tensor<1xf64>
      %s = arith.addf %a, %x : f64
      wavesmith.yield %s : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      wavesmith.yield %s : f64
    }
  }
  return
}

// -----

func.func @f(%x: f64) {
  // expected-error @+1 {{'wavesmith.yield' op expects parent op to be one of 'wavesmith.attention, wavesmith.reduce_tile, wavesmith.segmented_reduce'}}
  wavesmith.yield %x : f64
}
