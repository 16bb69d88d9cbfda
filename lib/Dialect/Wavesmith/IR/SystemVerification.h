//===- SystemVerification.h - Checks shared by a system's ops ---*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_DIALECT_WAVESMITH_IR_SYSTEMVERIFICATION_H
#define WAVESMITH_LIB_DIALECT_WAVESMITH_IR_SYSTEMVERIFICATION_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "wavesmith/Dialect/Wavesmith/IR/Units.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"

namespace wavesmith {

/// Checks that the states listed in `op` are declared, stand once, and have
/// finite weights. `what` names the list in messages.
llvm::LogicalResult verifyStateList(mlir::Operation *op, llvm::StringRef what,
                                    mlir::ArrayAttr states,
                                    llvm::ArrayRef<double> weights);

/// The unit of a state. The system must have been verified.
Unit getStateUnit(OdeSystemOp system, unsigned index);

} // namespace wavesmith

#endif // WAVESMITH_LIB_DIALECT_WAVESMITH_IR_SYSTEMVERIFICATION_H
