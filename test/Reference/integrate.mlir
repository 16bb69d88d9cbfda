// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/integrate.py make %t
// RUN: wavesmith-evaluate %s --function=soa --scalar=end=10.0 --input=time=%t/time.npy --input=h=%t/h.npy --input=y=%t/y.npy --output=states=%t/states.npy --output=t1=%t/t1.npy --output=h1=%t/h1.npy --output=steps=%t/steps.npy --output=status=%t/status.npy --record-steps=7,0,100000,3 --record=time=%t/record-time.npy --record=h=%t/record-h.npy --record=y=%t/record-y.npy --branches=%t/branches.json --threads=1
// RUN: wavesmith-evaluate %s --function=aos --scalar=arg1=10.0 --input=arg0=%t/time.npy --input=arg2=%t/h.npy --input=arg3=%t/y-aos.npy --input=arg4=%t/p-aos.npy --output=result0=%t/status-aos.npy --output=result1=%t/states-aos.npy --record-steps=1 --record=arg3=%t/record-y-aos.npy --record=arg4=%t/record-p-aos.npy
// RUN: %python %S/Inputs/integrate.py check %t

wavesmith.ode_system @robertson states ["A" : "mol/l", "B" : "mol/l", "C" : "mol/l"] parameters [] time "s" {
  %k1 = arith.constant 0.04 : f64
  wavesmith.term %k1 : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
  %k2 = arith.constant 3.0e+07 : f64
  wavesmith.term %k2 : "l/mol/s" orders ["B" = 2.0] loss ["B" = 1.0] gain ["C" = 1.0]
  %k3 = arith.constant 1.0e+04 : f64
  wavesmith.term %k3 : "l/mol/s" orders ["B" = 1.0, "C" = 1.0] loss ["B" = 1.0] gain ["A" = 1.0]
}

// The same with parameters.
wavesmith.ode_system @with_parameters states ["A" : "mol/l", "B" : "mol/l", "C" : "mol/l"] parameters ["k1" : "1/s", "k3" : "l/mol/s"] time "s" {
  %k1 = wavesmith.parameter "k1"
  wavesmith.term %k1 : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
  %k2 = arith.constant 3.0e+07 : f64
  wavesmith.term %k2 : "l/mol/s" orders ["B" = 2.0] loss ["B" = 1.0] gain ["C" = 1.0]
  %k3 = wavesmith.parameter "k3"
  wavesmith.term %k3 : "l/mol/s" orders ["B" = 1.0, "C" = 1.0] loss ["B" = 1.0] gain ["A" = 1.0]
}

func.func @soa(%time: tensor<?xf64> {wavesmith.name = "time"}, %end: f64 {wavesmith.name = "end"}, %h: tensor<?xf64> {wavesmith.name = "h"}, %y: tensor<3x?xf64> {wavesmith.name = "y"}) -> (tensor<3x?xf64> {wavesmith.name = "states"}, tensor<?xf64> {wavesmith.name = "t1"}, tensor<?xf64> {wavesmith.name = "h1"}, tensor<?xi32> {wavesmith.name = "steps"}, tensor<?xi32> {wavesmith.name = "status"}) {
  %0:5 = wavesmith.ode_integrate @robertson(%time, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-06>
      conserved ["A" = 1.0, "B" = 1.0, "C" = 1.0] total 1.0 max_steps 400
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<3x?xf64>) -> (tensor<3x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<3x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>
}

// The results of the function stand in another order than the operation's.
func.func @aos(%time: tensor<?xf64>, %end: f64, %h: tensor<?xf64>, %y: tensor<?x3xf64>, %p: tensor<?x2xf64>) -> (tensor<?xi32>, tensor<?x3xf64>) {
  %0:5 = wavesmith.ode_integrate @with_parameters(%time, %end, %h, %y, %p)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-06>
      conserved ["A" = 1.0, "B" = 1.0, "C" = 1.0] total 1.0 max_steps 400
      {layout = #wavesmith.zone_layout<aos>}
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<?x3xf64>, tensor<?x2xf64>) -> (tensor<?x3xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return %0#4, %0#0 : tensor<?xi32>, tensor<?x3xf64>
}
