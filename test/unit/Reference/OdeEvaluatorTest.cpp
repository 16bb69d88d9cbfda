//===- OdeEvaluatorTest.cpp - Unit tests ----------------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is expected comes from two sources, neither of which is the evaluator's
// code. The textbook form of each formula, in long double (64 bits of
// precision), bounds the high-precision result to its last bit or two. The
// order of operations that the dialect's description pins, written out with
// std::fma and the device's functions, gives the exact bits of the f64 result.
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Reference/OdeEvaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "wavesmith/Math/DeviceMath.h"
#include "gtest/gtest.h"

#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace mlir;
using namespace wavesmith;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
using Float = long double;
using std::fma;

uint64_t bitsOf(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

/// The same number: equal bits, or both NaN.
bool same(double a, double b) {
  return bitsOf(a) == bitsOf(b) || (std::isnan(a) && std::isnan(b));
}

#define EXPECT_SAME(a, b) EXPECT_PRED2(same, a, b)

class Reference : public ::testing::Test {
protected:
  Reference() {
    context.loadDialect<WavesmithDialect, arith::ArithDialect,
                        math::MathDialect, func::FuncDialect>();
  }

  /// Parses the body of a system with the states A, B, C and the parameters T,
  /// p, x, z; errors are collected.
  FailureOr<OdeEvaluator> parse(const std::string &body) {
    return parseSystem(
        "wavesmith.ode_system @s states [\"A\" : \"1\", \"B\" : \"1\", \"C\" : "
        "\"1\"] parameters [\"T\" : \"K\", \"p\" : \"Pa\", \"x\" : \"1\", "
        "\"z\" : \"1\"] time \"s\" {\n"
        "%T = wavesmith.parameter \"T\"\n%p = wavesmith.parameter \"p\"\n"
        "%x = wavesmith.parameter \"x\"\n%z = wavesmith.parameter \"z\"\n" +
        body + "\n}");
  }

  FailureOr<OdeEvaluator> parseSystem(const std::string &text) {
    errors.clear();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
      if (auto location = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
        errorLine = location.getLine();
      return success();
    });
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, &context, "test");
    if (!module)
      return failure();
    return OdeEvaluator::create(*module->getOps<OdeSystemOp>().begin());
  }

  struct Pair {
    double f64, high;
  };

  /// The value of %k in one zone, in both precisions.
  Pair evaluate(const std::string &body) {
    FailureOr<OdeEvaluator> evaluator =
        parse(body + "\nwavesmith.term %k : \"1/s\" gain [\"A\" = 1.0]");
    if (failed(evaluator)) {
      ADD_FAILURE() << errors;
      return {nan, nan};
    }
    OdeEvaluator::Results results, high;
    std::vector<double> parameters = {T, p, x, z};
    llvm::cantFail(
        evaluator->evaluate(time, states, parameters, 1, {false, 1}, results));
    llvm::cantFail(
        evaluator->evaluate(time, states, parameters, 1, {true, 1}, high));
    return {results.coefficients.back(), high.coefficients.back()};
  }

  /// Checks %k against its bits and against a textbook's formula.
  void check(const std::string &body, double bits, Float exact) {
    Pair k = evaluate(body);
    EXPECT_PRED2(same, k.f64, bits) << body;
    // 0.5 ulp, and the error of long double.
    EXPECT_LE(std::fabs(k.high - exact), 1.2e-16L * std::fabs(exact)) << body;
    EXPECT_LE(std::fabs(k.f64 - exact), 1e-13L * std::fabs(exact)) << body;
  }

  MLIRContext context;
  std::string errors;
  unsigned errorLine = 0;
  double time = 0;
  std::vector<double> states = {0.37, 0.7, 1.1};
  double T = 1234.5, p = 54321.0, x = 0.3, z = 2.7;
};

//===----------------------------------------------------------------------===//
// Terms and sums
//===----------------------------------------------------------------------===//

constexpr const char *robertson = R"(
  wavesmith.ode_system @robertson states ["A" : "mol/l", "B" : "mol/l", "C" : "mol/l"] parameters [] time "s" {
    %k1 = arith.constant 0.04 : f64
    wavesmith.term %k1 : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
    %k2 = arith.constant 3.0e+07 : f64
    wavesmith.term %k2 : "l/mol/s" orders ["B" = 2.0] loss ["B" = 1.0] gain ["C" = 1.0]
    %k3 = arith.constant 1.0e+04 : f64
    wavesmith.term %k3 : "l/mol/s" orders ["B" = 1.0, "C" = 1.0] loss ["B" = 1.0] gain ["A" = 1.0]
  })";

TEST_F(Reference, Robertson) {
  FailureOr<OdeEvaluator> evaluator = parseSystem(robertson);
  ASSERT_TRUE(succeeded(evaluator)) << errors;
  EXPECT_EQ(evaluator->getNumStates(), 3u);
  EXPECT_EQ(evaluator->getNumParameters(), 0u);
  EXPECT_EQ(evaluator->getNumTerms(), 3u);

  // Two zones: the usual start, and one of powers of two so that each product
  // is exact.
  std::vector<double> y = {1.0, 0.5, 0.0, 0x1p-20, 0.0, 0.25};
  double v1 = 0.04 / 2, v2 = 3e7 * 0x1p-40, v3 = 1e4 * 0x1p-22;
  for (bool highPrecision : {false, true}) {
    OdeEvaluator::Results r;
    llvm::cantFail(evaluator->evaluate(0, y, {}, 2, {highPrecision, 1}, r));
    EXPECT_EQ(r.coefficients,
              (std::vector<double>{0.04, 0.04, 3e7, 3e7, 1e4, 1e4}));
    EXPECT_EQ(r.values, (std::vector<double>{0.04, v1, 0, v2, 0, v3}));
    // The differences of B are not exact: in f64 two roundings in the order of
    // the terms, in high precision one at the end.
    double dB = highPrecision ? double(Float(v1) - v2 - v3) : (v1 - v2) - v3;
    EXPECT_EQ(r.derivatives,
              (std::vector<double>{-0.04, v3 - v1, 0.04, dB, 0, v2}));
    EXPECT_EQ(r.production, (std::vector<double>{0, v3, 0.04, v1, 0, v2}));
    EXPECT_EQ(r.loss, (std::vector<double>{0.04, v1, 0, v2 + v3, 0, 0}));
    EXPECT_EQ(r.magnitude[1], v1 + v3);
    EXPECT_EQ(r.magnitude[5], v2);
    EXPECT_NEAR(r.magnitude[3], v1 + v2 + v3, 1e-17);
    EXPECT_EQ(r.productionMagnitude, r.production);
    EXPECT_EQ(r.lossMagnitude, r.loss);
  }
}

/// 1 + 2^-53 + 2^-53: from the left each addition is a tie that goes to 1, any
/// other order gives 1 + 2^-52.
TEST_F(Reference, SumsRunInAscendingOrder) {
  FailureOr<OdeEvaluator> evaluator = parse(R"(
    %one = arith.constant 1.0 : f64
    %tiny = arith.constant 0x3CA0000000000000 : f64
    wavesmith.term %one : "1/s" loss ["B" = 1.0] gain ["A" = 1.0]
    wavesmith.term %tiny : "1/s" loss ["B" = 1.0] gain ["A" = 1.0]
    wavesmith.term %tiny : "1/s" loss ["B" = 1.0] gain ["A" = 1.0])");
  ASSERT_TRUE(succeeded(evaluator)) << errors;
  std::vector<double> parameters = {T, p, x, z};
  OdeEvaluator::Results r;
  llvm::cantFail(evaluator->evaluate(0, states, parameters, 1, {false, 1}, r));
  EXPECT_EQ(r.values[1], 0x1p-53);
  EXPECT_EQ(r.derivatives, (std::vector<double>{1.0, -1.0, 0.0}));
  EXPECT_EQ(r.production, (std::vector<double>{1.0, 0.0, 0.0}));
  EXPECT_EQ(r.loss, (std::vector<double>{0.0, 1.0, 0.0}));
  llvm::cantFail(evaluator->evaluate(0, states, parameters, 1, {true, 1}, r));
  EXPECT_EQ(r.derivatives[0], 1.0 + 0x1p-52);
  EXPECT_EQ(r.loss[1], 1.0 + 0x1p-52);
}

/// (1 + 2^-30)^2 - (1 + 2^-29) is 2^-60 with one rounding, 0 with two.
TEST_F(Reference, SumsAreFused) {
  FailureOr<OdeEvaluator> evaluator = parse(R"(
    %a = arith.constant 1.00000000186264514923095703125 : f64
    %b = arith.constant 1.000000000931322574615478515625 : f64
    wavesmith.term %a : "1/s" loss ["A" = 1.0]
    wavesmith.term %b : "1/s" gain ["A" = 1.000000000931322574615478515625])");
  ASSERT_TRUE(succeeded(evaluator)) << errors;
  std::vector<double> parameters = {T, p, x, z};
  OdeEvaluator::Results r;
  llvm::cantFail(evaluator->evaluate(0, states, parameters, 1, {false, 1}, r));
  EXPECT_EQ(r.derivatives[0], 0x1p-60);
  EXPECT_EQ(r.magnitude[0], fma(1 + 0x1p-30, 1 + 0x1p-30, 1.0 + 0x1p-29));
}

/// The weights' difference is rounded to f64 in the net form, and a zero takes
/// no part even where the value is infinite.
TEST_F(Reference, NetWeights) {
  FailureOr<OdeEvaluator> evaluator = parse(R"(
    %one = arith.constant 3.0 : f64
    %infinite = arith.constant 0x7FF0000000000000 : f64
    wavesmith.term %one : "1/s" loss ["A" = 1.0e-20] gain ["A" = 1.0]
    wavesmith.term %infinite : "1/s" loss ["B" = 2.5] gain ["B" = 2.5])");
  ASSERT_TRUE(succeeded(evaluator)) << errors;
  std::vector<double> parameters = {T, p, x, z};
  for (bool highPrecision : {false, true}) {
    OdeEvaluator::Results r;
    llvm::cantFail(
        evaluator->evaluate(0, states, parameters, 1, {highPrecision, 1}, r));
    EXPECT_EQ(r.derivatives, (std::vector<double>{3.0, 0.0, 0.0}));
    EXPECT_EQ(r.production, (std::vector<double>{3.0, infinity, 0.0}));
    EXPECT_EQ(r.loss, (std::vector<double>{3.0 * 1.0e-20, infinity, 0.0}));
    EXPECT_FALSE(std::signbit(r.derivatives[2]));
  }
}

TEST_F(Reference, OrdersOfTerms) {
  auto value = [&](const std::string &orders, bool highPrecision) {
    FailureOr<OdeEvaluator> evaluator =
        parse("%k = arith.constant 0.1 : f64\nwavesmith.term %k : \"1/s\" "
              "orders [" +
              orders + "] gain [\"C\" = 1.0]");
    if (failed(evaluator)) {
      ADD_FAILURE() << errors;
      return nan;
    }
    std::vector<double> parameters = {T, p, x, z};
    OdeEvaluator::Results r;
    llvm::cantFail(
        evaluator->evaluate(0, states, parameters, 1, {highPrecision, 1}, r));
    return r.values[0];
  };
  double k = 0.1, a = states[0], b = states[1], c = states[2];
  // Left-associated in the order of the states, not of the text.
  EXPECT_SAME(value("\"C\" = 1.0, \"A\" = 1.0, \"B\" = 1.0", false),
              ((k * a) * b) * c);
  EXPECT_SAME(value("\"A\" = 2.0", false), k * (a * a));
  EXPECT_NE(k * (a * a), (k * a) * a) << "the case does not tell them apart";
  EXPECT_SAME(value("\"B\" = 3.0", false), k * ((b * b) * b));
  EXPECT_SAME(value("\"C\" = 4.0", false), k * ((c * c) * (c * c)));
  for (double order : {0.5, 1.5, 5.0, -1.0, -2.5}) {
    std::string text = "\"B\" = " + std::to_string(order);
    EXPECT_SAME(value(text, false),
                k * devicemath::exp(order * devicemath::log(b)));
    Float exact = Float(k) * std::pow(Float(b), Float(order));
    EXPECT_NEAR(value(text, true), exact, 1.2e-16L * exact);
  }
  // What is used up stands still, and so does what is below zero.
  for (double empty : {0.0, -0.0, -1e-20, nan}) {
    states[0] = empty;
    EXPECT_SAME(value("\"A\" = 0.5", false), 0.0) << empty;
    EXPECT_SAME(value("\"A\" = -1.0", true), 0.0) << empty;
    EXPECT_SAME(value("\"A\" = 3.0", false), k * ((empty * empty) * empty));
  }
}

TEST_F(Reference, ATermsValueIsAnOperand) {
  FailureOr<OdeEvaluator> evaluator = parse(R"(
    %t = wavesmith.time
    %v = wavesmith.term %t : "1/s" orders ["B" = 1.0] gain ["A" = 1.0]
    %k = arith.mulf %v, %z : f64
    wavesmith.term %k : "1/s" gain ["C" = 1.0])");
  ASSERT_TRUE(succeeded(evaluator)) << errors;
  std::vector<double> parameters = {T, p, x, z};
  OdeEvaluator::Results r;
  llvm::cantFail(
      evaluator->evaluate(5.5, states, parameters, 1, {false, 1}, r));
  EXPECT_EQ(r.coefficients[0], 5.5);
  EXPECT_EQ(r.values[0], 5.5 * 0.7);
  EXPECT_EQ(r.values[1], (5.5 * 0.7) * 2.7);
}

//===----------------------------------------------------------------------===//
// Rate coefficients
//===----------------------------------------------------------------------===//

TEST_F(Reference, WeightedSum) {
  double a = states[0], b = states[1], c = states[2];
  check("%k = wavesmith.weighted_sum [\"C\" = 0.3, \"A\" = 0.1, \"B\" = -0.2]",
        fma(0.3, c, fma(-0.2, b, fma(0.1, a, 0.0))),
        Float(0.1) * a - Float(0.2) * b + Float(0.3) * c);
}

TEST_F(Reference, ThirdBody) {
  double a = states[0], b = states[1];
  check("%k = wavesmith.third_body %z default 0.7 efficiencies [\"B\" = 15.4, "
        "\"A\" = 0.1]",
        fma(15.4 - 0.7, b, fma(0.1 - 0.7, a, 0.7 * z)),
        Float(0.7) * z + (Float(0.1) - Float(0.7)) * a +
            (Float(15.4) - Float(0.7)) * b);
  // In high precision the difference of the efficiencies is not rounded: seen
  // where the sum cancels.
  z = 0.6;
  Pair k = evaluate("%k = wavesmith.third_body %z default 0.7 efficiencies "
                    "[\"B\" = 0.1]");
  Float exact = Float(0.7) * z + (Float(0.1) - Float(0.7)) * b;
  ASSERT_LT(std::fabs(exact), 1e-15L);
  EXPECT_NEAR(k.high, exact, 0.01L * std::fabs(exact));
  EXPECT_SAME(k.f64, fma(0.1 - 0.7, b, 0.7 * z));
}

/// The textbook's A T^b exp(-E/T).
Float arrheniusExact(Float A, Float b, Float E, Float T) {
  return A * std::pow(T, b) * std::exp(-E / T);
}

/// The dialect's general form.
double arrheniusBits(double A, double b, double E, double T) {
  return A * devicemath::exp(fma(b, devicemath::log(T), -E * (1 / T)));
}

TEST_F(Reference, Arrhenius) {
  check("%k = wavesmith.arrhenius %T A -38.7 b 2.7 E 3150.1542797022735",
        arrheniusBits(-38.7, 2.7, 3150.1542797022735, T),
        arrheniusExact(-38.7, 2.7, 3150.1542797022735, T));
  check("%k = wavesmith.arrhenius %T A 1.2e+17 b 0.0 E -1100.3",
        1.2e17 * devicemath::exp(1100.3 * (1 / T)),
        arrheniusExact(1.2e17, 0, -1100.3, T));
  check("%k = wavesmith.arrhenius %T A 1.2e+17 b -1.3 E 0.0",
        1.2e17 * devicemath::exp(-1.3 * devicemath::log(T)),
        arrheniusExact(1.2e17, -1.3, 0, T));
  check("%k = wavesmith.arrhenius %T A 0.1 b 0.0 E 0.0", 0.1, 0.1);
}

const double nasaLow[] = {3.78245636,      -2.99673416e-03, 9.84730201e-06,
                          -9.68129509e-09, 3.24372837e-12,  -1063.94356,
                          3.65767573};
const double nasaHigh[] = {3.28253784,     1.48308754e-03,  -7.57966669e-07,
                           2.09470555e-10, -2.16717794e-14, -1088.45772,
                           5.45323129};
const std::string nasaText =
    " %T T_mid 1000.0 low [3.78245636, -2.99673416e-03, 9.84730201e-06, "
    "-9.68129509e-09, 3.24372837e-12, -1063.94356, 3.65767573] "
    "high [3.28253784, 1.48308754e-03, -7.57966669e-07, 2.09470555e-10, "
    "-2.16717794e-14, -1088.45772, 5.45323129]";

TEST_F(Reference, Nasa7) {
  for (double temperature : {300.0, 999.9, 1000.0, 1000.1, 2900.0}) {
    T = temperature;
    const double *a = T <= 1000 ? nasaLow : nasaHigh;
    Float t = T, a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], a4 = a[4],
          a5 = a[5], a6 = a[6];
    Float cp = a0 + a1 * t + a2 * t * t + a3 * t * t * t + a4 * t * t * t * t;
    Float h = a0 + a1 / 2 * t + a2 / 3 * t * t + a3 / 4 * t * t * t +
              a4 / 5 * t * t * t * t + a5 / t;
    Float s = a0 * std::log(t) + a1 * t + a2 / 2 * t * t + a3 / 3 * t * t * t +
              a4 / 4 * t * t * t * t + a6;
    check("%k = wavesmith.nasa7 heat_capacity" + nasaText,
          fma(fma(fma(fma(a[4], T, a[3]), T, a[2]), T, a[1]), T, a[0]), cp);
    check("%k = wavesmith.nasa7 enthalpy" + nasaText,
          fma(fma(fma(fma(a[4] / 5, T, a[3] / 4), T, a[2] / 3), T, a[1] / 2), T,
              fma(a[5], 1 / T, a[0])),
          h);
    check("%k = wavesmith.nasa7 gibbs" + nasaText,
          fma(fma(fma(fma(-a[4] / 20, T, -a[3] / 12), T, -a[2] / 6), T,
                  -a[1] / 2),
              T, fma(a[0], 1 - devicemath::log(T), fma(a[5], 1 / T, -a[6]))),
          h - s);
  }
}

TEST_F(Reference, ReverseRate) {
  const double R = 8314.46261815324;
  // A reaction that changes the number of moles: K_c = K_p (p/RT)^dn.
  double g1 = x, g2 = z, kf = 3.7e4;
  std::string constant = "%kf = arith.constant 3.7e+04 : f64\n";
  Float dG = Float(2.0) * g1 - Float(0.5) * g2;
  check(
      constant + "%k = wavesmith.reverse_rate %kf, %T gibbs [%x = 2.0, %z = "
                 "-0.5] reference_pressure 101325.0",
      kf * devicemath::exp(fma(-1.5, devicemath::log((101325.0 / R) * (1 / T)),
                               fma(-0.5, g2, fma(2.0, g1, 0.0)))),
      Float(kf) / (std::exp(-dG) * std::pow(101325.0L / (Float(R) * T), 1.5L)));
  // One that does not.
  check(constant + "%k = wavesmith.reverse_rate %kf, %T gibbs [%x = 1.5, %z = "
                   "-1.5] reference_pressure 101325.0",
        kf * devicemath::exp(fma(-1.5, g2, fma(1.5, g1, 0.0))),
        Float(kf) * std::exp(1.5L * (Float(g1) - g2)));
  // Cantera's bound, on both sides.
  std::string bounded = "%kf = arith.constant 2.0e-300 : f64\n%k = "
                        "wavesmith.reverse_rate %kf, %T gibbs [%x = 1.0, %z = "
                        "-1.0] reference_pressure 101325.0";
  z = 0;
  for (double g : {691.0, 700.0, 1000.0}) {
    x = g;
    Float reverse = std::min(std::exp(Float(g)), Float(1e300));
    check(bounded, 2.0e-300 * std::min(devicemath::exp(g), 1e300),
          Float(2.0e-300) * reverse);
  }
}

TEST_F(Reference, Reaclib) {
  double a[] = {17.18,  -0.3, -13.69, -0.3866, 0.05, -0.0057, -0.6667,
                -10.13, -2.2, 1.1,    0.7,     -0.1, 0.73,    1.4};
  for (double temperature : {1e7, 2.3e8, 0.9e9, 1.1e9, 1.3e9, 1.7e9, 2.9e9}) {
    T = temperature;
    double T9 = T / 1e9, c = devicemath::cbrt(T9), bits = 0;
    Float t = Float(T) / 1e9L, exact = 0;
    for (int s = 0; s != 14; s += 7) {
      bits += devicemath::exp(fma(
          a[s + 6], devicemath::log(T9),
          fma(a[s + 5], T9 * (c * c),
              fma(a[s + 4], T9,
                  fma(a[s + 3], c,
                      fma(a[s + 2], 1 / c, fma(a[s + 1], 1 / T9, a[s])))))));
      exact +=
          std::exp(a[s] + a[s + 1] / t + a[s + 2] * std::pow(t, -1.0L / 3) +
                   a[s + 3] * std::pow(t, 1.0L / 3) + a[s + 4] * t +
                   a[s + 5] * std::pow(t, 5.0L / 3) + a[s + 6] * std::log(t));
    }
    check("%k = wavesmith.reaclib %T sets [[17.18, -0.3, -13.69, -0.3866, "
          "0.05, -0.0057, -0.6667], [-10.13, -2.2, 1.1, 0.7, -0.1, 0.73, "
          "1.4]]",
          bits, exact);
  }
}

//===----------------------------------------------------------------------===//
// Fall-off
//===----------------------------------------------------------------------===//

TEST_F(Reference, FalloffWithoutBlending) {
  check("%k = wavesmith.reduced_pressure %x, %z, %p", (p * x) / (z + 1e-300),
        Float(p) * x / z);
  check("%k = wavesmith.falloff %z, %x", (x * (1.0 / (x + 1.0))) * z,
        Float(z) * x / (1 + Float(x)));
  check("%k = wavesmith.chemically_activated %z, %x", (1.0 / (x + 1.0)) * z,
        Float(z) / (1 + Float(x)));
  check("%k = wavesmith.falloff %z, %x, %p", (x * (p / (x + 1.0))) * z,
        Float(z) * x / (1 + Float(x)) * p);
  check("%k = wavesmith.chemically_activated %z, %x, %p", (p / (x + 1.0)) * z,
        Float(z) / (1 + Float(x)) * p);
  // A rate that is zero at high pressure gives no 0/0.
  z = 0;
  x = 0;
  EXPECT_SAME(evaluate("%k = wavesmith.reduced_pressure %x, %z, %p").f64, 0.0);
}

/// Gilbert, Luther and Troe's broadening from F_cent.
Float blendExact(Float Fcent, Float pr) {
  Float c = -Float(0.4) + Float(-0.67) * std::log10(Fcent);
  Float n = Float(0.75) + Float(-1.27) * std::log10(Fcent);
  Float u = (std::log10(pr) + c) / (n + Float(-0.14) * (std::log10(pr) + c));
  return std::exp(std::log10(Fcent) / (1 + u * u) * 2.302585092994046);
}

double blendBits(double f, double pr) {
  double lf = devicemath::log10(f < 1e-300 ? 1e-300 : f);
  double a =
      devicemath::log10(pr < 1e-300 ? 1e-300 : pr) + fma(-0.67, lf, -0.4);
  double u = a / fma(-0.14, a, fma(-1.27, lf, 0.75));
  return devicemath::exp((lf / fma(u, u, 1.0)) * 2.302585092994046);
}

TEST_F(Reference, Troe) {
  for (double pr : {1e-12, 0.03, 1.0, 750.0}) {
    x = pr;
    double A = 0.7346, T3 = 94.0, T1 = 1756.0, T2 = 5182.0;
    double f = fma(A, devicemath::exp(T * (-1 / T1)),
                   (1 - A) * devicemath::exp(T * (-1 / T3)));
    Float exact = (1 - Float(A)) * std::exp(-T / Float(T3)) +
                  A * std::exp(-T / Float(T1));
    check("%k = wavesmith.troe %T, %x A 0.7346 T3 94.0 T1 1756.0",
          blendBits(f, pr), blendExact(exact, pr));
    check("%k = wavesmith.troe %T, %x A 0.7346 T3 94.0 T1 1756.0 T2 5182.0",
          blendBits(f + devicemath::exp(-T2 * (1 / T)), pr),
          blendExact(exact + std::exp(-Float(T2) / T), pr));
    // An exponential whose temperature is zero is left out.
    check("%k = wavesmith.troe %T, %x A 0.7346 T3 1.0e-301 T1 1756.0",
          blendBits(fma(A, devicemath::exp(T * (-1 / T1)), (1 - A) * 0.0), pr),
          blendExact(A * std::exp(-T / Float(T1)), pr));
    check("%k = wavesmith.troe %T, %x A 0.7346 T3 94.0 T1 0.0",
          blendBits(fma(A, 0.0, (1 - A) * devicemath::exp(T * (-1 / T3))), pr),
          blendExact((1 - Float(A)) * std::exp(-T / Float(T3)), pr));
  }
  // The logarithms are kept from zero.
  x = 0;
  double f = fma(1.0, devicemath::exp(T * (-1 / 1756.0)),
                 0.0 * devicemath::exp(T * (-1 / 94.0)));
  EXPECT_SAME(
      evaluate("%k = wavesmith.troe %T, %x A 1.0 T3 94.0 T1 1756.0").f64,
      blendBits(f, 1e-300));
}

TEST_F(Reference, Tsang) {
  for (double pr : {1e-9, 0.7, 33.0}) {
    x = pr;
    check("%k = wavesmith.tsang %T, %x A 0.95 B -1.0e-04",
          blendBits(fma(-1e-4, T, 0.95), pr),
          blendExact(Float(0.95) + Float(-1e-4) * T, pr));
  }
}

TEST_F(Reference, Sri) {
  for (double pr : {1e-9, 0.7, 33.0}) {
    x = pr;
    double l = devicemath::log10(pr), share = 1 / fma(l, l, 1.0);
    Float lExact = std::log10(Float(pr)), X = 1 / (1 + lExact * lExact);
    double first = 0.54 * devicemath::exp(-201.0 * (1 / T));
    Float firstExact = Float(0.54) * std::exp(-Float(201) / T);
    double second = devicemath::exp(T * (-1 / 1027.3));
    Float secondExact = std::exp(-T / Float(1027.3));
    check("%k = wavesmith.sri %T, %x a 0.54 b 201.0 c 1027.3 d 1.0 e 0.0",
          devicemath::exp(share * devicemath::log(first + second)),
          std::pow(firstExact + secondExact, X));
    check("%k = wavesmith.sri %T, %x a 0.54 b 201.0 c 0.0 d 1.0 e 0.0",
          devicemath::exp(share * devicemath::log(first)),
          std::pow(firstExact, X));
    check("%k = wavesmith.sri %T, %x a 0.54 b 201.0 c 1027.3 d 0.9 e 0.1",
          (devicemath::exp(share * devicemath::log(first + second)) * 0.9) *
              devicemath::exp(0.1 * devicemath::log(T)),
          std::pow(firstExact + secondExact, X) * Float(0.9) *
              std::pow(Float(T), Float(0.1)));
  }
}

//===----------------------------------------------------------------------===//
// Functions of temperature and pressure
//===----------------------------------------------------------------------===//

TEST_F(Reference, Plog) {
  // The second pressure has two rates, one of them negative.
  std::string text =
      "%k = wavesmith.plog %T, %p rates [[1.1e+04, 1.2e-20, 0.3, 5000.0], "
      "[1.3e+05, 3.0e+11, 0.1, 5500.0], [1.3e+05, -1.0e+02, 0.0, 200.0], "
      "[1.7e+06, 0.7, -0.2, 6000.0]]";
  auto log = devicemath::log;
  double P[] = {1.1e4, 1.3e5, 1.7e6};
  // At a pressure of the table, the interval above it counts; whether it does
  // can be seen where the end of the one below is not exact.
  unsigned visible = 0;
  for (double temperature : {300.0, 555.5, 777.7, 999.9, 1234.5, 1777.1}) {
    T = temperature;
    double l[] = {fma(-5000.0, 1 / T, fma(0.3, log(T), log(1.2e-20))),
                  log((1e-300 + arrheniusBits(3e11, 0.1, 5500, T)) +
                      -1e2 * devicemath::exp(-200.0 * (1 / T))),
                  fma(-6000.0, 1 / T, fma(-0.2, log(T), log(0.7)))};
    Float k[] = {arrheniusExact(Float(1.2e-20), Float(0.3), 5000, T),
                 arrheniusExact(3e11L, Float(0.1), 5500, T) +
                     arrheniusExact(-1e2L, 0, 200, T),
                 arrheniusExact(Float(0.7), Float(-0.2), 6000, T)};
    auto inside = [&](int j) {
      return fma(l[j + 1] - l[j],
                 (log(p) - log(P[j])) * (1 / (log(P[j + 1]) - log(P[j]))),
                 l[j]);
    };
    for (double pressure : {5e3, 1.1e4, 3.3e4, 1.3e5, 2.2e5, 1.7e6, 4e6}) {
      p = pressure;
      double bits;
      Float exact;
      if (p < P[0] || p >= P[2]) {
        int j = p < P[0] ? 0 : 2;
        bits = devicemath::exp(l[j]);
        exact = k[j];
      } else {
        int j = p >= P[1];
        bits = devicemath::exp(inside(j));
        Float share = (std::log(Float(p)) - std::log(Float(P[j]))) /
                      (std::log(Float(P[j + 1])) - std::log(Float(P[j])));
        exact = k[j] * std::pow(k[j + 1] / k[j], share);
      }
      check(text, bits, exact);
      if (p == P[1])
        visible |= bits != devicemath::exp(inside(0)) ? 1 : 0;
      if (p == P[2])
        visible |= bits != devicemath::exp(inside(1)) ? 2 : 0;
    }
    // One pressure alone.
    p = 77;
    check("%k = wavesmith.plog %T, %p rates [[1.1e+04, 1.2e-20, 0.3, 5000.0]]",
          devicemath::exp(l[0]), k[0]);
  }
  EXPECT_EQ(visible, 3u) << "the cases do not tell the intervals apart";
}

TEST_F(Reference, Chebyshev) {
  double a[2][3] = {{8.2883, -1.1397, -0.12059}, {1.9764, 1.0037, 0.0071}};
  std::string text = "%k = wavesmith.chebyshev %T, %p T_range [300.0, 2000.0] "
                     "p_range [1000.0, 1.0e+07] coefficients [[8.2883, "
                     "-1.1397, -0.12059], [1.9764, 1.0037, 0.0071]]";
  double logLow = devicemath::log10(1000.0), logHigh = devicemath::log10(1e7);
  for (double pressure : {1e3, 5.4321e4, 9e6}) {
    p = pressure;
    double t = fma(2.0, 1 / T, -(1 / 300.0) - 1 / 2000.0) *
               (1 / (1 / 2000.0 - 1 / 300.0));
    double q = fma(2.0, devicemath::log10(p), -logLow - logHigh) *
               (1 / (logHigh - logLow));
    double C2 = fma(q + q, q, -1.0);
    double d0 = fma(C2, a[0][2], fma(q, a[0][1], a[0][0]));
    double d1 = fma(C2, a[1][2], fma(q, a[1][1], a[1][0]));
    // The textbook's polynomials: cos(n arccos x).
    Float tr =
        (2 / Float(T) - 1 / 300.0L - 1 / 2000.0L) / (1 / 2000.0L - 1 / 300.0L);
    Float pr = (2 * std::log10(Float(p)) - 3 - 7) / (7 - 3);
    Float exact = 0;
    for (int i = 0; i != 2; ++i)
      for (int j = 0; j != 3; ++j)
        exact +=
            a[i][j] * std::cos(i * std::acos(tr)) * std::cos(j * std::acos(pr));
    check(text, devicemath::exp(fma(t, d1, d0) * 2.302585092994046),
          std::exp(exact * Float(2.302585092994046)));
  }
  // Extrapolated, and of high degree in the temperature alone.
  T = 2500;
  p = 1e5;
  double t = fma(2.0, 1 / T, -(1 / 300.0) - 1 / 2000.0) *
             (1 / (1 / 2000.0 - 1 / 300.0));
  double C2 = fma(t + t, t, -1.0), C3 = fma(t + t, C2, -t);
  Float tr =
      (2 / Float(T) - 1 / 300.0L - 1 / 2000.0L) / (1 / 2000.0L - 1 / 300.0L);
  check(
      "%k = wavesmith.chebyshev %T, %p T_range [300.0, 2000.0] p_range "
      "[1000.0, 1.0e+07] coefficients [[0.7], [0.3], [-0.2], [0.11]]",
      devicemath::exp(fma(C3, 0.11, fma(C2, -0.2, fma(t, 0.3, 0.7))) *
                      2.302585092994046),
      std::exp((Float(0.7) + Float(0.3) * tr + Float(-0.2) * (2 * tr * tr - 1) +
                Float(0.11) * (4 * tr * tr * tr - 3 * tr)) *
               Float(2.302585092994046)));
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

TEST_F(Reference, Arithmetic) {
  x = 0.3;
  z = 2.7;
  Float fx = x, fz = z;
  check("%k = arith.addf %x, %z : f64", x + z, fx + fz);
  check("%k = arith.subf %x, %z : f64", x - z, fx - fz);
  check("%k = arith.mulf %x, %z : f64", x * z, fx * fz);
  check("%k = arith.divf %x, %z : f64", x / z, fx / fz);
  check("%k = arith.remf %z, %x : f64", std::fmod(z, x), std::fmod(fz, fx));
  check("%k = arith.negf %x : f64", -x, -fx);
  // Not contracted, and fused where it is said.
  check(
      "%a = arith.mulf %x, %z : f64\n%k = arith.addf %a, %x : f64",
      [](volatile double a, double b) { return a + b; }(x * z, x),
      fx * fz + fx);
  check("%k = math.fma %x, %z, %x : f64", fma(x, z, x), fx * fz + fx);
}

TEST_F(Reference, MathFunctions) {
  struct Case {
    const char *name;
    double (*device)(double);
    Float (*exact)(Float);
    double argument;
  };
#define CASE(name, argument)                                                   \
  {                                                                            \
    #name, devicemath::name, [](Float v) { return std::name(v); }, argument    \
  }
  const Case cases[] = {
      CASE(exp, 0.7),
      CASE(exp2, 0.7),
      CASE(expm1, 0.7),
      CASE(log, 0.7),
      CASE(log2, 0.7),
      CASE(log10, 0.7),
      CASE(log1p, 0.7),
      CASE(cbrt, 0.7),
      CASE(sin, 0.7),
      CASE(cos, 0.7),
      CASE(tan, 0.7),
      CASE(asin, 0.7),
      CASE(acos, 0.7),
      CASE(atan, 0.7),
      CASE(sinh, 0.7),
      CASE(cosh, 0.7),
      CASE(tanh, 0.7),
      CASE(asinh, 0.7),
      CASE(acosh, 1.7),
      CASE(atanh, 0.7),
      CASE(erf, 0.7),
      CASE(erfc, 0.7),
      CASE(sqrt, 0.7),
      // Not ocml's, whose last place depends on the chip.
      {"rsqrt", [](double v) { return 1 / std::sqrt(v); },
       [](Float v) { return 1 / std::sqrt(v); }, 0.7},
  };
#undef CASE
  for (const Case &test : cases) {
    x = test.argument;
    check(std::string("%k = math.") + test.name + " %x : f64", test.device(x),
          test.exact(x));
  }
  check("%k = math.powf %z, %x : f64", devicemath::pow(z, x),
        std::pow(Float(z), Float(x)));
  check("%k = math.atan2 %z, %x : f64", devicemath::atan2(z, x),
        std::atan2(Float(z), Float(x)));
  check("%n = arith.constant -3 : i32\n%k = math.fpowi %z, %n : f64, i32",
        devicemath::pown(z, -3), 1 / (Float(z) * z * z));
  for (double value : {-2.5, -0.5, 0.49999999999999994, 2.5, 1e17}) {
    x = value;
    check("%k = math.floor %x : f64", std::floor(x), std::floor(Float(x)));
    check("%k = math.ceil %x : f64", std::ceil(x), std::ceil(Float(x)));
    check("%k = math.trunc %x : f64", std::trunc(x), std::trunc(Float(x)));
    check("%k = math.round %x : f64", std::round(x), std::round(Float(x)));
    check("%k = math.roundeven %x : f64", std::nearbyint(x),
          std::nearbyint(Float(x)));
    check("%k = math.absf %x : f64", std::fabs(x), std::fabs(Float(x)));
    check("%k = math.copysign %z, %x : f64", std::copysign(z, x),
          std::copysign(Float(z), Float(x)));
  }
}

TEST_F(Reference, MaximumAndMinimum) {
  struct Case {
    double x, z, maximum, minimum, maxnum, minnum;
  };
  const Case cases[] = {{1, 2, 2, 1, 2, 1},
                        {2, 1, 2, 1, 2, 1},
                        {nan, 1, nan, nan, 1, 1},
                        {1, nan, nan, nan, 1, 1},
                        {nan, nan, nan, nan, nan, nan},
                        {0.0, -0.0, 0.0, -0.0, 0.0, -0.0},
                        {-0.0, 0.0, 0.0, -0.0, 0.0, -0.0},
                        {-infinity, 3, 3, -infinity, 3, -infinity}};
  for (const Case &test : cases) {
    x = test.x;
    z = test.z;
    for (auto [name, wanted] : {std::pair("maximumf", test.maximum),
                                std::pair("minimumf", test.minimum),
                                std::pair("maxnumf", test.maxnum),
                                std::pair("minnumf", test.minnum)}) {
      Pair k = evaluate(std::string("%k = arith.") + name + " %x, %z : f64");
      EXPECT_PRED2(same, k.f64, wanted) << name << " " << x << " " << z;
      EXPECT_PRED2(same, k.high, wanted) << name << " " << x << " " << z;
    }
  }
}

TEST_F(Reference, ComparisonsAndSelection) {
  struct Case {
    const char *predicate;
    // For x < z, x = z, x > z, and with a NaN.
    bool less, equal, greater, unordered;
  };
  const Case cases[] = {
      {"false", 0, 0, 0, 0}, {"oeq", 0, 1, 0, 0}, {"ogt", 0, 0, 1, 0},
      {"oge", 0, 1, 1, 0},   {"olt", 1, 0, 0, 0}, {"ole", 1, 1, 0, 0},
      {"one", 1, 0, 1, 0},   {"ord", 1, 1, 1, 0}, {"ueq", 0, 1, 0, 1},
      {"ugt", 0, 0, 1, 1},   {"uge", 0, 1, 1, 1}, {"ult", 1, 0, 0, 1},
      {"ule", 1, 1, 0, 1},   {"une", 1, 0, 1, 1}, {"uno", 0, 0, 0, 1},
      {"true", 1, 1, 1, 1}};
  for (const Case &test : cases)
    for (auto [a, b, wanted] :
         {std::tuple(1.0, 2.0, test.less), std::tuple(0.0, -0.0, test.equal),
          std::tuple(2.0, 1.0, test.greater),
          std::tuple(nan, 1.0, test.unordered),
          std::tuple(1.0, nan, test.unordered)}) {
      x = a;
      z = b;
      Pair k = evaluate(std::string("%c = arith.cmpf ") + test.predicate +
                        ", %x, %z : f64\n%k = arith.select %c, %T, %p : f64");
      EXPECT_EQ(k.f64, wanted ? T : p) << test.predicate << a << " " << b;
      EXPECT_EQ(k.high, wanted ? T : p) << test.predicate << a << " " << b;
    }
}

TEST_F(Reference, TruthValues) {
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      x = a ? nan : 1;
      z = b ? -infinity : 1;
      for (auto [name, wanted] :
           {std::pair("andi", a && b), std::pair("ori", a || b),
            std::pair("xori", a != b)}) {
        Pair k = evaluate(
            std::string("%a = math.isnan %x : f64\n%b = math.isinf %z : f64\n"
                        "%c = arith.") +
            name + " %a, %b : i1\n%k = arith.select %c, %T, %p : f64");
        EXPECT_EQ(k.f64, wanted ? T : p) << name;
        EXPECT_EQ(k.high, wanted ? T : p) << name;
      }
      Pair k = evaluate("%a = math.isfinite %x : f64\n%true = arith.constant "
                        "true\n%c = arith.xori %a, %true : i1\n%k = "
                        "arith.select %c, %T, %p : f64");
      EXPECT_EQ(k.f64, a ? T : p);
    }
}

TEST_F(Reference, UnknownOperationsAreErrors) {
  // The location is that of the operation: the system's first line is 1, the
  // body starts in line 7.
  auto expectError = [&](const std::string &body, const std::string &message) {
    EXPECT_TRUE(failed(parse(body))) << body;
    EXPECT_EQ(errors, message + "\n");
    EXPECT_EQ(errorLine, 7u) << body;
  };
  expectError("\n%k = math.clampf %x to [%x, %z] : f64",
              "unsupported operation 'math.clampf': the reference evaluator "
              "has no formula for it");
  expectError("\n%k = arith.truncf %x : f64 to f32",
              "unsupported operation 'arith.truncf' on type 'f32': the "
              "reference evaluator expects f64");
  expectError("\n%k = arith.constant 1 : i64",
              "unsupported operation 'arith.constant' on type 'i64': the "
              "reference evaluator expects f64");
  expectError("%n = arith.constant 1 : i32\n%m = arith.andi %n, %n : i32",
              "unsupported operation 'arith.andi' on type 'i32': the reference "
              "evaluator expects f64");
  expectError("%true = arith.constant true\n%k = arith.uitofp %true : i1 to "
              "f64",
              "unsupported operation 'arith.uitofp': the reference evaluator "
              "has no formula for it");
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

/// A system that uses most of the formulas.
constexpr const char *manyRates = R"(
    %s = wavesmith.weighted_sum ["A" = 1.0, "B" = 1.0, "C" = 1.0]
    %M = wavesmith.third_body %s default 1.0 efficiencies ["A" = 2.4, "B" = 15.4]
    %k1 = wavesmith.arrhenius %T A 38.7 b 2.7 E 3150.1542797022735
    %g = wavesmith.nasa7 gibbs %T T_mid 1000.0 low [3.78245636, -2.99673416e-03, 9.84730201e-06, -9.68129509e-09, 3.24372837e-12, -1063.94356, 3.65767573] high [3.28253784, 1.48308754e-03, -7.57966669e-07, 2.09470555e-10, -2.16717794e-14, -1088.45772, 5.45323129]
    %r1 = wavesmith.reverse_rate %k1, %T gibbs [%g = -0.5, %x = 1.0] reference_pressure 101325.0
    wavesmith.term %k1 : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
    wavesmith.term %r1 : "1/s" orders ["B" = 1.0] loss ["B" = 1.0] gain ["A" = 1.0]
    %low = wavesmith.arrhenius %T A 1.2e+17 b -1.0 E 0.0
    %high = wavesmith.arrhenius %T A 1.2e+09 b 0.0 E 12345.6
    %pr = wavesmith.reduced_pressure %low, %high, %M
    %F = wavesmith.troe %T, %pr A 0.7346 T3 94.0 T1 1756.0 T2 5182.0
    %k2 = wavesmith.falloff %high, %pr, %F
    wavesmith.term %k2 : "1/s" orders ["A" = 2.0, "C" = 0.5] loss ["A" = 2.0] gain ["C" = 1.5]
    %k3 = wavesmith.plog %T, %p rates [[1.0e+04, 1.2e+10, 0.0, 5000.0], [1.0e+05, 3.0e+11, 0.0, 5500.0]]
    wavesmith.term %k3 : "1/s" orders ["C" = 1.0] loss ["C" = 1.0] gain ["A" = 0.3, "B" = 0.7]
    %k4 = wavesmith.chebyshev %T, %p T_range [300.0, 2000.0] p_range [1000.0, 1.0e+07] coefficients [[8.2883, -1.1397], [1.9764, 1.0037]]
    wavesmith.term %k4 : "1/s" orders ["B" = 1.0, "C" = 1.0] loss ["B" = 1.0, "C" = 1.0] gain ["A" = 2.0])";

struct Batch {
  size_t numZones;
  std::vector<double> states, parameters;
};

Batch drawBatch(size_t numZones) {
  std::mt19937_64 generator(20260105);
  auto draw = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(generator);
  };
  Batch batch{numZones, {}, {}};
  for (size_t i = 0; i != 3 * numZones; ++i)
    batch.states.push_back(std::exp(draw(-20, 0)));
  for (auto [low, high] : {std::pair(250.0, 2500.0), std::pair(1e3, 1e7),
                           std::pair(-5.0, 5.0), std::pair(0.0, 1.0)})
    for (size_t i = 0; i != numZones; ++i)
      batch.parameters.push_back(draw(low, high));
  return batch;
}

TEST_F(Reference, F64IsCloseToHighPrecision) {
  FailureOr<OdeEvaluator> evaluator = parse(manyRates);
  ASSERT_TRUE(succeeded(evaluator)) << errors;
  Batch batch = drawBatch(300);
  OdeEvaluator::Results f64, high;
  llvm::cantFail(evaluator->evaluate(0, batch.states, batch.parameters,
                                     batch.numZones, {false, 1}, f64));
  llvm::cantFail(evaluator->evaluate(0, batch.states, batch.parameters,
                                     batch.numZones, {true, 1}, high));
  size_t differences = 0;
  for (size_t i = 0; i != f64.values.size(); ++i) {
    ASSERT_LE(std::fabs(f64.values[i] - high.values[i]),
              5e-14 * std::fabs(high.values[i]))
        << i;
    differences += f64.values[i] != high.values[i];
  }
  // They are two computations, not one.
  EXPECT_GT(differences, f64.values.size() / 4);
  for (size_t i = 0; i != f64.derivatives.size(); ++i) {
    ASSERT_LE(std::fabs(f64.derivatives[i] - high.derivatives[i]),
              5e-14 * high.magnitude[i]);
    ASSERT_LE(std::fabs(f64.production[i] - high.production[i]),
              5e-14 * high.productionMagnitude[i]);
    ASSERT_LE(std::fabs(f64.loss[i] - high.loss[i]),
              5e-14 * high.lossMagnitude[i]);
    // The net form is the difference of the other two.
    ASSERT_LE(
        std::fabs(high.derivatives[i] - (high.production[i] - high.loss[i])),
        4e-16 * (high.production[i] + high.loss[i]));
  }
}

bool sameArrays(const std::vector<double> &a, const std::vector<double> &b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), same);
}

void expectSameResults(const OdeEvaluator::Results &a,
                       const OdeEvaluator::Results &b) {
  EXPECT_TRUE(sameArrays(a.derivatives, b.derivatives));
  EXPECT_TRUE(sameArrays(a.production, b.production));
  EXPECT_TRUE(sameArrays(a.loss, b.loss));
  EXPECT_TRUE(sameArrays(a.magnitude, b.magnitude));
  EXPECT_TRUE(sameArrays(a.values, b.values));
}

TEST_F(Reference, ZonesAndThreadsAreIndependent) {
  FailureOr<OdeEvaluator> evaluator = parse(manyRates);
  ASSERT_TRUE(succeeded(evaluator)) << errors;
  Batch batch = drawBatch(7);
  for (bool highPrecision : {false, true}) {
    OdeEvaluator::Results one, many, alone, sums;
    llvm::cantFail(evaluator->evaluate(0, batch.states, batch.parameters, 7,
                                       {highPrecision, 1}, one));
    llvm::cantFail(evaluator->evaluate(0, batch.states, batch.parameters, 7,
                                       {highPrecision, 0}, many));
    expectSameResults(one, many);
    for (size_t zone = 0; zone != 7; ++zone) {
      std::vector<double> states, parameters;
      for (size_t i = 0; i != 3; ++i)
        states.push_back(batch.states[i * 7 + zone]);
      for (size_t i = 0; i != 4; ++i)
        parameters.push_back(batch.parameters[i * 7 + zone]);
      llvm::cantFail(evaluator->evaluate(0, states, parameters, 1,
                                         {highPrecision, 1}, alone));
      for (size_t i = 0; i != 3; ++i)
        EXPECT_SAME(alone.derivatives[i], one.derivatives[i * 7 + zone]);
    }
    if (!highPrecision) {
      // Sums of the same values are the same sums.
      llvm::cantFail(evaluator->evaluateSums(one.values, 7, {}, sums));
      EXPECT_TRUE(sums.coefficients.empty());
      expectSameResults(one, sums);
    }
  }
}

TEST_F(Reference, SumsTakeGivenValues) {
  FailureOr<OdeEvaluator> evaluator = parseSystem(robertson);
  ASSERT_TRUE(succeeded(evaluator)) << errors;
  OdeEvaluator::Results r;
  llvm::cantFail(evaluator->evaluateSums({0.1, 0.7, -0.3}, 1, {}, r));
  EXPECT_EQ(r.derivatives,
            (std::vector<double>{-0.1 + -0.3, (0.1 - 0.7) - -0.3, 0.7}));
  EXPECT_EQ(r.magnitude[0], 0.1 + 0.3);
  EXPECT_EQ(r.lossMagnitude[1], 0.7 + 0.3);
  EXPECT_EQ(r.loss[1], 0.7 + -0.3);
}

TEST_F(Reference, TheCallersEnvironmentDoesNotMatter) {
  FailureOr<OdeEvaluator> evaluator = parse(manyRates);
  ASSERT_TRUE(succeeded(evaluator)) << errors;
  Batch batch = drawBatch(3);
  OdeEvaluator::Results normal, rounded;
  llvm::cantFail(
      evaluator->evaluate(0, batch.states, batch.parameters, 3, {}, normal));
  std::fesetround(FE_UPWARD);
  FailureOr<OdeEvaluator> other = parse(manyRates);
  llvm::cantFail(
      other->evaluate(0, batch.states, batch.parameters, 3, {}, rounded));
  int after = std::fegetround();
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(after, FE_UPWARD);
  expectSameResults(normal, rounded);
}

TEST_F(Reference, ArraysOfAnotherSizeAreErrors) {
  FailureOr<OdeEvaluator> evaluator = parse(manyRates);
  ASSERT_TRUE(succeeded(evaluator)) << errors;
  OdeEvaluator::Results r;
  std::vector<double> numbers(20, 1.0);
  ArrayRef<double> all = numbers;
  auto message = [&](size_t numStates, size_t numParameters, size_t numZones) {
    return llvm::toString(evaluator->evaluate(0, all.take_front(numStates),
                                              all.take_front(numParameters),
                                              numZones, {}, r));
  };
  EXPECT_EQ(message(5, 8, 2), "expected 3 states in 2 zones, got 5 numbers");
  EXPECT_EQ(message(7, 8, 2), "expected 3 states in 2 zones, got 7 numbers");
  EXPECT_EQ(message(6, 4, 2),
            "expected 4 parameters in 2 zones, got 4 numbers");
  EXPECT_EQ(message(6, 8, 2), "");
  EXPECT_EQ(r.derivatives.size(), 6u);
  EXPECT_EQ(message(0, 0, 0), "");
  EXPECT_TRUE(r.derivatives.empty());
  EXPECT_EQ(
      llvm::toString(evaluator->evaluateSums(all.take_front(3), 1, {}, r)),
      "expected 5 term values in 1 zones, got 3 numbers");
}

} // namespace
