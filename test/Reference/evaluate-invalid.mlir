// RUN: rm -rf %t && mkdir -p %t && split-file %s %t
// RUN: %python -c "import numpy, sys; d = sys.argv[1]; numpy.save(d + '/y.npy', numpy.ones((2, 3))); numpy.save(d + '/f32.npy', numpy.ones((2, 3), 'f4')); numpy.save(d + '/p4.npy', numpy.ones((1, 4))); numpy.save(d + '/p.npy', numpy.ones((1, 3)))" %t

// Options.

// RUN: not wavesmith-evaluate %t/system.mlir --output=result0=%t/out.npy 2>&1 | FileCheck %s --check-prefix=NO-FUNCTION
// NO-FUNCTION: {{^}}wavesmith-evaluate: error: pass --function=name; functions of the module are rhs, terms, expression, unknown{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=f --output=result0=%t/out.npy 2>&1 | FileCheck %s --check-prefix=BAD-FUNCTION
// BAD-FUNCTION: error: the module has no function 'f'; it has rhs, terms, expression, unknown{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs 2>&1 | FileCheck %s --check-prefix=NO-OUTPUT
// NO-OUTPUT: error: no result is asked for: pass --output=name=file.npy; results are result0{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result1=%t/out.npy 2>&1 | FileCheck %s --check-prefix=BAD-OUTPUT
// BAD-OUTPUT: error: the function has no result 'result1'; it has result0{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result0 2>&1 | FileCheck %s --check-prefix=BAD-PAIR
// BAD-PAIR: error: --output=result0: expected name=value{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result0=%t/out.npy --magnitude=%t/out.npy 2>&1 | FileCheck %s --check-prefix=SAME-FILE
// SAME-FILE: error: two results would be written to {{.*}}out.npy{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result0=%t/out.npy --precision=f32 2>&1 | FileCheck %s --check-prefix=PRECISION
// PRECISION: error: --precision=f32: expected f64 or high{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result0=%t/out.npy --threads=-1 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: error: --threads=-1: expected an integer from 0 on{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=terms --magnitude=result0=%t/out.npy 2>&1 | FileCheck %s --check-prefix=NO-SUM
// NO-SUM: error: result 'result0' is not a sum and has no magnitude{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=terms --output=result0=%t/out.npy --term-values=%t/y.npy 2>&1 | FileCheck %s --check-prefix=COEFFICIENTS
// COEFFICIENTS: error: the values of the terms: expected f64 [1, zones], got f64 [2, 3] in {{.*}}y.npy{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=terms --output=result0=%t/out.npy --term-values=%t/p.npy 2>&1 | FileCheck %s --check-prefix=COEFFICIENTS2
// COEFFICIENTS2: error: result 'result0' is the coefficients of the terms, which do not follow from their values{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result0=%t/out.npy --term-values=%t/p.npy --scalar=t=0 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: --term-values takes the place of all arguments: pass no --input and no --scalar{{$}}

// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --zones=3 2>&1 | FileCheck %s --check-prefix=BAD-OPTION
// BAD-OPTION: {{^}}wavesmith-evaluate: error: unknown command line argument '--zones=3' (--help lists the options){{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --function=rhs 2>&1 | FileCheck %s --check-prefix=REPEATED
// REPEATED: error: --function is given twice{{$}}

// Arguments.

// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result0=%t/out.npy --scalar=t=0 --input=y=%t/y.npy 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: argument 'p' is missing: pass --input=p=file.npy{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result0=%t/out.npy --input=y=%t/y.npy --input=p=%t/p.npy 2>&1 | FileCheck %s --check-prefix=MISSING-TIME
// MISSING-TIME: error: argument 't' is missing: pass --scalar=t=number{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result0=%t/out.npy --scalar=time=0 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: the function has no argument 'time'; it has t, y, p{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result0=%t/out.npy --scalar=y=0 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: argument 'y' is an array: pass --input{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result0=%t/out.npy --scalar=t=0 --scalar=t=1 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: argument 't' is given twice{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result0=%t/out.npy --scalar=t=noon --input=y=%t/y.npy --input=p=%t/p.npy 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: argument 't': expected a number, got 'noon'{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result0=%t/out.npy --scalar=t=0 --input=y=%t/f32.npy --input=p=%t/p.npy 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: argument 'y': expected f64 [2, zones], got f32 [2, 3] in {{.*}}f32.npy{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result0=%t/out.npy --scalar=t=0 --input=y=%t/y.npy --input=p=%t/p4.npy 2>&1 | FileCheck %s --check-prefix=ZONES
// ZONES: error: argument 'p': expected f64 [1, 3], got f64 [1, 4] in {{.*}}p4.npy{{$}}
// RUN: not wavesmith-evaluate %t/system.mlir --function=rhs --output=result0=%t/out.npy --scalar=t=0 --input=y=%t/no.npy --input=p=%t/p.npy 2>&1 | FileCheck %s --check-prefix=NO-FILE
// NO-FILE: error: {{.*}}no.npy

// The module.

// RUN: not wavesmith-evaluate %t/system.mlir --function=expression --output=result0=%t/out.npy 2>&1 | FileCheck %s --check-prefix=EXPRESSION
// EXPRESSION: system.mlir:[[#]]:8: error: unsupported operation 'tensor.empty': the reference evaluates a function of one quantity of a system and its return
// RUN: not wavesmith-evaluate %t/system.mlir --function=unknown --output=result0=%t/out.npy 2>&1 | FileCheck %s --check-prefix=FORMULA
// FORMULA: system.mlir:[[#]]:8: error: unsupported operation 'math.clampf': the reference evaluator has no formula for it
// RUN: not wavesmith-evaluate %t/no.mlir --output=result0=%t/out.npy 2>&1 | FileCheck %s --check-prefix=NO-MODULE
// NO-MODULE: {{^}}wavesmith-evaluate: error: cannot read {{.*}}no.mlir: No such file or directory{{$}}
// RUN: not wavesmith-evaluate %t/syntax.mlir --output=result0=%t/out.npy 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: syntax.mlir:1:{{.*}} error:

// Nothing was written.
// RUN: not ls %t/out.npy

// The same module without a mistake.
// RUN: wavesmith-evaluate %t/system.mlir --function=rhs --output=result0=%t/out.npy --scalar=t=0 --input=y=%t/y.npy --input=p=%t/p.npy
// RUN: ls %t/out.npy

//--- syntax.mlir
func.func @f(

//--- system.mlir
wavesmith.ode_system @s states ["A" : "1", "B" : "1"] parameters ["k" : "1/s"] time "s" {
  %k = wavesmith.parameter "k"
  wavesmith.term %k : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
}

wavesmith.ode_system @clamp states ["A" : "1"] parameters [] time "s" {
  %A = wavesmith.state "A"
  %k = math.clampf %A to [%A, %A] : f64
  wavesmith.term %k : "1/s" gain ["A" = 1.0]
}

func.func @rhs(%t: f64 {wavesmith.name = "t"}, %y: tensor<2x?xf64> {wavesmith.name = "y"}, %p: tensor<1x?xf64> {wavesmith.name = "p"}) -> tensor<2x?xf64> {
  %0 = wavesmith.ode_rhs @s(%t, %y, %p) : (f64, tensor<2x?xf64>, tensor<1x?xf64>) -> tensor<2x?xf64>
  return %0 : tensor<2x?xf64>
}

func.func @terms(%t: f64, %y: tensor<2x?xf64>, %p: tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>) {
  %0:2 = wavesmith.ode_term_values @s(%t, %y, %p) : (f64, tensor<2x?xf64>, tensor<1x?xf64>) -> (tensor<1x?xf64>, tensor<1x?xf64>)
  return %0#0, %0#1 : tensor<1x?xf64>, tensor<1x?xf64>
}

func.func @expression(%t: f64, %n: index) -> tensor<2x?xf64> {
  %y = tensor.empty(%n) : tensor<2x?xf64>
  return %y : tensor<2x?xf64>
}

func.func @unknown(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  %0 = wavesmith.ode_rhs @clamp(%t, %y) : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}
