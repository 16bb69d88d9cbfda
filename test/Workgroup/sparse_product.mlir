// The product of a sparse matrix of 6 x 8 and a vector, by hand: the matrix is
// one for all zones, in compressed rows; row 2 is empty. Short rows are folded
// by one lane, the long one by four.
//
// RUN: rm -rf %t && mkdir -p %t && %python %S/Inputs/workgroup.py make-sparse %t
// RUN: wavesmith-evaluate %s --input=x=%t/x.npy --output=y=%t/y.npy
// RUN: %python %S/Inputs/workgroup.py check-sparse %t

func.func @sparse_product(%x: memref<?x8xf64> {wavesmith.name = "x"},
                          %y: memref<?x6xf64> {wavesmith.name = "y", wavesmith.output},
                          %num_zones: index {wavesmith.name = "num_zones"}) {
  wavesmith.workgroup zones %num_zones size 64 threads_per_zone 16 {
    %zero = arith.constant 0.0 : f64
    %values = wavesmith.table dense<[0.5, -1.25, 3.0, 0.1, 0.7, -0.3, 2.5, 0.125, 1.0e-3, 7.0, -2.0, 0.9, 0.2, 1.0, -0.6]> : tensor<15xf64>
    %columns = wavesmith.table dense<[0, 3, 1, 0, 1, 2, 3, 4, 5, 6, 7, 7, 2, 4, 6]> : tensor<15xi8>
    %at = arith.extui %columns : tensor<15xi8> to tensor<15xi32>
    %v = wavesmith.load_zone %x : memref<?x8xf64> -> tensor<8xf64>
    %shared = wavesmith.stage %v in lds : tensor<8xf64>
    %factors = wavesmith.gather %shared[%at] : tensor<8xf64>, tensor<15xi32> -> tensor<15xf64>
    %rows = wavesmith.segmented_reduce(%values, %factors) init(%zero) segments [0, 2, 3, 3, 11, 12, 15] lanes [1, 1, 1, 4, 1, 1] : (tensor<15xf64>, tensor<15xf64>), f64 -> tensor<6xf64>
    accumulate {
    ^bb0(%sum: f64, %value: f64, %factor: f64):
      %next = math.fma %value, %factor, %sum : f64
      wavesmith.yield %next : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %both = arith.addf %a, %b : f64
      wavesmith.yield %both : f64
    }
    wavesmith.store_zone %rows, %y : tensor<6xf64>, memref<?x6xf64>
  }
  return
}
