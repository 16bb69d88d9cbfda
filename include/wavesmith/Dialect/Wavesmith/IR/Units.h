//===- Units.h - Physical units ---------------------------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_DIALECT_WAVESMITH_IR_UNITS_H
#define WAVESMITH_DIALECT_WAVESMITH_IR_UNITS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <string>

namespace wavesmith {

/// A physical unit: powers of the base units and a scale.
class Unit {
public:
  /// No dimension, scale 1.
  Unit() = default;

  /// Parses a product of powers, as `wavesmith.ode_system` describes it. The
  /// error names what is not understood.
  static llvm::Expected<Unit> parse(llvm::StringRef text);

  Unit operator*(const Unit &other) const;
  Unit operator/(const Unit &other) const { return *this * other.power(-1); }
  /// This unit to a real power.
  Unit power(double exponent) const;
  /// Same dimension, whatever the scale.
  bool hasSameDimension(const Unit &other) const;
  /// Same dimension and same scale (up to rounding).
  bool operator==(const Unit &other) const;
  bool operator!=(const Unit &other) const { return !(*this == other); }

  /// In base units, with the scale if it is not 1: `1000 mol m^-3`.
  std::string str() const;

private:
  /// Powers of m, kg, s, K, mol.
  std::array<double, 5> exponents{};
  double logScale = 0;
};

} // namespace wavesmith

#endif // WAVESMITH_DIALECT_WAVESMITH_IR_UNITS_H
