// A stencil by hand: heat on a ring of 128 points, explicit Euler in a number
// of steps that each zone has for itself. The passes of the workgroup level
// transform this as they do what the conversion of a system emits.
//
// RUN: rm -rf %t && mkdir -p %t && %python %S/Inputs/workgroup.py make-stencil %t
// RUN: wavesmith-evaluate %s --input=temperature=%t/temperature.npy --input=rate=%t/rate.npy --input=steps=%t/steps.npy --output=result=%t/result.npy --output=largest=%t/largest.npy
// RUN: %python %S/Inputs/workgroup.py check-stencil %t

func.func @stencil(%temperature: memref<128x?xf64> {wavesmith.name = "temperature"},
                   %rate: memref<?xf64> {wavesmith.name = "rate"},
                   %steps: memref<?xi32> {wavesmith.name = "steps"},
                   %result: memref<128x?xf64> {wavesmith.name = "result", wavesmith.output},
                   %largest: memref<?xf64> {wavesmith.name = "largest", wavesmith.output},
                   %num_zones: index {wavesmith.name = "num_zones"}) {
  wavesmith.workgroup zones %num_zones size 256 threads_per_zone 64 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %minus2 = arith.constant dense<-2.0> : tensor<128xf64>
    %lowest = arith.constant 0xFFF0000000000000 : f64
    // Point e has the neighbours (e - 1) mod 128 and (e + 1) mod 128.
    %points = wavesmith.table dense<[
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
      32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
      48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
      64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79,
      80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95,
      96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111,
      112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127]> : tensor<128xi32>
    %ones = tensor.splat %one : tensor<128xi32>
    %mask = arith.constant dense<127> : tensor<128xi32>
    %before = arith.subi %points, %ones : tensor<128xi32>
    %left = arith.andi %before, %mask : tensor<128xi32>
    %after = arith.addi %points, %ones : tensor<128xi32>
    %right = arith.andi %after, %mask : tensor<128xi32>

    %start = wavesmith.load_zone %temperature : memref<128x?xf64> -> tensor<128xf64>
    %r = wavesmith.load_zone %rate : memref<?xf64> -> f64
    %rs = tensor.splat %r : tensor<128xf64>
    %n = wavesmith.load_zone %steps : memref<?xi32> -> i32
    %end = scf.for %step = %zero to %n step %one iter_args(%t = %start) -> (tensor<128xf64>) : i32 {
      %shared = wavesmith.stage %t in lds : tensor<128xf64>
      %l = wavesmith.gather %shared[%left] : tensor<128xf64>, tensor<128xi32> -> tensor<128xf64>
      %g = wavesmith.gather %shared[%right] : tensor<128xf64>, tensor<128xi32> -> tensor<128xf64>
      %sides = arith.addf %l, %g : tensor<128xf64>
      %laplacian = math.fma %minus2, %t, %sides : tensor<128xf64>
      %next = math.fma %rs, %laplacian, %t : tensor<128xf64>
      scf.yield %next : tensor<128xf64>
    }
    wavesmith.store_zone %end, %result : tensor<128xf64>, memref<128x?xf64>

    %max = wavesmith.segmented_reduce(%end) init(%lowest) segments [0, 128] lanes [64] : (tensor<128xf64>), f64 -> tensor<1xf64>
    accumulate {
    ^bb0(%a: f64, %x: f64):
      %m = arith.maximumf %a, %x : f64
      wavesmith.yield %m : f64
    } combine {
    ^bb0(%a: f64, %b: f64):
      %m = arith.maximumf %a, %b : f64
      wavesmith.yield %m : f64
    }
    %c0 = arith.constant 0 : index
    %top = tensor.extract %max[%c0] : tensor<1xf64>
    wavesmith.store_zone %top, %largest : f64, memref<?xf64>
  }
  return
}
