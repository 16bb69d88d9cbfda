//===- WavesmithDialect.td - The wavesmith dialect ---------*- tablegen -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_DIALECT_TD
#define WAVESMITH_DIALECT_TD

include "mlir/IR/OpBase.td"

def Wavesmith_Dialect : Dialect {
  let name = "wavesmith";
  let cppNamespace = "::wavesmith";
  let summary = "Kernels for AMD Instinct GPUs, described by what they compute";
  let description = [{
    Two kinds of operations live here. The problem level describes a system of
    sparse-term ordinary differential equations and asks for a quantity of it
    on a batch of independent zones, or it asks for attention. The workgroup
    level says what one workgroup does, as operations with value semantics on
    tensors: the values of its zones, or tiles of matrices.

    The meaning of a system is fixed: each operation states its formula, the
    order of its sums and which products are fused with an addition (`fma`).
    Every intermediate result is rounded to f64, to nearest even. exp, log,
    log10 and cbrt are those of the device's math library (ocml). Attention
    fixes the formula and leaves the order of sums open.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect", "::mlir::scf::SCFDialect"
  ];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

class Wavesmith_Op<string mnemonic, list<Trait> traits = []>
    : Op<Wavesmith_Dialect, mnemonic, traits>;

#endif // WAVESMITH_DIALECT_TD
