//===- WorkgroupOps.cpp - Checks of the workgroup level -------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"

using namespace mlir;
using namespace wavesmith;

LogicalResult WorkgroupOp::verify() {
  if (int64_t(getSize()) <= 0)
    return emitOpError("expected a positive size, got ") << int64_t(getSize());
  if (getBody().getNumArguments() != 0)
    return emitOpError("expected a body without arguments, got ")
           << getBody().getNumArguments();
  return success();
}

/// Checks a block and the batch that it is moved from or to.
static LogicalResult verifyZoneTransfer(Operation *op, RankedTensorType block,
                                        MemRefType batch, Value row) {
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
  int64_t rows = batch.getDimSize(batch.isDynamicDim(0) ? 1 : 0);
  std::optional<int64_t> constant = getConstantIntValue(row);
  if (constant && (*constant < 0 || *constant >= rows))
    return op->emitOpError("expected a row of ")
           << batch << " from 0 to " << rows - 1 << ", got " << *constant;
  return success();
}

LogicalResult LoadZonesOp::verify() {
  return verifyZoneTransfer(*this,
                            cast<RankedTensorType>(getResult().getType()),
                            cast<MemRefType>(getSource().getType()), getRow());
}

LogicalResult StoreZonesOp::verify() {
  return verifyZoneTransfer(*this, cast<RankedTensorType>(getValue().getType()),
                            cast<MemRefType>(getTarget().getType()), getRow());
}

LogicalResult TableOp::verify() {
  if (!isa<DenseElementsAttr>(getValue()))
    return emitOpError("expected the numbers themselves, as dense<[...]>");
  if (getResult().getType().getShape()[0] == 0)
    return emitOpError("expected at least one number, got none");
  return success();
}

OpFoldResult TableOp::fold(FoldAdaptor) { return getValueAttr(); }
