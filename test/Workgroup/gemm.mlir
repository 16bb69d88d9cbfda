// A small matrix product by hand: C = A B with A of 4 x 3 and B of 3 x 5, both
// of the zone, in rows. Each of the 20 results is a segment of 3 products; what
// to multiply is computed from the number of the product.
//
// RUN: rm -rf %t && mkdir -p %t && %python %S/Inputs/workgroup.py make-gemm %t
// RUN: wavesmith-evaluate %s --input=a=%t/a.npy --input=b=%t/b.npy --output=c=%t/c.npy --output=norm=%t/norm.npy
// RUN: %python %S/Inputs/workgroup.py check-gemm %t

func.func @gemm(%a: memref<12x?xf64> {wavesmith.name = "a"},
                %b: memref<15x?xf64> {wavesmith.name = "b"},
                %c: memref<20x?xf64> {wavesmith.name = "c", wavesmith.output},
                %norm: memref<1x?xf64> {wavesmith.name = "norm", wavesmith.output},
                %num_zones: index {wavesmith.name = "num_zones"}) {
  wavesmith.workgroup zones %num_zones size 64 threads_per_zone 64 {
    %zero = arith.constant 0.0 : f64
    %c3 = arith.constant dense<3> : tensor<60xi32>
    %c5 = arith.constant dense<5> : tensor<60xi32>
    // Product p = 15 i + 3 j + k multiplies A[i, k] by B[k, j].
    %p = wavesmith.table dense<[
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
      15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
      30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44,
      45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59]> : tensor<60xi32>
    %k = arith.remui %p, %c3 : tensor<60xi32>
    %ij = arith.divui %p, %c3 : tensor<60xi32>
    %i = arith.divui %ij, %c5 : tensor<60xi32>
    %j = arith.remui %ij, %c5 : tensor<60xi32>
    %i3 = arith.muli %i, %c3 : tensor<60xi32>
    %at_a = arith.addi %i3, %k : tensor<60xi32>
    %k5 = arith.muli %k, %c5 : tensor<60xi32>
    %at_b = arith.addi %k5, %j : tensor<60xi32>

    %all_a = wavesmith.load_zone %a : memref<12x?xf64> -> tensor<12xf64>
    %all_b = wavesmith.load_zone %b : memref<15x?xf64> -> tensor<15xf64>
    %shared_a = wavesmith.stage %all_a in lds : tensor<12xf64>
    %shared_b = wavesmith.stage %all_b in lds : tensor<15xf64>
    %left = wavesmith.gather %shared_a[%at_a] : tensor<12xf64>, tensor<60xi32> -> tensor<60xf64>
    %right = wavesmith.gather %shared_b[%at_b] : tensor<15xf64>, tensor<60xi32> -> tensor<60xf64>
    %sums = wavesmith.segmented_reduce(%left, %right) init(%zero)
      segments [0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48, 51, 54, 57, 60] : (tensor<60xf64>, tensor<60xf64>), f64 -> tensor<20xf64>
    accumulate {
    ^bb0(%sum: f64, %x: f64, %y: f64):
      %next = math.fma %x, %y, %sum : f64
      wavesmith.yield %next : f64
    } combine {
    ^bb0(%one: f64, %other: f64):
      %both = arith.addf %one, %other : f64
      wavesmith.yield %both : f64
    }
    wavesmith.store_zone %sums, %c : tensor<20xf64>, memref<20x?xf64>

    // The norm of the result, by a tree of eight lanes.
    %shared_sums = wavesmith.stage %sums in lds : tensor<20xf64>
    %squares = wavesmith.segmented_reduce(%shared_sums) init(%zero) segments [0, 20] lanes [8] : (tensor<20xf64>), f64 -> tensor<1xf64>
    accumulate {
    ^bb0(%sum: f64, %x: f64):
      %next = math.fma %x, %x, %sum : f64
      wavesmith.yield %next : f64
    } combine {
    ^bb0(%one: f64, %other: f64):
      %both = arith.addf %one, %other : f64
      wavesmith.yield %both : f64
    }
    %root = math.sqrt %squares : tensor<1xf64>
    wavesmith.store_zone %root, %norm : tensor<1xf64>, memref<1x?xf64>
  }
  return
}
