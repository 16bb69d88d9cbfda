//===- OptMain.cpp - Runs passes on MLIR ----------------------------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "wavesmith/Pipelines/Pipelines.h"
#include "wavesmith/Support/FatalErrors.h"
#include "wavesmith/Support/PrintableText.h"
#include "wavesmith/Tools/Tools.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

int wavesmith::optMain(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  wavesmith::exitOnFatalErrors("wavesmith-opt");
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  wavesmith::registerDialects(registry);
  mlir::registerAllPasses();
  wavesmith::registerPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Wavesmith optimizer driver\n", registry);
  if (input != "-")
    if (auto text = llvm::MemoryBuffer::getFile(input))
      if (llvm::Error error = wavesmith::checkIsModule((*text)->getBuffer())) {
        llvm::errs() << input << ": error: " << llvm::toString(std::move(error))
                     << "\n";
        return EXIT_FAILURE;
      }
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
