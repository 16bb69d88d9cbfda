// RUN: wavesmith-opt %s --convert-wavesmith-ode-to-workgroup | FileCheck %s

// Weights: A <-> B with a catalyst C, whose net weight is zero.

// CHECK-NOT: wavesmith.ode_system
wavesmith.ode_system @cycle states ["A" : "1", "B" : "1", "C" : "1"] parameters ["k" : "1/s"] time "s" {
  %k = wavesmith.parameter "k"
  wavesmith.term %k : "1/s" orders ["C" = 1.0, "A" = 2.0] loss ["C" = 1.0, "A" = 2.0] gain ["B" = 0.5, "C" = 1.0]
  wavesmith.term %k : "1/s" orders ["B" = 1.0] loss ["B" = 1.0] gain ["A" = 1.0]
}

// Batches become memory, the results the last of it; names and outputs are
// marked for the caller.
// CHECK-LABEL: func.func @rhs(
// CHECK-SAME: %[[T:[a-z0-9]+]]: f64 {wavesmith.name = "time"},
// CHECK-SAME: %[[Y:[a-z0-9]+]]: memref<3x?xf64, #gpu.address_space<global>> {wavesmith.name = "arg1"},
// CHECK-SAME: %[[P:[a-z0-9]+]]: memref<1x?xf64, #gpu.address_space<global>> {wavesmith.name = "arg2"},
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<3x?xf64, #gpu.address_space<global>> {wavesmith.name = "result0", wavesmith.output},
// CHECK-SAME: %[[ZONES:[a-z0-9]+]]: index {wavesmith.name = "num_zones"})
// CHECK: wavesmith.workgroup zones %[[ZONES]] size 64
// A state whose weights cancel does not change.
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf64>
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK: wavesmith.store_zones %{{.*}}, %[[OUT]][%{{.*}}] : tensor<64xf64>
// The product takes the states in ascending order: (k * (A * A)) * C.
// CHECK: %[[K:.*]] = wavesmith.load_zones %[[P]][
// CHECK: %[[A:.*]] = wavesmith.load_zones %[[Y]][
// CHECK: %[[A2:.*]] = arith.mulf %[[A]], %[[A]]
// CHECK: %[[KA:.*]] = arith.mulf %[[K]], %[[A2]]
// CHECK: %[[C:.*]] = wavesmith.load_zones %[[Y]][
// CHECK: %[[V0:.*]] = arith.mulf %[[KA]], %[[C]]
// CHECK: %[[MINUS2:.*]] = arith.constant dense<-2.000000e+00>
// CHECK: %[[SUM_A:.*]] = math.fma %[[MINUS2]], %[[V0]], %{{.*}}
// CHECK: %[[HALF:.*]] = arith.constant dense<5.000000e-01>
// CHECK: %[[SUM_B:.*]] = math.fma %[[HALF]], %[[V0]], %{{.*}}
// CHECK: %[[B:.*]] = wavesmith.load_zones %[[Y]][
// CHECK: %[[V1:.*]] = arith.mulf %[[K]], %[[B]]
// CHECK: %[[END_A:.*]] = math.fma %{{.*}}, %[[V1]], %[[SUM_A]]
// CHECK: wavesmith.store_zones %[[END_A]], %[[OUT]]
// CHECK: %[[END_B:.*]] = math.fma %{{.*}}, %[[V1]], %[[SUM_B]]
// CHECK: wavesmith.store_zones %[[END_B]], %[[OUT]]
func.func @rhs(%t: f64 {wavesmith.name = "time"}, %y: tensor<3x?xf64>, %p: tensor<1x?xf64>) -> tensor<3x?xf64> {
  %0 = wavesmith.ode_rhs @cycle(%t, %y, %p) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<3x?xf64>, tensor<1x?xf64>) -> tensor<3x?xf64>
  return %0 : tensor<3x?xf64>
}

// Gains and losses apart: the catalyst takes part in both.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME: %[[Y:[a-z0-9]+]]: memref<?x3xf64, #gpu.address_space<global>>
// CHECK-SAME: %[[GAIN:[a-z0-9]+]]: memref<?x3xf64, #gpu.address_space<global>> {wavesmith.name = "production", wavesmith.output}
// CHECK-SAME: %[[LOSS:[a-z0-9]+]]: memref<?x3xf64, #gpu.address_space<global>> {wavesmith.name = "result1", wavesmith.output}
// CHECK: size 128
// CHECK: %[[V0:.*]] = arith.mulf %{{.*}}, %{{.*}} : tensor<128xf64>
// CHECK: %[[W:.*]] = arith.constant dense<5.000000e-01>
// CHECK: math.fma %[[W]], %{{.*}}
// CHECK: %[[W:.*]] = arith.constant dense<1.000000e+00>
// CHECK: math.fma %[[W]], %{{.*}}
// CHECK: wavesmith.store_zones %{{.*}}, %[[GAIN]]
// CHECK: %[[W:.*]] = arith.constant dense<2.000000e+00>
// CHECK: math.fma %[[W]], %{{.*}}
// CHECK: wavesmith.store_zones %{{.*}}, %[[LOSS]]
func.func @parts(%t: f64, %y: tensor<?x3xf64>, %p: tensor<?x1xf64>) -> (tensor<?x3xf64> {wavesmith.name = "production"}, tensor<?x3xf64>) {
  %0:2 = wavesmith.ode_production_loss @cycle(%t, %y, %p) {layout = #wavesmith.zone_layout<aos>, schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 128>} : (f64, tensor<?x3xf64>, tensor<?x1xf64>) -> (tensor<?x3xf64>, tensor<?x3xf64>)
  return %0#0, %0#1 : tensor<?x3xf64>, tensor<?x3xf64>
}

// Coefficients and values of the terms: no sums.
// CHECK-LABEL: func.func @terms(
// CHECK-SAME: %[[K:[a-z0-9]+]]: memref<2x?xf64, #gpu.address_space<global>> {wavesmith.name = "result0", wavesmith.output}
// CHECK-SAME: %[[V:[a-z0-9]+]]: memref<2x?xf64, #gpu.address_space<global>> {wavesmith.name = "result1", wavesmith.output}
// CHECK-NOT: math.fma
// CHECK: %[[COEFFICIENT:.*]] = wavesmith.load_zones
// CHECK-NOT: math.fma
// CHECK: wavesmith.store_zones %[[COEFFICIENT]], %[[K]][%c0
// CHECK: wavesmith.store_zones %{{.*}}, %[[V]][%c0
// CHECK-NOT: math.fma
// CHECK: wavesmith.store_zones %[[COEFFICIENT]], %[[K]][%c1
// CHECK: wavesmith.store_zones %{{.*}}, %[[V]][%c1
func.func @terms(%t: f64, %y: tensor<3x?xf64>, %p: tensor<1x?xf64>) -> (tensor<2x?xf64>, tensor<2x?xf64>) {
  %0:2 = wavesmith.ode_term_values @cycle(%t, %y, %p) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<3x?xf64>, tensor<1x?xf64>) -> (tensor<2x?xf64>, tensor<2x?xf64>)
  return %0#0, %0#1 : tensor<2x?xf64>, tensor<2x?xf64>
}

// Other functions are left alone.
// CHECK-LABEL: func.func @other(%{{.*}}: f64) -> f64
func.func @other(%a: f64) -> f64 {
  return %a : f64
}
