//===- Problem.cpp - A network and where it starts ------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Problem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::bench;

ProblemOptions::ProblemOptions(cl::OptionCategory &category)
    : temperature("temperature", cl::value_desc("K"), cl::init(7e9),
                  cl::desc("Temperature in K (default 7e9)"),
                  cl::cat(category)),
      density("density", cl::value_desc("g/cm^3"), cl::init(1e8),
              cl::desc("Density in g/cm^3 (default 1e8)"), cl::cat(category)),
      endTime("end-time", cl::value_desc("s"), cl::init(1e-9),
              cl::desc("End of the integration in s (default 1e-9)"),
              cl::cat(category)),
      initial("initial", cl::value_desc("name=Y,..."),
              cl::desc("Initial abundances in mol/g (default: 0.04166 of "
                       "carbon-12 and 0.03125 of oxygen-16)"),
              cl::cat(category)) {}

std::vector<cl::Option *> ProblemOptions::all() const {
  return {&temperature, &density, &endTime, &initial};
}

Expected<Problem> wavesmith::bench::makeProblem(Network network,
                                                const ProblemOptions &options) {
  Problem problem;
  for (auto [name, value] : {std::pair("temperature", &options.temperature),
                             std::pair("density", &options.density),
                             std::pair("end-time", &options.endTime)})
    if (!(*value > 0) || !std::isfinite(*value))
      return createStringError("got --" + Twine(name) + "=" +
                               shortest(value->getValue()) +
                               ", expected a positive number");
  problem.conditions.temperature = options.temperature;
  problem.conditions.density = options.density;
  problem.conditions.endTime = options.endTime;
  problem.start.y.assign(network.numStates(), 0.0);
  std::string initial = options.initial;
  if (initial.empty()) {
    bool isFern = network.find("12C") >= 0;
    initial = isFern ? "12C=0.04166,16O=0.03125" : "c12=0.04166,o16=0.03125";
  }
  for (StringRef entry : split(initial, ',')) {
    auto [name, text] = entry.trim().split('=');
    double y;
    if (text.getAsDouble(y) || !(y >= 0) || !std::isfinite(y))
      return createStringError("got '" + entry +
                               "' in --initial, expected name=Y with Y >= 0");
    int state = network.find(name);
    if (state < 0)
      return createStringError("the network has no nuclide '" + name +
                               "', which --initial names");
    problem.start.y[state] = y;
  }
  problem.numTerms = network.numTerms();
  problem.network = std::move(network);
  return problem;
}

/// The atoms of a species, from a name such as "CH2(S)"; 0 if it is none.
static double atomsOf(StringRef name) {
  if (name == "AR" || name == "HE")
    return 1;
  name = name.take_until([](char c) { return c == '('; });
  double atoms = 0;
  while (!name.empty()) {
    if (!isUpper(name.front()))
      return 0;
    name = name.drop_front();
    StringRef digits = name.take_while(isDigit);
    unsigned count = 1;
    if (!digits.empty() && digits.getAsInteger(10, count))
      return 0;
    atoms += count;
    name = name.drop_front(digits.size());
  }
  return atoms;
}

Expected<Problem> wavesmith::bench::makeMethaneProblem(StringRef path) {
  mlir::DialectRegistry registry;
  registry.insert<WavesmithDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect, mlir::math::MathDialect,
                  mlir::tensor::TensorDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module =
      mlir::parseSourceFile<mlir::ModuleOp>(path, mlir::ParserConfig(&context));
  if (!module)
    return createStringError("cannot read '" + path + "'");
  auto systems = llvm::to_vector(module->getOps<OdeSystemOp>());
  if (systems.size() != 1)
    return createStringError(path + " has " + Twine(systems.size()) +
                             " systems, expected one");
  OdeSystemOp system = systems.front();
  auto evaluator = OdeEvaluator::create(system);
  if (failed(evaluator))
    return createStringError("the reference cannot evaluate '" + path + "'");
  if (evaluator->getNumParameters() != 1)
    return createStringError(path + ": the system has " +
                             Twine(evaluator->getNumParameters()) +
                             " parameters, expected the temperature alone");

  Problem problem;
  problem.evaluator = std::make_shared<OdeEvaluator>(*evaluator);
  problem.numTerms = evaluator->getNumTerms();
  problem.numParameters = 1;
  for (StringRef name :
       system.getStates().getAsValueRange<mlir::StringAttr>()) {
    problem.network.states.push_back(name.str());
    problem.network.massNumber.push_back(atomsOf(name));
    if (!problem.network.massNumber.back())
      return createStringError(path + ": the name of the species '" + name +
                               "' tells no number of atoms");
  }
  constexpr double gasConstant = 8314.46261815324, pressure = 101325;
  problem.conditions.temperature = 1500;
  problem.conditions.density = 1;
  problem.conditions.endTime = 1e-3;
  double concentration =
      pressure / (gasConstant * problem.conditions.temperature);
  problem.conditions.fluxFraction = 1e-3 * concentration;
  problem.smallestCompared = 1e-20 * concentration;
  problem.start.time = 1e-12;
  problem.start.step = 1e-13;
  problem.start.y.assign(problem.network.numStates(), 0.0);
  // Stoichiometric: CH4 + 2 (O2 + 3.76 N2).
  double sum = 1 + 2 * 4.76, atoms = 0;
  for (auto [name, share] : {std::pair("CH4", 1.0), std::pair("O2", 2.0),
                             std::pair("N2", 2 * 3.76)}) {
    int state = problem.network.find(name);
    if (state < 0)
      return createStringError(path + ": the mechanism has no species '" +
                               Twine(name) + "'");
    problem.start.y[state] = concentration * share / sum;
    atoms += problem.network.massNumber[state] * problem.start.y[state];
  }
  for (double &weight : problem.network.massNumber)
    weight /= atoms;
  return problem;
}

Error Problem::advance(ZoneState &state, double temperature, double density,
                       uint64_t maxSteps) const {
  if (!evaluator) {
    Conditions changed = conditions;
    changed.temperature = temperature;
    changed.density = density;
    SequentialIntegration(network, changed).advance(state, maxSteps);
    return Error::success();
  }
  OdeEvaluator::Integration integration;
  integration.end = conditions.endTime;
  integration.fluxFraction = conditions.fluxFraction;
  integration.timeFraction = 0.1;
  integration.tolerance = conditions.massTolerance;
  for (auto [i, weight] : enumerate(network.massNumber))
    integration.conserved.push_back({unsigned(i), weight});
  integration.total = 1.0;
  integration.maxSteps = maxSteps;
  OdeEvaluator::IntegrationResults results;
  if (Error error =
          evaluator->integrate(integration, state.time, state.step, state.y,
                               temperature, /*numZones=*/1, results))
    return error;
  if (results.status[0] > 1)
    return createStringError("the reference's integration failed with status " +
                             Twine(results.status[0]));
  state.y = results.states;
  state.time = results.time[0];
  state.step = results.step[0];
  state.steps += results.numSteps[0];
  return Error::success();
}
