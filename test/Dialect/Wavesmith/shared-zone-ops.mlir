// RUN: wavesmith-opt %s | FileCheck %s
// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s
// RUN: wavesmith-opt %s --mlir-print-op-generic | wavesmith-opt | FileCheck %s

// The operations of workgroups with several threads a zone.

// CHECK-LABEL: func.func @kernel
func.func @kernel(%in: memref<7x?xf64>, %scale: memref<?xf32>, %out: memref<?x2xf64>, %count: memref<?xi32>, %n: index) {
  // CHECK: wavesmith.workgroup zones %{{.*}} size 256 threads_per_zone 16 {
  wavesmith.workgroup zones %n size 256 threads_per_zone 16 {
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1 : i32
    // CHECK: wavesmith.load_zone %{{.*}} : memref<7x?xf64> -> tensor<7xf64>
    %y = wavesmith.load_zone %in : memref<7x?xf64> -> tensor<7xf64>
    // CHECK: wavesmith.load_zone %{{.*}} : memref<?xf32> -> f32
    %s = wavesmith.load_zone %scale : memref<?xf32> -> f32
    // CHECK: wavesmith.table dense<[6, 0]> : tensor<2xi32>
    %at = wavesmith.table dense<[6, 0]> : tensor<2xi32>
    // CHECK: wavesmith.stage %{{.*}} in lds : tensor<7xf64>
    %shared = wavesmith.stage %y in lds : tensor<7xf64>
    // CHECK: wavesmith.stage %{{.*}} in registers : tensor<2xi32>
    %kept = wavesmith.stage %at in registers : tensor<2xi32>
    // CHECK: wavesmith.gather %{{.*}}[%{{.*}}] : tensor<7xf64>, tensor<2xi32> -> tensor<2xf64>
    %g = wavesmith.gather %shared[%kept] : tensor<7xf64>, tensor<2xi32> -> tensor<2xf64>
    // CHECK: wavesmith.segmented_reduce(%{{.*}}, %{{.*}}) init(%{{.*}}) segments [0, 3, 7] lanes [1, 4] : (tensor<7xf64>, tensor<7xf64>), f64 -> tensor<2xf64> accumulate {
    %sum = wavesmith.segmented_reduce(%y, %y) init(%zero) segments [0, 3, 7] lanes [1, 4] : (tensor<7xf64>, tensor<7xf64>), f64 -> tensor<2xf64>
    accumulate {
    // CHECK: ^{{.*}}(%{{.*}}: f64, %{{.*}}: f64, %{{.*}}: f64):
    ^bb0(%acc: f64, %value: f64, %weight: f64):
      %next = math.fma %weight, %value, %acc : f64
      // CHECK: wavesmith.yield %{{.*}} : f64
      wavesmith.yield %next : f64
    // CHECK: } combine {
    } combine {
    ^bb0(%a: f64, %b: f64):
      %both = arith.addf %a, %b : f64
      wavesmith.yield %both : f64
    }
    %all = arith.addf %g, %sum : tensor<2xf64>
    // CHECK: wavesmith.store_zone %{{.*}}, %{{.*}} : tensor<2xf64>, memref<?x2xf64>
    wavesmith.store_zone %all, %out : tensor<2xf64>, memref<?x2xf64>
    // CHECK: wavesmith.store_zone %{{.*}}, %{{.*}} : i32, memref<?xi32>
    wavesmith.store_zone %one, %count : i32, memref<?xi32>
  }
  return
}
