//===- SerializeKernels.cpp - From rocdl to a code object -----------------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SerializeKernels.h"
#include "lld/Common/Driver.h"
#include "mlir/Target/LLVM/ROCDL/Utils.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Operator.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace wavesmith;

namespace wavesmith {
/// Written by the build: lib/Pipelines/EmbedBitcode.cmake.
extern const unsigned char deviceMathBitcode[];
extern const size_t deviceMathBitcodeSize;
} // namespace wavesmith

/// Links one object to a shared object. lld reads and writes files.
static FailureOr<SmallVector<char, 0>> linkObject(StringRef object,
                                                  Location loc) {
  auto fail = [&](const Twine &what) {
    emitError(loc, "cannot link the kernels: ") << what;
    return failure();
  };
  SmallString<128> inputPath, outputPath;
  int inputFile;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile(
          "wavesmith", "o", inputFile, inputPath))
    return fail("temporary file: " + error.message());
  llvm::FileRemover removeInput(inputPath);
  {
    llvm::raw_fd_ostream os(inputFile, /*shouldClose=*/true);
    os << object;
    os.flush();
    if (os.has_error()) {
      std::string message = os.error().message();
      os.clear_error();
      return fail(inputPath + ": " + message);
    }
  }
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("wavesmith", "hsaco", outputPath))
    return fail("temporary file: " + error.message());
  llvm::FileRemover removeOutput(outputPath);

  std::string messages;
  llvm::raw_string_ostream messageStream(messages);
  // Without --no-undefined a kernel whose functions are missing links.
  const char *arguments[] = {"ld.lld",          "-shared", "--no-undefined",
                             inputPath.c_str(), "-o",      outputPath.c_str()};
  lld::Result linked = lld::lldMain(arguments, messageStream, messageStream,
                                    {{lld::Gnu, &lld::elf::link}});
  if (linked.retCode != 0)
    return fail(StringRef(messages).trim());
  auto buffer = llvm::MemoryBuffer::getFile(outputPath);
  if (!buffer)
    return fail(outputPath + ": " + buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  return SmallVector<char, 0>(bytes.begin(), bytes.end());
}

/// Nothing may leave the choice of bits to the back end.
static LogicalResult checkFloatingPoint(llvm::Module &module, Location loc) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      StringRef what;
      llvm::FastMathFlags allowed;
      if (auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction)) {
        llvm::Intrinsic::ID name = call->getIntrinsicID();
        if (name == llvm::Intrinsic::fmuladd)
          what = "a multiplication and an addition that may be fused";
        // The larger of two numbers has the same bits with it; who writes it
        // has looked for NaN elsewhere.
        if (name == llvm::Intrinsic::maxnum || name == llvm::Intrinsic::minnum)
          allowed.setNoNaNs();
      }
      // nnan and the like do not change finite results, but a back end may use
      // them to; nsz is as bad.
      if (isa<llvm::FPMathOperator>(instruction) &&
          (instruction.getFastMathFlags() | allowed) != allowed)
        what = "fast-math flags";
      if (what.empty())
        continue;
      std::string text;
      llvm::raw_string_ostream os(text);
      instruction.print(os);
      emitError(loc, "function '")
          << function.getName() << "' has " << what << ":" << text
          << "; the bits of a result must follow from the IR";
      return failure();
    }
  return success();
}

namespace {
class KernelSerializer : public ROCDL::SerializeGPUModuleBase {
public:
  KernelSerializer(gpu::GPUModuleOp module, ROCDL::ROCDLTargetAttr target,
                   const CompileStages &stages, CompileResult &result)
      : SerializeGPUModuleBase(*module, target), stages(stages),
        result(result) {}

protected:
  std::optional<SmallVector<std::unique_ptr<llvm::Module>>>
  loadBitcodeFiles(llvm::Module &module) override {
    StringRef bytes(reinterpret_cast<const char *>(deviceMathBitcode),
                    deviceMathBitcodeSize);
    auto library = llvm::getLazyBitcodeModule(
        llvm::MemoryBufferRef(bytes, "ocml"), module.getContext());
    if (!library) {
      getOperation().emitError("cannot read the device's math library: ")
          << llvm::toString(library.takeError());
      return std::nullopt;
    }
    SmallVector<std::unique_ptr<llvm::Module>> libraries;
    (*library)->setDataLayout(module.getDataLayout());
    (*library)->setTargetTriple(module.getTargetTriple());
    libraries.push_back(std::move(*library));
    return libraries;
  }

  void handleModulePreLink(llvm::Module &module) override {
    // The same settings as those of the host's copy: lib/Math.
    addControlVariables(module, ROCDL::AMDGCNLibraries::Ocml, /*wave64=*/true,
                        /*daz=*/false, /*finiteOnly=*/false,
                        /*unsafeMath=*/false, /*fastMath=*/false,
                        /*correctSqrt=*/true, target.getAbi());
  }

  FailureOr<SmallVector<char, 0>>
  moduleToObject(llvm::Module &module) override {
    Location loc = getOperation().getLoc();
    if (failed(checkFloatingPoint(module, loc)))
      return failure();
    if (stages.llvmIR) {
      llvm::raw_string_ostream os(result.llvmIR);
      module.print(os, nullptr);
    }
    FailureOr<llvm::TargetMachine *> machine = getOrCreateTargetMachine();
    if (failed(machine))
      return failure();
    auto emit = [&](llvm::Module &unit, llvm::CodeGenFileType type,
                    SmallVectorImpl<char> &output) -> LogicalResult {
      llvm::raw_svector_ostream os(output);
      llvm::legacy::PassManager passes;
      if ((*machine)->addPassesToEmitFile(passes, os, nullptr, type))
        return emitError(loc, "the back end cannot emit this kind of file");
      passes.run(unit);
      return success();
    };
    if (stages.isa) {
      SmallString<0> text;
      if (failed(emit(*llvm::CloneModule(module),
                      llvm::CodeGenFileType::AssemblyFile, text)))
        return failure();
      result.isa = text.str().str();
    }
    SmallString<0> object;
    if (failed(emit(module, llvm::CodeGenFileType::ObjectFile, object)))
      return failure();
    return linkObject(object, loc);
  }

private:
  const CompileStages &stages;
  CompileResult &result;
};
} // namespace

LogicalResult wavesmith::serializeKernels(gpu::GPUModuleOp module,
                                          const CompileOptions &options,
                                          const CompileStages &stages,
                                          CompileResult &result) {
  std::string abi = std::to_string(options.codeObjectVersion.getValue() * 100);
  auto target = ROCDL::ROCDLTargetAttr::get(
      module.getContext(), options.optimizationLevel, "amdgcn-amd-amdhsa",
      options.architecture.getValue(), /*features=*/"", abi);
  KernelSerializer::init();
  KernelSerializer serializer(module, target, stages, result);
  auto codeObject = serializer.run();
  if (!codeObject)
    return failure();
  result.codeObject = std::move(*codeObject);
  return success();
}
