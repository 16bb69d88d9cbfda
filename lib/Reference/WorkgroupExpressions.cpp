//===- WorkgroupExpressions.cpp - arith and math of a workgroup -----------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One loop for each elementwise operation and element type.
//
//===----------------------------------------------------------------------===//

#include "Comparison.h"
#include "WorkgroupProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>

using namespace mlir;
using namespace wavesmith;

using Kernel = Instruction::Kernel;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

template <typename Function, typename To, typename From>
static void runUnary(const Instruction &instruction, Machine &machine,
                     int64_t count) {
  To *result = machine.at<To>(instruction.result);
  const From *x = machine.at<From>(instruction.operands[0]);
  for (int64_t e = 0; e < count; ++e)
    result[e] = Function::apply(x[e]);
}

template <typename Function, typename To, typename From>
static void runBinary(const Instruction &instruction, Machine &machine,
                      int64_t count) {
  To *result = machine.at<To>(instruction.result);
  const From *x = machine.at<From>(instruction.operands[0]);
  const From *y = machine.at<From>(instruction.operands[1]);
  for (int64_t e = 0; e < count; ++e)
    result[e] = Function::apply(x[e], y[e]);
}

template <typename T>
static void runFma(const Instruction &instruction, Machine &machine,
                   int64_t count) {
  T *result = machine.at<T>(instruction.result);
  const T *a = machine.at<T>(instruction.operands[0]);
  const T *b = machine.at<T>(instruction.operands[1]);
  const T *c = machine.at<T>(instruction.operands[2]);
  for (int64_t e = 0; e < count; ++e)
    result[e] = std::fma(a[e], b[e], c[e]);
}

#ifdef __x86_64__
/// The same on processors that have the instruction: without it, std::fma is a
/// call of a function for each element.
template <typename T>
__attribute__((target("avx2,fma"))) static void
runHardwareFma(const Instruction &instruction, Machine &machine,
               int64_t count) {
  T *result = machine.at<T>(instruction.result);
  const T *a = machine.at<T>(instruction.operands[0]);
  const T *b = machine.at<T>(instruction.operands[1]);
  const T *c = machine.at<T>(instruction.operands[2]);
  for (int64_t e = 0; e < count; ++e)
    result[e] = std::fma(a[e], b[e], c[e]);
}
#endif

template <typename T> static Kernel getFmaKernel() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return runHardwareFma<T>;
#endif
  return runFma<T>;
}

template <typename T>
static void runSelect(const Instruction &instruction, Machine &machine,
                      int64_t count) {
  T *result = machine.at<T>(instruction.result);
  const int64_t *condition = machine.at<int64_t>(instruction.operands[0]);
  const T *yes = machine.at<T>(instruction.operands[1]);
  const T *no = machine.at<T>(instruction.operands[2]);
  for (int64_t e = 0; e < count; ++e)
    result[e] = condition[e] ? yes[e] : no[e];
}

/// A scalar condition for all elements of a tensor.
template <typename T>
static void runSelectWhole(const Instruction &instruction, Machine &machine,
                           int64_t count) {
  bool condition = *machine.at<int64_t>(instruction.operands[0]);
  std::memcpy(machine.at<T>(instruction.result),
              machine.at<T>(instruction.operands[condition ? 1 : 2]),
              count * sizeof(T));
}

//===----------------------------------------------------------------------===//
// Functions of floating-point numbers
//===----------------------------------------------------------------------===//

namespace {

#define BINARY(Name, expression)                                               \
  struct Name {                                                                \
    template <typename T> static T apply(T x, T y) { return expression; }      \
  }
BINARY(Add, x + y);
BINARY(Subtract, x - y);
BINARY(Multiply, x *y);
BINARY(Divide, x / y);
// These are exact, in f64 as in f32.
BINARY(Remainder, T(Fn::remainder(double(x), double(y))));
BINARY(CopySign, T(Fn::copysign(double(x), double(y))));
BINARY(MaxNumber, T(Fn::maxNumber(double(x), double(y))));
BINARY(MinNumber, T(Fn::minNumber(double(x), double(y))));
// A NaN gives NaN.
BINARY(Maximum, Fn::isNaN(double(x))   ? x
                : Fn::isNaN(double(y)) ? y
                                       : MaxNumber::apply(x, y));
BINARY(Minimum, Fn::isNaN(double(x))   ? x
                : Fn::isNaN(double(y)) ? y
                                       : MinNumber::apply(x, y));
BINARY(Power, T(Fn::pow(x, y)));
BINARY(ArcTangent2, T(Fn::atan2(x, y)));
#undef BINARY

#define UNARY(Name, function)                                                  \
  struct Name {                                                                \
    template <typename T> static T apply(T x) {                                \
      return T(Fn::function(double(x)));                                       \
    }                                                                          \
  }
// These are exact; of a square root, rounding to f64 first does not change the
// f32.
UNARY(Absolute, abs);
UNARY(Ceiling, ceil);
UNARY(Floor, floor);
UNARY(Truncate, trunc);
UNARY(Round, round);
UNARY(RoundEven, roundeven);
UNARY(SquareRoot, sqrt);
struct Negate {
  template <typename T> static T apply(T x) { return -x; }
};
// f64 alone.
UNARY(ReciprocalRoot, rsqrt);
UNARY(CubeRoot, cbrt);
UNARY(Exp, exp);
UNARY(Exp2, exp2);
UNARY(ExpM1, expm1);
UNARY(Log, log);
UNARY(Log2, log2);
UNARY(Log10, log10);
UNARY(Log1p, log1p);
UNARY(Sine, sin);
UNARY(Cosine, cos);
UNARY(Tangent, tan);
UNARY(ArcSine, asin);
UNARY(ArcCosine, acos);
UNARY(ArcTangent, atan);
UNARY(HyperbolicSine, sinh);
UNARY(HyperbolicCosine, cosh);
UNARY(HyperbolicTangent, tanh);
UNARY(HyperbolicArcSine, asinh);
UNARY(HyperbolicArcCosine, acosh);
UNARY(HyperbolicArcTangent, atanh);
UNARY(ErrorFunction, erf);
UNARY(ComplementaryErrorFunction, erfc);
#undef UNARY

#define PREDICATE(Name, expression)                                            \
  struct Name {                                                                \
    static int64_t apply(double x) { return -int64_t(expression); }            \
  }
PREDICATE(IsNaN, Fn::isNaN(x));
PREDICATE(IsInfinite, Fn::isInfinite(x));
PREDICATE(IsFinite, !Fn::isNaN(x) && !Fn::isInfinite(x));
PREDICATE(IsNormal, std::isnormal(x));
#undef PREDICATE

template <arith::CmpFPredicate predicate> struct CompareFloats {
  static int64_t apply(double x, double y) {
    return -int64_t(compare(predicate, x, y));
  }
};

struct ConvertFloat {
  static double apply(float x) { return x; }
  static float apply(double x) { return static_cast<float>(x); }
};

//===----------------------------------------------------------------------===//
// Functions of integers
//===----------------------------------------------------------------------===//

/// An integer's bits, moved to the top, and back.
int64_t extend(uint64_t x, unsigned shift) {
  return static_cast<int64_t>(x << shift) >> shift;
}
uint64_t zeroExtend(int64_t x, unsigned shift) {
  return static_cast<uint64_t>(x) << shift >> shift;
}
int64_t lowest(unsigned shift) {
  return std::numeric_limits<int64_t>::min() >> shift;
}

// On int64_t x and y, and their zero-extended forms ux and uy.
#define INTEGER(Name, expression, wrong, why)                                  \
  struct Name {                                                                \
    static constexpr const char *message = why;                                \
    static bool fails(int64_t x, int64_t y, unsigned shift) {                  \
      [[maybe_unused]] uint64_t ux = zeroExtend(x, shift),                     \
                                uy = zeroExtend(y, shift);                     \
      return wrong;                                                            \
    }                                                                          \
    static uint64_t apply(int64_t x, int64_t y, unsigned shift) {              \
      [[maybe_unused]] uint64_t ux = zeroExtend(x, shift),                     \
                                uy = zeroExtend(y, shift);                     \
      return static_cast<uint64_t>(expression);                                \
    }                                                                          \
  }
INTEGER(AddI, ux + uy, false, "");
INTEGER(SubI, ux - uy, false, "");
INTEGER(MulI, ux *uy, false, "");
INTEGER(AndI, x &y, false, "");
INTEGER(OrI, x | y, false, "");
INTEGER(XOrI, x ^ y, false, "");
INTEGER(MaxSI, x > y ? x : y, false, "");
INTEGER(MinSI, x < y ? x : y, false, "");
INTEGER(MaxUI, ux > uy ? ux : uy, false, "");
INTEGER(MinUI, ux < uy ? ux : uy, false, "");
constexpr const char *divides = "division by zero, or that overflows";
#define OVERFLOWS (y == 0 || (y == -1 && x == lowest(shift)))
INTEGER(DivSI, x / y, OVERFLOWS, divides);
INTEGER(RemSI, x % y, OVERFLOWS, divides);
INTEGER(FloorDivSI, x / y - (x % y != 0 && (x < 0) != (y < 0)), OVERFLOWS,
        divides);
INTEGER(CeilDivSI, x / y + (x % y != 0 && (x < 0) == (y < 0)), OVERFLOWS,
        divides);
#undef OVERFLOWS
INTEGER(DivUI, ux / uy, uy == 0, divides);
INTEGER(RemUI, ux % uy, uy == 0, divides);
INTEGER(CeilDivUI, ux / uy + (ux % uy != 0), uy == 0, divides);
constexpr const char *shifts = "shift by the width or more";
#define TOO_FAR (uy >= 64 - shift)
INTEGER(ShLI, ux << uy, TOO_FAR, shifts);
INTEGER(ShRUI, ux >> uy, TOO_FAR, shifts);
INTEGER(ShRSI, x >> uy, TOO_FAR, shifts);
#undef TOO_FAR
#undef INTEGER

template <arith::CmpIPredicate predicate> struct CompareIntegers {
  static int64_t apply(int64_t x, int64_t y) {
    using Predicate = arith::CmpIPredicate;
    // Sign extension keeps the order of unsigned numbers of one width.
    auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
    switch (predicate) {
    case Predicate::eq:
      return -int64_t(x == y);
    case Predicate::ne:
      return -int64_t(x != y);
    case Predicate::slt:
      return -int64_t(x < y);
    case Predicate::sle:
      return -int64_t(x <= y);
    case Predicate::sgt:
      return -int64_t(x > y);
    case Predicate::sge:
      return -int64_t(x >= y);
    case Predicate::ult:
      return -int64_t(ux < uy);
    case Predicate::ule:
      return -int64_t(ux <= uy);
    case Predicate::ugt:
      return -int64_t(ux > uy);
    case Predicate::uge:
      return -int64_t(ux >= uy);
    }
    llvm_unreachable("all predicates are handled");
  }
};

} // namespace

/// Instruction::number is 64 less the width.
template <typename Function>
static void runInteger(const Instruction &instruction, Machine &machine,
                       int64_t count) {
  int64_t *result = machine.at<int64_t>(instruction.result);
  const int64_t *x = machine.at<int64_t>(instruction.operands[0]);
  const int64_t *y = machine.at<int64_t>(instruction.operands[1]);
  unsigned shift = instruction.number;
  for (int64_t e = 0; e < count; ++e) {
    if (Function::fails(x[e], y[e], shift))
      return machine.fail(instruction, llvm::Twine(Function::message) + ": " +
                                           llvm::Twine(x[e]) + " and " +
                                           llvm::Twine(y[e]));
    result[e] = extend(Function::apply(x[e], y[e], shift), shift);
  }
}

/// Number is 64 less the width.
static void runAbsI(const Instruction &instruction, Machine &machine,
                    int64_t count) {
  int64_t *result = machine.at<int64_t>(instruction.result);
  const int64_t *x = machine.at<int64_t>(instruction.operands[0]);
  for (int64_t e = 0; e < count; ++e)
    result[e] = extend(x[e] < 0 ? -static_cast<uint64_t>(x[e]) : x[e],
                       instruction.number);
}

/// Number is 64 less the narrower width, that of the result or the operand.
static void runSignExtend(const Instruction &instruction, Machine &machine,
                          int64_t count) {
  int64_t *result = machine.at<int64_t>(instruction.result);
  const int64_t *x = machine.at<int64_t>(instruction.operands[0]);
  for (int64_t e = 0; e < count; ++e)
    result[e] = extend(x[e], instruction.number);
}

/// Number is 64 less the width of the operand.
static void runZeroExtend(const Instruction &instruction, Machine &machine,
                          int64_t count) {
  int64_t *result = machine.at<int64_t>(instruction.result);
  const int64_t *x = machine.at<int64_t>(instruction.operands[0]);
  for (int64_t e = 0; e < count; ++e)
    result[e] = zeroExtend(x[e], instruction.number);
}

/// Number is 64 less the width of the operand.
template <typename T, bool isSigned>
static void runIntegerToFloat(const Instruction &instruction, Machine &machine,
                              int64_t count) {
  T *result = machine.at<T>(instruction.result);
  const int64_t *x = machine.at<int64_t>(instruction.operands[0]);
  unsigned shift = instruction.number;
  for (int64_t e = 0; e < count; ++e)
    result[e] = isSigned ? T(x[e]) : T(zeroExtend(x[e], shift));
}

/// Number is 64 less the width of the result.
template <typename T, bool isSigned>
static void runFloatToInteger(const Instruction &instruction, Machine &machine,
                              int64_t count) {
  int64_t *result = machine.at<int64_t>(instruction.result);
  const T *x = machine.at<T>(instruction.operands[0]);
  unsigned shift = instruction.number;
  // The result is below the limit, a power of two.
  double limit = std::ldexp(1.0, 64 - shift - (isSigned ? 1 : 0));
  for (int64_t e = 0; e < count; ++e) {
    double whole = std::trunc(double(x[e]));
    if (!(whole >= (isSigned ? -limit : 0.0) && whole < limit))
      return machine.fail(
          instruction,
          "conversion of " + llvm::formatv("{0:e}", double(x[e])).str() +
              " to an integer of " + llvm::Twine(64 - shift) + " bits");
    result[e] = isSigned ? static_cast<int64_t>(whole)
                         : extend(static_cast<uint64_t>(whole), shift);
  }
}

static void runFloatBits(const Instruction &instruction, Machine &machine,
                         int64_t count) {
  int64_t *result = machine.at<int64_t>(instruction.result);
  const float *x = machine.at<float>(instruction.operands[0]);
  for (int64_t e = 0; e < count; ++e) {
    int32_t bits;
    std::memcpy(&bits, &x[e], sizeof(bits));
    result[e] = bits;
  }
}

static void runBitsToFloat(const Instruction &instruction, Machine &machine,
                           int64_t count) {
  float *result = machine.at<float>(instruction.result);
  const int64_t *x = machine.at<int64_t>(instruction.operands[0]);
  for (int64_t e = 0; e < count; ++e) {
    auto bits = static_cast<int32_t>(x[e]);
    std::memcpy(&result[e], &bits, sizeof(bits));
  }
}

template <int bytes>
static void runCopy(const Instruction &instruction, Machine &machine,
                    int64_t count) {
  std::memcpy(machine.at<char>(instruction.result),
              machine.at<char>(instruction.operands[0]), count * bytes);
}

static void runIntegerPower(const Instruction &instruction, Machine &machine,
                            int64_t count) {
  double *result = machine.at<double>(instruction.result);
  const double *x = machine.at<double>(instruction.operands[0]);
  const int64_t *n = machine.at<int64_t>(instruction.operands[1]);
  for (int64_t e = 0; e < count; ++e)
    result[e] = Fn::pown(x[e], n[e]);
}

template <typename T>
static Kernel getComparison(arith::CmpFPredicate predicate) {
  using Predicate = arith::CmpFPredicate;
  switch (predicate) {
#define CASE(name)                                                             \
  case Predicate::name:                                                        \
    return runBinary<CompareFloats<Predicate::name>, int64_t, T>
    CASE(AlwaysFalse);
    CASE(OEQ);
    CASE(OGT);
    CASE(OGE);
    CASE(OLT);
    CASE(OLE);
    CASE(ONE);
    CASE(ORD);
    CASE(UEQ);
    CASE(UGT);
    CASE(UGE);
    CASE(ULT);
    CASE(ULE);
    CASE(UNE);
    CASE(UNO);
    CASE(AlwaysTrue);
#undef CASE
  }
  llvm_unreachable("all predicates are handled");
}

static Kernel getComparison(arith::CmpIPredicate predicate) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
#define CASE(name)                                                             \
  case Predicate::name:                                                        \
    return runBinary<CompareIntegers<Predicate::name>, int64_t, int64_t>
    CASE(eq);
    CASE(ne);
    CASE(slt);
    CASE(sle);
    CASE(sgt);
    CASE(sge);
    CASE(ult);
    CASE(ule);
    CASE(ugt);
    CASE(uge);
#undef CASE
  }
  llvm_unreachable("all predicates are handled");
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult WorkgroupCompiler::compileExpression(Operation *op) {
  if (auto flags = dyn_cast<arith::ArithFastMathInterface>(op))
    if (flags.getFastMathFlagsAttr() &&
        flags.getFastMathFlagsAttr().getValue() != arith::FastMathFlags::none)
      return unsupported(op, " with fastmath flags");
  if (auto rounding = dyn_cast<arith::ArithRoundingModeInterface>(op))
    if (rounding.getRoundingModeAttr())
      return unsupported(op, " with a rounding mode");
  if (op->getNumResults() != 1)
    return unsupported(op);
  Value result = op->getResult(0);
  if (failed(define(op, result)))
    return failure();
  Slot to = slotOf(result);
  Slot from = op->getNumOperands() ? slotOf(op->getOperand(0)) : Slot();

  /// Appends the instruction; the operands are the operation's.
  auto append = [&](Kernel kernel, int64_t number = 0) -> LogicalResult {
    Instruction &instruction = emit(op, kernel, to.count);
    instruction.result = to.offset;
    for (auto [place, operand] :
         llvm::zip_first(MutableArrayRef(instruction.operands)
                             .take_front(op->getNumOperands()),
                         op->getOperands()))
      place = slotOf(operand).offset;
    instruction.number = number;
    return success();
  };
  auto shiftOf = [](const Slot &slot) { return int64_t(64 - slot.width); };

  bool isF64 = from.storage == Storage::F64, toF64 = to.storage == Storage::F64;

  if (isa<math::IsNormalOp>(op)) {
    // A number may be normal in f64 and subnormal in f32.
    if (!isF64)
      return unsupported(op, " of f32");
    return append(runUnary<IsNormal, int64_t, double>);
  }
  if (isa<math::AbsIOp>(op))
    return append(runAbsI, shiftOf(to));
  if (auto power = dyn_cast<math::FPowIOp>(op)) {
    if (!isF64)
      return unsupported(op, " of f32");
    if (slotOf(power.getRhs()).width != 32)
      return unsupported(op, " with an exponent that is not i32");
    return append(runIntegerPower);
  }
  if (isa<math::FmaOp>(op))
    return append(isF64 ? getFmaKernel<double>() : getFmaKernel<float>());
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return append(isF64 ? getComparison<double>(compare.getPredicate())
                        : getComparison<float>(compare.getPredicate()));
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return append(getComparison(compare.getPredicate()));
  if (isa<arith::SelectOp>(op)) {
    // In a reduction's region a scalar condition is one for each chain.
    bool whole = from.count != to.count;
    if (to.storage == Storage::F32)
      return append(whole ? runSelectWhole<float> : runSelect<float>);
    return append(whole ? runSelectWhole<int64_t> : runSelect<int64_t>);
  }
  // arith has these between wider and narrower floats alone.
  if (isa<arith::ExtFOp>(op))
    return append(runUnary<ConvertFloat, double, float>);
  if (isa<arith::TruncFOp>(op))
    return append(runUnary<ConvertFloat, float, double>);
  if (isa<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(op))
    return append(runSignExtend, 64 - std::min(from.width, to.width));
  if (isa<arith::ExtUIOp>(op))
    return append(runZeroExtend, shiftOf(from));
  if (isa<arith::IndexCastUIOp>(op))
    return from.width < to.width ? append(runZeroExtend, shiftOf(from))
                                 : append(runSignExtend, shiftOf(to));
  if (isa<arith::SIToFPOp>(op))
    return append(toF64 ? runIntegerToFloat<double, true>
                        : runIntegerToFloat<float, true>,
                  shiftOf(from));
  if (isa<arith::UIToFPOp>(op))
    return append(toF64 ? runIntegerToFloat<double, false>
                        : runIntegerToFloat<float, false>,
                  shiftOf(from));
  if (isa<arith::FPToSIOp>(op))
    return append(isF64 ? runFloatToInteger<double, true>
                        : runFloatToInteger<float, true>,
                  shiftOf(to));
  if (isa<arith::FPToUIOp>(op))
    return append(isF64 ? runFloatToInteger<double, false>
                        : runFloatToInteger<float, false>,
                  shiftOf(to));
  if (isa<arith::BitcastOp>(op)) {
    bool isF32 = from.storage == Storage::F32;
    if (isF32 == (to.storage == Storage::F32))
      return append(isF32 ? runCopy<4> : runCopy<8>);
    return append(isF32 ? runFloatBits : runBitsToFloat);
  }

  // A function that is the same in f64 and f32, or one of f64 alone.
#define BOTH(Op, loop, Function)                                               \
  .Case([&](Op) {                                                              \
    return append(from.storage == Storage::F64                                 \
                      ? loop<Function, double, double>                         \
                      : loop<Function, float, float>);                         \
  })
#define F64_ALONE(Op, loop, Function)                                          \
  .Case([&](Op) -> LogicalResult {                                             \
    if (from.storage != Storage::F64)                                          \
      return unsupported(op, " of f32");                                       \
    return append(loop<Function, double, double>);                             \
  })
#define PREDICATE(Op, Function)                                                \
  .Case([&](Op) {                                                              \
    return append(from.storage == Storage::F64                                 \
                      ? runUnary<Function, int64_t, double>                    \
                      : runUnary<Function, int64_t, float>);                   \
  })
#define INTEGER(Op, Function)                                                  \
  .Case([&](Op) { return append(runInteger<Function>, shiftOf(to)); })

  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      // clang-format off
      BOTH(arith::AddFOp, runBinary, Add)
      BOTH(arith::SubFOp, runBinary, Subtract)
      BOTH(arith::MulFOp, runBinary, Multiply)
      BOTH(arith::DivFOp, runBinary, Divide)
      BOTH(arith::RemFOp, runBinary, Remainder)
      BOTH(arith::MaxNumFOp, runBinary, MaxNumber)
      BOTH(arith::MinNumFOp, runBinary, MinNumber)
      BOTH(arith::MaximumFOp, runBinary, Maximum)
      BOTH(arith::MinimumFOp, runBinary, Minimum)
      BOTH(arith::NegFOp, runUnary, Negate)
      BOTH(math::CopySignOp, runBinary, CopySign)
      BOTH(math::AbsFOp, runUnary, Absolute)
      BOTH(math::CeilOp, runUnary, Ceiling)
      BOTH(math::FloorOp, runUnary, Floor)
      BOTH(math::TruncOp, runUnary, Truncate)
      BOTH(math::RoundOp, runUnary, Round)
      BOTH(math::RoundEvenOp, runUnary, RoundEven)
      BOTH(math::SqrtOp, runUnary, SquareRoot)
      F64_ALONE(math::RsqrtOp, runUnary, ReciprocalRoot)
      F64_ALONE(math::CbrtOp, runUnary, CubeRoot)
      F64_ALONE(math::ExpOp, runUnary, Exp)
      F64_ALONE(math::Exp2Op, runUnary, Exp2)
      F64_ALONE(math::ExpM1Op, runUnary, ExpM1)
      F64_ALONE(math::LogOp, runUnary, Log)
      F64_ALONE(math::Log2Op, runUnary, Log2)
      F64_ALONE(math::Log10Op, runUnary, Log10)
      F64_ALONE(math::Log1pOp, runUnary, Log1p)
      F64_ALONE(math::SinOp, runUnary, Sine)
      F64_ALONE(math::CosOp, runUnary, Cosine)
      F64_ALONE(math::TanOp, runUnary, Tangent)
      F64_ALONE(math::AsinOp, runUnary, ArcSine)
      F64_ALONE(math::AcosOp, runUnary, ArcCosine)
      F64_ALONE(math::AtanOp, runUnary, ArcTangent)
      F64_ALONE(math::SinhOp, runUnary, HyperbolicSine)
      F64_ALONE(math::CoshOp, runUnary, HyperbolicCosine)
      F64_ALONE(math::TanhOp, runUnary, HyperbolicTangent)
      F64_ALONE(math::AsinhOp, runUnary, HyperbolicArcSine)
      F64_ALONE(math::AcoshOp, runUnary, HyperbolicArcCosine)
      F64_ALONE(math::AtanhOp, runUnary, HyperbolicArcTangent)
      F64_ALONE(math::ErfOp, runUnary, ErrorFunction)
      F64_ALONE(math::ErfcOp, runUnary, ComplementaryErrorFunction)
      F64_ALONE(math::PowFOp, runBinary, Power)
      F64_ALONE(math::Atan2Op, runBinary, ArcTangent2)
      PREDICATE(math::IsNaNOp, IsNaN)
      PREDICATE(math::IsInfOp, IsInfinite)
      PREDICATE(math::IsFiniteOp, IsFinite)
      INTEGER(arith::AddIOp, AddI)
      INTEGER(arith::SubIOp, SubI)
      INTEGER(arith::MulIOp, MulI)
      INTEGER(arith::AndIOp, AndI)
      INTEGER(arith::OrIOp, OrI)
      INTEGER(arith::XOrIOp, XOrI)
      INTEGER(arith::MaxSIOp, MaxSI)
      INTEGER(arith::MinSIOp, MinSI)
      INTEGER(arith::MaxUIOp, MaxUI)
      INTEGER(arith::MinUIOp, MinUI)
      INTEGER(arith::DivSIOp, DivSI)
      INTEGER(arith::RemSIOp, RemSI)
      INTEGER(arith::FloorDivSIOp, FloorDivSI)
      INTEGER(arith::CeilDivSIOp, CeilDivSI)
      INTEGER(arith::DivUIOp, DivUI)
      INTEGER(arith::RemUIOp, RemUI)
      INTEGER(arith::CeilDivUIOp, CeilDivUI)
      INTEGER(arith::ShLIOp, ShLI)
      INTEGER(arith::ShRUIOp, ShRUI)
      INTEGER(arith::ShRSIOp, ShRSI)
                                                                              // clang-format on
                                                                              .Default(
                                                                                  [&](Operation
                                                                                          *) {
                                                                                    return unsupported(
                                                                                        op);
                                                                                  });
#undef BOTH
#undef F64_ALONE
#undef PREDICATE
#undef INTEGER
}
