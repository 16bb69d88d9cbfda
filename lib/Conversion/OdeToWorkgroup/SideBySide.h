//===- SideBySide.h - A system's expressions as tensors ---------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rate coefficients and terms that differ in constants and states only are one
// tensor: the operations of the system are sorted into classes of the same
// operation on operands of the same classes. An operation is computed once for
// all members of its class, with constants and states by tables. Every member
// is computed by the very operations of its formula, so bits stay.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_CONVERSION_ODETOWORKGROUP_SIDEBYSIDE_H
#define WAVESMITH_LIB_CONVERSION_ODETOWORKGROUP_SIDEBYSIDE_H

#include "SystemEmitter.h"
#include <memory>

namespace wavesmith {

class SideBySide {
public:
  /// \param builder where code of one zone is to be written
  SideBySide(mlir::OpBuilder &builder, OdeSystemOp system);
  ~SideBySide();

  /// Sorts the system's operations into classes. Emits an error if one is not
  /// supported.
  llvm::LogicalResult analyse();

  /// Writes, at the builder's place, what depends on neither time nor states:
  /// rate coefficients, staged in global memory.
  llvm::LogicalResult emitInvariant(mlir::Location loc,
                                    mlir::ValueRange parameters);

  /// Writes the values of all terms at a time and at states that all threads
  /// can read, and stages them in global memory.
  mlir::FailureOr<mlir::Value> emitTerms(mlir::Location loc, mlir::Value time,
                                         mlir::Value stagedStates);

  /// The position of a term's value in what emitTerms returns.
  int32_t getPosition(unsigned term) const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

/// A table, or one number for all where they are the same.
mlir::Value buildTable(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::ArrayRef<double> values);
mlir::Value buildTable(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::ArrayRef<int32_t> values);

/// Writes an integration as the body of a workgroup with several threads a
/// zone.
llvm::LogicalResult emitIntegration(mlir::OpBuilder &builder,
                                    OdeIntegrateOp op, OdeSystemOp system,
                                    mlir::ValueRange arguments);

} // namespace wavesmith

#endif // WAVESMITH_LIB_CONVERSION_ODETOWORKGROUP_SIDEBYSIDE_H
