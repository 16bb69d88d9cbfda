//===- AttachTarget.cpp - Say what device a module is compiled for --------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h"
#include "wavesmith/Target/Target.h"

namespace wavesmith {
#define GEN_PASS_DEF_ATTACHTARGETPASS
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h.inc"
} // namespace wavesmith

using namespace mlir;
using namespace wavesmith;

namespace {
class AttachTargetPass
    : public wavesmith::impl::AttachTargetPassBase<AttachTargetPass> {
public:
  using AttachTargetPassBase::AttachTargetPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::Expected<const TargetInfo &> target =
        lookupTarget(architecture, chip);
    if (!target) {
      module.emitError(llvm::toString(target.takeError()));
      return signalPassFailure();
    }
    auto wanted =
        TargetAttr::get(&getContext(), target->architecture, target->chip);
    Attribute known = module->getAttr(kTargetAttrName);
    if (known && known != wanted) {
      module.emitError("the module has the target ")
          << known << ", cannot compile it for " << wanted;
      return signalPassFailure();
    }
    module->setAttr(kTargetAttrName, wanted);
  }
};
} // namespace
