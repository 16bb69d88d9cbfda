//===- main.cpp - Another MLIR compiler -----------------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs Wavesmith's pipeline, by its name, on a module of the standard input.
//
//===----------------------------------------------------------------------===//

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"
#include "wavesmith/Pipelines/Pipelines.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

int main() {
  mlir::DialectRegistry registry;
  wavesmith::registerDialects(registry);
  wavesmith::registerPasses();
  mlir::MLIRContext context(registry);
  auto buffer = llvm::MemoryBuffer::getSTDIN();
  if (!buffer)
    return 1;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  mlir::PassManager manager(&context);
  if (!module ||
      failed(mlir::parsePassPipeline("wavesmith-compile{target=gfx90a}",
                                     manager)) ||
      failed(manager.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}
