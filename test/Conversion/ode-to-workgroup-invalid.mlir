// RUN: wavesmith-opt %s --convert-wavesmith-ode-to-workgroup -verify-diagnostics -split-input-file

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {}
// expected-error @+1 {{expected a kernel function of one block}}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  %0 = wavesmith.ode_rhs @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>} : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  cf.br ^end
^end:
  return %0 : tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  // expected-error @+1 {{not supported in a kernel function: it holds one operation that asks for a quantity of a system, and returns its results}}
  %c = arith.constant 1.0 : f64
  %0 = wavesmith.ode_rhs @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>} : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  %0 = wavesmith.ode_rhs @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>} : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  // expected-error @+1 {{not supported in a kernel function}}
  %1 = wavesmith.ode_rhs @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>} : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %1 : tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_production_loss @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>} : (f64, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  // expected-error @+1 {{not supported in a kernel function}}
  return %0#1, %0#0 : tensor<1x?xf64>, tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {}
func.func @f(%t: f64, %y: tensor<1x?xf64>, %b: i1) {
  // expected-error @+1 {{not supported in a kernel function}}
  scf.if %b {
    %0 = wavesmith.ode_rhs @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>} : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  }
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {}
func.func @f(%y: tensor<1x?xf64>, %t: f64) -> tensor<1x?xf64> {
  // expected-error @+1 {{expected the function's arguments as operands, each once and in order}}
  %0 = wavesmith.ode_rhs @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>} : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  // expected-error @+1 {{expected a schedule; run --wavesmith-select-schedule first}}
  %0 = wavesmith.ode_rhs @s(%t, %y) : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// -----

// What expressions cannot hold, in both forms.

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %a = wavesmith.state "A"
  // expected-error @+1 {{'math.clampf' is not supported in an expression of a system}}
  %k = math.clampf %a to [%a, %a] : f64
  wavesmith.term %k : "1/s" gain ["A" = 1.0]
}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  %0 = wavesmith.ode_rhs @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %a = wavesmith.state "A"
  // expected-error @+1 {{'math.clampf' is not supported in an expression of a system}}
  %k = math.clampf %a to [%a, %a] : f64
  wavesmith.term %k : "1/s" gain ["A" = 1.0]
}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  %0 = wavesmith.ode_rhs @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>} : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %a = wavesmith.state "A"
  // expected-error @+1 {{'math.sincos' is not supported in an expression of a system}}
  %k, %l = math.sincos %a : f64
}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  %0 = wavesmith.ode_rhs @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  // expected-error @+1 {{'arith.constant' is not supported in an expression of a system}}
  %k = arith.constant 1 : i64
}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  %0 = wavesmith.ode_rhs @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// -----

// What the table form does not have.

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  // expected-error @+1 {{the table form needs constants of f64}}
  %k = arith.constant true
}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  %0 = wavesmith.ode_rhs @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>} : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters ["T" : "K", "U" : "K"] time "s" {
  %T = wavesmith.parameter "T"
  %U = wavesmith.parameter "U"
  %k = wavesmith.arrhenius %T A 1.0 b 1.0 E 1.0
  // expected-error @+1 {{the table form needs one temperature for all rate coefficients; compile this system in the straight-line form}}
  %l = wavesmith.arrhenius %U A 1.0 b 1.0 E 1.0
}
func.func @f(%t: f64, %y: tensor<1x?xf64>, %p: tensor<2x?xf64>) -> tensor<1x?xf64> {
  %0 = wavesmith.ode_rhs @s(%t, %y, %p) {schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>} : (f64, tensor<1x?xf64>, tensor<2x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters ["p" : "Pa", "q" : "Pa"] time "s" {
  %p = wavesmith.parameter "p"
  %q = wavesmith.parameter "q"
  %T = arith.constant 1000.0 : f64
  %k = wavesmith.plog %T, %p rates [[1.0, 1.0, 0.0, 0.0]]
  // expected-error @+1 {{the table form needs one pressure for all rate coefficients; compile this system in the straight-line form}}
  %l = wavesmith.plog %T, %q rates [[1.0, 1.0, 0.0, 0.0]]
}
func.func @f(%t: f64, %y: tensor<1x?xf64>, %p: tensor<2x?xf64>) -> tensor<1x?xf64> {
  %0 = wavesmith.ode_rhs @s(%t, %y, %p) {schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>} : (f64, tensor<1x?xf64>, tensor<2x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["T" : "K"] parameters [] time "s" {
  %c = arith.constant 1.0 : f64
  // expected-error @+1 {{the table form needs a temperature and a pressure that do not depend on terms; compile this system in the straight-line form}}
  %T = wavesmith.term %c : "1/s" orders ["T" = 1.0]
  %k = wavesmith.arrhenius %T A 1.0 b 1.0 E 1.0
}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  %0 = wavesmith.ode_rhs @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>} : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>) {
  // expected-error @+1 {{expected a system with terms, @s has none}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = 1.0e-06> max_steps 10
      {schedule = #wavesmith.ode_schedule<form = cooperative, workgroup_size = 64>}
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<1x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>
}
