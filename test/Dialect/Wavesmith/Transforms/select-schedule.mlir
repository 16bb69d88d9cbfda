// RUN: wavesmith-opt %s --wavesmith-attach-target --wavesmith-select-schedule | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: wavesmith-opt %s --wavesmith-attach-target --wavesmith-select-schedule=straight-line-limit=1 | FileCheck %s --check-prefixes=CHECK,LIMIT1
// RUN: wavesmith-opt %s --wavesmith-attach-target --wavesmith-select-schedule=straight-line-limit=0 | FileCheck %s --check-prefixes=CHECK,LIMIT0
// RUN: wavesmith-opt %s --wavesmith-attach-target --wavesmith-select-schedule="form=table workgroup-size=256" | FileCheck %s --check-prefixes=CHECK,TABLE
// RUN: wavesmith-opt %s --wavesmith-attach-target --wavesmith-select-schedule="form=straight_line straight-line-limit=0" | FileCheck %s --check-prefixes=CHECK,AUTO

wavesmith.ode_system @polynomial states ["A" : "1"] parameters [] time "s" {
  %k = arith.constant 0.04 : f64
  wavesmith.term %k : "1/s" orders ["A" = 2.0] loss ["A" = 1.0]
}

// Three calls: that of arrhenius, and exp and log of a real order.
wavesmith.ode_system @calls states ["A" : "1"] parameters ["T" : "K"] time "s" {
  %T = wavesmith.parameter "T"
  %k = wavesmith.arrhenius %T A 1.0 b 0.5 E 1000.0
  wavesmith.term %k : "1/s" orders ["A" = 1.5] loss ["A" = 1.0]
}

// CHECK-LABEL: func.func @polynomial_rhs
func.func @polynomial_rhs(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  // AUTO: schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>
  // LIMIT1: schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>
  // LIMIT0: schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>
  // TABLE: schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 256>
  %0 = wavesmith.ode_rhs @polynomial(%t, %y) : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// CHECK-LABEL: func.func @calls_production_loss
func.func @calls_production_loss(%t: f64, %y: tensor<1x?xf64>, %p: tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  // AUTO: schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>
  // LIMIT1: schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>
  // LIMIT0: schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>
  // TABLE: schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 256>
  %0:2 = wavesmith.ode_production_loss @calls(%t, %y, %p) : (f64, tensor<1x?xf64>, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// A schedule that stands there already stays.
// CHECK-LABEL: func.func @calls_term_values
func.func @calls_term_values(%t: f64, %y: tensor<1x?xf64>, %p: tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  // CHECK: schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 128>
  %0:2 = wavesmith.ode_term_values @calls(%t, %y, %p) {schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 128>} : (f64, tensor<1x?xf64>, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}
