//===- WorkgroupOps.cpp - Checks of the workgroup level -------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"

using namespace mlir;
using namespace wavesmith;

LogicalResult WorkgroupOp::verify() {
  if (int64_t(getSize()) <= 0)
    return emitOpError("expected a positive size, got ") << int64_t(getSize());
  if (getThreadsPerZone()) {
    int64_t threads = *getThreadsPerZone();
    if (threads <= 0 || int64_t(getSize()) % threads != 0)
      return emitOpError("expected threads_per_zone to divide the size ")
             << int64_t(getSize()) << ", got " << threads;
    if (threads != int64_t(getSize()) && !llvm::isPowerOf2_64(threads))
      return emitOpError("expected threads_per_zone to be a power of two or "
                         "the size ")
             << int64_t(getSize()) << ", got " << threads;
  }
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
  if (workgroup.getThreadsPerZone())
    return op->emitOpError("expected a workgroup of one thread a zone; "
                           "load_zone and store_zone serve several");
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

//===----------------------------------------------------------------------===//
// Several threads a zone
//===----------------------------------------------------------------------===//

static LogicalResult verifySharedZone(Operation *op) {
  auto workgroup = op->getParentOfType<WorkgroupOp>();
  if (!workgroup || !workgroup.getThreadsPerZone())
    return op->emitOpError("expected to stand in a 'wavesmith.workgroup' with "
                           "threads_per_zone");
  return success();
}

/// Checks a zone's values and the batch that they are moved from or to.
static LogicalResult verifyZoneTransfer(Operation *op, Type value,
                                        MemRefType batch) {
  if (failed(verifySharedZone(op)))
    return failure();
  if (batch.getNumDynamicDims() != 1)
    return op->emitOpError("expected exactly one dynamic dimension, the "
                           "zones, got ")
           << batch;
  Type wanted = batch.getElementType();
  auto tensor = dyn_cast<RankedTensorType>(value);
  if (batch.getRank() == 2)
    wanted = RankedTensorType::get(
        {batch.getDimSize(batch.isDynamicDim(0) ? 1 : 0)}, wanted,
        tensor ? tensor.getEncoding() : Attribute());
  if (value != wanted)
    return op->emitOpError("expected ")
           << wanted << " for " << batch << ", got " << value;
  return success();
}

LogicalResult LoadZoneOp::verify() {
  return verifyZoneTransfer(*this, getResult().getType(),
                            cast<MemRefType>(getSource().getType()));
}

LogicalResult StoreZoneOp::verify() {
  return verifyZoneTransfer(*this, getValue().getType(),
                            cast<MemRefType>(getTarget().getType()));
}

/// Checks that the shape of a tensor is fixed and not empty.
static LogicalResult verifyArray(Operation *op, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (type && (type.isDynamicDim(0) || type.getDimSize(0) == 0))
    return op->emitOpError("expected tensors of a fixed number of elements, "
                           "at least one, got ")
           << type;
  if (type && type.getEncoding() && !isa<PerWavefrontAttr>(type.getEncoding()))
    return op->emitOpError("expected tensors without an encoding or with "
                           "#wavesmith.per_wavefront, got ")
           << type;
  return success();
}

LogicalResult ReplicateOp::verify() {
  if (failed(verifySharedZone(*this)) ||
      failed(verifyArray(*this, getSource())))
    return failure();
  auto source = cast<RankedTensorType>(getSource().getType());
  auto wanted =
      RankedTensorType::get(source.getShape(), source.getElementType(),
                            PerWavefrontAttr::get(getContext()));
  if (source.getEncoding())
    return emitOpError("expected a source without an encoding, got ") << source;
  if (getResult().getType() != wanted)
    return emitOpError("expected a result of type ")
           << wanted << ", got " << getResult().getType();
  return success();
}

LogicalResult StageOp::verify() {
  if (failed(verifyArray(*this, getResult())))
    return failure();
  return verifySharedZone(*this);
}

LogicalResult GatherOp::verify() {
  if (failed(verifySharedZone(*this)) ||
      failed(verifyArray(*this, getSource())) ||
      failed(verifyArray(*this, getIndices())))
    return failure();
  auto source = cast<RankedTensorType>(getSource().getType());
  auto indices = cast<RankedTensorType>(getIndices().getType());
  auto wanted =
      RankedTensorType::get(indices.getShape(), source.getElementType(),
                            indices.getEncoding());
  if (getResult().getType() != wanted)
    return emitOpError("expected a result of type ")
           << wanted << ", got " << getResult().getType();
  if (auto table = getIndices().getDefiningOp<TableOp>())
    for (auto [position, index] : llvm::enumerate(
             cast<DenseElementsAttr>(table.getValue()).getValues<APInt>()))
      if (index.uge(source.getDimSize(0)))
        return emitOpError("expected indices from 0 to ")
               << source.getDimSize(0) - 1 << ", got "
               << index.getSExtValue() << " at position " << position;
  return success();
}

int64_t SegmentedReduceOp::getLanesOf(unsigned segment) {
  if (!getLanes())
    return 1;
  ArrayRef<int32_t> lanes = *getLanes();
  return lanes[lanes.size() == 1 ? 0 : segment];
}

LogicalResult SegmentedReduceOp::verify() {
  if (failed(verifySharedZone(*this)))
    return failure();
  if (getElements().empty() || getInit().empty())
    return emitOpError("expected at least one tensor of elements and one "
                       "accumulator");
  Type shape;
  for (Value elements : getElements()) {
    if (failed(verifyArray(*this, elements)))
      return failure();
    auto type = cast<RankedTensorType>(elements.getType());
    Type dimensions = RankedTensorType::get(
        type.getShape(), IntegerType::get(getContext(), 1), type.getEncoding());
    if (shape && dimensions != shape)
      return emitOpError("expected tensors of the same number of elements and "
                         "the same layout, got ")
             << getElements().front().getType() << " and " << type;
    shape = dimensions;
  }
  ArrayRef<int32_t> segments = getSegments();
  int64_t numElements = cast<RankedTensorType>(shape).getDimSize(0);
  if (cast<RankedTensorType>(shape).getEncoding() && getNumSegments() != 1)
    return emitOpError("expected one segment of elements that every wavefront "
                       "has, got ")
           << getNumSegments();
  if (segments.size() < 2 || segments.front() != 0 ||
      segments.back() != numElements || !llvm::is_sorted(segments))
    return emitOpError("expected segments that ascend from 0 to ")
           << numElements << ", the number of elements";
  if (getInit().size() != getResults().size())
    return emitOpError("expected one result an accumulator, got ")
           << getInit().size() << " accumulators and " << getResults().size()
           << " results";
  for (auto [init, result] : llvm::zip_equal(getInit(), getResults())) {
    auto wanted =
        RankedTensorType::get({int64_t(getNumSegments())}, init.getType());
    if (result.getType() != wanted)
      return emitOpError("expected a result of type ")
             << wanted << ", got " << result.getType();
  }
  if (!getLanes())
    return success();
  ArrayRef<int32_t> lanes = *getLanes();
  if (lanes.size() != 1 && lanes.size() != getNumSegments())
    return emitOpError("expected lanes for all segments or for each of the ")
           << getNumSegments() << ", got " << lanes.size();
  int64_t threads =
      *(*this)->getParentOfType<WorkgroupOp>().getThreadsPerZone();
  for (int32_t count : lanes)
    if (count <= 0 || !llvm::isPowerOf2_32(count) || count > threads)
      return emitOpError("expected lanes to be powers of two up to the ")
             << threads << " threads of a zone, got " << count;
  return success();
}

LogicalResult SegmentedReduceOp::verifyRegions() {
  SmallVector<Type> accumulators(getInit().getTypes());
  auto verify = [&](Region &region, StringRef name,
                    ArrayRef<Type> arguments) -> LogicalResult {
    if (!llvm::equal(region.getArgumentTypes(), arguments))
      return emitOpError() << name << ": expected arguments of types "
                           << arguments << ", got "
                           << region.getArgumentTypes();
    auto yield = cast<YieldOp>(region.front().getTerminator());
    if (!llvm::equal(yield.getValues().getTypes(), accumulators))
      return yield.emitOpError("expected values of types ")
             << accumulators << ", got " << yield.getValues().getTypes();
    for (Operation &op : region.front().without_terminator()) {
      StringRef dialect =
          op.getDialect() ? op.getDialect()->getNamespace() : StringRef();
      if (op.getNumRegions() != 0 || (dialect != "arith" && dialect != "math"))
        return op.emitOpError("not supported in a reduction: expected "
                              "operations of arith and math");
    }
    return success();
  };
  SmallVector<Type> arguments(accumulators);
  for (Value elements : getElements())
    arguments.push_back(getElementTypeOrSelf(elements.getType()));
  if (failed(verify(getAccumulate(), "accumulate", arguments)))
    return failure();
  arguments.resize(accumulators.size());
  llvm::append_range(arguments, accumulators);
  return verify(getCombine(), "combine", arguments);
}
