//===- Tsit5Integration.cpp - The method Tsit5 as workgroup code ----------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas of `#wavesmith.tsit5` in wavesmith.ode_integrate, operation by
// operation. The stages are a loop, so that a system's terms stand in the code
// once; its first round is for the first step alone, since later ones have k_1.
//
//===----------------------------------------------------------------------===//

#include "IntegrationBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "wavesmith/Dialect/Wavesmith/IR/Tsit5.h"

using namespace mlir;
using namespace wavesmith;

static constexpr unsigned kNumStages = tsit5::kNumStages;

void IntegrationBuilder::addTsit5Carried(SmallVectorImpl<Value> &carried) {
  // k_1, which the first step computes.
  carried.push_back(arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, 0.0)));
}

/// A coefficient of a stage.
static Value extract(OpBuilder &builder, Location loc, Value table, Value at) {
  return tensor::ExtractOp::create(builder, loc, table, at);
}

LogicalResult IntegrationBuilder::emitTsit5Step(ValueRange carried, Value end,
                                                Tsit5Attr method) {
  Value t = carried[0], h = carried[1], steps = carried[2], y = carried[4];
  Value firstDerivatives = carried[5];
  auto attribute = [&](const APFloat &value) {
    return number(value.convertToDouble());
  };
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto isEqual = [&](Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a, b);
  };

  Value limited =
      binary<arith::MinimumFOp>(h, attribute(method.getLargestStep()));
  Value after = binary<arith::AddFOp>(t, limited);
  Value isCut = compare(arith::CmpFPredicate::OGE, after, end);
  Value next = select(isCut, end, after);
  Value d = select(isCut, binary<arith::SubFOp>(end, t), limited);
  Value isGood =
      binary<arith::AndIOp>(compare(arith::CmpFPredicate::OGE, limited,
                                    attribute(method.getSmallestStep())),
                            compare(arith::CmpFPredicate::OGT, next, t));

  // Stages and k_j are numbered from 0 here.
  SmallVector<double> rows;
  for (const auto &row : tsit5::kMatrix)
    rows.append(std::begin(row), std::end(row));
  Value matrix = buildTable(builder, loc, rows);
  Value nodes = buildTable(builder, loc, ArrayRef<double>(tsit5::kNodes));
  Value zero = arith::ConstantOp::create(builder, loc,
                                         DenseElementsAttr::get(type, 0.0));
  SmallVector<SmallVector<WeightedState>> net(system.getNumStates());
  for (auto [r, weights] :
       llvm::enumerate(getTermWeights(system, Quantity::Derivatives)))
    for (const WeightedState &entry : weights[0])
      net[entry.state].push_back({unsigned(r), entry.weight});

  SmallVector<Value> initial = {y, firstDerivatives};
  initial.append(kNumStages - 1, zero);
  Value begin = select(isEqual(steps, integer(0)), index(0), index(1));
  LogicalResult result = success();
  auto stages = scf::ForOp::create(
      builder, loc, begin, index(kNumStages), index(1), initial,
      [&](OpBuilder &, Location, Value stageNumber, ValueRange values) {
        ValueRange k = values.drop_front();
        // Coefficients of stages that are to come are zero, as they are.
        Value sum = zero;
        Value row = binary<arith::MulIOp>(stageNumber, index(kNumStages - 1));
        for (unsigned j = 0; j + 1 != kNumStages; ++j) {
          Value at = binary<arith::AddIOp>(row, index(j));
          sum = math::FmaOp::create(builder, loc,
                                    splat(extract(builder, loc, matrix, at)),
                                    k[j], sum);
        }
        sum = binary<arith::AddFOp>(sum, zero);
        Value isFirst = isEqual(stageNumber, index(0));
        Value states = select(
            isFirst, y, math::FmaOp::create(builder, loc, splat(d), sum, y));
        Value time = math::FmaOp::create(
            builder, loc, extract(builder, loc, nodes, stageNumber), d, t);
        time = select(
            isFirst, t,
            select(isEqual(stageNumber, index(kNumStages - 1)), next, time));
        FailureOr<Value> terms = sideBySide.emitTerms(loc, time, stage(states));
        if (failed(terms)) {
          result = failure();
          scf::YieldOp::create(builder, loc, values);
          return;
        }
        Value derivatives = sumTerms(*terms, net);
        SmallVector<Value> yielded = {states};
        for (auto [j, before] : llvm::enumerate(k))
          yielded.push_back(
              select(isEqual(stageNumber, index(j)), derivatives, before));
        scf::YieldOp::create(builder, loc, yielded);
      });
  if (failed(result))
    return failure();
  Value solution = stages.getResult(0);
  ValueRange k = stages.getResults().drop_front();

  auto perState = [&](Attribute tolerance) {
    return buildTable(builder, loc,
                      Tsit5Attr::getNumbers(tolerance, system.getNumStates()));
  };
  Value difference = zero;
  for (unsigned j = 0; j != kNumStages; ++j)
    difference = math::FmaOp::create(
        builder, loc,
        arith::ConstantOp::create(
            builder, loc, DenseElementsAttr::get(type, tsit5::kError[j])),
        k[j], difference);
  Value size =
      binary<arith::MaximumFOp>(math::AbsFOp::create(builder, loc, y),
                                math::AbsFOp::create(builder, loc, solution));
  Value ratio = binary<arith::DivFOp>(
      binary<arith::MulFOp>(splat(d), difference),
      math::FmaOp::create(builder, loc, perState(method.getRelativeTolerance()),
                          size, perState(method.getAbsoluteTolerance())));
  ratio = stage(ratio);
  Value sumOfSquares = tensor::ExtractOp::create(
      builder, loc,
      weightedSums(ratio, ratio, {0, int32_t(system.getNumStates())}),
      ValueRange{index(0)});
  Value mean =
      binary<arith::DivFOp>(sumOfSquares, number(system.getNumStates()));
  Value error = math::SqrtOp::create(builder, loc, mean);

  Value x = binary<arith::MulFOp>(
      attribute(method.getSafety()),
      math::PowFOp::create(builder, loc, error, number(-0.2)));
  Value smallestFactor = attribute(method.getSmallestFactor());
  Value factor =
      select(compare(arith::CmpFPredicate::OGT, x, smallestFactor),
             binary<arith::MinimumFOp>(x, attribute(method.getLargestFactor())),
             smallestFactor);
  Value g = binary<arith::MulFOp>(d, factor);
  Value u = select(isCut, binary<arith::MaximumFOp>(limited, g), g);
  Value kept =
      binary<arith::MaximumFOp>(u, attribute(method.getSmallestStep()));
  Value isTaken = compare(arith::CmpFPredicate::OLE, error, number(1.0));

  // Where a k_1 is not finite, the error is not.
  Value isFinite = math::IsFiniteOp::create(builder, loc, error);
  auto canGoOn = scf::IfOp::create(
      builder, loc, isFinite,
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(builder, loc, ValueRange{isFinite});
      },
      [&](OpBuilder &, Location) {
        Value isFirstFinite =
            math::IsFiniteOp::create(builder, loc, largest(k[0]));
        scf::YieldOp::create(builder, loc, ValueRange{isFirstFinite});
      });
  isGood = binary<arith::AndIOp>(isGood, canGoOn.getResult(0));
  isTaken = binary<arith::AndIOp>(isTaken, isGood);
  scf::YieldOp::create(
      builder, loc,
      ValueRange{
          select(isTaken, next, t), select(isGood, select(isTaken, kept, g), h),
          select(isGood, binary<arith::AddIOp>(steps, integer(1)), steps),
          select(isGood, integer(0), integer(2)), select(isTaken, solution, y),
          select(isTaken, k.back(), k.front())});
  return success();
}
