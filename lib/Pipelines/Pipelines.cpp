//===- Pipelines.cpp - The passes from the problem to rocdl ---------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Pipelines/Pipelines.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUCommon/GPUToLLVM.h"
#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "wavesmith/Conversion/Passes.h"
#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "wavesmith/Dialect/Wavesmith/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

void wavesmith::registerDialects(DialectRegistry &registry) {
  registry.insert<WavesmithDialect, amdgpu::AMDGPUDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, gpu::GPUDialect,
                  LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  ROCDL::ROCDLDialect, scf::SCFDialect, tensor::TensorDialect,
                  vector::VectorDialect>();
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  gpu::registerConvertGpuToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerROCDLDialectTranslation(registry);
}

namespace {
/// Calls the observer.
class ObserverPass : public PassWrapper<ObserverPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ObserverPass)

  ObserverPass(wavesmith::PipelineObserver observer,
               wavesmith::PipelineStage stage)
      : observer(std::move(observer)), stage(stage) {}

  void runOnOperation() override {
    if (failed(observer(getOperation(), stage)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  wavesmith::PipelineObserver observer;
  wavesmith::PipelineStage stage;
};

/// Says that the pipeline's options cannot be followed.
class RefusePass : public PassWrapper<RefusePass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RefusePass)

  explicit RefusePass(std::string message) : message(std::move(message)) {}

  void runOnOperation() override {
    getOperation().emitError(message);
    signalPassFailure();
  }

private:
  std::string message;
};
} // namespace

ArrayRef<wavesmith::OptionalPass> wavesmith::getOptionalPasses() {
  using Level = OptionalPass::Level;
  // Fewer terms before they are placed; layouts before what fills registers
  // and LDS.
  static const std::vector<OptionalPass> passes = {
      {"wavesmith-simplify-terms",
       [](const CompileOptions &) { return createSimplifyTermsPass(); },
       /*changesAnnotations=*/true, Level::Workgroup},
      {"wavesmith-combine-divisions",
       [](const CompileOptions &) { return createCombineDivisionsPass(); },
       /*changesAnnotations=*/true, Level::Workgroup},
      {"wavesmith-rewrite-reductions",
       [](const CompileOptions &) { return createRewriteReductionsPass(); },
       /*changesAnnotations=*/true, Level::Workgroup},
      {"wavesmith-replicate-in-wavefronts",
       [](const CompileOptions &) { return createReplicateInWavefrontsPass(); },
       /*changesAnnotations=*/true, Level::Workgroup},
      {"wavesmith-keep-in-registers",
       [](const CompileOptions &) { return createKeepInRegistersPass(); },
       /*changesAnnotations=*/false, Level::Workgroup},
      {"wavesmith-narrow-tables",
       [](const CompileOptions &) { return createNarrowTablesPass(); },
       /*changesAnnotations=*/false, Level::Workgroup},
      {"wavesmith-promote-to-lds",
       [](const CompileOptions &) { return createPromoteToLDSPass(); },
       /*changesAnnotations=*/false, Level::Workgroup},
      {"wavesmith-place-in-banks",
       [](const CompileOptions &) { return createPlaceInBanksPass(); },
       /*changesAnnotations=*/true, Level::Workgroup},
      {"wavesmith-eliminate-barriers",
       [](const CompileOptions &) { return createEliminateBarriersPass(); },
       /*changesAnnotations=*/false, Level::Kernel},
  };
  return passes;
}

llvm::Expected<SmallVector<wavesmith::OptionalPass>>
wavesmith::selectOptionalPasses(StringRef names,
                                ArrayRef<OptionalPass> passes) {
  if (names == "all")
    return SmallVector<OptionalPass>(passes);
  llvm::StringSet<> wanted;
  if (names != "none")
    for (StringRef name : llvm::split(names, ',')) {
      std::string known;
      for (const OptionalPass &pass : passes)
        known += (known.empty() ? "" : ", ") + pass.name;
      if (llvm::none_of(passes, [&](const OptionalPass &pass) {
            return pass.name == name;
          }))
        return llvm::createStringError(
            "unknown optional pass '" + name + "', expected all, none or " +
            (known.empty() ? "names, of which there are none" : known));
      if (!wanted.insert(name).second)
        return llvm::createStringError("the optional pass '" + name +
                                       "' is given twice");
    }
  SmallVector<OptionalPass> selected;
  for (const OptionalPass &pass : passes)
    if (wanted.contains(pass.name))
      selected.push_back(pass);
  return selected;
}

void wavesmith::buildPipeline(OpPassManager &manager,
                              const CompileOptions &options,
                              const PipelineHooks &hooks) {
  SmallVector<OptionalPass> optional;
  if (hooks.optionalPasses) {
    optional = *hooks.optionalPasses;
  } else {
    auto selected =
        selectOptionalPasses(options.passes.getValue(), getOptionalPasses());
    if (!selected) {
      manager.addPass(
          std::make_unique<RefusePass>(llvm::toString(selected.takeError())));
      return;
    }
    optional = std::move(*selected);
  }
  auto addOptional = [&](OptionalPass::Level level) {
    for (const OptionalPass &entry : optional) {
      if (entry.level != level)
        continue;
      std::unique_ptr<Pass> pass = entry.create(options);
      std::optional<StringRef> anchor = pass->getOpName();
      if (anchor && *anchor != ModuleOp::getOperationName())
        manager.nest(*anchor).addPass(std::move(pass));
      else
        manager.addPass(std::move(pass));
    }
  };
  auto observe = [&](PipelineStage stage) {
    if (hooks.observer)
      manager.addPass(std::make_unique<ObserverPass>(hooks.observer, stage));
  };
  AttachTargetPassOptions target;
  target.architecture = options.architecture;
  target.chip = options.chip;
  manager.addPass(createAttachTargetPass(target));
  SelectSchedulePassOptions schedule;
  schedule.form = options.form;
  schedule.workgroupSize = options.workgroupSize;
  schedule.threadsPerZone = options.threadsPerZone;
  schedule.straightLineLimit = options.straightLineLimit;
  manager.addPass(createSelectSchedulePass(schedule));
  observe(PipelineStage::Scheduled);
  // Only here: below, it would merge loads that are to be repeated. And no
  // canonicalizer: it folds exp and log of constants by the host's libm.
  manager.addNestedPass<OdeSystemOp>(createCSEPass());
  manager.addPass(createConvertOdeToWorkgroupPass());
  manager.addPass(createConvertAttentionToWorkgroupPass());
  addOptional(OptionalPass::Level::Workgroup);
  observe(PipelineStage::Workgroup);
  manager.addPass(createDistributeToThreadsPass());
  manager.addPass(createDistributeTilesPass());
  manager.nest<gpu::GPUModuleOp>().addPass(createInterleaveProductsPass());
  manager.nest<gpu::GPUModuleOp>().addPass(createSCFToControlFlowPass());
  addOptional(OptionalPass::Level::Kernel);
  observe(PipelineStage::Kernel);
  OpPassManager &kernels = manager.nest<gpu::GPUModuleOp>();
  kernels.addPass(createLowerKernelArgumentsPass());
  ConvertGpuOpsToROCDLOpsOptions rocdl;
  rocdl.chipset = options.architecture;
  rocdl.runtime = gpu::amd::Runtime::HIP;
  kernels.addPass(createConvertGpuOpsToROCDLOps(rocdl));
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createSplitLongBlocksPass());
}

void wavesmith::registerPasses() {
  registerWavesmithConversionPasses();
  registerWavesmithTransformsPasses();
  PassPipelineRegistration<CompileOptions>(
      "wavesmith-compile",
      "From the problem level to the rocdl dialect, as wavesmith-compile does",
      [](OpPassManager &manager, const CompileOptions &options) {
        buildPipeline(manager, options);
      });
}
