//===- SystemEmitter.h - A system's expressions on blocks -------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_CONVERSION_ODETOWORKGROUP_SYSTEMEMITTER_H
#define WAVESMITH_LIB_CONVERSION_ODETOWORKGROUP_SYSTEMEMITTER_H

#include "RateFormulas.h"

namespace wavesmith {

/// What a kernel is asked for.
enum class Quantity { Derivatives, ProductionLoss, TermValues };

/// The states that one term changes, with their weights, one list a result of
/// the kernel: the net weights, or gains and losses. Ascending states.
using TermWeights = llvm::SmallVector<llvm::SmallVector<WeightedState>, 2>;

/// The weights of each term; empty lists for `TermValues`.
llvm::SmallVector<TermWeights> getTermWeights(OdeSystemOp system,
                                              Quantity quantity);

/// The memory that a kernel works on. Batches are memrefs with rows of zones.
struct KernelArguments {
  mlir::Value time;
  mlir::Value states;
  mlir::Value parameters;
  llvm::SmallVector<mlir::Value> results;
};

/// Builds the operations of a system on blocks, one by one, with literals for
/// constants.
class SystemEmitter {
public:
  SystemEmitter(BlockBuilder &b, OdeSystemOp system,
                const KernelArguments &arguments)
      : b(b), formulas(b), system(system), arguments(arguments) {}

  /// Builds one operation, whose operands have been built. Emits an error if
  /// it is not supported.
  llvm::LogicalResult emit(mlir::Operation *op);

  /// The block that stands for a value of the system.
  mlir::Value get(mlir::Value value) { return blocks.lookup(value); }

  /// A state, loaded anew each time: a load is cheaper than two registers that
  /// are taken for the whole kernel.
  mlir::Value state(unsigned index);
  /// A parameter, loaded where it is first asked for.
  mlir::Value parameter(unsigned index);
  mlir::Value time();
  /// The value of a term.
  mlir::Value term(TermOp op);

  BlockBuilder &b;
  RateFormulas formulas;

private:
  llvm::LogicalResult emitExpression(mlir::Operation *op);

  OdeSystemOp system;
  const KernelArguments &arguments;
  llvm::DenseMap<mlir::Value, mlir::Value> blocks;
  llvm::DenseMap<unsigned, mlir::Value> parameters;
  mlir::Value timeBlock;
};

/// Builds one operation of arith or math on the given operands, which are
/// blocks of f64 or i1 (null for an exponent of math.fpowi). Operations of math on constants are computed by the
/// device's math library, so that no later folding uses the host's.
/// Null, with an error, if the operation is not supported.
mlir::Value buildExpression(BlockBuilder &b, mlir::Operation *op,
                            mlir::ValueRange operands);

/// Whether an operation is the constant exponent of math.fpowi, which has no
/// block: buildExpression reads it where it is used.
bool isExponent(mlir::Operation *op);

/// The whole computation, unrolled.
llvm::LogicalResult emitStraightLine(BlockBuilder &b, OdeSystemOp system,
                                     Quantity quantity,
                                     const KernelArguments &arguments);

/// The whole computation, as a loop over a table of steps.
llvm::LogicalResult emitTable(BlockBuilder &b, OdeSystemOp system,
                              Quantity quantity,
                              const KernelArguments &arguments);

} // namespace wavesmith

#endif // WAVESMITH_LIB_CONVERSION_ODETOWORKGROUP_SYSTEMEMITTER_H
