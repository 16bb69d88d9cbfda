//===- Network.cpp - A reaction network as plain arrays -------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Network.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;
using namespace wavesmith;
using namespace wavesmith::bench;

std::string wavesmith::bench::shortest(double value) {
  std::string text;
  raw_string_ostream(text) << format("%g", value);
  return text;
}

/// The mass number of a nuclide: "he4" and "4He", and n, p, d, t; 0 if the name
/// does not tell.
static unsigned massNumberOf(StringRef name) {
  if (unsigned a = StringSwitch<unsigned>(name)
                       .Cases({"n", "p"}, 1)
                       .Case("d", 2)
                       .Case("t", 3)
                       .Default(0))
    return a;
  StringRef digits = name.take_while(isDigit);
  if (digits.empty())
    digits = name.drop_while([](char c) { return !isDigit(c); });
  unsigned a;
  if (digits.empty() || digits.size() == name.size() ||
      digits.getAsInteger(10, a))
    return 0;
  return a;
}

namespace {
/// factor * rho^densityPower * the REACLIB rate, which may be missing.
struct Coefficient {
  double factor = 1.0;
  unsigned densityPower = 0;
  ReaclibOp rate;
};
} // namespace

/// Takes a product of constants, powers of rho and one REACLIB rate apart.
static Error analyze(mlir::Value value, Coefficient &result) {
  mlir::Operation *op = value.getDefiningOp();
  if (auto product = dyn_cast_or_null<mlir::arith::MulFOp>(op)) {
    if (Error error = analyze(product.getLhs(), result))
      return error;
    return analyze(product.getRhs(), result);
  }
  if (auto constant = dyn_cast_or_null<mlir::arith::ConstantOp>(op)) {
    if (auto number = dyn_cast<mlir::FloatAttr>(constant.getValue())) {
      result.factor *= number.getValueAsDouble();
      return Error::success();
    }
  }
  if (auto parameter = dyn_cast_or_null<ParameterOp>(op)) {
    if (parameter.getName() == "rho") {
      ++result.densityPower;
      return Error::success();
    }
    return createStringError("a coefficient has the parameter '" +
                             parameter.getName() + "', expected 'rho'");
  }
  if (auto rate = dyn_cast_or_null<ReaclibOp>(op)) {
    if (result.rate)
      return createStringError("a coefficient is a product of two rates");
    auto temperature = rate.getTemperature().getDefiningOp<ParameterOp>();
    if (!temperature || temperature.getName() != "T")
      return createStringError("a rate's temperature is not the parameter 'T'");
    result.rate = rate;
    return Error::success();
  }
  return createStringError(
      "a coefficient has '" +
      (op ? op->getName().getStringRef() : StringRef("an argument")) +
      "', expected a product of a REACLIB rate, constants and powers of rho");
}

static Error
readTerm(OdeSystemOp system, TermOp term, Network &network,
         std::vector<std::vector<std::pair<uint32_t, double>>> (&entries)[2]) {
  Coefficient coefficient;
  if (Error error = analyze(term.getCoefficient(), coefficient))
    return error;
  if (!coefficient.rate)
    return createStringError("it has no REACLIB rate");
  uint32_t number = network.numTerms();
  network.factor.push_back(coefficient.factor);
  network.densityPower.push_back(coefficient.densityPower);
  ArrayRef<double> numbers = coefficient.rate.getSets();
  for (size_t first = 0; first < numbers.size(); first += 7) {
    std::array<double, 7> &set = network.sets.emplace_back();
    llvm::copy(numbers.slice(first, 7), set.begin());
  }
  network.setBegin.push_back(network.sets.size());

  // Products are formed in ascending order of the states.
  std::vector<std::pair<uint32_t, double>> orders;
  for (auto [name, order] :
       zip(term.getOrderStates().getAsValueRange<mlir::StringAttr>(),
           term.getOrders()))
    orders.push_back({*system.findState(name), order});
  llvm::sort(orders);
  std::array<uint32_t, Network::maxReactants> reactants = {};
  uint32_t count = 0;
  for (auto [state, order] : orders) {
    if (order != 1.0 && order != 2.0 && order != 3.0)
      return createStringError("it has the order " + shortest(order) +
                               ", expected 1, 2 or 3");
    for (int i = 0; i < order; ++i, ++count)
      if (count < Network::maxReactants)
        reactants[count] = state;
  }
  if (count < 1 || count > Network::maxReactants)
    return createStringError("it has " + Twine(count) +
                             " reactants, expected 1 to 3");
  network.reactantCount.push_back(count);
  network.reactants.push_back(reactants);

  double mass = 0;
  for (bool isLoss : {false, true})
    for (auto [name, weight] :
         zip((isLoss ? term.getLossStates() : term.getGainStates())
                 .getAsValueRange<mlir::StringAttr>(),
             isLoss ? term.getLosses() : term.getGains())) {
      uint32_t state = *system.findState(name);
      entries[isLoss][state].push_back({number, weight});
      mass += (isLoss ? -weight : weight) * network.massNumber[state];
    }
  if (mass != 0)
    return createStringError(
        "it does not conserve mass: it makes mass numbers of " +
        shortest(mass));
  return Error::success();
}

Expected<Network> wavesmith::bench::loadNetwork(StringRef path) {
  mlir::DialectRegistry registry;
  registry.insert<WavesmithDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect, mlir::math::MathDialect,
                  mlir::tensor::TensorDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        raw_string_ostream os(diagnostics);
        os << (diagnostics.empty() ? "" : "; ") << diagnostic.getLocation()
           << ": " << diagnostic;
      });
  auto module =
      mlir::parseSourceFile<mlir::ModuleOp>(path, mlir::ParserConfig(&context));
  if (!module)
    return createStringError("cannot read '" + path + "'" +
                             (diagnostics.empty() ? "" : ": " + diagnostics));
  auto systems = llvm::to_vector(module->getOps<OdeSystemOp>());
  if (systems.size() != 1)
    return createStringError(path + " has " + Twine(systems.size()) +
                             " systems, expected one");
  OdeSystemOp system = systems.front();

  Network network;
  for (StringRef name :
       system.getStates().getAsValueRange<mlir::StringAttr>()) {
    unsigned a = massNumberOf(name);
    if (!a)
      return createStringError(path + ": the name of the state '" + name +
                               "' tells no mass number; expected one such as "
                               "'he4' or '4He'");
    network.states.push_back(name.str());
    network.massNumber.push_back(a);
  }
  std::vector<std::vector<std::pair<uint32_t, double>>> entries[2];
  for (auto &list : entries)
    list.resize(network.numStates());
  network.setBegin.push_back(0);
  for (auto [number, term] : enumerate(system.getBody().getOps<TermOp>()))
    if (Error error = readTerm(system, term, network, entries))
      return createStringError(path + ": term " + Twine(number) + ": " +
                               toString(std::move(error)));
  if (!network.numTerms())
    return createStringError(path + ": the system has no terms");
  for (auto [list, sums] : {std::pair(&entries[0], &network.gains),
                            std::pair(&entries[1], &network.losses)}) {
    sums->begin.push_back(0);
    for (auto &ofState : *list) {
      for (auto [term, weight] : ofState) {
        sums->term.push_back(term);
        sums->weight.push_back(weight);
      }
      sums->begin.push_back(sums->term.size());
    }
  }
  return network;
}

std::vector<double> Network::coefficients(double temperature,
                                          double density) const {
  double t9 = temperature / 1e9, root = std::cbrt(t9);
  double inverse = 1 / t9, inverseRoot = 1 / root, log = std::log(t9);
  double power53 = t9 * (root * root);
  std::vector<double> result;
  for (size_t r = 0; r < numTerms(); ++r) {
    double sum = 0;
    for (uint32_t s = setBegin[r]; s < setBegin[r + 1]; ++s) {
      const std::array<double, 7> &a = sets[s];
      sum += std::exp(a[0] + a[1] * inverse + a[2] * inverseRoot + a[3] * root +
                      a[4] * t9 + a[5] * power53 + a[6] * log);
    }
    double scale = factor[r];
    for (uint32_t i = 0; i < densityPower[r]; ++i)
      scale *= density;
    result.push_back(scale * sum);
  }
  return result;
}

int Network::find(StringRef name) const {
  for (auto [i, state] : enumerate(states))
    if (state == name)
      return i;
  return -1;
}
