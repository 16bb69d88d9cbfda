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
                        CodeForm form, int64_t workgroupSize) {
  if (workgroupSize <= 0)
    return emitError() << "expected workgroup_size to be positive, got "
                       << workgroupSize;
  return success();
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
