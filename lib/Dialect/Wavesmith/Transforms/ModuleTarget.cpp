//===- ModuleTarget.cpp - The target of a module --------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Dialect/Wavesmith/Transforms/ModuleTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"

using namespace mlir;
using namespace wavesmith;

FailureOr<const TargetInfo *> wavesmith::findTarget(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto attribute = module->getAttrOfType<TargetAttr>(kTargetAttrName);
  if (!attribute)
    return static_cast<const TargetInfo *>(nullptr);
  llvm::Expected<const TargetInfo &> target =
      lookupTarget(attribute.getArchitecture(), attribute.getChip());
  if (!target)
    return op->emitError(llvm::toString(target.takeError()));
  return &*target;
}
