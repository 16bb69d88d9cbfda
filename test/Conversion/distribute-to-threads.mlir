// RUN: wavesmith-opt %s --wavesmith-distribute-to-threads -split-input-file | FileCheck %s

// An elementwise kernel: zone by thread, in both layouts.

// CHECK: module attributes {gpu.container_module
// CHECK-NOT: func.func
// CHECK: gpu.module @kernels
// CHECK-LABEL: gpu.func @square(
// CHECK-SAME: %[[IN:.*]]: memref<2x?xf64, #gpu.address_space<global>> {wavesmith.name = "y"},
// CHECK-SAME: %[[OUT:.*]]: memref<?x3xf64, #gpu.address_space<global>>, %[[ZONES:.*]]: index) kernel
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
// CHECK: %[[GROUP:.*]] = gpu.block_id x
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %c64
// CHECK: %[[ZONE:.*]] = arith.addi %[[FIRST]], %[[THREAD]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[ZONE]], %[[ZONES]]
// CHECK: scf.if %[[INSIDE]] {
// soa: row 1 begins at 1 * zones; a workgroup's part of it at + first.
// CHECK: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[ROW:.*]] = arith.muli %[[C1]], %[[ZONES]]
// CHECK: %[[START:.*]] = arith.addi %[[ROW]], %[[FIRST]]
// CHECK: %[[PART:.*]] = memref.reinterpret_cast %[[IN]] to offset: [%[[START]]], sizes: [64], strides: [1]
// CHECK: %[[Y:.*]] = memref.load %[[PART]][%[[THREAD]]]
// CHECK: %[[V:.*]] = arith.mulf %[[Y]], %[[Y]] : f64
// CHECK: %[[W:.*]] = math.fma %[[V]], %{{.*}}, %[[Y]] : f64
// aos: the zones are 3 apart.
// CHECK: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[BASE:.*]] = arith.muli %[[FIRST]], %[[C3]]
// CHECK: %[[START:.*]] = arith.addi %[[BASE]], %[[C1]]
// CHECK: %[[PART:.*]] = memref.reinterpret_cast %[[OUT]] to offset: [%[[START]]], sizes: [64], strides: [3]
// CHECK: memref.store %[[W]], %[[PART]][%[[THREAD]]]
// CHECK: gpu.return
func.func @square(%in: memref<2x?xf64, #gpu.address_space<global>> {wavesmith.name = "y"}, %out: memref<?x3xf64, #gpu.address_space<global>>, %num_zones: index) {
  wavesmith.workgroup zones %num_zones size 64 {
    %c1 = arith.constant 1 : index
    %y = wavesmith.load_zones %in[%c1] : memref<2x?xf64, #gpu.address_space<global>> -> tensor<64xf64>
    %v = arith.mulf %y, %y : tensor<64xf64>
    %half = arith.constant dense<0.5> : tensor<64xf64>
    %w = math.fma %v, %half, %y : tensor<64xf64>
    wavesmith.store_zones %w, %out[%c1] : tensor<64xf64>, memref<?x3xf64, #gpu.address_space<global>>
  }
  return
}

// -----

// ocml's rsqrt depends on the chip, so f64 takes a root and a division.

// CHECK-LABEL: gpu.func @inverse_root(
// CHECK: %[[Y:.*]] = memref.load
// CHECK: %[[ROOT:.*]] = math.sqrt %[[Y]] : f64
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f64
// CHECK: %[[INVERSE:.*]] = arith.divf %[[ONE]], %[[ROOT]] : f64
// CHECK: memref.store %[[INVERSE]]
// CHECK-NOT: math.rsqrt
func.func @inverse_root(%in: memref<1x?xf64, #gpu.address_space<global>>, %out: memref<1x?xf64, #gpu.address_space<global>>, %num_zones: index) {
  wavesmith.workgroup zones %num_zones size 64 {
    %c0 = arith.constant 0 : index
    %y = wavesmith.load_zones %in[%c0] : memref<1x?xf64, #gpu.address_space<global>> -> tensor<64xf64>
    %r = math.rsqrt %y : tensor<64xf64>
    wavesmith.store_zones %r, %out[%c0] : tensor<64xf64>, memref<1x?xf64, #gpu.address_space<global>>
  }
  return
}

// -----

// A loop over a table, whose entries decide; rows of an array are kept in
// private memory and changed in place.

// CHECK: gpu.module @kernels
// CHECK-DAG: memref.global "private" constant @[[STEPS:table.*]] : memref<3xi32, 4> = dense<[0, 1, 0]>
// CHECK-DAG: memref.global "private" constant @[[NUMBERS:table.*]] : memref<3xf64, 4> = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
// CHECK-LABEL: gpu.func @table(
// CHECK: %[[MEMORY:.*]] = memref.alloca() : memref<2xf64, #gpu.address_space<private>>
// CHECK: scf.if
// The array begins as zeros.
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %c2{{.*}} {
// CHECK: memref.store %{{.*}}, %[[MEMORY]][%[[I]]]
// CHECK: scf.for %[[I:.*]] = %{{.*}} {
// CHECK: %[[NUMBER:.*]] = memref.load %{{.*}}[%[[I]]] : memref<3xf64, 4>
// CHECK: %[[STEP:.*]] = memref.load %{{.*}}[%[[I]]] : memref<3xi32, 4>
// CHECK: %[[ROW:.*]] = arith.index_cast %[[STEP]]
// CHECK: %[[OLD:.*]] = memref.load %[[MEMORY]][%[[ROW]]]
// CHECK: %[[NEW:.*]] = math.fma %[[NUMBER]], %{{.*}}, %[[OLD]] : f64
// CHECK: scf.if %{{.*}} {
// CHECK: memref.store %[[NEW]], %[[MEMORY]][%[[ROW]]]
// CHECK: } else {
// CHECK: }
// The value that the loop left, and one that scf.index_switch chose.
// CHECK: %[[END:.*]] = memref.load %[[MEMORY]][%
// CHECK: scf.index_switch %{{.*}} -> f64
// CHECK: scf.yield %[[END]] : f64
func.func @table(%in: memref<1x?xf64, #gpu.address_space<global>>, %out: memref<1x?xf64, #gpu.address_space<global>>, %choice: index, %num_zones: index) {
  wavesmith.workgroup zones %num_zones size 64 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %y = wavesmith.load_zones %in[%c0] : memref<1x?xf64, #gpu.address_space<global>> -> tensor<64xf64>
    %numbers = wavesmith.table dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
    %steps = wavesmith.table dense<[0, 1, 0]> : tensor<3xi32>
    %zeros = arith.constant dense<0.0> : tensor<2x64xf64>
    %sums = scf.for %i = %c0 to %c3 step %c1 iter_args(%array = %zeros) -> (tensor<2x64xf64>) {
      %number = tensor.extract %numbers[%i] : tensor<3xf64>
      %all = tensor.splat %number : tensor<64xf64>
      %step = tensor.extract %steps[%i] : tensor<3xi32>
      %row = arith.index_cast %step : i32 to index
      %old = tensor.extract_slice %array[%row, 0] [1, 64] [1, 1] : tensor<2x64xf64> to tensor<64xf64>
      %new = math.fma %all, %y, %old : tensor<64xf64>
      %isFirst = arith.cmpi eq, %i, %c0 : index
      %changed = scf.if %isFirst -> tensor<2x64xf64> {
        %0 = tensor.insert_slice %new into %array[%row, 0] [1, 64] [1, 1] : tensor<64xf64> into tensor<2x64xf64>
        scf.yield %0 : tensor<2x64xf64>
      } else {
        scf.yield %array : tensor<2x64xf64>
      }
      scf.yield %changed : tensor<2x64xf64>
    }
    %sum = tensor.extract_slice %sums[1, 0] [1, 64] [1, 1] : tensor<2x64xf64> to tensor<64xf64>
    %chosen = scf.index_switch %choice -> tensor<64xf64>
    case 0 {
      scf.yield %sum : tensor<64xf64>
    }
    default {
      scf.yield %y : tensor<64xf64>
    }
    wavesmith.store_zones %chosen, %out[%c0] : tensor<64xf64>, memref<1x?xf64, #gpu.address_space<global>>
  }
  return
}

// -----

// Nothing to do.
// CHECK-LABEL: func.func @other
// CHECK-NOT: gpu.module
func.func @other() {
  return
}
