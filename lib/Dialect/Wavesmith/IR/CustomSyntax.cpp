//===- CustomSyntax.cpp - Parts of the operations' text form --------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The custom directives of the assembly formats, and the code that ODS
// generates from them.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"

using namespace mlir;
using namespace wavesmith;

//===----------------------------------------------------------------------===//
// ["H2" : "kmol/m^3", ...]
//===----------------------------------------------------------------------===//

static ParseResult parseNamedUnits(OpAsmParser &parser, ArrayAttr &names,
                                   ArrayAttr &units) {
  SmallVector<Attribute> nameList, unitList;
  auto parseOne = [&]() -> ParseResult {
    std::string name, unit;
    if (parser.parseString(&name) || parser.parseColon() ||
        parser.parseString(&unit))
      return failure();
    nameList.push_back(parser.getBuilder().getStringAttr(name));
    unitList.push_back(parser.getBuilder().getStringAttr(unit));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseOne))
    return failure();
  names = parser.getBuilder().getArrayAttr(nameList);
  units = parser.getBuilder().getArrayAttr(unitList);
  return success();
}

static void printNamedUnits(OpAsmPrinter &printer, Operation *, ArrayAttr names,
                            ArrayAttr units) {
  printer << '[';
  llvm::interleaveComma(llvm::zip(names, units), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " : " << std::get<1>(pair);
  });
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Numbers: 1.0, [1.0, 2.0], [[1.0, 2.0], [3.0, 4.0]]
//===----------------------------------------------------------------------===//

static ParseResult parsePlainF64(OpAsmParser &parser, FloatAttr &number) {
  double value;
  if (parser.parseFloat(value))
    return failure();
  number = parser.getBuilder().getF64FloatAttr(value);
  return success();
}

static void printPlainF64(OpAsmPrinter &printer, Operation *,
                          FloatAttr number) {
  printShortest(printer.getStream(), number.getValueAsDouble());
}

static ParseResult parseNumberList(OpAsmParser &parser,
                                   SmallVectorImpl<double> &numbers) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&]() {
    return parser.parseFloat(numbers.emplace_back());
  });
}

static void printNumberList(OpAsmPrinter &printer, ArrayRef<double> numbers) {
  printer << '[';
  llvm::interleaveComma(numbers, printer, [&](double number) {
    printShortest(printer.getStream(), number);
  });
  printer << ']';
}

static ParseResult parseNumbers(OpAsmParser &parser,
                                DenseF64ArrayAttr &numbers) {
  SmallVector<double> list;
  if (parseNumberList(parser, list))
    return failure();
  numbers = parser.getBuilder().getDenseF64ArrayAttr(list);
  return success();
}

static void printNumbers(OpAsmPrinter &printer, Operation *,
                         DenseF64ArrayAttr numbers) {
  printNumberList(printer, numbers);
}

/// Parses rows that all have `columns` numbers; where `columns` is 0 the first
/// row decides.
static ParseResult parseRowList(OpAsmParser &parser, size_t &columns,
                                SmallVectorImpl<double> &numbers) {
  return parser.parseCommaSeparatedList(
      OpAsmParser::Delimiter::Square, [&]() -> ParseResult {
        SMLoc location = parser.getCurrentLocation();
        SmallVector<double> row;
        if (parseNumberList(parser, row))
          return failure();
        if (columns == 0)
          columns = row.size();
        if (row.size() != columns)
          return parser.emitError(location, "expected a row of ")
                 << columns << " numbers, got " << row.size();
        llvm::append_range(numbers, row);
        return success();
      });
}

static void printRowList(OpAsmPrinter &printer, size_t columns,
                         ArrayRef<double> numbers) {
  printer << '[';
  if (columns != 0)
    for (size_t i = 0; i + columns <= numbers.size(); i += columns) {
      printer << (i == 0 ? "" : ", ");
      printNumberList(printer, numbers.slice(i, columns));
    }
  printer << ']';
}

static ParseResult parseRows(OpAsmParser &parser, size_t columns,
                             DenseF64ArrayAttr &numbers) {
  SmallVector<double> list;
  if (parseRowList(parser, columns, list))
    return failure();
  numbers = parser.getBuilder().getDenseF64ArrayAttr(list);
  return success();
}

static void printRows(OpAsmPrinter &printer, Operation *, size_t columns,
                      DenseF64ArrayAttr numbers) {
  printRowList(printer, columns, numbers);
}

static ParseResult parseMatrix(OpAsmParser &parser, IntegerAttr &columns,
                               DenseF64ArrayAttr &numbers) {
  size_t columnCount = 0;
  SmallVector<double> list;
  if (parseRowList(parser, columnCount, list))
    return failure();
  columns = parser.getBuilder().getI64IntegerAttr(columnCount);
  numbers = parser.getBuilder().getDenseF64ArrayAttr(list);
  return success();
}

static void printMatrix(OpAsmPrinter &printer, Operation *, IntegerAttr columns,
                        DenseF64ArrayAttr numbers) {
  printRowList(printer, columns.getInt(), numbers);
}

//===----------------------------------------------------------------------===//
// Weights: ["H2" = 1.0, ...] and [%g0 = -1.0, ...]
//===----------------------------------------------------------------------===//

static ParseResult parseWeights(OpAsmParser &parser, ArrayAttr &states,
                                DenseF64ArrayAttr &weights) {
  SmallVector<Attribute> stateList;
  SmallVector<double> weightList;
  auto parseOne = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name) || parser.parseEqual() ||
        parser.parseFloat(weightList.emplace_back()))
      return failure();
    stateList.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseOne))
    return failure();
  states = parser.getBuilder().getArrayAttr(stateList);
  weights = parser.getBuilder().getDenseF64ArrayAttr(weightList);
  return success();
}

static void printWeights(OpAsmPrinter &printer, Operation *, ArrayAttr states,
                         DenseF64ArrayAttr weights) {
  printer << '[';
  llvm::interleaveComma(llvm::zip(states, weights.asArrayRef()), printer,
                        [&](auto pair) {
                          printer << std::get<0>(pair) << " = ";
                          printShortest(printer.getStream(), std::get<1>(pair));
                        });
  printer << ']';
}

static ParseResult parseOptionalWeights(OpAsmParser &parser, StringRef keyword,
                                        ArrayAttr &states,
                                        DenseF64ArrayAttr &weights) {
  if (succeeded(parser.parseOptionalKeyword(keyword)))
    return parseWeights(parser, states, weights);
  states = parser.getBuilder().getArrayAttr({});
  weights = parser.getBuilder().getDenseF64ArrayAttr({});
  return success();
}

static void printOptionalWeights(OpAsmPrinter &printer, Operation *op,
                                 StringRef keyword, ArrayAttr states,
                                 DenseF64ArrayAttr weights) {
  if (states.empty())
    return;
  printer << keyword << ' ';
  printWeights(printer, op, states, weights);
}

static ParseResult
parseWeightedOperands(OpAsmParser &parser,
                      SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                      DenseF64ArrayAttr &weights) {
  SmallVector<double> weightList;
  auto parseOne = [&]() -> ParseResult {
    return failure(parser.parseOperand(operands.emplace_back()) ||
                   parser.parseEqual() ||
                   parser.parseFloat(weightList.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseOne))
    return failure();
  weights = parser.getBuilder().getDenseF64ArrayAttr(weightList);
  return success();
}

static void printWeightedOperands(OpAsmPrinter &printer, Operation *,
                                  OperandRange operands,
                                  DenseF64ArrayAttr weights) {
  printer << '[';
  llvm::interleaveComma(llvm::zip(operands, weights.asArrayRef()), printer,
                        [&](auto pair) {
                          printer << std::get<0>(pair) << " = ";
                          printShortest(printer.getStream(), std::get<1>(pair));
                        });
  printer << ']';
}

#define GET_OP_CLASSES
#include "wavesmith/Dialect/Wavesmith/IR/WavesmithOps.cpp.inc"
