// RUN: wavesmith-opt %s -verify-diagnostics -split-input-file

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.arrhenius' op expected the temperature in K, got a value in 1}}
  %0 = wavesmith.arrhenius %TC A 1.0 b 0.0 E 1.0
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.arrhenius' op expected the temperature in K, got a value in kmol/m^3}}
  %0 = wavesmith.arrhenius %A A 1.0 b 0.0 E 1.0
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.nasa7' op expected the temperature in K, got a value in 1}}
  %0 = wavesmith.nasa7 gibbs %TC T_mid 1000.0 low [2.5, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0] high [2.5, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.reverse_rate' op expected the temperature in K, got a value in 1}}
  %0 = wavesmith.reverse_rate %A, %TC gibbs [] reference_pressure 1.0e+05
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.reaclib' op expected the temperature in K, got a value in 1}}
  %0 = wavesmith.reaclib %TC sets [[2.5, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0]]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.troe' op expected the temperature in K, got a value in 1}}
  %0 = wavesmith.troe %TC, %A A 0.5 T3 1.0 T1 1.0
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.sri' op expected the temperature in K, got a value in 1}}
  %0 = wavesmith.sri %TC, %A a 0.5 b 1.0 c 1.0 d 1.0 e 0.0
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.tsang' op expected the temperature in K, got a value in 1}}
  %0 = wavesmith.tsang %TC, %A A 0.5 B 1.0
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.plog' op expected the temperature in K, got a value in 1}}
  %0 = wavesmith.plog %TC, %p rates [[1.0, 1.0, 0.0, 0.0]]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.chebyshev' op expected the temperature in K, got a value in 1}}
  %0 = wavesmith.chebyshev %TC, %p T_range [300.0, 2000.0] p_range [1.0, 2.0] coefficients [[1.0]]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.plog' op expected the pressure in Pa, got a value in K}}
  %0 = wavesmith.plog %T, %T rates [[1.0, 1.0, 0.0, 0.0]]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.chebyshev' op expected the pressure in Pa, got a value in K}}
  %0 = wavesmith.chebyshev %T, %T T_range [300.0, 2000.0] p_range [1.0, 2.0] coefficients [[1.0]]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.weighted_sum' op unknown state 'Z' in the sum: system @s does not declare it}}
  %0 = wavesmith.weighted_sum ["Z" = 1.0]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.weighted_sum' op expected at least one state, got none}}
  %0 = wavesmith.weighted_sum []
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.weighted_sum' op expected states of one unit, got "A" in "kmol/m^3" and "B" in "mol/m^3"}}
  %0 = wavesmith.weighted_sum ["A" = 1.0, "B" = 1.0]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.weighted_sum' op expected as many numbers as states in the sum, got 0 numbers and 1 states}}
  %0 = "wavesmith.weighted_sum"() <{states = ["A"], weights = array<f64>}> : () -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.third_body' op expected finite numbers for the default efficiency, got}}
  %0 = "wavesmith.third_body"(%A) <{default_efficiency = 0x7FF0000000000000 : f64, states = [], efficiencies = array<f64>}> : (f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.third_body' op state 'A' stands twice in efficiencies}}
  %0 = wavesmith.third_body %A default 1.0 efficiencies ["A" = 1.0, "A" = 2.0]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.third_body' op expected a finite number for state 'A' in efficiencies, got}}
  %0 = "wavesmith.third_body"(%A) <{default_efficiency = 1.0 : f64, states = ["A"], efficiencies = array<f64: 0x7FF8000000000000>}> : (f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.arrhenius' op expected finite numbers for A, got}}
  %0 = "wavesmith.arrhenius"(%T) <{A = 0x7FF0000000000000 : f64, b = 1.0 : f64, E = 1.0 : f64}> : (f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.arrhenius' op expected finite numbers for b, got}}
  %0 = "wavesmith.arrhenius"(%T) <{A = 1.0 : f64, b = 0x7FF0000000000000 : f64, E = 1.0 : f64}> : (f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.arrhenius' op expected finite numbers for E, got}}
  %0 = "wavesmith.arrhenius"(%T) <{A = 1.0 : f64, b = 1.0 : f64, E = 0x7FF0000000000000 : f64}> : (f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.nasa7' op expected 7 coefficients in low, got 6}}
  %0 = wavesmith.nasa7 gibbs %T T_mid 1000.0 low [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] high [2.5, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.nasa7' op expected 7 coefficients in high, got 8}}
  %0 = wavesmith.nasa7 enthalpy %T T_mid 1000.0 low [2.5, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0] high [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.nasa7' op expected finite numbers for low, got}}
  %0 = "wavesmith.nasa7"(%T) <{quantity = 0 : i32, T_mid = 1.0 : f64, low = array<f64: 1.0, 1.0, 1.0, 0x7FF8000000000000, 1.0, 1.0, 1.0>, high = array<f64: 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0>}> : (f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.nasa7' op expected finite numbers for high, got}}
  %0 = "wavesmith.nasa7"(%T) <{quantity = 0 : i32, T_mid = 1.0 : f64, low = array<f64: 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0>, high = array<f64: 1.0, 1.0, 1.0, 0x7FF8000000000000, 1.0, 1.0, 1.0>}> : (f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.nasa7' op expected finite numbers for T_mid, got}}
  %0 = "wavesmith.nasa7"(%T) <{quantity = 0 : i32, T_mid = 0x7FF0000000000000 : f64, low = array<f64: 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0>, high = array<f64: 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0>}> : (f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{expected string or keyword containing one of the following enum values for attribute 'quantity' [gibbs, enthalpy, heat_capacity]}}
  %0 = wavesmith.nasa7 entropy %T T_mid 1000.0 low [2.5, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0] high [2.5, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.reverse_rate' op expected one stoichiometric coefficient for each of 1 Gibbs energies, got 2}}
  %0 = "wavesmith.reverse_rate"(%A, %T, %A) <{coefficients = array<f64: 1.0, 2.0>, reference_pressure = 1.0 : f64}> : (f64, f64, f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.reverse_rate' op expected a positive reference pressure, got 0}}
  %0 = wavesmith.reverse_rate %A, %T gibbs [%A = 1.0] reference_pressure 0.0
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.reverse_rate' op expected a positive reference pressure, got}}
  %0 = "wavesmith.reverse_rate"(%A, %T, %A) <{coefficients = array<f64: 1.0>, reference_pressure = 0x7FF8000000000000 : f64}> : (f64, f64, f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.reverse_rate' op expected finite numbers for stoichiometric coefficients, got}}
  %0 = "wavesmith.reverse_rate"(%A, %T, %A) <{coefficients = array<f64: 0x7FF0000000000000>, reference_pressure = 1.0 : f64}> : (f64, f64, f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.reaclib' op expected sets of 7 parameters, got 0 numbers}}
  %0 = wavesmith.reaclib %T sets []
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.reaclib' op expected sets of 7 parameters, got 8 numbers}}
  %0 = "wavesmith.reaclib"(%T) <{sets = array<f64: 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0>}> : (f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.reaclib' op expected finite numbers for sets, got}}
  %0 = "wavesmith.reaclib"(%T) <{sets = array<f64: 1.0, 1.0, 1.0, 0x7FF8000000000000, 1.0, 1.0, 1.0>}> : (f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{expected a row of 7 numbers, got 6}}
  %0 = wavesmith.reaclib %T sets [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.troe' op expected finite numbers for A, got}}
  %0 = "wavesmith.troe"(%T, %A) <{A = 0x7FF0000000000000 : f64, T3 = 1.0 : f64, T1 = 1.0 : f64, T2 = 1.0 : f64}> : (f64, f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.troe' op expected finite numbers for T3, got}}
  %0 = "wavesmith.troe"(%T, %A) <{A = 1.0 : f64, T3 = 0x7FF0000000000000 : f64, T1 = 1.0 : f64, T2 = 1.0 : f64}> : (f64, f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.troe' op expected finite numbers for T1, got}}
  %0 = "wavesmith.troe"(%T, %A) <{A = 1.0 : f64, T3 = 1.0 : f64, T1 = 0x7FF0000000000000 : f64, T2 = 1.0 : f64}> : (f64, f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.troe' op expected finite numbers for T2, got}}
  %0 = "wavesmith.troe"(%T, %A) <{A = 1.0 : f64, T3 = 1.0 : f64, T1 = 1.0 : f64, T2 = 0x7FF0000000000000 : f64}> : (f64, f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.sri' op expected c not to be negative, got -1}}
  %0 = wavesmith.sri %T, %A a 0.5 b 1.0 c -1.0 d 1.0 e 0.0
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.sri' op expected d not to be negative, got -1}}
  %0 = wavesmith.sri %T, %A a 0.5 b 1.0 c 1.0 d -1.0 e 0.0
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.sri' op expected finite numbers for a, b, c, d, e, got}}
  %0 = "wavesmith.sri"(%T, %A) <{a = 1.0 : f64, b = 0x7FF0000000000000 : f64, c = 1.0 : f64, d = 1.0 : f64, e = 1.0 : f64}> : (f64, f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.tsang' op expected finite numbers for A, got}}
  %0 = "wavesmith.tsang"(%T, %A) <{A = 0x7FF0000000000000 : f64, B = 1.0 : f64}> : (f64, f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.tsang' op expected finite numbers for B, got}}
  %0 = "wavesmith.tsang"(%T, %A) <{A = 1.0 : f64, B = 0x7FF0000000000000 : f64}> : (f64, f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.plog' op expected rows of (p, A, b, E), got 0 numbers}}
  %0 = wavesmith.plog %T, %p rates []
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.plog' op expected rows of (p, A, b, E), got 3 numbers}}
  %0 = "wavesmith.plog"(%T, %p) <{rates = array<f64: 1.0, 1.0, 1.0>}> : (f64, f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.plog' op expected finite numbers for rates, got}}
  %0 = "wavesmith.plog"(%T, %p) <{rates = array<f64: 1.0, 1.0, 1.0, 0x7FF0000000000000>}> : (f64, f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.plog' op expected positive pressures, got 0}}
  %0 = wavesmith.plog %T, %p rates [[0.0, 1.0, 0.0, 0.0]]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.plog' op expected ascending pressures, got 1.000000e+00 after 2.000000e+00}}
  %0 = wavesmith.plog %T, %p rates [[2.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.plog' op expected a positive A where one rate stands alone at its pressure, got -1}}
  %0 = wavesmith.plog %T, %p rates [[1.0, 1.0, 0.0, 0.0], [1.0, -1.0, 0.0, 0.0], [2.0, -1.0, 0.0, 0.0]]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{expected a row of 4 numbers, got 5}}
  %0 = wavesmith.plog %T, %p rates [[1.0, 1.0, 0.0, 0.0, 0.0]]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.chebyshev' op expected T_range to be two positive, ascending numbers}}
  %0 = wavesmith.chebyshev %T, %p T_range [300.0] p_range [1.0, 2.0] coefficients [[1.0]]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.chebyshev' op expected T_range to be two positive, ascending numbers}}
  %0 = wavesmith.chebyshev %T, %p T_range [0.0, 1.0] p_range [1.0, 2.0] coefficients [[1.0]]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.chebyshev' op expected p_range to be two positive, ascending numbers}}
  %0 = wavesmith.chebyshev %T, %p T_range [300.0, 400.0] p_range [2.0, 1.0] coefficients [[1.0]]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.chebyshev' op expected rows of 0 coefficients, got 0 numbers}}
  %0 = wavesmith.chebyshev %T, %p T_range [300.0, 400.0] p_range [1.0, 2.0] coefficients []
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.chebyshev' op expected rows of 0 coefficients, got 0 numbers}}
  %0 = wavesmith.chebyshev %T, %p T_range [300.0, 400.0] p_range [1.0, 2.0] coefficients [[], []]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.chebyshev' op expected rows of 2 coefficients, got 3 numbers}}
  %0 = "wavesmith.chebyshev"(%T, %p) <{T_range = array<f64: 1.0, 2.0>, p_range = array<f64: 1.0, 2.0>, columns = 2 : i64, coefficients = array<f64: 1.0, 2.0, 3.0>}> : (f64, f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.chebyshev' op expected rows of -1 coefficients, got 1 numbers}}
  %0 = "wavesmith.chebyshev"(%T, %p) <{T_range = array<f64: 1.0, 2.0>, p_range = array<f64: 1.0, 2.0>, columns = -1 : i64, coefficients = array<f64: 1.0>}> : (f64, f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{'wavesmith.chebyshev' op expected finite numbers for coefficients, got}}
  %0 = "wavesmith.chebyshev"(%T, %p) <{T_range = array<f64: 1.0, 2.0>, p_range = array<f64: 1.0, 2.0>, columns = 1 : i64, coefficients = array<f64: 0x7FF8000000000000>}> : (f64, f64) -> f64
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{expected a row of 2 numbers, got 1}}
  %0 = wavesmith.chebyshev %T, %p T_range [300.0, 400.0] p_range [1.0, 2.0] coefficients [[1.0, 2.0], [1.0]]
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{expected floating point literal}}
  %0 = wavesmith.arrhenius %T A one b 0.0 E 0.0
}

// -----

wavesmith.ode_system @s states ["A" : "kmol/m^3", "B" : "mol/m^3", "X" : "kmol/m^3"] parameters ["T" : "K", "p" : "Pa", "TC" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %p = wavesmith.parameter "p"
  %TC = wavesmith.parameter "TC"
  %A = wavesmith.state "A"
  // expected-error @+1 {{expected SSA operand}}
  %0 = wavesmith.reverse_rate %A, %T gibbs ["A" = 1.0] reference_pressure 1.0
}
