// RUN: wavesmith-opt %s | FileCheck %s
// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s
// RUN: wavesmith-opt %s --mlir-print-op-generic | wavesmith-opt | FileCheck %s

// CHECK-LABEL: func.func @kernel
func.func @kernel(%in: memref<2x?xf64>, %out: memref<?x1xf64>, %num_zones: index) {
  // CHECK: wavesmith.workgroup zones %{{.*}} size 64 {
  wavesmith.workgroup zones %num_zones size 64 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // CHECK: wavesmith.load_zones %{{.*}}[%c1] : memref<2x?xf64> -> tensor<64xf64>
    %y = wavesmith.load_zones %in[%c1] : memref<2x?xf64> -> tensor<64xf64>
    // CHECK: %[[TABLE:.*]] = wavesmith.table dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf64>
    %table = wavesmith.table dense<[1.0, 2.0]> : tensor<2xf64>
    // CHECK: wavesmith.table dense<[3, 4, 5]> : tensor<3xi32>
    %steps = wavesmith.table dense<[3, 4, 5]> : tensor<3xi32>
    // CHECK: wavesmith.store_zones %{{.*}}, %{{.*}}[%c0] : tensor<64xf64>, memref<?x1xf64>
    wavesmith.store_zones %y, %out[%c0] : tensor<64xf64>, memref<?x1xf64>
  }
  return
}
