//===- TableForm.cpp - A system as a loop over a table of steps -----------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code's size does not depend on the size of the system: each operation of
// the system is one step, a row of a table, and the kernel is a loop over the
// steps with one case for each kind that occurs. The kind is the same for the
// whole wavefront, so the branches cost scalar instructions only.
//
// A zone's values stand in an array of slots: states, parameters, time, then
// results of steps, whose slots are used again when a result is dead. The
// temperature and the pressure of rate coefficients, with their functions, are
// computed before the loop and stay in registers.
//
//===----------------------------------------------------------------------===//

#include "SystemEmitter.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace wavesmith;
using arith::CmpFPredicate;

namespace {

/// Columns of the table of steps. A step's lists are neighbours: list n stands
/// from column Lists + n to column Lists + n + 1.
enum Column : unsigned {
  Kind,
  Destination,
  Operands, // three slots
  FirstConstant = Operands + 3,
  Lists,
  NumColumns = Lists + 4
};

/// One step while the table is made.
struct Step {
  unsigned kind = 0;
  Value result;
  SmallVector<Value, 3> operands;
  SmallVector<double> constants;
  /// Up to three lists of pairs: a slot or a number, and a number.
  SmallVector<SmallVector<std::pair<int32_t, double>>, 3> lists;
  /// Whether the first list's slots are those of operands 1, 2, ...
  bool listsOperands = false;
};

/// Reads one step's row inside of the loop.
struct StepReader {
  BlockBuilder &b;
  Value steps, constants, listSlots, listNumbers, base, slots;

  Value column(unsigned column) {
    Value position =
        arith::AddIOp::create(b.builder, b.loc, base, b.index(column));
    return b.lookUpIndex(steps, position);
  }
  Value operand(unsigned i) { return b.readRow(slots, column(Operands + i)); }
  Value firstConstant() { return column(FirstConstant); }
  Value constantAt(Value first, unsigned offset) {
    return b.lookUp(constants, arith::AddIOp::create(b.builder, b.loc, first,
                                                     b.index(offset)));
  }
  SmallVector<Value> constantList(unsigned count) {
    Value first = firstConstant();
    SmallVector<Value> list;
    for (unsigned i = 0; i < count; ++i)
      list.push_back(constantAt(first, i));
    return list;
  }
  Value listSlot(Value position) { return b.lookUpIndex(listSlots, position); }
  Value listNumber(Value position) { return b.lookUp(listNumbers, position); }
  Value listScalar(Value position) {
    return tensor::ExtractOp::create(b.builder, b.loc, listNumbers,
                                     ValueRange{position});
  }
  /// A list's number that is a count.
  Value listCount(Value position) {
    Value count = arith::FPToSIOp::create(
        b.builder, b.loc, b.builder.getI64Type(), listScalar(position));
    return arith::IndexCastOp::create(b.builder, b.loc,
                                      b.builder.getIndexType(), count);
  }
  /// A loop over a list, with values that it carries.
  SmallVector<Value>
  overList(unsigned list, ValueRange carried,
           function_ref<SmallVector<Value>(Value position, ValueRange)> body) {
    return loop(column(Lists + list), column(Lists + list + 1), carried, body);
  }
  SmallVector<Value>
  loop(Value begin, Value end, ValueRange carried,
       function_ref<SmallVector<Value>(Value position, ValueRange)> body) {
    auto loop = scf::ForOp::create(
        b.builder, b.loc, begin, end, b.index(1), carried,
        [&](OpBuilder &, Location, Value position, ValueRange values) {
          SmallVector<Value> next = body(position, values);
          scf::YieldOp::create(b.builder, b.loc, next);
        });
    return SmallVector<Value>(loop.getResults());
  }
};

/// The arrays that steps change: the slots, then the sums.
using Arrays = SmallVector<Value>;
/// Builds one kind's case: reads the step, returns the changed arrays.
using StepBuilder = std::function<Arrays(StepReader &, Arrays)>;

class TableForm {
public:
  TableForm(BlockBuilder &b, OdeSystemOp system, Quantity quantity,
            const KernelArguments &arguments)
      : b(b), system(system), quantity(quantity), arguments(arguments),
        emitter(b, system, arguments) {}

  LogicalResult emit();

private:
  LogicalResult emitPrologue();
  LogicalResult addStep(Operation *op);
  LogicalResult addExpression(Operation *op, Step &step);
  void addTerm(TermOp op, Step &step);
  void allocateSlots();
  void emitLoop();
  /// Stores the finished sums, which stand in the arrays after the slots.
  void storeSums(ValueRange arrays);

  /// The number of a kind, made where it is new.
  void setKind(Step &step, StringRef name, StepBuilder builder) {
    auto [entry, isNew] = kindNumbers.try_emplace(name, kinds.size());
    if (isNew)
      kinds.push_back(std::move(builder));
    step.kind = entry->second;
  }
  /// A kind whose case computes one result, for the step's slot.
  void setFunction(Step &step, StringRef name,
                   std::function<Value(StepReader &)> function) {
    setKind(step, name, [function](StepReader &reader, Arrays arrays) {
      Value result = function(reader);
      arrays[0] =
          reader.b.writeRow(result, arrays[0], reader.column(Destination));
      return arrays;
    });
  }
  /// From \p start: sum = fma(number, slot, sum) over a step's first list.
  Value weightedSum(StepReader &reader, Value start) {
    return reader.overList(0, {start}, [&](Value position, ValueRange carried) {
      return SmallVector<Value>{emitter.formulas.accumulate(
          reader.listNumber(position),
          b.readRow(reader.slots, reader.listSlot(position)), carried[0])};
    })[0];
  }
  SmallVector<std::pair<int32_t, double>> stateList(ArrayAttr states,
                                                    ArrayRef<double> weights) {
    SmallVector<std::pair<int32_t, double>> list;
    for (const WeightedState &entry :
         getWeightedStates(system, states, weights))
      list.push_back({int32_t(entry.state), entry.weight});
    return list;
  }

  BlockBuilder &b;
  OdeSystemOp system;
  Quantity quantity;
  const KernelArguments &arguments;
  SystemEmitter emitter;

  /// The temperature and the pressure of all rate coefficients.
  Value temperature, pressure;
  Value T, P;
  SmallVector<Operation *> prologue;
  std::vector<Step> steps;
  llvm::StringMap<unsigned> kindNumbers;
  SmallVector<StepBuilder> kinds;
  DenseMap<Value, int32_t> slotOf;
  int32_t numSlots = 0;
  /// The slots below hold what is computed before the loop.
  int32_t numInitial = 0;
  SmallVector<std::pair<Value, int32_t>> initialSlots;
  SmallVector<TermWeights> weights;
  unsigned numTerms = 0;
};

} // namespace

LogicalResult TableForm::emitPrologue() {
  auto note = [&](Value &known, Value used, Operation *op,
                  StringRef what) -> LogicalResult {
    if (known && known != used)
      return op->emitError("the table form needs one ")
             << what << " for all rate coefficients; compile this system in "
             << "the straight-line form";
    known = used;
    return success();
  };
  bool usesReaclib = false, usesLogP = false, usesLog10P = false;
  for (Operation &op : system.getBody().front()) {
    Value usedT, usedP;
    llvm::TypeSwitch<Operation *>(&op)
        .Case<ArrheniusOp, Nasa7Op, ReverseRateOp, TroeOp, SriOp, TsangOp>(
            [&](auto op) { usedT = op.getTemperature(); })
        .Case([&](ReaclibOp op) {
          usedT = op.getTemperature();
          usesReaclib = true;
        })
        .Case([&](PlogOp op) {
          usedT = op.getTemperature();
          usedP = op.getPressure();
          usesLogP = true;
        })
        .Case([&](ChebyshevOp op) {
          usedT = op.getTemperature();
          usedP = op.getPressure();
          usesLog10P = true;
        });
    if ((usedT && failed(note(temperature, usedT, &op, "temperature"))) ||
        (usedP && failed(note(pressure, usedP, &op, "pressure"))))
      return failure();
  }

  llvm::SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  for (Value root : {temperature, pressure})
    if (root && failed(getBackwardSlice(root, &slice, options)))
      return system.emitError("cannot follow where the temperature comes from");
  for (Operation &op : system.getBody().front()) {
    if (!slice.contains(&op))
      continue;
    if (isa<TermOp>(op))
      return op.emitError("the table form needs a temperature and a pressure "
                          "that do not depend on terms; compile this system "
                          "in the straight-line form");
    prologue.push_back(&op);
    if (failed(emitter.emit(&op)))
      return failure();
  }
  b.loc = system.getLoc();
  if (temperature) {
    T = emitter.get(temperature);
    emitter.formulas.reciprocal(T);
    emitter.formulas.log(T);
    if (usesReaclib)
      emitter.formulas.prepareReaclib(T);
  }
  if (pressure) {
    P = emitter.get(pressure);
    if (usesLogP)
      emitter.formulas.log(P);
    if (usesLog10P)
      emitter.formulas.log10(P);
  }
  return success();
}

void TableForm::addTerm(TermOp op, Step &step) {
  auto factors = stateList(op.getOrderStates(), op.getOrders());
  bool hasRealOrder = llvm::any_of(factors, [](auto factor) {
    double order = factor.second;
    return order != 1 && order != 2 && order != 3 && order != 4;
  });
  step.operands = {op.getCoefficient()};
  step.lists.push_back(factors);
  for (ArrayRef<WeightedState> entries : weights[numTerms]) {
    auto &list = step.lists.emplace_back();
    for (const WeightedState &entry : entries)
      list.push_back({int32_t(entry.state), entry.weight});
  }
  if (quantity == Quantity::TermValues)
    step.lists.push_back({{int32_t(numTerms), 0.0}});
  ++numTerms;

  setKind(
      step, hasRealOrder ? "term_real" : "term",
      [this, hasRealOrder](StepReader &reader, Arrays arrays) {
        Value coefficient = reader.operand(0);
        Value value = reader.overList(
            0, {coefficient}, [&](Value position, ValueRange carried) {
              Value y = b.readRow(reader.slots, reader.listSlot(position));
              Value order = reader.listScalar(position);
              auto isOrder = [&](double number) -> Value {
                Value wanted = arith::ConstantOp::create(
                    b.builder, b.loc, b.builder.getF64FloatAttr(number));
                return arith::CmpFOp::create(b.builder, b.loc,
                                             CmpFPredicate::OEQ, order, wanted);
              };
              // Powers cost little beside the loads, so all are computed.
              Value square = b.multiply(y, y);
              Value q = hasRealOrder ? emitter.formulas.realPower(
                                           y, reader.listNumber(position))
                                     : y;
              q = b.select(isOrder(4), b.multiply(square, square), q);
              q = b.select(isOrder(3), b.multiply(square, y), q);
              q = b.select(isOrder(2), square, q);
              q = b.select(isOrder(1), y, q);
              return SmallVector<Value>{b.multiply(carried[0], q)};
            })[0];
        if (quantity == Quantity::TermValues) {
          Value row = reader.listSlot(reader.column(Lists + 1));
          StoreZonesOp::create(b.builder, b.loc, coefficient,
                               arguments.results[0], row);
          StoreZonesOp::create(b.builder, b.loc, value, arguments.results[1],
                               row);
        } else {
          for (unsigned i = 1; i < arrays.size(); ++i)
            arrays[i] = reader.overList(
                i, {arrays[i]}, [&](Value position, ValueRange carried) {
                  Value state = reader.listSlot(position);
                  Value sum = emitter.formulas.accumulate(
                      reader.listNumber(position), value,
                      b.readRow(carried[0], state));
                  return SmallVector<Value>{b.writeRow(sum, carried[0], state)};
                })[0];
        }
        arrays[0] = b.writeRow(value, arrays[0], reader.column(Destination));
        return arrays;
      });
}

LogicalResult TableForm::addExpression(Operation *op, Step &step) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto number = dyn_cast<FloatAttr>(constant.getValue());
    if (!number || !number.getType().isF64())
      return op->emitError("the table form needs constants of f64");
    step.constants = {number.getValueAsDouble()};
    setFunction(step, "constant",
                [](StepReader &reader) { return reader.constantList(1)[0]; });
    return success();
  }
  if (op->getNumOperands() > 3)
    return op->emitError("'")
           << op->getName() << "' is not supported in a system";
  // An exponent has no slot.
  llvm::append_range(step.operands, isa<math::FPowIOp>(op)
                                        ? op->getOperands().take_front()
                                        : op->getOperands());
  // Check before the loop is built that the operation can be.
  std::string name;
  llvm::raw_string_ostream os(name);
  os << op->getName() << op->getAttrDictionary();
  APInt exponent;
  if (isa<math::FPowIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&exponent)))
    os << exponent;
  OpBuilder::InsertionGuard guard(b.builder);
  Block scratch;
  b.builder.setInsertionPointToStart(&scratch);
  SmallVector<Value> samples;
  for (Value operand : step.operands) {
    auto type = RankedTensorType::get({b.getSize()}, operand.getType());
    samples.push_back(scratch.addArgument(type, op->getLoc()));
  }
  bool isSupported = bool(buildExpression(b, op, samples));
  scratch.clear();
  if (!isSupported)
    return failure();
  setFunction(step, name, [this, op](StepReader &reader) {
    // A slot holds truth as 1.0 or 0.0.
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      if (isExponent(operand.getDefiningOp()))
        continue;
      Value value = reader.operand(i);
      if (operand.getType().isInteger(1))
        value = b.compare(CmpFPredicate::UNE, value, b.constant(0.0));
      operands.push_back(value);
    }
    Value result = buildExpression(b, op, operands);
    if (op->getResult(0).getType().isInteger(1))
      result = b.select(result, b.constant(1.0), b.constant(0.0));
    return result;
  });
  return success();
}

LogicalResult TableForm::addStep(Operation *op) {
  Step step;
  step.result = op->getResult(0);
  RateFormulas &formulas = emitter.formulas;
  // Not finite: an exponential that the formula leaves out.
  auto minusReciprocal = [](double value) {
    return std::fabs(value) < 1e-300 ? -std::numeric_limits<double>::infinity()
                                     : -1 / value;
  };
  bool isRate = true;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](TermOp op) { addTerm(op, step); })
      .Case([&](WeightedSumOp op) {
        step.lists.push_back(stateList(op.getStates(), op.getWeights()));
        setFunction(step, "weighted_sum", [this](StepReader &reader) {
          return weightedSum(reader, b.constant(0.0));
        });
      })
      .Case([&](ThirdBodyOp op) {
        double byDefault = op.getDefaultEfficiency().convertToDouble();
        step.operands = {op.getTotal()};
        step.constants = {byDefault};
        step.lists.push_back(stateList(op.getStates(), op.getEfficiencies()));
        for (auto &entry : step.lists.back())
          entry.second -= byDefault;
        setFunction(step, "third_body", [this](StepReader &reader) {
          Value start =
              b.multiply(reader.constantList(1)[0], reader.operand(0));
          return weightedSum(reader, start);
        });
      })
      .Case([&](ArrheniusOp op) {
        step.constants = {op.getA().convertToDouble(),
                          op.getB().convertToDouble(),
                          -op.getE().convertToDouble()};
        // A kind for each combination of parts that the formula leaves out.
        bool hasB = step.constants[1] != 0, hasE = step.constants[2] != 0;
        setFunction(
            step,
            std::string("arrhenius") + (hasB ? "_b" : "") + (hasE ? "_E" : ""),
            [this, hasB, hasE](StepReader &reader) {
              auto c = reader.constantList(3);
              return emitter.formulas.arrhenius(T, c[0], hasB ? c[1] : Value(),
                                                hasE ? c[2] : Value());
            });
      })
      .Case([&](Nasa7Op op) {
        ThermoQuantity quantity = op.getQuantity();
        step.constants = {op.getTMid().convertToDouble()};
        auto low = deriveNasa7Constants(quantity, op.getLow());
        llvm::append_range(step.constants, low);
        llvm::append_range(step.constants,
                           deriveNasa7Constants(quantity, op.getHigh()));
        unsigned count = low.size();
        setFunction(step, "nasa7_" + stringifyThermoQuantity(quantity).str(),
                    [this, quantity, count](StepReader &reader) {
                      auto c = reader.constantList(1 + 2 * count);
                      return emitter.formulas.nasa7(
                          quantity, T, c[0], ArrayRef(c).slice(1, count),
                          ArrayRef(c).slice(1 + count, count));
                    });
      })
      .Case([&](ReverseRateOp op) {
        step.operands = {op.getForward()};
        llvm::append_range(step.operands, op.getGibbs());
        step.listsOperands = true;
        auto &list = step.lists.emplace_back();
        double dn = 0;
        for (double nu : op.getCoefficients()) {
          list.push_back({0, nu});
          dn += nu;
        }
        step.constants = {-dn, op.getReferencePressure().convertToDouble() /
                                   kGasConstant};
        bool hasDn = dn != 0;
        setFunction(step, hasDn ? "reverse_rate_dn" : "reverse_rate",
                    [this, hasDn](StepReader &reader) {
                      Value x = weightedSum(reader, b.constant(0.0));
                      auto c = reader.constantList(2);
                      return emitter.formulas.reverseRate(
                          reader.operand(0), T, x, hasDn ? c[0] : Value(),
                          c[1]);
                    });
      })
      .Case([&](ReaclibOp op) {
        // Each set is a row of constants; the list holds their places.
        auto &list = step.lists.emplace_back();
        llvm::append_range(step.constants, op.getSets());
        for (size_t i = 0; i < op.getSets().size(); i += 7)
          list.push_back({int32_t(i), 0.0});
        setFunction(step, "reaclib", [this](StepReader &reader) {
          Value first = reader.firstConstant();
          return reader.overList(
              0, {b.constant(0.0)}, [&](Value position, ValueRange carried) {
                Value row = arith::AddIOp::create(b.builder, b.loc, first,
                                                  reader.listSlot(position));
                SmallVector<Value> a;
                for (unsigned i = 0; i < 7; ++i)
                  a.push_back(reader.constantAt(row, i));
                return SmallVector<Value>{
                    b.add(carried[0], emitter.formulas.reaclibSet(T, a))};
              })[0];
        });
      })
      .Case([&](ReducedPressureOp op) {
        step.operands = {op.getLow(), op.getHigh(), op.getThirdBody()};
        setFunction(step, "reduced_pressure", [&formulas](StepReader &reader) {
          return formulas.reducedPressure(reader.operand(0), reader.operand(1),
                                          reader.operand(2));
        });
      })
      .Case([&](TroeOp op) {
        double A = op.getA().convertToDouble();
        step.operands = {op.getReducedPressure()};
        step.constants = {1 - A, A,
                          minusReciprocal(op.getT3().convertToDouble()),
                          minusReciprocal(op.getT1().convertToDouble())};
        bool hasT2 = bool(op.getT2());
        bool hasT3 = std::isfinite(step.constants[2]);
        bool hasT1 = std::isfinite(step.constants[3]);
        if (hasT2)
          step.constants.push_back(-op.getT2()->convertToDouble());
        setFunction(step,
                    std::string("troe") + (hasT3 ? "_T3" : "") +
                        (hasT1 ? "_T1" : "") + (hasT2 ? "_T2" : ""),
                    [this, hasT1, hasT2, hasT3](StepReader &reader) {
                      auto c = reader.constantList(hasT2 ? 5 : 4);
                      return emitter.formulas.troe(T, reader.operand(0), c[0],
                                                   c[1], hasT3 ? c[2] : Value(),
                                                   hasT1 ? c[3] : Value(),
                                                   hasT2 ? c[4] : Value());
                    });
      })
      .Case([&](SriOp op) {
        double c = op.getC().convertToDouble();
        step.operands = {op.getReducedPressure()};
        step.constants = {
            op.getA().convertToDouble(), -op.getB().convertToDouble(),
            c == 0 ? -std::numeric_limits<double>::infinity() : -1 / c,
            op.getD().convertToDouble(), op.getE().convertToDouble()};
        bool hasC = c != 0, hasD = step.constants[3] != 1,
             hasE = step.constants[4] != 0;
        setFunction(step,
                    std::string("sri") + (hasC ? "_c" : "") +
                        (hasD ? "_d" : "") + (hasE ? "_e" : ""),
                    [this, hasC, hasD, hasE](StepReader &reader) {
                      auto c = reader.constantList(5);
                      return emitter.formulas.sri(T, reader.operand(0), c[0],
                                                  c[1], hasC ? c[2] : Value(),
                                                  hasD ? c[3] : Value(),
                                                  hasE ? c[4] : Value());
                    });
      })
      .Case([&](TsangOp op) {
        step.operands = {op.getReducedPressure()};
        step.constants = {op.getA().convertToDouble(),
                          op.getB().convertToDouble()};
        setFunction(step, "tsang", [this](StepReader &reader) {
          auto c = reader.constantList(2);
          return emitter.formulas.tsang(T, reader.operand(0), c[0], c[1]);
        });
      })
      .Case([&](FalloffOp op) {
        step.operands = {op.getHigh(), op.getReducedPressure()};
        bool isBlended = bool(op.getBlending());
        if (isBlended)
          step.operands.push_back(op.getBlending());
        setFunction(step, isBlended ? "falloff" : "falloff_lindemann",
                    [&formulas, isBlended](StepReader &reader) {
                      return formulas.falloff(
                          reader.operand(0), reader.operand(1),
                          isBlended ? reader.operand(2) : Value());
                    });
      })
      .Case([&](ChemicallyActivatedOp op) {
        step.operands = {op.getLow(), op.getReducedPressure()};
        bool isBlended = bool(op.getBlending());
        if (isBlended)
          step.operands.push_back(op.getBlending());
        setFunction(step,
                    isBlended ? "chemically_activated"
                              : "chemically_activated_lindemann",
                    [&formulas, isBlended](StepReader &reader) {
                      return formulas.chemicallyActivated(
                          reader.operand(0), reader.operand(1),
                          isBlended ? reader.operand(2) : Value());
                    });
      })
      .Case([&](PlogOp op) {
        // A pressure's constants: log P, the inverse interval below it, the
        // number of its rows; a row's: A, log A, b, -E. The list holds the
        // places of the pressures.
        auto &list = step.lists.emplace_back();
        for (const PlogTable::Pressure &entry :
             derivePlogTable(op.getRates()).pressures) {
          list.push_back(
              {int32_t(step.constants.size()), double(entry.rows.size())});
          llvm::append_range(
              step.constants,
              ArrayRef<double>{entry.logPressure, entry.inverseInterval});
          for (const PlogTable::Row &row : entry.rows)
            llvm::append_range(
                step.constants,
                ArrayRef<double>{row.A, row.logA, row.b, row.minusE});
        }
        setFunction(step, "plog", [this](StepReader &reader) {
          RateFormulas &formulas = emitter.formulas;
          Value first = reader.firstConstant(), logP = formulas.log(P);
          auto valueAt = [&](Value place, Value count) -> Value {
            auto row = [&](Value index) {
              Value offset =
                  arith::MulIOp::create(b.builder, b.loc, index, b.index(4));
              offset = arith::AddIOp::create(b.builder, b.loc, offset, place);
              SmallVector<Value, 4> c;
              for (unsigned i = 0; i < 4; ++i)
                c.push_back(reader.constantAt(offset, 2 + i));
              return c;
            };
            Value isAlone = arith::CmpIOp::create(
                b.builder, b.loc, arith::CmpIPredicate::eq, count, b.index(1));
            return scf::IfOp::create(
                       b.builder, b.loc, isAlone,
                       [&](OpBuilder &, Location) {
                         auto c = row(b.index(0));
                         Value l = formulas.logArrhenius(T, c[1], c[2], c[3]);
                         scf::YieldOp::create(b.builder, b.loc, l);
                       },
                       [&](OpBuilder &, Location) {
                         Value sum = reader.loop(
                             b.index(0), count, {b.constant(1e-300)},
                             [&](Value index, ValueRange carried) {
                               auto c = row(index);
                               return SmallVector<Value>{
                                   b.add(carried[0], formulas.arrheniusOfRow(
                                                         T, c[0], c[2], c[3]))};
                             })[0];
                         scf::YieldOp::create(b.builder, b.loc, b.log(sum));
                       })
                .getResult(0);
          };
          auto enter = [&](Value position) {
            Value place = arith::AddIOp::create(b.builder, b.loc, first,
                                                reader.listSlot(position));
            Value count = reader.listCount(position);
            return std::pair(place, valueAt(place, count));
          };
          Value begin = reader.column(Lists);
          auto [place, value] = enter(begin);
          Value second =
              arith::AddIOp::create(b.builder, b.loc, begin, b.index(1));
          auto last = reader.loop(
              second, reader.column(Lists + 1),
              {value, value, reader.constantAt(place, 0)},
              [&](Value position, ValueRange carried) {
                auto [place, value] = enter(position);
                Value l = formulas.plogInterval(logP, carried[2],
                                                reader.constantAt(place, 1),
                                                carried[1], value, carried[0]);
                return SmallVector<Value>{l, value,
                                          reader.constantAt(place, 0)};
              });
          return b.exp(formulas.plogAbove(logP, last[2], last[1], last[0]));
        });
      })
      .Case([&](ChebyshevOp op) {
        // The list holds the places of the rows and, as a number, their
        // length.
        ChebyshevRange range = deriveChebyshevRange(op);
        int64_t columns = op.getColumns();
        step.constants = {range.temperatureNumerator,
                          range.temperatureDenominator, range.pressureNumerator,
                          range.pressureDenominator};
        llvm::append_range(step.constants, op.getCoefficients());
        auto &list = step.lists.emplace_back();
        for (size_t i = 0; i < op.getCoefficients().size(); i += columns)
          list.push_back({int32_t(4 + i), double(columns)});
        setFunction(step, "chebyshev", [this](StepReader &reader) {
          RateFormulas &formulas = emitter.formulas;
          Value first = reader.firstConstant();
          auto c = reader.constantList(4);
          Value t = formulas.chebyshevTemperature(T, c[0], c[1]);
          Value q = formulas.chebyshevPressure(P, c[2], c[3]);
          Value one = b.constant(1.0);
          auto rowSum = [&](Value position) -> Value {
            Value place = arith::AddIOp::create(b.builder, b.loc, first,
                                                reader.listSlot(position));
            Value count = reader.listCount(position);
            return reader.loop(
                b.index(1), count, {reader.constantAt(place, 0), q, one},
                [&](Value column, ValueRange carried) {
                  Value where =
                      arith::AddIOp::create(b.builder, b.loc, place, column);
                  Value a = b.lookUp(reader.constants, where);
                  return SmallVector<Value>{
                      formulas.accumulate(carried[1], a, carried[0]),
                      formulas.nextChebyshev(q, carried[1], carried[2]),
                      carried[1]};
                })[0];
          };
          Value begin = reader.column(Lists);
          Value second =
              arith::AddIOp::create(b.builder, b.loc, begin, b.index(1));
          Value l = reader.loop(
              second, reader.column(Lists + 1), {rowSum(begin), t, one},
              [&](Value position, ValueRange carried) {
                return SmallVector<Value>{
                    formulas.accumulate(carried[1], rowSum(position),
                                        carried[0]),
                    formulas.nextChebyshev(t, carried[1], carried[2]),
                    carried[1]};
              })[0];
          return formulas.powerOfTen(l);
        });
      })
      .Default([&](Operation *) { isRate = false; });
  if (!isRate && failed(addExpression(op, step)))
    return failure();
  steps.push_back(std::move(step));
  return success();
}

void TableForm::allocateSlots() {
  // A result's slot is free again after the last step that reads it.
  DenseMap<Value, unsigned> lastUse;
  for (auto [index, step] : llvm::enumerate(steps))
    for (Value operand : step.operands)
      lastUse[operand] = index;
  SmallVector<int32_t> free;
  for (auto [index, step] : llvm::enumerate(steps)) {
    // The result gets its slot first: a step's case may read its operands
    // after it has begun to write.
    int32_t slot = free.empty() ? numSlots++ : free.pop_back_val();
    slotOf[step.result] = slot;
    if (!lastUse.count(step.result))
      free.push_back(slot);
    SmallPtrSet<void *, 4> freed;
    for (Value operand : step.operands)
      if (lastUse[operand] == index && slotOf.lookup(operand) >= numInitial &&
          freed.insert(operand.getAsOpaquePointer()).second)
        free.push_back(slotOf[operand]);
  }
}

void TableForm::emitLoop() {
  // The tables.
  SmallVector<int32_t> rows, listSlots;
  SmallVector<double> constants, listNumbers;
  for (Step &step : steps) {
    int32_t row[NumColumns] = {};
    row[Kind] = step.kind;
    row[Destination] = slotOf[step.result];
    for (auto [i, operand] :
         llvm::enumerate(ArrayRef(step.operands).take_front(3)))
      row[Operands + i] = slotOf[operand];
    row[FirstConstant] = constants.size();
    llvm::append_range(constants, step.constants);
    row[Lists] = listSlots.size();
    for (auto [i, list] : llvm::enumerate(step.lists)) {
      for (auto [position, entry] : llvm::enumerate(list)) {
        listSlots.push_back(step.listsOperands
                                ? slotOf[step.operands[position + 1]]
                                : entry.first);
        listNumbers.push_back(entry.second);
      }
      row[Lists + i + 1] = listSlots.size();
    }
    llvm::append_range(rows, ArrayRef(row));
  }
  auto table = [&](auto &values, Type element) -> Value {
    if (values.empty())
      values.push_back({});
    auto type = RankedTensorType::get({int64_t(values.size())}, element);
    return TableOp::create(b.builder, b.loc, type,
                           DenseElementsAttr::get(type, ArrayRef(values)));
  };
  Type i32 = b.builder.getI32Type(), f64 = b.builder.getF64Type();
  Value stepTable = table(rows, i32), constantTable = table(constants, f64);
  Value listSlotTable = table(listSlots, i32);
  Value listNumberTable = table(listNumbers, f64);

  // The arrays.
  Value slots = b.zeroArray(numSlots);
  for (auto [value, slot] : initialSlots)
    slots = b.writeRow(value, slots, b.index(slot));
  Arrays arrays = {slots};
  if (quantity != Quantity::TermValues)
    for (unsigned i = 0; i < arguments.results.size(); ++i)
      arrays.push_back(b.zeroArray(system.getNumStates()));

  if (steps.empty())
    return storeSums(arrays);
  auto loop = scf::ForOp::create(
      b.builder, b.loc, b.index(0), b.index(steps.size()), b.index(1), arrays,
      [&](OpBuilder &, Location, Value position, ValueRange carried) {
        Value base = arith::MulIOp::create(b.builder, b.loc, position,
                                           b.index(NumColumns));
        auto cases =
            llvm::to_vector(llvm::seq<int64_t>(0, int64_t(kinds.size()) - 1));
        Value kind = b.lookUpIndex(stepTable, base);
        auto choice = scf::IndexSwitchOp::create(
            b.builder, b.loc, TypeRange(carried), kind, cases, cases.size());
        for (auto [number, build] : llvm::enumerate(kinds)) {
          Region &region = number < cases.size()
                               ? choice.getCaseRegions()[number]
                               : choice.getDefaultRegion();
          OpBuilder::InsertionGuard guard(b.builder);
          b.builder.createBlock(&region);
          StepReader reader{
              b,    stepTable, constantTable, listSlotTable, listNumberTable,
              base, carried[0]};
          Arrays changed = build(reader, Arrays(carried));
          scf::YieldOp::create(b.builder, b.loc, changed);
        }
        scf::YieldOp::create(b.builder, b.loc, choice.getResults());
      });

  storeSums(loop.getResults());
}

void TableForm::storeSums(ValueRange arrays) {
  if (quantity == Quantity::TermValues)
    return;
  for (auto [i, result] : llvm::enumerate(arguments.results))
    scf::ForOp::create(b.builder, b.loc, b.index(0),
                       b.index(system.getNumStates()), b.index(1), ValueRange{},
                       [&, i = i, result = result](OpBuilder &, Location,
                                                   Value row, ValueRange) {
                         Value sum = b.readRow(arrays[i + 1], row);
                         StoreZonesOp::create(b.builder, b.loc, sum, result,
                                              row);
                         scf::YieldOp::create(b.builder, b.loc);
                       });
}

LogicalResult TableForm::emit() {
  if (failed(emitPrologue()))
    return failure();
  weights = getTermWeights(system, quantity);
  // States and parameters stand in the first slots.
  auto start = [&](Value block) {
    initialSlots.push_back({block, numSlots});
    return numSlots++;
  };
  for (unsigned i = 0; i < system.getNumStates(); ++i)
    start(emitter.state(i));
  SmallVector<int32_t> parameterSlots;
  for (unsigned i = 0; i < system.getNumParameters(); ++i)
    parameterSlots.push_back(start(emitter.parameter(i)));
  int32_t timeSlot = -1;
  for (Operation &op : system.getBody().front()) {
    b.loc = op.getLoc();
    Value result = op.getResult(0);
    if (auto state = dyn_cast<StateOp>(op)) {
      slotOf[result] = *system.findState(state.getName());
    } else if (auto parameter = dyn_cast<ParameterOp>(op)) {
      slotOf[result] =
          parameterSlots[*system.findParameter(parameter.getName())];
    } else if (isa<TimeOp>(op)) {
      if (timeSlot < 0)
        timeSlot = start(emitter.time());
      slotOf[result] = timeSlot;
    } else if (isExponent(&op)) {
      // Read where it is used.
    } else if (llvm::is_contained(prologue, &op)) {
      Value block = emitter.get(result);
      if (result.getType().isInteger(1))
        block = b.select(block, b.constant(1.0), b.constant(0.0));
      slotOf[result] = start(block);
    } else if (failed(addStep(&op))) {
      return failure();
    }
  }
  numInitial = numSlots;
  b.loc = system.getLoc();
  allocateSlots();
  emitLoop();
  return success();
}

LogicalResult wavesmith::emitTable(BlockBuilder &b, OdeSystemOp system,
                                   Quantity quantity,
                                   const KernelArguments &arguments) {
  return TableForm(b, system, quantity, arguments).emit();
}
