//===- Units.cpp - Physical units -----------------------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Dialect/Wavesmith/IR/Units.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;
using namespace wavesmith;

namespace {
struct NamedUnit {
  StringLiteral name;
  double scale;
  /// Powers of m, kg, s, K, mol.
  std::array<double, 5> exponents;
};
} // namespace

// Scales by definition: SI brochure (2019), CODATA 2018 for eV and the
// molecule, the thermochemical calorie.
static const NamedUnit namedUnits[] = {
    {"1", 1, {}},
    {"m", 1, {1}},
    {"km", 1e3, {1}},
    {"dm", 1e-1, {1}},
    {"cm", 1e-2, {1}},
    {"mm", 1e-3, {1}},
    {"um", 1e-6, {1}},
    {"l", 1e-3, {3}},
    {"kg", 1, {0, 1}},
    {"g", 1e-3, {0, 1}},
    {"mg", 1e-6, {0, 1}},
    {"s", 1, {0, 0, 1}},
    {"ms", 1e-3, {0, 0, 1}},
    {"us", 1e-6, {0, 0, 1}},
    {"ns", 1e-9, {0, 0, 1}},
    {"min", 60, {0, 0, 1}},
    {"h", 3600, {0, 0, 1}},
    {"K", 1, {0, 0, 0, 1}},
    {"mol", 1, {0, 0, 0, 0, 1}},
    {"kmol", 1e3, {0, 0, 0, 0, 1}},
    {"mmol", 1e-3, {0, 0, 0, 0, 1}},
    {"molecule", 1 / 6.02214076e23, {0, 0, 0, 0, 1}},
    {"J", 1, {2, 1, -2}},
    {"kJ", 1e3, {2, 1, -2}},
    {"cal", 4.184, {2, 1, -2}},
    {"kcal", 4184, {2, 1, -2}},
    {"erg", 1e-7, {2, 1, -2}},
    {"eV", 1.602176634e-19, {2, 1, -2}},
    {"W", 1, {2, 1, -3}},
    {"N", 1, {1, 1, -2}},
    {"Pa", 1, {-1, 1, -2}},
    {"kPa", 1e3, {-1, 1, -2}},
    {"MPa", 1e6, {-1, 1, -2}},
    {"bar", 1e5, {-1, 1, -2}},
    {"atm", 101325, {-1, 1, -2}},
    {"Torr", 101325.0 / 760, {-1, 1, -2}},
};

Unit Unit::operator*(const Unit &other) const {
  Unit product = *this;
  for (size_t i = 0; i < exponents.size(); ++i)
    product.exponents[i] += other.exponents[i];
  product.logScale += other.logScale;
  return product;
}

Unit Unit::power(double exponent) const {
  Unit result = *this;
  for (double &e : result.exponents)
    e *= exponent;
  result.logScale *= exponent;
  return result;
}

// Exponents may be sums of decimal fractions, scales products of powers: 1e-9
// is far above their rounding and far below any real difference.
static constexpr double tolerance = 1e-9;

bool Unit::hasSameDimension(const Unit &other) const {
  for (size_t i = 0; i < exponents.size(); ++i)
    if (!(std::fabs(exponents[i] - other.exponents[i]) < tolerance))
      return false;
  return true;
}

bool Unit::operator==(const Unit &other) const {
  return hasSameDimension(other) &&
         std::fabs(logScale - other.logScale) < tolerance;
}

std::string Unit::str() const {
  static constexpr StringLiteral names[] = {"m", "kg", "s", "K", "mol"};
  std::string text;
  raw_string_ostream os(text);
  double scale = std::exp(logScale);
  if (std::fabs(logScale) > tolerance)
    os << format("%.6g", scale);
  for (size_t i = 0; i < exponents.size(); ++i) {
    if (std::fabs(exponents[i]) < tolerance)
      continue;
    os << (text.empty() ? "" : " ") << names[i];
    if (std::fabs(exponents[i] - 1) > tolerance)
      os << format("^%.6g", exponents[i]);
  }
  return text.empty() ? "1" : text;
}

Expected<Unit> Unit::parse(StringRef text) {
  auto fail = [&](const Twine &what) {
    return createStringError("unit '" + text + "': " + what);
  };
  Unit result;
  StringRef rest = text.trim();
  if (rest.empty())
    return fail("got nothing, wanted a unit such as 'kmol/m^3', or '1'");
  bool inverted = false;
  while (true) {
    StringRef name = rest.take_while(isAlpha);
    if (name.empty() && rest.starts_with("1"))
      name = rest.take_front(1);
    const NamedUnit *known =
        find_if(namedUnits, [&](const NamedUnit &u) { return u.name == name; });
    if (name.empty() || known == std::end(namedUnits))
      return fail("unknown unit '" +
                  (name.empty() ? rest.take_front(8) : name) + "'");
    rest = rest.drop_front(name.size());
    double exponent = 1;
    if (rest.consume_front("^")) {
      StringRef number = rest.take_while(
          [](char c) { return isDigit(c) || c == '.' || c == '-'; });
      if (number.getAsDouble(exponent) || !std::isfinite(exponent))
        return fail("wanted a number after '^'");
      rest = rest.drop_front(number.size());
    }
    Unit factor;
    factor.exponents = known->exponents;
    factor.logScale = std::log(known->scale);
    result = result * factor.power(inverted ? -exponent : exponent);
    StringRef separated = rest.ltrim();
    if (separated.empty())
      return result;
    inverted = separated.consume_front("/");
    if (!inverted && !separated.consume_front("*") && separated == rest)
      return fail("wanted '/', '*' or a space before '" + rest.take_front(8) +
                  "'");
    rest = separated.ltrim();
  }
}
