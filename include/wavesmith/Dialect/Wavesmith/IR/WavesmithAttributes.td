//===- WavesmithAttributes.td - Attributes of wavesmith ----*- tablegen -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_ATTRIBUTES_TD
#define WAVESMITH_ATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "wavesmith/Dialect/Wavesmith/IR/WavesmithDialect.td"

class Wavesmith_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Wavesmith_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Wavesmith_ZoneLayout : I32EnumAttr<"ZoneLayout",
    "where the zones stand in the shape of a batch", [
      I32EnumAttrCase<"StructureOfArrays", 0, "soa">,
      I32EnumAttrCase<"ArrayOfStructures", 1, "aos">]> {
  let cppNamespace = "::wavesmith";
  let genSpecializedAttr = 0;
}
def Wavesmith_ZoneLayoutAttr
    : EnumAttr<Wavesmith_Dialect, Wavesmith_ZoneLayout, "zone_layout"> {
  let description = [{
    `soa`: `tensor<N x ? x f64>`, the values of one state in all zones are
    neighbours (coalesced loads). `aos`: `tensor<? x N x f64>`, the values of
    all states in one zone are neighbours.
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Wavesmith_CodeForm : I32EnumAttr<"CodeForm",
    "how an ODE kernel's code is shaped", [
      I32EnumAttrCase<"StraightLine", 0, "straight_line">,
      I32EnumAttrCase<"Table", 1, "table">,
      I32EnumAttrCase<"Cooperative", 2, "cooperative">]> {
  let cppNamespace = "::wavesmith";
  let genSpecializedAttr = 0;
}
def Wavesmith_CodeFormAttr
    : EnumAttr<Wavesmith_Dialect, Wavesmith_CodeForm, "code_form"> {
  let description = [{
    `straight_line`: the system is unrolled, its constants are literals.
    `table`: a loop over a table of steps, whose code size does not depend on
    the size of the system. `cooperative`: the threads of a zone share its
    tensors; what many reactions have in common is computed side by side. The
    first two give each zone to a thread and serve quantities, the last serves
    integrations.
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Wavesmith_OdeScheduleAttr : Wavesmith_Attr<"OdeSchedule", "ode_schedule"> {
  let summary = "how an ODE kernel is mapped to the device";
  let description = [{
    `form` shapes the code, `workgroup_size` is the number of threads of one
    workgroup: a multiple of the wavefront size, at most the target's limit.
    `threads_per_zone` threads compute one zone: 1 in the forms
    `straight_line` and `table`; in the form `cooperative` a power of two up
    to the wavefront size (several zones a wavefront or workgroup), or a whole
    workgroup. The schedule never changes a bit of the result.

    Examples: `#wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>`,
    `#wavesmith.ode_schedule<form = cooperative, workgroup_size = 256, threads_per_zone = 256>`
  }];
  let parameters = (ins EnumParameter<Wavesmith_CodeForm>:$form,
                        "int64_t":$workgroupSize,
                        DefaultValuedParameter<"int64_t", "1">:$threadsPerZone);
  let assemblyFormat = [{
    `<` `form` `=` $form `,` `workgroup_size` `=` $workgroupSize
    (`,` `threads_per_zone` `=` $threadsPerZone^)? `>`
  }];
  let genVerifyDecl = 1;
}

def Wavesmith_AttentionRounding : I32EnumAttr<"AttentionRounding",
    "how the weights of attention become 16-bit numbers", [
      I32EnumAttrCase<"NearestEven", 0, "nearest_even">,
      I32EnumAttrCase<"Truncate", 1, "truncate">]> {
  let cppNamespace = "::wavesmith";
  let genSpecializedAttr = 0;
}

def Wavesmith_AttentionScheduleAttr
    : Wavesmith_Attr<"AttentionSchedule", "attention_schedule"> {
  let summary = "how attention is mapped to the device";
  let description = [{
    The string form has a version, 1, which changes when its meaning does.

    - `waves`: wavefronts of a workgroup, 1, 2, 4 or 8; each has 32 queries.
    - `keys`: keys of a tile, a power of two from 32 to 128.
    - `waves_per_simd`: wavefronts that shall fit a SIMD, 1 to 8: the registers
      that one may have. 0 leaves it to the back end.
    - `prefetch`: 1 loads the next tile of keys and values while this one is
      computed with, for half a step, 0 only when it goes to LDS.
    - `rescale_above`: the running maximum is replaced, and what was summed is
      scaled, only for queries whose maximum has grown by more than this in
      base 2, from 0 (every time it grows) to 8. Which queries does not depend
      on others. Above 0 the largest weight of a row is not 1, and is rounded
      as the others are.
    - `rounding`: of the weights to bf16, `nearest_even` or `truncate`; those
      of f16 are always rounded to nearest. With `truncate`, lse is that of the
      truncated weights: too small by up to 2^-7.
    - `priority`: of a wavefront among those of its SIMD while it has matrix
      products to issue, 0 to 3; it is 0 elsewhere.
    - `dies`: of the device, which deals workgroups to them in turn, 1 to 64. With 1,
      the tiles of a head's queries follow each other. Above 1, the heads of all
      batches that share keys and values are one die's, tile by tile, so that they
      meet in its L2; those that are left where their number is not a multiple of
      `dies` are shared by all dies.

    Under a causal mask without a limit to the left, the tiles of the last queries,
    which see the most keys, come first, and with `dies` above 1 those of four
    groups of heads take turns on each die.

    All but `version` may be left out: waves = 4, keys = 64, waves_per_simd = 2,
    prefetch = 1, rescale_above = 0, rounding = nearest_even, priority = 0,
    dies = 1.

    Example: `#wavesmith.attention_schedule<version = 1, waves = 4, keys = 64, rescale_above = 4>`
  }];
  let parameters = (ins "int64_t":$version,
                        DefaultValuedParameter<"int64_t", "4">:$waves,
                        DefaultValuedParameter<"int64_t", "64">:$keys,
                        DefaultValuedParameter<"int64_t", "2">:$waves_per_simd,
                        DefaultValuedParameter<"int64_t", "1">:$prefetch,
                        DefaultValuedParameter<"int64_t", "0">:$rescale_above,
                        DefaultValuedParameter<
                            "::wavesmith::AttentionRounding",
                            "::wavesmith::AttentionRounding::NearestEven">:$rounding,
                        DefaultValuedParameter<"int64_t", "0">:$priority,
                        DefaultValuedParameter<"int64_t", "1">:$dies);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Wavesmith_AsymptoticAttr : Wavesmith_Attr<"Asymptotic", "asymptotic"> {
  let summary = "the explicit asymptotic method";
  let description = [{
    For stiff systems: a state whose loss within the step exceeds its value
    is driven towards production over loss, the others take an Euler step.
    `wavesmith.ode_integrate` has the formulas.

    - `flux_fraction`: the largest change of a state in a step.
    - `time_fraction`: the largest step, as a part of the time.
    - `tolerance`: how far the conserved total may move in a step, as a part
      of it.

    All three are positive and finite.

    Example: `#wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>`
  }];
  let parameters = (ins "::llvm::APFloat":$fluxFraction,
                        "::llvm::APFloat":$timeFraction,
                        "::llvm::APFloat":$tolerance);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Wavesmith_Tsit5Attr : Wavesmith_Attr<"Tsit5", "tsit5"> {
  let summary = "the embedded Runge-Kutta pair of Tsitouras, orders 5 and 4";
  let description = [{
    For systems that are not stiff. `wavesmith.ode_integrate` has the formulas.

    - `absolute_tolerance`, `relative_tolerance`: the error that a step may
      make in a state: one number for all, or a list of one number a state, in
      the order of the system's states. Absolute ones are positive, relative
      ones not negative.
    - `safety` (0.9), `smallest_factor` (0.2), `largest_factor` (10.0): a step
      size is the one before times a factor between these two, and `safety` is
      the part that is taken of the one that would just meet the tolerance.
      Safety and the smallest factor are below 1, the largest is at least 1.
    - `smallest_step` (0.0), `largest_step` (none): limits of the step size, in
      the system's unit of time. A zone that needs smaller steps fails.

    The last five may be left out.

    Examples: `#wavesmith.tsit5<absolute_tolerance = 1.0e-12, relative_tolerance = 1.0e-06>`,
    `#wavesmith.tsit5<absolute_tolerance = [1.0e-12, 1.0e-15], relative_tolerance = 1.0e-06, largest_step = 0.5>`
  }];
  let parameters = (ins "::mlir::Attribute":$absoluteTolerance,
                        "::mlir::Attribute":$relativeTolerance,
                        "::llvm::APFloat":$safety,
                        "::llvm::APFloat":$smallestFactor,
                        "::llvm::APFloat":$largestFactor,
                        "::llvm::APFloat":$smallestStep,
                        "::llvm::APFloat":$largestStep);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The numbers of the absolute or relative tolerance: one for all states,
    /// or one each.
    static ::llvm::SmallVector<double> getNumbers(::mlir::Attribute tolerance);
    /// The same, one a state, of a verified operation on `count` states.
    static ::llvm::SmallVector<double> getNumbers(::mlir::Attribute tolerance,
                                                  unsigned count);
  }];
}

def Wavesmith_MemorySpace : I32EnumAttr<"MemorySpace",
    "where a tensor of a workgroup stands", [
      I32EnumAttrCase<"Global", 0, "global">,
      I32EnumAttrCase<"LDS", 1, "lds">,
      I32EnumAttrCase<"Registers", 2, "registers">]> {
  let cppNamespace = "::wavesmith";
  let genSpecializedAttr = 0;
}
def Wavesmith_MemorySpaceAttr
    : EnumAttr<Wavesmith_Dialect, Wavesmith_MemorySpace, "memory_space"> {
  let description = [{
    `global`: a workspace that the caller provides; `lds`: the workgroup's
    local data share; `registers`: each thread holds its own elements.
  }];
  let assemblyFormat = "$value";
}

def Wavesmith_PerWavefrontAttr
    : Wavesmith_Attr<"PerWavefront", "per_wavefront"> {
  let summary = "layout of a tensor that every wavefront has whole";
  let description = [{
    The encoding of a tensor in a workgroup with several threads a zone:
    element e belongs to lane e mod L of every wavefront of the zone, where L
    is the smaller of the wavefront size and the threads of the zone. Each
    wavefront computes the tensor for itself, so that nothing has to cross
    between wavefronts.

    Example: `tensor<150xf64, #wavesmith.per_wavefront>`
  }];
  let assemblyFormat = "";
}

def Wavesmith_TargetAttr : Wavesmith_Attr<"Target", "target"> {
  let summary = "the device that a module is compiled for";
  let description = [{
    The architecture, and optionally one chip of it, by the names of the table
    in `wavesmith/Target/Target.h`, which holds the limits of each. A module
    carries it as `wavesmith.target`.

    Example: `#wavesmith.target<"gfx942", chip = "mi300x">`
  }];
  let parameters = (ins StringRefParameter<"architecture">:$architecture,
                        StringRefParameter<"chip">:$chip);
  let assemblyFormat = "`<` $architecture `,` `chip` `=` $chip `>`";
  let genVerifyDecl = 1;
}

#endif // WAVESMITH_ATTRIBUTES_TD
