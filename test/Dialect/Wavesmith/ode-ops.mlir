// RUN: wavesmith-opt %s | FileCheck %s
// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s
// RUN: wavesmith-opt %s --mlir-print-op-generic | wavesmith-opt | FileCheck %s

// CHECK-LABEL: wavesmith.ode_system @robertson
// CHECK-SAME: states ["A" : "mol/l", "B" : "mol/l", "C" : "mol/l"]
// CHECK-SAME: parameters [] time "s"
wavesmith.ode_system @robertson states ["A" : "mol/l", "B" : "mol/l", "C" : "mol/l"] parameters [] time "s" {
  %k1 = arith.constant 0.04 : f64
  // CHECK: wavesmith.term %{{.*}} : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
  wavesmith.term %k1 : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
  %k2 = arith.constant 3.0e+07 : f64
  wavesmith.term %k2 : "l/mol/s" orders ["B" = 2.0] loss ["B" = 1.0] gain ["C" = 1.0]
  %k3 = arith.constant 1.0e+04 : f64
  wavesmith.term %k3 : "l/mol/s" orders ["B" = 1.0, "C" = 1.0] loss ["B" = 1.0] gain ["A" = 1.0]
}

// A state of every kind of rate coefficient; every digit of a constant stays.
// CHECK-LABEL: wavesmith.ode_system @rates
wavesmith.ode_system @rates
    states ["A" : "kmol/m^3", "B(S)" : "kmol/m^3"]
    parameters ["T" : "K", "p" : "Pa", "rho" : "g/cm^3"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  // CHECK: wavesmith.state "B(S)"
  %b = wavesmith.state "B(S)"
  // CHECK: wavesmith.time
  %t = wavesmith.time
  // CHECK: %[[TOTAL:.*]] = wavesmith.weighted_sum ["A" = 1.0, "B(S)" = 1.0]
  %total = wavesmith.weighted_sum ["A" = 1.0, "B(S)" = 1.0]
  // CHECK: wavesmith.third_body %[[TOTAL]] default 1.0 efficiencies ["A" = 2.4, "B(S)" = 15.4]
  %M = wavesmith.third_body %total default 1.0 efficiencies ["A" = 2.4, "B(S)" = 15.4]
  // CHECK: wavesmith.arrhenius %{{.*}} A -38.7 b 2.7 E 3150.1542797022735
  %k = wavesmith.arrhenius %T A -38.7 b 2.7 E 3150.1542797022735
  // CHECK: wavesmith.arrhenius %{{.*}} A 1.2e+17 b -1.0 E 0.0
  %k0 = wavesmith.arrhenius %T A 1.2e+17 b -1.0 E 0.0
  // CHECK: wavesmith.nasa7 gibbs %{{.*}} T_mid 1000.0 low [3.78245636, -0.00299673416, 9.84730201e-06, -9.68129509e-09, 3.24372837e-12, -1063.94356, 3.65767573] high [3.28253784, 0.00148308754, -7.57966669e-07, 2.09470555e-10, -2.16717794e-14, -1088.45772, 5.45323129]
  %g = wavesmith.nasa7 gibbs %T T_mid 1000.0
    low [3.78245636, -2.99673416e-03, 9.84730201e-06, -9.68129509e-09, 3.24372837e-12, -1063.94356, 3.65767573]
    high [3.28253784, 1.48308754e-03, -7.57966669e-07, 2.09470555e-10, -2.16717794e-14, -1088.45772, 5.45323129]
  // CHECK: wavesmith.nasa7 enthalpy
  %h = wavesmith.nasa7 enthalpy %T T_mid 1.0e+03 low [2.5, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0] high [2.5, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0]
  // CHECK: wavesmith.nasa7 heat_capacity
  %c = wavesmith.nasa7 heat_capacity %T T_mid 1.0e+03 low [2.5, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0] high [2.5, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0]
  // CHECK: wavesmith.reverse_rate %{{.*}}, %{{.*}} gibbs [%{{.*}} = -2.0, %{{.*}} = 1.0] reference_pressure 101325.0
  %r = wavesmith.reverse_rate %k, %T gibbs [%g = -2.0, %h = 1.0] reference_pressure 101325.0
  // CHECK: %[[PR:.*]] = wavesmith.reduced_pressure
  %pr = wavesmith.reduced_pressure %k0, %k, %M
  // CHECK: wavesmith.troe %{{.*}}, %[[PR]] A 0.7346 T3 94.0 T1 1756.0 T2 5182.0
  %F = wavesmith.troe %T, %pr A 0.7346 T3 94.0 T1 1756.0 T2 5182.0
  // CHECK: wavesmith.troe %{{.*}}, %[[PR]] A 0.7346 T3 94.0 T1 1756.0{{$}}
  %F1 = wavesmith.troe %T, %pr A 0.7346 T3 94.0 T1 1756.0
  // CHECK: wavesmith.sri %{{.*}}, %[[PR]] a 0.54 b 201.0 c 1024.0 d 1.0 e 0.0
  %F2 = wavesmith.sri %T, %pr a 0.54 b 201.0 c 1024.0 d 1.0 e 0.0
  // CHECK: wavesmith.tsang %{{.*}}, %[[PR]] A 0.95 B -1.0e-04
  %F3 = wavesmith.tsang %T, %pr A 0.95 B -1.0e-04
  // CHECK: wavesmith.falloff %{{.*}}, %[[PR]], %{{.*}}
  %k1 = wavesmith.falloff %k, %pr, %F
  // CHECK: wavesmith.falloff %{{[^,]*}}, %[[PR]]{{$}}
  %k2 = wavesmith.falloff %k, %pr
  // CHECK: wavesmith.chemically_activated %{{.*}}, %[[PR]], %{{.*}}
  %k3 = wavesmith.chemically_activated %k0, %pr, %F
  // CHECK: wavesmith.plog %{{.*}}, %{{.*}} rates {{\[\[}}10000.0, 1.2e+10, 0.0, 5000.0], [1.0e+05, 3.0e+11, 0.0, 5500.0]]
  %k4 = wavesmith.plog %T, %p rates [[1.0e+04, 1.2e+10, 0.0, 5000.0], [1.0e+05, 3.0e+11, 0.0, 5500.0]]
  // CHECK: wavesmith.chebyshev %{{.*}}, %{{.*}} T_range [300.0, 2000.0] p_range [1000.0, 1.0e+07] coefficients {{\[\[}}8.2883, -1.1397], [1.9764, 1.0037]]
  %k5 = wavesmith.chebyshev %T, %p T_range [300.0, 2000.0] p_range [1000.0, 1.0e+07] coefficients [[8.2883, -1.1397], [1.9764, 1.0037]]
  // CHECK: wavesmith.reaclib %{{.*}} sets {{\[\[}}17.18, 0.0, -13.69, -0.3866, 0.05, -0.0057, -0.6667]]
  %k6 = wavesmith.reaclib %T sets [[17.18, 0.0, -13.69, -0.3866, 0.05, -0.0057, -0.6667]]
  wavesmith.term %k1 : "m^1.5 kmol^-0.5 s^-1" orders ["A" = 1.5] loss ["A" = 1.0] gain ["B(S)" = 0.25]
}

// A batch in both layouts.
// CHECK-LABEL: func.func @rhs
func.func @rhs(%t: f64, %y: tensor<3x?xf64>) -> tensor<3x?xf64> {
  // CHECK: wavesmith.ode_rhs @robertson(%{{.*}}, %{{.*}}) : (f64, tensor<3x?xf64>) -> tensor<3x?xf64>
  %0 = wavesmith.ode_rhs @robertson(%t, %y) : (f64, tensor<3x?xf64>) -> tensor<3x?xf64>
  return %0 : tensor<3x?xf64>
}

// CHECK-LABEL: func.func @production_loss
func.func @production_loss(%t: f64, %y: tensor<?x2xf64>, %p: tensor<?x3xf64>) -> (tensor<?x2xf64>, tensor<?x2xf64>) {
  // CHECK: wavesmith.ode_production_loss @rates
  // CHECK-SAME: layout = #wavesmith.zone_layout<aos>
  // CHECK-SAME: schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>
  %0:2 = wavesmith.ode_production_loss @rates(%t, %y, %p) {layout = #wavesmith.zone_layout<aos>, schedule = #wavesmith.ode_schedule<form = table, workgroup_size = 64>} : (f64, tensor<?x2xf64>, tensor<?x3xf64>) -> (tensor<?x2xf64>, tensor<?x2xf64>)
  return %0#0, %0#1 : tensor<?x2xf64>, tensor<?x2xf64>
}

// CHECK-LABEL: func.func @term_values
func.func @term_values(%t: f64, %y: tensor<3x?xf64>) -> (tensor<3x?xf64>, tensor<3x?xf64>) {
  // CHECK: wavesmith.ode_term_values @robertson
  %0:2 = wavesmith.ode_term_values @robertson(%t, %y) : (f64, tensor<3x?xf64>) -> (tensor<3x?xf64>, tensor<3x?xf64>)
  return %0#0, %0#1 : tensor<3x?xf64>, tensor<3x?xf64>
}
