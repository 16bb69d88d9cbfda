//===- AttentionEvaluatorTest.cpp - Unit tests ----------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas of attention are tested in test/Numeric; here are the operations
// of its regions, one by one, and what the interface refuses.
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Reference/AttentionEvaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace wavesmith;

namespace {

class Attention : public ::testing::Test {
protected:
  Attention() {
    context
        .loadDialect<WavesmithDialect, arith::ArithDialect, func::FuncDialect,
                     math::MathDialect, tensor::TensorDialect>();
  }

  FailureOr<AttentionEvaluator> parse(const std::string &text) {
    errors.clear();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
      return success();
    });
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, &context, "test");
    if (!module)
      return failure();
    return AttentionEvaluator::create(*module->getOps<func::FuncOp>().begin());
  }

  /// A function of attention whose score region has this body and yields %out.
  static std::string withScore(const std::string &body) {
    return R"(
func.func @f(%q: tensor<1x1x1x16xf32>, %real: tensor<?xf32>, %number: tensor<?xi32>) -> tensor<1x1x1xf32> {
  %o, %lse = wavesmith.attention %q, %q, %q layout bshd scale 1.0 captures(%real, %number)
    : (tensor<1x1x1x16xf32>, tensor<1x1x1x16xf32>, tensor<1x1x1x16xf32>, tensor<?xf32>, tensor<?xi32>)
    -> (tensor<1x1x1x16xf32>, tensor<1x1x1xf32>)
    score {
    ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index, %r: tensor<?xf32>, %n: tensor<?xi32>):
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = tensor.extract %r[%c0] : tensor<?xf32>
      %y = tensor.extract %r[%c1] : tensor<?xf32>
      %m = tensor.extract %n[%c0] : tensor<?xi32>
      %k = tensor.extract %n[%c1] : tensor<?xi32>
      )" + body +
           R"(
      wavesmith.yield %out : f32
    }
  return %lse : tensor<1x1x1xf32>
})";
  }

  template <typename T>
  static HostArray makeArray(ElementType type, ArrayRef<int64_t> shape,
                             const std::vector<T> &numbers) {
    HostArray array;
    array.type = type;
    array.shape.assign(shape.begin(), shape.end());
    array.bytes.resize(numbers.size() * sizeof(T));
    if (!numbers.empty())
      std::memcpy(array.bytes.data(), numbers.data(), array.bytes.size());
    return array;
  }

  /// What the region yields: with one key that is the lse. NaN with `errors`
  /// set where something is wrong.
  double yield(const std::string &body, float x = 0, float y = 0, int32_t m = 0,
               int32_t k = 0) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    FailureOr<AttentionEvaluator> evaluator = parse(withScore(body));
    if (failed(evaluator))
      return nan;
    std::vector<HostArray> arrays = {
        makeArray(ElementType::F32, {1, 1, 1, 16}, std::vector<float>(16, 0)),
        makeArray(ElementType::F32, {2}, std::vector<float>{x, y}),
        makeArray(ElementType::I32, {2}, std::vector<int32_t>{m, k})};
    auto results = evaluator->evaluate(arrays, AttentionEvaluator::Options());
    if (!results) {
      errors = llvm::toString(results.takeError());
      return nan;
    }
    double value;
    EXPECT_EQ((*results)[0].bytes.size(), sizeof(value));
    std::memcpy(&value, (*results)[0].bytes.data(), sizeof(value));
    return value;
  }

  /// The value of an integer operation on %m and %k.
  double integer(const std::string &operation, int32_t m, int32_t k) {
    return yield("%e = " + operation + " %m, %k : i32\n" +
                     "%out = arith.sitofp %e : i32 to f32",
                 0, 0, m, k);
  }
  /// Whether a comparison of %m and %k holds.
  double compare(const std::string &predicate, int32_t m, int32_t k) {
    return yield("%e = arith.cmpi " + predicate + ", %m, %k : i32\n" +
                     "%out = arith.uitofp %e : i1 to f32",
                 0, 0, m, k);
  }

  MLIRContext context;
  std::string errors;
};

constexpr int32_t smallest = std::numeric_limits<int32_t>::min();
constexpr int32_t greatest = std::numeric_limits<int32_t>::max();

TEST_F(Attention, IntegerOperations) {
  EXPECT_EQ(integer("arith.addi", greatest, 1), smallest);
  EXPECT_EQ(integer("arith.subi", smallest, 1), greatest);
  EXPECT_EQ(integer("arith.muli", 65537, 65537), 131073);
  EXPECT_EQ(integer("arith.divsi", -7, 2), -3);
  EXPECT_EQ(integer("arith.remsi", -7, 2), -1);
  EXPECT_EQ(integer("arith.remsi", smallest, -1), 0);
  EXPECT_EQ(integer("arith.floordivsi", -7, 2), -4);
  EXPECT_EQ(integer("arith.ceildivsi", 7, 2), 4);
  EXPECT_EQ(integer("arith.ceildivsi", -7, 2), -3);
  EXPECT_EQ(integer("arith.divui", -2, 2), greatest);
  EXPECT_EQ(integer("arith.remui", -1, 10), 5);
  EXPECT_EQ(integer("arith.ceildivui", 7, 2), 4);
  EXPECT_EQ(integer("arith.andi", 12, 10), 8);
  EXPECT_EQ(integer("arith.ori", 12, 10), 14);
  EXPECT_EQ(integer("arith.xori", 12, 10), 6);
  EXPECT_EQ(integer("arith.shli", 3, 30), -1073741824);
  EXPECT_EQ(integer("arith.shrsi", -8, 1), -4);
  EXPECT_EQ(integer("arith.shrui", -8, 1), 2147483644);
  EXPECT_EQ(integer("arith.minsi", -1, 1), -1);
  EXPECT_EQ(integer("arith.maxsi", -1, 1), 1);
  EXPECT_EQ(integer("arith.minui", -1, 1), 1);
  EXPECT_EQ(integer("arith.maxui", -1, 1), -1);
}

TEST_F(Attention, Comparisons) {
  struct Case {
    const char *predicate;
    // Of -1 and 1, 1 and 1, 1 and -1.
    int less, equal, greater;
  };
  for (const Case &entry :
       {Case{"eq", 0, 1, 0}, Case{"ne", 1, 0, 1}, Case{"slt", 1, 0, 0},
        Case{"sle", 1, 1, 0}, Case{"sgt", 0, 0, 1}, Case{"sge", 0, 1, 1},
        Case{"ult", 0, 0, 1}, Case{"ule", 0, 1, 1}, Case{"ugt", 1, 0, 0},
        Case{"uge", 1, 1, 0}}) {
    EXPECT_EQ(compare(entry.predicate, -1, 1), entry.less) << entry.predicate;
    EXPECT_EQ(compare(entry.predicate, 1, 1), entry.equal) << entry.predicate;
    EXPECT_EQ(compare(entry.predicate, 1, -1), entry.greater)
        << entry.predicate;
  }
  auto ordered = [&](const char *predicate, float x, float y) {
    return yield("%e = arith.cmpf " + std::string(predicate) +
                     ", %x, %y : f32\n%out = arith.uitofp %e : i1 to f32",
                 x, y);
  };
  float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(ordered("olt", 1, 2), 1);
  EXPECT_EQ(ordered("olt", 1, nan), 0);
  EXPECT_EQ(ordered("ult", 1, nan), 1);
  EXPECT_EQ(ordered("uno", 1, nan), 1);
}

TEST_F(Attention, Conversions) {
  auto convert = [&](const std::string &body, float x, int32_t m = 0) {
    return yield(body, x, 0, m);
  };
  // f32 is not rounded, f16 and bf16 are.
  EXPECT_EQ(convert("%third = arith.constant 3.0 : f32\n"
                    "%out = arith.divf %x, %third : f32",
                    1),
            1.0 / 3.0);
  EXPECT_EQ(convert("%e = arith.truncf %x : f32 to bf16\n"
                    "%out = arith.extf %e : bf16 to f32",
                    1.005f),
            1.0078125);
  EXPECT_EQ(convert("%e = arith.truncf %x : f32 to f16\n"
                    "%f = arith.mulf %e, %e : f16\n"
                    "%g = math.isinf %f : f16\n"
                    "%out = arith.uitofp %g : i1 to f32",
                    300),
            1);
  EXPECT_EQ(convert("%e = arith.fptosi %x : f32 to i32\n"
                    "%out = arith.sitofp %e : i32 to f32",
                    -2.75f),
            -2);
  EXPECT_EQ(convert("%e = arith.extsi %m : i32 to i64\n"
                    "%out = arith.sitofp %e : i64 to f32",
                    0, -5),
            -5);
  EXPECT_EQ(convert("%e = arith.extui %m : i32 to i64\n"
                    "%out = arith.sitofp %e : i64 to f32",
                    0, -1),
            4294967295.0);
  EXPECT_EQ(convert("%e = arith.index_cast %m : i32 to index\n"
                    "%f = arith.index_cast %e : index to i64\n"
                    "%out = arith.sitofp %f : i64 to f32",
                    0, -3),
            -3);
  EXPECT_EQ(convert("%e = arith.trunci %m : i32 to i1\n"
                    "%out = arith.sitofp %e : i1 to f32",
                    0, 3),
            -1);
  EXPECT_EQ(convert("%e = arith.constant true\n"
                    "%out = arith.select %e, %x, %y : f32",
                    4),
            4);
}

TEST_F(Attention, FloatOperations) {
  auto of = [&](const std::string &operation, float x, float y) {
    return yield("%out = " + operation + " %x, %y : f32", x, y);
  };
  EXPECT_EQ(of("arith.addf", 3, 4), 7);
  EXPECT_EQ(of("arith.subf", 3, 4), -1);
  EXPECT_EQ(of("arith.mulf", 3, 4), 12);
  EXPECT_EQ(of("arith.remf", 7, 4), 3);
  EXPECT_EQ(of("arith.maximumf", 3, 4), 4);
  EXPECT_EQ(of("arith.minnumf", std::nanf(""), 4), 4);
  EXPECT_EQ(of("math.powf", 2, 10), 1024);
  EXPECT_EQ(of("math.copysign", 3, -1), -3);
  EXPECT_EQ(yield("%out = math.fma %x, %y, %y : f32", 3, 4), 16);
  EXPECT_EQ(yield("%out = math.fpowi %x, %m : f32, i32", -2, 0, 3), -8);
  EXPECT_NEAR(yield("%out = math.tanh %x : f32", 0.5f), 0.46211715726000973,
              1e-16);
  EXPECT_NEAR(yield("%out = math.exp %x : f32", 1), 2.718281828459045, 1e-15);
  EXPECT_EQ(yield("%out = arith.negf %x : f32", 3), -3);
}

TEST_F(Attention, UndefinedIsAnError) {
  auto errorOf = [&](const std::string &body, float x, int32_t m, int32_t k) {
    EXPECT_TRUE(std::isnan(yield(body, x, 0, m, k)));
    return errors;
  };
  auto integerError = [&](const std::string &operation, int32_t m, int32_t k) {
    return errorOf("%e = " + operation + " %m, %k : i32\n" +
                       "%out = arith.sitofp %e : i32 to f32",
                   0, m, k);
  };
  EXPECT_EQ(integerError("arith.divsi", 1, 0),
            "test:14:12: arith.divsi: got division by zero");
  EXPECT_EQ(integerError("arith.floordivsi", smallest, -1),
            "test:14:12: arith.floordivsi: got a division that overflows");
  EXPECT_EQ(integerError("arith.shli", 1, 32),
            "test:14:12: arith.shli: got a shift by the width of the type or "
            "more");
  EXPECT_EQ(
      errorOf("%e = arith.fptosi %x : f32 to i32\n"
              "%out = arith.sitofp %e : i32 to f32",
              3e9f, 0, 0),
      "test:14:12: arith.fptosi: got 3000000000.000000, which the integer "
      "cannot hold");
  EXPECT_EQ(errorOf("%e = arith.index_cast %m : i32 to index\n"
                    "%out = tensor.extract %r[%e] : tensor<?xf32>",
                    0, -1, 0),
            "test:15:8: tensor.extract: expected index #0 of a captured tensor "
            "of shape [2] to be from 0 to 1, got -1");
}

TEST_F(Attention, UnsupportedFunctions) {
  EXPECT_TRUE(failed(parse(withScore("%out = arith.bitcast %m : i32 to f32"))));
  EXPECT_EQ(errors, "unsupported operation 'arith.bitcast': the reference has "
                    "no formula for it\n");
  EXPECT_TRUE(failed(parse(withScore("%e, %out = math.sincos %x : f32"))));
  EXPECT_EQ(errors, "unsupported operation 'math.sincos': the reference has no "
                    "formula for it\n");
  EXPECT_TRUE(failed(parse("func.func private @f()")));
  EXPECT_EQ(errors, "expected a function with a body, got a declaration\n");
  EXPECT_TRUE(failed(parse("func.func @f() { return }")));
  EXPECT_EQ(errors, "expected wavesmith.attention in function @f, got none\n");
  const std::string operation =
      " = wavesmith.attention %q, %q, %q layout bshd scale 1.0 : "
      "(tensor<1x1x1x16xf32>, tensor<1x1x1x16xf32>, tensor<1x1x1x16xf32>) -> "
      "tensor<1x1x1x16xf32>\n";
  const std::string head =
      "func.func @f(%q: tensor<1x1x1x16xf32>) -> tensor<1x1x1x16xf32> {\n";
  EXPECT_TRUE(failed(parse(head + "%o" + operation + "%p" + operation +
                           "return %p : tensor<1x1x1x16xf32> }")));
  EXPECT_EQ(errors,
            "expected one attention in function @f, got a second one\n");
  EXPECT_TRUE(failed(
      parse(head + "%o" + operation + "return %q : tensor<1x1x1x16xf32> }")));
  EXPECT_EQ(errors,
            "expected operand #0 to be a result of 'wavesmith.attention'\n");
}

TEST_F(Attention, Arguments) {
  FailureOr<AttentionEvaluator> evaluator = parse(R"(
func.func @f(%unused: f64, %q: tensor<?x?x1x16xf16> {wavesmith.name = "x"}) -> (tensor<?x?x1x16xbf16> {wavesmith.name = "y"}) {
  %o = wavesmith.attention %q, %q, %q layout bshd scale 1.0
    : (tensor<?x?x1x16xf16>, tensor<?x?x1x16xf16>, tensor<?x?x1x16xf16>) -> tensor<?x?x1x16xbf16>
  return %o : tensor<?x?x1x16xbf16>
})");
  ASSERT_TRUE(succeeded(evaluator)) << errors;
  ASSERT_EQ(evaluator->getArguments().size(), 2u);
  EXPECT_FALSE(evaluator->getArguments()[0].isUsed);
  EXPECT_EQ(evaluator->getArguments()[1].name, "x");
  EXPECT_EQ(evaluator->getArguments()[1].type, ElementType::F16);
  ASSERT_EQ(evaluator->getResults().size(), 1u);
  EXPECT_EQ(evaluator->getResults()[0].name, "y");
  EXPECT_EQ(evaluator->getResults()[0].type, ElementType::BF16);

  auto errorOf = [&](ArrayRef<HostArray> arrays) {
    auto results = evaluator->evaluate(arrays, AttentionEvaluator::Options());
    return results ? "success" : llvm::toString(results.takeError());
  };
  EXPECT_EQ(errorOf({}),
            "expected an array for each of the 2 arguments, got 0");
  HostArray q = makeArray(ElementType::F16, {1, 2, 1, 16},
                          std::vector<uint16_t>(32, 0x3c00));
  EXPECT_EQ(errorOf({HostArray(), q}), "success");
  q.bytes.pop_back();
  EXPECT_EQ(errorOf({HostArray(), q}),
            "argument 'x': expected f16 [?, ?, 1, 16], got f16 [1, 2, 1, 16] "
            "in 63 bytes");
  q.shape[0] = -1;
  EXPECT_EQ(errorOf({HostArray(), q}),
            "argument 'x': expected f16 [?, ?, 1, 16], got f16 [-1, 2, 1, 16]");
}

} // namespace
