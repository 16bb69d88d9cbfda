//===- OdeIntegrationTest.cpp - Unit tests --------------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A second integrator, written for one system from the description of
// wavesmith.ode_integrate, says what is expected to the last bit. That the
// method is one at all is seen against a solution in closed form.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "wavesmith/Math/DeviceMath.h"
#include "wavesmith/Reference/OdeEvaluator.h"
#include "gtest/gtest.h"

#include <array>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace wavesmith;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
using std::fma;
using State = std::array<double, 3>;

bool same(double a, double b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0 ||
         (std::isnan(a) && std::isnan(b));
}
#define EXPECT_SAME(a, b) EXPECT_PRED2(same, a, b)

//===----------------------------------------------------------------------===//
// The second integrator
//===----------------------------------------------------------------------===//

/// A <-> B fast, B + B -> B + C slow and rising with time; A gains 2, C is lost
/// at half. An expression of a term's value and of a state makes a rate.
constexpr const char *system3 = R"(
  wavesmith.ode_system @s states ["A" : "1", "B" : "1", "C" : "1"] parameters ["T" : "K"] time "s" {
    %T = wavesmith.parameter "T"
    %t = wavesmith.time
    %k0 = wavesmith.arrhenius %T A 3.0e+05 b 0.5 E 4000.0
    %v0 = wavesmith.term %k0 : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
    %scale = arith.constant 1.0e+03 : f64
    %k1 = arith.mulf %t, %scale : f64
    %v1 = wavesmith.term %k1 : "1/s" orders ["B" = 2.0] loss ["B" = 1.0] gain ["C" = 1.0]
    %C = wavesmith.state "C"
    %k2 = arith.addf %v1, %C : f64
    %v2 = wavesmith.term %k2 : "1/s" orders ["B" = 1.0, "C" = 0.5] loss ["B" = 0.25, "C" = 0.5] gain ["A" = 0.75]
    %k3 = arith.mulf %k0, %scale : f64
    %v3 = wavesmith.term %k3 : "1/s" orders ["B" = 1.0] loss ["B" = 1.0] gain ["A" = 1.0]
  }
  func.func @f(%time: tensor<?xf64>, %end: f64, %step: tensor<?xf64>, %y: tensor<3x?xf64>, %p: tensor<1x?xf64>) -> tensor<3x?xf64> {
    %0:5 = wavesmith.ode_integrate @s(%time, %end, %step, %y, %p)
        method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-05>
        conserved ["B" = 1.25, "A" = 1.0, "C" = 0.7] max_steps 100000
        : (tensor<?xf64>, f64, tensor<?xf64>, tensor<3x?xf64>, tensor<1x?xf64>)
        -> (tensor<3x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
    return %0#0 : tensor<3x?xf64>
  })";

struct Zone {
  double t, h;
  State y;
  double T;
};

struct Outcome {
  double t, h;
  State y;
  int steps, status;
};

/// P and L of the system above.
void getProductionLoss(const State &y, double t, double T, State &P, State &L) {
  double k0 =
      3e5 * devicemath::exp(fma(0.5, devicemath::log(T), -4000.0 * (1.0 / T)));
  double v0 = k0 * y[0];
  double v1 = (t * 1e3) * (y[1] * y[1]);
  double root = y[2] > 0 ? devicemath::exp(0.5 * devicemath::log(y[2])) : 0.0;
  double v2 = ((v1 + y[2]) * y[1]) * root;
  double v3 = (k0 * 1e3) * y[1];
  P = {fma(1.0, v3, fma(0.75, v2, 0.0)), fma(1.0, v0, 0.0), fma(1.0, v1, 0.0)};
  L = {fma(1.0, v0, 0.0), fma(1.0, v3, fma(0.25, v2, fma(1.0, v1, 0.0))),
       fma(0.5, v2, 0.0)};
}

struct Second {
  double end, fluxFraction = 0.01, timeFraction = 0.1, tolerance = 1e-5;
  bool isConserved = true;
  std::optional<double> total = std::nullopt;
  int maxSteps = 100000;
  unsigned reduced = 0, stretched = 0, unchanged = 0;
  unsigned asymptotic = 0, euler = 0;

  double getX(const State &y) const {
    if (!isConserved)
      return 0.0;
    return fma(0.7, y[2], fma(1.25, y[1], fma(1.0, y[0], 0.0)));
  }

  Outcome run(Zone zone) {
    State y = zone.y;
    double t = zone.t, h = zone.h;
    double x0 = getX(y), reference = total.value_or(x0);
    for (int steps = 0;; ++steps) {
      bool isFinite =
          std::isfinite(y[0]) && std::isfinite(y[1]) && std::isfinite(y[2]);
      if (!(t < end))
        return {t, h, y, steps, isFinite ? 0 : 2};
      if (steps == maxSteps)
        return {t, h, y, steps, isFinite ? 1 : 2};
      State P, L;
      getProductionLoss(y, t, zone.T, P, L);
      double m = 0;
      for (int i = 0; i < 3; ++i) {
        double change = std::abs(P[i] - L[i]);
        m = std::isnan(change) || change > m ? change : m;
        if (std::isnan(m))
          break;
      }
      if (std::isnan(m) || m == infinity)
        return {t, h, y, steps, 2};
      auto update = [&](double d, bool isCounted) {
        State next;
        for (int i = 0; i < 3; ++i) {
          double q = (L[i] * d) / y[i];
          if (q > 1)
            next[i] = fma(P[i], d, y[i]) / (1 + q);
          else
            next[i] = fma(P[i] - L[i], d, y[i]);
          if (isCounted)
            ++(q > 1 ? asymptotic : euler);
        }
        return next;
      };
      double h1 = fluxFraction / m;
      for (double limit : {timeFraction * t, h})
        if (!(h1 < limit))
          h1 = std::isnan(h1) ? h1 : limit;
      if (std::isnan(h1) || h1 <= 0)
        return {t, h, y, steps, 2};
      double h2 = h1;
      if (isConserved) {
        double x = getX(update(h1, false));
        if (std::isnan(x) || std::abs(x) == infinity)
          return {t, h, y, steps, 2};
        double c = std::abs(x0 - x), w = tolerance * std::abs(reference);
        if (std::abs(x - reference) > std::abs(x0 - reference) && c > w) {
          double factor = w / (c > 1e-9 * w ? c : 1e-9 * w);
          h2 = h1 * (factor > 0.1 ? factor : 0.1);
          ++reduced;
        } else if (c < 0.25 * w) {
          h2 = h1 * (w / (c > 0.9 * w ? c : 0.9 * w));
          ++stretched;
        } else {
          ++unchanged;
        }
      } else {
        ++unchanged;
      }
      bool isLast = t + h2 >= end;
      y = update(isLast ? end - t : h2, true);
      t = isLast ? end : t + h2;
      h = h2;
      x0 = getX(y);
    }
  }
};

//===----------------------------------------------------------------------===//
// Fixtures
//===----------------------------------------------------------------------===//

class Integrate : public ::testing::Test {
protected:
  Integrate() {
    context.loadDialect<WavesmithDialect, arith::ArithDialect,
                        math::MathDialect, func::FuncDialect>();
    read(system3);
  }

  void read(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    FailureOr<OdeEvaluator> created =
        OdeEvaluator::create(*module->getOps<OdeSystemOp>().begin());
    ASSERT_TRUE(succeeded(created));
    evaluator = *created;
    OdeIntegrateOp op;
    module->walk([&](OdeIntegrateOp found) { op = found; });
    ASSERT_TRUE(op);
    integration = OdeEvaluator::Integration::get(op);
    integration.end = 1.0;
  }

  OdeEvaluator::IntegrationResults run(ArrayRef<Zone> zones) {
    std::vector<double> t, h, y, T;
    for (const Zone &zone : zones) {
      t.push_back(zone.t);
      h.push_back(zone.h);
      T.push_back(zone.T);
    }
    for (unsigned i = 0; i != 3; ++i)
      for (const Zone &zone : zones)
        y.push_back(zone.y[i]);
    OdeEvaluator::IntegrationResults results;
    llvm::cantFail(
        evaluator->integrate(integration, t, h, y, T, zones.size(), results));
    return results;
  }

  /// Zone `zone` of `got` is `wanted`, to the last bit.
  void expectZone(const OdeEvaluator::IntegrationResults &got, size_t zone,
                  const Outcome &wanted) {
    size_t numZones = got.time.size();
    EXPECT_EQ(got.status[zone], wanted.status) << "zone " << zone;
    EXPECT_EQ(got.numSteps[zone], wanted.steps) << "zone " << zone;
    EXPECT_SAME(got.time[zone], wanted.t) << "zone " << zone;
    EXPECT_SAME(got.step[zone], wanted.h) << "zone " << zone;
    for (unsigned i = 0; i != 3; ++i)
      EXPECT_SAME(got.states[i * numZones + zone], wanted.y[i])
          << "zone " << zone << " state " << i;
  }

  void expectSecond(const Second &second, ArrayRef<Zone> zones) {
    OdeEvaluator::IntegrationResults got = run(zones);
    for (auto [index, zone] : llvm::enumerate(zones))
      expectZone(got, index, Second(second).run(zone));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::optional<OdeEvaluator> evaluator;
  OdeEvaluator::Integration integration;
};

const Zone usual = {1e-6, 1e-8, {1.0, 0.0, 0.0}, 1500.0};
const Zone other = {1e-9, 1e-12, {0.3, 0.2, 0.5}, 900.0};
const Zone third = {1e-3, 1e-6, {0.0, 1e-3, 2.0}, 2500.0};

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

TEST_F(Integrate, ReadsTheOperation) {
  EXPECT_EQ(integration.fluxFraction, 0.01);
  EXPECT_EQ(integration.timeFraction, 0.1);
  EXPECT_EQ(integration.tolerance, 1e-5);
  EXPECT_EQ(integration.maxSteps, 100000);
  EXPECT_FALSE(integration.total);
  // In the order of the states, not of the text.
  ASSERT_EQ(integration.conserved.size(), 3u);
  EXPECT_EQ(integration.conserved[0].state, 0u);
  EXPECT_EQ(integration.conserved[0].weight, 1.0);
  EXPECT_EQ(integration.conserved[1].weight, 1.25);
  EXPECT_EQ(integration.conserved[2].weight, 0.7);
}

TEST_F(Integrate, BitsOfASecondIntegrator) {
  expectSecond({1.0}, {usual, other, third});
  Second second{1.0};
  Outcome outcome = second.run(usual);
  // Every branch was met.
  EXPECT_EQ(outcome.status, 0);
  EXPECT_GT(outcome.steps, 100);
  EXPECT_GT(second.reduced, 0u);
  EXPECT_GT(second.stretched, 0u);
  EXPECT_GT(second.unchanged, 0u);
  EXPECT_GT(second.asymptotic, 0u);
  EXPECT_GT(second.euler, 0u);
  EXPECT_EQ(outcome.t, 1.0);
  // The step size that is kept is not the one that was cut to the end.
  EXPECT_GT(outcome.h, 0);
}

TEST_F(Integrate, CountsItsBranches) {
  Second second{1.0};
  Outcome outcome = second.run(usual);
  OdeEvaluator::IntegrationResults got = run({usual});
  EXPECT_EQ(got.branches[0].reduced, second.reduced);
  EXPECT_EQ(got.branches[0].stretched, second.stretched);
  EXPECT_EQ(got.branches[0].unchanged, second.unchanged);
  EXPECT_EQ(got.branches[0].asymptotic, second.asymptotic);
  EXPECT_EQ(got.branches[0].euler, second.euler);
  EXPECT_EQ(second.asymptotic + second.euler, 3u * outcome.steps);
}

TEST_F(Integrate, AGivenTotal) {
  for (double total : {1.0, 0.9, -2.0}) {
    integration.total = total;
    Second second{1.0};
    second.total = total;
    expectSecond(second, {usual, other, third});
  }
}

TEST_F(Integrate, NothingConserved) {
  integration.conserved.clear();
  Second second{1.0};
  second.isConserved = false;
  expectSecond(second, {usual, other, third});
  OdeEvaluator::IntegrationResults got = run({usual});
  EXPECT_EQ(got.branches[0].unchanged, uint64_t(got.numSteps[0]));
  EXPECT_EQ(got.branches[0].reduced + got.branches[0].stretched, 0u);
}

TEST_F(Integrate, OtherNumbersOfTheMethod) {
  integration.fluxFraction = 0.3;
  integration.timeFraction = 0.01;
  integration.tolerance = 1e-3;
  Second second{1.0};
  second.fluxFraction = 0.3;
  second.timeFraction = 0.01;
  second.tolerance = 1e-3;
  expectSecond(second, {usual, other, third});
}

/// dy/dt = -y, whose states are known.
TEST_F(Integrate, ConvergesToTheSolution) {
  read(R"(
    wavesmith.ode_system @s states ["A" : "1", "B" : "1", "C" : "1"] parameters ["T" : "K"] time "s" {
      %k = arith.constant 1.0 : f64
      wavesmith.term %k : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
      %k2 = arith.constant 1.0e+06 : f64
      wavesmith.term %k : "1/s" gain ["C" = 1.0]
      wavesmith.term %k2 : "1/s" orders ["C" = 1.0] loss ["C" = 1.0]
    }
    func.func @f(%time: tensor<?xf64>, %end: f64, %step: tensor<?xf64>, %y: tensor<3x?xf64>, %p: tensor<1x?xf64>) -> tensor<3x?xf64> {
      %0:5 = wavesmith.ode_integrate @s(%time, %end, %step, %y, %p)
          method #wavesmith.asymptotic<flux_fraction = 0.001, time_fraction = 0.1, tolerance = 1.0> max_steps 100000
          : (tensor<?xf64>, f64, tensor<?xf64>, tensor<3x?xf64>, tensor<1x?xf64>)
          -> (tensor<3x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
      return %0#0 : tensor<3x?xf64>
    })");
  integration.end = 2.0;
  std::array<double, 2> errors;
  for (unsigned i = 0; i != 2; ++i) {
    // The largest step there will be: h never grows where nothing is conserved.
    OdeEvaluator::IntegrationResults got =
        run({Zone{1.0, i == 0 ? 1e-3 : 1e-4, {1.0, 0.0, 1e-6}, 300.0}});
    EXPECT_EQ(got.status[0], 0);
    EXPECT_EQ(got.time[0], 2.0);
    errors[i] = std::abs(got.states[0] - std::exp(-1.0));
    EXPECT_NEAR(got.states[0] + got.states[1], 1.0, 1e-12);
    // The stiff state stands at production over loss.
    EXPECT_NEAR(got.states[2], 1e-6, 1e-12);
  }
  // First order.
  EXPECT_LT(errors[0], 3e-4);
  EXPECT_NEAR(errors[1] / errors[0], 0.1, 0.01);
}

//===----------------------------------------------------------------------===//
// Zones
//===----------------------------------------------------------------------===//

TEST_F(Integrate, ZonesAndThreadsAreIndependent) {
  std::vector<Zone> zones;
  for (unsigned i = 0; i != 7; ++i)
    zones.push_back({1e-6 * (i + 1),
                     1e-8,
                     {1.0 / (i + 1), 0.1 * i, 0.01 * i},
                     800.0 + 200.0 * i});
  integration.recordedSteps = {20, 5};
  OdeEvaluator::IntegrationResults one = run(zones);
  integration.numThreads = 0;
  OdeEvaluator::IntegrationResults many = run(zones);
  EXPECT_EQ(one.states, many.states);
  EXPECT_EQ(one.numSteps, many.numSteps);
  ASSERT_EQ(one.records.size(), 14u);
  ASSERT_EQ(many.records.size(), 14u);
  for (size_t zone = 0; zone != 7; ++zone) {
    OdeEvaluator::IntegrationResults alone = run({zones[zone]});
    expectZone(many, zone,
               {alone.time[0],
                alone.step[0],
                {alone.states[0], alone.states[1], alone.states[2]},
                alone.numSteps[0],
                alone.status[0]});
    EXPECT_EQ(one.branches[zone].euler, alone.branches[0].euler);
    EXPECT_EQ(many.records[2 * zone].zone, zone);
    EXPECT_EQ(many.records[2 * zone].numSteps, 5);
    EXPECT_EQ(many.records[2 * zone + 1].numSteps, 20);
    EXPECT_EQ(many.records[2 * zone].states, alone.records[0].states);
  }
  // They are not all the same.
  EXPECT_NE(one.numSteps.front(), one.numSteps.back());
}

TEST_F(Integrate, ABadZoneHarmsNoOther) {
  OdeEvaluator::IntegrationResults good = run({usual, other});
  auto broken = [&](unsigned state, double value) {
    Zone zone = usual;
    zone.y[state] = value;
    return zone;
  };
  std::vector<Zone> badZones = {broken(0, nan),       broken(1, nan),
                                broken(2, nan),       broken(0, infinity),
                                broken(1, -infinity), broken(1, 1e200)};
  // A step of no length would never end.
  for (double value : {nan, 0.0, -0.0, -1e-8, -infinity}) {
    badZones.push_back(usual);
    badZones.back().h = value;
  }
  for (double value : {0.0, -1e-6, -infinity}) {
    badZones.push_back(usual);
    badZones.back().t = value;
  }
  badZones.push_back(usual);
  badZones.back().T = nan;
  for (const Zone &bad : badZones) {
    OdeEvaluator::IntegrationResults got = run({usual, bad, other});
    EXPECT_EQ(got.status[1], 2);
    // It failed in its first step: all is as it was.
    expectZone(got, 1, {bad.t, bad.h, bad.y, 0, 2});
    EXPECT_EQ(got.branches[1].euler + got.branches[1].asymptotic, 0u);
    EXPECT_EQ(got.branches[1].unchanged, 0u);
    for (unsigned zone : {0u, 2u})
      expectZone(got, zone, Second{1.0}.run(zone == 0 ? usual : other));
  }
  EXPECT_EQ(good.status, (std::vector<int32_t>{0, 0}));
}

/// Fails in the middle: what is left is what stood before the step.
TEST_F(Integrate, AStepFailsOnTheWay) {
  read(R"(
    wavesmith.ode_system @s states ["A" : "1", "B" : "1", "C" : "1"] parameters ["T" : "K"] time "s" {
      %t = wavesmith.time
      %half = arith.constant 0.5 : f64
      %late = arith.cmpf ogt, %t, %half : f64
      %one = arith.constant 1.0 : f64
      %infinite = arith.constant 0x7FF0000000000000 : f64
      %k = arith.select %late, %infinite, %one : f64
      wavesmith.term %k : "1/s" gain ["A" = 1.0]
    }
    func.func @f(%time: tensor<?xf64>, %end: f64, %step: tensor<?xf64>, %y: tensor<3x?xf64>, %p: tensor<1x?xf64>) -> tensor<3x?xf64> {
      %0:5 = wavesmith.ode_integrate @s(%time, %end, %step, %y, %p)
          method #wavesmith.asymptotic<flux_fraction = 1.0, time_fraction = 100.0, tolerance = 1.0> max_steps 1000
          : (tensor<?xf64>, f64, tensor<?xf64>, tensor<3x?xf64>, tensor<1x?xf64>)
          -> (tensor<3x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
      return %0#0 : tensor<3x?xf64>
    })");
  // Times are multiples of 1/8, and exact.
  OdeEvaluator::IntegrationResults got =
      run({Zone{0.125, 0.125, {1.0, 2.0, 3.0}, 300.0}});
  expectZone(got, 0, {0.625, 0.125, {1.5, 2.0, 3.0}, 4, 2});
  EXPECT_EQ(got.branches[0].unchanged, 4u);

  // A state that takes no part in anything is looked at in the end, whatever
  // ended the integration.
  integration.end = 0.5;
  for (double bad : {nan, infinity, -infinity}) {
    got = run({Zone{0.125, 0.125, {1.0, bad, 3.0}, 300.0}});
    expectZone(got, 0, {0.5, 0.125, {1.375, bad, 3.0}, 3, 2});
    EXPECT_EQ(got.branches[0].euler, 9u);
  }
  integration.maxSteps = 2;
  got = run({Zone{0.125, 0.125, {1.0, nan, 3.0}, 300.0}});
  expectZone(got, 0, {0.375, 0.125, {1.25, nan, 3.0}, 2, 2});
}

/// One system, states A, B and C, parameter T, with `body`; nothing limits the
/// step but the step size.
std::string getFreeSystem(const std::string &body,
                          const std::string &conserved = "") {
  return "wavesmith.ode_system @s states [\"A\" : \"1\", \"B\" : \"1\", \"C\" "
         ": \"1\"] parameters [\"T\" : \"K\"] time \"s\" {\n" +
         body + R"(
    }
    func.func @f(%time: tensor<?xf64>, %end: f64, %step: tensor<?xf64>, %y: tensor<3x?xf64>, %p: tensor<1x?xf64>) -> tensor<3x?xf64> {
      %0:5 = wavesmith.ode_integrate @s(%time, %end, %step, %y, %p)
          method #wavesmith.asymptotic<flux_fraction = 1.0e+10, time_fraction = 1.0e+10, tolerance = 1.0e+10> )" +
         conserved + R"( max_steps 1000
          : (tensor<?xf64>, f64, tensor<?xf64>, tensor<3x?xf64>, tensor<1x?xf64>)
          -> (tensor<3x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
      return %0#0 : tensor<3x?xf64>
    })";
}

/// t + h rounds to the end, end - t is not h: the step is cut.
TEST_F(Integrate, TheLastStepIsTheRest) {
  read(getFreeSystem(R"(
      %k = arith.constant 1.0 : f64
      wavesmith.term %k : "1/s" gain ["A" = 1.0])"));
  ASSERT_EQ(0.9 + 0.1, 1.0);
  ASSERT_NE(1.0 - 0.9, 0.1);
  expectZone(run({Zone{0.9, 0.1, {0.0, 1.0, 1.0}, 300.0}}), 0,
             {1.0, 0.1, {1.0 - 0.9, 1.0, 1.0}, 1, 0});
}

/// What is conserved is looked at in each step, also a state that has no part
/// in the rates, and a sum that overflows.
TEST_F(Integrate, WhatIsConservedMustBeFinite) {
  read(getFreeSystem(R"(
      %k = arith.constant 1.0 : f64
      wavesmith.term %k : "1/s" gain ["A" = 1.0])",
                     R"(conserved ["B" = 1.0, "C" = 2.0])"));
  OdeEvaluator::IntegrationResults good =
      run({Zone{0.25, 0.125, {0.0, 1.0, 1.0}, 300.0}});
  EXPECT_EQ(good.status[0], 0);
  EXPECT_EQ(good.numSteps[0], 5);
  // Nothing moves what is conserved: each step is stretched.
  EXPECT_EQ(good.branches[0].stretched, 5u);
  for (State y : {State{0.0, nan, 1.0}, State{0.0, 1.0, infinity},
                  State{0.0, 1.0, 1e308}})
    expectZone(run({Zone{0.25, 0.125, y, 300.0}}), 0, {0.25, 0.125, y, 0, 2});
}

/// What is computed once a zone, and what at every step.
TEST_F(Integrate, RatesFollowStatesAndTime) {
  read(getFreeSystem(R"(
      %T = wavesmith.parameter "T"
      %t = wavesmith.time
      %B = wavesmith.state "B"
      %sum = wavesmith.weighted_sum ["A" = 1.0, "B" = 2.0, "C" = 3.0]
      %M = wavesmith.third_body %T default 1.0e-03 efficiencies ["C" = 1.5]
      %k0 = wavesmith.arrhenius %T A 0.3 b 0.1 E 100.0
      %k1 = arith.mulf %k0, %sum : f64
      %k2 = arith.mulf %k0, %M : f64
      %k3 = math.sqrt %t : f64
      %k4 = math.sqrt %B : f64
      wavesmith.term %k0 : "1/s" loss ["A" = 1.0] gain ["B" = 1.0]
      wavesmith.term %k1 : "1/s" gain ["A" = 1.0]
      wavesmith.term %k2 : "1/s" gain ["B" = 1.0]
      wavesmith.term %k3 : "1/s" gain ["C" = 1.0]
      wavesmith.term %k4 : "1/s" gain ["C" = 1.0])"));
  Zone zone = {0.25, 0x1p-10, {1.0, 2.0, 3.0}, 300.0};
  integration.maxSteps = 3;
  OdeEvaluator::IntegrationResults got = run({zone});
  for (unsigned step = 0; step != 3; ++step) {
    OdeEvaluator::Results rates;
    llvm::cantFail(
        evaluator->evaluate(zone.t, zone.y, {zone.T}, 1, {false, 1}, rates));
    for (unsigned i = 0; i != 3; ++i)
      zone.y[i] = fma(rates.production[i] - rates.loss[i], zone.h, zone.y[i]);
    zone.t += zone.h;
  }
  expectZone(got, 0, {zone.t, zone.h, zone.y, 3, 1});
}

TEST_F(Integrate, TooManySteps) {
  Outcome whole = Second{1.0}.run(usual);
  for (int maxSteps : {1, 17, whole.steps - 1, whole.steps}) {
    integration.maxSteps = maxSteps;
    Second second{1.0};
    second.maxSteps = maxSteps;
    expectSecond(second, {usual, other});
    OdeEvaluator::IntegrationResults got = run({usual});
    EXPECT_EQ(got.numSteps[0], maxSteps);
    // Enough is enough: the last one gets there.
    EXPECT_EQ(got.status[0], maxSteps == whole.steps ? 0 : 1);
  }
}

TEST_F(Integrate, NothingToDo) {
  for (double t : {1.0, 1.5, infinity, nan}) {
    Zone zone = usual;
    zone.t = t;
    expectZone(run({zone}), 0, {t, zone.h, zone.y, 0, 0});
    // States are looked at all the same.
    zone.y[1] = nan;
    expectZone(run({zone}), 0, {t, zone.h, zone.y, 0, 2});
  }
  integration.end = nan;
  expectZone(run({usual}), 0, {usual.t, usual.h, usual.y, 0, 0});
  integration.end = 1.0;
  OdeEvaluator::IntegrationResults got = run({});
  EXPECT_TRUE(got.states.empty());
  EXPECT_TRUE(got.status.empty());
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

TEST_F(Integrate, ARecordGoesOnWithTheSameBits) {
  // The total is that of the start, which a record does not know.
  integration.total = 1.0;
  Second second{1.0};
  second.total = 1.0;
  Outcome whole = second.run(usual);
  integration.recordedSteps = {whole.steps - 1, 0, 40, 1, whole.steps, 1000000};
  OdeEvaluator::IntegrationResults got = run({usual});
  ASSERT_EQ(got.records.size(), 4u);
  const OdeEvaluator::Record &first = got.records[0];
  EXPECT_EQ(first.numSteps, 0);
  EXPECT_EQ(first.time, usual.t);
  EXPECT_EQ(first.step, usual.h);
  EXPECT_EQ(first.states, std::vector<double>(usual.y.begin(), usual.y.end()));
  integration.recordedSteps.clear();
  for (const OdeEvaluator::Record &record : got.records) {
    Zone zone = {record.time,
                 record.step,
                 {record.states[0], record.states[1], record.states[2]},
                 usual.T};
    Outcome rest = whole;
    rest.steps -= record.numSteps;
    expectZone(run({zone}), 0, rest);
    // And is what so many steps give.
    if (record.numSteps != 0) {
      second.maxSteps = record.numSteps;
      Outcome so = second.run(usual);
      EXPECT_SAME(so.t, record.time);
      EXPECT_SAME(so.h, record.step);
      EXPECT_SAME(so.y[1], record.states[1]);
    }
  }
}

//===----------------------------------------------------------------------===//
// Callers
//===----------------------------------------------------------------------===//

TEST_F(Integrate, TheCallersEnvironmentDoesNotMatter) {
  OdeEvaluator::IntegrationResults normal = run({usual});
  std::fesetround(FE_UPWARD);
  OdeEvaluator::IntegrationResults upward = run({usual});
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(normal.states, upward.states);
  EXPECT_EQ(normal.numSteps, upward.numSteps);
}

TEST_F(Integrate, WrongArgumentsAreErrors) {
  OdeEvaluator::IntegrationResults results;
  std::vector<double> numbers(20, 1.0);
  ArrayRef<double> all = numbers;
  auto message = [&](size_t numTimes, size_t numSteps, size_t numStates,
                     size_t numParameters) {
    return llvm::toString(evaluator->integrate(
        integration, all.take_front(numTimes), all.take_front(numSteps),
        all.take_front(numStates), all.take_front(numParameters), 2, results));
  };
  EXPECT_EQ(message(1, 2, 6, 2), "expected 1 times in 2 zones, got 1 numbers");
  EXPECT_EQ(message(2, 3, 6, 2),
            "expected 1 step sizes in 2 zones, got 3 numbers");
  EXPECT_EQ(message(2, 2, 5, 2), "expected 3 states in 2 zones, got 5 numbers");
  EXPECT_EQ(message(2, 2, 6, 3),
            "expected 1 parameters in 2 zones, got 3 numbers");
  EXPECT_EQ(message(2, 2, 6, 2), "");
  integration.maxSteps = 0;
  EXPECT_EQ(message(2, 2, 6, 2), "expected max_steps from 1 to 2147483647, "
                                 "got 0");
  integration.maxSteps = int64_t(1) << 31;
  EXPECT_EQ(message(2, 2, 6, 2), "expected max_steps from 1 to 2147483647, "
                                 "got 2147483648");
  integration.maxSteps = 1;
  integration.tsit5 = {{1.0, 1.0, 1.0}, {1.0, 1.0}, 0.9, 0.2, 10.0, 0.0, 1.0};
  EXPECT_EQ(message(2, 2, 6, 2), "expected 3 tolerances, one a state, got 2");
  integration.tsit5->relativeTolerance.push_back(0.0);
  EXPECT_EQ(message(2, 2, 6, 2), "");
  integration.tsit5->absoluteTolerance.push_back(1.0);
  EXPECT_EQ(message(2, 2, 6, 2), "expected 3 tolerances, one a state, got 4");
  integration.tsit5.reset();
  integration.conserved.push_back({3, 1.0});
  EXPECT_EQ(message(2, 2, 6, 2),
            "expected the numbers of conserved states below 3, got 3");
}

} // namespace
