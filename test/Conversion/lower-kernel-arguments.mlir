// RUN: wavesmith-opt %s --pass-pipeline='builtin.module(gpu.module(wavesmith-lower-kernel-arguments))' | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // One pointer a batch; the descriptor behind it is dense and row-major.
    // CHECK-LABEL: gpu.func @soa(
    // CHECK-SAME: %[[T:.*]]: f64, %[[Y:.*]]: !llvm.ptr<1> {wavesmith.name = "y"}, %[[ZONES:.*]]: i64) kernel
    // CHECK: %[[N:.*]] = arith.index_cast %[[ZONES]] : i64 to index
    // CHECK: %[[D0:.*]] = llvm.mlir.poison
    // CHECK: %[[D1:.*]] = llvm.insertvalue %[[Y]], %[[D0]][0]
    // CHECK: %[[D2:.*]] = llvm.insertvalue %[[Y]], %[[D1]][1]
    // CHECK: %[[OFFSET:.*]] = llvm.mlir.constant(0 : i64)
    // CHECK: %[[D3:.*]] = llvm.insertvalue %[[OFFSET]], %[[D2]][2]
    // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
    // CHECK: %[[D4:.*]] = llvm.insertvalue %[[ZONES]], %[[D3]][3, 1]
    // CHECK: %[[D5:.*]] = llvm.insertvalue %[[ONE]], %[[D4]][4, 1]
    // CHECK: %[[STRIDE:.*]] = llvm.mul %[[ONE]], %[[ZONES]]
    // CHECK: %[[TWO:.*]] = llvm.mlir.constant(2 : i64)
    // CHECK: %[[D6:.*]] = llvm.insertvalue %[[TWO]], %[[D5]][3, 0]
    // CHECK: %[[D7:.*]] = llvm.insertvalue %[[STRIDE]], %[[D6]][4, 0]
    // CHECK: %[[MEMREF:.*]] = builtin.unrealized_conversion_cast %[[D7]] {{.*}} to memref<2x?xf64
    // CHECK: memref.store %[[T]], %[[MEMREF]][%{{.*}}, %[[N]]]
    gpu.func @soa(%t: f64, %y: memref<2x?xf64, #gpu.address_space<global>> {wavesmith.name = "y"}, %zones: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : index
      memref.store %t, %y[%c0, %zones] : memref<2x?xf64, #gpu.address_space<global>>
      gpu.return
    }
    // CHECK-LABEL: gpu.func @aos(
    // CHECK: %[[THREE:.*]] = llvm.mlir.constant(3 : i64)
    // CHECK: llvm.insertvalue %[[THREE]], %{{.*}}[3, 1]
    // CHECK: %[[STRIDE:.*]] = llvm.mul %{{.*}}, %[[THREE]]
    // CHECK: llvm.insertvalue %{{.*}}, %{{.*}}[3, 0]
    // CHECK: llvm.insertvalue %[[STRIDE]], %{{.*}}[4, 0]
    gpu.func @aos(%y: memref<?x3xf64, #gpu.address_space<global>>, %zones: index) kernel {
      gpu.return
    }
    // LDS and private memory are no arguments.
    // CHECK-LABEL: gpu.func @lds(
    // CHECK-SAME: %{{.*}}: !llvm.ptr<1>, %{{.*}}: i64)
    // CHECK-SAME: workgroup(%{{.*}} : memref<4xf64, #gpu.address_space<workgroup>>)
    gpu.func @lds(%y: memref<?xf64, #gpu.address_space<global>>, %zones: index) workgroup(%lds: memref<4xf64, #gpu.address_space<workgroup>>) kernel {
      gpu.return
    }
    // Without batches there is nothing to do.
    // CHECK-LABEL: gpu.func @scalars(%{{.*}}: f64, %{{.*}}: index) kernel
    gpu.func @scalars(%t: f64, %zones: index) kernel {
      gpu.return
    }
    // CHECK-LABEL: gpu.func @function(%{{.*}}: memref<?xf64>)
    gpu.func @function(%y: memref<?xf64>) {
      gpu.return
    }
  }
}
