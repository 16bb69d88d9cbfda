// RUN: wavesmith-opt %s | FileCheck %s
// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s
// RUN: wavesmith-opt %s --mlir-print-op-generic | wavesmith-opt | FileCheck %s

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  wavesmith.term %k : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
}

wavesmith.ode_system @p states ["A" : "1", "B" : "1"] parameters ["T" : "K"] time "s" {}

// CHECK-LABEL: func.func @everything
func.func @everything(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<?x2xf64>, %p: tensor<?x1xf64>) -> tensor<?x2xf64> {
  // CHECK: wavesmith.ode_integrate @p(
  // CHECK-SAME: method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
  // CHECK-SAME: conserved ["A" = 1.0, "B" = 4.0026] total 5.000000e-01
  // CHECK-SAME: max_steps 1000000
  // CHECK-SAME: layout = #wavesmith.zone_layout<aos>
  // CHECK-SAME: schedule = #wavesmith.ode_schedule<form = cooperative, workgroup_size = 256, threads_per_zone = 64>
  // CHECK-SAME: (tensor<?xf64>, f64, tensor<?xf64>, tensor<?x2xf64>, tensor<?x1xf64>) -> (tensor<?x2xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  %0:5 = wavesmith.ode_integrate @p(%t, %end, %h, %y, %p)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0, "B" = 4.0026] total 0.5 max_steps 1000000
      {layout = #wavesmith.zone_layout<aos>, schedule = #wavesmith.ode_schedule<form = cooperative, workgroup_size = 256, threads_per_zone = 64>}
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<?x2xf64>, tensor<?x1xf64>)
      -> (tensor<?x2xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return %0#0 : tensor<?x2xf64>
}

// CHECK-LABEL: func.func @least
func.func @least(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) -> tensor<?xi32> {
  // CHECK: wavesmith.ode_integrate @s(
  // CHECK-SAME: method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07> max_steps 1 :
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      max_steps 1
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return %0#4 : tensor<?xi32>
}

// A total that is not given is that of the states at first.
// CHECK-LABEL: func.func @own_total
func.func @own_total(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) -> tensor<?xi32> {
  // CHECK: conserved ["B" = -2.0] max_steps 2147483647
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 1.0, time_fraction = 1.0, tolerance = 1.0>
      conserved ["B" = -2.0] max_steps 2147483647
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return %0#3 : tensor<?xi32>
}

// CHECK-LABEL: func.func @tsit5
func.func @tsit5(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) -> tensor<?xi32> {
  // CHECK: wavesmith.ode_integrate @s(
  // CHECK-SAME: method #wavesmith.tsit5<absolute_tolerance = [1.0e-12, 1.0e-09], relative_tolerance = 1.0e-06> max_steps 1000 :
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.tsit5<absolute_tolerance = [1.0e-12, 1.0e-09], relative_tolerance = 1.0e-06>
      max_steps 1000
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return %0#4 : tensor<?xi32>
}

// Every digit of the method stays, and schedules print what they must.
// CHECK-LABEL: func.func private @attributes
// CHECK-SAME: a = #wavesmith.asymptotic<flux_fraction = 0.1234567890123456, time_fraction = 3.0, tolerance = 1.25e-300>
// CHECK-SAME: b = #wavesmith.ode_schedule<form = cooperative, workgroup_size = 64>
// CHECK-SAME: c = #wavesmith.ode_schedule<form = cooperative, workgroup_size = 128, threads_per_zone = 128>
// CHECK-SAME: d = #wavesmith.ode_schedule<form = table, workgroup_size = 64>
// What has its usual value is left out, the rest stands in one order.
// CHECK-SAME: e = #wavesmith.tsit5<absolute_tolerance = 1.0e-300, relative_tolerance = [0.0, 0.1234567890123456]>
// CHECK-SAME: f = #wavesmith.tsit5<absolute_tolerance = [1.0], relative_tolerance = 0.0, safety = 0.5, smallest_factor = 0.25, largest_factor = 1.0, smallest_step = 1.0e-20, largest_step = 3.0>
func.func private @attributes() attributes {
  a = #wavesmith.asymptotic<flux_fraction = 0.1234567890123456, time_fraction = 3.0, tolerance = 1.25e-300>,
  b = #wavesmith.ode_schedule<form = cooperative, workgroup_size = 64, threads_per_zone = 1>,
  c = #wavesmith.ode_schedule<form = cooperative, workgroup_size = 128, threads_per_zone = 128>,
  d = #wavesmith.ode_schedule<form = table, workgroup_size = 64, threads_per_zone = 1>,
  e = #wavesmith.tsit5<absolute_tolerance = 1.0e-300, relative_tolerance = [0.0, 0.1234567890123456], largest_factor = 10.0, safety = 0.9, largest_step = 1.0e+999>,
  f = #wavesmith.tsit5<absolute_tolerance = [1.0], relative_tolerance = 0.0, largest_step = 3.0, smallest_step = 1.0e-20, largest_factor = 1.0, smallest_factor = 0.25, safety = 0.5>}
