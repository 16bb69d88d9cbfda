// RUN: wavesmith-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op unknown system @r}}
  %0:5 = wavesmith.ode_integrate @r(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<3x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected states to be tensor<2x?xf64>, got 'tensor<3x?xf64>'}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<3x?xf64>)
      -> (tensor<3x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected states to be tensor<?x2xf64>, got 'tensor<2x?xf64>'}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10 {layout = #wavesmith.zone_layout<aos>}
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x5xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected states to be tensor<2x?xf64>, got 'tensor<2x5xf64>'}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x5xf64>)
      -> (tensor<2x5xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters ["T" : "K"] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected parameters: system @s has 1, got none}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>, %p: tensor<1x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected no parameters: system @s has none}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y, %p)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>, tensor<1x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters ["T" : "K"] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>, %p: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected parameters to be tensor<1x?xf64>, got 'tensor<2x?xf64>'}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y, %p)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected final states of the type of the states 'tensor<2x?xf64>', got 'tensor<?x2xf64>'}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<?x2xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<4xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected time to be one number a zone, tensor<?x...>, got 'tensor<4xf64>'}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<4xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<4xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected step to be one number a zone, tensor<?x...>, got 'tensor<4xf64>'}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<4xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected final time to be one number a zone, tensor<?x...>, got 'tensor<4xf64>'}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<4xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected final step to be one number a zone, tensor<?x...>, got 'tensor<4xf64>'}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<4xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected number of steps to be one number a zone, tensor<?x...>, got 'tensor<4xi32>'}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<4xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected status to be one number a zone, tensor<?x...>, got 'tensor<4xi32>'}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<4xi32>)
  return
}

// -----

// Types that no system can make right.
wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<1x?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op operand #0 must be 1D tensor of 64-bit float values, but got 'tensor<1x?xf64>'}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<1x?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f32, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op operand #1 must be 64-bit float, but got 'f32'}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<?xf64>, f32, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op result #3 must be 1D tensor of 32-bit signless integer values, but got 'tensor<?xf64>'}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op result #4 must be 1D tensor of 32-bit signless integer values, but got 'tensor<?xi64>'}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi64>)
  return
}

// -----

// Numbers.
wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected max_steps from 1 to 2147483647, got 0}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 0
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected max_steps from 1 to 2147483647, got -1}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps -1
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected max_steps from 1 to 2147483647, got 2147483648}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] max_steps 2147483648
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op conserved: unknown state "C": system @s does not declare it}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0, "C" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op conserved: state "A" stands twice}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0, "A" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op conserved: expected a weight for state "B" that is finite and not zero, got 0.000000e+00}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0, "B" = 0.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op conserved: expected a weight for state "B" that is finite and not zero, got }}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0, "B" = 0x7FF0000000000000] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected a total that is finite and not zero, of states that are conserved}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      total 1.0 max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected a total that is finite and not zero, of states that are conserved}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] total 0.0 max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected a total that is finite and not zero, of states that are conserved}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
      conserved ["A" = 1.0] total 0x7FF8000000000000 max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op conserved: expected as many numbers as states, got 1 numbers and 2 states}}
  %0:5 = "wavesmith.ode_integrate"(%t, %end, %h, %y) <{
      system = @s, method = #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>,
      conserved_states = ["A", "B"], conserved_weights = array<f64: 1.0>, max_steps = 10 : i64}>
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected absolute_tolerance to be one number or 2, one a state of system @s, got 1}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.tsit5<absolute_tolerance = [1.0e-09], relative_tolerance = 1.0e-06>
      max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected relative_tolerance to be one number or 2, one a state of system @s, got 3}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = [1.0, 2.0, 3.0]>
      max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op conserved: the method tsit5 looks at no conserved total; leave it out}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = 1.0e-06>
      conserved ["A" = 1.0] max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op conserved: the method tsit5 looks at no conserved total; leave it out}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = 1.0e-06>
      total 1.0 max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op expected max_steps from 1 to 2147483647, got 0}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method #wavesmith.tsit5<absolute_tolerance = 1.0e-09, relative_tolerance = 1.0e-06>
      max_steps 0
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}

// -----

wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters [] time "s" {}
func.func @f(%t: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<2x?xf64>) {
  // expected-error @+1 {{'wavesmith.ode_integrate' op attribute 'method' failed to satisfy constraint: the explicit asymptotic method or the embedded Runge-Kutta pair of Tsitouras, orders 5 and 4}}
  %0:5 = wavesmith.ode_integrate @s(%t, %end, %h, %y)
      method "euler" max_steps 10
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>)
      -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return
}
