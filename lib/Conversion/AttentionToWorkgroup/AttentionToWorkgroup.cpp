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

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Conversion/Passes.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
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
/// Elements left free behind each row in LDS, against bank conflicts.
static constexpr int64_t kPadding = 8;
/// Positions are 32-bit numbers; so far outside is any edge of a window.
static constexpr int64_t kFarAway = int64_t(1) << 30;

namespace {

/// How the work is shared out.
struct Schedule {
  int64_t waves;
  int64_t queries; ///< of a tile
  int64_t keys;    ///< of a tile
};

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

/// The kernel of one attention.
class Kernel {
public:
  Kernel(AttentionOp op, Schedule schedule)
      : op(op), schedule(schedule), b(op.getLoc(), op.getContext()) {}

  func::FuncOp build(func::FuncOp function);

private:
  void buildBody(Value tile, Value head, Value batch);
  /// What one tile of keys adds.
  SmallVector<Value> buildStep(Value firstKey, ValueRange state, bool isMasked);
  /// A tile of 16-bit or 32-bit elements, dim x position or the other way
  /// round, loaded by all wavefronts, rows along `dim` in a lane.
  LayoutAttr getLoadLayout(int64_t dim, int64_t positions, bool dimFirst,
                           int64_t positionsInLane);

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
             bool isTransposed);
  Value reduce(Value tile, RankedTensorType type, bool isMaximum);
  Value spread(Value row, RankedTensorType type) {
    return BroadcastTileOp::create(b, type, row, 0);
  }

  AttentionOp op;
  Schedule schedule;
  ImplicitLocOpBuilder b;
  Value q, k, v, o, lse, numBatches, numQueries, numKeys;
  Value batch, firstQuery;
  /// j - i lies between these, where there are such edges (index).
  Value lowest, highest;
  Value keyView, valueView, qTile;
  RankedTensorType scoreType, sumType, rowType;
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

LayoutAttr Kernel::getLoadLayout(int64_t dim, int64_t positions, bool dimFirst,
                                 int64_t positionsInLane) {
  int64_t ofDim = dimFirst ? 0 : 1;
  LayoutBuilder layout(op.getContext());
  int64_t d = 1, p = 1;
  for (; d < kVector; d *= 2)
    layout.registers(ofDim, d);
  for (; p < positionsInLane; p *= 2)
    layout.registers(1 - ofDim, p);
  // Lanes side by side take neighbours of what is contiguous in LDS: rows of
  // keys, columns of values, so that their stores meet few bank conflicts.
  auto next = [&]() -> std::pair<int64_t, int64_t> {
    bool takesDim = dimFirst ? p >= positions : d < dim;
    int64_t &step = takesDim ? d : p;
    std::pair<int64_t, int64_t> entry(takesDim ? ofDim : 1 - ofDim, step);
    step *= 2;
    return entry;
  };
  for (int64_t lane = 1; lane < 64; lane *= 2) {
    auto [dimension, step] = next();
    layout.lanes(dimension, step);
  }
  for (int64_t wave = 1; wave < schedule.waves; wave *= 2) {
    auto [dimension, step] = next();
    layout.waves(dimension, step);
  }
  return layout.get();
}

Value Kernel::view(Value memory, int64_t heads, int64_t dim, Value length,
                   Value head, bool isTransposed) {
  bool isBSHD = op.getLayout() == AttentionLayout::BSHD;
  int64_t positionStride = isBSHD ? heads * dim : dim;
  // b * heads * length * dim, and for the head dim or length * dim.
  Value sequence = multiply(length, index(dim));
  Value offset = multiply(batch, multiply(sequence, index(heads)));
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

SmallVector<Value> Kernel::buildStep(Value firstKey, ValueRange state,
                                     bool isMasked) {
  MLIRContext *context = op.getContext();
  Value maximum = state[0], sum = state[1], out = state[2];
  int64_t dim = op.getHeadDim(), valueDim = op.getValueHeadDim();
  int64_t keys = schedule.keys;
  Type element = op.getInputElementType();
  auto tile = [&](ArrayRef<int64_t> shape, Attribute layout) {
    return RankedTensorType::get(shape, element, layout);
  };
  SmallVector<int64_t> nowhere(llvm::Log2_64(schedule.waves), 0);

  // Keys and values come in rows along the head dim. Keys are read back that
  // way; values with keys side by side, as the second product takes them.
  Value zero = index(0);
  auto keyLoad = tile({keys, dim}, getLoadLayout(dim, keys, false, 1));
  Value loadedKeys = LoadTileOp::create(b, keyLoad, keyView,
                                        ValueRange{firstKey, zero}, kVector);
  int64_t inLane =
      std::max<int64_t>(1, keys * valueDim / (64 * schedule.waves * kVector));
  auto valueLoad =
      tile({valueDim, keys}, getLoadLayout(valueDim, keys, true, inLane));
  Value loadedValues = LoadTileOp::create(b, valueLoad, valueView,
                                          ValueRange{zero, firstKey}, kVector);
  auto rows = LdsLayoutAttr::get(context, 1, kPadding);
  Value stagedKeys =
      StageTileOp::create(b, tile({keys, dim}, rows), loadedKeys);
  Value stagedValues =
      StageTileOp::create(b, tile({valueDim, keys}, rows), loadedValues);

  auto keyLayout = LayoutBuilder(context)
                       .registers(1, {1, 2, 4})
                       .lanes(0, {1, 2, 8, 4, 16})
                       .lanes(1, 8)
                       .waves(0, nowhere)
                       .get();
  Value keyTile =
      ReadTileOp::create(b, tile({keys, dim}, keyLayout), stagedKeys);
  Value scores =
      DotOp::create(b, scoreType, keyTile, qTile, fill(scoreType, 0.0));
  // In base 2 from here on.
  Value scaled = arith::MulFOp::create(
      b, scores,
      fill(scoreType, op.getScale().convertToDouble() * 1.4426950408889634));

  if (isMasked) {
    auto integers = scoreType.clone(b.getI32Type());
    auto asTile = [&](Value limit) -> Value {
      Value bounded = smaller(larger(limit, index(-kFarAway)), index(kFarAway));
      return tensor::SplatOp::create(
          b, arith::IndexCastOp::create(b, b.getI32Type(), bounded), integers);
    };
    Value key = TilePositionOp::create(b, integers, 0);
    Value isValid = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, key,
                                          asTile(subtract(numKeys, firstKey)));
    Value query = TilePositionOp::create(b, integers, 1);
    Value difference = subtract(key, query);
    Value distance = subtract(firstKey, firstQuery);
    auto require = [&](arith::CmpIPredicate predicate, Value edge) {
      Value holds = arith::CmpIOp::create(b, predicate, difference,
                                          asTile(subtract(edge, distance)));
      isValid = arith::AndIOp::create(b, isValid, holds);
    };
    if (highest)
      require(arith::CmpIPredicate::sle, highest);
    if (lowest)
      require(arith::CmpIPredicate::sge, lowest);
    scaled = arith::SelectOp::create(
        b, isValid, scaled,
        fill(scoreType, -std::numeric_limits<double>::infinity()));
  }

  Value next = arith::MaxNumFOp::create(
      b, maximum, reduce(scaled, rowType, /*isMaximum=*/true));
  // A query that nothing takes part in for yet must not see -inf - -inf.
  Value isNone = arith::CmpFOp::create(
      b, arith::CmpFPredicate::OEQ, next,
      fill(rowType, -std::numeric_limits<double>::infinity()));
  Value reference =
      arith::SelectOp::create(b, isNone, fill(rowType, 0.0), next);
  Value shrink =
      math::Exp2Op::create(b, arith::SubFOp::create(b, maximum, reference));
  Value weights = math::Exp2Op::create(
      b, arith::SubFOp::create(b, scaled, spread(reference, scoreType)));
  sum = arith::AddFOp::create(b, arith::MulFOp::create(b, sum, shrink),
                              reduce(weights, rowType, /*isMaximum=*/false));
  out = arith::MulFOp::create(b, out, spread(shrink, sumType));
  Value operand = weights;
  if (!element.isF32())
    operand = arith::TruncFOp::create(b, scoreType.clone(element), weights);
  auto valueLayout = LayoutBuilder(context)
                         .registers(1, {1, 2, 4})
                         .lanes(0, {1, 2, 4, 8, 16})
                         .lanes(1, 8)
                         .waves(0, nowhere)
                         .get();
  Value valueTile =
      ReadTileOp::create(b, tile({valueDim, keys}, valueLayout), stagedValues);
  out = DotOp::create(b, sumType, valueTile, operand, out);
  return {next, sum, out};
}

void Kernel::buildBody(Value tile, Value head, Value batchIndex) {
  MLIRContext *context = op.getContext();
  batch = batchIndex;
  int64_t dim = op.getHeadDim(), valueDim = op.getValueHeadDim();
  int64_t heads = op.getNumQueryHeads(), groups = op.getNumKeyValueHeads();
  SmallVector<int64_t> ofWaves;
  for (int64_t wave = 1; wave < schedule.waves; wave *= 2)
    ofWaves.push_back(wave * kInstruction);
  auto columns = [&](LayoutBuilder layout) {
    return layout.waves(1, ofWaves).get();
  };
  // A lane holds eight keys side by side, in two halves of four registers.
  scoreType =
      RankedTensorType::get({schedule.keys, schedule.queries}, b.getF32Type(),
                            columns(LayoutBuilder(context)
                                        .registers(0, {1, 2, 4, 16})
                                        .lanes(1, {1, 2, 4, 8, 16})
                                        .lanes(0, 8)));
  sumType = RankedTensorType::get({valueDim, schedule.queries}, b.getF32Type(),
                                  columns(LayoutBuilder(context)
                                              .registers(0, {1, 2, 8, 16})
                                              .lanes(1, {1, 2, 4, 8, 16})
                                              .lanes(0, 4)));
  rowType = RankedTensorType::get(
      {schedule.queries}, b.getF32Type(),
      cast<LayoutAttr>(scoreType.getEncoding()).withoutDimension(0));
  auto qType =
      RankedTensorType::get({dim, schedule.queries}, op.getInputElementType(),
                            columns(LayoutBuilder(context)
                                        .registers(0, {1, 2, 4})
                                        .lanes(1, {1, 2, 4, 8, 16})
                                        .lanes(0, 8)));

  Value zero = index(0);
  firstQuery = multiply(tile, index(schedule.queries));
  Value group = arith::DivUIOp::create(b, head, index(heads / groups));
  qTile =
      LoadTileOp::create(b, qType, view(q, heads, dim, numQueries, head, true),
                         ValueRange{zero, firstQuery}, kVector);
  keyView = view(k, groups, dim, numKeys, group, false);
  valueView = view(v, groups, valueDim, numKeys, group, true);

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
  Value keys = index(schedule.keys);
  auto roundDown = [&](Value x) {
    return multiply(arith::DivUIOp::create(b, x, keys), keys);
  };
  Value begin = zero, end = numKeys, whole = numKeys;
  if (highest) {
    Value pastLast =
        smaller(add(firstQuery, index(schedule.queries)), numQueries);
    end = smaller(end, larger(zero, add(pastLast, highest)));
    whole =
        smaller(whole, larger(zero, add(add(firstQuery, index(1)), highest)));
  }
  whole = roundDown(whole);
  if (lowest) {
    begin = roundDown(larger(zero, add(firstQuery, lowest)));
    whole = begin; // the left edge may pass through any tile
  }
  SmallVector<Value> state{
      fill(rowType, -std::numeric_limits<double>::infinity()),
      fill(rowType, 0.0), fill(sumType, 0.0)};
  auto loop = [&](Value from, Value to, bool isMasked) {
    auto loop = scf::ForOp::create(b, from, to, keys, state);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, buildStep(loop.getInductionVar(),
                                      loop.getRegionIterArgs(), isMasked));
    state = llvm::to_vector_of<Value>(loop.getResults());
  };
  if (!lowest)
    loop(begin, whole, /*isMasked=*/false);
  loop(whole, end, /*isMasked=*/true);

  Value maximum = state[0], sum = state[1], out = state[2];
  Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum,
                                       fill(rowType, 0.0));
  Value inverse = arith::DivFOp::create(b, fill(rowType, 1.0), sum);
  inverse = arith::SelectOp::create(b, isNone, fill(rowType, 0.0), inverse);
  out = arith::MulFOp::create(b, out, spread(inverse, sumType));
  Type element = cast<MemRefType>(o.getType()).getElementType();
  if (!element.isF32())
    out = arith::TruncFOp::create(b, sumType.clone(element), out);
  StoreTileOp::create(b, out, view(o, heads, valueDim, numQueries, head, true),
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
  Value offset = multiply(add(multiply(batch, index(heads)), head), numQueries);
  Value row = memref::ReinterpretCastOp::create(
      b, viewType, lse, OpFoldResult(offset),
      ArrayRef<OpFoldResult>{numQueries},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  StoreTileOp::create(b, logarithm, row, ValueRange{firstQuery}, 1);
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
  SmallVector<StringRef> names{"q", "k", "v", "o"};
  if (op.getLse()) {
    types.push_back(memory(op.getLse()));
    names.push_back("lse");
  }
  size_t firstSize = types.size();
  types.append(3, b.getIndexType());
  names.append({"batch", "queries", "keys"});

  b.setInsertionPoint(function);
  auto kernel =
      func::FuncOp::create(b, function.getName(), b.getFunctionType(types, {}));
  for (auto [i, name] : llvm::enumerate(names))
    kernel.setArgAttr(i, kNameAttrName, b.getStringAttr(name));
  for (size_t i = 3; i < firstSize; ++i)
    kernel.setArgAttr(i, kOutputAttrName, b.getUnitAttr());
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
  AffineMap grid =
      AffineMap::get(2, 0,
                     {queries.ceilDiv(schedule.queries),
                      b.getAffineConstantExpr(op.getNumQueryHeads()), batches},
                     context);
  auto workgroup = GridWorkgroupOp::create(
      b, grid, ValueRange{numQueries, numBatches}, schedule.waves);
  func::ReturnOp::create(b);
  Type indexType = b.getIndexType();
  Location loc = op.getLoc();
  Block *body =
      b.createBlock(&workgroup.getBody(), {}, {indexType, indexType, indexType},
                    {loc, loc, loc});
  buildBody(body->getArgument(0), body->getArgument(1), body->getArgument(2));
  return kernel;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Refuses what this conversion does not do yet, by name.
static LogicalResult checkSupported(AttentionOp op, StringRef target) {
  auto refuse = [&](const Twine &what) {
    return op.emitError(what) << " is not supported on " << target << " yet";
  };
  if (op.isPacked())
    return refuse("attention with layout thd");
  if (op.getSoftcap())
    return refuse("attention with softcap");
  if (op.getBias())
    return refuse("attention with bias");
  if (op.getAlibi())
    return refuse("attention with alibi");
  if (op.getDescaleQ() || op.getDescaleK() || op.getDescaleV())
    return refuse("attention with descale");
  if (op.hasScoreRegion())
    return refuse("attention with a score region");
  if (op.hasMaskRegion())
    return refuse("attention with a mask region");
  Type element = op.getInputElementType();
  if (!isa<Float16Type, BFloat16Type, Float32Type>(element)) {
    std::string text;
    llvm::raw_string_ostream(text) << element;
    return refuse("attention of " + text);
  }
  for (auto [dim, name] :
       {std::pair(op.getHeadDim(), "head dim "),
        std::pair(op.getValueHeadDim(), "head dim of v of ")})
    if (dim != 64 && dim != 128)
      return refuse("attention with " + Twine(name) + Twine(dim));
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
  auto target = getOperation()->getAttrOfType<TargetAttr>(kTargetAttrName);
  if (failed(checkSupported(op, target ? target.getArchitecture()
                                       : StringRef("any target"))))
    return failure();
  // Four wavefronts of 32 queries each; as many keys as leave room in LDS for
  // three workgroups.
  int64_t dim = std::max(op.getHeadDim(), op.getValueHeadDim());
  Schedule schedule{/*waves=*/4, /*queries=*/4 * kInstruction,
                    /*keys=*/dim <= 64 ? 64 : 32};
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
