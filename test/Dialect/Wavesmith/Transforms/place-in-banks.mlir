// Elements 0, 16, 32 and 48 of 64 doubles stand in one bank of LDS. Two lanes
// that read them in the same order meet there each time; the pass gives every
// segment another order, the same for its weights.

// RUN: wavesmith-opt %s -wavesmith-attach-target=architecture=gfx90a -wavesmith-place-in-banks | FileCheck %s
// RUN: wavesmith-opt %s -wavesmith-attach-target=architecture=gfx90a -wavesmith-place-in-banks -o %t1
// RUN: wavesmith-opt %s -wavesmith-attach-target=architecture=gfx90a -wavesmith-place-in-banks -o %t2
// RUN: cmp %t1 %t2
// RUN: wavesmith-opt %s --remarks-filter=wavesmith -wavesmith-attach-target=architecture=gfx90a -wavesmith-place-in-banks -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not wavesmith-opt %s -wavesmith-place-in-banks 2>&1 | FileCheck %s --check-prefix=NOTARGET

// NOTARGET: error: expected a module with a target
// REMARK: read in 2 turns of LDS, before 4; 2 without a conflict

// The first segment keeps 0, 17; the second, 16, 1, is turned around, or the
// first is: each time two banks.
// CHECK-LABEL: @sums
// CHECK: scf.for
// CHECK: %[[STAGE:.*]] = wavesmith.stage %{{.*}} in lds : tensor<64xf64>
// CHECK-DAG: wavesmith.table dense<{{\[(0, 17, 1, 16|17, 0, 16, 1)\]}}> : tensor<4xi32>
// CHECK-DAG: wavesmith.table dense<{{\[(1.000000e\+00, 2.000000e\+00, 4.000000e\+00, 3.000000e\+00|2.000000e\+00, 1.000000e\+00, 3.000000e\+00, 4.000000e\+00)\]}}> : tensor<4xf64>
// CHECK-DAG: wavesmith.gather %[[STAGE]]
// CHECK: wavesmith.segmented_reduce
// CHECK-SAME: segments [0, 2, 4] resident
func.func @sums(%in: memref<64x?xf64> {wavesmith.name = "y"},
                %out: memref<64x?xf64> {wavesmith.name = "z", wavesmith.output},
                %num_zones: index {wavesmith.name = "num_zones"}) {
  wavesmith.workgroup zones %num_zones size 64 threads_per_zone 64 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0.0 : f64
    %y = wavesmith.load_zone %in : memref<64x?xf64> -> tensor<64xf64>
    %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%now = %y) -> (tensor<64xf64>) {
      %shared = wavesmith.stage %now in lds : tensor<64xf64>
      %at = wavesmith.table dense<[0, 17, 16, 1]> : tensor<4xi32>
      %values = wavesmith.gather %shared[%at] : tensor<64xf64>, tensor<4xi32> -> tensor<4xf64>
      %weights = wavesmith.table dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf64>
      %sums = wavesmith.segmented_reduce(%values, %weights) init(%zero) segments [0, 2, 4] resident : (tensor<4xf64>, tensor<4xf64>), f64 -> tensor<2xf64>
      accumulate {
      ^bb0(%sum: f64, %value: f64, %weight: f64):
        %next = math.fma %weight, %value, %sum : f64
        wavesmith.yield %next : f64
      } combine {
      ^bb0(%one: f64, %other: f64):
        %both = arith.addf %one, %other : f64
        wavesmith.yield %both : f64
      }
      %first = wavesmith.table dense<0> : tensor<64xi32>
      %spread = wavesmith.gather %sums[%first] : tensor<2xf64>, tensor<64xi32> -> tensor<64xf64>
      %next_y = arith.addf %now, %spread : tensor<64xf64>
      scf.yield %next_y : tensor<64xf64>
    }
    wavesmith.store_zone %last, %out : tensor<64xf64>, memref<64x?xf64>
  }
  return
}
