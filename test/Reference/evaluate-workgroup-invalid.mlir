// RUN: rm -rf %t && mkdir -p %t && split-file %s %t
// RUN: %python -c "import numpy, sys; d = sys.argv[1]; numpy.save(d + '/y.npy', numpy.ones((2, 3))); numpy.save(d + '/z.npy', numpy.ones(4)); numpy.save(d + '/z3.npy', numpy.ones(3)); numpy.save(d + '/f32.npy', numpy.ones((2, 3), 'f4'))" %t

// What wavesmith-evaluate refuses about a function of one workgroup.

// RUN: not wavesmith-evaluate %t/good.mlir --input=y=%t/y.npy --input=arg1=%t/z3.npy 2>&1 | FileCheck %s --check-prefix=NO-OUTPUT
// NO-OUTPUT: {{^}}wavesmith-evaluate: error: no result is asked for: pass --output=name=file.npy; results are out{{$}}
// RUN: not wavesmith-evaluate %t/good.mlir --output=y=%t/out.npy 2>&1 | FileCheck %s --check-prefix=BAD-OUTPUT
// BAD-OUTPUT: error: the function has no result 'y'; it has out{{$}}
// RUN: not wavesmith-evaluate %t/good.mlir --output=out=%t/out.npy --output=out=%t/out.npy 2>&1 | FileCheck %s --check-prefix=SAME-FILE
// SAME-FILE: error: two results would be written to {{.*}}out.npy{{$}}
// RUN: not wavesmith-evaluate %t/good.mlir --output=out=%t/out.npy --input=x=%t/y.npy 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: the function has no argument 'x'; it has y, arg1, s, k, out, num_zones{{$}}
// RUN: not wavesmith-evaluate %t/good.mlir --output=out=%t/out.npy --input=y=%t/y.npy --input=y=%t/y.npy 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: argument 'y' is given twice{{$}}
// RUN: not wavesmith-evaluate %t/good.mlir --output=out=%t/out.npy --input=s=%t/y.npy 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: error: argument 's' is a scalar: pass --scalar{{$}}
// RUN: not wavesmith-evaluate %t/good.mlir --output=out=%t/out.npy --scalar=y=1 2>&1 | FileCheck %s --check-prefix=ARRAY
// ARRAY: error: argument 'y' is an array: pass --input{{$}}
// RUN: not wavesmith-evaluate %t/good.mlir --output=out=%t/out.npy --scalar=k=1.5 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: argument 'k': expected a number of type i32, got '1.5'{{$}}
// RUN: not wavesmith-evaluate %t/good.mlir --output=out=%t/out.npy --input=y=%t/y.npy 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: argument 'arg1' is missing: pass --input=arg1=file.npy{{$}}
// RUN: not wavesmith-evaluate %t/good.mlir --output=out=%t/out.npy --input=y=%t/y.npy --input=arg1=%t/z3.npy --scalar=k=1 2>&1 | FileCheck %s --check-prefix=MISSING-SCALAR
// MISSING-SCALAR: error: argument 's' is missing: pass --scalar=s=number{{$}}
// RUN: not wavesmith-evaluate %t/good.mlir --output=out=%t/out.npy --input=y=%t/y.npy --input=arg1=%t/z.npy 2>&1 | FileCheck %s --check-prefix=ZONES
// ZONES: error: argument 'arg1': expected 3 zones, got 4 in {{.*}}z.npy{{$}}
// RUN: not wavesmith-evaluate %t/good.mlir --output=out=%t/out.npy --input=y=%t/f32.npy --input=arg1=%t/z3.npy --scalar=s=2 --scalar=k=1 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: argument 'y': expected f64 [2, zones], got f32 [2, 3]{{$}}
// RUN: not wavesmith-evaluate %t/good.mlir --output=out=%t/out.npy --input=y=%t/y.npy --input=arg1=%t/z3.npy --scalar=s=2 --scalar=k=1 --scalar=num_zones=4 2>&1 | FileCheck %s --check-prefix=TOO-MANY
// TOO-MANY: error: argument 'y': expected at least 4 zones, got 3{{$}}
// RUN: not wavesmith-evaluate %t/good.mlir --output=out=%t/out.npy --scalar=num_zones=-1 --input=y=%t/y.npy --input=arg1=%t/z3.npy --scalar=s=2 --scalar=k=1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: {{.*}}zones
// RUN: not wavesmith-evaluate %t/good.mlir --output=out=%t/out.npy --input=y=%t/y.npy --input=arg1=%t/z3.npy --scalar=s=2 --scalar=k=2 2>&1 | FileCheck %s --check-prefix=INDEX
// INDEX: error: {{.*}}good.mlir:[[#]]:10: tensor.extract: expected an index from 0 to 1, got 2 in zone 0{{$}}
// RUN: not wavesmith-evaluate %t/good.mlir --output=out=%t/out.npy --precision=high 2>&1 | FileCheck %s --check-prefix=PRECISION
// PRECISION: error: --term-values, --magnitude and --precision=high are for a quantity of a system, and the function is a workgroup{{$}}
// RUN: not wavesmith-evaluate %t/good.mlir --output=out=%t/out.npy --threads=x 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: error: --threads=x: expected an integer from 0 on{{$}}
// RUN: not wavesmith-evaluate %t/unsupported.mlir --output=out=%t/out.npy 2>&1 | FileCheck %s --check-prefix=OPERATION
// OPERATION: unsupported.mlir:3:10: error: unsupported operation 'tensor.empty': the workgroup evaluator does not take it

// Nothing was written.
// RUN: not ls %t/out.npy

// The same without a mistake; fewer zones than there are leave the rest zero.
// RUN: wavesmith-evaluate %t/good.mlir --output=out=%t/out.npy --input=y=%t/y.npy --input=arg1=%t/z3.npy --scalar=s=2 --scalar=k=1 --scalar=num_zones=2
// RUN: %python -c "import numpy, sys; assert numpy.load(sys.argv[1]).tolist() == [3.0, 3.0, 0.0]" %t/out.npy

//--- good.mlir
func.func @f(%y: memref<2x?xf64> {wavesmith.name = "y"}, %z: memref<?xf64>, %s: f64 {wavesmith.name = "s"}, %k: i32 {wavesmith.name = "k"}, %out: memref<?xf64> {wavesmith.name = "out"}, %n: index {wavesmith.name = "num_zones"}) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 64 {
    %a = wavesmith.load_zone %y : memref<2x?xf64> -> tensor<2xf64>
    %b = wavesmith.load_zone %z : memref<?xf64> -> f64
    %i = arith.index_cast %k : i32 to index
    %e = tensor.extract %a[%i] : tensor<2xf64>
    %r = math.fma %e, %s, %b : f64
    wavesmith.store_zone %r, %out : f64, memref<?xf64>
  }
  return
}

//--- unsupported.mlir
func.func @f(%out: memref<?xf64> {wavesmith.name = "out"}, %n: index) {
  wavesmith.workgroup zones %n size 64 threads_per_zone 64 {
    %a = tensor.empty() : tensor<2xf64>
  }
  return
}
