//===- Passes.h - Conversions between the levels of the IR ------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_CONVERSION_PASSES_H
#define WAVESMITH_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace wavesmith {

#define GEN_PASS_DECL
#include "wavesmith/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "wavesmith/Conversion/Passes.h.inc"

} // namespace wavesmith

#endif // WAVESMITH_CONVERSION_PASSES_H
