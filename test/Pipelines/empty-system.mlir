// RUN: wavesmith-opt %s --wavesmith-compile=form=straight_line | FileCheck %s
// RUN: wavesmith-opt %s --wavesmith-compile=form=table | FileCheck %s

// Without terms nothing changes: the derivatives are zero, in both forms.
// CHECK: llvm.func @rhs
// CHECK: llvm.mlir.constant(0.000000e+00 : f64)
// CHECK: llvm.store {{.*}} : f64, !llvm.ptr<1>
wavesmith.ode_system @still states ["A" : "1"] parameters [] time "s" {}
func.func @rhs(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
  %0 = wavesmith.ode_rhs @still(%t, %y) : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
  return %0 : tensor<1x?xf64>
}
