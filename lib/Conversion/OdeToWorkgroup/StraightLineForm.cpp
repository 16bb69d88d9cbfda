//===- StraightLineForm.cpp - A system, unrolled --------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SystemEmitter.h"
#include "mlir/IR/Matchers.h"
#include "wavesmith/Math/DeviceMath.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace wavesmith;

/// A function of math as the device's library computes it, or null.
static std::optional<double> evaluate(Operation *op, ArrayRef<double> x) {
  namespace dm = devicemath;
  return llvm::TypeSwitch<Operation *, std::optional<double>>(op)
      .Case([&](math::ExpOp) { return dm::exp(x[0]); })
      .Case([&](math::Exp2Op) { return dm::exp2(x[0]); })
      .Case([&](math::ExpM1Op) { return dm::expm1(x[0]); })
      .Case([&](math::LogOp) { return dm::log(x[0]); })
      .Case([&](math::Log10Op) { return dm::log10(x[0]); })
      .Case([&](math::Log1pOp) { return dm::log1p(x[0]); })
      .Case([&](math::Log2Op) { return dm::log2(x[0]); })
      .Case([&](math::CbrtOp) { return dm::cbrt(x[0]); })
      .Case([&](math::PowFOp) { return dm::pow(x[0], x[1]); })
      .Case([&](math::TanhOp) { return dm::tanh(x[0]); })
      .Case([&](math::SinOp) { return dm::sin(x[0]); })
      .Case([&](math::CosOp) { return dm::cos(x[0]); })
      .Case([&](math::TanOp) { return dm::tan(x[0]); })
      .Case([&](math::AsinOp) { return dm::asin(x[0]); })
      .Case([&](math::AcosOp) { return dm::acos(x[0]); })
      .Case([&](math::AtanOp) { return dm::atan(x[0]); })
      .Case([&](math::Atan2Op) { return dm::atan2(x[0], x[1]); })
      .Case([&](math::SinhOp) { return dm::sinh(x[0]); })
      .Case([&](math::CoshOp) { return dm::cosh(x[0]); })
      .Case([&](math::AsinhOp) { return dm::asinh(x[0]); })
      .Case([&](math::AcoshOp) { return dm::acosh(x[0]); })
      .Case([&](math::AtanhOp) { return dm::atanh(x[0]); })
      .Case([&](math::ErfOp) { return dm::erf(x[0]); })
      .Case([&](math::ErfcOp) { return dm::erfc(x[0]); })
      .Case([&](math::SqrtOp) { return std::sqrt(x[0]); })
      .Case([&](math::RsqrtOp) { return 1 / std::sqrt(x[0]); })
      .Case([&](math::AbsFOp) { return std::fabs(x[0]); })
      .Case([&](math::CopySignOp) { return std::copysign(x[0], x[1]); })
      .Case([&](math::FloorOp) { return std::floor(x[0]); })
      .Case([&](math::CeilOp) { return std::ceil(x[0]); })
      .Case([&](math::TruncOp) { return std::trunc(x[0]); })
      .Case([&](math::RoundOp) { return std::round(x[0]); })
      .Case([&](math::RoundEvenOp) { return std::nearbyint(x[0]); })
      .Case([&](math::FmaOp) { return std::fma(x[0], x[1], x[2]); })
      .Default([](Operation *) { return std::nullopt; });
}

Value wavesmith::buildExpression(BlockBuilder &b, Operation *op,
                                 ValueRange operands) {
  auto unsupported = [&]() -> Value {
    op->emitError("'") << op->getName()
                       << "' is not supported in an expression of a system";
    return {};
  };
  if (op->getNumResults() != 1)
    return unsupported();
  Type element = op->getResult(0).getType();
  if (!element.isF64() && !element.isInteger(1))
    return unsupported();
  auto type = RankedTensorType::get({b.getSize()}, element);
  if (auto power = dyn_cast<math::FPowIOp>(op)) {
    APInt exponent;
    if (!matchPattern(power.getRhs(), m_ConstantInt(&exponent))) {
      op->emitError("'math.fpowi' is supported with a constant exponent only");
      return {};
    }
    auto exponents =
        RankedTensorType::get({b.getSize()}, power.getRhs().getType());
    Value n = arith::ConstantOp::create(
        b.builder, b.loc, DenseElementsAttr::get(exponents, exponent));
    return math::FPowIOp::create(b.builder, b.loc, operands[0], n);
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return arith::ConstantOp::create(
        b.builder, b.loc, SplatElementsAttr::get(type, constant.getValue()));
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
           arith::RemFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
           arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp, arith::SelectOp,
           arith::AndIOp, arith::OrIOp, arith::XOrIOp, math::IsNaNOp,
           math::IsInfOp, math::IsFiniteOp>(op) &&
      !evaluate(op, {0, 0, 0}))
    return unsupported();

  if (op->getDialect()->getNamespace() == "math") {
    SmallVector<double> constants;
    for (Value operand : operands) {
      DenseElementsAttr attr;
      if (auto constant = operand.getDefiningOp<arith::ConstantOp>())
        attr = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (attr && attr.isSplat())
        constants.push_back(attr.getSplatValue<double>());
    }
    devicemath::FloatingPointEnvironment environment;
    if (constants.size() == operands.size())
      if (std::optional<double> number = evaluate(op, constants))
        return b.constant(*number);
  }
  // Has no lowering upstream.
  if (isa<math::IsInfOp>(op))
    return b.compare(arith::CmpFPredicate::OEQ,
                     math::AbsFOp::create(b.builder, b.loc, operands[0]),
                     b.constant(std::numeric_limits<double>::infinity()));
  OperationState state(b.loc, op->getName(), operands, {type}, op->getAttrs());
  return b.builder.create(state)->getResult(0);
}

Value SystemEmitter::state(unsigned index) {
  return LoadZonesOp::create(b.builder, b.loc, b.getType(), arguments.states,
                             b.index(index));
}

Value SystemEmitter::parameter(unsigned index) {
  Value &block = parameters[index];
  if (!block)
    block = LoadZonesOp::create(b.builder, b.loc, b.getType(),
                                arguments.parameters, b.index(index));
  return block;
}

Value SystemEmitter::time() {
  if (!timeBlock)
    timeBlock =
        tensor::SplatOp::create(b.builder, b.loc, b.getType(), arguments.time);
  return timeBlock;
}

Value SystemEmitter::term(TermOp op) {
  Value product = get(op.getCoefficient());
  for (const WeightedState &factor :
       getWeightedStates(system, op.getOrderStates(), op.getOrders()))
    product =
        b.multiply(product, formulas.power(state(factor.state), factor.weight));
  return product;
}

bool wavesmith::isExponent(Operation *op) {
  auto constant = dyn_cast_or_null<arith::ConstantOp>(op);
  return constant && constant.getType().isInteger(32);
}

LogicalResult SystemEmitter::emitExpression(Operation *op) {
  if (isExponent(op))
    return success();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand));
  Value result = buildExpression(b, op, operands);
  if (!result)
    return failure();
  blocks[op->getResult(0)] = result;
  return success();
}

LogicalResult SystemEmitter::emit(Operation *op) {
  b.loc = op->getLoc();
  auto number = [&](const APFloat &value) {
    return b.constant(value.convertToDouble());
  };
  auto numbers = [&](ArrayRef<double> values) {
    return llvm::map_to_vector(values, [&](double v) { return b.constant(v); });
  };
  auto unless = [&](double value, double leftOut) {
    return value == leftOut ? Value() : b.constant(value);
  };
  auto optional = [&](Value value) { return value ? get(value) : Value(); };
  auto result =
      llvm::TypeSwitch<Operation *, FailureOr<Value>>(op)
          .Case([&](StateOp op) {
            return state(*system.findState(op.getName()));
          })
          .Case([&](ParameterOp op) {
            return parameter(*system.findParameter(op.getName()));
          })
          .Case([&](TimeOp) { return time(); })
          .Case([&](TermOp op) { return term(op); })
          .Case([&](WeightedSumOp op) {
            Value sum = b.constant(0.0);
            for (const WeightedState &entry :
                 getWeightedStates(system, op.getStates(), op.getWeights()))
              sum = formulas.accumulate(b.constant(entry.weight),
                                        state(entry.state), sum);
            return sum;
          })
          .Case([&](ThirdBodyOp op) {
            double byDefault = op.getDefaultEfficiency().convertToDouble();
            Value sum = b.multiply(b.constant(byDefault), get(op.getTotal()));
            for (const WeightedState &entry : getWeightedStates(
                     system, op.getStates(), op.getEfficiencies()))
              sum = formulas.accumulate(b.constant(entry.weight - byDefault),
                                        state(entry.state), sum);
            return sum;
          })
          .Case([&](ArrheniusOp op) {
            return formulas.arrhenius(get(op.getTemperature()),
                                      number(op.getA()),
                                      unless(op.getB().convertToDouble(), 0),
                                      unless(-op.getE().convertToDouble(), 0));
          })
          .Case([&](Nasa7Op op) {
            ThermoQuantity quantity = op.getQuantity();
            return formulas.nasa7(
                quantity, get(op.getTemperature()), number(op.getTMid()),
                numbers(deriveNasa7Constants(quantity, op.getLow())),
                numbers(deriveNasa7Constants(quantity, op.getHigh())));
          })
          .Case([&](ReverseRateOp op) {
            Value x = b.constant(0.0);
            double dn = 0;
            for (auto [gibbs, nu] :
                 llvm::zip_equal(op.getGibbs(), op.getCoefficients())) {
              x = formulas.accumulate(b.constant(nu), get(gibbs), x);
              dn += nu;
            }
            double pressure = op.getReferencePressure().convertToDouble();
            return formulas.reverseRate(
                get(op.getForward()), get(op.getTemperature()), x,
                unless(-dn, 0), b.constant(pressure / kGasConstant));
          })
          .Case([&](ReaclibOp op) {
            Value sum = b.constant(0.0);
            for (size_t i = 0; i < op.getSets().size(); i += 7)
              sum = b.add(
                  sum, formulas.reaclibSet(get(op.getTemperature()),
                                           numbers(op.getSets().slice(i, 7))));
            return sum;
          })
          .Case([&](ReducedPressureOp op) {
            return formulas.reducedPressure(get(op.getLow()), get(op.getHigh()),
                                            get(op.getThirdBody()));
          })
          .Case([&](TroeOp op) {
            double A = op.getA().convertToDouble();
            auto rate = [&](const APFloat &temperature) {
              double T = temperature.convertToDouble();
              return std::fabs(T) < 1e-300 ? Value() : b.constant(-1 / T);
            };
            Value minusT2;
            if (op.getT2())
              minusT2 = b.constant(-op.getT2()->convertToDouble());
            return formulas.troe(get(op.getTemperature()),
                                 get(op.getReducedPressure()),
                                 b.constant(1 - A), b.constant(A),
                                 rate(op.getT3()), rate(op.getT1()), minusT2);
          })
          .Case([&](SriOp op) {
            double c = op.getC().convertToDouble();
            return formulas.sri(get(op.getTemperature()),
                                get(op.getReducedPressure()), number(op.getA()),
                                b.constant(-op.getB().convertToDouble()),
                                c == 0 ? Value() : b.constant(-1 / c),
                                unless(op.getD().convertToDouble(), 1),
                                unless(op.getE().convertToDouble(), 0));
          })
          .Case([&](TsangOp op) {
            return formulas.tsang(get(op.getTemperature()),
                                  get(op.getReducedPressure()),
                                  number(op.getA()), number(op.getB()));
          })
          .Case([&](FalloffOp op) {
            return formulas.falloff(get(op.getHigh()),
                                    get(op.getReducedPressure()),
                                    optional(op.getBlending()));
          })
          .Case([&](ChemicallyActivatedOp op) {
            return formulas.chemicallyActivated(get(op.getLow()),
                                                get(op.getReducedPressure()),
                                                optional(op.getBlending()));
          })
          .Case([&](PlogOp op) {
            Value T = get(op.getTemperature());
            Value logP = formulas.log(get(op.getPressure()));
            Value l, previous;
            Value lastLogP;
            PlogTable table = derivePlogTable(op.getRates());
            for (const PlogTable::Pressure &entry : table.pressures) {
              Value value;
              if (entry.rows.size() == 1) {
                const PlogTable::Row &row = entry.rows.front();
                value = formulas.logArrhenius(T, b.constant(row.logA),
                                              b.constant(row.b),
                                              b.constant(row.minusE));
              } else {
                Value sum = b.constant(1e-300);
                for (const PlogTable::Row &row : entry.rows)
                  sum = b.add(sum, formulas.arrhenius(T, b.constant(row.A),
                                                      unless(row.b, 0),
                                                      unless(row.minusE, 0)));
                value = b.log(sum);
              }
              Value entryLogP = b.constant(entry.logPressure);
              l = l ? formulas.plogInterval(logP, lastLogP,
                                            b.constant(entry.inverseInterval),
                                            previous, value, l)
                    : value;
              previous = value;
              lastLogP = entryLogP;
            }
            return b.exp(formulas.plogAbove(logP, lastLogP, previous, l));
          })
          .Case([&](ChebyshevOp op) {
            ChebyshevRange range = deriveChebyshevRange(op);
            int64_t columns = op.getColumns();
            ArrayRef<double> a = op.getCoefficients();
            Value t = formulas.chebyshevTemperature(
                get(op.getTemperature()),
                b.constant(range.temperatureNumerator),
                b.constant(range.temperatureDenominator));
            Value q = formulas.chebyshevPressure(
                get(op.getPressure()), b.constant(range.pressureNumerator),
                b.constant(range.pressureDenominator));
            auto series = [&](Value x, int64_t count, auto coefficient) {
              Value sum = coefficient(0), previous = b.constant(1.0);
              Value current = x;
              for (int64_t i = 1; i < count; ++i) {
                sum = formulas.accumulate(current, coefficient(i), sum);
                Value next = i + 1 < count
                                 ? formulas.nextChebyshev(x, current, previous)
                                 : Value();
                previous = current;
                current = next;
              }
              return sum;
            };
            Value l = series(t, a.size() / columns, [&](int64_t row) -> Value {
              return series(q, columns, [&](int64_t column) -> Value {
                return b.constant(a[row * columns + column]);
              });
            });
            return formulas.powerOfTen(l);
          })
          .Default([&](Operation *) { return failure(); });
  if (failed(result))
    return emitExpression(op);
  blocks[op->getResult(0)] = *result;
  return success();
}

LogicalResult wavesmith::emitStraightLine(BlockBuilder &b, OdeSystemOp system,
                                          Quantity quantity,
                                          const KernelArguments &arguments) {
  SystemEmitter emitter(b, system, arguments);
  // One list of sums a result, by state: the net weights, or gains and losses.
  SmallVector<TermWeights> weights = getTermWeights(system, quantity);
  unsigned numStates = system.getNumStates();
  SmallVector<SmallVector<Value>> sums(arguments.results.size());
  SmallVector<SmallVector<unsigned>> usesLeft(arguments.results.size());
  auto store = [&](Value value, unsigned result, unsigned row) {
    StoreZonesOp::create(b.builder, b.loc, value, arguments.results[result],
                         b.index(row));
  };
  if (quantity != Quantity::TermValues)
    for (unsigned result = 0; result < arguments.results.size(); ++result) {
      sums[result].assign(numStates, Value());
      usesLeft[result].assign(numStates, 0);
      for (const TermWeights &term : weights)
        for (const WeightedState &entry : term[result])
          ++usesLeft[result][entry.state];
      for (unsigned i = 0; i < numStates; ++i)
        if (usesLeft[result][i] == 0)
          store(b.constant(0.0), result, i);
    }

  unsigned r = 0;
  for (Operation &op : system.getBody().front()) {
    if (failed(emitter.emit(&op)))
      return failure();
    auto term = dyn_cast<TermOp>(op);
    if (!term)
      continue;
    Value value = emitter.get(term.getValue());
    if (quantity == Quantity::TermValues) {
      store(emitter.get(term.getCoefficient()), 0, r);
      store(value, 1, r);
    } else {
      for (unsigned result = 0; result < arguments.results.size(); ++result)
        for (const WeightedState &entry : weights[r][result]) {
          Value &sum = sums[result][entry.state];
          sum = emitter.formulas.accumulate(b.constant(entry.weight), value,
                                            sum ? sum : b.constant(0.0));
          // A finished sum is stored at once, so that it leaves its registers.
          if (--usesLeft[result][entry.state] == 0)
            store(sum, result, entry.state);
        }
    }
    ++r;
  }
  return success();
}
