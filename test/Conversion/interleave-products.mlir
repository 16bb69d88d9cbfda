// RUN: wavesmith-opt %s --wavesmith-interleave-products | FileCheck %s -enable-var-scope

// Of eight products, each with an exponent's worth of other work; what the later
// ones load from LDS stands four products ahead of them. The barrier, and what
// is stored behind it, wait until the loads before have had two products' time.

module attributes {gpu.container_module} {
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @products
  gpu.func @products(%n: index, %c: vector<16xf32>, %x: f32, %b: vector<4xf16>, %grows: i1) workgroup(%lds: memref<512xf16, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %o0 = arith.constant 0 : index
    %o1 = arith.constant 4 : index
    %o2 = arith.constant 8 : index
    %o3 = arith.constant 12 : index
    %o4 = arith.constant 16 : index
    %o5 = arith.constant 20 : index
    %o6 = arith.constant 24 : index
    %o7 = arith.constant 28 : index
    %end:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c, %e = %x) -> (vector<16xf32>, f32) {
      // CHECK: scf.for
      // CHECK-NEXT: vector.load
      // CHECK-NEXT: vector.load
      // CHECK-NEXT: vector.load
      // CHECK-NEXT: vector.load
      // CHECK-NEXT: vector.load
      // CHECK-NEXT: rocdl.exp2
      // CHECK-NEXT: amdgpu.mfma
      // CHECK-NEXT: rocdl.sched.barrier 0
      // CHECK-NEXT: vector.load
      // CHECK-NEXT: rocdl.exp2
      // CHECK-NEXT: amdgpu.mfma
      // CHECK-NEXT: rocdl.sched.barrier 0
      // CHECK-NEXT: vector.load
      // CHECK-NEXT: rocdl.exp2
      // CHECK-NEXT: amdgpu.mfma
      // CHECK-NEXT: rocdl.sched.barrier 0
      // CHECK-NEXT: vector.load
      // CHECK-NEXT: rocdl.exp2
      // CHECK-NEXT: amdgpu.mfma
      // CHECK-NEXT: rocdl.sched.barrier 0
      // CHECK-NEXT: rocdl.exp2
      // CHECK-NEXT: amdgpu.mfma
      // CHECK-NEXT: rocdl.sched.barrier 0
      // CHECK-NEXT: amdgpu.lds_barrier
      // CHECK-NEXT: vector.store
      %a0 = vector.load %lds[%o0] : memref<512xf16, #gpu.address_space<workgroup>>, vector<4xf16>
      %a1 = vector.load %lds[%o1] : memref<512xf16, #gpu.address_space<workgroup>>, vector<4xf16>
      %a2 = vector.load %lds[%o2] : memref<512xf16, #gpu.address_space<workgroup>>, vector<4xf16>
      %a3 = vector.load %lds[%o3] : memref<512xf16, #gpu.address_space<workgroup>>, vector<4xf16>
      %a4 = vector.load %lds[%o4] : memref<512xf16, #gpu.address_space<workgroup>>, vector<4xf16>
      %a5 = vector.load %lds[%o5] : memref<512xf16, #gpu.address_space<workgroup>>, vector<4xf16>
      %a6 = vector.load %lds[%o6] : memref<512xf16, #gpu.address_space<workgroup>>, vector<4xf16>
      %a7 = vector.load %lds[%o7] : memref<512xf16, #gpu.address_space<workgroup>>, vector<4xf16>
      %s0 = amdgpu.mfma 32x32x8 %a0 * %b + %sum blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
      %s1 = amdgpu.mfma 32x32x8 %a1 * %b + %s0 blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
      %s2 = amdgpu.mfma 32x32x8 %a2 * %b + %s1 blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
      %s3 = amdgpu.mfma 32x32x8 %a3 * %b + %s2 blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
      %s4 = amdgpu.mfma 32x32x8 %a4 * %b + %s3 blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
      %s5 = amdgpu.mfma 32x32x8 %a5 * %b + %s4 blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
      %s6 = amdgpu.mfma 32x32x8 %a6 * %b + %s5 blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
      %s7 = amdgpu.mfma 32x32x8 %a7 * %b + %s6 blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
      amdgpu.lds_barrier
      vector.store %b, %lds[%c0] : memref<512xf16, #gpu.address_space<workgroup>>, vector<4xf16>
      %e0 = rocdl.exp2 %e f32 -> f32
      %e1 = rocdl.exp2 %e0 f32 -> f32
      %e2 = rocdl.exp2 %e1 f32 -> f32
      %e3 = rocdl.exp2 %e2 f32 -> f32
      %e4 = rocdl.exp2 %e3 f32 -> f32
      %e5 = rocdl.exp2 %e4 f32 -> f32
      %e6 = rocdl.exp2 %e5 f32 -> f32
      %e7 = rocdl.exp2 %e6 f32 -> f32
      // What a later block uses is computed here.
      // CHECK-COUNT-2: rocdl.exp2
      // CHECK: %[[LAST:.+]] = rocdl.exp2
      // CHECK-NEXT: amdgpu.mfma
      // CHECK-NEXT: rocdl.sched.barrier 0
      // CHECK-NEXT: llvm.inline_asm has_side_effects "", "v" %[[LAST]]
      // CHECK-NEXT: scf.if
      %next = scf.if %grows -> f32 {
        %more = arith.addf %e7, %x : f32
        scf.yield %more : f32
      } else {
        scf.yield %x : f32
      }
      scf.yield %s7, %next : vector<16xf32>, f32
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @few
  // CHECK-NOT: rocdl.sched.barrier
  gpu.func @few(%c: vector<16xf32>, %b: vector<4xf16>) kernel {
    %s = amdgpu.mfma 32x32x8 %b * %b + %c blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
    gpu.return
  }
}
}
