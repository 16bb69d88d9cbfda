//===- OdeEvaluator.cpp - The meaning of a system, in numbers -------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Reference/OdeEvaluator.h"
#include "OdeProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <thread>

using namespace mlir;
using namespace wavesmith;

//===----------------------------------------------------------------------===//
// Building a program
//===----------------------------------------------------------------------===//

void ProgramBuilder::addTerm(TermOp op) {
  unsigned coefficient = slotOf(op.getCoefficient());
  auto factors = getWeightedStates(system, op.getOrderStates(), op.getOrders());
  TermData data = {coefficient, 0, {factors.begin(), factors.end()}};
  emit(op.getValue(), [=](auto real) {
    using Real = typename decltype(real)::Number;
    return [=](const auto &frame) {
      return getTermValue<Real>(frame[coefficient], data.factors, frame.states);
    };
  });
  data.valueSlot = slotOf(op.getValue());

  unsigned term = program.terms.size();
  program.terms.push_back(std::move(data));
  llvm::DenseMap<unsigned, Summand> summands;
  auto summand = [&](unsigned state) -> Summand & {
    return summands.try_emplace(state, Summand{term, 0.0, 0.0}).first->second;
  };
  for (const WeightedState &gain :
       getWeightedStates(system, op.getGainStates(), op.getGains()))
    summand(gain.state).gain = gain.weight;
  for (const WeightedState &loss :
       getWeightedStates(system, op.getLossStates(), op.getLosses()))
    summand(loss.state).loss = loss.weight;
  for (const auto &[state, entry] : summands)
    program.sums[state].push_back(entry);
}

LogicalResult ProgramBuilder::add(Operation *op) {
  // These read states or time by their attributes or nature.
  bool varies =
      isa<StateOp, TimeOp, TermOp, WeightedSumOp, ThirdBodyOp>(op) ||
      llvm::any_of(op->getOperands(), [&](Value operand) {
        auto slot = slots.find(operand);
        return slot == slots.end() || program.steps[slot->second].varies;
      });
  if (failed(addOperation(op)))
    return failure();
  for (Value result : op->getResults())
    program.steps[slotOf(result)].varies = varies;
  return success();
}

LogicalResult ProgramBuilder::addOperation(Operation *op) {
  // An integer can only be the exponent of a power, which is a constant.
  bool mayHaveInteger = isa<math::FPowIOp>(op) || isa<arith::ConstantOp>(op);
  auto isKnownType = [&](Type type) {
    return type.isF64() || type.isInteger(1) ||
           (mayHaveInteger && type.isInteger(32));
  };
  for (Type type : llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()),
                                      llvm::to_vector(op->getResultTypes())))
    if (!isKnownType(type))
      return op->emitError("unsupported operation '")
             << op->getName() << "' on type " << type
             << ": the reference evaluator expects f64";

  if (auto term = dyn_cast<TermOp>(op)) {
    addTerm(term);
    return success();
  }
  if (auto state = dyn_cast<StateOp>(op)) {
    unsigned index = *system.findState(state.getName());
    emit(state.getResult(), [=](auto real) {
      return [=](const auto &frame) { return frame.states[index]; };
    });
    return success();
  }
  if (auto parameter = dyn_cast<ParameterOp>(op)) {
    unsigned index = *system.findParameter(parameter.getName());
    emit(parameter.getResult(), [=](auto real) {
      return [=](const auto &frame) { return frame.parameters[index]; };
    });
    return success();
  }
  if (auto time = dyn_cast<TimeOp>(op)) {
    emit(time.getResult(), [=](auto real) {
      return [=](const auto &frame) { return frame.time; };
    });
    return success();
  }
  if (std::optional<LogicalResult> result = addRate(op))
    return *result;
  if (std::optional<LogicalResult> result = addExpression(op))
    return *result;
  return op->emitError("unsupported operation '")
         << op->getName() << "': the reference evaluator has no formula for it";
}

FailureOr<OdeEvaluator> OdeEvaluator::create(OdeSystemOp system) {
  // Constants that formulas derive are computed here.
  devicemath::FloatingPointEnvironment environment;
  auto program = std::make_shared<OdeProgram>();
  program->numStates = system.getNumStates();
  program->numParameters = system.getNumParameters();
  program->sums.resize(program->numStates);
  ProgramBuilder builder(system, *program);
  for (Operation &op : system.getBody().front())
    if (failed(builder.add(&op)))
      return failure();
  return OdeEvaluator(std::move(program));
}

unsigned OdeEvaluator::getNumStates() const { return program->numStates; }
unsigned OdeEvaluator::getNumParameters() const {
  return program->numParameters;
}
unsigned OdeEvaluator::getNumTerms() const { return program->terms.size(); }

//===----------------------------------------------------------------------===//
// Running it
//===----------------------------------------------------------------------===//

static double runStep(const Step &step, const Frame<double> &frame) {
  return step.f64(frame);
}
static BigFloat runStep(const Step &step, const Frame<BigFloat> &frame) {
  return step.high(frame);
}

/// The sums of one state.
template <typename Real> struct StateSums {
  Real derivative = 0.0, production = 0.0, loss = 0.0;
  Real magnitude = 0.0, productionMagnitude = 0.0, lossMagnitude = 0.0;

  void add(const Summand &summand, const Real &v) {
    // In f64 the difference is rounded, as the description says.
    Real net = Real(summand.gain) - Real(summand.loss);
    accumulate(net, v, derivative, magnitude);
    accumulate(summand.gain, v, production, productionMagnitude);
    accumulate(summand.loss, v, loss, lossMagnitude);
  }

private:
  static void accumulate(const Real &weight, const Real &v, Real &sum,
                         Real &magnitude) {
    if (weight == Real(0.0))
      return;
    sum = Fn::fma(weight, v, sum);
    magnitude = Fn::fma(Fn::abs(weight), Fn::abs(v), magnitude);
  }
};

/// Writes the sums of a zone, with the value of a term by its number.
template <typename Real, typename GetValue>
static void storeSums(const OdeProgram &program, size_t zone, size_t numZones,
                      GetValue getValue, OdeEvaluator::Results &results) {
  for (unsigned state = 0; state != program.numStates; ++state) {
    StateSums<Real> sums;
    for (const Summand &summand : program.sums[state])
      sums.add(summand, getValue(summand.term));
    size_t at = state * numZones + zone;
    results.derivatives[at] = Fn::toDouble(sums.derivative);
    results.production[at] = Fn::toDouble(sums.production);
    results.loss[at] = Fn::toDouble(sums.loss);
    results.magnitude[at] = Fn::toDouble(sums.magnitude);
    results.productionMagnitude[at] = Fn::toDouble(sums.productionMagnitude);
    results.lossMagnitude[at] = Fn::toDouble(sums.lossMagnitude);
  }
}

template <typename Real>
static void evaluateZones(const OdeProgram &program, double time,
                          ArrayRef<double> states, ArrayRef<double> parameters,
                          size_t numZones, size_t begin, size_t end,
                          OdeEvaluator::Results &results) {
  Frame<Real> frame;
  frame.time = Real(time);
  frame.states.resize(program.numStates);
  frame.parameters.resize(program.numParameters);
  frame.slots.resize(program.steps.size());
  for (size_t zone = begin; zone != end; ++zone) {
    for (unsigned i = 0; i != program.numStates; ++i)
      frame.states[i] = Real(states[i * numZones + zone]);
    for (unsigned i = 0; i != program.numParameters; ++i)
      frame.parameters[i] = Real(parameters[i * numZones + zone]);
    for (size_t i = 0; i != program.steps.size(); ++i)
      frame.slots[i] = runStep(program.steps[i], frame);
    for (size_t r = 0; r != program.terms.size(); ++r) {
      results.coefficients[r * numZones + zone] =
          Fn::toDouble(frame[program.terms[r].coefficientSlot]);
      results.values[r * numZones + zone] =
          Fn::toDouble(frame[program.terms[r].valueSlot]);
    }
    storeSums<Real>(
        program, zone, numZones,
        [&](unsigned r) -> const Real & {
          return frame[program.terms[r].valueSlot];
        },
        results);
  }
}

template <typename Real>
static void sumZones(const OdeProgram &program, ArrayRef<double> values,
                     size_t numZones, size_t begin, size_t end,
                     OdeEvaluator::Results &results) {
  for (size_t zone = begin; zone != end; ++zone)
    storeSums<Real>(
        program, zone, numZones,
        [&](unsigned r) { return Real(values[r * numZones + zone]); }, results);
}

void wavesmith::forEachPart(size_t numZones, unsigned numThreads,
                            function_ref<void(size_t, size_t)> function) {
  auto run = [&](size_t begin, size_t end) {
    devicemath::FloatingPointEnvironment environment;
    function(begin, end);
    // MPFR keeps constants for each thread.
    mpfr_free_cache();
  };
  unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  numThreads = numThreads == 0 ? cores : std::min(numThreads, cores);
  size_t parts = std::max<size_t>(1, std::min<size_t>(numThreads, numZones));
  std::vector<std::thread> threads;
  for (size_t part = 1; part < parts; ++part)
    threads.emplace_back(run, numZones * part / parts,
                         numZones * (part + 1) / parts);
  run(0, numZones / parts);
  for (std::thread &thread : threads)
    thread.join();
}

llvm::Error wavesmith::checkSize(StringRef what, size_t got, size_t rows,
                                 size_t numZones) {
  if (rows == 0 ? got == 0 : got / rows == numZones && got % rows == 0)
    return llvm::Error::success();
  return llvm::createStringError(
      llvm::Twine("expected ") + llvm::Twine(rows) + " " + what + " in " +
      llvm::Twine(numZones) + " zones, got " + llvm::Twine(got) + " numbers");
}

/// Makes room for everything but coefficients and values.
static void resizeSums(size_t size, OdeEvaluator::Results &results) {
  for (std::vector<double> *sums :
       {&results.derivatives, &results.production, &results.loss,
        &results.magnitude, &results.productionMagnitude,
        &results.lossMagnitude})
    sums->assign(size, 0.0);
}

llvm::Error OdeEvaluator::evaluate(double time, ArrayRef<double> states,
                                   ArrayRef<double> parameters, size_t numZones,
                                   const Options &options,
                                   Results &results) const {
  if (llvm::Error error =
          checkSize("states", states.size(), program->numStates, numZones))
    return error;
  if (llvm::Error error = checkSize("parameters", parameters.size(),
                                    program->numParameters, numZones))
    return error;
  resizeSums(states.size(), results);
  results.coefficients.assign(program->terms.size() * numZones, 0.0);
  results.values.assign(program->terms.size() * numZones, 0.0);
  forEachPart(numZones, options.numThreads, [&](size_t begin, size_t end) {
    auto *run =
        options.highPrecision ? evaluateZones<BigFloat> : evaluateZones<double>;
    run(*program, time, states, parameters, numZones, begin, end, results);
  });
  return llvm::Error::success();
}

llvm::Error OdeEvaluator::evaluateSums(ArrayRef<double> values, size_t numZones,
                                       const Options &options,
                                       Results &results) const {
  if (llvm::Error error = checkSize("term values", values.size(),
                                    program->terms.size(), numZones))
    return error;
  resizeSums(program->numStates * numZones, results);
  results.coefficients.clear();
  results.values.assign(values.begin(), values.end());
  forEachPart(numZones, options.numThreads, [&](size_t begin, size_t end) {
    auto *run = options.highPrecision ? sumZones<BigFloat> : sumZones<double>;
    run(*program, values, numZones, begin, end, results);
  });
  return llvm::Error::success();
}
