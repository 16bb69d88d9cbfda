//===- Scores.cpp - From products to scores -------------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of a region on what is the same for the whole workgroup, batch and
// head, stay scalar; all others become operations on tiles. An index in a tile
// has 64 bits.
//
//===----------------------------------------------------------------------===//

#include "Scores.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include <limits>

using namespace mlir;
using namespace wavesmith;

Value ScoreBuilder::add(Value x, Value y) {
  return arith::AddIOp::create(b, x, y);
}

Value ScoreBuilder::multiply(Value x, Value y) {
  return arith::MulIOp::create(b, x, y);
}

Value ScoreBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value ScoreBuilder::fill(double value) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type,
                                b.getFloatAttr(type.getElementType(), value)));
}

Value ScoreBuilder::splat(Value scalar) {
  if (scalar.getType().isIndex())
    scalar = arith::IndexCastOp::create(b, b.getI64Type(), scalar);
  return tensor::SplatOp::create(b, scalar, type.clone(scalar.getType()));
}

bool ScoreBuilder::isNeeded() {
  return descaleQ || descaleK || op.getSoftcap() || bias || alibi ||
         op.hasScoreRegion() || op.hasMaskRegion();
}

Value ScoreBuilder::loadDescale(const OperandMemory &descale, Value ofHead) {
  if (!descale)
    return arith::ConstantOp::create(b, b.getF32FloatAttr(1.0f));
  Value at = getConstantIntValue(OpFoldResult(descale.sizes[0])) == 1 ? index(0)
                                                                      : ofHead;
  return memref::LoadOp::create(b, descale.memory, at);
}

Value ScoreBuilder::softcap(Value scores) {
  double cap = op.getSoftcap()->convertToDouble();
  if (op.getInputElementType().isF32()) {
    Value ratio = arith::DivFOp::create(b, scores, fill(cap));
    return arith::MulFOp::create(b, math::TanhOp::create(b, ratio), fill(cap));
  }
  // tanh(x) = 1 - 2 / (exp(2 x) + 1): for small x its error is one of the
  // cap's size, which is far below a 16-bit product's.
  Value power = math::Exp2Op::create(
      b, arith::MulFOp::create(b, scores, fill(2.8853900817779268 / cap)));
  Value part = arith::DivFOp::create(
      b, fill(-2.0 * cap), arith::AddFOp::create(b, power, fill(1.0)));
  return arith::AddFOp::create(b, fill(cap), part);
}

Value ScoreBuilder::addBias(Value scores, Value firstKey) {
  auto tensorType = cast<RankedTensorType>(op.getBias().getType());
  auto isOne = [&](unsigned d) { return tensorType.getDimSize(d) == 1; };
  Value queryStride = bias.sizes[3];
  Value headStride = multiply(bias.sizes[2], queryStride);
  Value batchStride = multiply(bias.sizes[1], headStride);
  Value offset = index(0);
  if (!isOne(0))
    offset = add(offset, multiply(batch, batchStride));
  if (!isOne(1))
    offset = add(offset, multiply(head, headStride));
  auto memory = cast<MemRefType>(bias.memory.getType());
  // A row for all queries has no stride.
  OpFoldResult stride =
      isOne(2) ? OpFoldResult(b.getIndexAttr(0)) : OpFoldResult(queryStride);
  auto viewType = MemRefType::get(
      {ShapedType::kDynamic, ShapedType::kDynamic}, memory.getElementType(),
      StridedLayoutAttr::get(op.getContext(), ShapedType::kDynamic,
                             {1, isOne(2) ? int64_t(0) : ShapedType::kDynamic}),
      memory.getMemorySpace());
  Value view = memref::ReinterpretCastOp::create(
      b, viewType, bias.memory, OpFoldResult(offset),
      ArrayRef<OpFoldResult>{numKeys, numQueries},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1), stride});
  Value tile =
      LoadTileOp::create(b, type.clone(memory.getElementType()), view,
                         ValueRange{firstKey, firstQuery}, /*vector=*/1);
  if (!memory.getElementType().isF32())
    tile = arith::ExtFOp::create(b, type, tile);
  return arith::AddFOp::create(b, scores, tile);
}

Value ScoreBuilder::addAlibi(Value scores, Value firstKey) {
  Value at = head;
  if (cast<RankedTensorType>(op.getAlibi().getType()).getRank() == 2)
    at = add(head, multiply(batch, index(op.getNumQueryHeads())));
  Value slope = memref::LoadOp::create(b, alibi.memory, at);
  auto integers = type.clone(b.getI32Type());
  // j - i - delta.
  Value distance = arith::SubIOp::create(b, add(firstKey, numQueries),
                                         add(firstQuery, numKeys));
  distance = splat(arith::IndexCastOp::create(b, b.getI32Type(), distance));
  distance = add(distance, TilePositionOp::create(b, integers, 0));
  distance = arith::SubIOp::create(b, distance,
                                   TilePositionOp::create(b, integers, 1));
  Value size =
      math::AbsFOp::create(b, arith::SIToFPOp::create(b, type, distance));
  Value loss = splat(arith::NegFOp::create(b, slope));
  return math::FmaOp::create(b, size, loss, scores);
}

Value ScoreBuilder::position(int64_t dimension, Value first, Value length) {
  Value own = TilePositionOp::create(b, type.clone(b.getI32Type()), dimension);
  own = arith::ExtSIOp::create(b, type.clone(b.getI64Type()), own);
  // Captures have nothing for positions past the end.
  Value last = arith::SubIOp::create(b, length, index(1));
  return arith::MinSIOp::create(b, add(own, splat(first)), splat(last));
}

Value ScoreBuilder::inlineExtract(Operation *extract, IRMapping &mapping,
                                  Region &region) {
  auto tensorOp = cast<tensor::ExtractOp>(extract);
  unsigned number = cast<BlockArgument>(tensorOp.getTensor()).getArgNumber() -
                    (region.getNumArguments() - captures.size());
  const OperandMemory &capture = captures[number];
  SmallVector<Value> indices;
  for (Value index : tensorOp.getIndices())
    indices.push_back(mapping.lookup(index));
  bool isScalar = llvm::none_of(
      indices, [](Value v) { return isa<RankedTensorType>(v.getType()); });
  Value offset = index(0);
  if (!isScalar)
    offset = splat(offset);
  for (auto [at, size] : llvm::zip_equal(indices, capture.sizes)) {
    Value ofTile =
        isScalar || isa<RankedTensorType>(at.getType()) ? at : splat(at);
    offset = add(multiply(offset, isScalar ? size : splat(size)), ofTile);
  }
  if (isScalar)
    return memref::LoadOp::create(b, capture.memory, offset);
  return GatherTileOp::create(b, type.clone(extract->getResult(0).getType()),
                              capture.memory, offset);
}

/// An integer tile with elements of another width.
static Value castTile(ImplicitLocOpBuilder &b, Value tile,
                      RankedTensorType wanted, bool isUnsigned) {
  unsigned from = cast<RankedTensorType>(tile.getType())
                      .getElementType()
                      .getIntOrFloatBitWidth();
  unsigned to = wanted.getElementType().getIntOrFloatBitWidth();
  if (from == to)
    return tile;
  if (from > to)
    return arith::TruncIOp::create(b, wanted, tile);
  return isUnsigned ? arith::ExtUIOp::create(b, wanted, tile).getResult()
                    : arith::ExtSIOp::create(b, wanted, tile).getResult();
}

Value ScoreBuilder::inlineRegion(Region &region, ValueRange arguments) {
  IRMapping mapping;
  for (auto [argument, value] : llvm::zip(region.getArguments(), arguments))
    mapping.map(argument, value);
  auto isTile = [](Value value) {
    return isa<RankedTensorType>(value.getType());
  };
  for (Operation &inner : region.front().without_terminator()) {
    if (isa<tensor::ExtractOp>(inner)) {
      mapping.map(inner.getResult(0), inlineExtract(&inner, mapping, region));
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(mapping.lookup(operand));
    if (llvm::none_of(operands, isTile)) {
      b.clone(inner, mapping);
      continue;
    }
    for (Value &operand : operands)
      if (!isTile(operand))
        operand = splat(operand);
    SmallVector<Type> results;
    for (Type result : inner.getResultTypes())
      results.push_back(
          type.clone(result.isIndex() ? Type(b.getI64Type()) : result));
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(inner)) {
      mapping.map(inner.getResult(0),
                  castTile(b, operands[0], cast<RankedTensorType>(results[0]),
                           isa<arith::IndexCastUIOp>(inner)));
      continue;
    }
    OperationState state(inner.getLoc(), inner.getName(), operands, results,
                         inner.getAttrs());
    Operation *onTiles = b.create(state);
    mapping.map(inner.getResults(), onTiles->getResults());
  }
  Value yielded = mapping.lookup(region.front().getTerminator()->getOperand(0));
  return isTile(yielded) ? yielded : splat(yielded);
}

Value ScoreBuilder::apply(Value products, Value firstKey) {
  Value scores = products;
  double scale = op.getScale().convertToDouble();
  if (descaleQ || descaleK) {
    Value factor = arith::MulFOp::create(b, loadDescale(descaleQ, head),
                                         loadDescale(descaleK, group));
    scores = arith::MulFOp::create(b, scores, splat(factor));
  }
  scores = arith::MulFOp::create(b, scores, fill(scale));
  // One after the other: in f32 there are no registers for the operands of all.
  auto separate = [&] {
    if (op.getInputElementType().isF32())
      ROCDL::SchedBarrier::create(b, 0);
  };
  if (op.getSoftcap()) {
    scores = softcap(scores);
    separate();
  }
  if (bias) {
    scores = addBias(scores, firstKey);
    separate();
  }
  if (alibi) {
    scores = addAlibi(scores, firstKey);
    separate();
  }
  if (!op.hasScoreRegion() && !op.hasMaskRegion())
    return scores;
  Value key = position(0, firstKey, numKeys);
  Value query = position(1, firstQuery, numQueries);
  if (op.hasScoreRegion())
    scores = inlineRegion(op.getScore(),
                          ValueRange{scores, batch, head, query, key});
  separate();
  if (op.hasMaskRegion()) {
    Value takesPart =
        inlineRegion(op.getMask(), ValueRange{batch, head, query, key});
    scores = arith::SelectOp::create(
        b, takesPart, scores, fill(-std::numeric_limits<double>::infinity()));
  }
  return scores;
}
