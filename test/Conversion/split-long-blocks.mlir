// RUN: wavesmith-opt %s --pass-pipeline='builtin.module(gpu.module(wavesmith-split-long-blocks{limit=2}))' | FileCheck %s

gpu.module @kernels {
  // A kernel longer than the limit: pieces end in branches that LLVM cannot
  // decide. What a piece computes for later pieces is pinned there.
  // CHECK-LABEL: llvm.func @long
  // CHECK: llvm.fadd
  // CHECK: %[[V1:.*]] = llvm.fmul
  // CHECK: %[[ONE:.*]] = llvm.inline_asm has_side_effects {{.*}}"s_mov_b32 $0, 1", "=s,~{memory}"
  // CHECK: %[[ALWAYS:.*]] = llvm.icmp "ne" %[[ONE]], %{{.*}} : i32
  // CHECK: %[[P1:.*]] = llvm.inline_asm has_side_effects {{.*}}"", "=v,0" %[[V1]]
  // CHECK: llvm.cond_br %[[ALWAYS]], ^[[NEXT:.*]], ^[[EXIT:[a-z0-9]*]]
  llvm.func @long(%a: f64, %out: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    %0 = llvm.fadd %a, %a : f64
    %1 = llvm.fmul %0, %a : f64
    // A value that three pieces use is hidden from LLVM in each of them.
    // CHECK: %[[HIDDEN:.*]] = llvm.inline_asm has_side_effects {{.*}}"", "=s,0" %{{.*}} : (f64) -> f64
    // CHECK: llvm.fadd %[[P1]], %[[HIDDEN]]
    // CHECK: llvm.cond_br %{{.*}}, ^{{.*}}, ^[[EXIT]]
    %2 = llvm.fadd %1, %a : f64
    %3 = llvm.fmul %2, %2 : f64
    // CHECK: %[[HIDDEN2:.*]] = llvm.inline_asm has_side_effects {{.*}}"", "=s,0" %{{.*}} : (f64) -> f64
    // CHECK: llvm.fadd %{{.*}}, %[[HIDDEN2]]
    // CHECK: llvm.cond_br %{{.*}}, ^{{.*}}, ^[[EXIT]]
    %4 = llvm.fadd %3, %a : f64
    %5 = llvm.fmul %4, %4 : f64
    %6 = llvm.fadd %5, %a : f64
    llvm.store %6, %out : f64, !llvm.ptr<1>
    llvm.return
    // CHECK: ^[[EXIT]]:
    // CHECK-NEXT: llvm.return
  }

  // CHECK-LABEL: llvm.func @short
  // CHECK-NOT: inline_asm
  llvm.func @short(%a: f64, %out: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    llvm.store %a, %out : f64, !llvm.ptr<1>
    llvm.return
  }
}
