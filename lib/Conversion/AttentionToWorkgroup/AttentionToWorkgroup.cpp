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
#include "wavesmith/Dialect/Wavesmith/Transforms/AttentionSchedule.h"
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
/// So many numbers of a query and a key one sum in f32 may take.
static constexpr int64_t kLongestSum = 64;

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
  /// What a workgroup computes.
  struct Place {
    Value tile, head, batch;
  };
  /// What the workgroup at a place of the grid computes, in the order in which
  /// a device should begin them. The grid stays what it is.
  Place renumber(Place place);
  void buildBody(Value tile, Value head, Value batch);
  /// What the loop over the tiles of keys carries. It is one tile ahead with
  /// the products of keys and queries, so that matrix instructions for one tile
  /// stand beside the exponents of the one before: `keys` are those of the tile
  /// behind that of `exponents`, `values` those of its own.
  struct State {
    /// In LDS.
    Value keys, values;
    /// The keys that go there next, in registers; null without a prefetch.
    Value nextKeys;
    /// Exponents of this tile's weights in base 2, and the maximum that they
    /// are relative to, this tile included.
    Value exponents, maximum;
    /// What each lane has summed of the tiles before, and the result of them.
    Value sum, out;

    SmallVector<Value> getValues() const {
      SmallVector<Value> all{keys, values, exponents, maximum, sum, out};
      if (nextKeys)
        all.push_back(nextKeys);
      return all;
    }
    static State take(ValueRange all) {
      State state{all[0], all[1], {}, all[2], all[3], all[4], all[5]};
      if (all.size() > 6)
        state.nextKeys = all[6];
      return state;
    }
  };
  /// All tiles from `begin` to `end`, which are not empty; tiles that begin
  /// before `whole` have no pair that is masked. Gives the maximum, the sums
  /// and the result.
  SmallVector<Value> buildTiles(Value begin, Value end, Value whole);
  State buildStart(Value begin, Value whole);
  /// Adds the tile whose exponents are there, and computes the next one's.
  State buildStep(Value firstKey, State state, Value whole);
  /// The left operand of a product, from LDS: every wavefront reads all of it.
  /// Bit i of a lane's number adds \p rowsOfLanes[i] to its row.
  Value readOperand(Value inLDS, int64_t rows, int64_t columns,
                    ArrayRef<int64_t> rowsOfLanes);
  /// Products of the keys in LDS with the queries.
  Value buildProducts(Value keysInLDS);
  /// Adds weights to the sums and weighted values to the result.
  void addWeighted(State &state);
  /// From products to exponents; scales what was summed where the maximum
  /// grows.
  void buildExponents(State &state, Value products, Value firstKey,
                      Value whole);
  Value loadKeys(Value firstKey) {
    return LoadTileOp::create(b, keyLoad, keyView,
                              ValueRange{firstKey, index(0)}, kVector);
  }
  Value loadValues(Value firstKey) {
    return LoadTileOp::create(b, valueLoad, valueView,
                              ValueRange{index(0), firstKey}, kVector);
  }
  /// What scores are to be multiplied by for base 2.
  double scoreFactor();
  /// All that is done to the products of keys and queries but masking.
  Value applyScore(Value products, Value firstKey);
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
  /// Of this wavefront among those of its SIMD, if the schedule sets one.
  void setPriority(int64_t priority) {
    if (schedule.getPriority() != 0)
      ROCDL::SetPrioOp::create(b, priority);
  }
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

/// What turns a score region's result, or else a product, into an exponent
/// of 2.
static double getExponentFactor(AttentionOp op, bool hasScores) {
  constexpr double log2OfE = 1.4426950408889634;
  return hasScores ? log2OfE : log2OfE * op.getScale().convertToDouble();
}

double Kernel::scoreFactor() {
  // A positive factor leaves the order alone: it can wait for the exponent,
  // where it is part of a fused multiply-add. The largest weight of a row is
  // then 1 but for the rounding of the maximum, which shows in f32 alone.
  double factor = getExponentFactor(op, scoreBuilder.isNeeded());
  return factor > 0 && !op.getInputElementType().isF32() ? factor : 1.0;
}

Value Kernel::applyScore(Value products, Value firstKey) {
  double factor = getExponentFactor(op, scoreBuilder.isNeeded());
  if (scoreBuilder.isNeeded())
    products = scoreBuilder.apply(products, firstKey);
  if (scoreFactor() == factor)
    return products;
  return arith::MulFOp::create(b, products, fill(scoreType, factor));
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

Value Kernel::readOperand(Value inLDS, int64_t rows, int64_t columns,
                          ArrayRef<int64_t> rowsOfLanes) {
  SmallVector<int64_t> nowhere(llvm::Log2_64(schedule.getWaves()), 0);
  auto layout = LayoutBuilder(op.getContext())
                    .registers(1, {1, 2, 4})
                    .lanes(0, rowsOfLanes)
                    .lanes(1, 8)
                    .waves(0, nowhere)
                    .get();
  auto type =
      RankedTensorType::get({rows, columns}, op.getInputElementType(), layout);
  return ReadTileOp::create(b, type, inLDS);
}

Value Kernel::buildProducts(Value keysInLDS) {
  auto products = DotOp::create(
      b, scoreType,
      readOperand(keysInLDS, schedule.getKeys(), paddedDim, {1, 2, 8, 4, 16}),
      qTile, fill(scoreType, 0.0));
  // An eager product in f32 sums a row in parts, too: one long sum would have
  // more than twice its error. Inputs of fewer bits hide it.
  if (op.getInputElementType().isF32()) {
    int64_t sums = 1;
    while (paddedDim > sums * kLongestSum &&
           products.getNumInstructions() % (2 * sums) == 0)
      sums *= 2;
    products.setPartialSums(sums);
  }
  return products;
}

void Kernel::buildExponents(State &state, Value products, Value firstKey,
                            Value whole) {
  double none = -std::numeric_limits<double>::infinity();
  Value scores = applyScore(products, firstKey);
  // Without a mask this fills the time of products.
  Value ofLane = reduce(scores, partType, true);
  setPriority(0);
  auto mask = scf::IfOp::create(
      b, TypeRange{scoreType, partType},
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, firstKey, whole)
          .getResult(),
      /*addThenBlock=*/true, /*addElseBlock=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(mask.thenBlock());
    Value masked = applyMask(scores, firstKey);
    scf::YieldOp::create(b, ValueRange{masked, reduce(masked, partType, true)});
    b.setInsertionPointToStart(mask.elseBlock());
    scf::YieldOp::create(b, ValueRange{scores, ofLane});
  }
  scores = mask.getResult(0), ofLane = mask.getResult(1);

  // The maximum that exponents are relative to is replaced where it has grown
  // by so much that what is relative to it could become too large.
  int64_t rescaleAbove = schedule.getRescaleAbove();
  if (isa<Float8E4M3FNUZType>(op.getInputElementType()))
    rescaleAbove = std::min(rescaleAbove, kLog2LargestWeightF8);
  Value largest =
      arith::MulFOp::create(b, ofLane, fill(partType, scoreFactor()));
  auto limit = [&](RankedTensorType type) -> Value {
    Value old = state.maximum;
    if (type != rowType)
      old = BroadcastTileOp::create(b, type, old, 0);
    return arith::AddFOp::create(b, old, fill(type, rescaleAbove));
  };
  Value grows = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, largest,
                                      limit(partType));
  auto rescale = scf::IfOp::create(b, TypeRange{rowType, partType, sumType},
                                   AnyTileOp::create(b, b.getI1Type(), grows),
                                   /*addThenBlock=*/true,
                                   /*addElseBlock=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(rescale.thenBlock());
    Value ofAll = reduce(largest, rowType, true);
    Value isLarger = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, ofAll,
                                           limit(rowType));
    Value larger = arith::SelectOp::create(b, isLarger, ofAll, state.maximum);
    // A query that nothing takes part in for yet must not see -inf - -inf.
    Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, larger,
                                         fill(rowType, none));
    Value finite =
        arith::SelectOp::create(b, isNone, fill(rowType, 0.0), larger);
    Value shrink = math::Exp2Op::create(
        b, arith::SubFOp::create(b, state.maximum, finite));
    Value shrunkSum = arith::MulFOp::create(
        b, state.sum, BroadcastTileOp::create(b, partType, shrink, 0));
    Value shrunkOut =
        arith::MulFOp::create(b, state.out, spread(shrink, sumType));
    scf::YieldOp::create(b, ValueRange{larger, shrunkSum, shrunkOut});
    b.setInsertionPointToStart(rescale.elseBlock());
    scf::YieldOp::create(b, ValueRange{state.maximum, state.sum, state.out});
  }
  state.maximum = rescale.getResult(0), state.sum = rescale.getResult(1);
  state.out = rescale.getResult(2);
  Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                                       state.maximum, fill(rowType, none));
  Value finite = arith::SelectOp::create(
      b, isNone, fill(rowType, 0.0), arith::NegFOp::create(b, state.maximum));
  // Computed here, it fills the registers that the loop carries.
  state.exponents = math::FmaOp::create(
      b, scores, fill(scoreType, scoreFactor()), spread(finite, scoreType));
}

void Kernel::addWeighted(State &state) {
  Type element = op.getInputElementType();
  Value weights = math::Exp2Op::create(b, state.exponents);
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
  state.sum =
      arith::AddFOp::create(b, state.sum, reduce(weights, partType, false));
  state.out = DotOp::create(b, sumType,
                            readOperand(state.values, paddedValueDim,
                                        schedule.getKeys(), {1, 2, 4, 8, 16}),
                            operand, state.out);
}

Kernel::State Kernel::buildStart(Value begin, Value whole) {
  State state;
  state.keys = StageTileOp::create(b, stagedKeys, loadKeys(begin), Value());
  state.values =
      StageTileOp::create(b, stagedValues, loadValues(begin), Value());
  Value keys = index(schedule.getKeys());
  Value next = add(begin, keys);
  Value nextKeys = loadKeys(next);
  Value products = buildProducts(state.keys);
  state.keys = StageTileOp::create(b, stagedKeys, nextKeys, state.keys);
  if (schedule.getPrefetch())
    state.nextKeys = loadKeys(add(next, keys));
  state.maximum = fill(rowType, -std::numeric_limits<double>::infinity());
  state.sum = fill(partType, 0.0);
  state.out = fill(sumType, 0.0);
  buildExponents(state, products, begin, whole);
  return state;
}

Kernel::State Kernel::buildStep(Value firstKey, State state, Value whole) {
  bool isAhead = schedule.getPrefetch();
  Value keys = index(schedule.getKeys());
  Value next = add(firstKey, keys), third = add(next, keys);
  setPriority(schedule.getPriority());
  Value products = buildProducts(state.keys);
  // Keys go to LDS as soon as nobody reads those there any more, and so do
  // values. With a prefetch these are loaded then, and those after them, into
  // the same registers: each is on its way for half a step.
  state.keys = StageTileOp::create(
      b, stagedKeys, isAhead ? state.nextKeys : loadKeys(third), state.keys);
  Value nextValues = isAhead ? loadValues(next) : Value();
  addWeighted(state);
  if (!isAhead)
    nextValues = loadValues(next);
  state.values = StageTileOp::create(b, stagedValues, nextValues, state.values);
  if (isAhead)
    state.nextKeys = loadKeys(add(third, keys));
  buildExponents(state, products, next, whole);
  return state;
}

SmallVector<Value> Kernel::buildTiles(Value begin, Value end, Value whole) {
  Value keys = index(schedule.getKeys());
  State state = buildStart(begin, whole);
  auto loop = scf::ForOp::create(b, begin, subtract(end, keys), keys,
                                 state.getValues());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    State next = buildStep(loop.getInductionVar(),
                           State::take(loop.getRegionIterArgs()), whole);
    scf::YieldOp::create(b, next.getValues());
  }
  state = State::take(loop.getResults());
  addWeighted(state);
  return {state.maximum, state.sum, state.out};
}

Kernel::Place Kernel::renumber(Place place) {
  auto divide = [&](Value x, Value y) -> Value {
    return arith::DivUIOp::create(b, x, y);
  };
  auto remainder = [&](Value x, Value y) -> Value {
    return arith::RemUIOp::create(b, x, y);
  };
  // bench-attention weighs workgroups by this order.
  constexpr int64_t kGroupsInTurn = 4;
  // The last queries see the most keys.
  bool lastFirst = op.getCausal() && op.getWindowLeft() < 0;
  if (schedule.getDies() == 1 && !lastFirst)
    return place;
  Value tiles =
      arith::CeilDivUIOp::create(b, numQueries, index(numQueriesOfTile));
  if (schedule.getDies() > 1) {
    // A group has the heads that share keys and values. Each goes to one die;
    // those that are left in the end are shared by all. Tiles of several groups
    // take turns if they differ: at the end there are short ones for all CUs.
    Value dies = index(schedule.getDies());
    Value turns = index(lastFirst ? kGroupsInTurn : 1);
    Value groups = index(op.getNumKeyValueHeads());
    Value ratio = index(op.getNumQueryHeads() / op.getNumKeyValueHeads());
    Value ofGroup = multiply(ratio, tiles);
    // The grid has a batch more for tokens behind the last packed sequence.
    Value batches = op.isPacked() ? add(numBatches, index(1)) : numBatches;
    Value allGroups = multiply(batches, groups);
    Value ofRound = multiply(dies, turns);
    Value left = remainder(allGroups, ofRound);
    Value whole = subtract(allGroups, left);
    Value number = add(
        place.tile,
        multiply(tiles, add(place.head, multiply(index(op.getNumQueryHeads()),
                                                 place.batch))));
    Value numWhole = multiply(whole, ofGroup);
    Value isWhole =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, numWhole);
    Value ofDie = divide(number, dies), ofTurns = multiply(turns, ofGroup);
    Value inRound = remainder(ofDie, ofTurns);
    Value groupOfDie =
        add(multiply(divide(ofDie, ofTurns), turns), remainder(inRound, turns));
    // Not 0 where it divides.
    Value leftOrOne = arith::MaxUIOp::create(b, left, index(1));
    Value numberOfLeft = subtract(number, numWhole);
    Value group = arith::SelectOp::create(
        b, isWhole, add(multiply(groupOfDie, dies), remainder(number, dies)),
        add(whole, remainder(numberOfLeft, leftOrOne)));
    Value inGroup = arith::SelectOp::create(b, isWhole, divide(inRound, turns),
                                            divide(numberOfLeft, leftOrOne));
    place = {divide(inGroup, ratio),
             add(multiply(remainder(group, groups), ratio),
                 remainder(inGroup, ratio)),
             divide(group, groups)};
  }
  if (lastFirst)
    place.tile = subtract(subtract(tiles, index(1)), place.tile);
  return place;
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
  // Without any tile there may be nothing to read.
  auto tiles = scf::IfOp::create(
      b, TypeRange{rowType, partType, sumType},
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, begin, end)
          .getResult(),
      /*addThenBlock=*/true, /*addElseBlock=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(tiles.thenBlock());
    scf::YieldOp::create(b, buildTiles(begin, end, whole));
    b.setInsertionPointToStart(tiles.elseBlock());
    scf::YieldOp::create(
        b, ValueRange{fill(rowType, -std::numeric_limits<double>::infinity()),
                      fill(partType, 0.0), fill(sumType, 0.0)});
  }
  Value maximum = tiles.getResult(0), out = tiles.getResult(2);
  Value sum = reduce(tiles.getResult(1), rowType, /*isMaximum=*/false);
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
  auto [tile, head, batchIndex] = renumber(
      {body->getArgument(0), body->getArgument(1), body->getArgument(2)});
  buildBody(tile, head, batchIndex);
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
    schedule = getDefaultAttentionSchedule(op, *target);
  if (failed(checkSchedule(op, schedule, *target)))
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
