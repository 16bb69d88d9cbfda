//===- SimplifyTerms.cpp - Products that terms share ----------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/SharedZone.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;

namespace wavesmith {
#define GEN_PASS_DEF_SIMPLIFYTERMSPASS
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h.inc"
} // namespace wavesmith

using namespace wavesmith;

namespace {

/// An element of a tensor, or a scalar at 0; tensors are numbered in the order
/// in which they are met.
using Leaf = std::pair<unsigned, int32_t>;

/// An element as a product.
struct Monomial {
  double number = 1.0;
  /// What does not change in the loop.
  SmallVector<Leaf, 2> coefficients;
  /// What does: ascending.
  SmallVector<Leaf, 4> factors;
};

/// A sum of weighted products that can be written anew.
struct Sum {
  SegmentedReduceOp op;
  std::vector<Monomial> elements;
};

/// Sums of one block that share products.
class Simplifier {
public:
  Simplifier(Operation *loop) : loop(loop) {}

  /// Takes a reduction apart, if it is such a sum.
  bool add(SegmentedReduceOp op);
  void rewrite();

private:
  unsigned numberOf(Value value) {
    auto [entry, isNew] = numbers.try_emplace(value, values.size());
    if (isNew)
      values.push_back(value);
    return entry->second;
  }
  bool describe(Value tensor, int32_t element, Value staged, Monomial &result);
  bool describeScalar(Value scalar, Monomial &result);
  void buildProducts(OpBuilder &builder);
  void buildCoefficients(OpBuilder &builder);
  void rewrite(Sum &sum);

  Value table(OpBuilder &builder, Location loc, ArrayRef<int32_t> numbers) {
    auto type =
        RankedTensorType::get({int64_t(numbers.size())}, builder.getI32Type());
    return TableOp::create(builder, loc, type,
                           DenseElementsAttr::get(type, numbers));
  }
  Value gather(OpBuilder &builder, Location loc, Value source,
               ArrayRef<int32_t> at) {
    auto type =
        RankedTensorType::get({int64_t(at.size())}, builder.getF64Type());
    return GatherOp::create(builder, loc, type, source,
                            table(builder, loc, at));
  }

  Operation *loop;
  std::vector<Sum> sums;
  DenseMap<Value, unsigned> numbers;
  SmallVector<Value> values;
  /// Each product once, and where it stands in `products`.
  std::map<SmallVector<Leaf, 4>, int32_t> positions;
  Value products;
  /// Each coefficient once; 1.0 is the last.
  std::map<Leaf, int32_t> coefficientPositions;
  Value coefficients;
};

class SimplifyTermsPass
    : public wavesmith::impl::SimplifyTermsPassBase<SimplifyTermsPass> {
public:
  void runOnOperation() override;
};

} // namespace

bool Simplifier::describeScalar(Value scalar, Monomial &result) {
  FloatAttr number;
  if (matchPattern(scalar, m_Constant(&number))) {
    result.number *= number.getValueAsDouble();
    return true;
  }
  if (isBefore(scalar, loop)) {
    result.coefficients.push_back({numberOf(scalar), 0});
    return true;
  }
  if (auto product = scalar.getDefiningOp<arith::MulFOp>())
    return describeScalar(product.getLhs(), result) &&
           describeScalar(product.getRhs(), result);
  if (auto extract = scalar.getDefiningOp<tensor::ExtractOp>()) {
    APInt at;
    if (matchPattern(extract.getIndices()[0], m_ConstantInt(&at)))
      return describe(extract.getTensor(), int32_t(at.getZExtValue()), {},
                      result);
  }
  return false;
}

/// \param staged the tensor where it has been staged, if it has
bool Simplifier::describe(Value tensor, int32_t element, Value staged,
                          Monomial &result) {
  Operation *op = tensor.getDefiningOp();
  DenseElementsAttr numbers;
  if (matchPattern(tensor, m_Constant(&numbers))) {
    if (!numbers.getElementType().isF64())
      return false;
    result.number *= numbers.isSplat()
                         ? numbers.getSplatValue<double>()
                         : *(numbers.value_begin<double>() + element);
    return true;
  }
  if (isBefore(tensor, loop)) {
    auto stage = dyn_cast_or_null<StageOp>(op);
    if (!stage || stage.getSpace() == MemorySpace::Registers)
      return false;
    result.coefficients.push_back({numberOf(tensor), element});
    return true;
  }
  if (auto product = dyn_cast_or_null<arith::MulFOp>(op))
    return describe(product.getLhs(), element, {}, result) &&
           describe(product.getRhs(), element, {}, result);
  if (auto splat = dyn_cast_or_null<tensor::SplatOp>(op))
    return describeScalar(splat.getInput(), result);
  if (auto one = dyn_cast_or_null<tensor::FromElementsOp>(op))
    return describeScalar(one.getElements()[element], result);
  if (auto concat = dyn_cast_or_null<tensor::ConcatOp>(op)) {
    for (Value part : concat.getInputs()) {
      if (element < numElements(part))
        return describe(part, element, {}, result);
      element -= numElements(part);
    }
  }
  if (auto gather = dyn_cast_or_null<GatherOp>(op)) {
    auto at = gather.getIndices().getDefiningOp<TableOp>();
    if (!at)
      return false;
    auto list = cast<DenseElementsAttr>(at.getValue());
    return describe(
        gather.getSource(),
        int32_t((*(list.value_begin<APInt>() + element)).getZExtValue()), {},
        result);
  }
  if (auto stage = dyn_cast_or_null<StageOp>(op)) {
    if (stage.getSpace() == MemorySpace::Registers)
      return false;
    return describe(stage.getSource(), element, stage.getResult(), result);
  }
  // Any other number that the loop computes.
  if (!staged || staged.getParentBlock() != &loop->getRegions().back().front())
    return false;
  result.factors.push_back({numberOf(staged), element});
  return true;
}

bool Simplifier::add(SegmentedReduceOp op) {
  // Sums fma(value, weight, sum) from 0.
  Block &block = op.getAccumulate().front();
  if (op.getElements().size() != 2 || op.getInit().size() != 1 ||
      !matchPattern(op.getInit()[0], m_AnyZeroFloat()))
    return false;
  auto fma = block.getTerminator()->getOperand(0).getDefiningOp<math::FmaOp>();
  if (!fma || fma.getC() != block.getArgument(0) || fma.getA() == fma.getB() ||
      !isa<BlockArgument>(fma.getA()) || !isa<BlockArgument>(fma.getB()) ||
      fma.getA() == fma.getC() || fma.getB() == fma.getC())
    return false;
  Sum sum;
  sum.op = op;
  bool isProduct = false;
  for (int32_t e = 0; e < op.getSegments().back(); ++e) {
    Monomial &monomial = sum.elements.emplace_back();
    for (Value tensor : op.getElements())
      if (!describe(tensor, e, {}, monomial))
        return false;
    if (monomial.factors.empty())
      return false;
    llvm::sort(monomial.factors);
    llvm::sort(monomial.coefficients);
    isProduct |= monomial.factors.size() > 1 || !monomial.coefficients.empty();
  }
  if (!isProduct)
    return false;
  sums.push_back(std::move(sum));
  return true;
}

void Simplifier::buildProducts(OpBuilder &builder) {
  // By the tensors that the factors come from, so that one group is one tensor.
  std::map<SmallVector<unsigned, 4>, std::vector<SmallVector<Leaf, 4>>> groups;
  std::map<SmallVector<Leaf, 4>, bool> seen;
  for (Sum &sum : sums)
    for (Monomial &monomial : sum.elements)
      if (!std::exchange(seen[monomial.factors], true)) {
        SmallVector<unsigned, 4> key;
        for (Leaf leaf : monomial.factors)
          key.push_back(leaf.first);
        groups[key].push_back(monomial.factors);
      }
  Location loc = sums.front().op.getLoc();
  // Single numbers of one tensor need no copy.
  if (groups.size() == 1 && groups.begin()->first.size() == 1) {
    products = values[groups.begin()->first[0]];
    for (auto &[factors, isThere] : seen)
      positions[factors] = factors[0].second;
    return;
  }
  SmallVector<Value> parts;
  int32_t offset = 0;
  for (auto &[sources, members] : groups) {
    llvm::sort(members);
    Value product;
    for (auto [i, source] : llvm::enumerate(sources)) {
      SmallVector<int32_t> at;
      for (auto &member : members)
        at.push_back(member[i].second);
      Value factor = gather(builder, loc, values[source], at);
      product = product ? arith::MulFOp::create(builder, loc, product, factor)
                        : factor;
    }
    parts.push_back(product);
    for (auto &member : members)
      positions[member] = offset++;
  }
  Value all = parts.size() == 1
                  ? parts[0]
                  : tensor::ConcatOp::create(builder, loc, /*dim=*/0, parts);
  products =
      StageOp::create(builder, loc, all.getType(), all, MemorySpace::Global);
}

void Simplifier::buildCoefficients(OpBuilder &builder) {
  Location loc = sums.front().op.getLoc();
  llvm::MapVector<unsigned, int32_t> sources;
  for (Sum &sum : sums)
    for (Monomial &monomial : sum.elements)
      for (Leaf leaf : monomial.coefficients)
        sources[leaf.first] = 0;
  SmallVector<Value> parts;
  int32_t offset = 0;
  for (auto &[source, first] : sources) {
    first = offset;
    Value value = values[source];
    if (!isa<TensorType>(value.getType()))
      value = tensor::FromElementsOp::create(builder, loc, ValueRange{value});
    offset += numElements(value);
    parts.push_back(value);
  }
  Value one =
      arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(1.0));
  parts.push_back(
      tensor::FromElementsOp::create(builder, loc, ValueRange{one}));
  Value all = parts.size() == 1
                  ? parts[0]
                  : tensor::ConcatOp::create(builder, loc, /*dim=*/0, parts);
  coefficients =
      StageOp::create(builder, loc, all.getType(), all, MemorySpace::Global);
  for (Sum &sum : sums)
    for (Monomial &monomial : sum.elements)
      for (Leaf leaf : monomial.coefficients)
        coefficientPositions[leaf] = sources[leaf.first] + leaf.second;
  coefficientPositions[{~0u, 0}] = offset;
}

void Simplifier::rewrite(Sum &sum) {
  SegmentedReduceOp op = sum.op;
  Location loc = op.getLoc();
  ArrayRef<int32_t> segments = op.getSegments();
  // Elements of one segment with the same product are one, in the order of
  // their first.
  SmallVector<int32_t> newSegments = {0}, at, groupSegments = {0};
  SmallVector<const Monomial *> members;
  size_t mostCoefficients = 0;
  for (unsigned s = 0; s < op.getNumSegments(); ++s) {
    llvm::MapVector<int32_t, SmallVector<const Monomial *, 1>> groups;
    for (int32_t e = segments[s]; e < segments[s + 1]; ++e)
      groups[positions[sum.elements[e].factors]].push_back(&sum.elements[e]);
    for (auto &[position, group] : groups) {
      at.push_back(position);
      members.append(group.begin(), group.end());
      groupSegments.push_back(members.size());
    }
    newSegments.push_back(at.size());
  }
  for (const Monomial *member : members)
    mostCoefficients = std::max(mostCoefficients, member->coefficients.size());
  // The weights: before the loop.
  OpBuilder builder(loop);
  Type f64 = builder.getF64Type();
  auto type = RankedTensorType::get({int64_t(members.size())}, f64);
  Value weights;
  for (size_t i = 0; i < std::max<size_t>(1, mostCoefficients); ++i) {
    SmallVector<int32_t> from;
    for (const Monomial *member : members)
      from.push_back(coefficientPositions[i < member->coefficients.size()
                                              ? member->coefficients[i]
                                              : Leaf(~0u, 0)]);
    Value part = gather(builder, loc, coefficients, from);
    weights =
        weights ? arith::MulFOp::create(builder, loc, weights, part) : part;
  }
  SmallVector<double> numbers;
  for (const Monomial *member : members)
    numbers.push_back(member->number);
  auto dense = DenseElementsAttr::get(type, ArrayRef(numbers));
  Value factors = dense.isSplat()
                      ? Value(arith::ConstantOp::create(builder, loc, dense))
                      : Value(TableOp::create(builder, loc, type, dense));
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(0.0));
  auto newType = RankedTensorType::get({int64_t(at.size())}, f64);
  auto addRegions = [&](SegmentedReduceOp reduce) {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&reduce.getAccumulate(), {},
                                       {f64, f64, f64}, {loc, loc, loc});
    Value next =
        math::FmaOp::create(builder, loc, block->getArgument(1),
                            block->getArgument(2), block->getArgument(0));
    YieldOp::create(builder, loc, next);
    block =
        builder.createBlock(&reduce.getCombine(), {}, {f64, f64}, {loc, loc});
    next = arith::AddFOp::create(builder, loc, block->getArgument(0),
                                 block->getArgument(1));
    YieldOp::create(builder, loc, next);
  };
  if (at.size() == members.size()) {
    if (!dense.isSplat() || dense.getSplatValue<double>() != 1.0)
      weights = arith::MulFOp::create(builder, loc, weights, factors);
  } else {
    auto merged = SegmentedReduceOp::create(
        builder, loc, TypeRange{newType}, ValueRange{weights, factors},
        ValueRange{zero}, builder.getDenseI32ArrayAttr(groupSegments),
        DenseI32ArrayAttr(), UnitAttr());
    addRegions(merged);
    builder.setInsertionPointAfter(merged);
    weights = merged.getResult(0);
  }
  weights =
      StageOp::create(builder, loc, newType, weights, MemorySpace::Global);
  builder.setInsertionPoint(op);
  Value read = gather(builder, loc, products, at);
  auto reduce = SegmentedReduceOp::create(
      builder, loc, op.getResultTypes(), ValueRange{weights, read},
      op.getInit(), builder.getDenseI32ArrayAttr(newSegments),
      op.getLanesAttr(), op.getResidentAttr());
  addRegions(reduce);
  sayDone(op, "simplify-terms",
          llvm::Twine(members.size()) + " terms in " + llvm::Twine(at.size()) +
              " weighted products");
  op.replaceAllUsesWith(reduce.getResults());
  op.erase();
}

void Simplifier::rewrite() {
  if (sums.empty())
    return;
  OpBuilder before(loop), inside(sums.front().op);
  buildCoefficients(before);
  buildProducts(inside);
  for (Sum &sum : sums)
    rewrite(sum);
}

void SimplifyTermsPass::runOnOperation() {
  for (WorkgroupOp workgroup : sharedZones(getOperation())) {
    SmallVector<Operation *> loops;
    workgroup.walk([&](LoopLikeOpInterface loop) { loops.push_back(loop); });
    for (Operation *loop : loops) {
      Simplifier simplifier(loop);
      // Of the body itself: what they share must be there for all.
      Region &body = loop->getRegions().back();
      for (auto op : llvm::to_vector(body.front().getOps<SegmentedReduceOp>()))
        if (op.getNumSegments() > 1)
          (void)simplifier.add(op);
      simplifier.rewrite();
    }
    eraseUnused(workgroup);
  }
}
