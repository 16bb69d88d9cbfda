// RUN: wavesmith-opt %s -wavesmith-combine-divisions | FileCheck %s

// CHECK-LABEL: @combined
// CHECK: %[[Y:.*]] = wavesmith.load_zone
// CHECK: %[[A:.*]] = wavesmith.load_zone
// CHECK: %[[SUM:.*]] = arith.addf %[[Y]], %[[A]] : tensor<3xf64>
// CHECK: %[[PART:.*]] = arith.divf %[[Y]], %[[SUM]] : tensor<3xf64>
// CHECK: %[[SIGN:.*]] = math.copysign %{{.*}}, %[[Y]] : tensor<3xf64>
// CHECK: %[[TURNED:.*]] = arith.mulf %[[A]], %[[SIGN]] : tensor<3xf64>
// CHECK: %[[SIZE:.*]] = math.absf %[[Y]] : tensor<3xf64>
// CHECK: %[[X:.*]] = arith.mulf %[[A]], %[[PART]] : tensor<3xf64>
// CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[TURNED]], %[[SIZE]] : tensor<3xf64>
// CHECK: arith.select %[[ABOVE]], %[[X]], %[[Y]]
// CHECK-NOT: arith.divf
func.func @combined(%in: memref<3x?xf64> {wavesmith.name = "y"}, %change: memref<3x?xf64> {wavesmith.name = "a"},
                    %out: memref<3x?xf64> {wavesmith.name = "z", wavesmith.output},
                    %num_zones: index {wavesmith.name = "num_zones"}) {
  wavesmith.workgroup zones %num_zones size 64 threads_per_zone 64 {
    %y = wavesmith.load_zone %in : memref<3x?xf64> -> tensor<3xf64>
    %a = wavesmith.load_zone %change : memref<3x?xf64> -> tensor<3xf64>
    %one = arith.constant dense<1.0> : tensor<3xf64>
    %q = arith.divf %a, %y : tensor<3xf64>
    %sum = arith.addf %one, %q : tensor<3xf64>
    %x = arith.divf %a, %sum : tensor<3xf64>
    %above = arith.cmpf ogt, %q, %one : tensor<3xf64>
    %z = arith.select %above, %x, %y : tensor<3xi1>, tensor<3xf64>
    wavesmith.store_zone %z, %out : tensor<3xf64>, memref<3x?xf64>
  }
  return
}

// A quotient that something else reads stays.
// CHECK-LABEL: @kept
// CHECK-COUNT-2: arith.divf
func.func @kept(%in: memref<3x?xf64> {wavesmith.name = "y"}, %change: memref<3x?xf64> {wavesmith.name = "a"},
                %out: memref<3x?xf64> {wavesmith.name = "z", wavesmith.output},
                %num_zones: index {wavesmith.name = "num_zones"}) {
  wavesmith.workgroup zones %num_zones size 64 threads_per_zone 64 {
    %y = wavesmith.load_zone %in : memref<3x?xf64> -> tensor<3xf64>
    %a = wavesmith.load_zone %change : memref<3x?xf64> -> tensor<3xf64>
    %one = arith.constant dense<1.0> : tensor<3xf64>
    %q = arith.divf %a, %y : tensor<3xf64>
    %sum = arith.addf %one, %q : tensor<3xf64>
    %x = arith.divf %a, %sum : tensor<3xf64>
    %z = arith.mulf %x, %q : tensor<3xf64>
    wavesmith.store_zone %z, %out : tensor<3xf64>, memref<3x?xf64>
  }
  return
}
