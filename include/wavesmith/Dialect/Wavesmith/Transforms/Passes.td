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
    2 s unrolled and less than 1 s as a table), and the table form is chosen.
    `form=straight_line` unrolls all the same. One wavefront a workgroup: no zone needs another.
    An integration takes the form `cooperative`, by default with one zone a
    workgroup of 256 threads.

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

#endif // WAVESMITH_TRANSFORMS_PASSES_TD
