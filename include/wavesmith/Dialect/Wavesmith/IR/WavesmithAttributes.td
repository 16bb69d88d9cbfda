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

class Wavesmith_Attr<string name, string attrMnemonic>
    : AttrDef<Wavesmith_Dialect, name> {
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
      I32EnumAttrCase<"Table", 1, "table">]> {
  let cppNamespace = "::wavesmith";
  let genSpecializedAttr = 0;
}
def Wavesmith_CodeFormAttr
    : EnumAttr<Wavesmith_Dialect, Wavesmith_CodeForm, "code_form"> {
  let description = [{
    `straight_line`: the system is unrolled, its constants are literals.
    `table`: a loop over a table of steps, whose code size does not depend on
    the size of the system.
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Wavesmith_OdeScheduleAttr : Wavesmith_Attr<"OdeSchedule", "ode_schedule"> {
  let summary = "how an ODE kernel is mapped to the device";
  let description = [{
    One thread computes one zone. `form` shapes the code, `workgroup_size` is
    the number of zones, and of threads, of one workgroup: a multiple of the
    wavefront size, at most the target's limit. The schedule never changes a
    bit of the result.

    Example: `#wavesmith.ode_schedule<form = straight_line, workgroup_size = 64>`
  }];
  let parameters = (ins EnumParameter<Wavesmith_CodeForm>:$form,
                        "int64_t":$workgroupSize);
  let assemblyFormat =
      "`<` `form` `=` $form `,` `workgroup_size` `=` $workgroupSize `>`";
  let genVerifyDecl = 1;
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
