//===- Passes.h - Passes on the wavesmith dialect ---------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_DIALECT_WAVESMITH_TRANSFORMS_PASSES_H
#define WAVESMITH_DIALECT_WAVESMITH_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace wavesmith {

#define GEN_PASS_DECL
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h.inc"

} // namespace wavesmith

#endif // WAVESMITH_DIALECT_WAVESMITH_TRANSFORMS_PASSES_H
