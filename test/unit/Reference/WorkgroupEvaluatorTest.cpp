//===- WorkgroupEvaluatorTest.cpp - Unit tests ----------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is expected is written out here from the operations' descriptions, or
// stands as a number.
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Reference/WorkgroupEvaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "wavesmith/Math/DeviceMath.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

using namespace mlir;
using namespace wavesmith;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <typename T> ElementType typeOf();
template <> ElementType typeOf<double>() { return ElementType::F64; }
template <> ElementType typeOf<float>() { return ElementType::F32; }
template <> ElementType typeOf<int32_t>() { return ElementType::I32; }
template <> ElementType typeOf<int64_t>() { return ElementType::I64; }

template <typename T>
HostArray makeArray(ArrayRef<int64_t> shape, const std::vector<T> &numbers) {
  HostArray array;
  array.type = typeOf<T>();
  array.shape.assign(shape.begin(), shape.end());
  array.bytes.resize(numbers.size() * sizeof(T));
  std::memcpy(array.bytes.data(), numbers.data(), array.bytes.size());
  return array;
}

template <typename T> std::vector<T> numbersOf(const HostArray &array) {
  std::vector<T> numbers(array.bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), array.bytes.data(), array.bytes.size());
  return numbers;
}

/// The same number: equal bits, or both NaN.
template <typename T> bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0 || (a != a && b != b);
}

template <typename T>
void expectSame(const std::vector<T> &got, const std::vector<T> &wanted,
                const std::string &what = "") {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (size_t i = 0; i != got.size(); ++i)
    EXPECT_TRUE(same(got[i], wanted[i]))
        << what << " at " << i << ": " << got[i] << ", wanted " << wanted[i];
}

class Workgroup : public ::testing::Test {
protected:
  Workgroup() {
    context
        .loadDialect<WavesmithDialect, arith::ArithDialect, func::FuncDialect,
                     math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                     tensor::TensorDialect>();
  }

  FailureOr<WorkgroupEvaluator> parse(const std::string &text) {
    errors.clear();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
      return success();
    });
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, &context, "test");
    if (!module)
      return failure();
    return WorkgroupEvaluator::create(*module->getOps<func::FuncOp>().begin());
  }

  /// A function with these arguments, before %n, and this body of a workgroup.
  static std::string function(const std::string &arguments,
                              const std::string &body) {
    return "func.func @f(" + arguments +
           ", %n: index) {\nwavesmith.workgroup zones %n size 64 "
           "threads_per_zone 16 {\n" +
           body + "\n}\nreturn\n}\n";
  }

  /// Runs it; the text of an error.
  std::string run(const std::string &text, std::vector<HostArray> &arrays,
                  int64_t numZones, unsigned threads = 1) {
    FailureOr<WorkgroupEvaluator> evaluator = parse(text);
    if (failed(evaluator))
      return errors;
    std::vector<HostArray> all = arrays;
    all.push_back(makeArray<int64_t>({}, {numZones}));
    std::string error = llvm::toString(evaluator->evaluate(all, {threads}));
    all.pop_back();
    arrays = all;
    return error;
  }

  /// The result of operations on %x and %y, tensors of one element type, that
  /// give %r; one zone.
  template <typename To, typename From>
  std::vector<To> compute(const std::string &body, const std::string &type,
                          const std::string &resultType,
                          const std::vector<From> &x,
                          const std::vector<From> &y) {
    std::string size = std::to_string(x.size());
    std::string in = "tensor<" + size + "x" + type + ">",
                out = "tensor<" + size + "x" + resultType + ">";
    std::string memory = "memref<" + size + "x?x" + type + ">",
                outMemory = "memref<" + size + "x?x" + resultType + ">";
    std::vector<HostArray> arrays = {
        makeArray<From>({int64_t(x.size()), 1}, x),
        makeArray<From>({int64_t(x.size()), 1}, y),
        makeArray<To>({int64_t(x.size()), 1}, std::vector<To>(x.size(), 77))};
    EXPECT_EQ(
        run(function("%in0: " + memory + ", %in1: " + memory +
                         ", %out0: " + outMemory,
                     "%x = wavesmith.load_zone %in0 : " + memory + " -> " + in +
                         "\n%y = wavesmith.load_zone %in1 : " + memory +
                         " -> " + in + "\n" + body +
                         "\nwavesmith.store_zone %r, %out0 : " + out + ", " +
                         outMemory),
            arrays, 1),
        "")
        << body;
    return numbersOf<To>(arrays[2]);
  }

  MLIRContext context;
  std::string errors;
};

template <typename T> struct Samples {
  std::vector<T> x, y;
  Samples() {
    const T special[] = {T(0.0), T(-0.0),     T(1.0),       T(-1.5),
                         T(0.5), T(infinity), T(-infinity), T(nan),
                         T(2.5), T(1e-3),     T(-7.25),     T(3.0)};
    for (T a : special)
      for (T b : special) {
        x.push_back(a);
        y.push_back(b);
      }
  }
};

template <typename T> T greater(T a, T b) {
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <typename T>
void checkBinary(
    const std::function<std::vector<T>(const std::string &, const Samples<T> &)>
        &compute,
    const std::string &op, const std::function<T(T, T)> &wanted) {
  Samples<T> samples;
  std::vector<T> expected;
  for (size_t i = 0; i != samples.x.size(); ++i)
    expected.push_back(wanted(samples.x[i], samples.y[i]));
  expectSame(compute(op, samples), expected, op);
}

/// Operations whose result IEEE 754 or arith's description fixes.
#define CHECK_BINARY(T, type)                                                  \
  auto compute = [&](const std::string &op, const Samples<T> &samples) {       \
    std::string tensor =                                                       \
        "tensor<" + std::to_string(samples.x.size()) + "x" type ">";           \
    return this->compute<T, T>("%r = " + op + " %x, %y : " + tensor, type,     \
                               type, samples.x, samples.y);                    \
  };                                                                           \
  auto check = [&](const std::string &op,                                      \
                   const std::function<T(T, T)> &wanted) {                     \
    checkBinary<T>(compute, op, wanted);                                       \
  };                                                                           \
  check("arith.addf", [](T a, T b) { return a + b; });                         \
  check("arith.subf", [](T a, T b) { return a - b; });                         \
  check("arith.mulf", [](T a, T b) { return a * b; });                         \
  check("arith.divf", [](T a, T b) { return a / b; });                         \
  check("arith.remf", [](T a, T b) { return std::fmod(a, b); });               \
  check("math.copysign", [](T a, T b) { return std::copysign(a, b); });        \
  check("arith.maximumf", [](T a, T b) {                                       \
    return std::isnan(a) || std::isnan(b) ? T(nan) : greater(a, b);            \
  });                                                                          \
  check("arith.minimumf", [](T a, T b) {                                       \
    return std::isnan(a) || std::isnan(b) ? T(nan) : -greater<T>(-a, -b);      \
  });                                                                          \
  check("arith.maxnumf", [](T a, T b) {                                        \
    return std::isnan(a) ? b : std::isnan(b) ? a : greater(a, b);              \
  });                                                                          \
  check("arith.minnumf", [](T a, T b) {                                        \
    return std::isnan(a) ? b : std::isnan(b) ? a : -greater<T>(-a, -b);        \
  });

TEST_F(Workgroup, ArithmeticOfF64){
    CHECK_BINARY(double, "f64")} TEST_F(Workgroup, ArithmeticOfF32){
    CHECK_BINARY(float, "f32")}

TEST_F(Workgroup, FusedOnlyWhereItStands) {
  double a = 1 + std::ldexp(1, -30), b = 1 - std::ldexp(1, -30);
  std::vector<double> x(4, a), y(4, b);
  std::string t = " : tensor<4xf64>";
  auto fused = compute<double, double>("%m = arith.constant dense<-1.0>" + t +
                                           "\n%r = math.fma %x, %y, %m" + t,
                                       "f64", "f64", x, y);
  expectSame(fused, std::vector<double>(4, -std::ldexp(1, -60)));
  auto apart = compute<double, double>("%m = arith.constant dense<-1.0>" + t +
                                           "\n%p = arith.mulf %x, %y" + t +
                                           "\n%r = arith.addf %p, %m" + t,
                                       "f64", "f64", x, y);
  expectSame(apart, std::vector<double>(4, 0.0));
  // In f32, fma rounds once to f32, which rounding f64's result would not.
  float c = 1 + std::ldexp(1.0f, -12), d = std::ldexp(1.0f, -80);
  auto narrow =
      compute<float, float>("%r = math.fma %x, %x, %y : tensor<2xf32>", "f32",
                            "f32", {c, c}, {d, -d});
  expectSame(narrow, {1 + std::ldexp(1.0f, -11) + std::ldexp(1.0f, -23),
                      1 + std::ldexp(1.0f, -11)});
}

TEST_F(Workgroup, Functions) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0.01, 0.99);
  std::vector<double> x, y;
  for (int i = 0; i != 64; ++i) {
    x.push_back(uniform(random));
    y.push_back(uniform(random));
  }
  std::string t = " : tensor<64xf64>";
  auto unary = [&](const std::string &op, double (*wanted)(double)) {
    std::vector<double> expected;
    for (double a : x)
      expected.push_back(wanted(a));
    expectSame(compute<double, double>("%r = math." + op + " %x" + t, "f64",
                                       "f64", x, y),
               expected, op);
  };
  unary("exp", devicemath::exp);
  unary("exp2", devicemath::exp2);
  unary("expm1", devicemath::expm1);
  unary("log", devicemath::log);
  unary("log2", devicemath::log2);
  unary("log10", devicemath::log10);
  unary("log1p", devicemath::log1p);
  unary("cbrt", devicemath::cbrt);
  unary("sin", devicemath::sin);
  unary("cos", devicemath::cos);
  unary("tan", devicemath::tan);
  unary("asin", devicemath::asin);
  unary("acos", devicemath::acos);
  unary("atan", devicemath::atan);
  unary("sinh", devicemath::sinh);
  unary("cosh", devicemath::cosh);
  unary("tanh", devicemath::tanh);
  unary("asinh", devicemath::asinh);
  unary("atanh", devicemath::atanh);
  unary("erf", devicemath::erf);
  unary("erfc", devicemath::erfc);
  unary("sqrt", [](double a) { return std::sqrt(a); });
  // Two roundings.
  unary("rsqrt", [](double a) { return 1.0 / std::sqrt(a); });
  std::vector<double> power, angle, cube;
  for (auto [a, b] : llvm::zip_equal(x, y)) {
    power.push_back(devicemath::pow(a, b));
    angle.push_back(devicemath::atan2(a, b));
    cube.push_back(devicemath::pown(a, 3));
  }
  expectSame(
      compute<double, double>("%r = math.powf %x, %y" + t, "f64", "f64", x, y),
      power);
  expectSame(
      compute<double, double>("%r = math.atan2 %x, %y" + t, "f64", "f64", x, y),
      angle);
  expectSame(compute<double, double>(
                 "%e = arith.constant dense<3> : tensor<64xi32>\n%r = "
                 "math.fpowi %x, %e : tensor<64xf64>, tensor<64xi32>",
                 "f64", "f64", x, y),
             cube);

  std::vector<double> values = {-2.5, -0.5, 0.5, 1.5, 2.7, -2.7};
  auto rounded = [&](const std::string &op) {
    return compute<double, double>("%r = math." + op + " %x : tensor<6xf64>",
                                   "f64", "f64", values, values);
  };
  expectSame(rounded("floor"), {-3, -1, 0, 1, 2, -3});
  expectSame(rounded("ceil"), {-2, -0.0, 1, 2, 3, -2});
  expectSame(rounded("trunc"), {-2, -0.0, 0, 1, 2, -2});
  expectSame(rounded("round"), {-3, -1, 1, 2, 3, -3});
  expectSame(rounded("roundeven"), {-2, -0.0, 0, 2, 3, -3});
  expectSame(rounded("absf"), {2.5, 0.5, 0.5, 1.5, 2.7, 2.7});
}

TEST_F(Workgroup, ComparisonsAndClasses) {
  std::vector<double> x = {1, 2, 2, nan, 0.0}, y = {2, 1, 2, 1, -0.0};
  auto check = [&](const std::string &op, std::vector<int32_t> wanted) {
    expectSame(compute<int32_t, double>(
                   "%c = " + op +
                       "\n%r = arith.extui %c : tensor<5xi1> to tensor<5xi32>",
                   "f64", "i32", x, y),
               wanted, op);
  };
  auto compare = [&](const std::string &predicate,
                     std::vector<int32_t> wanted) {
    check("arith.cmpf " + predicate + ", %x, %y : tensor<5xf64>", wanted);
  };
  compare("false", {0, 0, 0, 0, 0});
  compare("oeq", {0, 0, 1, 0, 1});
  compare("ogt", {0, 1, 0, 0, 0});
  compare("oge", {0, 1, 1, 0, 1});
  compare("olt", {1, 0, 0, 0, 0});
  compare("ole", {1, 0, 1, 0, 1});
  compare("one", {1, 1, 0, 0, 0});
  compare("ord", {1, 1, 1, 0, 1});
  compare("ueq", {0, 0, 1, 1, 1});
  compare("ugt", {0, 1, 0, 1, 0});
  compare("uge", {0, 1, 1, 1, 1});
  compare("ult", {1, 0, 0, 1, 0});
  compare("ule", {1, 0, 1, 1, 1});
  compare("une", {1, 1, 0, 1, 0});
  compare("uno", {0, 0, 0, 1, 0});
  compare("true", {1, 1, 1, 1, 1});
  x = {1, infinity, -infinity, nan, 1e-310};
  check("math.isfinite %x : tensor<5xf64>", {1, 0, 0, 0, 1});
  check("math.isinf %x : tensor<5xf64>", {0, 1, 1, 0, 0});
  check("math.isnan %x : tensor<5xf64>", {0, 0, 0, 1, 0});
  check("math.isnormal %x : tensor<5xf64>", {1, 0, 0, 0, 0});
  expectSame(compute<double, double>(
                 "%c = math.isfinite %x : tensor<5xf64>\n%r = arith.select %c, "
                 "%x, %y : tensor<5xi1>, tensor<5xf64>",
                 "f64", "f64", x, y),
             {1, 1, 2, 1, 1e-310});
}

TEST_F(Workgroup, Integers) {
  constexpr int32_t least = std::numeric_limits<int32_t>::min();
  std::vector<int32_t> x = {7, -7, 7, -7, least, -1}, y = {2, 2, -2, -2, 3, 31};
  auto check = [&](const std::string &body, std::vector<int32_t> wanted) {
    expectSame(compute<int32_t, int32_t>(body, "i32", "i32", x, y), wanted,
               body);
  };
  auto binary = [&](const std::string &op, std::vector<int32_t> wanted) {
    check("%r = arith." + op + " %x, %y : tensor<6xi32>", wanted);
  };
  binary("addi", {9, -5, 5, -9, least + 3, 30});
  binary("subi", {5, -9, 9, -5, std::numeric_limits<int32_t>::max() - 2, -32});
  binary("muli", {14, -14, -14, 14, least, -31});
  binary("divsi", {3, -3, -3, 3, -715827882, 0});
  binary("remsi", {1, -1, 1, -1, -2, -1});
  binary("floordivsi", {3, -4, -4, 3, -715827883, -1});
  binary("ceildivsi", {4, -3, -3, 4, -715827882, 0});
  binary("divui", {3, 2147483644, 0, 0, 715827882, 138547332});
  binary("remui", {1, 1, 7, -7, 2, 3});
  binary("ceildivui", {4, 2147483645, 1, 1, 715827883, 138547333});
  binary("andi", {2, 0, 6, -8, 0, 31});
  binary("ori", {7, -5, -1, -1, least + 3, -1});
  binary("xori", {5, -5, -7, 7, least + 3, -32});
  binary("maxsi", {7, 2, 7, -2, 3, 31});
  binary("minsi", {2, -7, -2, -7, least, -1});
  binary("maxui", {7, -7, -2, -2, least, -1});
  binary("minui", {2, 2, 7, -7, 3, 31});
  auto compare = [&](const std::string &predicate,
                     std::vector<int32_t> wanted) {
    check("%c = arith.cmpi " + predicate +
              ", %x, %y : tensor<6xi32>\n%r = arith.extsi %c : tensor<6xi1> to "
              "tensor<6xi32>",
          wanted);
  };
  compare("slt", {0, -1, 0, -1, -1, -1});
  compare("sge", {-1, 0, -1, 0, 0, 0});
  compare("ult", {0, 0, -1, -1, 0, 0});
  compare("uge", {-1, -1, 0, 0, -1, -1});
  compare("ugt", {-1, -1, 0, 0, -1, -1});
  compare("ule", {0, 0, -1, -1, 0, 0});
  compare("sgt", {-1, 0, -1, 0, 0, 0});
  compare("sle", {0, -1, 0, -1, -1, -1});
  compare("eq", {0, 0, 0, 0, 0, 0});
  compare("ne", {-1, -1, -1, -1, -1, -1});
  y = {1, 4, 31, 0, 31, 31};
  binary("shli", {14, -112, least, -7, 0, least});
  binary("shrsi", {3, -1, 0, -7, -1, -1});
  binary("shrui", {3, 268435455, 0, -7, 1, 1});
}

TEST_F(Workgroup, Conversions) {
  std::vector<int32_t> x = {200, -1, 70000, 16777217};
  auto to = [&](const std::string &body) {
    return compute<int32_t, int32_t>(body, "i32", "i32", x, x);
  };
  expectSame(to("%a = arith.trunci %x : tensor<4xi32> to tensor<4xi8>\n%r = "
                "arith.extui %a : tensor<4xi8> to tensor<4xi32>"),
             {200, 255, 112, 1});
  expectSame(to("%a = arith.trunci %x : tensor<4xi32> to tensor<4xi8>\n%r = "
                "arith.extsi %a : tensor<4xi8> to tensor<4xi32>"),
             {-56, -1, 112, 1});
  expectSame(to("%a = arith.index_cast %x : tensor<4xi32> to tensor<4xindex>\n"
                "%r = arith.index_cast %a : tensor<4xindex> to tensor<4xi32>"),
             x);
  auto toDouble = [&](const std::string &body) {
    return compute<double, int32_t>(body, "i32", "f64", x, x);
  };
  expectSame(toDouble("%r = arith.sitofp %x : tensor<4xi32> to tensor<4xf64>"),
             {200, -1, 70000, 16777217});
  expectSame(toDouble("%r = arith.uitofp %x : tensor<4xi32> to tensor<4xf64>"),
             {200, 4294967295.0, 70000, 16777217});
  expectSame(toDouble("%a = arith.trunci %x : tensor<4xi32> to tensor<4xi16>\n"
                      "%r = arith.uitofp %a : tensor<4xi16> to tensor<4xf64>"),
             {200, 65535, 4464, 1});
  expectSame(toDouble("%a = arith.index_castui %x : tensor<4xi32> to "
                      "tensor<4xindex>\n%b = arith.index_cast %a : "
                      "tensor<4xindex> to tensor<4xi64>\n%r = arith.sitofp %b "
                      ": tensor<4xi64> to tensor<4xf64>"),
             {200, 4294967295.0, 70000, 16777217});
  expectSame(toDouble("%a = arith.sitofp %x : tensor<4xi32> to tensor<4xf32>\n"
                      "%r = arith.extf %a : tensor<4xf32> to tensor<4xf64>"),
             {200, -1, 70000, 16777216});
  expectSame(compute<float, double>(
                 "%r = arith.truncf %x : tensor<2xf64> to tensor<2xf32>", "f64",
                 "f32", {0.1, 1e300}, {0, 0}),
             {0.1f, float(infinity)});
  expectSame(compute<int32_t, double>(
                 "%r = arith.fptosi %x : tensor<2xf64> to tensor<2xi32>", "f64",
                 "i32", {-2.9, 2147483647.5}, {0, 0}),
             {-2, 2147483647});
  expectSame(compute<int32_t, double>(
                 "%r = arith.fptoui %x : tensor<2xf64> to tensor<2xi32>", "f64",
                 "i32", {-0.9, 4294967295.0}, {0, 0}),
             {0, -1});
  expectSame(compute<int32_t, float>(
                 "%r = arith.bitcast %x : tensor<2xf32> to tensor<2xi32>",
                 "f32", "i32", {1.0f, -0.0f}, {0, 0}),
             {0x3f800000, std::numeric_limits<int32_t>::min()});
}

const char *const sumRegions = R"(
accumulate {
^bb0(%acc: f64, %e: f64):
  %s = arith.addf %acc, %e : f64
  wavesmith.yield %s : f64
} combine {
^bb0(%one: f64, %other: f64):
  %s = arith.addf %one, %other : f64
  wavesmith.yield %s : f64
})";

/// The description's words: lane j folds j, j + L, ...; then a tree.
double sumOf(const std::vector<double> &elements, size_t lanes, double init) {
  std::vector<double> acc(lanes, init);
  for (size_t e = 0; e != elements.size(); ++e)
    acc[e % lanes] += elements[e];
  for (size_t d = 1; d <= lanes / 2; d *= 2)
    for (size_t j = 0; j < lanes; j += 2 * d)
      acc[j] += acc[j + d];
  return acc[0];
}

TEST_F(Workgroup, RaggedReductions) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  unsigned differs = 0;
  for (int trial = 0; trial != 30; ++trial) {
    std::vector<int> segments = {0}, lanes;
    std::vector<double> elements;
    for (int s = 0, count = 1 + random() % 12; s != count; ++s) {
      for (int e = 0, size = random() % 40; e != size; ++e)
        elements.push_back(std::exp(4 * normal(random)) * normal(random));
      segments.push_back(elements.size());
      lanes.push_back(1 << random() % 5);
    }
    if (elements.empty())
      continue;
    // One number of lanes for all, or one for each; none is one lane.
    if (trial % 3 == 0)
      lanes.assign(lanes.size(), 1);
    if (trial % 3 == 1)
      lanes.assign(lanes.size(), lanes[0]);
    std::string text = " segments [", lanesText = "] lanes [";
    for (int s : segments)
      text += std::to_string(s) + ", ";
    text.resize(text.size() - 2);
    if (trial % 3 == 1) {
      text += lanesText + std::to_string(lanes[0]);
    } else if (trial % 3 == 2) {
      text += lanesText;
      for (int l : lanes)
        text += std::to_string(l) + ", ";
      text.resize(text.size() - 2);
    }
    text += "]";
    std::string size = std::to_string(elements.size()),
                count = std::to_string(lanes.size());
    std::vector<HostArray> arrays = {
        makeArray<double>({int64_t(elements.size()), 1}, elements),
        makeArray<double>({1}, {0.1}),
        makeArray<double>({int64_t(lanes.size()), 1},
                          std::vector<double>(lanes.size()))};
    ASSERT_EQ(run(function("%a: memref<" + size +
                               "x?xf64>, %i: memref<?xf64>, %c: memref<" +
                               count + "x?xf64>",
                           "%x = wavesmith.load_zone %a : memref<" + size +
                               "x?xf64> -> tensor<" + size +
                               "xf64>\n%z = wavesmith.load_zone %i : "
                               "memref<?xf64> -> f64\n"
                               "%r = wavesmith.segmented_reduce(%x) init(%z)" +
                               text + " : (tensor<" + size +
                               "xf64>), f64 -> tensor<" + count + "xf64>" +
                               sumRegions +
                               "\nwavesmith.store_zone %r, %c : tensor<" +
                               count + "xf64>, memref<" + count + "x?xf64>"),
                  arrays, 1),
              "");
    std::vector<double> expected;
    for (size_t s = 0; s != lanes.size(); ++s) {
      std::vector<double> part(elements.begin() + segments[s],
                               elements.begin() + segments[s + 1]);
      expected.push_back(sumOf(part, lanes[s], 0.1));
      differs += expected.back() != sumOf(part, 1, 0.1);
    }
    expectSame(numbersOf<double>(arrays[2]), expected, text);
  }
  // The order shows in the bits.
  EXPECT_GT(differs, 20u);
}

TEST_F(Workgroup, TwoAccumulators) {
  // The largest and the sum of exp(x - largest), rescaled when it grows, of
  // the online softmax; lanes meet in a tree.
  std::string text = function(
      "%a: memref<6x?xf64>, %m: memref<2x?xf64>, %s: memref<2x?xf64>", R"(
%x = wavesmith.load_zone %a : memref<6x?xf64> -> tensor<6xf64>
%lowest = arith.constant 0xFFF0000000000000 : f64
%zero = arith.constant 0.0 : f64
%r:2 = wavesmith.segmented_reduce(%x) init(%lowest, %zero) segments [0, 2, 6] lanes [1, 2] : (tensor<6xf64>), f64, f64 -> tensor<2xf64>, tensor<2xf64>
accumulate {
^bb0(%max: f64, %sum: f64, %e: f64):
  %next = arith.maximumf %max, %e : f64
  %d0 = arith.subf %max, %next : f64
  %scale = math.exp %d0 : f64
  %d1 = arith.subf %e, %next : f64
  %term = math.exp %d1 : f64
  %new = math.fma %sum, %scale, %term : f64
  wavesmith.yield %next, %new : f64, f64
} combine {
^bb0(%max0: f64, %sum0: f64, %max1: f64, %sum1: f64):
  %next = arith.maximumf %max0, %max1 : f64
  %d0 = arith.subf %max0, %next : f64
  %d1 = arith.subf %max1, %next : f64
  %e0 = math.exp %d0 : f64
  %e1 = math.exp %d1 : f64
  %p0 = arith.mulf %sum0, %e0 : f64
  %p1 = arith.mulf %sum1, %e1 : f64
  %new = arith.addf %p0, %p1 : f64
  wavesmith.yield %next, %new : f64, f64
}
wavesmith.store_zone %r#0, %m : tensor<2xf64>, memref<2x?xf64>
wavesmith.store_zone %r#1, %s : tensor<2xf64>, memref<2x?xf64>)");
  std::vector<double> x = {0.3, 1.7, -0.2, 0.9, 2.4, 0.1};
  std::vector<HostArray> arrays = {makeArray<double>({6, 1}, x),
                                   makeArray<double>({2, 1}, {0, 0}),
                                   makeArray<double>({2, 1}, {0, 0})};
  ASSERT_EQ(run(text, arrays, 1), "");
  using State = std::pair<double, double>;
  auto fold = [](State acc, double e) -> State {
    double next = std::max(acc.first, e);
    return {next, std::fma(acc.second, devicemath::exp(acc.first - next),
                           devicemath::exp(e - next))};
  };
  State start = {-infinity, 0.0};
  State first = fold(fold(start, x[0]), x[1]);
  State lane0 = fold(fold(start, x[2]), x[4]);
  State lane1 = fold(fold(start, x[3]), x[5]);
  double largest = std::max(lane0.first, lane1.first);
  double sum = lane0.second * devicemath::exp(lane0.first - largest) +
               lane1.second * devicemath::exp(lane1.first - largest);
  expectSame(numbersOf<double>(arrays[1]), {first.first, largest});
  expectSame(numbersOf<double>(arrays[2]), {first.second, sum});
}

TEST_F(Workgroup, YieldsAreTakenAtOnce) {
  // (a, b) -> (b, a + x) in a reduction and (a, b) -> (b, a) in a loop.
  std::string text = function("%a: memref<3x?xi32>, %c: memref<4x?xi32>", R"(
%x = wavesmith.load_zone %a : memref<3x?xi32> -> tensor<3xi32>
%i0 = arith.constant 0 : i32
%i100 = arith.constant 100 : i32
%r:2 = wavesmith.segmented_reduce(%x) init(%i0, %i100) segments [0, 3] : (tensor<3xi32>), i32, i32 -> tensor<1xi32>, tensor<1xi32>
accumulate {
^bb0(%p: i32, %q: i32, %e: i32):
  %s = arith.addi %p, %e : i32
  wavesmith.yield %q, %s : i32, i32
} combine {
^bb0(%p: i32, %q: i32, %p1: i32, %q1: i32):
  wavesmith.yield %p, %q : i32, i32
}
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c3 = arith.constant 3 : index
%l:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %r#0, %q = %r#1) -> (tensor<1xi32>, tensor<1xi32>) {
  scf.yield %q, %p : tensor<1xi32>, tensor<1xi32>
}
%all = tensor.concat dim(0) %r#0, %r#1, %l#0, %l#1 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
wavesmith.store_zone %all, %c : tensor<4xi32>, memref<4x?xi32>)");
  std::vector<HostArray> arrays = {makeArray<int32_t>({3, 1}, {1, 2, 3}),
                                   makeArray<int32_t>({4, 1}, {0, 0, 0, 0})};
  ASSERT_EQ(run(text, arrays, 1), "");
  // (0, 100) -> (100, 1) -> (1, 102) -> (102, 4).
  expectSame(numbersOf<int32_t>(arrays[1]), {102, 4, 4, 102});
}

TEST_F(Workgroup, Loops) {
  // Collatz steps, each zone its own number of iterations; by rows of zones.
  std::string text =
      function("%a: memref<?xi32>, %c: memref<?xi32>, %d: memref<?x2xf64>", R"(
%start = wavesmith.load_zone %a : memref<?xi32> -> i32
%i0 = arith.constant 0 : i32
%i1 = arith.constant 1 : i32
%i2 = arith.constant 2 : i32
%i3 = arith.constant 3 : i32
%r:2 = scf.while (%v = %start, %k = %i0) : (i32, i32) -> (i32, i32) {
  %go = arith.cmpi ne, %v, %i1 : i32
  scf.condition(%go) %k, %v : i32, i32
} do {
^bb0(%k: i32, %v: i32):
  %bit = arith.andi %v, %i1 : i32
  %odd = arith.cmpi eq, %bit, %i1 : i32
  %next = scf.if %odd -> (i32) {
    %t = arith.muli %v, %i3 : i32
    %u = arith.addi %t, %i1 : i32
    scf.yield %u : i32
  } else {
    %h = arith.divsi %v, %i2 : i32
    scf.yield %h : i32
  }
  %k1 = arith.addi %k, %i1 : i32
  scf.yield %next, %k1 : i32, i32
}
wavesmith.store_zone %r#0, %c : i32, memref<?xi32>
%many = arith.cmpi sgt, %r#0, %i3 : i32
scf.if %many {
  %f = arith.sitofp %start : i32 to f64
  %g = math.sqrt %f : f64
  %both = tensor.from_elements %f, %g : tensor<2xf64>
  wavesmith.store_zone %both, %d : tensor<2xf64>, memref<?x2xf64>
})");
  std::vector<int32_t> starts = {1, 2, 3, 6, 7, 27, 97, 8, 16};
  for (unsigned threads : {1u, 2u, 5u, 20u, 0u}) {
    std::vector<HostArray> arrays = {
        makeArray<int32_t>({9}, starts),
        makeArray<int32_t>({9}, std::vector<int32_t>(9, -5)),
        makeArray<double>({9, 2}, std::vector<double>(18, -5))};
    // The last zone is not asked for.
    ASSERT_EQ(run(text, arrays, 8, threads), "");
    expectSame(numbersOf<int32_t>(arrays[1]),
               {0, 1, 7, 8, 16, 111, 118, 3, -5});
    std::vector<double> wanted(18, -5);
    for (int zone = 2; zone != 7; ++zone) {
      wanted[2 * zone] = starts[zone];
      wanted[2 * zone + 1] = std::sqrt(starts[zone]);
    }
    expectSame(numbersOf<double>(arrays[2]), wanted);
  }
}

TEST_F(Workgroup, GatherAndExtract) {
  std::string text =
      function("%a: memref<3x?xf64>, %i: memref<4x?xi32>, %j: memref<?xi32>, "
               "%c: memref<4x?xf64>, %s: memref<?xf64>",
               R"(
%x = wavesmith.load_zone %a : memref<3x?xf64> -> tensor<3xf64>
%at = wavesmith.load_zone %i : memref<4x?xi32> -> tensor<4xi32>
%k = wavesmith.load_zone %j : memref<?xi32> -> i32
%shared = wavesmith.stage %x in lds : tensor<3xf64>
%g = wavesmith.gather %shared[%at] : tensor<3xf64>, tensor<4xi32> -> tensor<4xf64>
wavesmith.store_zone %g, %c : tensor<4xf64>, memref<4x?xf64>
%index = arith.index_cast %k : i32 to index
%e = tensor.extract %g[%index] : tensor<4xf64>
wavesmith.store_zone %e, %s : f64, memref<?xf64>)");
  auto run = [&](std::vector<int32_t> indices, int32_t element,
                 std::vector<HostArray> &arrays) {
    arrays = {makeArray<double>({3, 2}, {1, 2, 3, 4, 5, 6}),
              makeArray<int32_t>({4, 2}, indices),
              makeArray<int32_t>({2}, {0, element}),
              makeArray<double>({4, 2}, std::vector<double>(8)),
              makeArray<double>({2}, {0, 0})};
    return this->run(text, arrays, 2);
  };
  std::vector<HostArray> arrays;
  ASSERT_EQ(run({2, 0, 1, 1, 0, 2, 2, 0}, 3, arrays), "");
  expectSame(numbersOf<double>(arrays[3]), {5, 2, 3, 4, 1, 6, 5, 2});
  expectSame(numbersOf<double>(arrays[4]), {5, 2});
  EXPECT_EQ(run({2, 0, 1, 3, 0, 2, 2, 0}, 3, arrays),
            "test:8:6: wavesmith.gather: expected element 1 of the indices "
            "from 0 to 2, got 3 in zone 1");
  EXPECT_EQ(run({2, 0, 1, 1, -1, 2, 2, 0}, 3, arrays),
            "test:8:6: wavesmith.gather: expected element 2 of the indices "
            "from 0 to 2, got -1 in zone 0");
  EXPECT_EQ(run({2, 0, 1, 1, 0, 2, 2, 0}, 4, arrays),
            "test:11:6: tensor.extract: expected an index from 0 to 3, got 4 "
            "in zone 1");
}

TEST_F(Workgroup, UndefinedIsAnError) {
  auto check = [&](const std::string &body, int32_t x, int32_t y,
                   const std::string &wanted) {
    std::vector<HostArray> arrays = {makeArray<int32_t>({1}, {x}),
                                     makeArray<int32_t>({1}, {y})};
    EXPECT_EQ(run(function("%in0: memref<?xi32>, %in1: memref<?xi32>",
                           "%x = wavesmith.load_zone %in0 : memref<?xi32> -> "
                           "i32\n%y = wavesmith.load_zone %in1 : memref<?xi32> "
                           "-> i32\n" +
                               body),
                  arrays, 1),
              wanted)
        << body;
  };
  constexpr int32_t least = std::numeric_limits<int32_t>::min();
  for (std::string op : {"divsi", "remsi", "divui", "remui", "floordivsi",
                         "ceildivsi", "ceildivui"}) {
    check("%r = arith." + op + " %x, %y : i32", 5, 0,
          "test:5:6: arith." + op +
              ": division by zero, or that overflows: 5 and 0 in zone 0");
  }
  check("%r = arith.divsi %x, %y : i32", least, -1,
        "test:5:6: arith.divsi: division by zero, or that overflows: "
        "-2147483648 and -1 in zone 0");
  for (std::string op : {"shli", "shrsi", "shrui"})
    check("%r = arith." + op + " %x, %y : i32", 1, 32,
          "test:5:6: arith." + op +
              ": shift by the width or more: 1 and 32 in zone 0");
  check("%c = arith.constant 2.147483648e9 : f64\n%r = arith.fptosi %c : f64 "
        "to i32",
        0, 0,
        "test:6:6: arith.fptosi: conversion of 2.147484e+09 to an integer of "
        "32 bits in zone 0");
  check("%c = arith.constant 0x7FF8000000000000 : f64\n%r = arith.fptoui %c : "
        "f64 to i32",
        0, 0,
        "test:6:6: arith.fptoui: conversion of nan to an integer of 32 bits in "
        "zone 0");
  check("scf.for %i = %x to %y step %x : i32 {\n}", 0, 3,
        "test:5:1: scf.for: expected a positive step of the loop, got 0 in "
        "zone 0");
}

TEST_F(Workgroup, UnsupportedIsAnError) {
  auto check = [&](const std::string &text, const std::string &wanted) {
    EXPECT_TRUE(failed(parse(text))) << text;
    EXPECT_EQ(errors, wanted + "\n") << text;
  };
  std::string tail = ": the workgroup evaluator does not take it";
  std::string load = "%x = wavesmith.load_zone %a : memref<?xf64> -> f64\n";
  std::string memory = "%a: memref<?xf64>";
  check(function(memory, load + "%r = math.clampf %x to [%x, %x] : f64"),
        "unsupported operation 'math.clampf'" + tail);
  check(function(memory,
                 load + "%r = arith.addf %x, %x fastmath<contract> : f64"),
        "unsupported operation 'arith.addf' with fastmath flags" + tail);
  check(function("%a: memref<?xf32>",
                 "%x = wavesmith.load_zone %a : memref<?xf32> -> f32\n%r = "
                 "math.exp %x : f32"),
        "unsupported operation 'math.exp' of f32" + tail);
  check(function(memory, load + "%r = arith.truncf %x : f64 to f16"),
        "unsupported type 'f16': the workgroup evaluator takes f64, f32, index "
        "and integers of up to 64 bits");
  check(function(memory, "%r = tensor.empty() : tensor<2xf64>"),
        "unsupported operation 'tensor.empty'" + tail);
  check("func.func @f(%n: index) {\nreturn\n}",
        "expected a 'wavesmith.workgroup' in function @f, got none");
  check("func.func @f(%n: index) {\nwavesmith.workgroup zones %n size 64 {\n}\n"
        "return\n}",
        "unsupported workgroup of one thread a zone: the workgroup evaluator "
        "takes those with threads_per_zone");
  std::string workgroup =
      "wavesmith.workgroup zones %n size 64 threads_per_zone 64 {\n}\n";
  check("func.func @f(%n: index) {\n" + workgroup + workgroup + "return\n}",
        "expected one workgroup in function @f, got a second one");
  check("func.func private @f(%n: index)",
        "expected a function with a body, got a declaration");
  check("func.func @f(%n: index) -> index {\n" + workgroup +
            "return %n : index\n}",
        "expected a function without results, which writes its results to "
        "memory");
}

TEST_F(Workgroup, Arrays) {
  std::string text = "func.func @f(%a: memref<2x?xf64> {wavesmith.name = "
                     "\"y\"}, %s: f64, %k: i32, %c: memref<?x2xf64>) {\n"
                     "%c1 = arith.constant 1 : index\n"
                     "%n = memref.dim %a, %c1 : memref<2x?xf64>\n"
                     "%t = arith.mulf %s, %s : f64\n"
                     "wavesmith.workgroup zones %n size 64 threads_per_zone 64 "
                     "{\n"
                     "%y = wavesmith.load_zone %a : memref<2x?xf64> -> "
                     "tensor<2xf64>\n"
                     "%f = arith.sitofp %k : i32 to f64\n"
                     "%g = arith.addf %t, %f : f64\n"
                     "%all = tensor.splat %g : tensor<2xf64>\n"
                     "%z = arith.mulf %y, %all : tensor<2xf64>\n"
                     "wavesmith.store_zone %z, %c : tensor<2xf64>, "
                     "memref<?x2xf64>\n}\nreturn\n}";
  FailureOr<WorkgroupEvaluator> evaluator = parse(text);
  ASSERT_TRUE(succeeded(evaluator)) << errors;
  ArrayRef<WorkgroupEvaluator::Argument> arguments = evaluator->getArguments();
  ASSERT_EQ(arguments.size(), 4u);
  EXPECT_EQ(arguments[0].name, "y");
  EXPECT_TRUE(arguments[0].isRead && !arguments[0].isWritten);
  EXPECT_EQ(arguments[1].name, "arg1");
  EXPECT_FALSE(arguments[1].isArray);
  EXPECT_TRUE(arguments[3].isWritten && !arguments[3].isRead);
  EXPECT_EQ(formatShape(arguments[3].getShape(3)), "[3, 2]");

  std::vector<HostArray> good = {
      makeArray<double>({2, 3}, {1, 2, 3, 4, 5, 6}),
      makeArray<double>({}, {2.0}), makeArray<int32_t>({}, {-1}),
      makeArray<double>({3, 2}, std::vector<double>(6))};
  std::vector<HostArray> arrays = good;
  EXPECT_EQ(llvm::toString(evaluator->evaluate(arrays)), "");
  expectSame(numbersOf<double>(arrays[3]), {3, 12, 6, 15, 9, 18});

  auto check = [&](size_t index, HostArray array, const std::string &wanted) {
    arrays = good;
    arrays[index] = std::move(array);
    EXPECT_EQ(llvm::toString(evaluator->evaluate(arrays)), wanted);
  };
  check(0, makeArray<double>({3, 2}, std::vector<double>(6)),
        "argument 'y': expected f64 [2, zones], got f64 [3, 2]");
  check(0, makeArray<float>({2, 3}, std::vector<float>(6)),
        "argument 'y': expected f64 [2, zones], got f32 [2, 3]");
  check(2, makeArray<int32_t>({1}, {1}),
        "argument 'arg2': expected i32 [], got i32 [1]");
  check(3, makeArray<double>({2, 2}, std::vector<double>(4)),
        "argument 'arg3': expected at least 3 zones, got 2");
  // Bytes that do not make the shape.
  check(3, makeArray<double>({3, 2}, std::vector<double>(5)),
        "argument 'arg3': expected f64 [zones, 2], got f64 [3, 2]");
  arrays = good;
  arrays.pop_back();
  EXPECT_EQ(llvm::toString(evaluator->evaluate(arrays)),
            "expected an array for each of the 4 arguments, got 3");
}

} // namespace
