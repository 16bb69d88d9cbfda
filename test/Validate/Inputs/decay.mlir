// A -> B -> C, integrated.
wavesmith.ode_system @decay states ["A" : "mol/l", "B" : "mol/l", "C" : "mol/l"] parameters [] time "s" {
  %k1 = arith.constant 30.0 : f64
  wavesmith.term %k1 : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
  %k2 = arith.constant 2.0 : f64
  wavesmith.term %k2 : "1/s" orders ["B" = 1.0] loss ["B" = 1.0] gain ["C" = 1.0]
}
func.func @integrate(%t: tensor<?xf64> {wavesmith.name = "time"}, %end: f64 {wavesmith.name = "end"}, %h: tensor<?xf64> {wavesmith.name = "step"}, %y: tensor<3x?xf64> {wavesmith.name = "y"}) -> (tensor<3x?xf64> {wavesmith.name = "states"}, tensor<?xf64> {wavesmith.name = "t1"}, tensor<?xf64> {wavesmith.name = "h1"}, tensor<?xi32> {wavesmith.name = "steps"}, tensor<?xi32> {wavesmith.name = "status"}) {
  %r:5 = wavesmith.ode_integrate @decay(%t, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-05>
      conserved ["A" = 1.0, "B" = 1.0, "C" = 1.0] total 1.0 max_steps 200
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<3x?xf64>)
      -> (tensor<3x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<3x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>
}
