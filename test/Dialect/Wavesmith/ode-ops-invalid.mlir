// RUN: wavesmith-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// The system.

// expected-error @+1 {{'wavesmith.ode_system' op expected at least one state, got none}}
wavesmith.ode_system @s states [] parameters [] time "s" {}

// -----

// expected-error @+1 {{'wavesmith.ode_system' op expected one unit a state, got 1 units and 2 names}}
"wavesmith.ode_system"() <{sym_name = "s", states = ["A", "B"], state_units = ["1"], parameters = [], parameter_units = [], time_unit = "s"}> ({
^bb0:
}) : () -> ()

// -----

// expected-error @+1 {{'wavesmith.ode_system' op expected one unit a parameter, got 2 units and 1 names}}
"wavesmith.ode_system"() <{sym_name = "s", states = ["A"], state_units = ["1"], parameters = ["p"], parameter_units = ["1", "K"], time_unit = "s"}> ({
^bb0:
}) : () -> ()

// -----

// expected-error @+1 {{'wavesmith.ode_system' op expected a name for each state, got an empty one}}
wavesmith.ode_system @s states ["" : "1"] parameters [] time "s" {}

// -----

// expected-error @+1 {{'wavesmith.ode_system' op expected a name for each parameter, got an empty one}}
wavesmith.ode_system @s states ["A" : "1"] parameters ["" : "1"] time "s" {}

// -----

// expected-error @+1 {{'wavesmith.ode_system' op state 'A' is declared twice}}
wavesmith.ode_system @s states ["A" : "1", "A" : "1"] parameters [] time "s" {}

// -----

// expected-error @+1 {{'wavesmith.ode_system' op parameter 'T' is declared twice}}
wavesmith.ode_system @s states ["A" : "1"] parameters ["T" : "K", "T" : "K"] time "s" {}

// -----

// expected-error @+1 {{'wavesmith.ode_system' op state 'A': unit 'furlong': unknown unit 'furlong'}}
wavesmith.ode_system @s states ["A" : "furlong"] parameters [] time "s" {}

// -----

// expected-error @+1 {{'wavesmith.ode_system' op parameter 'T': unit '': got nothing, wanted a unit such as 'kmol/m^3', or '1'}}
wavesmith.ode_system @s states ["A" : "1"] parameters ["T" : ""] time "s" {}

// -----

// expected-error @+1 {{'wavesmith.ode_system' op time: unit 's^': wanted a number after '^'}}
wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s^" {}

// -----

// expected-error @+1 {{'wavesmith.ode_system' op expected a unit of time, got 'm'}}
wavesmith.ode_system @s states ["A" : "1"] parameters [] time "m" {}

// -----

// expected-error @+1 {{'wavesmith.ode_system' op expected a body without arguments, got 1}}
"wavesmith.ode_system"() <{sym_name = "s", states = ["A"], state_units = ["1"], parameters = [], parameter_units = [], time_unit = "s"}> ({
^bb0(%x: f64):
}) : () -> ()

// -----

func.func @f() {
  // expected-error @+1 {{'wavesmith.ode_system' op expects parent op 'builtin.module'}}
  wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {}
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %true = arith.constant true
  // expected-error @+1 {{'scf.if' has a region: a system holds straight-line expressions}}
  scf.if %true {}
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  // expected-error @+1 {{expected operations of wavesmith, arith and math in a system, got 'tensor.empty'}}
  %0 = tensor.empty() : tensor<1xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  // expected-error @+1 {{expected operations of wavesmith, arith and math in a system, got 'what.is_this'}}
  "what.is_this"() : () -> ()
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  // expected-error @+1 {{expected scalars in a system, got a result of type 'vector<2xf64>'}}
  %0 = arith.constant dense<1.0> : vector<2xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  // expected-error @+1 {{expected scalars in a system, got a result of type 'tensor<1xf64>'}}
  %0 = wavesmith.table dense<1.0> : tensor<1xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %A = wavesmith.state "A"
  // expected-error @+1 {{fastmath flags are not allowed in a system: they would leave the bits of the result open}}
  %0 = arith.addf %A, %A fastmath<contract> : f64
}

// -----

// An attribute of that name means nothing on other operations.
wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %A = wavesmith.state "A" {fastmath}
}

// -----

// States, parameters.

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  // expected-error @+1 {{'wavesmith.state' op unknown state 'B': system @s does not declare it}}
  %0 = wavesmith.state "B"
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters ["T" : "K"] time "s" {
  // expected-error @+1 {{'wavesmith.parameter' op unknown parameter 'A': system @s does not declare it}}
  %0 = wavesmith.parameter "A"
}

// -----

func.func @f() {
  // expected-error @+1 {{'wavesmith.time' op expects parent op 'wavesmith.ode_system'}}
  %0 = wavesmith.time
  return
}

// -----

// Terms.

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  // expected-error @+1 {{'wavesmith.term' op expected as many numbers as states in orders, got 2 numbers and 1 states}}
  %0 = "wavesmith.term"(%k) <{unit = "1/s", order_states = ["A"], orders = array<f64: 1.0, 2.0>, loss_states = [], losses = array<f64>, gain_states = [], gains = array<f64>}> : (f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  // expected-error @+1 {{'wavesmith.term' op expected as many numbers as states in loss, got 0 numbers and 1 states}}
  %0 = "wavesmith.term"(%k) <{unit = "1/s", order_states = [], orders = array<f64>, loss_states = ["A"], losses = array<f64>, gain_states = [], gains = array<f64>}> : (f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  // expected-error @+1 {{'wavesmith.term' op unknown state 'X' in orders: system @s does not declare it}}
  wavesmith.term %k : "1/s" orders ["X" = 1.0]
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  // expected-error @+1 {{'wavesmith.term' op unknown state 'X' in loss: system @s does not declare it}}
  wavesmith.term %k : "1/s" loss ["X" = 1.0]
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  // expected-error @+1 {{'wavesmith.term' op state 'A' stands twice in gain}}
  wavesmith.term %k : "1/s" gain ["A" = 1.0, "A" = 1.0]
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  // expected-error @+1 {{'wavesmith.term' op expected a finite number for state 'A' in orders, got}}
  %0 = "wavesmith.term"(%k) <{unit = "1/s", order_states = ["A"], orders = array<f64: 0x7FF0000000000000>, loss_states = [], losses = array<f64>, gain_states = [], gains = array<f64>}> : (f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  // expected-error @+1 {{'wavesmith.term' op expected an order that is not zero for state "A", got 0}}
  wavesmith.term %k : "1/s" orders ["A" = 0.0]
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  // expected-error @+1 {{'wavesmith.term' op expected a positive weight for state "A" in loss, got -1}}
  wavesmith.term %k : "1/s" loss ["A" = -1.0]
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  // expected-error @+1 {{'wavesmith.term' op expected a positive weight for state "A" in gain, got 0}}
  wavesmith.term %k : "1/s" gain ["A" = 0.0]
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  // expected-error @+1 {{'wavesmith.term' op coefficient: unit '1/fortnight': unknown unit 'fortnight'}}
  wavesmith.term %k : "1/fortnight" gain ["A" = 1.0]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  // expected-error @+1 {{'wavesmith.term' op inconsistent units: coefficient times factors is m^-3 s^-1 mol, but the change of state "A" is 1000 m^-3 s^-1 mol}}
  wavesmith.term %k : "mol/m^3/s" gain ["A" = 1.0]
}

// -----

// The second state's unit counts as well as the first's.
wavesmith.ode_system @s states ["A" : "mol/m^3", "T" : "K"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  // expected-error @+1 {{'wavesmith.term' op inconsistent units: coefficient times factors is m^-3 s^-1 mol, but the change of state "T" is s^-1 K}}
  wavesmith.term %k : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["T" = 1.0]
}

// -----

// The text.

// expected-error @+1 {{expected string}}
wavesmith.ode_system @s states [A : "1"] parameters [] time "s" {}

// -----

// expected-error @+1 {{expected ':'}}
wavesmith.ode_system @s states ["A"] parameters [] time "s" {}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  // expected-error @+1 {{expected '='}}
  wavesmith.term %k : "1/s" orders ["A"]
}

// -----

// Quantities.

func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  // expected-error @+1 {{'wavesmith.ode_rhs' op unknown system @nowhere}}
  %0 = wavesmith.ode_rhs @nowhere(%t, %y) : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<2x?xf64> {
  // expected-error @+1 {{'wavesmith.ode_rhs' op expected states to be tensor<2x?xf64>, got 'tensor<1x?xf64>'}}
  %0 = wavesmith.ode_rhs @s(%t, %y) : (f64, tensor<1x?xf64>) -> tensor<2x?xf64>
  return %0 : tensor<2x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: f64, %y: tensor<2x?xf64>) -> tensor<2x?xf64> {
  // expected-error @+1 {{'wavesmith.ode_rhs' op expected states to be tensor<?x2xf64>, got 'tensor<2x?xf64>'}}
  %0 = wavesmith.ode_rhs @s(%t, %y) {layout = #wavesmith.zone_layout<aos>} : (f64, tensor<2x?xf64>) -> tensor<2x?xf64>
  return %0 : tensor<2x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {}
func.func @f(%t: f64, %y: tensor<1x0xf64>) -> tensor<1x?xf64> {
  // expected-error @+1 {{'wavesmith.ode_rhs' op expected states to be tensor<1x?xf64>, got 'tensor<1x0xf64>'}}
  %0 = wavesmith.ode_rhs @s(%t, %y) : (f64, tensor<1x0xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters ["T" : "K"] time "s" {}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  // expected-error @+1 {{'wavesmith.ode_rhs' op expected parameters: system @s has 1, got none}}
  %0 = wavesmith.ode_rhs @s(%t, %y) : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  // expected-error @+1 {{'wavesmith.ode_rhs' op expected no parameters: system @s has none}}
  %0 = wavesmith.ode_rhs @s(%t, %y, %y) : (f64, tensor<1x?xf64>, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  // expected-error @+1 {{'wavesmith.ode_rhs' op expected parameters to be tensor<2x?xf64>, got 'tensor<1x?xf64>'}}
  %0 = wavesmith.ode_rhs @s(%t, %y, %y) : (f64, tensor<1x?xf64>, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<2x?xf64> {
  // expected-error @+1 {{'wavesmith.ode_rhs' op expected result #0 to be tensor<1x?xf64>, got 'tensor<2x?xf64>'}}
  %0 = wavesmith.ode_rhs @s(%t, %y) : (f64, tensor<1x?xf64>) -> tensor<2x?xf64>
  return %0 : tensor<2x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<2x?xf64> {
  // expected-error @+1 {{'wavesmith.ode_production_loss' op expected result #1 to be tensor<1x?xf64>, got 'tensor<2x?xf64>'}}
  %0:2 = wavesmith.ode_production_loss @s(%t, %y) : (f64, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<2x?xf64>)
  return %0#1 : tensor<2x?xf64>
}

// -----

// Rows are terms here, not states.
wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  wavesmith.term %k : "1/s" gain ["A" = 1.0]
}
func.func @f(%t: f64, %y: tensor<2x?xf64>) -> tensor<2x?xf64> {
  // expected-error @+1 {{'wavesmith.ode_term_values' op expected result #0 to be tensor<1x?xf64>, got 'tensor<2x?xf64>'}}
  %0:2 = wavesmith.ode_term_values @s(%t, %y) : (f64, tensor<2x?xf64>) -> (tensor<2x?xf64>, tensor<2x?xf64>)
  return %0#0 : tensor<2x?xf64>
}

// -----

wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {}
func.func @f(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  // expected-error @+1 {{'wavesmith.ode_term_values' op system @s has no terms, so there is no result}}
  %0:2 = wavesmith.ode_term_values @s(%t, %y) : (f64, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0 : tensor<1x?xf64>
}
