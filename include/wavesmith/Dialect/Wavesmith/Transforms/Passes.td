//===- Passes.td - Passes on the wavesmith dialect ---------*- tablegen -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_TRANSFORMS_PASSES_TD
#define WAVESMITH_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachTargetPass : Pass<"wavesmith-attach-target", "::mlir::ModuleOp"> {
  let summary = "Say what device a module is compiled for";
  let description = [{
    Sets the module's `wavesmith.target`. It is an error if the architecture or
    the chip is not known, or if the module has another target already.

    Before: `module { ... }`

    After: `module attributes {wavesmith.target = #wavesmith.target<"gfx942", chip = "mi300x">} { ... }`
  }];
  let options = [
    Option<"architecture", "architecture", "std::string", "\"gfx942\"",
           "The architecture: gfx90a or gfx942">,
    Option<"chip", "chip", "std::string", "\"\"",
           "The chip, by default the architecture's first">
  ];
  // A module without operations of the dialect has not loaded it.
  let dependentDialects = ["::wavesmith::WavesmithDialect"];
}

def SelectSchedulePass
    : Pass<"wavesmith-select-schedule", "::mlir::ModuleOp"> {
  let summary = "Choose how each kernel is mapped to the device";
  let description = [{
    Needs a module with a target. Gives every operation that asks for a
    quantity of a system a schedule, unless it has one, and checks all of them
    against the target: the size of a workgroup is a multiple of the wavefront
    and at most the target's limit.

    The rule: a system that calls exp, log and the like at most
    `straight-line-limit` times is unrolled, since literals, shared
    subexpressions and registers make that the fastest form. Beyond it the back
    end's time is what counts (GRI-Mech 3.0, with 740 calls, takes it more than
    10 s unrolled and less than 1 s as a table), and the table form is chosen.
    `form=straight_line` unrolls all the same. One wavefront a workgroup: no zone needs another.
    An integration takes the form `cooperative`, by default with one zone a
    workgroup that has a wavefront for each SIMD of a compute unit: 256 threads.

    Before: `wavesmith.ode_rhs @s(%t, %y) : (f64, tensor<3x?xf64>) -> tensor<3x?xf64>`

    After: `wavesmith.ode_rhs @s(%t, %y) {schedule = #wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>} : (f64, tensor<3x?xf64>) -> tensor<3x?xf64>`
  }];
  let options = [
    Option<"form", "form", "std::string", "\"auto\"",
           "The code's form: auto, straight_line or table">,
    Option<"workgroupSize", "workgroup-size", "int64_t", "0",
           "Threads of a workgroup; 0 chooses">,
    Option<"threadsPerZone", "threads-per-zone", "int64_t", "0",
           "Threads that integrate one zone; 0 takes the workgroup">,
    Option<"straightLineLimit", "straight-line-limit", "int64_t", "200",
           "The most calls of exp, log and the like in unrolled code">
  ];
}

//===----------------------------------------------------------------------===//
// Optional passes on workgroups with several threads a zone
//===----------------------------------------------------------------------===//

def SimplifyTermsPass : Pass<"wavesmith-simplify-terms", "::mlir::ModuleOp"> {
  let summary = "Compute products that terms share once";
  let description = [{
    For sums fma(weight, value, sum) in a loop, whose values are products of
    what does not change in the loop (rate coefficients) and of what does
    (abundances): each distinct product of the latter is computed once,
    sorted by the number of factors, so that no branch on the order is left.
    Weights and coefficients are multiplied before the loop, and added where
    one sum has the same product several times.

    Changes annotations: a term k * y_a * y_b becomes (w * k) * (y_a * y_b),
    and terms with the same product are added before they are multiplied by it.

    Before (in a loop, shortened):

    ```mlir
    %ya = wavesmith.gather %y[%a] : tensor<150xf64>, tensor<1100xi32> -> tensor<1100xf64>
    %k_ya = arith.mulf %k, %ya : tensor<1100xf64>
    %terms = arith.mulf %k_ya, %yb : tensor<1100xf64>
    %staged = wavesmith.stage %terms in global : tensor<1100xf64>
    %values = wavesmith.gather %staged[%at] : tensor<1100xf64>, tensor<2710xi32> -> tensor<2710xf64>
    %sums = wavesmith.segmented_reduce(%values, %weights) init(%zero) segments [...]
    ```

    After:

    ```mlir
    %products = arith.mulf %ya, %yb : tensor<396xf64>
    %staged = wavesmith.stage %products in global : tensor<396xf64>
    %values = wavesmith.gather %staged[%at] : tensor<396xf64>, tensor<2353xi32> -> tensor<2353xf64>
    %sums = wavesmith.segmented_reduce(%weighted_k, %values) init(%zero) segments [...]
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def CombineDivisionsPass
    : Pass<"wavesmith-combine-divisions", "::mlir::ModuleOp"> {
  let summary = "Divide once where a quotient is only divided by";
  let description = [{
    Where q = a / y is used only as the 1 + q that something is divided by, and
    to ask whether q is above 1: p / (1 + q) becomes p * (y / (y + a)), and the
    question whether a, with its sign changed if y is negative, is above |y|. A
    division takes more than ten instructions in double precision.

    Changes annotations: the results differ by roundings, and a q within a
    rounding of 1 may be on the other side of it.

    Before:

    ```mlir
    %q = arith.divf %a, %y : tensor<150xf64>
    %sum = arith.addf %one, %q : tensor<150xf64>
    %x = arith.divf %p, %sum : tensor<150xf64>
    ```

    After:

    ```mlir
    %sum = arith.addf %y, %a : tensor<150xf64>
    %part = arith.divf %y, %sum : tensor<150xf64>
    %x = arith.mulf %p, %part : tensor<150xf64>
    ```
  }];
}

def NarrowTablesPass : Pass<"wavesmith-narrow-tables", "::mlir::ModuleOp"> {
  let summary = "Keep tables of small whole numbers in 8 or 16 bits";
  let description = [{
    Tables of i32 and f64 whose numbers are whole and from 0 to 65535 become
    tables of i8 or i16 that arith.extui or arith.uitofp widen. No bit changes.

    Before: `%w = wavesmith.table dense<[1.0, 2.0]> : tensor<2xf64>`

    After:

    ```mlir
    %narrow = wavesmith.table dense<[1, 2]> : tensor<2xi8>
    %w = arith.uitofp %narrow : tensor<2xi8> to tensor<2xf64>
    ```
  }];
}

def RewriteReductionsPass
    : Pass<"wavesmith-rewrite-reductions", "::mlir::ModuleOp"> {
  let summary = "Reduce by several lanes";
  let description = [{
    Gives reductions that have no `lanes` some. One segment is reduced by all
    threads, each with the elements that it holds, so that these need not be
    staged. Several segments get as many lanes each, up to a wavefront, as make
    the longest thread's work least: short segments share a wavefront, long ones
    have one.

    Changes annotations: sums become trees of a fixed shape.

    Before: `wavesmith.segmented_reduce(%staged) init(%zero) segments [0, 150] : ...`

    After: `wavesmith.segmented_reduce(%values) init(%zero) segments [0, 150] lanes [256] : ...`
  }];
}

def ReplicateInWavefrontsPass
    : Pass<"wavesmith-replicate-in-wavefronts", "::mlir::ModuleOp"> {
  let summary = "Let each wavefront compute for itself what is short";
  let description = [{
    Tensors that reductions over more threads than a wavefront read in a loop,
    and all that are computed with them element by element, get the encoding
    `#wavesmith.per_wavefront` if they have at most `most-elements` elements a
    lane: each wavefront computes all of them, and nothing has to cross between
    wavefronts, which costs LDS and barriers.

    Changes annotations: these reductions have 64 lanes afterwards.

    Before: `wavesmith.segmented_reduce(%x) init(%zero) segments [0, 150] lanes [256] : (tensor<150xf64>), ...`

    After: `wavesmith.segmented_reduce(%x) init(%zero) segments [0, 150] lanes [64] : (tensor<150xf64, #wavesmith.per_wavefront>), ...`
  }];
  let options = [
    Option<"mostElements", "most-elements", "int64_t", "4",
           "The most elements of a tensor that a lane computes">
  ];
}

def KeepInRegistersPass
    : Pass<"wavesmith-keep-in-registers", "::mlir::ModuleOp"> {
  let summary = "Keep in registers what a loop reads again and again";
  let description = [{
    Marks reductions in loops `resident`, and stages tables of which threads
    read elements of their own in registers before the loop, as long as a
    thread's registers suffice. No bit changes.

    Before: `wavesmith.segmented_reduce(%w, %values) init(%zero) segments [0, 3, 7] : ...`

    After: `wavesmith.segmented_reduce(%w, %values) init(%zero) segments [0, 3, 7] resident : ...`
  }];
  let options = [
    Option<"registers", "registers", "int64_t", "0",
           "Registers of a thread to fill; 0 takes half of those that it can "
           "have">
  ];
}

def PromoteToLDSPass : Pass<"wavesmith-promote-to-lds", "::mlir::ModuleOp"> {
  let summary = "Place what a loop shares in LDS";
  let description = [{
    Needs a module with a target, unless `lds-bytes` is given. Stages in global
    memory that a loop reads become stages in LDS, and tables that it reads
    element by element are staged there before it if a workgroup has one zone:
    what is written in the loop first, small tensors first, as long as LDS has
    room. No bit changes.

    Before: `%s = wavesmith.stage %y in global : tensor<150xf64>`

    After: `%s = wavesmith.stage %y in lds : tensor<150xf64>`
  }];
  let options = [
    Option<"ldsBytes", "lds-bytes", "int64_t", "0",
           "Bytes of LDS of a workgroup; 0 takes the target's">
  ];
}

def PlaceInBanksPass : Pass<"wavesmith-place-in-banks", "::mlir::ModuleOp"> {
  let summary = "Order elements against conflicts of LDS banks";
  let description = [{
    Needs a module with a target. For what a loop computes, stages in LDS and
    reads in resident reductions by tables: chooses the order of the staged
    elements, and that of the elements of each segment, so that lanes that are
    served at the same time read from different banks, as far as that is
    possible. The search is the same in every run.

    Changes annotations: sums have their terms in another order.

    Before:

    ```mlir
    %staged = wavesmith.stage %products in lds : tensor<4xf64>
    %values = wavesmith.gather %staged[%at] : tensor<4xf64>, tensor<7xi32> -> tensor<7xf64>
    %sums = wavesmith.segmented_reduce(%weights, %values) init(%zero) segments [0, 3, 7] resident
    ```

    After: the same operations, with tables that hold the same pairs of weight
    and value in another order.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

#endif // WAVESMITH_TRANSFORMS_PASSES_TD
