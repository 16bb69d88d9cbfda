// RUN: wavesmith-opt %s --pass-pipeline='builtin.module(gpu.module(wavesmith-lower-kernel-arguments))' -verify-diagnostics -split-input-file

gpu.module @kernels {
  // expected-error @+1 {{expected the number of zones, an index, as the last argument, got 'memref<?xf64>'}}
  gpu.func @f(%y: memref<?xf64>) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{expected dense batches with one dynamic dimension at most, got 'memref<?x?xf64>'}}
  gpu.func @f(%y: memref<?x?xf64>, %n: index) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{expected dense batches with one dynamic dimension at most, got 'memref<4x?xf64, strided<[1, 4]>>'}}
  gpu.func @f(%y: memref<4x?xf64, strided<[1, 4]>>, %n: index) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{expected dense batches with one dynamic dimension at most, got 'memref<f64>'}}
  gpu.func @f(%y: memref<f64>, %n: index) kernel {
    gpu.return
  }
}
