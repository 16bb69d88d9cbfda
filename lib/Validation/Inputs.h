//===- Inputs.h - Given and seeded inputs -----------------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_VALIDATION_INPUTS_H
#define WAVESMITH_LIB_VALIDATION_INPUTS_H

#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "wavesmith/Validation/Validation.h"

namespace wavesmith {

struct Inputs {
  /// For each argument of kind input or scalar.
  llvm::StringMap<HostArray> values;
  int64_t zones = 0;
  /// Where the numbers of each come from, in the order of the arguments.
  std::vector<std::pair<std::string, std::string>> sources;
};

/// Takes what the options give and makes the rest from the seed, by the rule of
/// docs/validate.md. \p function is the one that \p kernel was compiled from,
/// whose arguments stand first and in the same order. An argument that no rule
/// is for and that is not given is an error; so is one that is given and does
/// not exist.
llvm::Expected<Inputs> makeInputs(const KernelDescription &kernel,
                                  mlir::func::FuncOp function,
                                  const ValidationOptions &options);

/// The operation that asks for a quantity of a system; null where the function
/// is at the workgroup level.
mlir::Operation *findQuantity(mlir::func::FuncOp function);

/// The system that it is a quantity of; null where there is none.
OdeSystemOp findSystem(mlir::Operation *quantity);

} // namespace wavesmith

#endif // WAVESMITH_LIB_VALIDATION_INPUTS_H
