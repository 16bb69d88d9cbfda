//===- Tsit5Integration.cpp - The method Tsit5, in numbers ----------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The description of `#wavesmith.tsit5` in wavesmith.ode_integrate, written
// down once more in f64. Names are those of the description.
//
//===----------------------------------------------------------------------===//

#include "ZoneIntegrator.h"
#include "wavesmith/Dialect/Wavesmith/IR/Tsit5.h"
#include "llvm/ADT/STLExtras.h"
#include <array>

using namespace wavesmith;
using llvm::ArrayRef;
using llvm::MutableArrayRef;

namespace {

class Tsit5Integrator : public ZoneIntegrator {
public:
  Tsit5Integrator(const OdeProgram &program,
                  const OdeEvaluator::Integration &integration,
                  ArrayRef<int64_t> recordedSteps)
      : ZoneIntegrator(program, integration, recordedSteps),
        method(*integration.tsit5),
        sums(program, [](const Summand &s) { return s.gain - s.loss; }) {
    stage.resize(program.numStates);
    for (std::vector<double> &derivatives : k)
      derivatives.resize(program.numStates);
  }

private:
  void start() override { hasFirst = false; }

  void computeRhs(double time, ArrayRef<double> states,
                  MutableArrayRef<double> derivatives) {
    rates.compute(states, time);
    sums.compute(rates.frame.slots, derivatives);
  }

  bool step() override {
    if (!hasFirst)
      computeRhs(t, y, k[0]);
    hasFirst = true;
    double limited = minimum(h, method.largestStep);
    double next = t + limited, d = limited;
    bool isCut = next >= integration.end;
    if (isCut) {
      next = integration.end;
      d = integration.end - t;
    }
    if (!(limited >= method.smallestStep) || !(next > t) ||
        !llvm::all_of(k[0], [](double v) { return std::isfinite(v); }))
      return false;

    size_t numStates = y.size();
    for (unsigned s = 1; s != tsit5::kNumStages; ++s) {
      for (size_t i = 0; i != numStates; ++i) {
        double sum = 0.0;
        for (unsigned j = 0; j != s; ++j)
          sum = Fn::fma(tsit5::kMatrix[s][j], k[j][i], sum);
        stage[i] = Fn::fma(d, sum + 0.0, y[i]);
      }
      bool isLast = s + 1 == tsit5::kNumStages;
      computeRhs(isLast ? next : Fn::fma(tsit5::kNodes[s], d, t), stage, k[s]);
    }

    double squares = 0.0;
    for (size_t i = 0; i != numStates; ++i) {
      double sum = 0.0;
      for (unsigned j = 0; j != tsit5::kNumStages; ++j)
        sum = Fn::fma(tsit5::kError[j], k[j][i], sum);
      double size = maximum(std::fabs(y[i]), std::fabs(stage[i]));
      double r = (d * sum) / Fn::fma(method.relativeTolerance[i], size,
                                     method.absoluteTolerance[i]);
      squares = Fn::fma(r, r, squares);
    }
    double error = Fn::sqrt(squares / double(numStates));
    double x = method.safety * Fn::pow(error, -0.2);
    double g = d * (x > method.smallestFactor ? minimum(x, method.largestFactor)
                                              : method.smallestFactor);
    ++numSteps;
    if (!(error <= 1.0)) {
      h = g;
      ++branches.rejected;
      return true;
    }
    h = maximum(isCut ? maximum(limited, g) : g, method.smallestStep);
    t = next;
    std::swap(y, stage);
    std::swap(k.front(), k.back());
    ++branches.accepted;
    return true;
  }

  const OdeEvaluator::Integration::Tsit5 &method;
  SumTable sums;
  /// k_1 to k_7.
  std::array<std::vector<double>, tsit5::kNumStages> k;
  /// Whether k_1 is there.
  bool hasFirst = false;
  std::vector<double> stage;
};

} // namespace

std::unique_ptr<ZoneIntegrator>
wavesmith::createTsit5Integrator(const OdeProgram &program,
                                 const OdeEvaluator::Integration &integration,
                                 ArrayRef<int64_t> recordedSteps) {
  return std::make_unique<Tsit5Integrator>(program, integration, recordedSteps);
}
