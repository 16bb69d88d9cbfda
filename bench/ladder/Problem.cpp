//===- Problem.cpp - A network and where it starts ------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Problem.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;
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
  problem.network = std::move(network);
  return problem;
}
