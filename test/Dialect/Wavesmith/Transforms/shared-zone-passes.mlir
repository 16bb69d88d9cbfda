// Each optional pass alone on hand-written code: sums of k * y_a * y_b in a loop,
// and the largest of them.
//
// RUN: wavesmith-opt %s -wavesmith-simplify-terms | FileCheck %s --check-prefix=SIMPLIFY
// RUN: wavesmith-opt %s -wavesmith-rewrite-reductions | FileCheck %s --check-prefix=REWRITE
// RUN: wavesmith-opt %s -wavesmith-rewrite-reductions -wavesmith-replicate-in-wavefronts | FileCheck %s --check-prefix=REPLICATE
// RUN: wavesmith-opt %s -wavesmith-keep-in-registers | FileCheck %s --check-prefix=KEEP
// RUN: wavesmith-opt %s -wavesmith-keep-in-registers=registers=3 | FileCheck %s --check-prefix=FULL
// RUN: wavesmith-opt %s -wavesmith-narrow-tables | FileCheck %s --check-prefix=NARROW
// RUN: wavesmith-opt %s -wavesmith-promote-to-lds=lds-bytes=65536 | FileCheck %s --check-prefix=PROMOTE
// RUN: wavesmith-opt %s -wavesmith-promote-to-lds=lds-bytes=100 | FileCheck %s --check-prefix=NOROOM
// RUN: not wavesmith-opt %s -wavesmith-promote-to-lds 2>&1 | FileCheck %s --check-prefix=NOTARGET
// RUN: wavesmith-opt %s --remarks-filter=wavesmith -wavesmith-simplify-terms -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// Three products; the two entries of the second segment have the same one.
// SIMPLIFY: wavesmith.segmented_reduce({{.*}} segments [0, 1, 2, 4]
// SIMPLIFY: scf.for
// SIMPLIFY: arith.mulf {{.*}} : tensor<3xf64>
// SIMPLIFY: wavesmith.stage {{.*}} in global : tensor<3xf64>
// SIMPLIFY: wavesmith.segmented_reduce({{.*}} segments [0, 2, 3] : (tensor<3xf64>, tensor<3xf64>)
// SIMPLIFY: math.fma
// REMARK: 4 terms in 3 weighted products

// REWRITE: scf.for
// REWRITE: wavesmith.segmented_reduce({{.*}} segments [0, 2, 4]
// REWRITE: wavesmith.segmented_reduce({{.*}} segments [0, 2] lanes [256]

// REPLICATE: scf.for {{.*}} -> (tensor<3xf64, #wavesmith.per_wavefront>)
// REPLICATE: wavesmith.segmented_reduce({{.*}} segments [0, 3] lanes [64] : (tensor<3xf64, #wavesmith.per_wavefront>)

// KEEP: wavesmith.stage {{.*}} in registers : tensor<4xi32>
// KEEP: scf.for
// KEEP: wavesmith.segmented_reduce({{.*}} segments [0, 2, 4] resident
// FULL: scf.for
// FULL-NOT: resident
// FULL: return

// NARROW-DAG: wavesmith.table dense<[1, 3, 2, 1]> : tensor<4xi8>
// NARROW-DAG: arith.uitofp {{.*}} : tensor<4xi8> to tensor<4xf64>
// NARROW-DAG: arith.extui {{.*}} : tensor<4xi8> to tensor<4xi32>

// PROMOTE: scf.for
// PROMOTE: wavesmith.stage {{.*}} in lds : tensor<3xf64>
// PROMOTE: wavesmith.stage {{.*}} in lds : tensor<4xf64>
// NOROOM: scf.for
// NOROOM: wavesmith.stage {{.*}} in global : tensor<4xf64>
// NOTARGET: error: expected a module with a target

func.func @sums(%in: memref<3x?xf64> {wavesmith.name = "y"}, %rates: memref<4x?xf64> {wavesmith.name = "k"},
                %out: memref<3x?xf64> {wavesmith.name = "z", wavesmith.output},
                %num_zones: index {wavesmith.name = "num_zones"}) {
  wavesmith.workgroup zones %num_zones size 256 threads_per_zone 256 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0.0 : f64
    %y = wavesmith.load_zone %in : memref<3x?xf64> -> tensor<3xf64>
    %k = wavesmith.load_zone %rates : memref<4x?xf64> -> tensor<4xf64>
    %ready = wavesmith.stage %k in global : tensor<4xf64>
    %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%now = %y) -> (tensor<3xf64>) {
      %shared = wavesmith.stage %now in global : tensor<3xf64>
      %a = wavesmith.table dense<[0, 0, 1, 0]> : tensor<4xi32>
      %b = wavesmith.table dense<[1, 2, 2, 1]> : tensor<4xi32>
      %ya = wavesmith.gather %shared[%a] : tensor<3xf64>, tensor<4xi32> -> tensor<4xf64>
      %yb = wavesmith.gather %shared[%b] : tensor<3xf64>, tensor<4xi32> -> tensor<4xf64>
      %kya = arith.mulf %ready, %ya : tensor<4xf64>
      %terms = arith.mulf %kya, %yb : tensor<4xf64>
      %staged = wavesmith.stage %terms in global : tensor<4xf64>
      %at = wavesmith.table dense<[0, 1, 2, 2]> : tensor<4xi32>
      %values = wavesmith.gather %staged[%at] : tensor<4xf64>, tensor<4xi32> -> tensor<4xf64>
      %weights = wavesmith.table dense<[1.0, 3.0, 2.0, 1.0]> : tensor<4xf64>
      %sums = wavesmith.segmented_reduce(%values, %weights) init(%zero) segments [0, 2, 4] : (tensor<4xf64>, tensor<4xf64>), f64 -> tensor<2xf64>
      accumulate {
      ^bb0(%sum: f64, %value: f64, %weight: f64):
        %next = math.fma %weight, %value, %sum : f64
        wavesmith.yield %next : f64
      } combine {
      ^bb0(%one: f64, %other: f64):
        %both = arith.addf %one, %other : f64
        wavesmith.yield %both : f64
      }
      %shown = wavesmith.stage %sums in global : tensor<2xf64>
      %largest = wavesmith.segmented_reduce(%shown) init(%zero) segments [0, 2] : (tensor<2xf64>), f64 -> tensor<1xf64>
      accumulate {
      ^bb0(%most: f64, %value: f64):
        %next = arith.maximumf %most, %value : f64
        wavesmith.yield %next : f64
      } combine {
      ^bb0(%one: f64, %other: f64):
        %both = arith.maximumf %one, %other : f64
        wavesmith.yield %both : f64
      }
      %h = tensor.extract %largest[%c0] : tensor<1xf64>
      %hs = tensor.splat %h : tensor<3xf64>
      %moved = arith.addf %now, %hs : tensor<3xf64>
      %seen = wavesmith.stage %moved in global : tensor<3xf64>
      %total = wavesmith.segmented_reduce(%seen) init(%zero) segments [0, 3] : (tensor<3xf64>), f64 -> tensor<1xf64>
      accumulate {
      ^bb0(%sum: f64, %value: f64):
        %next = arith.addf %sum, %value : f64
        wavesmith.yield %next : f64
      } combine {
      ^bb0(%one: f64, %other: f64):
        %both = arith.addf %one, %other : f64
        wavesmith.yield %both : f64
      }
      %x = tensor.extract %total[%c0] : tensor<1xf64>
      %xs = tensor.splat %x : tensor<3xf64>
      %next_y = arith.divf %moved, %xs : tensor<3xf64>
      scf.yield %next_y : tensor<3xf64>
    }
    wavesmith.store_zone %last, %out : tensor<3xf64>, memref<3x?xf64>
  }
  return
}
