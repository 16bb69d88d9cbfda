//===- AttentionToWorkgroup.cpp - Attention on tiles ----------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One workgroup computes a tile of queries of one head, and runs over the tiles
// of keys. It works on transposed scores, S^T = K Q^T, and a transposed result,
// O^T = V^T P^T: a lane then owns one query's column, and the registers that
// hold P^T after the softmax are an operand of the second product as they are.
//
//===----------------------------------------------------------------------===//

#include "Scores.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Conversion/Passes.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/ModuleTarget.h"
#include "wavesmith/Target/Target.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

namespace wavesmith {
#define GEN_PASS_DEF_CONVERTATTENTIONTOWORKGROUPPASS
#include "wavesmith/Conversion/Passes.h.inc"
} // namespace wavesmith

using namespace mlir;
using namespace wavesmith;

/// Columns of the matrix instruction, queries of one wavefront.
static constexpr int64_t kInstruction = 32;
/// Elements that one lane loads with one instruction.
static constexpr int64_t kVector = 8;
/// Bytes that one lane reads from LDS with one instruction.
static constexpr int64_t kBankGroupBytes = 16;
/// 2 to this is the largest weight that has 8 bits: they end at 240.
static constexpr int64_t kLog2LargestWeightF8 = 7;
/// Positions are 32-bit numbers; so far outside is any edge of a window.
static constexpr int64_t kFarAway = int64_t(1) << 30;

namespace {

/// Builds a layout of rank 2 entry by entry.
class LayoutBuilder {
public:
  explicit LayoutBuilder(MLIRContext *context) : context(context) {}

  LayoutBuilder &registers(int64_t dimension, ArrayRef<int64_t> steps) {
    return append(registerEntries, dimension, steps);
  }
  LayoutBuilder &lanes(int64_t dimension, ArrayRef<int64_t> steps) {
    return append(laneEntries, dimension, steps);
  }
  LayoutBuilder &waves(int64_t dimension, ArrayRef<int64_t> steps) {
    return append(waveEntries, dimension, steps);
  }
  LayoutAttr get() const {
    return LayoutAttr::get(context, 2, registerEntries, laneEntries,
                           waveEntries);
  }

private:
  LayoutBuilder &append(SmallVector<int64_t> &flat, int64_t dimension,
                        ArrayRef<int64_t> steps) {
    for (int64_t step : steps) {
      flat.push_back(dimension == 0 ? step : 0);
      flat.push_back(dimension == 1 ? step : 0);
    }
    return *this;
  }

  MLIRContext *context;
  SmallVector<int64_t> registerEntries, laneEntries, waveEntries;
};

/// A head dim as the tiles have it, with columns of zeros behind: a multiple of
/// the matrix instruction's rows, and of what all lanes together load of a row
/// so that they take no more than one tile of keys at a time.
int64_t padHeadDim(int64_t dim, AttentionScheduleAttr schedule) {
  int64_t lanes = 64 * schedule.getWaves();
  return llvm::alignTo(
      dim, std::max(kInstruction, lanes * kVector / schedule.getKeys()));
}

/// The largest power of two that divides a number.
int64_t powerOfTwoIn(int64_t number) { return number & -number; }

/// The kernel of one attention.
class Kernel {
public:
  Kernel(AttentionOp op, AttentionScheduleAttr schedule)
      : op(op), schedule(schedule),
        numQueriesOfTile(schedule.getWaves() * kInstruction),
        b(op.getLoc(), op.getContext()), scoreBuilder(b, op),
        paddedDim(padHeadDim(op.getHeadDim(), schedule)),
        paddedValueDim(padHeadDim(op.getValueHeadDim(), schedule)) {}

  func::FuncOp build(func::FuncOp function);

private:
  void buildBody(Value tile, Value head, Value batch);
  /// What the loop over the tiles of keys carries: keys and values in LDS, the
  /// next ones in registers if there is a prefetch, the running maximum, what
  /// each lane has summed, and the result.
  SmallVector<Value> buildStart(Value firstKey);
  /// What one tile of keys adds. Tiles that begin before `whole` have no pair
  /// that is masked.
  SmallVector<Value> buildStep(Value firstKey, ValueRange state, Value whole);
  Value loadKeys(Value firstKey) {
    return LoadTileOp::create(b, keyLoad, keyView,
                              ValueRange{firstKey, index(0)}, kVector);
  }
  Value loadValues(Value firstKey) {
    return LoadTileOp::create(b, valueLoad, valueView,
                              ValueRange{index(0), firstKey}, kVector);
  }
  /// Scores as the softmax takes them, to be multiplied by `factor` for base 2.
  struct Scores {
    Value tile;
    double factor;
  };
  /// All that is done to the products of keys and queries but masking.
  Scores applyScore(Value products, Value firstKey);
  /// Scores with -inf where a pair does not take part.
  Value applyMask(Value scores, Value firstKey);
  void chooseTypes();

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value subtract(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value multiply(Value x, Value y) { return arith::MulIOp::create(b, x, y); }
  Value smaller(Value x, Value y) { return arith::MinSIOp::create(b, x, y); }
  Value larger(Value x, Value y) { return arith::MaxSIOp::create(b, x, y); }
  /// A tile of the same number.
  Value fill(RankedTensorType type, double value) {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(
               type, b.getFloatAttr(type.getElementType(), value)));
  }
  /// The sequence of one head of q, k, v or o, positions x dim or transposed.
  Value view(Value memory, int64_t heads, int64_t dim, Value length, Value head,
             Value firstToken, bool isTransposed);
  /// Finds this workgroup's sequence among packed ones: its first tokens and
  /// its lengths.
  void findSequence();
  Value reduce(Value tile, RankedTensorType type, bool isMaximum);
  Value spread(Value row, RankedTensorType type) {
    return BroadcastTileOp::create(b, type, row, 0);
  }

  AttentionOp op;
  AttentionScheduleAttr schedule;
  int64_t numQueriesOfTile;
  ImplicitLocOpBuilder b;
  ScoreBuilder scoreBuilder;
  /// Head dims of the tiles.
  int64_t paddedDim, paddedValueDim;
  OperandMemory descaleV;
  /// With packed sequences: cumulative lengths, the numbers of tokens, and
  /// where this workgroup's sequence begins.
  Value cumulativeQ, cumulativeKv, numTokens, firstQueryToken, firstKeyToken;
  Value q, k, v, o, lse, numBatches, numQueries, numKeys;
  Value batch, firstQuery;
  /// j - i lies between these, where there are such edges (index).
  Value lowest, highest;
  Value keyView, valueView, qTile;
  /// partType: what each lane has folded of its own keys.
  RankedTensorType scoreType, sumType, rowType, partType;
  /// In registers as they are loaded, and in LDS.
  RankedTensorType keyLoad, valueLoad, stagedKeys, stagedValues;
};

class ConvertAttentionToWorkgroupPass
    : public wavesmith::impl::ConvertAttentionToWorkgroupPassBase<
          ConvertAttentionToWorkgroupPass> {
public:
  void runOnOperation() override;

private:
  LogicalResult convert(func::FuncOp function, AttentionOp op);
};

} // namespace

void Kernel::chooseTypes() {
  MLIRContext *context = op.getContext();
  int64_t dim = paddedDim, valueDim = paddedValueDim;
  // Lanes and wavefronts share out as much of a row as is a power of two.
  int64_t dimPart = powerOfTwoIn(dim), valueDimPart = powerOfTwoIn(valueDim);
  int64_t keys = schedule.getKeys(), waves = schedule.getWaves();
  Type element = op.getInputElementType();
  SmallVector<int64_t> ofWaves;
  for (int64_t wave = 1; wave < waves; wave *= 2)
    ofWaves.push_back(wave * kInstruction);
  auto columns = [&](LayoutBuilder layout) {
    return layout.waves(1, ofWaves).get();
  };
  // A lane holds eight keys side by side, in two halves of four registers.
  scoreType = RankedTensorType::get({keys, numQueriesOfTile}, b.getF32Type(),
                                    columns(LayoutBuilder(context)
                                                .registers(0, {1, 2, 4, 16})
                                                .lanes(1, {1, 2, 4, 8, 16})
                                                .lanes(0, 8)));
  sumType = RankedTensorType::get({valueDim, numQueriesOfTile}, b.getF32Type(),
                                  columns(LayoutBuilder(context)
                                              .registers(0, {1, 2, 8, 16})
                                              .lanes(1, {1, 2, 4, 8, 16})
                                              .lanes(0, 4)));
  auto scoreLayout = cast<LayoutAttr>(scoreType.getEncoding());
  rowType = RankedTensorType::get({numQueriesOfTile}, b.getF32Type(),
                                  scoreLayout.withoutDimension(0));
  partType = RankedTensorType::get({2, numQueriesOfTile}, b.getF32Type(),
                                   scoreLayout.withLanesOf(0));

  // From memory, each lane takes 16 bytes of a row, neighbours the next ones up
  // to whole rows or lines of 128 bytes.
  struct Walk {
    LayoutBuilder layout;
    int64_t numLanes = 1, numWaves = 1;
    void take(int64_t dimension, int64_t step, int64_t maxWaves) {
      if (numLanes < 64) {
        layout.lanes(dimension, step);
        numLanes *= 2;
      } else if (numWaves < maxWaves) {
        layout.waves(dimension, step);
        numWaves *= 2;
      }
    }
    bool isFull(int64_t maxWaves) const {
      return numLanes == 64 && numWaves == maxWaves;
    }
  };
  Walk ofKeys{LayoutBuilder(context).registers(1, {1, 2, 4})};
  for (int64_t d = kVector; d < dimPart; d *= 2)
    ofKeys.take(1, d, waves);
  for (int64_t key = 1; !ofKeys.isFull(waves); key *= 2)
    ofKeys.take(0, key, waves);
  // Keys side by side, as the second product takes values from LDS, are put
  // together in a lane: up to four, which are 8 bytes of 16-bit elements. Of 16
  // lanes that store at a time, eight go to rows apart and two to halves of 16
  // bytes, so that they meet all banks.
  int64_t inLane = std::clamp<int64_t>(
      keys * valueDimPart / (64 * waves * kVector), 1, element.isF32() ? 1 : 4);
  Walk ofValues{LayoutBuilder(context).registers(0, {1, 2, 4})};
  int64_t key = 1, d = kVector;
  for (; key < inLane; key *= 2)
    ofValues.layout.registers(1, key);
  for (; d < std::min<int64_t>(valueDimPart, 8 * kVector); d *= 2)
    ofValues.take(0, d, waves);
  ofValues.take(1, key, waves);
  key *= 2;
  for (; d < valueDimPart; d *= 2)
    ofValues.take(0, d, waves);
  for (; !ofValues.isFull(waves); key *= 2)
    ofValues.take(1, key, waves);
  auto tile = [&](int64_t rows, int64_t columns, LayoutAttr layout) {
    return RankedTensorType::get({rows, columns}, element, layout);
  };
  keyLoad = tile(keys, dim, ofKeys.layout.get());
  valueLoad = tile(valueDim, keys, ofValues.layout.get());

  // Eight lanes that read 16 bytes at a time are in rows that differ by the
  // first lane bits of the operands' layouts below: their groups of 16 bytes
  // are told apart by these bits. Values are stored to rows that are multiples
  // of eight apart.
  auto staged = [&](RankedTensorType type, ArrayRef<int64_t> swizzle) {
    int64_t bytes = type.getDimSize(1) * element.getIntOrFloatBitWidth() / 8;
    while (bytes % (kBankGroupBytes << swizzle.size()) != 0)
      swizzle = swizzle.drop_back();
    return RankedTensorType::get(type.getShape(), element,
                                 LdsLayoutAttr::get(context, 1, 0, swizzle));
  };
  stagedKeys = staged(keyLoad, {1, 2, 8});
  stagedValues = staged(valueLoad, {1 | 8, 2 | 16, 4 | 32});
}

Value Kernel::view(Value memory, int64_t heads, int64_t dim, Value length,
                   Value head, Value firstToken, bool isTransposed) {
  bool isBSHD = op.getLayout() != AttentionLayout::BHSD;
  int64_t positionStride = isBSHD ? heads * dim : dim;
  // b * heads * length * dim, and for the head dim or length * dim.
  Value sequence = multiply(length, index(dim));
  Value offset = firstToken ? multiply(firstToken, index(heads * dim))
                            : multiply(batch, multiply(sequence, index(heads)));
  offset = add(offset, multiply(head, isBSHD ? index(dim) : sequence));
  SmallVector<OpFoldResult> sizes{length, b.getIndexAttr(dim)};
  SmallVector<OpFoldResult> strides{b.getIndexAttr(positionStride),
                                    b.getIndexAttr(1)};
  SmallVector<int64_t> shape{ShapedType::kDynamic, dim};
  SmallVector<int64_t> steps{positionStride, 1};
  if (isTransposed) {
    std::swap(sizes[0], sizes[1]);
    std::swap(strides[0], strides[1]);
    std::swap(shape[0], shape[1]);
    std::swap(steps[0], steps[1]);
  }
  auto type = cast<MemRefType>(memory.getType());
  auto viewType = MemRefType::get(
      shape, type.getElementType(),
      StridedLayoutAttr::get(op.getContext(), ShapedType::kDynamic, steps),
      type.getMemorySpace());
  return memref::ReinterpretCastOp::create(
      b, viewType, memory, OpFoldResult(offset), sizes, strides);
}

Value Kernel::reduce(Value tile, RankedTensorType type, bool isMaximum) {
  auto reduction = ReduceTileOp::create(b, type, tile, 0);
  OpBuilder::InsertionGuard guard(b);
  Type f32 = b.getF32Type();
  Block *body = b.createBlock(&reduction.getCombine(), {}, {f32, f32},
                              {op.getLoc(), op.getLoc()});
  Value left = body->getArgument(0), right = body->getArgument(1);
  Value both = isMaximum ? arith::MaxNumFOp::create(b, left, right).getResult()
                         : arith::AddFOp::create(b, left, right).getResult();
  YieldOp::create(b, both);
  return reduction.getResult();
}

Kernel::Scores Kernel::applyScore(Value products, Value firstKey) {
  double factor = 1.4426950408889634;
  if (scoreBuilder.isNeeded())
    products = scoreBuilder.apply(products, firstKey);
  else
    factor *= op.getScale().convertToDouble();
  // A positive factor leaves the order alone: it can wait for the exponent,
  // where it is part of a fused multiply-add. The largest weight of a row is
  // then 1 but for the rounding of the maximum, which shows in f32 alone.
  if (factor > 0 && !op.getInputElementType().isF32())
    return {products, factor};
  return {arith::MulFOp::create(b, products, fill(scoreType, factor)), 1.0};
}

Value Kernel::applyMask(Value scores, Value firstKey) {
  // Each query takes part with the keys of this tile from one to another.
  auto integers = scoreType.clone(b.getI32Type());
  auto row = rowType.clone(b.getI32Type());
  auto asRow = [&](Value limit) -> Value {
    Value bounded = smaller(larger(limit, index(-kFarAway)), index(kFarAway));
    return tensor::SplatOp::create(
        b, arith::IndexCastOp::create(b, b.getI32Type(), bounded), row);
  };
  Value query = TilePositionOp::create(b, row, 0);
  Value distance = subtract(firstKey, firstQuery);
  Value pastLast = asRow(subtract(numKeys, firstKey));
  if (highest)
    pastLast =
        smaller(pastLast,
                add(query, asRow(add(subtract(highest, distance), index(1)))));
  Value key = TilePositionOp::create(b, integers, 0);
  auto everyKey = [&](Value ofRow) {
    return BroadcastTileOp::create(b, integers, ofRow, 0);
  };
  Value isValid = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, key,
                                        everyKey(pastLast));
  if (lowest) {
    Value first = add(query, asRow(subtract(lowest, distance)));
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, key,
                                          everyKey(first));
    isValid = arith::AndIOp::create(b, isValid, isFirst);
  }
  return arith::SelectOp::create(
      b, isValid, scores,
      fill(scoreType, -std::numeric_limits<double>::infinity()));
}

SmallVector<Value> Kernel::buildStart(Value firstKey) {
  Value keys = StageTileOp::create(b, stagedKeys, loadKeys(firstKey), Value());
  Value values =
      StageTileOp::create(b, stagedValues, loadValues(firstKey), Value());
  SmallVector<Value> state{keys, values};
  Value next = add(firstKey, index(schedule.getKeys()));
  if (schedule.getPrefetch())
    state.append({loadKeys(next), loadValues(next)});
  state.append({fill(rowType, -std::numeric_limits<double>::infinity()),
                fill(partType, 0.0), fill(sumType, 0.0)});
  return state;
}

SmallVector<Value> Kernel::buildStep(Value firstKey, ValueRange state,
                                     Value whole) {
  MLIRContext *context = op.getContext();
  Value keysInLDS = state[0], valuesInLDS = state[1];
  bool isAhead = schedule.getPrefetch();
  size_t first = isAhead ? 4 : 2;
  Value reference = state[first], sum = state[first + 1];
  Value out = state[first + 2];
  int64_t dim = paddedDim, valueDim = paddedValueDim;
  int64_t keys = schedule.getKeys();
  Type element = op.getInputElementType();
  SmallVector<int64_t> nowhere(llvm::Log2_64(schedule.getWaves()), 0);
  double none = -std::numeric_limits<double>::infinity();
  Value next = add(firstKey, index(keys));
  Value afterNext = add(next, index(keys));

  auto keyLayout = LayoutBuilder(context)
                       .registers(1, {1, 2, 4})
                       .lanes(0, {1, 2, 8, 4, 16})
                       .lanes(1, 8)
                       .waves(0, nowhere)
                       .get();
  Value keyTile = ReadTileOp::create(
      b, RankedTensorType::get({keys, dim}, element, keyLayout), keysInLDS);
  Value products =
      DotOp::create(b, scoreType, keyTile, qTile, fill(scoreType, 0.0));
  // The next keys go to LDS as soon as nobody reads these any more; those after
  // them are on their way then, for as long as a whole step.
  Value nextKeys = isAhead ? state[2] : loadKeys(next);
  keysInLDS = StageTileOp::create(b, stagedKeys, nextKeys, keysInLDS);
  if (isAhead)
    nextKeys = loadKeys(afterNext);

  auto [scores, factor] = applyScore(products, firstKey);
  auto mask = scf::IfOp::create(
      b, TypeRange(scoreType),
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, firstKey, whole)
          .getResult(),
      /*addThenBlock=*/true, /*addElseBlock=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(mask.thenBlock());
    scf::YieldOp::create(b, applyMask(scores, firstKey));
    b.setInsertionPointToStart(mask.elseBlock());
    scf::YieldOp::create(b, scores);
  }
  scores = mask.getResult(0);

  // The maximum that exponents are relative to is replaced where it has grown
  // by so much that what is relative to it could become too large.
  int64_t rescaleAbove = schedule.getRescaleAbove();
  if (isa<Float8E4M3FNUZType>(element))
    rescaleAbove = std::min(rescaleAbove, kLog2LargestWeightF8);
  Value largest = arith::MulFOp::create(b, reduce(scores, partType, true),
                                        fill(partType, factor));
  auto limit = [&](RankedTensorType type, Value old) -> Value {
    if (type != rowType)
      old = BroadcastTileOp::create(b, type, old, 0);
    return arith::AddFOp::create(b, old, fill(type, rescaleAbove));
  };
  Value grows = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, largest,
                                      limit(partType, reference));
  auto rescale = scf::IfOp::create(b, TypeRange{rowType, partType, sumType},
                                   AnyTileOp::create(b, b.getI1Type(), grows),
                                   /*addThenBlock=*/true,
                                   /*addElseBlock=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(rescale.thenBlock());
    Value ofAll = reduce(largest, rowType, true);
    Value isLarger = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, ofAll,
                                           limit(rowType, reference));
    Value larger = arith::SelectOp::create(b, isLarger, ofAll, reference);
    // A query that nothing takes part in for yet must not see -inf - -inf.
    Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, larger,
                                         fill(rowType, none));
    Value finite =
        arith::SelectOp::create(b, isNone, fill(rowType, 0.0), larger);
    Value shrink =
        math::Exp2Op::create(b, arith::SubFOp::create(b, reference, finite));
    Value shrunkSum = arith::MulFOp::create(
        b, sum, BroadcastTileOp::create(b, partType, shrink, 0));
    Value shrunkOut = arith::MulFOp::create(b, out, spread(shrink, sumType));
    scf::YieldOp::create(b, ValueRange{larger, shrunkSum, shrunkOut});
    b.setInsertionPointToStart(rescale.elseBlock());
    scf::YieldOp::create(b, ValueRange{reference, sum, out});
  }
  reference = rescale.getResult(0), sum = rescale.getResult(1);
  out = rescale.getResult(2);
  Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, reference,
                                       fill(rowType, none));
  Value finite = arith::SelectOp::create(b, isNone, fill(rowType, 0.0),
                                         arith::NegFOp::create(b, reference));
  Value weights = math::Exp2Op::create(
      b, math::FmaOp::create(b, scores, fill(scoreType, factor),
                             spread(finite, scoreType)));
  Value operand = weights;
  if (!element.isF32()) {
    // A weight that is NaN makes the sum NaN, and so the result, whatever it
    // becomes here.
    auto rounded =
        arith::TruncFOp::create(b, scoreType.clone(element), weights);
    rounded.setFastmath(arith::FastMathFlags::nnan);
    operand = rounded;
    if (schedule.getRounding() == AttentionRounding::Truncate &&
        element.isBF16()) {
      rounded.setRoundingmode(arith::RoundingMode::toward_zero);
      // All weights are too small: so must be the sum that divides them.
      weights = arith::ExtFOp::create(b, scoreType, operand);
    }
  }
  sum = arith::AddFOp::create(b, sum, reduce(weights, partType, false));
  auto valueLayout = LayoutBuilder(context)
                         .registers(1, {1, 2, 4})
                         .lanes(0, {1, 2, 4, 8, 16})
                         .lanes(1, 8)
                         .waves(0, nowhere)
                         .get();
  Value valueTile = ReadTileOp::create(
      b, RankedTensorType::get({valueDim, keys}, element, valueLayout),
      valuesInLDS);
  out = DotOp::create(b, sumType, valueTile, operand, out);
  Value nextValues = isAhead ? state[3] : loadValues(next);
  valuesInLDS = StageTileOp::create(b, stagedValues, nextValues, valuesInLDS);
  SmallVector<Value> results{keysInLDS, valuesInLDS};
  if (isAhead)
    results.append({nextKeys, loadValues(afterNext)});
  results.append({reference, sum, out});
  return results;
}

void Kernel::buildBody(Value tile, Value head, Value batchIndex) {
  MLIRContext *context = op.getContext();
  batch = batchIndex;
  int64_t dim = op.getHeadDim(), valueDim = op.getValueHeadDim();
  int64_t heads = op.getNumQueryHeads(), groups = op.getNumKeyValueHeads();
  chooseTypes();
  SmallVector<int64_t> ofWaves;
  for (int64_t wave = 1; wave < schedule.getWaves(); wave *= 2)
    ofWaves.push_back(wave * kInstruction);
  auto qType = RankedTensorType::get({paddedDim, numQueriesOfTile},
                                     op.getInputElementType(),
                                     LayoutBuilder(context)
                                         .registers(0, {1, 2, 4})
                                         .lanes(1, {1, 2, 4, 8, 16})
                                         .lanes(0, 8)
                                         .waves(1, ofWaves)
                                         .get());

  Value zero = index(0);
  firstQuery = multiply(tile, index(numQueriesOfTile));
  if (op.isPacked())
    findSequence();
  Value group = arith::DivUIOp::create(b, head, index(heads / groups));
  qTile = LoadTileOp::create(
      b, qType, view(q, heads, dim, numQueries, head, firstQueryToken, true),
      ValueRange{zero, firstQuery}, kVector);
  keyView = view(k, groups, dim, numKeys, group, firstKeyToken, false);
  valueView = view(v, groups, valueDim, numKeys, group, firstKeyToken, true);
  scoreBuilder.type = scoreType;
  scoreBuilder.batch = batch, scoreBuilder.head = head;
  scoreBuilder.group = group, scoreBuilder.firstQuery = firstQuery;
  scoreBuilder.numQueries = numQueries, scoreBuilder.numKeys = numKeys;

  // The edges of j - i.
  auto shift = [&](DiagonalAlignment alignment) {
    return alignment == DiagonalAlignment::BottomRight
               ? subtract(numKeys, numQueries)
               : zero;
  };
  if (op.getCausal())
    highest = shift(*op.getCausal());
  if (op.getWindow()) {
    Value center = shift(op.getEffectiveWindowAlignment());
    if (int64_t right = op.getWindowRight(); right >= 0) {
      Value edge = add(center, index(std::min(right, kFarAway)));
      highest = highest ? smaller(highest, edge) : edge;
    }
    if (int64_t left = op.getWindowLeft(); left >= 0)
      lowest = subtract(center, index(std::min(left, kFarAway)));
  }

  // Tiles of keys that some query of this workgroup takes part with, from
  // `begin` to `end`; up to `whole` no pair is masked.
  Value keys = index(schedule.getKeys());
  auto roundDown = [&](Value x) {
    return multiply(arith::DivUIOp::create(b, x, keys), keys);
  };
  Value begin = zero, end = numKeys, whole = numKeys;
  if (highest) {
    Value pastLast =
        smaller(add(firstQuery, index(numQueriesOfTile)), numQueries);
    end = smaller(end, larger(zero, add(pastLast, highest)));
    whole =
        smaller(whole, larger(zero, add(add(firstQuery, index(1)), highest)));
  }
  whole = roundDown(whole);
  if (lowest) {
    begin = roundDown(larger(zero, add(firstQuery, lowest)));
    whole = begin; // the left edge may pass through any tile
  }
  if (op.isPacked()) {
    // The grid is made for the longest sequence there could be.
    Value isPast = arith::CmpIOp::create(b, arith::CmpIPredicate::sge,
                                         firstQuery, numQueries);
    end = arith::SelectOp::create(b, isPast, zero, end);
  }
  SmallVector<Value> state = buildStart(begin);
  auto loop = scf::ForOp::create(b, begin, end, keys, state);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(
        b, buildStep(loop.getInductionVar(), loop.getRegionIterArgs(), whole));
  }
  state = llvm::to_vector_of<Value>(loop.getResults());

  Value out = state.pop_back_val();
  Value sum = reduce(state.pop_back_val(), rowType, /*isMaximum=*/false);
  Value maximum = state.pop_back_val();
  Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum,
                                       fill(rowType, 0.0));
  Value inverse = arith::DivFOp::create(b, fill(rowType, 1.0), sum);
  inverse = arith::SelectOp::create(b, isNone, fill(rowType, 0.0), inverse);
  if (descaleV) {
    Value factor = tensor::SplatOp::create(
        b, scoreBuilder.loadDescale(descaleV, group), rowType);
    inverse = arith::MulFOp::create(b, inverse, factor);
  }
  out = arith::MulFOp::create(b, out, spread(inverse, sumType));
  Type element = cast<MemRefType>(o.getType()).getElementType();
  if (!element.isF32())
    out = arith::TruncFOp::create(b, sumType.clone(element), out);
  StoreTileOp::create(
      b, out, view(o, heads, valueDim, numQueries, head, firstQueryToken, true),
      ValueRange{zero, firstQuery}, kVector);
  if (!lse)
    return;
  // Where nothing took part the sum is 0 and its logarithm -inf.
  Value hasNone = arith::CmpFOp::create(
      b, arith::CmpFPredicate::OEQ, maximum,
      fill(rowType, -std::numeric_limits<double>::infinity()));
  maximum = arith::SelectOp::create(b, hasNone, fill(rowType, 0.0), maximum);
  Value logarithm =
      arith::AddFOp::create(b, maximum, math::Log2Op::create(b, sum));
  logarithm =
      arith::MulFOp::create(b, logarithm, fill(rowType, 0.6931471805599453));
  auto lseType = cast<MemRefType>(lse.getType());
  auto viewType = MemRefType::get(
      {ShapedType::kDynamic}, lseType.getElementType(),
      StridedLayoutAttr::get(context, ShapedType::kDynamic, {1}),
      lseType.getMemorySpace());
  Value offset =
      op.isPacked()
          ? add(multiply(head, numTokens), firstQueryToken)
          : multiply(add(multiply(batch, index(heads)), head), numQueries);
  Value row = memref::ReinterpretCastOp::create(
      b, viewType, lse, OpFoldResult(offset),
      ArrayRef<OpFoldResult>{numQueries},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  StoreTileOp::create(b, logarithm, row, ValueRange{firstQuery}, 1);
}

void Kernel::findSequence() {
  // One more than there are sequences: the queries that belong to nobody.
  Value isNobody =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, batch, numBatches);
  Value after = smaller(add(batch, index(1)), numBatches);
  auto load = [&](Value memory, Value at) -> Value {
    return arith::IndexCastOp::create(b, b.getIndexType(),
                                      memref::LoadOp::create(b, memory, at));
  };
  firstQueryToken = load(cumulativeQ, batch);
  firstKeyToken = load(cumulativeKv, batch);
  numTokens = numQueries;
  Value end =
      arith::SelectOp::create(b, isNobody, numTokens, load(cumulativeQ, after));
  numQueries = subtract(end, firstQueryToken);
  numKeys = subtract(load(cumulativeKv, after), firstKeyToken);
}

func::FuncOp Kernel::build(func::FuncOp function) {
  MLIRContext *context = op.getContext();
  auto memory = [&](Value tensor) -> Type {
    return MemRefType::get(
        {ShapedType::kDynamic},
        cast<RankedTensorType>(tensor.getType()).getElementType(),
        MemRefLayoutAttrInterface(),
        gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Global));
  };
  SmallVector<Type> types{memory(op.getQ()), memory(op.getK()),
                          memory(op.getV()), memory(op.getO())};
  SmallVector<std::string> names{"q", "k", "v", "o"};
  if (op.getLse()) {
    types.push_back(memory(op.getLse()));
    names.push_back("lse");
  }
  size_t firstOption = types.size();
  // What else there is, and, after the three sizes that are always there, the
  // sizes of it that are neither known nor one of those.
  struct Option {
    Value tensor;
    OperandMemory *memory;
    std::string name;
    SmallVector<unsigned> dynamic;
  };
  SmallVector<Option> options;
  OperandMemory ofQueries, ofKeys;
  for (auto [tensor, memory, name] :
       {std::tuple(op.getBias(), &scoreBuilder.bias, "bias"),
        std::tuple(op.getAlibi(), &scoreBuilder.alibi, "alibi"),
        std::tuple(op.getCumulativeQ(), &ofQueries, "cumulative_q"),
        std::tuple(op.getCumulativeKv(), &ofKeys, "cumulative_kv"),
        std::tuple(op.getDescaleQ(), &scoreBuilder.descaleQ, "descale_q"),
        std::tuple(op.getDescaleK(), &scoreBuilder.descaleK, "descale_k"),
        std::tuple(op.getDescaleV(), &descaleV, "descale_v")})
    if (tensor)
      options.push_back({tensor, memory, name, {}});
  scoreBuilder.captures.resize(op.getCaptures().size());
  for (auto [number, tensor] : llvm::enumerate(op.getCaptures())) {
    // Known to the caller by the name of the function's argument.
    auto argument = cast<BlockArgument>(tensor);
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      kNameAttrName);
    options.push_back({tensor,
                       &scoreBuilder.captures[number],
                       name ? name.str() : "capture" + std::to_string(number),
                       {}});
  }
  for (Option &option : options) {
    types.push_back(memory(option.tensor));
    names.push_back(option.name);
  }
  size_t firstSize = types.size();
  types.append(3, b.getIndexType());
  names.append({"batch", "queries", "keys"});
  for (Option &option : options) {
    // Of packed sequences and of what is captured nothing else says them.
    bool isCapture = llvm::is_contained(op.getCaptures(), option.tensor);
    if (!isCapture && option.tensor != op.getBias())
      continue;
    auto type = cast<RankedTensorType>(option.tensor.getType());
    for (unsigned d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d))
        continue;
      option.dynamic.push_back(types.size());
      types.push_back(b.getIndexType());
      names.push_back(option.name + "_size" + std::to_string(d));
    }
  }

  b.setInsertionPoint(function);
  auto kernel =
      func::FuncOp::create(b, function.getName(), b.getFunctionType(types, {}));
  for (auto [i, name] : llvm::enumerate(names))
    kernel.setArgAttr(i, kNameAttrName, b.getStringAttr(name));
  for (size_t i = 3; i < firstOption; ++i)
    kernel.setArgAttr(i, kOutputAttrName, b.getUnitAttr());
  if (int64_t waves = schedule.getWavesPerSimd())
    kernel->setAttr(ROCDL::ROCDLDialect::WavesPerEuAttrHelper::getNameStr(),
                    b.getI32IntegerAttr(waves));
  Block *entry = kernel.addEntryBlock();
  auto arguments = entry->getArguments();
  q = arguments[0], k = arguments[1], v = arguments[2], o = arguments[3];
  if (op.getLse())
    lse = arguments[4];
  numBatches = arguments[firstSize];
  numQueries = arguments[firstSize + 1];
  numKeys = arguments[firstSize + 2];
  b.setInsertionPointToStart(entry);
  AffineExpr queries = b.getAffineDimExpr(0), batches = b.getAffineDimExpr(1);
  if (op.isPacked())
    batches = batches + 1;
  AffineMap grid =
      AffineMap::get(2, 0,
                     {queries.ceilDiv(numQueriesOfTile),
                      b.getAffineConstantExpr(op.getNumQueryHeads()), batches},
                     context);
  auto workgroup = GridWorkgroupOp::create(
      b, grid, ValueRange{numQueries, numBatches}, schedule.getWaves());
  func::ReturnOp::create(b);
  Type indexType = b.getIndexType();
  Location loc = op.getLoc();
  Block *body =
      b.createBlock(&workgroup.getBody(), {}, {indexType, indexType, indexType},
                    {loc, loc, loc});
  for (auto [number, option] : llvm::enumerate(options)) {
    option.memory->memory = arguments[firstOption + number];
    auto type = cast<RankedTensorType>(option.tensor.getType());
    size_t next = 0;
    for (int64_t size : type.getShape())
      option.memory->sizes.push_back(!ShapedType::isDynamic(size) ? index(size)
                                     : option.dynamic.empty()
                                         ? Value()
                                         : arguments[option.dynamic[next++]]);
  }
  cumulativeQ = ofQueries.memory, cumulativeKv = ofKeys.memory;
  buildBody(body->getArgument(0), body->getArgument(1), body->getArgument(2));
  return kernel;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Refuses what a target cannot do, by name.
static LogicalResult checkSupported(AttentionOp op, const TargetInfo *target) {
  Type element = op.getInputElementType();
  if (!isa<Float8E4M3FNUZType>(element) || !target)
    return success();
  if (target->matrixF8FlopsPerClockPerCU == 0)
    return op.emitError("attention of ")
           << element << " is not supported on " << target->architecture
           << ", which has no matrix instruction for it";
  return success();
}

/// The schedules that are taken where an operation has none: the first row
/// that fits. Head dims are the larger one of q and v.
static AttentionScheduleAttr getDefaultSchedule(AttentionOp op) {
  struct Default {
    bool isF32;
    int64_t maxHeadDim;
    /// Also where scores take registers of their own: addresses, functions.
    bool takesOptions;
    int64_t waves, keys, wavesPerSIMD, prefetch;
  };
  // Target, length and mask change nothing yet: the first row is the best for
  // all that bench-attention lists. Four wavefronts of 32 queries; two
  // workgroups fit a CU, of which one computes products while the other one
  // computes weights. A wavefront has all registers where the result alone
  // takes half of them. Keys and values of one tile fit LDS.
  static constexpr Default defaults[] = {
      {false, 128, false, 4, 64, 2, 1}, {false, 128, true, 4, 32, 1, 0},
      {false, 256, true, 4, 64, 1, 0},  {true, 64, false, 4, 64, 2, 1},
      {true, 256, true, 4, 32, 1, 0},
  };
  int64_t dim = std::max(op.getHeadDim(), op.getValueHeadDim());
  bool isF32 = op.getInputElementType().isF32();
  bool hasOptions = op.getBias() || op.hasScoreRegion() || op.hasMaskRegion() ||
                    (isF32 && (op.getSoftcap() || op.getAlibi()));
  const Default *found = llvm::find_if(defaults, [&](const Default &row) {
    return row.isF32 == isF32 && dim <= row.maxHeadDim &&
           (!hasOptions || row.takesOptions);
  });
  // The largest weight of a row is 1, and so not rounded, if the maximum is
  // always the current one: a row that hangs on few keys needs that.
  Type element = op.getInputElementType();
  int64_t rescaleAbove = element.isBF16() || element.isF16() ? 0 : 8;
  return AttentionScheduleAttr::get(
      op.getContext(), /*version=*/1, found->waves, found->keys,
      found->wavesPerSIMD, found->prefetch, rescaleAbove,
      AttentionRounding::NearestEven, /*priority=*/0, /*dies=*/1);
}

/// Refuses a schedule that does not fit the operation or the target.
static LogicalResult checkSchedule(AttentionOp op,
                                   AttentionScheduleAttr schedule,
                                   const TargetInfo *target) {
  int64_t keys = schedule.getKeys(), waves = schedule.getWaves();
  int64_t dim = padHeadDim(op.getHeadDim(), schedule);
  int64_t valueDim = padHeadDim(op.getValueHeadDim(), schedule);
  int64_t bytes = op.getInputElementType().getIntOrFloatBitWidth() / 8;
  auto refuse = [&](const Twine &what) {
    return op.emitError("the schedule ") << schedule << " " << what.str();
  };
  if (schedule.getPriority() != 0)
    return refuse("sets a priority, which is not supported yet");
  if (schedule.getDies() != 1)
    return refuse("renumbers workgroups for dies, which is not supported yet");
  if (!target)
    return success();
  int64_t lds = keys * (dim + valueDim) * bytes;
  if (lds > int64_t(target->ldsBytes))
    return refuse("needs " + Twine(lds) + " bytes of LDS; " +
                  target->architecture + " has " + Twine(target->ldsBytes));
  // What lives through a step: the result, queries, scores, and what is loaded
  // ahead; operands, addresses and the like come on top.
  int64_t ahead = schedule.getPrefetch() * keys * (dim + valueDim) * bytes / 4 /
                  (64 * waves);
  int64_t registers = kInstruction * (valueDim + keys) / 64 +
                      kInstruction * dim * bytes / 4 / 64 + ahead;
  int64_t most =
      target->vgprsPerSIMD / std::max<int64_t>(1, schedule.getWavesPerSimd());
  if (registers > most)
    return refuse("needs more than " + Twine(registers) +
                  " registers; with waves_per_simd = " +
                  Twine(schedule.getWavesPerSimd()) + " " +
                  target->architecture + " has " + Twine(most));
  return success();
}

LogicalResult ConvertAttentionToWorkgroupPass::convert(func::FuncOp function,
                                                       AttentionOp op) {
  Block &entry = function.getBody().front();
  if (!function.getBody().hasOneBlock() || entry.getOperations().size() != 2 ||
      op->getBlock() != &entry ||
      !llvm::equal(entry.getTerminator()->getOperands(), op->getResults()))
    return function.emitError("expected one wavesmith.attention and the return "
                              "of its results, nothing else");
  if (!llvm::equal(op->getOperands(), function.getArguments()))
    return op.emitError("expected the function's arguments as operands, each "
                        "once and in order");
  FailureOr<const TargetInfo *> target = findTarget(op);
  if (failed(target) || failed(checkSupported(op, *target)))
    return failure();
  AttentionScheduleAttr schedule = op.getScheduleAttr();
  if (!schedule)
    schedule = getDefaultSchedule(op);
  FailureOr<const TargetInfo *> info = findTarget(op);
  if (failed(info) || failed(checkSchedule(op, schedule, *info)))
    return failure();
  Kernel(op, schedule).build(function);
  function.erase();
  return success();
}

void ConvertAttentionToWorkgroupPass::runOnOperation() {
  SmallVector<std::pair<func::FuncOp, AttentionOp>> functions;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    AttentionOp found;
    function.walk([&](AttentionOp op) { found = op; });
    if (found)
      functions.push_back({function, found});
  }
  for (auto [function, op] : functions)
    if (failed(convert(function, op)))
      return signalPassFailure();
}
