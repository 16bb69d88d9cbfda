//===- ModuleTarget.h - The target of a module ------------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_DIALECT_WAVESMITH_TRANSFORMS_MODULETARGET_H
#define WAVESMITH_DIALECT_WAVESMITH_TRANSFORMS_MODULETARGET_H

#include "mlir/IR/Operation.h"
#include "wavesmith/Target/Target.h"

namespace wavesmith {

/// The target of the module that an operation is or stands in; null if the
/// module has none. One that is not known is an error at the operation.
llvm::FailureOr<const TargetInfo *> findTarget(mlir::Operation *op);

} // namespace wavesmith

#endif // WAVESMITH_DIALECT_WAVESMITH_TRANSFORMS_MODULETARGET_H
