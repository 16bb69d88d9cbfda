// RUN: wavesmith-opt %s --wavesmith-compile | FileCheck %s
// RUN: wavesmith-opt %s --wavesmith-compile="target=gfx90a chip=mi210 form=table workgroup-size=256" | FileCheck %s --check-prefix=TABLE

// From the problem to the rocdl dialect.

// CHECK: module attributes {gpu.container_module, wavesmith.target = #wavesmith.target<"gfx942", chip = "mi300x">}
// CHECK-NOT: wavesmith.ode_system
// CHECK-NOT: func.func
// CHECK: gpu.module @kernels
// CHECK: llvm.func @rhs(%{{[^:]*}}: f64, %{{[^:]*}}: !llvm.ptr<1>{{[^,]*}}, %{{[^:]*}}: !llvm.ptr<1>{{[^,]*}}, %{{[^:]*}}: i64
// CHECK-SAME: rocdl.kernel
// CHECK-SAME: rocdl.reqd_work_group_size = array<i32: 64, 1, 1>
// CHECK: rocdl.workgroup.id.x
// CHECK: rocdl.workitem.id.x
// CHECK: llvm.fmul {{.*}} : f64
// CHECK: llvm.intr.fma({{.*}} : (f64, f64, f64) -> f64
// CHECK-NOT: unrealized_conversion_cast
// CHECK: llvm.return

// TABLE: wavesmith.target = #wavesmith.target<"gfx90a", chip = "mi210">
// TABLE: llvm.mlir.global private constant @table
// TABLE: llvm.func @rhs
// TABLE-SAME: rocdl.reqd_work_group_size = array<i32: 256, 1, 1>
// TABLE-NOT: unrealized_conversion_cast
wavesmith.ode_system @robertson states ["A" : "mol/l", "B" : "mol/l", "C" : "mol/l"] parameters [] time "s" {
  %k1 = arith.constant 0.04 : f64
  wavesmith.term %k1 : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
  %k2 = arith.constant 3.0e+07 : f64
  wavesmith.term %k2 : "l/mol/s" orders ["B" = 2.0] loss ["B" = 1.0] gain ["C" = 1.0]
  %k3 = arith.constant 1.0e+04 : f64
  wavesmith.term %k3 : "l/mol/s" orders ["B" = 1.0, "C" = 1.0] loss ["B" = 1.0] gain ["A" = 1.0]
}
func.func @rhs(%t: f64, %y: tensor<3x?xf64>) -> tensor<3x?xf64> {
  %0 = wavesmith.ode_rhs @robertson(%t, %y) : (f64, tensor<3x?xf64>) -> tensor<3x?xf64>
  return %0 : tensor<3x?xf64>
}
