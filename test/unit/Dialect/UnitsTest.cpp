//===- UnitsTest.cpp - Tests of physical units ----------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Dialect/Wavesmith/IR/Units.h"
#include "gtest/gtest.h"

using namespace wavesmith;

namespace {

Unit parse(llvm::StringRef text) {
  llvm::Expected<Unit> unit = Unit::parse(text);
  if (unit)
    return *unit;
  ADD_FAILURE() << llvm::toString(unit.takeError());
  return Unit();
}

std::string parseError(llvm::StringRef text) {
  llvm::Expected<Unit> unit = Unit::parse(text);
  return unit ? "no error" : llvm::toString(unit.takeError());
}

bool areEqual(llvm::StringRef a, llvm::StringRef b) {
  return parse(a) == parse(b);
}

TEST(Units, ProductsOfPowers) {
  EXPECT_EQ(parse("kmol/m^3").str(), "1000 m^-3 mol");
  EXPECT_EQ(parse("m^3 kmol^-1 s^-1").str(), "0.001 m^3 s^-1 mol^-1");
  EXPECT_EQ(parse("1").str(), "1");
  EXPECT_EQ(parse("m/m").str(), "1");
  EXPECT_EQ(parse("m").str(), "m");
  EXPECT_EQ(parse("m^0.5*m^1.5").str(), "m^2");
  EXPECT_TRUE(areEqual("m*s", "m s"));
  EXPECT_TRUE(areEqual("  m  s  ", "s m"));
  EXPECT_TRUE(areEqual("1/s", "s^-1"));
}

TEST(Units, ADivisionInvertsOnlyTheFactorAfterIt) {
  EXPECT_TRUE(areEqual("m/s s", "m"));
  EXPECT_TRUE(areEqual("m/s/s", "m s^-2"));
  EXPECT_FALSE(areEqual("m/s s", "m/s/s"));
  EXPECT_TRUE(areEqual("m/s^-2", "m s^2"));
}

TEST(Units, ScalesByDefinition) {
  EXPECT_TRUE(areEqual("J", "kg m^2 s^-2"));
  EXPECT_TRUE(areEqual("W", "J/s"));
  EXPECT_TRUE(areEqual("N", "J/m"));
  EXPECT_TRUE(areEqual("Pa", "N/m^2"));
  EXPECT_TRUE(areEqual("erg", "g cm^2 s^-2"));
  EXPECT_TRUE(areEqual("l", "dm^3"));
  EXPECT_TRUE(areEqual("kJ/mol", "J/mmol"));
  EXPECT_TRUE(areEqual("kcal/mol", "cal/mmol"));
  EXPECT_TRUE(areEqual("kPa m", "Pa km"));
  EXPECT_TRUE(areEqual("MPa mm", "kPa m"));
  EXPECT_TRUE(areEqual("us m", "s um"));
  EXPECT_TRUE(areEqual("ns km", "us m"));
  EXPECT_TRUE(areEqual("mg km", "g m"));
  EXPECT_EQ(parse("h").str(), "3600 s");
  EXPECT_EQ(parse("min").str(), "60 s");
  EXPECT_EQ(parse("cal").str(), "4.184 m^2 kg s^-2");
  EXPECT_EQ(parse("eV").str(), "1.60218e-19 m^2 kg s^-2");
  EXPECT_EQ(parse("bar").str(), "100000 m^-1 kg s^-2");
  EXPECT_EQ(parse("atm").str(), "101325 m^-1 kg s^-2");
  EXPECT_EQ(parse("Torr").str(), "133.322 m^-1 kg s^-2");
  EXPECT_EQ(parse("molecule").str(), "1.66054e-24 mol");
}

TEST(Units, EqualityIncludesTheScale) {
  EXPECT_FALSE(areEqual("mol", "kmol"));
  EXPECT_TRUE(parse("mol").hasSameDimension(parse("kmol")));
  EXPECT_FALSE(areEqual("mol", "K"));
  EXPECT_FALSE(parse("mol").hasSameDimension(parse("K")));
  EXPECT_TRUE(parse("mol") != parse("kmol"));
  // 1 bar and 1 atm differ by 1.3 per cent.
  EXPECT_FALSE(areEqual("bar", "atm"));
  EXPECT_FALSE(areEqual("m", "1"));
}

TEST(Units, Arithmetic) {
  EXPECT_EQ(parse("kmol/m^3") / parse("s"), parse("kmol/m^3/s"));
  EXPECT_EQ(parse("cm").power(3), parse("cm^3"));
  EXPECT_EQ(parse("cm^3") * parse("cm^-3"), Unit());
  EXPECT_EQ(parse("kmol").power(0.5) * parse("kmol").power(0.5), parse("kmol"));
  EXPECT_EQ(parse("kmol").power(0), Unit());
  // A reaction of order 2.7, written by decimal fractions.
  EXPECT_EQ(parse("m^5.1 kmol^-1.7 s^-1") * parse("kmol/m^3").power(2.7),
            parse("kmol/m^3/s"));
}

TEST(Units, ErrorsNameWhatIsNotUnderstood) {
  EXPECT_EQ(parseError(""),
            "unit '': got nothing, wanted a unit such as 'kmol/m^3', or '1'");
  EXPECT_EQ(parseError("  "),
            "unit '  ': got nothing, wanted a unit such as 'kmol/m^3', or '1'");
  EXPECT_EQ(parseError("furlong/s"),
            "unit 'furlong/s': unknown unit 'furlong'");
  EXPECT_EQ(parseError("Mol"), "unit 'Mol': unknown unit 'Mol'");
  EXPECT_EQ(parseError("m^"), "unit 'm^': wanted a number after '^'");
  EXPECT_EQ(parseError("m^x"), "unit 'm^x': wanted a number after '^'");
  EXPECT_EQ(parseError("m^1-2"), "unit 'm^1-2': wanted a number after '^'");
  EXPECT_EQ(parseError("m/"), "unit 'm/': unknown unit ''");
  EXPECT_EQ(parseError("m//s"), "unit 'm//s': unknown unit '/s'");
  EXPECT_EQ(parseError("m^2s"),
            "unit 'm^2s': wanted '/', '*' or a space before 's'");
  EXPECT_EQ(parseError("10 m"),
            "unit '10 m': wanted '/', '*' or a space before '0 m'");
  EXPECT_EQ(parseError("(m)"), "unit '(m)': unknown unit '(m)'");
}

TEST(Units, HugeExponentsAreNotEqualToAnything) {
  Unit huge = parse("kmol").power(1e308) * parse("kmol").power(1e308);
  EXPECT_FALSE(huge == huge);
  EXPECT_FALSE(huge == parse("kmol"));
}

} // namespace
