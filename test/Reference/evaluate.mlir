// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/evaluate.py make %t
// RUN: wavesmith-evaluate %s --function=rhs --scalar=t=0 --input=y=%t/y.npy --output=dydt=%t/dydt.npy --magnitude=%t/magnitude.npy
// RUN: wavesmith-evaluate %s --function=rhs --scalar=t=0 --input=y=%t/y.npy --output=dydt=%t/high.npy --precision=high --threads=1
// RUN: wavesmith-evaluate %s --function=production_loss --scalar=arg0=0 --input=arg1=%t/y-aos.npy --output=result0=%t/production.npy --output=result1=%t/loss.npy --magnitude=result1=%t/loss-magnitude.npy
// RUN: wavesmith-evaluate %s --function=term_values --scalar=arg0=0 --input=arg1=%t/y.npy --output=result0=%t/k.npy --output=result1=%t/v.npy
// RUN: wavesmith-evaluate %s --function=rhs --term-values=%t/v.npy --output=dydt=%t/sums.npy
// RUN: wavesmith-evaluate %s --function=with_parameters --scalar=arg2=2.5 --input=arg1=%t/y-aos.npy --input=p=%t/p-aos.npy --output=result0=%t/with-parameters.npy
// RUN: %python %S/Inputs/evaluate.py check %t

wavesmith.ode_system @robertson states ["A" : "mol/l", "B" : "mol/l", "C" : "mol/l"] parameters [] time "s" {
  %k1 = arith.constant 0.04 : f64
  wavesmith.term %k1 : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
  %k2 = arith.constant 3.0e+07 : f64
  wavesmith.term %k2 : "l/mol/s" orders ["B" = 2.0] loss ["B" = 1.0] gain ["C" = 1.0]
  %k3 = arith.constant 1.0e+04 : f64
  wavesmith.term %k3 : "l/mol/s" orders ["B" = 1.0, "C" = 1.0] loss ["B" = 1.0] gain ["A" = 1.0]
}

wavesmith.ode_system @decay states ["A" : "1", "B" : "1", "C" : "1"] parameters ["a" : "1/s", "b" : "1/s"] time "s" {
  %t = wavesmith.time
  %a = wavesmith.parameter "a"
  %b = wavesmith.parameter "b"
  %at = arith.mulf %a, %t : f64
  wavesmith.term %at : "1/s" orders ["A" = 1.0] loss ["A" = 1.0]
  wavesmith.term %b : "1/s" orders ["C" = 1.0] gain ["B" = 1.0]
}

func.func @rhs(%t: f64 {wavesmith.name = "t"}, %y: tensor<3x?xf64> {wavesmith.name = "y"}) -> (tensor<3x?xf64> {wavesmith.name = "dydt"}) {
  %0 = wavesmith.ode_rhs @robertson(%t, %y) : (f64, tensor<3x?xf64>) -> tensor<3x?xf64>
  return %0 : tensor<3x?xf64>
}

func.func @production_loss(%t: f64, %y: tensor<?x3xf64>) -> (tensor<?x3xf64>, tensor<?x3xf64>) {
  %0:2 = wavesmith.ode_production_loss @robertson(%t, %y) {layout = #wavesmith.zone_layout<aos>} : (f64, tensor<?x3xf64>) -> (tensor<?x3xf64>, tensor<?x3xf64>)
  return %0#0, %0#1 : tensor<?x3xf64>, tensor<?x3xf64>
}

func.func @term_values(%t: f64, %y: tensor<3x?xf64>) -> (tensor<3x?xf64>, tensor<3x?xf64>) {
  %0:2 = wavesmith.ode_term_values @robertson(%t, %y) : (f64, tensor<3x?xf64>) -> (tensor<3x?xf64>, tensor<3x?xf64>)
  return %0#0, %0#1 : tensor<3x?xf64>, tensor<3x?xf64>
}

// The arguments of the function stand in another order than the operation's.
func.func @with_parameters(%p: tensor<?x2xf64> {wavesmith.name = "p"}, %y: tensor<?x3xf64>, %t: f64) -> tensor<?x3xf64> {
  %0 = wavesmith.ode_rhs @decay(%t, %y, %p) {layout = #wavesmith.zone_layout<aos>} : (f64, tensor<?x3xf64>, tensor<?x2xf64>) -> tensor<?x3xf64>
  return %0 : tensor<?x3xf64>
}
