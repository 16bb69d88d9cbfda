//===- WorkgroupOps.cpp - Checks of the workgroup level -------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"

using namespace mlir;
using namespace wavesmith;

LogicalResult WorkgroupOp::verify() {
  if (getSize() <= 0)
    return emitOpError("expected a positive size, got ") << getSize();
  return success();
}

/// Checks a block and the batch that it is moved from or to.
static LogicalResult verifyZoneTransfer(Operation *op, RankedTensorType block,
                                        MemRefType batch) {
  auto workgroup = op->getParentOfType<WorkgroupOp>();
  if (!workgroup)
    return op->emitOpError("expected to stand in a 'wavesmith.workgroup'");
  if (block.getDimSize(0) != int64_t(workgroup.getSize()))
    return op->emitOpError("expected a block of the workgroup's size ")
           << workgroup.getSize() << ", got " << block;
  if (batch.isDynamicDim(0) == batch.isDynamicDim(1))
    return op->emitOpError("expected exactly one dynamic dimension, the "
                           "zones, got ")
           << batch;
  return success();
}

LogicalResult LoadZonesOp::verify() {
  return verifyZoneTransfer(*this,
                            cast<RankedTensorType>(getResult().getType()),
                            cast<MemRefType>(getSource().getType()));
}

LogicalResult StoreZonesOp::verify() {
  return verifyZoneTransfer(*this, cast<RankedTensorType>(getValue().getType()),
                            cast<MemRefType>(getTarget().getType()));
}

OpFoldResult TableOp::fold(FoldAdaptor) { return getValueAttr(); }
