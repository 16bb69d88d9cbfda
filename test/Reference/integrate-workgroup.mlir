// An integration's workgroup code, evaluated operation by operation, has the
// bits of the integration evaluated from its description.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python -c "import numpy, sys; d = sys.argv[1]; r = numpy.random.default_rng(9); y = r.uniform(0.0, 1.0, (3, 6)); y[1] *= 1e-4; y[0, 2] = numpy.nan; numpy.save(d + '/y.npy', y / y.sum(axis=0)); numpy.save(d + '/time.npy', numpy.where(numpy.arange(6) == 3, 20.0, 1.0)); numpy.save(d + '/h.npy', r.uniform(1e-6, 1e-3, 6))" %t
// RUN: wavesmith-evaluate %s --scalar=end=2.0 --input=time=%t/time.npy --input=h=%t/h.npy --input=y=%t/y.npy --output=states=%t/states.npy --output=t1=%t/t1.npy --output=h1=%t/h1.npy --output=steps=%t/steps.npy --output=status=%t/status.npy
// RUN: wavesmith-opt %s --wavesmith-attach-target --wavesmith-select-schedule="workgroup-size=64 threads-per-zone=16" --convert-wavesmith-ode-to-workgroup -o %t/workgroup.mlir
// RUN: FileCheck %s --input-file=%t/workgroup.mlir
// CHECK: wavesmith.workgroup zones %{{.*}} size 64 threads_per_zone 16
// RUN: wavesmith-evaluate %t/workgroup.mlir --scalar=end=2.0 --input=time=%t/time.npy --input=h=%t/h.npy --input=y=%t/y.npy --output=states=%t/states-w.npy --output=t1=%t/t1-w.npy --output=h1=%t/h1-w.npy --output=steps=%t/steps-w.npy --output=status=%t/status-w.npy
// RUN: %python -c "import numpy, sys; load = lambda n: numpy.load(sys.argv[1] + '/' + n + '.npy'); steps = load('steps'); assert steps.max() > 100 and steps[3] == 0 and load('status')[2] != 0, (steps, load('status')); [numpy.testing.assert_array_equal(load(n), load(n + '-w')) for n in ('states', 't1', 'h1', 'steps', 'status')]" %t

wavesmith.ode_system @robertson states ["A" : "mol/l", "B" : "mol/l", "C" : "mol/l"] parameters [] time "s" {
  %k1 = arith.constant 0.04 : f64
  wavesmith.term %k1 : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
  %k2 = arith.constant 3.0e+07 : f64
  wavesmith.term %k2 : "l/mol/s" orders ["B" = 2.0] loss ["B" = 1.0] gain ["C" = 1.0]
  %k3 = arith.constant 1.0e+04 : f64
  wavesmith.term %k3 : "l/mol/s" orders ["B" = 1.0, "C" = 1.0] loss ["B" = 1.0] gain ["A" = 1.0]
}

func.func @robertson_integration(%time: tensor<?xf64> {wavesmith.name = "time"}, %end: f64 {wavesmith.name = "end"}, %h: tensor<?xf64> {wavesmith.name = "h"}, %y: tensor<3x?xf64> {wavesmith.name = "y"}) -> (tensor<3x?xf64> {wavesmith.name = "states"}, tensor<?xf64> {wavesmith.name = "t1"}, tensor<?xf64> {wavesmith.name = "h1"}, tensor<?xi32> {wavesmith.name = "steps"}, tensor<?xi32> {wavesmith.name = "status"}) {
  %0:5 = wavesmith.ode_integrate @robertson(%time, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-06>
      conserved ["A" = 1.0, "B" = 1.0, "C" = 1.0] total 1.0 max_steps 400
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<3x?xf64>) -> (tensor<3x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<3x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>
}
