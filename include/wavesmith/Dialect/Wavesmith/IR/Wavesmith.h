//===- Wavesmith.h - The wavesmith dialect ----------------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dialect, attributes and operations; see the .td files beside this one.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_DIALECT_WAVESMITH_IR_WAVESMITH_H
#define WAVESMITH_DIALECT_WAVESMITH_IR_WAVESMITH_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>

#include "wavesmith/Dialect/Wavesmith/IR/WavesmithDialect.h.inc"
#include "wavesmith/Dialect/Wavesmith/IR/WavesmithEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "wavesmith/Dialect/Wavesmith/IR/WavesmithAttributes.h.inc"

#define GET_OP_CLASSES
#include "wavesmith/Dialect/Wavesmith/IR/WavesmithOps.h.inc"

namespace wavesmith {

/// A state of a system with a number that belongs to it: a weight, an order or
/// an efficiency.
struct WeightedState {
  unsigned state;
  double weight;
};

/// The states listed in an operation inside of `system`, in ascending order of
/// their indices: the order in which sums and products run. The operation must
/// have been verified.
llvm::SmallVector<WeightedState>
getWeightedStates(OdeSystemOp system, mlir::ArrayAttr states,
                  llvm::ArrayRef<double> weights);

/// The terms of a system in the order of their numbers.
llvm::SmallVector<TermOp> getTerms(OdeSystemOp system);

/// Prints a double with the fewest digits that give it back, in the form that
/// MLIR's parser takes for a number.
void printShortest(llvm::raw_ostream &os, double value);

/// The name of a module's attribute that holds its `TargetAttr`.
inline constexpr llvm::StringLiteral kTargetAttrName = "wavesmith.target";
/// The name of a function argument's or result's attribute that holds the name
/// by which callers know it.
inline constexpr llvm::StringLiteral kNameAttrName = "wavesmith.name";
/// The name of a kernel argument's attribute that marks memory to write.
inline constexpr llvm::StringLiteral kOutputAttrName = "wavesmith.output";
/// The name of a kernel argument's attribute that marks scratch memory.
inline constexpr llvm::StringLiteral kWorkspaceAttrName = "wavesmith.workspace";
/// The name of a kernel's attribute that holds the number of zones of one
/// workgroup, where that is not its number of threads.
inline constexpr llvm::StringLiteral kZonesPerWorkgroupAttrName =
    "wavesmith.zones_per_workgroup";
/// The name of a kernel's attribute that holds the sizes of its grid: an array
/// of strings, expressions over the kernel's arguments by name.
inline constexpr llvm::StringLiteral kGridAttrName = "wavesmith.grid";

/// Marks an access to memory that no other wavefront accesses (a unit
/// attribute).
inline constexpr llvm::StringLiteral kOwnWavefrontAttrName =
    "wavesmith.own_wavefront";

} // namespace wavesmith

#endif // WAVESMITH_DIALECT_WAVESMITH_IR_WAVESMITH_H
