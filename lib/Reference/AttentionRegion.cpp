//===- AttentionRegion.cpp - Regions of attention, in numbers -------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionRegion.h"
#include "Comparison.h"
#include "WorkgroupProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace wavesmith;

using Frame = RegionProgram::Frame;

DecodedArray DecodedArray::decode(const HostArray &array) {
  DecodedArray result;
  result.shape = array.shape;
  unsigned bytes = getElementBytes(array.type);
  bool isFloat = getFloatFormat(array.type) != nullptr;
  size_t count = array.bytes.size() / bytes;
  result.numbers.resize(count);
  for (size_t i = 0; i < count; ++i) {
    // The host is little endian.
    uint64_t bits = 0;
    std::memcpy(&bits, array.bytes.data() + i * bytes, bytes);
    if (isFloat)
      result.numbers[i].real = decodeFloat(array.type, bits);
    else
      result.numbers[i].bits = bits;
  }
  return result;
}

/// Bits of an integer; index has 64.
static unsigned getWidth(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

static uint64_t cut(uint64_t bits, unsigned width) {
  return width == 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

static int64_t getSigned(uint64_t bits, unsigned width) {
  return llvm::SignExtend64(bits, width);
}

/// The number that a float of a type can hold: that of f32 is not rounded.
static double roundTo(Type type, double value) {
  if (type.isF16())
    return decodeFloat(ElementType::F16, encodeFloat(ElementType::F16, value));
  if (type.isBF16())
    return decodeFloat(ElementType::BF16,
                       encodeFloat(ElementType::BF16, value));
  return value;
}

static std::string getPlace(Operation *op) {
  return (formatLocation(op->getLoc()) + ": " + op->getName().getStringRef() +
          ": ")
      .str();
}

FailureOr<RegionProgram> RegionProgram::create(Region &region,
                                               unsigned numCaptures) {
  RegionProgram program;
  Block &block = region.front();
  unsigned numScalars = block.getNumArguments() - numCaptures;
  for (BlockArgument argument : block.getArguments())
    if (argument.getArgNumber() < numScalars)
      program.define(argument);
    else
      program.captured[argument] = argument.getArgNumber() - numScalars;
  for (Operation &op : block.without_terminator())
    if (failed(program.add(&op)))
      return failure();
  program.yielded = program.slotOf(block.getTerminator()->getOperand(0));
  return program;
}

RegionNumber RegionProgram::run(Frame &frame) const {
  for (const Step &step : steps) {
    step(frame);
    if (!frame.error.empty())
      return {0.0};
  }
  return frame.slots[yielded];
}

LogicalResult RegionProgram::addExtract(Operation *op) {
  auto extract = cast<tensor::ExtractOp>(op);
  auto found = captured.find(extract.getTensor());
  if (found == captured.end())
    return op->emitError("expected tensor.extract of a captured tensor");
  unsigned number = found->second;
  SmallVector<unsigned> indices;
  for (Value index : extract.getIndices())
    indices.push_back(slotOf(index));
  std::string place = getPlace(op);
  unsigned result = define(extract.getResult());
  steps.push_back([=](Frame &frame) {
    const DecodedArray &array = *frame.captures[number];
    int64_t flat = 0;
    for (auto [dimension, slot, size] : llvm::enumerate(indices, array.shape)) {
      auto index = static_cast<int64_t>(frame.slots[slot].bits);
      if (index < 0 || index >= size) {
        frame.error = place + "expected index #" + std::to_string(dimension) +
                      " of a captured tensor of shape " +
                      formatShape(array.shape) + " to be from 0 to " +
                      std::to_string(size - 1) + ", got " +
                      std::to_string(index);
        return;
      }
      flat = flat * size + index;
    }
    frame.slots[result] = array.numbers[flat];
  });
  return success();
}

/// Operations whose results are integers of the operands' type.
LogicalResult RegionProgram::addInteger(Operation *op) {
  unsigned width = getWidth(op->getResult(0).getType());
  unsigned x = slotOf(op->getOperand(0));
  unsigned y = op->getNumOperands() > 1 ? slotOf(op->getOperand(1)) : x;
  // The operation as a function of the signed and the unsigned values; it
  // returns its bits, or sets a message.
  using Function = std::function<uint64_t(int64_t, int64_t, uint64_t, uint64_t,
                                          const char *&)>;
  auto smallest = static_cast<int64_t>(
      width == 64 ? INT64_MIN : -(int64_t(1) << (width - 1)));
  constexpr auto byZero = "division by zero";
  constexpr auto overflow = "a division that overflows";
  constexpr auto tooFar = "a shift by the width of the type or more";
#define INTEGER(Op, expression)                                                \
  .Case([&](Op) -> Function {                                                  \
    return [=](int64_t a, int64_t b, uint64_t ua, uint64_t ub,                 \
               const char *&wrong) -> uint64_t {                               \
      static_cast<void>(a), static_cast<void>(b), static_cast<void>(ua),       \
          static_cast<void>(ub), static_cast<void>(wrong);                     \
      return expression;                                                       \
    };                                                                         \
  })
#define CHECKED(condition, message, value)                                     \
  ((condition) ? (wrong = (message), uint64_t(0)) : uint64_t(value))
#define DIVISION(value)                                                        \
  CHECKED(b == 0, byZero, CHECKED(a == smallest && b == -1, overflow, value))
  Function function =
      llvm::TypeSwitch<Operation *, Function>(op)
      // clang-format off
      INTEGER(arith::AddIOp, ua + ub)
      INTEGER(arith::SubIOp, ua - ub)
      INTEGER(arith::MulIOp, ua * ub)
      INTEGER(arith::AndIOp, ua & ub)
      INTEGER(arith::OrIOp, ua | ub)
      INTEGER(arith::XOrIOp, ua ^ ub)
      INTEGER(arith::MinSIOp, std::min(a, b))
      INTEGER(arith::MaxSIOp, std::max(a, b))
      INTEGER(arith::MinUIOp, std::min(ua, ub))
      INTEGER(arith::MaxUIOp, std::max(ua, ub))
      INTEGER(arith::DivSIOp, DIVISION(a / b))
      INTEGER(arith::RemSIOp,
              CHECKED(b == 0, byZero, b == -1 ? 0 : a % b))
      INTEGER(arith::FloorDivSIOp,
              DIVISION(a / b - (a % b != 0 && (a < 0) != (b < 0))))
      INTEGER(arith::CeilDivSIOp,
              DIVISION(a / b + (a % b != 0 && (a < 0) == (b < 0))))
      INTEGER(arith::DivUIOp, CHECKED(ub == 0, byZero, ua / ub))
      INTEGER(arith::RemUIOp, CHECKED(ub == 0, byZero, ua % ub))
      INTEGER(arith::CeilDivUIOp,
              CHECKED(ub == 0, byZero, ua / ub + (ua % ub != 0)))
      INTEGER(arith::ShLIOp, CHECKED(ub >= width, tooFar, ua << ub))
      INTEGER(arith::ShRUIOp, CHECKED(ub >= width, tooFar, ua >> ub))
      INTEGER(arith::ShRSIOp, CHECKED(ub >= width, tooFar, a >> ub))
      INTEGER(math::AbsIOp, a < 0 ? -ua : ua)
      INTEGER(math::CtPopOp, llvm::popcount(ua))
                                                      // clang-format on
                                                      .Default([](Operation *) {
                                                        return nullptr;
                                                      });
#undef INTEGER
#undef CHECKED
#undef DIVISION
  if (!function)
    return op->emitError("unsupported operation '")
           << op->getName() << "': the reference has no formula for it";
  std::string place = getPlace(op);
  unsigned result = define(op->getResult(0));
  steps.push_back([=](Frame &frame) {
    uint64_t ua = frame.slots[x].bits, ub = frame.slots[y].bits;
    const char *wrong = nullptr;
    uint64_t value =
        function(getSigned(ua, width), getSigned(ub, width), ua, ub, wrong);
    if (wrong)
      frame.error = place + "got " + wrong;
    frame.slots[result].bits = cut(value, width);
  });
  return success();
}

static bool compareIntegers(arith::CmpIPredicate predicate, uint64_t x,
                            uint64_t y, unsigned width) {
  int64_t a = getSigned(x, width), b = getSigned(y, width);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return x == y;
  case arith::CmpIPredicate::ne:
    return x != y;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  case arith::CmpIPredicate::ult:
    return x < y;
  case arith::CmpIPredicate::ule:
    return x <= y;
  case arith::CmpIPredicate::ugt:
    return x > y;
  case arith::CmpIPredicate::uge:
    return x >= y;
  }
  llvm_unreachable("all predicates are handled");
}

LogicalResult RegionProgram::add(Operation *op) {
  if (isa<tensor::ExtractOp>(op))
    return addExtract(op);
  if (op->getNumResults() != 1)
    return op->emitError("unsupported operation '")
           << op->getName() << "': the reference has no formula for it";
  Type type = op->getResult(0).getType();

  // Functions of floats to a float, rounded to its type.
  auto unary = [&](double (*function)(double)) {
    unsigned x = slotOf(op->getOperand(0)), result = define(op->getResult(0));
    steps.push_back([=](Frame &frame) {
      frame.slots[result].real = roundTo(type, function(frame.slots[x].real));
    });
    return success();
  };
  auto binary = [&](double (*function)(double, double)) {
    unsigned x = slotOf(op->getOperand(0)), y = slotOf(op->getOperand(1)),
             result = define(op->getResult(0));
    steps.push_back([=](Frame &frame) {
      frame.slots[result].real =
          roundTo(type, function(frame.slots[x].real, frame.slots[y].real));
    });
    return success();
  };
  // A truth value of a float.
  auto predicate = [&](bool (*function)(double)) {
    unsigned x = slotOf(op->getOperand(0)), result = define(op->getResult(0));
    steps.push_back([=](Frame &frame) {
      frame.slots[result].bits = function(frame.slots[x].real);
    });
    return success();
  };
  // An integer's bits from those of another.
  auto convert = [&](bool isSigned) {
    unsigned from = getWidth(op->getOperand(0).getType()), to = getWidth(type);
    unsigned x = slotOf(op->getOperand(0)), result = define(op->getResult(0));
    steps.push_back([=](Frame &frame) {
      uint64_t bits = frame.slots[x].bits;
      frame.slots[result].bits =
          cut(isSigned ? uint64_t(getSigned(bits, from)) : bits, to);
    });
    return success();
  };
  auto toFloat = [&](bool isSigned) {
    unsigned from = getWidth(op->getOperand(0).getType());
    unsigned x = slotOf(op->getOperand(0)), result = define(op->getResult(0));
    steps.push_back([=](Frame &frame) {
      uint64_t bits = frame.slots[x].bits;
      frame.slots[result].real = roundTo(
          type, isSigned ? double(getSigned(bits, from)) : double(bits));
    });
    return success();
  };
  auto toInteger = [&](bool isSigned) {
    unsigned width = getWidth(type);
    unsigned x = slotOf(op->getOperand(0)), result = define(op->getResult(0));
    std::string place = getPlace(op);
    steps.push_back([=](Frame &frame) {
      double value = std::trunc(frame.slots[x].real);
      // Powers of two are exact.
      double above = std::ldexp(1.0, isSigned ? width - 1 : width);
      double below = isSigned ? -above : 0.0;
      if (!(value >= below && value < above)) {
        frame.error = place + "got " + std::to_string(frame.slots[x].real) +
                      ", which the integer cannot hold";
        return;
      }
      frame.slots[result].bits =
          cut(isSigned ? uint64_t(int64_t(value)) : uint64_t(value), width);
    });
    return success();
  };
#define UNARY(Op, expression)                                                  \
  .Case([&](Op) {                                                              \
    return unary([](double x) -> double { return expression; });               \
  })
#define BINARY(Op, expression)                                                 \
  .Case([&](Op) {                                                              \
    return binary([](double x, double y) -> double { return expression; });    \
  })
#define PREDICATE(Op, expression)                                              \
  .Case([&](Op) {                                                              \
    return predicate([](double x) -> bool { return expression; });             \
  })
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](arith::ConstantOp constant) -> LogicalResult {
        RegionNumber number;
        if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
          number.real = real.getValueAsDouble();
        else if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
          number.bits = cut(integer.getValue().getZExtValue(), getWidth(type));
        else
          return op->emitError("expected a constant that is a scalar");
        unsigned result = define(op->getResult(0));
        steps.push_back([=](Frame &frame) { frame.slots[result] = number; });
        return success();
      })
      .Case([&](arith::SelectOp select) {
        unsigned condition = slotOf(select.getCondition()),
                 yes = slotOf(select.getTrueValue()),
                 no = slotOf(select.getFalseValue()),
                 result = define(select.getResult());
        steps.push_back([=](Frame &frame) {
          frame.slots[result] =
              frame.slots[frame.slots[condition].bits ? yes : no];
        });
        return success();
      })
      .Case([&](arith::CmpIOp compare) {
        unsigned x = slotOf(compare.getLhs()), y = slotOf(compare.getRhs()),
                 result = define(compare.getResult());
        unsigned width = getWidth(compare.getLhs().getType());
        arith::CmpIPredicate kind = compare.getPredicate();
        steps.push_back([=](Frame &frame) {
          frame.slots[result].bits = compareIntegers(
              kind, frame.slots[x].bits, frame.slots[y].bits, width);
        });
        return success();
      })
      .Case([&](arith::CmpFOp compareOp) {
        unsigned x = slotOf(compareOp.getLhs()), y = slotOf(compareOp.getRhs()),
                 result = define(compareOp.getResult());
        arith::CmpFPredicate kind = compareOp.getPredicate();
        steps.push_back([=](Frame &frame) {
          frame.slots[result].bits =
              compare(kind, frame.slots[x].real, frame.slots[y].real);
        });
        return success();
      })
      .Case([&](math::FmaOp fma) {
        unsigned a = slotOf(fma.getA()), b = slotOf(fma.getB()),
                 c = slotOf(fma.getC()), result = define(fma.getResult());
        steps.push_back([=](Frame &frame) {
          frame.slots[result].real =
              roundTo(type, std::fma(frame.slots[a].real, frame.slots[b].real,
                                     frame.slots[c].real));
        });
        return success();
      })
      .Case([&](math::FPowIOp power) {
        unsigned x = slotOf(power.getLhs()), n = slotOf(power.getRhs()),
                 result = define(power.getResult());
        unsigned width = getWidth(power.getRhs().getType());
        steps.push_back([=](Frame &frame) {
          frame.slots[result].real = roundTo(
              type, Fn::pow(frame.slots[x].real,
                            double(getSigned(frame.slots[n].bits, width))));
        });
        return success();
      })
      .Case<arith::ExtSIOp, arith::IndexCastOp>(
          [&](Operation *) { return convert(/*isSigned=*/true); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp, arith::TruncIOp>(
          [&](Operation *) { return convert(/*isSigned=*/false); })
      .Case([&](arith::SIToFPOp) { return toFloat(/*isSigned=*/true); })
      .Case([&](arith::UIToFPOp) { return toFloat(/*isSigned=*/false); })
      .Case([&](arith::FPToSIOp) { return toInteger(/*isSigned=*/true); })
      .Case([&](arith::FPToUIOp) { return toInteger(/*isSigned=*/false); })
      // clang-format off
      UNARY(arith::ExtFOp, x)
      UNARY(arith::TruncFOp, x)
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
      .Default([&](Operation *) -> LogicalResult {
        if (!type.isIntOrIndex() || op->getNumOperands() == 0 ||
            llvm::any_of(op->getOperandTypes(),
                         [&](Type operand) { return operand != type; }))
          return op->emitError("unsupported operation '")
                 << op->getName() << "': the reference has no formula for it";
        return addInteger(op);
      });
#undef UNARY
#undef BINARY
#undef PREDICATE
}
