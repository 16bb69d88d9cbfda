//===- MathTest.cpp - Floating-point kernels against host results ---------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestSupport.h"
#include <cmath>
#include <functional>

using namespace wavesmith::sim;
using namespace wavesmith::sim::test;

namespace {

const char *const prelude = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define ID (__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x())
double __ocml_exp_f64(double); double __ocml_log_f64(double);
double __ocml_pow_f64(double, double); double __ocml_cbrt_f64(double);
double __ocml_tanh_f64(double); double __ocml_sin_f64(double);
double __ocml_cos_f64(double);
double __ocml_exp2_f64(double); double __ocml_log10_f64(double);
float __ocml_exp_f32(float); float __ocml_log_f32(float);
float __ocml_pow_f32(float, float);
)";

class MathTest : public OnTarget {
protected:
  /// Runs z = expression of x and y for all pairs.
  template <typename T>
  std::vector<T> evaluate(const std::string &expression,
                          const std::vector<T> &x, const std::vector<T> &y,
                          const std::string &options = "",
                          Counters *counters = nullptr) {
    std::string type = sizeof(T) == 8 ? "double" : "float";
    std::string source = std::string(prelude) + "kernel void f(global const " +
                         type + " *xs, global const " + type + " *ys, global " +
                         type + " *zs) { uint i = ID; " + type +
                         " x = xs[i], y = ys[i]; zs[i] = " + expression + "; }";
    auto object = build(source, "cl", target(),
                        "-ffp-contract=off -cl-fp32-correctly-rounded-divide-"
                        "sqrt " +
                            options);
    if (!object)
      return {};
    size_t n = x.size();
    EXPECT_EQ(n % 64, 0u);
    uint64_t xs = device.upload(x), ys = device.upload(y);
    uint64_t zs = device.upload(std::vector<T>(n, T(-77)));
    Counters c = device.run(*object, "f", uint32_t(n / 64), 64,
                            Arguments().add(xs).add(ys).add(zs));
    if (counters)
      *counters = c;
    return device.download<T>(zs, n);
  }

  template <typename T>
  void expectSame(const std::vector<T> &got, const std::vector<T> &x,
                  const std::vector<T> &y,
                  const std::function<T(T, T)> &reference) {
    ASSERT_EQ(got.size(), x.size());
    int reported = 0;
    for (size_t i = 0; i < x.size() && reported < 5; ++i) {
      T want = reference(x[i], y[i]);
      if (same(got[i], want))
        continue;
      ++reported;
      ADD_FAILURE() << std::hexfloat << "x " << x[i] << " y " << y[i] << " got "
                    << got[i] << " want " << want;
    }
  }

  Device device;
};

constexpr size_t count = 64 * 400;

TEST_P(MathTest, DivisionIsIEEE) {
  auto x = assortedDoubles(count, 1), y = assortedDoubles(count, 2);
  expectSame<double>(evaluate("x / y", x, y), x, y,
                     [](double a, double b) { return a / b; });
}

TEST_P(MathTest, DivisionWithDenormalQuotientIsIEEE) {
  // Quotients all around the least normal number.
  std::mt19937_64 random(3);
  std::vector<double> x, y;
  for (size_t i = 0; i < count; ++i) {
    double a = 1 + std::ldexp(double(random() >> 12), -52);
    double b = 1 + std::ldexp(double(random() >> 12), -52);
    int e = int(random() % 60) + 1015;
    x.push_back(std::ldexp(a, -int(random() % 500)));
    y.push_back(std::ldexp(b, std::ilogb(x.back()) + e));
  }
  expectSame<double>(evaluate("x / y", x, y), x, y,
                     [](double a, double b) { return a / b; });
}

TEST_P(MathTest, SquareRootIsIEEE) {
  auto x = assortedDoubles(count, 4), y = x;
  expectSame<double>(evaluate("__builtin_sqrt(x)", x, y), x, y,
                     [](double a, double) { return std::sqrt(a); });
}

TEST_P(MathTest, BasicOperationsF64) {
  auto x = assortedDoubles(count, 5), y = assortedDoubles(count, 6);
  expectSame<double>(evaluate("x + y", x, y), x, y,
                     [](double a, double b) { return a + b; });
  expectSame<double>(evaluate("x - y * x", x, y), x, y, [](double a, double b) {
    volatile double p = b * a;
    return a - p;
  });
  expectSame<double>(evaluate("__builtin_fma(x, y, -x)", x, y), x, y,
                     [](double a, double b) { return std::fma(a, b, -a); });
  expectSame<double>(
      evaluate("__builtin_floor(x) + __builtin_ceil(y)", x, y), x, y,
      [](double a, double b) { return std::floor(a) + std::ceil(b); });
  expectSame<double>(
      evaluate("__builtin_rint(x) - __builtin_trunc(y)", x, y), x, y,
      [](double a, double b) { return std::nearbyint(a) - std::trunc(b); });
  expectSame<double>(evaluate("__builtin_fmax(__builtin_fabs(x), -y)", x, y), x,
                     y, [](double a, double b) {
                       double m = std::fabs(a), n = -b;
                       if (m != m)
                         return n;
                       return n != n || m > n ? m : n == 0 ? m : n;
                     });
  expectSame<double>(
      evaluate("x < y ? x : (x >= y ? y : 5.0)", x, y), x, y,
      [](double a, double b) { return a < b ? a : (a >= b ? b : 5.0); });
}

TEST_P(MathTest, ConversionsF64) {
  std::mt19937_64 random(8);
  std::vector<double> x, y;
  for (size_t i = 0; i < count; ++i) {
    x.push_back(std::ldexp(double(int64_t(random())), -33 - int(random() % 9)));
    y.push_back(std::fabs(x.back()));
  }
  expectSame<double>(
      evaluate("(double)(int)x + (double)(uint)y", x, y), x, y,
      [](double a, double b) { return double(int(a)) + double(uint32_t(b)); });
  expectSame<double>(evaluate("(double)(float)x", x, y), x, y,
                     [](double a, double) { return double(float(a)); });
  expectSame<double>(
      evaluate("(double)(long)(x * 1e9) + (double)(ulong)y", x, y), x, y,
      [](double a, double b) {
        return double(int64_t(a * 1e9)) + double(uint64_t(b));
      });
}

TEST_P(MathTest, DivisionAndSquareRootF32) {
  std::mt19937 random(9);
  std::vector<float> x, y;
  for (size_t i = 0; i < count; ++i) {
    uint32_t a = random(), b = random();
    if (i % 8 == 0)
      a &= 0x807fffffu; // denormal
    if (i % 8 == 1)
      b &= 0x807fffffu;
    float f, g;
    std::memcpy(&f, &a, 4);
    std::memcpy(&g, &b, 4);
    x.push_back(f);
    y.push_back(g);
  }
  expectSame<float>(evaluate("x / y", x, y), x, y,
                    [](float a, float b) { return a / b; });
  expectSame<float>(evaluate("__builtin_sqrtf(x)", x, y), x, y,
                    [](float a, float) { return std::sqrt(a); });
  expectSame<float>(evaluate("__builtin_fmaf(x, y, x) + x * y", x, y), x, y,
                    [](float a, float b) {
                      volatile float p = a * b;
                      return std::fma(a, b, a) + p;
                    });
}

struct Function {
  const char *expression;
  double (*reference)(double, double);
  double lowX, highX;
};

TEST_P(MathTest, OcmlFunctionsAgreeWithTheHost) {
  const Function functions[] = {
      {"__ocml_exp_f64(x)", [](double a, double) { return std::exp(a); }, -745,
       710},
      {"__ocml_log_f64(x)", [](double a, double) { return std::log(a); }, 0,
       1e6},
      {"__ocml_pow_f64(x, y)",
       [](double a, double b) { return std::pow(a, b); }, 0, 1000},
      {"__ocml_cbrt_f64(x)", // glibc's double cbrt is itself off by an ulp
       [](double a, double) { return double(cbrtl(a)); }, -1e9, 1e9},
      {"__ocml_tanh_f64(x)", [](double a, double) { return std::tanh(a); }, -20,
       20},
      {"__ocml_exp2_f64(x)", [](double a, double) { return std::exp2(a); },
       -1070, 1020},
      {"__ocml_log10_f64(x)", [](double a, double) { return std::log10(a); }, 0,
       1e9},
      {"__ocml_sin_f64(x)", [](double a, double) { return std::sin(a); }, -1e4,
       1e4},
      // Reduction of large arguments takes v_trig_preop_f64.
      {"__ocml_sin_f64(x)", [](double a, double) { return std::sin(a); },
       -1e300, 1e300},
      {"__ocml_cos_f64(x * y)",
       [](double a, double b) { return std::cos(a * b); }, 1e20, 1e25},
  };
  std::mt19937_64 random(10);
  for (const Function &function : functions) {
    std::vector<double> x, y;
    for (size_t i = 0; i < 64 * 100; ++i) {
      double u = std::ldexp(double(random() >> 11), -53);
      x.push_back(function.lowX + (function.highX - function.lowX) * u);
      y.push_back(std::ldexp(double(int64_t(random())), -58));
    }
    auto got = evaluate(function.expression, x, y, ocmlOptions(target()));
    ASSERT_EQ(got.size(), x.size()) << function.expression;
    int64_t worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      int64_t distance = ulps(got[i], function.reference(x[i], y[i]));
      if (distance > worst) {
        worst = distance;
        at = i;
      }
    }
    EXPECT_LE(worst, 2) << function.expression << " at x " << x[at] << " y "
                        << y[at] << ": got " << got[at] << " want "
                        << function.reference(x[at], y[at]);
  }
}

TEST_P(MathTest, OcmlSpecialValues) {
  std::vector<double> x = assortedDoubles(64 * 20, 11);
  auto exp = evaluate("__ocml_exp_f64(x)", x, x, ocmlOptions(target()));
  auto log = evaluate("__ocml_log_f64(x)", x, x, ocmlOptions(target()));
  ASSERT_EQ(exp.size(), x.size());
  ASSERT_EQ(log.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_LE(ulps(exp[i], std::exp(x[i])), 2) << "exp " << x[i];
    EXPECT_LE(ulps(log[i], std::log(x[i])), 2) << "log " << x[i];
  }
}

TEST_P(MathTest, CountsArithmetic) {
  std::vector<double> x(64, 2.0), y(64, 3.0);
  Counters c;
  auto z = evaluate("__builtin_fma(x, y, x + y) * y", x, y, "", &c);
  ASSERT_EQ(z.size(), 64u);
  EXPECT_EQ(z[0], (2.0 * 3.0 + 5.0) * 3.0);
  EXPECT_EQ(c.f64Add, 1u);
  EXPECT_EQ(c.f64Mul, 1u);
  EXPECT_EQ(c.f64FMA, 1u);
  EXPECT_EQ(c.f64Trans, 0u);
  EXPECT_EQ(c.waves, 1u);
  EXPECT_EQ(c.workgroups, 1u);
  EXPECT_EQ(c.VMEMRead, 2u);
  EXPECT_EQ(c.VMEMWrite, 1u);
  EXPECT_EQ(c.globalBytesRead, 2u * 64 * 8);
  EXPECT_EQ(c.globalBytesWritten, 64u * 8);
  EXPECT_EQ(c.activeVALULanesPercent(), 100.0);
  EXPECT_EQ(c.instructions, c.VALU + c.SALU + c.SMEM + c.LDS + c.VMEMRead +
                                c.VMEMWrite + c.VMEMAtomic + c.branch +
                                c.waitcnt + c.barrier + c.other);
}

FOR_BOTH_TARGETS(MathTest);

} // namespace
