//===- DeviceMathTest.cpp - Unit tests ------------------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Math/DeviceMath.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mpfr.h>
#include <random>

using namespace wavesmith;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double smallestDenormal = std::numeric_limits<double>::denorm_min();
constexpr double largest = std::numeric_limits<double>::max();

uint64_t bitsOf(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

/// The same number: equal bits, or both NaN.
bool same(double a, double b) {
  return bitsOf(a) == bitsOf(b) || (std::isnan(a) && std::isnan(b));
}

/// A number of MPFR, with far more bits than any error that is measured.
class Exact {
public:
  Exact() { mpfr_init2(value, 160); }
  explicit Exact(double x) : Exact() { mpfr_set_d(value, x, MPFR_RNDN); }
  ~Exact() { mpfr_clear(value); }
  Exact(const Exact &) = delete;
  Exact &operator=(const Exact &) = delete;
  mpfr_t value;
};

/// |computed - exact| in units of the last place of exact, which is at least
/// the smallest denormal.
double ulps(double computed, const Exact &exact) {
  double rounded = mpfr_get_d(exact.value, MPFR_RNDN);
  if (same(computed, rounded) && (std::isinf(rounded) || std::isnan(rounded)))
    return 0;
  if (!std::isfinite(computed) || !std::isfinite(rounded))
    return infinity;
  long exponent =
      mpfr_zero_p(exact.value) ? -1074 : mpfr_get_exp(exact.value) - 53;
  Exact difference;
  mpfr_sub_d(difference.value, exact.value, computed, MPFR_RNDN);
  mpfr_div_2si(difference.value, difference.value, std::max(exponent, -1074l),
               MPFR_RNDN);
  return std::fabs(mpfr_get_d(difference.value, MPFR_RNDN));
}

using MpfrUnary = int (*)(mpfr_t, const mpfr_t, mpfr_rnd_t);
using MpfrBinary = int (*)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

/// How arguments are drawn: evenly between low and high, or evenly in the
/// exponent.
enum class Draw { Even, Exponent };

double draw(std::mt19937_64 &generator, Draw how, double low, double high) {
  if (how == Draw::Even)
    return std::uniform_real_distribution<double>(low, high)(generator);
  std::uniform_real_distribution<double> exponents(std::log2(low),
                                                   std::log2(high));
  return std::exp2(exponents(generator));
}

struct UnaryCase {
  const char *name;
  double (*function)(double);
  MpfrUnary exact;
  Draw how;
  double low, high;
  double bound;
};

// Where a name is given twice, arguments of another kind are drawn.
const UnaryCase unaryCases[] = {
#define CASE(name, how, low, high, bound)                                      \
  {#name, devicemath::name, mpfr_##name, Draw::how, low, high, bound}
    CASE(exp, Even, -745.2, 709.8, 0.95),
    CASE(exp, Even, -1.0, 1.0, 0.95),
    CASE(exp2, Even, -1075.0, 1024.0, 0.95),
    CASE(exp10, Even, -323.6, 308.3, 1.1),
    CASE(expm1, Even, -40.0, 709.8, 2.0),
    CASE(expm1, Exponent, 1e-20, 1.0, 2.0),
    CASE(log, Exponent, 5e-324, 1.7e308, 0.75),
    CASE(log, Even, 0.5, 2.0, 0.75),
    CASE(log2, Exponent, 5e-324, 1.7e308, 0.75),
    CASE(log2, Even, 0.5, 2.0, 0.75),
    CASE(log10, Exponent, 5e-324, 1.7e308, 0.8),
    CASE(log10, Even, 0.5, 2.0, 0.8),
    CASE(log1p, Exponent, 1e-20, 1e300, 0.75),
    CASE(log1p, Even, -0.999, 1.0, 0.75),
    CASE(cbrt, Exponent, 5e-324, 1.7e308, 0.51),
    CASE(cbrt, Even, -8.0, 8.0, 0.51),
    CASE(sqrt, Exponent, 5e-324, 1.7e308, 0.5),
    {"rsqrt", devicemath::rsqrt, mpfr_rec_sqrt, Draw::Exponent, 5e-324, 1.7e308,
     1.0},
    CASE(sin, Even, -30.0, 30.0, 0.85),
    CASE(sin, Exponent, 1.0, 1.7e308, 0.85),
    CASE(cos, Even, -30.0, 30.0, 0.85),
    CASE(cos, Exponent, 1.0, 1.7e308, 0.85),
    CASE(tan, Even, -30.0, 30.0, 1.3),
    CASE(tan, Exponent, 1.0, 1.7e308, 1.3),
    CASE(asin, Even, -1.0, 1.0, 0.75),
    CASE(acos, Even, -1.0, 1.0, 0.85),
    CASE(atan, Exponent, 1e-10, 1e20, 1.5),
    CASE(sinh, Even, -710.0, 710.0, 0.9),
    CASE(sinh, Exponent, 1e-10, 10.0, 0.9),
    CASE(cosh, Even, -710.0, 710.0, 0.6),
    CASE(tanh, Even, -20.0, 20.0, 0.95),
    CASE(tanh, Exponent, 1e-10, 1.0, 0.95),
    CASE(asinh, Exponent, 1e-10, 1e300, 0.7),
    CASE(acosh, Exponent, 1.0, 1e300, 0.6),
    CASE(atanh, Even, -1.0, 1.0, 0.7),
    CASE(erf, Even, -6.0, 6.0, 1.1),
    CASE(erf, Exponent, 1e-10, 1.0, 1.1),
    CASE(erfc, Even, -6.0, 27.0, 3.2),
#undef CASE
};

/// The number of arguments drawn for each case. docs/numbers.md has results
/// for more of them.
int numSamples() {
  const char *text = std::getenv("WAVESMITH_MATH_SAMPLES");
  return text ? std::max(1, std::atoi(text)) : 2000;
}

TEST(DeviceMath, UnaryFunctionsAreWithinTheirBounds) {
  std::mt19937_64 generator(20260101);
  for (const UnaryCase &test : unaryCases) {
    double worst = 0, where = 0;
    for (int i = 0, e = numSamples(); i != e; ++i) {
      double x = draw(generator, test.how, test.low, test.high);
      Exact exact;
      test.exact(exact.value, Exact(x).value, MPFR_RNDN);
      double error = ulps(test.function(x), exact);
      if (!(error <= worst)) {
        worst = error;
        where = x;
      }
    }
    char drawn[80];
    std::snprintf(drawn, sizeof(drawn), "%s, drawn %s in [%g, %g]", test.name,
                  test.how == Draw::Even ? "evenly" : "by exponent", test.low,
                  test.high);
    if (std::getenv("WAVESMITH_MATH_SAMPLES"))
      std::printf("%-60s worst %.4f ulp at %a\n", drawn, worst, where);
    EXPECT_LE(worst, test.bound) << drawn << ", worst at " << where;
  }
}

struct BinaryCase {
  const char *name;
  double (*function)(double, double);
  MpfrBinary exact;
  Draw how;
  double low, high;
  double secondLow, secondHigh;
  double bound;
};

TEST(DeviceMath, BinaryFunctionsAreWithinTheirBounds) {
  const BinaryCase cases[] = {
      {"pow", devicemath::pow, mpfr_pow, Draw::Exponent, 1e-300, 1e300, -1.02,
       1.02, 1.5},
      {"pow", devicemath::pow, mpfr_pow, Draw::Exponent, 1e-3, 1e3, -100, 100,
       1.5},
      {"pow", devicemath::pow, mpfr_pow, Draw::Even, 0.9, 1.1, -5000, 5000,
       1.5},
      {"atan2", devicemath::atan2, mpfr_atan2, Draw::Even, -10, 10, -10, 10,
       1.8},
      {"fmod", devicemath::fmod, mpfr_fmod, Draw::Exponent, 1e-10, 1e100, -7, 7,
       0.0},
  };
  std::mt19937_64 generator(20260102);
  for (const BinaryCase &test : cases) {
    double worst = 0, whereX = 0, whereY = 0;
    for (int i = 0, e = numSamples(); i != e; ++i) {
      double x = draw(generator, test.how, test.low, test.high);
      double y = draw(generator, Draw::Even, test.secondLow, test.secondHigh);
      Exact exact;
      test.exact(exact.value, Exact(x).value, Exact(y).value, MPFR_RNDN);
      double error = ulps(test.function(x, y), exact);
      if (!(error <= worst)) {
        worst = error;
        whereX = x;
        whereY = y;
      }
    }
    if (std::getenv("WAVESMITH_MATH_SAMPLES"))
      std::printf("%-60s worst %.4f ulp at %a, %a\n", test.name, worst, whereX,
                  whereY);
    EXPECT_LE(worst, test.bound)
        << test.name << ", worst at " << whereX << ", " << whereY;
  }
}

TEST(DeviceMath, IntegerPowersAreWithinTheirBound) {
  std::mt19937_64 generator(20260103);
  double worst = 0;
  for (int i = 0, e = numSamples(); i != e; ++i) {
    double x = draw(generator, Draw::Even, -4, 4);
    int n = static_cast<int>(draw(generator, Draw::Even, -60, 60));
    Exact exact;
    mpfr_pow_si(exact.value, Exact(x).value, n, MPFR_RNDN);
    worst = std::max(worst, ulps(devicemath::pown(x, n), exact));
  }
  if (std::getenv("WAVESMITH_MATH_SAMPLES"))
    std::printf("%-60s worst %.4f ulp\n", "pown", worst);
  EXPECT_LE(worst, 1.5);
}

TEST(DeviceMath, SpecialValues) {
  struct Special {
    const char *name;
    double (*function)(double);
    double argument, result;
  };
  const Special specials[] = {
#define CASE(name, argument, result)                                           \
  {#name "(" #argument ")", devicemath::name, argument, result}
      CASE(exp, nan, nan),
      CASE(exp, infinity, infinity),
      CASE(exp, -infinity, 0.0),
      CASE(exp, 0.0, 1.0),
      CASE(exp, -0.0, 1.0),
      CASE(exp, smallestDenormal, 1.0),
      CASE(exp, 709.9, infinity),
      CASE(exp, -746.0, 0.0),
      // A denormal result is kept.
      CASE(exp, -745.0, smallestDenormal),
      CASE(exp2, -1074.0, smallestDenormal),
      CASE(exp2, 10.0, 1024.0),
      CASE(exp10, 3.0, 1000.0),
      // ocml does not keep the sign of this zero.
      CASE(expm1, -0.0, 0.0),
      CASE(log1p, -0.0, 0.0),
      CASE(expm1, -infinity, -1.0),
      CASE(log, nan, nan),
      CASE(log, infinity, infinity),
      CASE(log, 0.0, -infinity),
      CASE(log, -0.0, -infinity),
      CASE(log, -1.0, nan),
      CASE(log, -infinity, nan),
      CASE(log, 1.0, 0.0),
      // log(2^-1074), rounded: a denormal source is kept.
      CASE(log, smallestDenormal, -744.4400719213812),
      CASE(log2, smallestDenormal, -1074.0),
      CASE(log2, 8.0, 3.0),
      CASE(log10, 0.0, -infinity),
      CASE(log10, -1.0, nan),
      CASE(log10, 1000.0, 3.0),
      CASE(log10, infinity, infinity),
      CASE(log1p, -1.0, -infinity),
      CASE(cbrt, nan, nan),
      CASE(cbrt, infinity, infinity),
      CASE(cbrt, -infinity, -infinity),
      CASE(cbrt, 0.0, 0.0),
      CASE(cbrt, -0.0, -0.0),
      CASE(cbrt, -27.0, -3.0),
      CASE(cbrt, 0x1p-1074, 0x1p-358),
      CASE(sqrt, -0.0, -0.0),
      CASE(sqrt, -1.0, nan),
      CASE(sqrt, smallestDenormal, 0x1p-537),
      CASE(sqrt, infinity, infinity),
      CASE(rsqrt, 0.0, infinity),
      CASE(rsqrt, infinity, 0.0),
      CASE(rsqrt, -1.0, nan),
      CASE(rsqrt, 4.0, 0.5),
      CASE(tanh, infinity, 1.0),
      CASE(tanh, -infinity, -1.0),
      CASE(tanh, -0.0, -0.0),
      CASE(tanh, nan, nan),
      CASE(sin, infinity, nan),
      CASE(sin, -0.0, -0.0),
      CASE(cos, 0.0, 1.0),
      CASE(cos, nan, nan),
      CASE(atan, infinity, 1.5707963267948966),
      CASE(erf, infinity, 1.0),
      CASE(erfc, infinity, 0.0),
      CASE(acosh, 0.5, nan),
      CASE(atanh, 1.0, infinity),
#undef CASE
  };
  for (const Special &special : specials) {
    double result = special.function(special.argument);
    EXPECT_TRUE(same(result, special.result))
        << special.name << " is " << result << ", not " << special.result;
  }
  EXPECT_TRUE(same(devicemath::pow(nan, 0.0), 1.0));
  EXPECT_TRUE(same(devicemath::pow(1.0, nan), 1.0));
  EXPECT_TRUE(same(devicemath::pow(-8.0, 1.0 / 3.0), nan));
  EXPECT_TRUE(same(devicemath::pow(-2.0, 3.0), -8.0));
  EXPECT_TRUE(same(devicemath::pow(0.0, -1.0), infinity));
  EXPECT_TRUE(same(devicemath::pow(0.0, 2.5), 0.0));
  EXPECT_TRUE(same(devicemath::pow(infinity, -2.0), 0.0));
  EXPECT_TRUE(same(devicemath::pow(largest, 2.0), infinity));
  EXPECT_TRUE(same(devicemath::pown(0.0, 0), 1.0));
  EXPECT_TRUE(same(devicemath::pown(-0.0, -3), -infinity));
  EXPECT_TRUE(same(devicemath::atan2(-0.0, -1.0), -3.141592653589793));
  EXPECT_TRUE(same(devicemath::fmod(-7.5, 2.0), -1.5));
  EXPECT_TRUE(same(devicemath::fmod(1.0, 0.0), nan));
}

/// Facts measured before (with a build of the same bitcode by hand): 6.3 % of
/// exp's values and 0.1 % of log's differ from glibc's. It would be 0 % if the
/// names were bound to libm by mistake.
TEST(DeviceMath, DiffersFromTheHostsLibrary) {
#ifndef __GLIBC__
  GTEST_SKIP() << "the rate is known for glibc only";
#endif
  std::mt19937_64 generator(20260104);
  int samples = 100000, expDiffers = 0, logDiffers = 0, cbrtDiffers = 0;
  for (int i = 0; i != samples; ++i) {
    double x = draw(generator, Draw::Even, -700, 700);
    double y = draw(generator, Draw::Exponent, 1e-300, 1e300);
    expDiffers += devicemath::exp(x) != std::exp(x);
    logDiffers += devicemath::log(y) != std::log(y);
    cbrtDiffers += devicemath::cbrt(y) != std::cbrt(y);
  }
  EXPECT_GT(expDiffers, samples * 0.05);
  EXPECT_LT(expDiffers, samples * 0.08);
  EXPECT_GT(logDiffers, 0);
  EXPECT_LT(logDiffers, samples * 0.01);
  EXPECT_GT(cbrtDiffers, samples * 0.4);
}

TEST(DeviceMath, EnvironmentIsPinnedAndRestored) {
  double expected = devicemath::exp(0.7);
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  volatile double third = 1.0, three = 3.0;
  double up = third / three;
  double pinnedQuotient, pinned;
  {
    devicemath::FloatingPointEnvironment environment;
    pinnedQuotient = third / three;
    pinned = devicemath::exp(0.7);
  }
  int after = std::fegetround();
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(after, FE_UPWARD);
  EXPECT_GT(up, pinnedQuotient);
  EXPECT_TRUE(same(pinned, expected));
}

} // namespace
