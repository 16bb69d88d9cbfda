//===- SharedZone.h - What passes on shared zones ask -----------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_LIB_DIALECT_WAVESMITH_TRANSFORMS_SHAREDZONE_H
#define WAVESMITH_LIB_DIALECT_WAVESMITH_TRANSFORMS_SHAREDZONE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"

namespace wavesmith {

/// The workgroups with several threads a zone.
inline llvm::SmallVector<WorkgroupOp> sharedZones(mlir::ModuleOp module) {
  llvm::SmallVector<WorkgroupOp> result;
  module.walk([&](WorkgroupOp op) {
    if (op.getThreadsPerZone())
      result.push_back(op);
  });
  return result;
}

/// The innermost loop of the workgroup around an operation, or null.
inline mlir::Operation *loopAround(mlir::Operation *op) {
  for (op = op->getParentOp(); op && !mlir::isa<WorkgroupOp>(op);
       op = op->getParentOp())
    if (mlir::isa<mlir::LoopLikeOpInterface>(op))
      return op;
  return nullptr;
}

/// Whether a value is there before the loop begins.
inline bool isBefore(mlir::Value value, mlir::Operation *loop) {
  return !loop->isAncestor(value.getParentRegion()->getParentOp());
}

/// Whether an operation computes each element from one of each operand.
inline bool isElementwise(mlir::Operation *op) {
  llvm::StringRef dialect =
      op->getDialect() ? op->getDialect()->getNamespace() : llvm::StringRef();
  return op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         (dialect == "arith" || dialect == "math") &&
         !mlir::isa<mlir::arith::ConstantOp>(op);
}

/// Erases what nobody needs any more.
inline void eraseUnused(mlir::Operation *root) {
  root->walk<mlir::WalkOrder::PostOrder, mlir::ReverseIterator>(
      [&](mlir::Operation *op) {
        if (op != root && mlir::isOpTriviallyDead(op))
          op->erase();
      });
}

inline int64_t numElements(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getDimSize(0);
}

} // namespace wavesmith

#endif // WAVESMITH_LIB_DIALECT_WAVESMITH_TRANSFORMS_SHAREDZONE_H
