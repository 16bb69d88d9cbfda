// RUN: wavesmith-opt %s --pass-pipeline='builtin.module(gpu.module(wavesmith-eliminate-barriers))' | FileCheck %s

gpu.module @kernels {
  // Of two barriers with nothing in between, one is enough.
  // CHECK-LABEL: gpu.func @twice
  gpu.func @twice(%out: memref<8xf64>, %i: index, %j: index, %a: f64) workgroup(%x: memref<8xf64, #gpu.address_space<workgroup>>) kernel {
    // CHECK: memref.store
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: memref.load
    memref.store %a, %x[%i] : memref<8xf64, #gpu.address_space<workgroup>>
    gpu.barrier
    gpu.barrier
    %b = memref.load %x[%j] : memref<8xf64, #gpu.address_space<workgroup>>
    memref.store %b, %out[%i] : memref<8xf64>
    gpu.return
  }

  // Reading before and after needs no order, nor do accesses of two memories.
  // CHECK-LABEL: gpu.func @unrelated
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  gpu.func @unrelated(%in: memref<8xf64>, %i: index, %j: index, %a: f64) workgroup(%x: memref<8xf64, #gpu.address_space<workgroup>>, %y: memref<8xf64, #gpu.address_space<workgroup>>) kernel {
    memref.store %a, %x[%i] : memref<8xf64, #gpu.address_space<workgroup>>
    %0 = memref.load %in[%i] : memref<8xf64>
    gpu.barrier
    %1 = memref.load %in[%j] : memref<8xf64>
    %2 = memref.load %y[%j] : memref<8xf64, #gpu.address_space<workgroup>>
    gpu.return
  }

  // A view is the memory that it is of.
  // CHECK-LABEL: gpu.func @view
  // CHECK: gpu.barrier
  gpu.func @view(%out: memref<8xf64>, %i: index, %a: f64) workgroup(%x: memref<8xf64, #gpu.address_space<workgroup>>) kernel {
    %view = memref.reinterpret_cast %x to offset: [0], sizes: [4], strides: [2] : memref<8xf64, #gpu.address_space<workgroup>> to memref<4xf64, strided<[2]>, #gpu.address_space<workgroup>>
    memref.store %a, %view[%i] : memref<4xf64, strided<[2]>, #gpu.address_space<workgroup>>
    gpu.barrier
    %b = memref.load %x[%i] : memref<8xf64, #gpu.address_space<workgroup>>
    memref.store %b, %out[%i] : memref<8xf64>
    gpu.return
  }

  // What a loop reads behind the barrier, it writes in front of it the next time.
  // CHECK-LABEL: gpu.func @loop
  // CHECK: memref.store
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: memref.load
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: cf.cond_br
  gpu.func @loop(%i: index, %j: index, %a: f64, %more: i1) workgroup(%x: memref<8xf64, #gpu.address_space<workgroup>>) kernel {
    cf.br ^body
  ^body:
    memref.store %a, %x[%i] : memref<8xf64, #gpu.address_space<workgroup>>
    gpu.barrier
    %b = memref.load %x[%j] : memref<8xf64, #gpu.address_space<workgroup>>
    gpu.barrier
    cf.cond_br %more, ^body, ^exit
  ^exit:
    gpu.return
  }

  // The last one orders nothing where there is no loop.
  // CHECK-LABEL: gpu.func @last
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  gpu.func @last(%i: index, %j: index, %a: f64) workgroup(%x: memref<8xf64, #gpu.address_space<workgroup>>) kernel {
    memref.store %a, %x[%i] : memref<8xf64, #gpu.address_space<workgroup>>
    gpu.barrier
    %b = memref.load %x[%j] : memref<8xf64, #gpu.address_space<workgroup>>
    gpu.barrier
    gpu.return
  }

  // Exchanges between the lanes of a wavefront touch no memory, and what each
  // wavefront has for itself needs no barrier.
  // CHECK-LABEL: gpu.func @wavefront
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  gpu.func @wavefront(%i: index, %j: index, %a: f64, %c: i32) workgroup(%x: memref<8xf64, #gpu.address_space<workgroup>>) kernel {
    memref.store %a, %x[%i] {wavesmith.own_wavefront} : memref<8xf64, #gpu.address_space<workgroup>>
    gpu.barrier
    %0 = amdgpu.dpp %c %c row_shl (1 : i32) : i32
    %b = memref.load %x[%j] {wavesmith.own_wavefront} : memref<8xf64, #gpu.address_space<workgroup>>
    gpu.return
  }

  // An operation that may access anything keeps its barriers.
  // CHECK-LABEL: gpu.func @unknown
  // CHECK: gpu.barrier
  gpu.func @unknown(%i: index, %a: f64) workgroup(%x: memref<8xf64, #gpu.address_space<workgroup>>) kernel {
    memref.store %a, %x[%i] : memref<8xf64, #gpu.address_space<workgroup>>
    gpu.barrier
    llvm.inline_asm has_side_effects "s_nop 0", "" : () -> ()
    gpu.return
  }
}
