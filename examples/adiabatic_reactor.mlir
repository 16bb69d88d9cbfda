// Oxygen dissociates in argon, in a closed, rigid, adiabatic vessel: the
// temperature is a state, and its derivative follows from the energy that the
// reaction takes.
//
//   2 O + M <=> O2 + M
//   sum_i c_i c_v,i dT/dt = -sum_i u_i dc_i/dt,  u = h - R T,  c_v = c_p - R
//
// Rate and thermodynamics are those of GRI-Mech 3.0 for these three species.
//
//   wavesmith-compile examples/adiabatic_reactor.mlir --target=gfx942 -o reactor.hsaco

wavesmith.ode_system @adiabatic_reactor
    states ["O" : "kmol/m^3", "O2" : "kmol/m^3", "AR" : "kmol/m^3", "T" : "K"]
    parameters [] time "s" {
  %T = wavesmith.state "T"

  // The reaction, forward and back.
  %total = wavesmith.weighted_sum ["O" = 1.0, "O2" = 1.0, "AR" = 1.0]
  %M = wavesmith.third_body %total default 1.0 efficiencies ["AR" = 0.83]
  %k = wavesmith.arrhenius %T A 120000000000.00002 b -1.0 E 0.0
  %kf = arith.mulf %k, %M : f64
  %vf = wavesmith.term %kf : "m^3/kmol/s" orders ["O" = 2.0] loss ["O" = 2.0] gain ["O2" = 1.0]
  %g_O = wavesmith.nasa7 gibbs %T T_mid 1000.0
    low [3.1682671, -3.27931884e-03, 6.64306396e-06, -6.12806624e-09, 2.11265971e-12, 2.91222592e+04, 2.05193346]
    high [2.56942078, -8.59741137e-05, 4.19484589e-08, -1.00177799e-11, 1.22833691e-15, 2.92175791e+04, 4.78433864]
  %g_O2 = wavesmith.nasa7 gibbs %T T_mid 1000.0
    low [3.78245636, -2.99673416e-03, 9.84730201e-06, -9.68129509e-09, 3.24372837e-12, -1063.94356, 3.65767573]
    high [3.28253784, 1.48308754e-03, -7.57966669e-07, 2.09470555e-10, -2.16717794e-14, -1088.45772, 5.45323129]
  %kr = wavesmith.reverse_rate %kf, %T gibbs [%g_O = -2.0, %g_O2 = 1.0] reference_pressure 101325.0
  %vr = wavesmith.term %kr : "1/s" orders ["O2" = 1.0] loss ["O2" = 1.0] gain ["O" = 2.0]

  // Heat of the reaction over R T: 2 u(O) - u(O2), with u/(R T) = h/(R T) - 1.
  %h_O = wavesmith.nasa7 enthalpy %T T_mid 1000.0
    low [3.1682671, -3.27931884e-03, 6.64306396e-06, -6.12806624e-09, 2.11265971e-12, 2.91222592e+04, 2.05193346]
    high [2.56942078, -8.59741137e-05, 4.19484589e-08, -1.00177799e-11, 1.22833691e-15, 2.92175791e+04, 4.78433864]
  %h_O2 = wavesmith.nasa7 enthalpy %T T_mid 1000.0
    low [3.78245636, -2.99673416e-03, 9.84730201e-06, -9.68129509e-09, 3.24372837e-12, -1063.94356, 3.65767573]
    high [3.28253784, 1.48308754e-03, -7.57966669e-07, 2.09470555e-10, -2.16717794e-14, -1088.45772, 5.45323129]
  %one = arith.constant 1.0 : f64
  %two = arith.constant 2.0 : f64
  %h_twice = arith.mulf %two, %h_O : f64
  %h_net = arith.subf %h_twice, %h_O2 : f64
  %heat = arith.subf %h_net, %one : f64

  // Heat capacity of the mixture at constant volume, over R.
  %cp_O = wavesmith.nasa7 heat_capacity %T T_mid 1000.0
    low [3.1682671, -3.27931884e-03, 6.64306396e-06, -6.12806624e-09, 2.11265971e-12, 2.91222592e+04, 2.05193346]
    high [2.56942078, -8.59741137e-05, 4.19484589e-08, -1.00177799e-11, 1.22833691e-15, 2.92175791e+04, 4.78433864]
  %cp_O2 = wavesmith.nasa7 heat_capacity %T T_mid 1000.0
    low [3.78245636, -2.99673416e-03, 9.84730201e-06, -9.68129509e-09, 3.24372837e-12, -1063.94356, 3.65767573]
    high [3.28253784, 1.48308754e-03, -7.57966669e-07, 2.09470555e-10, -2.16717794e-14, -1088.45772, 5.45323129]
  %c_O = wavesmith.state "O"
  %c_O2 = wavesmith.state "O2"
  %c_AR = wavesmith.state "AR"
  %cv_O = arith.subf %cp_O, %one : f64
  %cv_O2 = arith.subf %cp_O2, %one : f64
  %cv_AR = arith.constant 1.5 : f64
  %C_AR = arith.mulf %c_AR, %cv_AR : f64
  %C_O2 = math.fma %c_O2, %cv_O2, %C_AR : f64
  %C = math.fma %c_O, %cv_O, %C_O2 : f64

  // dT/dt = T (v_f - v_r) heat / C: a source term.
  %v = arith.subf %vf, %vr : f64
  %Tv = arith.mulf %T, %v : f64
  %power = arith.mulf %Tv, %heat : f64
  %dTdt = arith.divf %power, %C : f64
  wavesmith.term %dTdt : "K/s" gain ["T" = 1.0]
}

func.func @rhs(%t: f64 {wavesmith.name = "t"}, %y: tensor<4x?xf64> {wavesmith.name = "y"}) -> (tensor<4x?xf64> {wavesmith.name = "dydt"}) {
  %0 = wavesmith.ode_rhs @adiabatic_reactor(%t, %y) : (f64, tensor<4x?xf64>) -> tensor<4x?xf64>
  return %0 : tensor<4x?xf64>
}
