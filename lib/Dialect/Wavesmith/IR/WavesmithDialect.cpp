//===- WavesmithDialect.cpp - Dialect and attributes ----------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "llvm/ADT/TypeSwitch.h"
#include <charconv>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace wavesmith;

#include "wavesmith/Dialect/Wavesmith/IR/WavesmithDialect.cpp.inc"
#include "wavesmith/Dialect/Wavesmith/IR/WavesmithEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "wavesmith/Dialect/Wavesmith/IR/WavesmithAttributes.cpp.inc"

void WavesmithDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "wavesmith/Dialect/Wavesmith/IR/WavesmithAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "wavesmith/Dialect/Wavesmith/IR/WavesmithOps.cpp.inc"
      >();
}

LogicalResult WavesmithDialect::verifyOperationAttribute(Operation *op,
                                                         NamedAttribute attr) {
  if (attr.getName() == kZonesPerWorkgroupAttrName &&
      isa<IntegerAttr>(attr.getValue()))
    return success();
  if (attr.getName() == kOwnWavefrontAttrName && isa<UnitAttr>(attr.getValue()))
    return success();
  if (attr.getName() == kGridAttrName && isa<ArrayAttr>(attr.getValue()))
    return success();
  if (attr.getName() != kTargetAttrName)
    return op->emitError("unknown attribute '")
           << attr.getName().getValue() << "'";
  if (!isa<TargetAttr>(attr.getValue()))
    return op->emitError("expected '")
           << attr.getName().getValue() << "' to be a #wavesmith.target, got "
           << attr.getValue();
  if (!isa<ModuleOp>(op))
    return op->emitError("expected '")
           << attr.getName().getValue() << "' on a module, got it on '"
           << op->getName() << "'";
  return success();
}

LogicalResult
OdeScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        CodeForm form, int64_t workgroupSize,
                        int64_t threadsPerZone) {
  if (workgroupSize <= 0)
    return emitError() << "expected workgroup_size to be positive, got "
                       << workgroupSize;
  if (form != CodeForm::Cooperative) {
    if (threadsPerZone != 1)
      return emitError() << "expected threads_per_zone = 1 in the form "
                         << stringifyCodeForm(form) << ", got "
                         << threadsPerZone;
    return success();
  }
  if (threadsPerZone <= 0 || workgroupSize % threadsPerZone != 0)
    return emitError() << "expected threads_per_zone to divide workgroup_size "
                       << workgroupSize << ", got " << threadsPerZone;
  return success();
}

LogicalResult
AttentionScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              int64_t version, int64_t waves, int64_t keys,
                              int64_t wavesPerSIMD, int64_t prefetch,
                              int64_t rescaleAbove, AttentionRounding rounding,
                              int64_t priority, int64_t dies) {
  if (version != 1)
    return emitError() << "expected version 1 of the schedule, got " << version;
  struct Limit {
    StringRef name;
    int64_t value, least, most;
    bool isPowerOf2;
  };
  for (const Limit &limit :
       {Limit{"waves", waves, 1, 8, true}, Limit{"keys", keys, 32, 128, true},
        Limit{"waves_per_simd", wavesPerSIMD, 0, 8, false},
        Limit{"prefetch", prefetch, 0, 1, false},
        Limit{"rescale_above", rescaleAbove, 0, 8, false},
        Limit{"priority", priority, 0, 3, false},
        Limit{"dies", dies, 1, 64, false}})
    if (limit.value < limit.least || limit.value > limit.most ||
        (limit.isPowerOf2 && !llvm::isPowerOf2_64(limit.value)))
      return emitError() << "expected " << limit.name << " to be "
                         << (limit.isPowerOf2 ? "a power of two from "
                                              : "a number from ")
                         << limit.least << " to " << limit.most << ", got "
                         << limit.value;
  return success();
}

LogicalResult
AsymptoticAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       APFloat fluxFraction, APFloat timeFraction,
                       APFloat tolerance) {
  for (auto [name, value] : {std::pair("flux_fraction", &fluxFraction),
                             std::pair("time_fraction", &timeFraction),
                             std::pair("tolerance", &tolerance)})
    if (!value->isFiniteNonZero() || value->isNegative())
      return emitError() << "expected " << name
                         << " to be positive and finite, got "
                         << value->convertToDouble();
  return success();
}

/// `[[1, 0], [2, 0]]`; the rank is that of the first entry read.
static ParseResult parseEntries(AsmParser &parser, StringRef name,
                                int64_t &rank, SmallVectorImpl<int64_t> &flat) {
  if (parser.parseKeyword(name) || parser.parseEqual())
    return failure();
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        int64_t count = 0;
        if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
              ++count;
              return parser.parseInteger(flat.emplace_back());
            }))
          return failure();
        if (rank == 0)
          rank = count;
        if (count != rank || count == 0)
          return parser.emitError(loc)
                 << "expected an entry of " << std::max<int64_t>(rank, 1)
                 << " numbers, got " << count;
        return success();
      });
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t rank = 0;
  SmallVector<int64_t> registers, lanes, waves;
  if (parser.parseLess() ||
      parseEntries(parser, "registers", rank, registers) ||
      parser.parseComma() || parseEntries(parser, "lanes", rank, lanes) ||
      parser.parseComma() || parseEntries(parser, "waves", rank, waves) ||
      parser.parseGreater())
    return {};
  return LayoutAttr::getChecked([&] { return parser.emitError(loc); },
                                parser.getContext(), rank, registers, lanes,
                                waves);
}

Attribute AsymptoticAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<APFloat, 3> values;
  auto parseNumber = [&](StringRef name) -> ParseResult {
    double value;
    if (parser.parseKeyword(name) || parser.parseEqual() ||
        parser.parseFloat(value))
      return failure();
    values.emplace_back(value);
    return success();
  };
  if (parser.parseLess() || parseNumber("flux_fraction") ||
      parser.parseComma() || parseNumber("time_fraction") ||
      parser.parseComma() || parseNumber("tolerance") || parser.parseGreater())
    return {};
  return AsymptoticAttr::getChecked([&] { return parser.emitError(loc); },
                                    parser.getContext(), values[0], values[1],
                                    values[2]);
}

void AsymptoticAttr::print(AsmPrinter &printer) const {
  auto printNumber = [&](StringRef name, const APFloat &value) {
    printer << name << " = ";
    printShortest(printer.getStream(), value.convertToDouble());
  };
  printer << '<';
  printNumber("flux_fraction", getFluxFraction());
  printer << ", ";
  printNumber("time_fraction", getTimeFraction());
  printer << ", ";
  printNumber("tolerance", getTolerance());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Tsit5
//===----------------------------------------------------------------------===//

SmallVector<double> Tsit5Attr::getNumbers(Attribute tolerance) {
  if (auto number = dyn_cast<FloatAttr>(tolerance))
    return {number.getValueAsDouble()};
  return llvm::to_vector(cast<DenseF64ArrayAttr>(tolerance).asArrayRef());
}

SmallVector<double> Tsit5Attr::getNumbers(Attribute tolerance, unsigned count) {
  SmallVector<double> numbers = getNumbers(tolerance);
  if (isa<FloatAttr>(tolerance))
    numbers.assign(count, numbers.front());
  return numbers;
}

LogicalResult Tsit5Attr::verify(function_ref<InFlightDiagnostic()> emitError,
                                Attribute absoluteTolerance,
                                Attribute relativeTolerance, APFloat safety,
                                APFloat smallestFactor, APFloat largestFactor,
                                APFloat smallestStep, APFloat largestStep) {
  for (auto [name, tolerance] :
       {std::pair("absolute_tolerance", absoluteTolerance),
        std::pair("relative_tolerance", relativeTolerance)}) {
    auto number = dyn_cast_or_null<FloatAttr>(tolerance);
    if (!(number && number.getType().isF64()) &&
        !isa_and_nonnull<DenseF64ArrayAttr>(tolerance))
      return emitError() << "expected " << name
                         << " to be a number or a list of numbers of f64";
    bool mayBeZero = StringRef(name) == "relative_tolerance";
    for (double value : getNumbers(tolerance))
      if (!std::isfinite(value) || value < 0.0 || (value == 0.0 && !mayBeZero))
        return emitError() << "expected " << name << " to be "
                           << (mayBeZero ? "finite and not negative"
                                         : "positive and finite")
                           << ", got " << value;
  }
  for (auto [name, value] :
       {std::pair("safety", safety.convertToDouble()),
        std::pair("smallest_factor", smallestFactor.convertToDouble())})
    if (!(value > 0.0 && value < 1.0))
      return emitError() << "expected " << name
                         << " to be above 0 and below 1, got " << value;
  double largest = largestFactor.convertToDouble();
  if (!(largest >= 1.0) || !std::isfinite(largest))
    return emitError()
           << "expected largest_factor to be finite and at least 1, got "
           << largest;
  double least = smallestStep.convertToDouble();
  if (!(least >= 0.0) || !std::isfinite(least))
    return emitError()
           << "expected smallest_step to be finite and not negative, got "
           << least;
  double most = largestStep.convertToDouble();
  if (!(most > 0.0) || most < least)
    return emitError() << "expected largest_step to be positive and not below "
                          "smallest_step, got "
                       << most;
  return success();
}

/// What a tsit5 may leave out, in the order in which it is printed.
static constexpr struct {
  StringLiteral name;
  double standard;
} kTsit5Options[] = {{"safety", 0.9},
                     {"smallest_factor", 0.2},
                     {"largest_factor", 10.0},
                     {"smallest_step", 0.0},
                     {"largest_step", std::numeric_limits<double>::infinity()}};

Attribute Tsit5Attr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  Builder builder(parser.getContext());
  auto parseTolerance = [&](StringRef name, Attribute &result) -> ParseResult {
    double value;
    if (parser.parseKeyword(name) || parser.parseEqual())
      return failure();
    if (failed(parser.parseOptionalLSquare())) {
      if (parser.parseFloat(value))
        return failure();
      result = builder.getF64FloatAttr(value);
      return success();
    }
    SmallVector<double> values;
    if (parser.parseCommaSeparatedList([&]() -> ParseResult {
          if (parser.parseFloat(value))
            return failure();
          values.push_back(value);
          return success();
        }) ||
        parser.parseRSquare())
      return failure();
    result = builder.getDenseF64ArrayAttr(values);
    return success();
  };
  Attribute absolute, relative;
  if (parser.parseLess() || parseTolerance("absolute_tolerance", absolute) ||
      parser.parseComma() || parseTolerance("relative_tolerance", relative))
    return {};
  std::optional<double> values[std::size(kTsit5Options)];
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc nameLoc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return {};
    const auto *option = llvm::find_if(
        kTsit5Options, [&](const auto &o) { return o.name == name; });
    if (option == std::end(kTsit5Options)) {
      parser.emitError(nameLoc)
          << "expected safety, smallest_factor, largest_factor, "
             "smallest_step or largest_step, got '"
          << name << "'";
      return {};
    }
    std::optional<double> &value = values[option - kTsit5Options];
    if (value) {
      parser.emitError(nameLoc) << name << " stands twice";
      return {};
    }
    value.emplace();
    if (parser.parseEqual() || parser.parseFloat(*value))
      return {};
  }
  if (parser.parseGreater())
    return {};
  auto get = [&](unsigned i) {
    return APFloat(values[i].value_or(kTsit5Options[i].standard));
  };
  return Tsit5Attr::getChecked([&] { return parser.emitError(loc); },
                               parser.getContext(), absolute, relative, get(0),
                               get(1), get(2), get(3), get(4));
}

void Tsit5Attr::print(AsmPrinter &printer) const {
  raw_ostream &os = printer.getStream();
  auto printTolerance = [&](Attribute tolerance) {
    bool isList = isa<DenseF64ArrayAttr>(tolerance);
    os << (isList ? "[" : "");
    llvm::interleaveComma(getNumbers(tolerance), os,
                          [&](double value) { printShortest(os, value); });
    os << (isList ? "]" : "");
  };
  os << "<absolute_tolerance = ";
  printTolerance(getAbsoluteTolerance());
  os << ", relative_tolerance = ";
  printTolerance(getRelativeTolerance());
  const APFloat values[] = {getSafety(), getSmallestFactor(),
                            getLargestFactor(), getSmallestStep(),
                            getLargestStep()};
  for (auto [option, value] : llvm::zip_equal(kTsit5Options, values)) {
    if (value.convertToDouble() == option.standard)
      continue;
    os << ", " << option.name << " = ";
    printShortest(os, value.convertToDouble());
  }
  os << '>';
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef architecture, StringRef chip) {
  if (architecture.empty())
    return emitError() << "expected the name of an architecture, got none";
  return success();
}

void wavesmith::printShortest(raw_ostream &os, double value) {
  char text[40];
  char *end = std::to_chars(text, text + sizeof(text), value).ptr;
  // MLIR's number needs a point before the exponent.
  StringRef shortest(text, end - text);
  size_t exponent = shortest.find('e');
  StringRef mantissa = shortest.take_front(exponent);
  os << mantissa;
  if (!mantissa.contains('.') &&
      mantissa.find_first_not_of("-0123456789") == StringRef::npos)
    os << ".0";
  if (exponent != StringRef::npos)
    os << shortest.drop_front(exponent);
}
