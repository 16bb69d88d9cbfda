//===- IntegrationBuilder.h - Time integration as workgroup code *- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_CONVERSION_ODETOWORKGROUP_INTEGRATIONBUILDER_H
#define WAVESMITH_LIB_CONVERSION_ODETOWORKGROUP_INTEGRATIONBUILDER_H

#include "SideBySide.h"

namespace wavesmith {

/// Writes an integration as the body of a workgroup with several threads a
/// zone: a loop over steps that carries time, step size, number of steps,
/// status, states and what the method adds.
class IntegrationBuilder {
public:
  IntegrationBuilder(mlir::OpBuilder &builder, OdeIntegrateOp op,
                     OdeSystemOp system)
      : builder(builder), op(op), system(system), loc(op.getLoc()),
        sideBySide(builder, system),
        type(mlir::RankedTensorType::get({system.getNumStates()},
                                         builder.getF64Type())) {}

  llvm::LogicalResult emit(mlir::ValueRange arguments);

private:
  mlir::Value number(double value) {
    return mlir::arith::ConstantOp::create(builder, loc,
                                           builder.getF64FloatAttr(value));
  }
  mlir::Value integer(int32_t value) {
    return mlir::arith::ConstantOp::create(builder, loc,
                                           builder.getI32IntegerAttr(value));
  }
  mlir::Value splat(mlir::Value scalar) {
    return mlir::tensor::SplatOp::create(builder, loc, type, scalar);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                      mlir::Value b) {
    return mlir::arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return mlir::arith::SelectOp::create(builder, loc, condition, a, b);
  }
  template <typename Op> mlir::Value binary(mlir::Value a, mlir::Value b) {
    return Op::create(builder, loc, a, b);
  }
  mlir::Value stage(mlir::Value tensor) {
    return StageOp::create(builder, loc, tensor.getType(), tensor,
                           MemorySpace::Global);
  }
  /// Reduces segments by sum = fma(weight, value, sum) from +0.0.
  mlir::Value weightedSums(mlir::Value values, mlir::Value weights,
                           llvm::ArrayRef<int32_t> segments);
  /// Production, loss or net change of all states.
  mlir::Value
  sumTerms(mlir::Value terms,
           llvm::ArrayRef<llvm::SmallVector<WeightedState>> entries);
  /// The conserved total of staged states.
  mlir::Value conservedTotal(mlir::Value staged);
  /// All elements of a tensor of states, staged first, folded to one number.
  mlir::Value reduceAll(
      mlir::Value tensor, mlir::Value init,
      llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> accumulate,
      llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  /// The largest absolute value, or NaN.
  mlir::Value largest(mlir::Value tensor);
  /// Whether no element is above a limit or NaN.
  mlir::Value isAllBelow(mlir::Value tensor, double limit);
  mlir::Value update(mlir::Value y, mlir::Value production, mlir::Value loss,
                     mlir::Value step);
  llvm::LogicalResult emitAsymptoticStep(mlir::ValueRange carried,
                                         mlir::Value end, mlir::Value total);

  // Tsit5Integration.cpp
  /// The arrays that a step leaves for the next one, at first.
  void addTsit5Carried(llvm::SmallVectorImpl<mlir::Value> &carried);
  llvm::LogicalResult emitTsit5Step(mlir::ValueRange carried, mlir::Value end,
                                    Tsit5Attr method);

  mlir::OpBuilder &builder;
  OdeIntegrateOp op;
  OdeSystemOp system;
  mlir::Location loc;
  SideBySide sideBySide;
  mlir::RankedTensorType type;
};

} // namespace wavesmith

#endif // WAVESMITH_LIB_CONVERSION_ODETOWORKGROUP_INTEGRATIONBUILDER_H
