//===- SharedZone.h - What passes on shared zones ask -----------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_DIALECT_WAVESMITH_TRANSFORMS_SHAREDZONE_H
#define WAVESMITH_DIALECT_WAVESMITH_TRANSFORMS_SHAREDZONE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Remarks.h"
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

/// A wavefront's lanes; targets of other sizes are none of ours.
constexpr int64_t kWavefront = 64;

/// A tensor in LDS has so many elements more, at its end, for zeros that
/// padding reads: one for each bank that a group of lanes leaves free.
constexpr int64_t kZerosInLDS = 16;

/// Elements of LDS that a tensor takes: its own, zeros, and one for each
/// wavefront that threads write which have nothing to write.
inline int64_t roomInLDS(int64_t count, int64_t threads, bool perWavefront) {
  int64_t wavefronts = perWavefront ? 1 : llvm::divideCeil(threads, kWavefront);
  return count + kZerosInLDS + wavefronts;
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

/// Whether an element of a value, or of what is computed from it, is read by a
/// reduction that is resident.
inline bool feedsResident(mlir::Operation *op) {
  return llvm::any_of(op->getUsers(), [](mlir::Operation *user) {
    if (auto reduce = mlir::dyn_cast<SegmentedReduceOp>(user))
      return bool(reduce.getResident());
    return (isElementwise(user) || mlir::isa<GatherOp>(user)) &&
           feedsResident(user);
  });
}

/// Says what a pass has done, or why not, to those who ask for remarks.
inline void sayDone(mlir::Operation *op, llvm::StringRef pass,
                    const llvm::Twine &text) {
  auto options = mlir::remark::RemarkOpts::name(pass).category("wavesmith");
  if (auto remark = mlir::remark::passed(op->getLoc(), options))
    remark << mlir::remark::detail::Remark::Arg("Remark", text.str());
}
inline void sayNotDone(mlir::Operation *op, llvm::StringRef pass,
                       const llvm::Twine &text) {
  auto options = mlir::remark::RemarkOpts::name(pass).category("wavesmith");
  if (auto remark = mlir::remark::missed(op->getLoc(), options))
    remark << mlir::remark::detail::Remark::Arg("Remark", text.str());
}

/// Erases what nobody needs any more.
inline void eraseUnused(mlir::Operation *root) {
  root->walk<mlir::WalkOrder::PostOrder, mlir::ReverseIterator>(
      [&](mlir::Operation *op) {
        if (op != root && mlir::isOpTriviallyDead(op))
          op->erase();
      });
}
/// The number of elements of a tensor of rank 1.
inline int64_t numElements(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getDimSize(0);
}

} // namespace wavesmith

#endif // WAVESMITH_DIALECT_WAVESMITH_TRANSFORMS_SHAREDZONE_H
