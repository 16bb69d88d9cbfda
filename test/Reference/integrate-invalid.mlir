// RUN: rm -rf %t && mkdir -p %t && split-file %s %t
// RUN: %python -c "import numpy, sys; d = sys.argv[1]; numpy.save(d + '/t.npy', numpy.ones(3)); numpy.save(d + '/y.npy', numpy.ones((1, 3))); numpy.save(d + '/t4.npy', numpy.ones(4)); numpy.save(d + '/i32.npy', numpy.ones(3, 'i4'))" %t

// Arguments.

// RUN: not wavesmith-evaluate %t/system.mlir --function=f --output=y1=%t/out.npy --scalar=time=0 2>&1 | FileCheck %s --check-prefix=ARRAY
// ARRAY: {{^}}wavesmith-evaluate: error: argument 'time' is an array: pass --input{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=f --output=y1=%t/out.npy --input=end=%t/t.npy 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: error: argument 'end' is a scalar: pass --scalar{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=f --output=y1=%t/out.npy --input=time=%t/t.npy --scalar=end=2 --input=y=%t/y.npy 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: argument 'h' is missing: pass --input=h=file.npy{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=f --output=y1=%t/out.npy --input=time=%t/t.npy --input=h=%t/t.npy --input=y=%t/y.npy 2>&1 | FileCheck %s --check-prefix=MISSING-END
// MISSING-END: error: argument 'end' is missing: pass --scalar=end=number{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=f --output=y1=%t/out.npy --input=time=%t/y.npy --scalar=end=2 --input=h=%t/t.npy --input=y=%t/y.npy 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: error: argument 'time': expected f64 [zones], got f64 [1, 3] in {{.*}}y.npy{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=f --output=y1=%t/out.npy --input=time=%t/t.npy --scalar=end=2 --input=h=%t/t4.npy --input=y=%t/y.npy 2>&1 | FileCheck %s --check-prefix=ZONES
// ZONES: error: argument 'h': expected f64 [3], got f64 [4] in {{.*}}t4.npy{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=f --output=y1=%t/out.npy --input=time=%t/i32.npy --scalar=end=2 --input=h=%t/t.npy --input=y=%t/y.npy 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: argument 'time': expected f64 [zones], got i32 [3] in {{.*}}i32.npy{{$}}

// What an integration does not have.

// RUN: not wavesmith-evaluate %t/system.mlir --function=f --output=y1=%t/out.npy --input=time=%t/t.npy --scalar=end=2 --input=h=%t/t.npy --input=y=%t/y.npy --precision=high 2>&1 | FileCheck %s --check-prefix=HIGH
// HIGH: error: --precision=high: an integration is computed in f64 only{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=f --output=y1=%t/out.npy --term-values=%t/y.npy 2>&1 | FileCheck %s --check-prefix=TERM-VALUES
// TERM-VALUES: error: an integration does not follow from values of the terms{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=f --magnitude=y1=%t/out.npy 2>&1 | FileCheck %s --check-prefix=NO-SUM
// NO-SUM: error: result 'y1' is not a sum and has no magnitude{{$}}

// What only an integration has.

// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result0=%t/out.npy --branches=%t/out.json 2>&1 | FileCheck %s --check-prefix=QUANTITY
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result0=%t/out.npy --record-steps=1 --record=arg1=%t/out2.npy 2>&1 | FileCheck %s --check-prefix=QUANTITY
// QUANTITY: error: --record-steps, --record and --branches: the function has no wavesmith.ode_integrate{{$}}

// Records.

// RUN: not wavesmith-evaluate %t/system.mlir --function=f --record-steps=1 --output=y1=%t/out.npy 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not wavesmith-evaluate %t/system.mlir --function=f --record=y=%t/out.npy 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: --record-steps and --record need each other{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=f --record-steps=1,,2 --record=y=%t/out.npy 2>&1 | FileCheck %s --check-prefix=STEPS
// STEPS: error: --record-steps: expected integers from 0 on, got ''{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=f --record-steps=-1 --record=y=%t/out.npy 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: --record-steps: expected integers from 0 on, got '-1'{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=f --record-steps=1 --record=y1=%t/out.npy 2>&1 | FileCheck %s --check-prefix=RECORD
// RECORD: error: the function has no argument 'y1'; it has time, end, h, y{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=f --record-steps=1 --record=end=%t/out.npy 2>&1 | FileCheck %s --check-prefix=RECORD-SCALAR
// RECORD-SCALAR: error: argument 'end' has no number for each zone{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=f --record-steps=1 --record=y=%t/out.npy --branches=%t/out.npy 2>&1 | FileCheck %s --check-prefix=SAME-FILE
// SAME-FILE: error: two results would be written to {{.*}}out.npy{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=f --branches=%t/out.npy --branches=%t/out2.npy 2>&1 | FileCheck %s --check-prefix=REPEATED
// REPEATED: error: --branches is given twice{{$}}

// The function.

// RUN: not wavesmith-evaluate %t/system.mlir --function=twice --output=result0=%t/out.npy 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: argument 'arg0' is used twice

// Nothing was written.
// RUN: not ls %t/out.npy

// The same without a mistake.
// RUN: wavesmith-evaluate %t/system.mlir --function=f --output=y1=%t/out.npy --input=time=%t/t.npy --scalar=end=2 --input=h=%t/t.npy --input=y=%t/y.npy
// RUN: ls %t/out.npy

//--- system.mlir
wavesmith.ode_system @s states ["A" : "1"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  wavesmith.term %k : "1/s" orders ["A" = 1.0] loss ["A" = 1.0]
}

func.func @rhs(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  %0 = wavesmith.ode_rhs @s(%t, %y) : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}

func.func @f(%time: tensor<?xf64> {wavesmith.name = "time"}, %end: f64 {wavesmith.name = "end"}, %h: tensor<?xf64> {wavesmith.name = "h"}, %y: tensor<1x?xf64> {wavesmith.name = "y"}) -> (tensor<1x?xf64> {wavesmith.name = "y1"}) {
  %0:5 = wavesmith.ode_integrate @s(%time, %end, %h, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-06> max_steps 1000
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return %0#0 : tensor<1x?xf64>
}

func.func @twice(%time: tensor<?xf64>, %end: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  %0:5 = wavesmith.ode_integrate @s(%time, %end, %time, %y)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-06> max_steps 1000
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return %0#0 : tensor<1x?xf64>
}
