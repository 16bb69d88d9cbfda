//===- SeedTest.cpp - How far results depend on hardware seeds ------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The chips' v_rcp_f64 and v_rsq_f64 are off by up to 2^29 ulp (AMD's ISA
// guides), v_exp_f32 and v_log_f32 by 1 ulp; Wavesmith's stand-ins are
// correctly rounded. Here the stand-ins are replaced by ones with a random
// error of that size, to see which functions refine their seed so far that the
// result does not change.
//
//===----------------------------------------------------------------------===//

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

// The intrinsics, under other names; those below call them.
#define wavesmith_device_amdgcn_rcp_f64 exactRcp
#define wavesmith_device_amdgcn_rsq_f64 exactRsq
#define wavesmith_device_exp2_f32 exactExp2
#define wavesmith_device_log2_f32 exactLog2
#include "../../../lib/Math/HostIntrinsics.cpp"
#undef wavesmith_device_amdgcn_rcp_f64
#undef wavesmith_device_amdgcn_rsq_f64
#undef wavesmith_device_exp2_f32
#undef wavesmith_device_log2_f32

#include "wavesmith/Math/DeviceMath.h"
#include <random>

namespace {

bool isPerturbed = false;
std::mt19937_64 errors(20260107);
uint64_t seedsTaken = 0;

double perturb(double seed) {
  ++seedsTaken;
  if (!isPerturbed)
    return seed;
  std::uniform_real_distribution<double> error(-0x1p-24, 0x1p-24);
  return seed * (1.0 + error(errors));
}

float perturb(float seed) {
  ++seedsTaken;
  if (!isPerturbed || !(std::fabs(seed) > 0))
    return seed;
  float toward[] = {-INFINITY, seed, INFINITY};
  return std::nextafter(seed, toward[errors() % 3]);
}

} // namespace

extern "C" {
double wavesmith_device_amdgcn_rcp_f64(double x) {
  return perturb(exactRcp(x));
}
double wavesmith_device_amdgcn_rsq_f64(double x) {
  return perturb(exactRsq(x));
}
float wavesmith_device_exp2_f32(float x) { return perturb(exactExp2(x)); }
float wavesmith_device_log2_f32(float x) { return perturb(exactLog2(x)); }
}

namespace {

struct Case {
  const char *name;
  double (*function)(double);
  double low, high;
  /// How many results in a million may change.
  double perMillion;
  /// Whether the function takes an approximate seed at all.
  bool hasSeed = true;
};

double powerOf(double x) { return devicemath::pow(x, 3.7 - x); }
double seventhPower(double x) { return devicemath::pown(x, -7); }

TEST(Seeds, ChangeFewResults) {
  const Case cases[] = {
#define CASE(name, low, high, perMillion)                                      \
  {                                                                            \
    #name, devicemath::name, low, high, perMillion                             \
  }
      {"exp", devicemath::exp, -700, 700, 0, false},
      {"exp2", devicemath::exp2, -1000, 1000, 0, false},
      {"exp10", devicemath::exp10, -300, 300, 0, false},
      {"expm1", devicemath::expm1, -5, 5, 0, false},
      {"atan", devicemath::atan, -5, 5, 0, false},
      {"erf", devicemath::erf, -5, 5, 0, false},
      CASE(log, 1e-3, 1e4, 0),
      CASE(log2, 1e-3, 1e4, 0),
      CASE(log10, 1e-3, 1e4, 0),
      CASE(log1p, -0.9, 1e3, 0),
      CASE(cbrt, 1e-3, 1e4, 100),
      CASE(sqrt, 1e-3, 1e4, 0),
      CASE(rsqrt, 1e-3, 1e4, 250000),
      {"sin", devicemath::sin, -100, 100, 0, false},
      {"cos", devicemath::cos, -100, 100, 0, false},
      CASE(tan, -100, 100, 0),
      CASE(asin, -1, 1, 0),
      CASE(acos, -1, 1, 0),
      CASE(sinh, -20, 20, 0),
      CASE(cosh, -20, 20, 0),
      CASE(tanh, -5, 5, 0),
      CASE(asinh, -100, 100, 0),
      CASE(acosh, 1, 100, 0),
      CASE(atanh, -1, 1, 0),
      CASE(erfc, -5, 20, 0),
      {"pow", powerOf, 0.01, 8, 0},
      {"pown", seventhPower, 0.01, 8, 0},
#undef CASE
  };
  std::mt19937_64 generator(20260108);
  const char *text = std::getenv("WAVESMITH_MATH_SAMPLES");
  const int samples = text ? std::max(1, std::atoi(text)) : 20000;
  for (const Case &test : cases) {
    std::uniform_real_distribution<double> draw(test.low, test.high);
    int changed = 0;
    double farthest = 0;
    seedsTaken = 0;
    for (int i = 0; i != samples; ++i) {
      double x = draw(generator);
      isPerturbed = false;
      double expected = test.function(x);
      isPerturbed = true;
      double result = test.function(x);
      isPerturbed = false;
      if (result != expected) {
        ++changed;
        double ulp =
            std::nextafter(std::fabs(expected), INFINITY) - std::fabs(expected);
        farthest = std::max(farthest, std::fabs(result - expected) / ulp);
      }
    }
    if (text)
      std::printf("%-6s %7.0f in a million change, by up to %g ulp; %.1f seeds "
                  "a call\n",
                  test.name, changed * 1e6 / samples, farthest,
                  double(seedsTaken) / (2.0 * samples));
    EXPECT_LE(changed * 1e6 / samples, test.perMillion) << test.name;
    EXPECT_LE(farthest, 1) << test.name;
    // The perturbation does something where a seed is hardly refined.
    if (test.function == devicemath::rsqrt)
      EXPECT_GE(changed * 1e6 / samples, 100000);
    EXPECT_EQ(seedsTaken > 0, test.hasSeed) << test.name;
  }
}

} // namespace
