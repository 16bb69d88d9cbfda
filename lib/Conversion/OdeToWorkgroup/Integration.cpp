//===- Integration.cpp - Time integration as workgroup code ---------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas of `wavesmith.ode_integrate`, operation by operation.
//
//===----------------------------------------------------------------------===//

#include "IntegrationBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace wavesmith;

Value IntegrationBuilder::weightedSums(Value values, Value weights,
                                       ArrayRef<int32_t> segments) {
  Type f64 = builder.getF64Type();
  auto reduce = SegmentedReduceOp::create(
      builder, loc,
      TypeRange{RankedTensorType::get({int64_t(segments.size()) - 1}, f64)},
      ValueRange{values, weights}, ValueRange{number(0.0)},
      builder.getDenseI32ArrayAttr(segments), DenseI32ArrayAttr(), UnitAttr());
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&reduce.getAccumulate(), {},
                                     {f64, f64, f64}, {loc, loc, loc});
  Value sum = math::FmaOp::create(builder, loc, block->getArgument(2),
                                  block->getArgument(1), block->getArgument(0));
  YieldOp::create(builder, loc, sum);
  block = builder.createBlock(&reduce.getCombine(), {}, {f64, f64}, {loc, loc});
  sum = binary<arith::AddFOp>(block->getArgument(0), block->getArgument(1));
  YieldOp::create(builder, loc, sum);
  return reduce.getResult(0);
}

Value IntegrationBuilder::reduceAll(
    Value tensor, Value init,
    llvm::function_ref<Value(Value, Value)> accumulate,
    llvm::function_ref<Value(Value, Value)> combine) {
  Value staged = stage(tensor);
  int32_t count = type.getDimSize(0);
  Type result = init.getType();
  auto reduce = SegmentedReduceOp::create(
      builder, loc, TypeRange{RankedTensorType::get({1}, result)},
      ValueRange{staged}, ValueRange{init},
      builder.getDenseI32ArrayAttr({0, count}), DenseI32ArrayAttr(),
      UnitAttr());
  OpBuilder::InsertionGuard guard(builder);
  auto write = [&](Region &region, Type other,
                   llvm::function_ref<Value(Value, Value)> fold) {
    Block *block =
        builder.createBlock(&region, {}, {result, other}, {loc, loc});
    YieldOp::create(builder, loc,
                    fold(block->getArgument(0), block->getArgument(1)));
  };
  write(reduce.getAccumulate(), getElementTypeOrSelf(staged.getType()),
        accumulate);
  write(reduce.getCombine(), result, combine);
  builder.setInsertionPointAfter(reduce);
  return tensor::ExtractOp::create(
      builder, loc, reduce.getResult(0),
      ValueRange{arith::ConstantIndexOp::create(builder, loc, 0)});
}

Value IntegrationBuilder::largest(Value tensor) {
  auto larger = [&](Value a, Value b) {
    return binary<arith::MaximumFOp>(a, b);
  };
  return reduceAll(math::AbsFOp::create(builder, loc, tensor), number(0.0),
                   larger, larger);
}

Value IntegrationBuilder::isAllBelow(Value tensor, double limit) {
  auto both = [&](Value a, Value b) { return binary<arith::AndIOp>(a, b); };
  Value isAll = reduceAll(
      tensor, integer(1),
      [&](Value isSoFar, Value element) {
        Value isBelow =
            compare(arith::CmpFPredicate::OLE, element, number(limit));
        return both(isSoFar, arith::ExtUIOp::create(
                                 builder, loc, builder.getI32Type(), isBelow));
      },
      both);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, isAll,
                               integer(0));
}

Value IntegrationBuilder::sumTerms(
    Value terms, ArrayRef<SmallVector<WeightedState>> entries) {
  auto type =
      RankedTensorType::get({int64_t(entries.size())}, builder.getF64Type());
  // `state` of an entry is the number of the term.
  SmallVector<int32_t> positions, segments = {0};
  SmallVector<double> weights;
  for (const SmallVector<WeightedState> &list : entries) {
    for (const WeightedState &entry : list) {
      positions.push_back(sideBySide.getPosition(entry.state));
      weights.push_back(entry.weight);
    }
    segments.push_back(positions.size());
  }
  if (positions.empty())
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, 0.0));
  Value values = GatherOp::create(
      builder, loc,
      RankedTensorType::get({int64_t(positions.size())}, builder.getF64Type()),
      terms, buildTable(builder, loc, positions));
  return weightedSums(values, buildTable(builder, loc, weights), segments);
}

Value IntegrationBuilder::conservedTotal(Value staged) {
  SmallVector<int32_t> states;
  SmallVector<double> weights;
  for (const WeightedState &entry : getWeightedStates(
           system, op.getConservedStates(), op.getConservedWeights())) {
    states.push_back(entry.state);
    weights.push_back(entry.weight);
  }
  Value values = staged;
  if (int64_t(states.size()) != type.getDimSize(0))
    values = GatherOp::create(
        builder, loc,
        RankedTensorType::get({int64_t(states.size())}, builder.getF64Type()),
        staged, buildTable(builder, loc, states));
  Value sum = weightedSums(values, buildTable(builder, loc, weights),
                           {0, int32_t(states.size())});
  return tensor::ExtractOp::create(
      builder, loc, sum,
      ValueRange{arith::ConstantIndexOp::create(builder, loc, 0)});
}

Value IntegrationBuilder::update(Value y, Value production, Value loss,
                                 Value step) {
  Value d = splat(step);
  Value q = binary<arith::DivFOp>(binary<arith::MulFOp>(loss, d), y);
  Value one = arith::ConstantOp::create(builder, loc,
                                        DenseElementsAttr::get(type, 1.0));
  Value asymptotic =
      binary<arith::DivFOp>(math::FmaOp::create(builder, loc, production, d, y),
                            binary<arith::AddFOp>(one, q));
  Value euler = math::FmaOp::create(
      builder, loc, binary<arith::SubFOp>(production, loss), d, y);
  return select(compare(arith::CmpFPredicate::OGT, q, one), asymptotic, euler);
}

LogicalResult IntegrationBuilder::emitAsymptoticStep(ValueRange carried,
                                                     Value end, Value total) {
  Value t = carried[0], h = carried[1], steps = carried[2], y = carried[4];
  Value staged = stage(y);
  FailureOr<Value> terms = sideBySide.emitTerms(loc, t, staged);
  if (failed(terms))
    return failure();
  // One reduction for both, so that long sums of the one stand beside short
  // ones of the other.
  unsigned numStates = system.getNumStates();
  SmallVector<SmallVector<WeightedState>> entries(2 * numStates);
  for (auto [r, weights] :
       llvm::enumerate(getTermWeights(system, Quantity::ProductionLoss)))
    for (unsigned part : {0, 1})
      for (const WeightedState &entry : weights[part])
        entries[part * numStates + entry.state].push_back(
            {unsigned(r), entry.weight});
  Value sums = stage(sumTerms(*terms, entries));
  auto partOf = [&](int64_t first) -> Value {
    return tensor::ExtractSliceOp::create(
        builder, loc, type, sums, ValueRange(), ValueRange(), ValueRange(),
        ArrayRef<int64_t>{first}, ArrayRef<int64_t>{numStates},
        ArrayRef<int64_t>{1});
  };
  Value production = partOf(0), loss = partOf(numStates);

  auto method = cast<AsymptoticAttr>(op.getMethod());
  auto attribute = [&](const APFloat &value) {
    return number(value.convertToDouble());
  };
  Value flux = binary<arith::SubFOp>(production, loss);
  double fraction = method.getFluxFraction().convertToDouble();
  Value most = binary<arith::MinimumFOp>(
      binary<arith::MulFOp>(attribute(method.getTimeFraction()), t), h);
  auto boundByFlux = [&](OpBuilder &, Location) {
    Value m = largest(flux);
    Value bounded = binary<arith::MinimumFOp>(
        binary<arith::DivFOp>(number(fraction), m), most);
    scf::YieldOp::create(
        builder, loc,
        ValueRange{bounded, math::IsFiniteOp::create(builder, loc, m)});
  };
  // Where the flux bounds no step, its largest element is not needed: if
  // |F| * most rounds to a little less than the fraction for all elements, then
  // fraction / max |F| is not below `most`. (A tiny fraction could underflow.)
  Value isBounded =
      fraction > 1e-200
          ? isAllBelow(
                binary<arith::MulFOp>(math::AbsFOp::create(builder, loc, flux),
                                      splat(most)),
                fraction * (1 - 0x1p-50))
          : arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
  auto yes = [&]() -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  };
  auto bound = scf::IfOp::create(
      builder, loc, isBounded,
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(builder, loc, ValueRange{most, yes()});
      },
      boundByFlux);
  Value h1 = bound.getResult(0);
  Value trial = update(y, production, loss, h1);
  Value isGood = binary<arith::AndIOp>(
      bound.getResult(1), compare(arith::CmpFPredicate::OGT, h1, number(0.0)));
  Value x, c, w, mustShrink, isSteered;
  if (total) {
    Value x0 = carried[5];
    x = conservedTotal(stage(trial));
    isGood = binary<arith::AndIOp>(isGood,
                                   math::IsFiniteOp::create(builder, loc, x));
    auto distance = [&](Value a, Value b) -> Value {
      return math::AbsFOp::create(builder, loc, binary<arith::SubFOp>(a, b));
    };
    c = distance(x0, x);
    w = binary<arith::MulFOp>(attribute(method.getTolerance()),
                              math::AbsFOp::create(builder, loc, total));
    Value isWorse = compare(arith::CmpFPredicate::OGT, distance(x, total),
                            distance(x0, total));
    mustShrink = binary<arith::AndIOp>(
        isWorse, compare(arith::CmpFPredicate::OGT, c, w));
    Value mayGrow = compare(arith::CmpFPredicate::OLT, c,
                            binary<arith::MulFOp>(number(0.25), w));
    isSteered = binary<arith::OrIOp>(mustShrink, mayGrow);
  }
  Value after = binary<arith::AddFOp>(t, h1);
  Value nextSteps = binary<arith::AddIOp>(steps, integer(1));
  // Nearly all steps are good, keep their size and are not the last: for these,
  // nothing more has to be computed or chosen.
  Value isUnusual =
      binary<arith::OrIOp>(compare(arith::CmpFPredicate::OGE, after, end),
                           binary<arith::XOrIOp>(isGood, yes()));
  if (total)
    isUnusual = binary<arith::OrIOp>(isUnusual, isSteered);
  SmallVector<Value> usual = {after, h1, nextSteps, integer(0), trial};
  if (total)
    usual.push_back(x);
  auto step = scf::IfOp::create(
      builder, loc, isUnusual,
      [&](OpBuilder &, Location) {
        Value h2 = h1;
        if (total) {
          auto part = [&](double least) {
            Value bound = binary<arith::MaximumFOp>(
                c, binary<arith::MulFOp>(number(least), w));
            return binary<arith::DivFOp>(w, bound);
          };
          auto steered = scf::IfOp::create(
              builder, loc, isSteered,
              [&](OpBuilder &, Location) {
                Value smaller = binary<arith::MulFOp>(
                    h1, binary<arith::MaximumFOp>(part(1e-9), number(0.1)));
                Value larger = binary<arith::MulFOp>(h1, part(0.9));
                scf::YieldOp::create(builder, loc,
                                     select(mustShrink, smaller, larger));
              },
              [&](OpBuilder &, Location) {
                scf::YieldOp::create(builder, loc, h1);
              });
          h2 = steered.getResult(0);
        }
        Value after = binary<arith::AddFOp>(t, h2);
        Value isLast = compare(arith::CmpFPredicate::OGE, after, end);
        Value d = select(isLast, binary<arith::SubFOp>(end, t), h2);
        // With the same step size, the update would be the same.
        auto again = scf::IfOp::create(
            builder, loc, compare(arith::CmpFPredicate::UNE, d, h1),
            [&](OpBuilder &, Location) {
              SmallVector<Value> results = {update(y, production, loss, d)};
              if (total)
                results.push_back(conservedTotal(stage(results[0])));
              scf::YieldOp::create(builder, loc, results);
            },
            [&](OpBuilder &, Location) {
              SmallVector<Value> results = {trial};
              if (total)
                results.push_back(x);
              scf::YieldOp::create(builder, loc, results);
            });
        auto unlessBad = [&](Value good, Value bad) {
          return select(isGood, good, bad);
        };
        SmallVector<Value> results = {
            unlessBad(select(isLast, end, after), t), unlessBad(h2, h),
            unlessBad(nextSteps, steps), unlessBad(integer(0), integer(2)),
            unlessBad(again.getResult(0), y)};
        if (total)
          results.push_back(again.getResult(1));
        scf::YieldOp::create(builder, loc, results);
      },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(builder, loc, usual);
      });
  scf::YieldOp::create(builder, loc, step.getResults());
  return success();
}

LogicalResult IntegrationBuilder::emit(ValueRange arguments) {
  if (getTerms(system).empty())
    return op.emitError("expected a system with terms, ")
           << op.getSystemAttr() << " has none";
  if (failed(sideBySide.analyse()))
    return failure();
  auto load = [&](Value memory, Type type) -> Value {
    return LoadZoneOp::create(builder, loc, type, memory);
  };
  Type f64 = builder.getF64Type();
  Value time = load(arguments[0], f64), end = arguments[1];
  Value step = load(arguments[2], f64);
  Value y = load(arguments[3], type);
  arguments = arguments.drop_front(4);
  SmallVector<Value> parameters;
  if (op.getParameters()) {
    // Each is one number that all threads read.
    int64_t count = system.getNumParameters();
    Value all =
        stage(load(arguments.front(), RankedTensorType::get({count}, f64)));
    for (int64_t i = 0; i < count; ++i)
      parameters.push_back(tensor::ExtractOp::create(
          builder, loc, all,
          ValueRange{arith::ConstantIndexOp::create(builder, loc, i)}));
    arguments = arguments.drop_front();
  }
  if (failed(sideBySide.emitInvariant(loc, parameters)))
    return failure();
  auto tsit5 = dyn_cast<Tsit5Attr>(op.getMethod());
  SmallVector<Value> initial = {time, step, integer(0), integer(0), y};
  if (tsit5)
    addTsit5Carried(initial);
  Value total;
  if (!op.getConservedStates().empty()) {
    Value first = conservedTotal(stage(y));
    total = op.getTotal() ? number(op.getTotal()->convertToDouble()) : first;
    initial.push_back(first);
  }
  LogicalResult result = success();
  auto loop = scf::WhileOp::create(
      builder, loc, TypeRange(ValueRange(initial)), initial,
      [&](OpBuilder &, Location, ValueRange carried) {
        Value goesOn = compare(arith::CmpFPredicate::OLT, carried[0], end);
        Value hasSteps =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                  carried[2], integer(op.getMaxSteps()));
        Value isGood = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::eq, carried[3], integer(0));
        goesOn = binary<arith::AndIOp>(binary<arith::AndIOp>(goesOn, hasSteps),
                                       isGood);
        scf::ConditionOp::create(builder, loc, goesOn, carried);
      },
      [&](OpBuilder &, Location, ValueRange carried) {
        result = tsit5 ? emitTsit5Step(carried, end, tsit5)
                       : emitAsymptoticStep(carried, end, total);
        if (failed(result))
          scf::YieldOp::create(builder, loc, carried);
      });
  if (failed(result))
    return failure();
  Value isThere = compare(arith::CmpFPredicate::UGE, loop.getResult(0), end);
  Value status = select(isThere, integer(0), integer(1));
  Value isFinite =
      math::IsFiniteOp::create(builder, loc, largest(loop.getResult(4)));
  Value isGood = binary<arith::AndIOp>(
      isFinite, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      loop.getResult(3), integer(0)));
  status = select(isGood, status, integer(2));
  SmallVector<Value> results = {loop.getResult(4), loop.getResult(0),
                                loop.getResult(1), loop.getResult(2), status};
  for (auto [value, memory] : llvm::zip_equal(results, arguments))
    StoreZoneOp::create(builder, loc, value, memory);
  return success();
}

LogicalResult wavesmith::emitIntegration(OpBuilder &builder, OdeIntegrateOp op,
                                         OdeSystemOp system,
                                         ValueRange arguments) {
  return IntegrationBuilder(builder, op, system).emit(arguments);
}
