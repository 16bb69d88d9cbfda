//===- Expressions.cpp - arith and math operations of a system ------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The upstream operations that an expression in a system may use, on f64 and
// i1.
//
//===----------------------------------------------------------------------===//

#include "Comparison.h"
#include "OdeProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wavesmith;

std::optional<LogicalResult> ProgramBuilder::addExpression(Operation *op) {
  auto unary = [&](auto function) -> std::optional<LogicalResult> {
    unsigned x = slotOf(op->getOperand(0));
    emit(op->getResult(0), [=](auto real) {
      return [=](const auto &frame) { return function(frame[x]); };
    });
    return success();
  };
  auto binary = [&](auto function) -> std::optional<LogicalResult> {
    unsigned x = slotOf(op->getOperand(0)), y = slotOf(op->getOperand(1));
    emit(op->getResult(0), [=](auto real) {
      return [=](const auto &frame) { return function(frame[x], frame[y]); };
    });
    return success();
  };
  // A truth value.
  auto predicate = [&](auto function) -> std::optional<LogicalResult> {
    unsigned x = slotOf(op->getOperand(0));
    emit(op->getResult(0), [=](auto real) {
      return [=](const auto &frame) {
        return real(function(frame[x]) ? 1.0 : 0.0);
      };
    });
    return success();
  };
#define UNARY(Op, expression)                                                  \
  .Case([&](Op) { return unary([](const auto &x) { return expression; }); })
#define BINARY(Op, expression)                                                 \
  .Case([&](Op) {                                                              \
    return binary([](const auto &x, const auto &y) { return expression; });    \
  })
#define PREDICATE(Op, expression)                                              \
  .Case([&](Op) { return predicate([](const auto &x) { return expression; }); })

  return llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
      .Case([&](arith::ConstantOp op) -> std::optional<LogicalResult> {
        double value;
        if (auto number = dyn_cast<FloatAttr>(op.getValue()))
          value = number.getValueAsDouble();
        else if (op.getType().isInteger(1))
          value = cast<IntegerAttr>(op.getValue()).getValue().isZero() ? 0 : 1;
        else if (op.getType().isInteger(32))
          // For math.fpowi, which reads it from the attribute.
          value = 0;
        else
          return std::nullopt;
        emit(op.getResult(), [=](auto real) {
          return [=](const auto &frame) { return real(value); };
        });
        return success();
      })
      .Case([&](arith::CmpFOp op) {
        unsigned x = slotOf(op.getLhs()), y = slotOf(op.getRhs());
        arith::CmpFPredicate kind = op.getPredicate();
        emit(op.getResult(), [=](auto real) {
          return [=](const auto &frame) {
            return real(compare(kind, frame[x], frame[y]) ? 1.0 : 0.0);
          };
        });
        return success();
      })
      .Case([&](arith::SelectOp op) {
        unsigned condition = slotOf(op.getCondition()),
                 yes = slotOf(op.getTrueValue()),
                 no = slotOf(op.getFalseValue());
        emit(op.getResult(), [=](auto real) {
          return [=](const auto &frame) {
            return frame[condition] != real(0.0) ? frame[yes] : frame[no];
          };
        });
        return success();
      })
      .Case([&](math::FmaOp op) {
        unsigned a = slotOf(op.getA()), b = slotOf(op.getB()),
                 c = slotOf(op.getC());
        emit(op.getResult(), [=](auto real) {
          return [=](const auto &frame) {
            return Fn::fma(frame[a], frame[b], frame[c]);
          };
        });
        return success();
      })
      .Case([&](math::FPowIOp op) -> std::optional<LogicalResult> {
        APInt exponent;
        if (!matchPattern(op.getRhs(), m_ConstantInt(&exponent)))
          return op.emitError("unsupported operation 'math.fpowi' with an "
                              "exponent that is not a constant");
        unsigned x = slotOf(op.getLhs());
        int64_t n = exponent.getSExtValue();
        emit(op.getResult(), [=](auto real) {
          return [=](const auto &frame) { return Fn::pown(frame[x], n); };
        });
        return success();
      })
      // clang-format off
      BINARY(arith::AddFOp, x + y)
      BINARY(arith::SubFOp, x - y)
      BINARY(arith::MulFOp, x * y)
      BINARY(arith::DivFOp, x / y)
      BINARY(arith::RemFOp, Fn::remainder(x, y))
      UNARY(arith::NegFOp, -x)
      BINARY(arith::MaxNumFOp, Fn::maxNumber(x, y))
      BINARY(arith::MinNumFOp, Fn::minNumber(x, y))
      // A NaN gives NaN.
      BINARY(arith::MaximumFOp,
             Fn::isNaN(x) ? x : Fn::isNaN(y) ? y : Fn::maxNumber(x, y))
      BINARY(arith::MinimumFOp,
             Fn::isNaN(x) ? x : Fn::isNaN(y) ? y : Fn::minNumber(x, y))
      // On i1: operands of other types have been refused.
      BINARY(arith::AndIOp, Fn::minNumber(x, y))
      BINARY(arith::OrIOp, Fn::maxNumber(x, y))
      BINARY(arith::XOrIOp, Fn::abs(x - y))
      UNARY(math::AbsFOp, Fn::abs(x))
      UNARY(math::CeilOp, Fn::ceil(x))
      UNARY(math::FloorOp, Fn::floor(x))
      UNARY(math::TruncOp, Fn::trunc(x))
      UNARY(math::RoundOp, Fn::round(x))
      UNARY(math::RoundEvenOp, Fn::roundeven(x))
      UNARY(math::SqrtOp, Fn::sqrt(x))
      UNARY(math::RsqrtOp, Fn::rsqrt(x))
      UNARY(math::CbrtOp, Fn::cbrt(x))
      UNARY(math::ExpOp, Fn::exp(x))
      UNARY(math::Exp2Op, Fn::exp2(x))
      UNARY(math::ExpM1Op, Fn::expm1(x))
      UNARY(math::LogOp, Fn::log(x))
      UNARY(math::Log2Op, Fn::log2(x))
      UNARY(math::Log10Op, Fn::log10(x))
      UNARY(math::Log1pOp, Fn::log1p(x))
      UNARY(math::SinOp, Fn::sin(x))
      UNARY(math::CosOp, Fn::cos(x))
      UNARY(math::TanOp, Fn::tan(x))
      UNARY(math::AsinOp, Fn::asin(x))
      UNARY(math::AcosOp, Fn::acos(x))
      UNARY(math::AtanOp, Fn::atan(x))
      UNARY(math::SinhOp, Fn::sinh(x))
      UNARY(math::CoshOp, Fn::cosh(x))
      UNARY(math::TanhOp, Fn::tanh(x))
      UNARY(math::AsinhOp, Fn::asinh(x))
      UNARY(math::AcoshOp, Fn::acosh(x))
      UNARY(math::AtanhOp, Fn::atanh(x))
      UNARY(math::ErfOp, Fn::erf(x))
      UNARY(math::ErfcOp, Fn::erfc(x))
      BINARY(math::PowFOp, Fn::pow(x, y))
      BINARY(math::Atan2Op, Fn::atan2(x, y))
      BINARY(math::CopySignOp, Fn::copysign(x, y))
      PREDICATE(math::IsNaNOp, Fn::isNaN(x))
      PREDICATE(math::IsInfOp, Fn::isInfinite(x))
      PREDICATE(math::IsFiniteOp, !Fn::isNaN(x) && !Fn::isInfinite(x))
      // clang-format on
      .Default([](Operation *) { return std::nullopt; });
#undef UNARY
#undef BINARY
#undef PREDICATE
}
