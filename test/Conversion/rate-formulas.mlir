// RUN: wavesmith-opt %s --convert-wavesmith-ode-to-workgroup | %python %S/Inputs/expressions.py | FileCheck %s

// The formula of each operation, as its description gives it. One system each,
// whose term has the rate as its coefficient: T is p0, the pressure p1. Numbers
// in the formulas are those that the descriptions have in braces.


// CHECK: time_terms: 0[0] = t{{$}}
wavesmith.ode_system @time states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.time
  wavesmith.term %k : "1/s"
}
func.func @time_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @time(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: expression_terms: 0[0] = select(y1 < 2.5, maximumf(y1, p0), 2.5){{$}}
wavesmith.ode_system @expression states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %a = wavesmith.state "B"
  %c = arith.constant 2.5 : f64
  %l = arith.cmpf olt, %a, %c : f64
  %m = arith.maximumf %a, %T : f64
  %k = arith.select %l, %m, %c : f64
  wavesmith.term %k : "1/s"
}
func.func @expression_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @expression(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: sum_terms: 0[0] = fma(2.0, y1, fma(3.0, y0, 0.0)){{$}}
wavesmith.ode_system @sum states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.weighted_sum ["B" = 2.0, "A" = 3.0]
  wavesmith.term %k : "1/s"
}
func.func @sum_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @sum(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: third_body_terms: 0[0] = fma(2.0, y1, fma(-0.5, y0, mul(0.5, p1))){{$}}
wavesmith.ode_system @third_body states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.third_body %p default 0.5 efficiencies ["B" = 2.5, "A" = 0.0]
  wavesmith.term %k : "1/s"
}
func.func @third_body_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @third_body(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: arrhenius_terms: 0[0] = mul(-38.7, exp(fma(2.7, log(p0), mul(-3150.5, div(1.0, p0))))){{$}}
wavesmith.ode_system @arrhenius states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.arrhenius %T A -38.7 b 2.7 E 3150.5
  wavesmith.term %k : "1/s"
}
func.func @arrhenius_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @arrhenius(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: arrhenius_A_terms: 0[0] = 38.7{{$}}
wavesmith.ode_system @arrhenius_A states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.arrhenius %T A 38.7 b 0.0 E 0.0
  wavesmith.term %k : "1/s"
}
func.func @arrhenius_A_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @arrhenius_A(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: arrhenius_b_terms: 0[0] = mul(38.7, exp(mul(2.7, log(p0)))){{$}}
wavesmith.ode_system @arrhenius_b states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.arrhenius %T A 38.7 b 2.7 E 0.0
  wavesmith.term %k : "1/s"
}
func.func @arrhenius_b_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @arrhenius_b(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: arrhenius_E_terms: 0[0] = mul(38.7, exp(mul(100.0, div(1.0, p0)))){{$}}
wavesmith.ode_system @arrhenius_E states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.arrhenius %T A 38.7 b 0.0 E -100.0
  wavesmith.term %k : "1/s"
}
func.func @arrhenius_E_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @arrhenius_E(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: nasa7_heat_capacity_terms: 0[0] = select(p0 <= 1000.0, fma(fma(fma(fma(5.0, p0, 4.0), p0, 3.0), p0, 2.0), p0, 1.0), fma(fma(fma(fma(12.0, p0, 11.0), p0, 10.0), p0, 9.0), p0, 8.0)){{$}}
wavesmith.ode_system @nasa7_heat_capacity states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.nasa7 heat_capacity %T T_mid 1000.0 low [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0] high [8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0]
  wavesmith.term %k : "1/s"
}
func.func @nasa7_heat_capacity_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @nasa7_heat_capacity(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: nasa7_enthalpy_terms: 0[0] = select(p0 <= 1000.0, fma(fma(fma(fma(1.0, p0, 1.0), p0, 1.0), p0, 1.0), p0, fma(6.0, div(1.0, p0), 1.0)), fma(fma(fma(fma(2.4, p0, 2.75), p0, 3.3333333333333335), p0, 4.5), p0, fma(13.0, div(1.0, p0), 8.0))){{$}}
wavesmith.ode_system @nasa7_enthalpy states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.nasa7 enthalpy %T T_mid 1000.0 low [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0] high [8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0]
  wavesmith.term %k : "1/s"
}
func.func @nasa7_enthalpy_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @nasa7_enthalpy(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: nasa7_gibbs_terms: 0[0] = select(p0 <= 1000.0, fma(fma(fma(fma(-0.25, p0, -0.3333333333333333), p0, -0.5), p0, -1.0), p0, fma(1.0, sub(1.0, log(p0)), fma(6.0, div(1.0, p0), -7.0))), fma(fma(fma(fma(-0.6, p0, -0.9166666666666666), p0, -1.6666666666666667), p0, -4.5), p0, fma(8.0, sub(1.0, log(p0)), fma(13.0, div(1.0, p0), -14.0)))){{$}}
wavesmith.ode_system @nasa7_gibbs states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.nasa7 gibbs %T T_mid 1000.0 low [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0] high [8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0]
  wavesmith.term %k : "1/s"
}
func.func @nasa7_gibbs_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @nasa7_gibbs(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: reverse_terms: 0[0] = mul(p1, select(exp(fma(1.0, log(mul(12.186596374704216, div(1.0, p0))), fma(1.0, y0, fma(-2.0, y1, 0.0)))) > 1e+300, 1e+300, exp(fma(1.0, log(mul(12.186596374704216, div(1.0, p0))), fma(1.0, y0, fma(-2.0, y1, 0.0)))))){{$}}
wavesmith.ode_system @reverse states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %g = wavesmith.state "A"
  %h = wavesmith.state "B"
  %k = wavesmith.reverse_rate %p, %T gibbs [%h = -2.0, %g = 1.0] reference_pressure 101325.0
  wavesmith.term %k : "1/s"
}
func.func @reverse_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @reverse(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: reverse_same_number_terms: 0[0] = mul(p1, select(exp(fma(1.0, y0, fma(-1.0, y1, 0.0))) > 1e+300, 1e+300, exp(fma(1.0, y0, fma(-1.0, y1, 0.0))))){{$}}
wavesmith.ode_system @reverse_same_number states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %g = wavesmith.state "A"
  %h = wavesmith.state "B"
  %k = wavesmith.reverse_rate %p, %T gibbs [%h = -1.0, %g = 1.0] reference_pressure 101325.0
  wavesmith.term %k : "1/s"
}
func.func @reverse_same_number_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @reverse_same_number(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: reaclib_terms: 0[0] = add(add(0.0, exp(fma(7.0, log(div(p0, 1000000000.0)), fma(6.0, mul(div(p0, 1000000000.0), mul(cbrt(div(p0, 1000000000.0)), cbrt(div(p0, 1000000000.0)))), fma(5.0, div(p0, 1000000000.0), fma(4.0, cbrt(div(p0, 1000000000.0)), fma(3.0, div(1.0, cbrt(div(p0, 1000000000.0))), fma(2.0, div(1.0, div(p0, 1000000000.0)), 1.0)))))))), exp(fma(14.0, log(div(p0, 1000000000.0)), fma(13.0, mul(div(p0, 1000000000.0), mul(cbrt(div(p0, 1000000000.0)), cbrt(div(p0, 1000000000.0)))), fma(12.0, div(p0, 1000000000.0), fma(11.0, cbrt(div(p0, 1000000000.0)), fma(10.0, div(1.0, cbrt(div(p0, 1000000000.0))), fma(9.0, div(1.0, div(p0, 1000000000.0)), 8.0)))))))){{$}}
wavesmith.ode_system @reaclib states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.reaclib %T sets [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0]]
  wavesmith.term %k : "1/s"
}
func.func @reaclib_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @reaclib(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: reduced_pressure_terms: 0[0] = div(mul(p1, y0), add(y1, 1e-300)){{$}}
wavesmith.ode_system @reduced_pressure states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %a = wavesmith.state "A"
  %b = wavesmith.state "B"
  %k = wavesmith.reduced_pressure %a, %b, %p
  wavesmith.term %k : "1/s"
}
func.func @reduced_pressure_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @reduced_pressure(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: troe_terms: 0[0] = exp(mul(div(log10(select(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))) < 1e-300, 1e-300, fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))))), fma(div(add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))) < 1e-300, 1e-300, fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))))), -0.4)), fma(-0.14, add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))) < 1e-300, 1e-300, fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))))), -0.4)), fma(-1.27, log10(select(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))) < 1e-300, 1e-300, fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))))), 0.75))), div(add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))) < 1e-300, 1e-300, fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))))), -0.4)), fma(-0.14, add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))) < 1e-300, 1e-300, fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))))), -0.4)), fma(-1.27, log10(select(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))) < 1e-300, 1e-300, fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))))), 0.75))), 1.0)), 2.302585092994046)){{$}}
wavesmith.ode_system @troe states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.troe %T, %p A 0.75 T3 94.0 T1 1756.0
  wavesmith.term %k : "1/s"
}
func.func @troe_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @troe(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: troe_T2_terms: 0[0] = exp(mul(div(log10(select(add(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))), exp(mul(-5182.0, div(1.0, p0)))) < 1e-300, 1e-300, add(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))), exp(mul(-5182.0, div(1.0, p0)))))), fma(div(add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(add(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))), exp(mul(-5182.0, div(1.0, p0)))) < 1e-300, 1e-300, add(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))), exp(mul(-5182.0, div(1.0, p0)))))), -0.4)), fma(-0.14, add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(add(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))), exp(mul(-5182.0, div(1.0, p0)))) < 1e-300, 1e-300, add(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))), exp(mul(-5182.0, div(1.0, p0)))))), -0.4)), fma(-1.27, log10(select(add(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))), exp(mul(-5182.0, div(1.0, p0)))) < 1e-300, 1e-300, add(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))), exp(mul(-5182.0, div(1.0, p0)))))), 0.75))), div(add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(add(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))), exp(mul(-5182.0, div(1.0, p0)))) < 1e-300, 1e-300, add(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))), exp(mul(-5182.0, div(1.0, p0)))))), -0.4)), fma(-0.14, add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(add(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))), exp(mul(-5182.0, div(1.0, p0)))) < 1e-300, 1e-300, add(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))), exp(mul(-5182.0, div(1.0, p0)))))), -0.4)), fma(-1.27, log10(select(add(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))), exp(mul(-5182.0, div(1.0, p0)))) < 1e-300, 1e-300, add(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, exp(mul(p0, -0.010638297872340425)))), exp(mul(-5182.0, div(1.0, p0)))))), 0.75))), 1.0)), 2.302585092994046)){{$}}
wavesmith.ode_system @troe_T2 states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.troe %T, %p A 0.75 T3 94.0 T1 1756.0 T2 5182.0
  wavesmith.term %k : "1/s"
}
func.func @troe_T2_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @troe_T2(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: troe_no_T3_terms: 0[0] = exp(mul(div(log10(select(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, 0.0)) < 1e-300, 1e-300, fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, 0.0)))), fma(div(add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, 0.0)) < 1e-300, 1e-300, fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, 0.0)))), -0.4)), fma(-0.14, add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, 0.0)) < 1e-300, 1e-300, fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, 0.0)))), -0.4)), fma(-1.27, log10(select(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, 0.0)) < 1e-300, 1e-300, fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, 0.0)))), 0.75))), div(add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, 0.0)) < 1e-300, 1e-300, fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, 0.0)))), -0.4)), fma(-0.14, add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, 0.0)) < 1e-300, 1e-300, fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, 0.0)))), -0.4)), fma(-1.27, log10(select(fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, 0.0)) < 1e-300, 1e-300, fma(0.75, exp(mul(p0, -0.0005694760820045558)), mul(0.25, 0.0)))), 0.75))), 1.0)), 2.302585092994046)){{$}}
wavesmith.ode_system @troe_no_T3 states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.troe %T, %p A 0.75 T3 0.0 T1 1756.0
  wavesmith.term %k : "1/s"
}
func.func @troe_no_T3_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @troe_no_T3(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: troe_no_T1_terms: 0[0] = exp(mul(div(log10(select(fma(0.75, 0.0, mul(0.25, exp(mul(p0, -0.010638297872340425)))) < 1e-300, 1e-300, fma(0.75, 0.0, mul(0.25, exp(mul(p0, -0.010638297872340425)))))), fma(div(add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(fma(0.75, 0.0, mul(0.25, exp(mul(p0, -0.010638297872340425)))) < 1e-300, 1e-300, fma(0.75, 0.0, mul(0.25, exp(mul(p0, -0.010638297872340425)))))), -0.4)), fma(-0.14, add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(fma(0.75, 0.0, mul(0.25, exp(mul(p0, -0.010638297872340425)))) < 1e-300, 1e-300, fma(0.75, 0.0, mul(0.25, exp(mul(p0, -0.010638297872340425)))))), -0.4)), fma(-1.27, log10(select(fma(0.75, 0.0, mul(0.25, exp(mul(p0, -0.010638297872340425)))) < 1e-300, 1e-300, fma(0.75, 0.0, mul(0.25, exp(mul(p0, -0.010638297872340425)))))), 0.75))), div(add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(fma(0.75, 0.0, mul(0.25, exp(mul(p0, -0.010638297872340425)))) < 1e-300, 1e-300, fma(0.75, 0.0, mul(0.25, exp(mul(p0, -0.010638297872340425)))))), -0.4)), fma(-0.14, add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(fma(0.75, 0.0, mul(0.25, exp(mul(p0, -0.010638297872340425)))) < 1e-300, 1e-300, fma(0.75, 0.0, mul(0.25, exp(mul(p0, -0.010638297872340425)))))), -0.4)), fma(-1.27, log10(select(fma(0.75, 0.0, mul(0.25, exp(mul(p0, -0.010638297872340425)))) < 1e-300, 1e-300, fma(0.75, 0.0, mul(0.25, exp(mul(p0, -0.010638297872340425)))))), 0.75))), 1.0)), 2.302585092994046)){{$}}
wavesmith.ode_system @troe_no_T1 states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.troe %T, %p A 0.75 T3 94.0 T1 1.0e-301
  wavesmith.term %k : "1/s"
}
func.func @troe_no_T1_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @troe_no_T1(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: tsang_terms: 0[0] = exp(mul(div(log10(select(fma(-0.0001, p0, 0.95) < 1e-300, 1e-300, fma(-0.0001, p0, 0.95))), fma(div(add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(fma(-0.0001, p0, 0.95) < 1e-300, 1e-300, fma(-0.0001, p0, 0.95))), -0.4)), fma(-0.14, add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(fma(-0.0001, p0, 0.95) < 1e-300, 1e-300, fma(-0.0001, p0, 0.95))), -0.4)), fma(-1.27, log10(select(fma(-0.0001, p0, 0.95) < 1e-300, 1e-300, fma(-0.0001, p0, 0.95))), 0.75))), div(add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(fma(-0.0001, p0, 0.95) < 1e-300, 1e-300, fma(-0.0001, p0, 0.95))), -0.4)), fma(-0.14, add(log10(select(p1 < 1e-300, 1e-300, p1)), fma(-0.67, log10(select(fma(-0.0001, p0, 0.95) < 1e-300, 1e-300, fma(-0.0001, p0, 0.95))), -0.4)), fma(-1.27, log10(select(fma(-0.0001, p0, 0.95) < 1e-300, 1e-300, fma(-0.0001, p0, 0.95))), 0.75))), 1.0)), 2.302585092994046)){{$}}
wavesmith.ode_system @tsang states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.tsang %T, %p A 0.95 B -0.0001
  wavesmith.term %k : "1/s"
}
func.func @tsang_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @tsang(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: sri_terms: 0[0] = exp(mul(div(1.0, fma(log10(select(p1 < 1e-300, 1e-300, p1)), log10(select(p1 < 1e-300, 1e-300, p1)), 1.0)), log(add(mul(0.5, exp(mul(-200.0, div(1.0, p0)))), exp(mul(p0, -0.0009765625)))))){{$}}
wavesmith.ode_system @sri states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.sri %T, %p a 0.5 b 200.0 c 1024.0 d 1.0 e 0.0
  wavesmith.term %k : "1/s"
}
func.func @sri_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @sri(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: sri_d_e_terms: 0[0] = mul(mul(exp(mul(div(1.0, fma(log10(select(p1 < 1e-300, 1e-300, p1)), log10(select(p1 < 1e-300, 1e-300, p1)), 1.0)), log(add(mul(0.5, exp(mul(-200.0, div(1.0, p0)))), exp(mul(p0, -0.0009765625)))))), 2.0), exp(mul(0.25, log(p0)))){{$}}
wavesmith.ode_system @sri_d_e states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.sri %T, %p a 0.5 b 200.0 c 1024.0 d 2.0 e 0.25
  wavesmith.term %k : "1/s"
}
func.func @sri_d_e_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @sri_d_e(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: sri_no_c_terms: 0[0] = exp(mul(div(1.0, fma(log10(select(p1 < 1e-300, 1e-300, p1)), log10(select(p1 < 1e-300, 1e-300, p1)), 1.0)), log(mul(0.5, exp(mul(-200.0, div(1.0, p0))))))){{$}}
wavesmith.ode_system @sri_no_c states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.sri %T, %p a 0.5 b 200.0 c 0.0 d 1.0 e 0.0
  wavesmith.term %k : "1/s"
}
func.func @sri_no_c_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @sri_no_c(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: falloff_terms: 0[0] = mul(mul(p1, div(y1, add(p1, 1.0))), y0){{$}}
wavesmith.ode_system @falloff states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %a = wavesmith.state "A"
  %b = wavesmith.state "B"
  %k = wavesmith.falloff %a, %p, %b
  wavesmith.term %k : "1/s"
}
func.func @falloff_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @falloff(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: falloff_lindemann_terms: 0[0] = mul(mul(p1, div(1.0, add(p1, 1.0))), y0){{$}}
wavesmith.ode_system @falloff_lindemann states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %a = wavesmith.state "A"
  %k = wavesmith.falloff %a, %p
  wavesmith.term %k : "1/s"
}
func.func @falloff_lindemann_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @falloff_lindemann(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: activated_terms: 0[0] = mul(div(y1, add(p1, 1.0)), y0){{$}}
wavesmith.ode_system @activated states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %a = wavesmith.state "A"
  %b = wavesmith.state "B"
  %k = wavesmith.chemically_activated %a, %p, %b
  wavesmith.term %k : "1/s"
}
func.func @activated_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @activated(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: activated_lindemann_terms: 0[0] = mul(div(1.0, add(p1, 1.0)), y0){{$}}
wavesmith.ode_system @activated_lindemann states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %a = wavesmith.state "A"
  %k = wavesmith.chemically_activated %a, %p
  wavesmith.term %k : "1/s"
}
func.func @activated_lindemann_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @activated_lindemann(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: plog_one_terms: 0[0] = exp(select(log(p1) >= 0.0, fma(-100.0, div(1.0, p0), fma(0.5, log(p0), 0.0)), fma(-100.0, div(1.0, p0), fma(0.5, log(p0), 0.0)))){{$}}
wavesmith.ode_system @plog_one states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.plog %T, %p rates [[1.0, 1.0, 0.5, 100.0]]
  wavesmith.term %k : "1/s"
}
func.func @plog_one_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @plog_one(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: plog_two_terms: 0[0] = exp(select(log(p1) >= 1.0, log(add(add(1e-300, 2.0), mul(-3.0, exp(mul(0.5, log(p0)))))), select(log(p1) >= 0.0, fma(sub(log(add(add(1e-300, 2.0), mul(-3.0, exp(mul(0.5, log(p0)))))), fma(-100.0, div(1.0, p0), fma(0.5, log(p0), 0.0))), mul(sub(log(p1), 0.0), 1.0), fma(-100.0, div(1.0, p0), fma(0.5, log(p0), 0.0))), fma(-100.0, div(1.0, p0), fma(0.5, log(p0), 0.0))))){{$}}
wavesmith.ode_system @plog_two states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.plog %T, %p rates [[1.0, 1.0, 0.5, 100.0], [2.718281828459045, 2.0, 0.0, 0.0], [2.718281828459045, -3.0, 0.5, 0.0]]
  wavesmith.term %k : "1/s"
}
func.func @plog_two_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @plog_two(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: chebyshev_terms: 0[0] = exp(mul(fma(mul(fma(2.0, div(1.0, p0), -0.003), -1000.0), fma(fma(add(mul(fma(2.0, log10(p1), -3.0), 1.0), mul(fma(2.0, log10(p1), -3.0), 1.0)), mul(fma(2.0, log10(p1), -3.0), 1.0), neg(1.0)), 6.5, fma(mul(fma(2.0, log10(p1), -3.0), 1.0), 5.5, 4.5)), fma(fma(add(mul(fma(2.0, log10(p1), -3.0), 1.0), mul(fma(2.0, log10(p1), -3.0), 1.0)), mul(fma(2.0, log10(p1), -3.0), 1.0), neg(1.0)), 3.5, fma(mul(fma(2.0, log10(p1), -3.0), 1.0), 2.5, 1.5))), 2.302585092994046)){{$}}
wavesmith.ode_system @chebyshev states ["A" : "1", "B" : "1"] parameters ["T" : "K", "p" : "Pa"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %k = wavesmith.chebyshev %T, %p T_range [500.0, 1000.0] p_range [10.0, 100.0] coefficients [[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]]
  wavesmith.term %k : "1/s"
}
func.func @chebyshev_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @chebyshev(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<2x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// Values of terms.

// CHECK: no_order_terms: 1[0] = p0{{$}}
wavesmith.ode_system @no_order states ["A" : "1", "B" : "1"] parameters ["k" : "1/s"] time "s" {
  %k = wavesmith.parameter "k"
  wavesmith.term %k : "1/s" orders []
}
func.func @no_order_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @no_order(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: first_order_terms: 1[0] = mul(mul(p0, y0), y1){{$}}
wavesmith.ode_system @first_order states ["A" : "1", "B" : "1"] parameters ["k" : "1/s"] time "s" {
  %k = wavesmith.parameter "k"
  wavesmith.term %k : "1/s" orders ["B" = 1.0, "A" = 1.0]
}
func.func @first_order_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @first_order(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: square_terms: 1[0] = mul(p0, mul(y0, y0)){{$}}
wavesmith.ode_system @square states ["A" : "1", "B" : "1"] parameters ["k" : "1/s"] time "s" {
  %k = wavesmith.parameter "k"
  wavesmith.term %k : "1/s" orders ["A" = 2.0]
}
func.func @square_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @square(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: cube_terms: 1[0] = mul(p0, mul(mul(y0, y0), y0)){{$}}
wavesmith.ode_system @cube states ["A" : "1", "B" : "1"] parameters ["k" : "1/s"] time "s" {
  %k = wavesmith.parameter "k"
  wavesmith.term %k : "1/s" orders ["A" = 3.0]
}
func.func @cube_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @cube(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: fourth_terms: 1[0] = mul(p0, mul(mul(y0, y0), mul(y0, y0))){{$}}
wavesmith.ode_system @fourth states ["A" : "1", "B" : "1"] parameters ["k" : "1/s"] time "s" {
  %k = wavesmith.parameter "k"
  wavesmith.term %k : "1/s" orders ["A" = 4.0]
}
func.func @fourth_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @fourth(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: real_terms: 1[0] = mul(p0, select(y0 > 0.0, exp(mul(1.5, log(y0))), 0.0)){{$}}
wavesmith.ode_system @real states ["A" : "1", "B" : "1"] parameters ["k" : "1/s"] time "s" {
  %k = wavesmith.parameter "k"
  wavesmith.term %k : "1/s" orders ["A" = 1.5]
}
func.func @real_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @real(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: fifth_terms: 1[0] = mul(p0, select(y0 > 0.0, exp(mul(5.0, log(y0))), 0.0)){{$}}
wavesmith.ode_system @fifth states ["A" : "1", "B" : "1"] parameters ["k" : "1/s"] time "s" {
  %k = wavesmith.parameter "k"
  wavesmith.term %k : "1/s" orders ["A" = 5.0]
}
func.func @fifth_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @fifth(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

// CHECK: negative_terms: 1[0] = mul(p0, select(y0 > 0.0, exp(mul(-1.0, log(y0))), 0.0)){{$}}
wavesmith.ode_system @negative states ["A" : "1", "B" : "1"] parameters ["k" : "1/s"] time "s" {
  %k = wavesmith.parameter "k"
  wavesmith.term %k : "1/s" orders ["A" = -1.0]
}
func.func @negative_terms(%t: f64, %y: tensor<2x?xf64>, %q: tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @negative(%t, %y, %q) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<2x?xf64>, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}
