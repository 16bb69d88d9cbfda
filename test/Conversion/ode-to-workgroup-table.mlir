// RUN: wavesmith-opt %s --convert-wavesmith-ode-to-workgroup | FileCheck %s

// A loop over a table of steps with one case a kind: here a constant and a
// term. Two terms and two constants make four steps of 10 columns.

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {
  %k = arith.constant 3.0 : f64
  wavesmith.term %k : "1/s" orders ["A" = 2.0] loss ["A" = 2.0] gain ["B" = 1.0]
  %l = arith.constant 5.0 : f64
  wavesmith.term %l : "1/s" orders ["B" = 1.0] loss ["B" = 1.0] gain ["A" = 1.0]
}

// CHECK-LABEL: func.func @rhs(
// CHECK-SAME: %[[Y:[a-z0-9]+]]: memref<2x?xf64
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<2x?xf64{{.*}} {wavesmith.name = "result0", wavesmith.output}
// CHECK: %[[A:.*]] = wavesmith.load_zones %[[Y]]
// CHECK: %[[B:.*]] = wavesmith.load_zones %[[Y]]
// CHECK: %[[STEPS:.*]] = wavesmith.table dense<{{.*}}> : tensor<40xi32>
// CHECK: wavesmith.table dense<[3.000000e+00, 5.000000e+00]> : tensor<2xf64>
// Orders, then net weights, of each term.
// CHECK: wavesmith.table dense<[0, 0, 1, 1, 0, 1]> : tensor<6xi32>
// CHECK: wavesmith.table dense<[2.000000e+00, -2.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, -1.000000e+00]> : tensor<6xf64>
// CHECK: tensor.insert_slice %[[A]] into
// CHECK: tensor.insert_slice %[[B]] into
// CHECK: scf.for %[[STEP:.*]] = %c0{{.*}} to %c4{{.*}} step %c1{{.*}} iter_args
// CHECK: %[[KIND:.*]] = arith.index_cast
// CHECK: scf.index_switch %[[KIND]]
// CHECK: case 0
// CHECK: default
// CHECK: scf.for
// CHECK: arith.mulf
// CHECK: scf.for
// CHECK: math.fma
// CHECK: scf.for %[[ROW:.*]] = %c0{{.*}} to %c2{{.*}}
// CHECK: wavesmith.store_zones %{{.*}}, %[[OUT]][%[[ROW]]]
func.func @rhs(%t: f64, %y: tensor<2x?xf64>) -> tensor<2x?xf64> {
  %0 = wavesmith.ode_rhs @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>} : (f64, tensor<2x?xf64>) -> tensor<2x?xf64>
  return %0 : tensor<2x?xf64>
}

// Term values are stored by the step itself.
// CHECK-LABEL: func.func @terms(
// CHECK: scf.index_switch
// CHECK: wavesmith.store_zones
// CHECK: wavesmith.store_zones
// CHECK-NOT: wavesmith.store_zones
func.func @terms(%t: f64, %y: tensor<2x?xf64>) -> (tensor<2x?xf64>, tensor<2x?xf64>) {
  %0:2 = wavesmith.ode_term_values @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>} : (f64, tensor<2x?xf64>) -> (tensor<2x?xf64>, tensor<2x?xf64>)
  return %0#0, %0#1 : tensor<2x?xf64>, tensor<2x?xf64>
}
