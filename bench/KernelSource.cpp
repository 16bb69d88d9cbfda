//===- KernelSource.cpp - Kernels of benchmarks, from their source --------===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelSource.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

Error wavesmith::bench::runProgram(ArrayRef<StringRef> command) {
  std::string message;
  int status = sys::ExecuteAndWait(command[0], command, std::nullopt, {}, 0, 0,
                                   &message);
  if (!status)
    return Error::success();
  return createStringError("'" + command[0] + "' ended with status " +
                           Twine(status) +
                           (message.empty() ? "" : ": " + message));
}

Expected<std::vector<uint8_t>> wavesmith::bench::readFile(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return createStringError(path + ": " + buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}

Expected<std::shared_ptr<const wavesmith::sim::CodeObject>>
wavesmith::bench::compileKernel(StringRef source, StringRef language,
                                StringRef architecture) {
  SmallString<128> input, output;
  if (sys::fs::createTemporaryFile("bench", language, input) ||
      sys::fs::createTemporaryFile("bench", "hsaco", output))
    return createStringError("cannot make a temporary file");
  FileRemover removeInput(input), removeOutput(output);
  {
    std::error_code code;
    raw_fd_ostream out(input, code);
    out << source;
    if (code || out.has_error())
      return createStringError("cannot write " + input);
  }
  std::string processor = ("-mcpu=" + architecture).str();
  SmallVector<StringRef> command = {WAVESMITH_BENCH_CLANG,
                                    "-target",
                                    "amdgcn-amd-amdhsa",
                                    "-nogpulib",
                                    processor,
                                    "-O3",
                                    "-Wno-unused-command-line-argument",
                                    "-x",
                                    language};
  // -w: of a kernel with LDS, clang compiles a second form as a function, and
  // warns of that for each use of LDS.
  if (language == "cl")
    command.append({"-cl-std=CL2.0", "-ffp-contract=off", "-w"});
  command.append({input, "-o", output});
  if (Error error = runProgram(command))
    return std::move(error);
  auto bytes = readFile(output);
  if (!bytes)
    return bytes.takeError();
  return sim::CodeObject::load(*bytes);
}
