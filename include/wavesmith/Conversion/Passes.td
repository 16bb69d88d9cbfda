//===- Passes.td - Conversions between levels of the IR ----*- tablegen -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_CONVERSION_PASSES_TD
#define WAVESMITH_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertAttentionToWorkgroupPass
    : Pass<"convert-wavesmith-attention-to-workgroup", "::mlir::ModuleOp"> {
  let summary = "Write attention as workgroup code on tiles";
  let description = [{
    Needs functions of one `wavesmith.attention` whose operands are the
    function's arguments and whose results it returns. Leaves functions on
    memory with one `wavesmith.grid_workgroup`: q, k, v, then o and lse as
    memory to write, all dense, then batch, the number of queries and that of
    keys, each below 2^30. A workgroup computes a tile of queries of one head,
    in an online softmax of base 2 over the tiles of keys; it skips tiles that
    are masked as a whole and masks only where an edge passes. What it does not
    know yet is refused by name.

    Before:

    ```mlir
    func.func @attend(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x64xbf16>) -> tensor<?x8x?x64xbf16> {
      %o = wavesmith.attention %q, %k, %v layout bhsd scale 0.125 : (tensor<?x8x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>) -> tensor<?x8x?x64xbf16>
      return %o : tensor<?x8x?x64xbf16>
    }
    ```

    After (shortened):

    ```mlir
    func.func @attend(%q: memref<?xbf16, #global>, %k: memref<?xbf16, #global>, %v: memref<?xbf16, #global>, %o: memref<?xbf16, #global>, %batch: index, %queries: index, %keys: index) {
      wavesmith.grid_workgroup affine_map<(q, b) -> (q ceildiv 128, 8, b)>(%queries, %batch) waves 4 {
      ^bb0(%tile: index, %head: index, %b: index):
        %state:3 = scf.for %key = %c0 to %whole step %c64 iter_args(%max = %none, %sum = %zero, %out = %zeros) -> (tensor<128xf32, #row>, tensor<128xf32, #row>, tensor<64x128xf32, #sum>) {
          %scores = wavesmith.dot %k_tile, %q_tile, %zeros : tensor<64x64xbf16, #k>, tensor<64x128xbf16, #q>, tensor<64x128xf32, #score>
          ...
        }
      }
      return
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::gpu::GPUDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::ROCDL::ROCDLDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def ConvertOdeToWorkgroupPass
    : Pass<"convert-wavesmith-ode-to-workgroup", "::mlir::ModuleOp"> {
  let summary = "Write quantities of ODE systems as workgroup code";
  let description = [{
    Needs functions of one `wavesmith.ode_*` operation with a schedule, whose
    operands are the function's arguments and whose results it returns. Leaves
    functions on memory with one `wavesmith.workgroup`: the arguments, then the
    results as memory to write, then the number of zones. Systems that nobody
    uses any more are erased. The schedule's form decides between unrolled code
    and a loop over a table; an integration, `wavesmith.ode_integrate`, becomes
    workgroup code of several threads a zone.

    Before:

    ```mlir
    func.func @rhs(%t: f64, %y: tensor<1x?xf64>) -> tensor<1x?xf64> {
      %0 = wavesmith.ode_rhs @decay(%t, %y) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<1x?xf64>) -> tensor<1x?xf64>
      return %0 : tensor<1x?xf64>
    }
    ```

    After (shortened):

    ```mlir
    func.func @rhs(%t: f64, %y: memref<1x?xf64, #gpu.address_space<global>>, %dydt: memref<1x?xf64, #gpu.address_space<global>>, %num_zones: index) {
      wavesmith.workgroup zones %num_zones size 64 {
        %y0 = wavesmith.load_zones %y[%c0] : memref<1x?xf64, #gpu.address_space<global>> -> tensor<64xf64>
        %v = arith.mulf %k, %y0 : tensor<64xf64>
        %sum = math.fma %weight, %v, %zero : tensor<64xf64>
        wavesmith.store_zones %sum, %dydt[%c0] : tensor<64xf64>, memref<1x?xf64, #gpu.address_space<global>>
      }
      return
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def DistributeToThreadsPass
    : Pass<"wavesmith-distribute-to-threads", "::mlir::ModuleOp"> {
  let summary = "Give each zone of a workgroup to a thread";
  let description = [{
    Needs functions with one `wavesmith.workgroup` and nothing else. Leaves one
    gpu.module `@kernels` with a gpu.func for each, in which a block is a
    scalar, an array of rows is private memory, and a table a constant global.
    math.rsqrt of f64 becomes 1.0 / sqrt(x), which has the same bits on every
    chip.
    Where a workgroup has `threads_per_zone`, a tensor's element e belongs to
    thread e mod threads_per_zone, a stage becomes memory between two barriers,
    and a stage in global memory an argument before the number of zones,
    marked `wavesmith.workspace`.
    Threads of zones past the number of zones do nothing. An array must be used
    in place: after a row is replaced, the old array may not be read.

    Before:

    ```mlir
    wavesmith.workgroup zones %num_zones size 64 {
      %y0 = wavesmith.load_zones %y[%c0] : memref<1x?xf64, #gpu.address_space<global>> -> tensor<64xf64>
      %v = arith.mulf %y0, %y0 : tensor<64xf64>
      wavesmith.store_zones %v, %out[%c0] : tensor<64xf64>, memref<1x?xf64, #gpu.address_space<global>>
    }
    ```

    After:

    ```mlir
    %zone = arith.addi %first, %thread : index
    %inside = arith.cmpi ult, %zone, %num_zones : index
    scf.if %inside {
      %y0 = memref.load %y[%c0, %zone] : memref<1x?xf64, #gpu.address_space<global>>
      %v = arith.mulf %y0, %y0 : f64
      memref.store %v, %out[%c0, %zone] : memref<1x?xf64, #gpu.address_space<global>>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::amdgpu::AMDGPUDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"
  ];
}

def DistributeTilesPass
    : Pass<"wavesmith-distribute-tiles", "::mlir::ModuleOp"> {
  let summary = "Give each lane of a grid's workgroups its part of the tiles";
  let description = [{
    Needs functions with one `wavesmith.grid_workgroup` and nothing else. Leaves
    a gpu.func for each in the gpu.module `@kernels`, with the sizes of the grid
    as `wavesmith.grid`. By its layout a tile becomes vectors, one a fragment; a
    `dot` becomes amdgpu.mfma, `stage_tile` LDS between two barriers, and loads
    and stores go through a buffer that ends where the array does, so that the
    hardware gives zero outside of it. LDS is checked against the target.

    Before (layouts as aliases):

    ```mlir
    wavesmith.grid_workgroup affine_map<(m) -> (m ceildiv 32)>(%m) waves 1 {
    ^bb0(%i: index):
      %d = wavesmith.dot %a, %b, %c : tensor<32x8xf16, #a>, tensor<8x32xf16, #b>, tensor<32x32xf32, #d>
    }
    ```

    After:

    ```mlir
    %d = amdgpu.mfma 32x32x8 %a * %b + %c blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::ROCDL::ROCDLDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def InterleaveProductsPass
    : Pass<"wavesmith-interleave-products", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Spread other work between matrix instructions";
  let description = [{
    A SIMD computes a product while it executes other vector instructions of the
    same wavefront, if they stand behind it. Where a block has many amdgpu.mfma
    in a row, up to the next operation with a region or change of priority, this
    pass orders it anew: products stay in their order, what they do not need yet
    is spread evenly between them, and loads from LDS stand some products before
    the one that needs them. Accesses to LDS stay on their side of barriers. A
    rocdl.sched.barrier behind every product keeps LLVM from moving anything
    across. Products with hardly any other work, as those of a plain matrix
    product, stay in LLVM's order. No result changes.

    Before (shortened):

    ```mlir
    %x = vector.load %lds[%i] : memref<512xf16, #gpu.address_space<workgroup>>, vector<4xf16>
    %s0 = amdgpu.mfma 32x32x8 %a0 * %b + %c blgp = none
    %s1 = amdgpu.mfma 32x32x8 %a1 * %b + %s0 blgp = none
    ...
    %e0 = rocdl.exp2 %f0 f32 -> f32
    %e1 = rocdl.exp2 %f1 f32 -> f32
    ```

    After:

    ```mlir
    %x = vector.load %lds[%i] : memref<512xf16, #gpu.address_space<workgroup>>, vector<4xf16>
    %s0 = amdgpu.mfma 32x32x8 %a0 * %b + %c blgp = none
    rocdl.sched.barrier 0
    %e0 = rocdl.exp2 %f0 f32 -> f32
    %s1 = amdgpu.mfma 32x32x8 %a1 * %b + %s0 blgp = none
    rocdl.sched.barrier 0
    %e1 = rocdl.exp2 %f1 f32 -> f32
    ```
  }];
  let dependentDialects = ["::mlir::ROCDL::ROCDLDialect"];
}

def LowerKernelArgumentsPass
    : Pass<"wavesmith-lower-kernel-arguments", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Pass batches to kernels as plain pointers";
  let description = [{
    Needs gpu.func kernels whose memref arguments have at most one dynamic
    dimension, the zones, and whose last argument is the number of zones. Each
    memref becomes a pointer to global memory, dense and row-major, so that a
    caller packs one pointer an argument; the number of zones becomes i64. The
    arrays of a kernel with a `wavesmith.grid` are pointers too, of which the
    kernel knows the extents by itself; its indices become i64.

    Before: `gpu.func @rhs(%t: f64, %y: memref<1x?xf64, #gpu.address_space<global>>, %num_zones: index) kernel`

    After: `gpu.func @rhs(%t: f64, %y: !llvm.ptr<1>, %num_zones: i64) kernel`
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::arith::ArithDialect"
  ];
}

def SplitLongBlocksPass
    : Pass<"wavesmith-split-long-blocks", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Bound the length of a kernel's basic blocks";
  let description = [{
    LLVM's back end takes time quadratic in the length of a basic block (14 s
    for the right-hand side of GRI-Mech 3.0 as one block), and the longer the
    block, the more values its scheduler and its common-subexpression
    elimination keep in registers. This pass cuts blocks of more than `limit`
    operations, constants not counted.

    So that nothing joins the pieces again, each ends in a branch whose
    condition LLVM cannot decide: a scalar register that an assembly
    instruction has set to 1. The branch is always taken and costs three scalar
    instructions. Memory is read again after it. A value of f64, or a kernel
    argument, that three pieces or more use is hidden from LLVM at the start of
    each of them: what is computed from it is computed in each piece again,
    which is cheaper than a register that is taken for the whole kernel. What
    the pieces share is so decided by the code that comes in.

    Needs rocdl kernels; those of a grid of tiles (`wavesmith.grid`), where the
    back end has to interleave what it likes, stay whole. Order and values of
    all operations stay the same.

    Before:

    ```mlir
    %0 = llvm.fadd %a, %b : f64
    %1 = llvm.fmul %0, %a : f64
    ```

    After, with `limit=1`:

    ```mlir
      %0 = llvm.fadd %a, %b : f64
      %one = llvm.inline_asm has_side_effects "s_mov_b32 $0, 1", "=s,~{memory}" : () -> i32
      %c0 = llvm.mlir.constant(0 : i32) : i32
      %always = llvm.icmp "ne" %one, %c0 : i32
      llvm.cond_br %always, ^rest, ^exit
    ^rest:
      %1 = llvm.fmul %0, %a : f64
    ```
  }];
  let options = [
    Option<"limit", "limit", "int64_t", "100",
           "The most operations of a block; 20 times that where threads share "
           "a zone">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def EliminateBarriersPass
    : Pass<"wavesmith-eliminate-barriers", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Remove barriers that order nothing";
  let description = [{
    Removes a gpu.barrier of a kernel in control flow of blocks if no memory
    that is accessed between the barriers before it and itself is accessed
    between it and the barriers after it, with one of the two a write. No bit
    changes. Upstream's gpu-eliminate-barriers knows neither gpu.func nor that
    operations of rocdl and amdgpu such as DPP touch no memory, nor memory that
    each wavefront has for itself, which `wavesmith.own_wavefront` marks.

    Before:

    ```mlir
    memref.store %a, %x[%i] : memref<8xf64, #gpu.address_space<workgroup>>
    gpu.barrier
    gpu.barrier
    %b = memref.load %x[%j] : memref<8xf64, #gpu.address_space<workgroup>>
    ```

    After:

    ```mlir
    memref.store %a, %x[%i] : memref<8xf64, #gpu.address_space<workgroup>>
    gpu.barrier
    %b = memref.load %x[%j] : memref<8xf64, #gpu.address_space<workgroup>>
    ```
  }];
}

#endif // WAVESMITH_CONVERSION_PASSES_TD
