//===- CombineDivisions.cpp - One division in place of two ----------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/Pass.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/SharedZone.h"

using namespace mlir;

namespace wavesmith {
#define GEN_PASS_DEF_COMBINEDIVISIONSPASS
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h.inc"
} // namespace wavesmith

using namespace wavesmith;

namespace {
class CombineDivisionsPass
    : public wavesmith::impl::CombineDivisionsPassBase<CombineDivisionsPass> {
public:
  void runOnOperation() override;
};
} // namespace

/// Whether a value is this number, in all its elements.
static bool isNumber(Value value, double number) {
  FloatAttr attribute;
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    value = splat.getInput();
  DenseElementsAttr dense;
  if (matchPattern(value, m_Constant(&dense)))
    return dense.isSplat() && isa<FloatType>(dense.getElementType()) &&
           dense.getSplatValue<APFloat>().isExactlyValue(number);
  return matchPattern(value, m_Constant(&attribute)) &&
         attribute.getValue().isExactlyValue(number);
}

/// What is left of q = a / y when no division is: 1 + q below a line, and
/// whether q is above 1.
struct Uses {
  SmallVector<arith::DivFOp> belowLine;
  SmallVector<arith::CmpFOp> aboveOne;
};

static std::optional<Uses> findUses(arith::DivFOp quotient) {
  Uses uses;
  for (Operation *user : quotient->getUsers()) {
    if (auto sum = dyn_cast<arith::AddFOp>(user)) {
      Value other =
          sum.getLhs() == quotient.getResult() ? sum.getRhs() : sum.getLhs();
      if (!isNumber(other, 1.0))
        return std::nullopt;
      for (Operation *reader : sum->getUsers()) {
        auto division = dyn_cast<arith::DivFOp>(reader);
        if (!division || division.getRhs() != sum.getResult() ||
            division.getLhs() == sum.getResult())
          return std::nullopt;
        uses.belowLine.push_back(division);
      }
      continue;
    }
    auto compare = dyn_cast<arith::CmpFOp>(user);
    if (!compare || compare.getPredicate() != arith::CmpFPredicate::OGT ||
        compare.getLhs() != quotient.getResult() ||
        !isNumber(compare.getRhs(), 1.0))
      return std::nullopt;
    uses.aboveOne.push_back(compare);
  }
  if (uses.belowLine.empty())
    return std::nullopt;
  return uses;
}

static void combine(arith::DivFOp quotient, const Uses &uses) {
  Value a = quotient.getLhs(), y = quotient.getRhs();
  OpBuilder builder(quotient);
  Location loc = quotient.getLoc();
  // y / (y + a) is 1 / (1 + q), and no product that may underflow stands above
  // the line.
  Value sum = arith::AddFOp::create(builder, loc, y, a);
  Value part = arith::DivFOp::create(builder, loc, y, sum);
  for (arith::DivFOp division : uses.belowLine) {
    builder.setInsertionPoint(division);
    Value product = arith::MulFOp::create(builder, division.getLoc(),
                                          division.getLhs(), part);
    division.replaceAllUsesWith(product);
    division.erase();
  }
  if (uses.aboveOne.empty())
    return;
  builder.setInsertionPoint(quotient);
  // q > 1 where a, with its sign changed if y is negative, is above |y|.
  Value one = arith::ConstantOp::create(
      builder, loc,
      isa<TensorType>(y.getType())
          ? TypedAttr(DenseElementsAttr::get(
                cast<ShapedType>(y.getType()),
                builder.getFloatAttr(getElementTypeOrSelf(y.getType()), 1.0)))
          : TypedAttr(builder.getFloatAttr(y.getType(), 1.0)));
  Value sign = math::CopySignOp::create(builder, loc, one, y);
  Value turned = arith::MulFOp::create(builder, loc, a, sign);
  Value size = math::AbsFOp::create(builder, loc, y);
  for (arith::CmpFOp compare : uses.aboveOne)
    compare->setOperands({turned, size});
}

void CombineDivisionsPass::runOnOperation() {
  for (WorkgroupOp workgroup : sharedZones(getOperation())) {
    SmallVector<arith::DivFOp> divisions;
    workgroup.walk([&](arith::DivFOp op) { divisions.push_back(op); });
    // Those of one loop body are found before they are erased.
    llvm::SmallPtrSet<Operation *, 8> gone;
    for (arith::DivFOp op : divisions) {
      if (gone.contains(op))
        continue;
      std::optional<Uses> uses = findUses(op);
      if (!uses)
        continue;
      gone.insert_range(uses->belowLine);
      sayDone(op, "combine-divisions",
              llvm::Twine(1 + uses->belowLine.size()) +
                  " divisions are one of them now");
      combine(op, *uses);
    }
    eraseUnused(workgroup);
  }
}
