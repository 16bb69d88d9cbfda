//===- TestSupport.cpp - Compile and run kernels in tests -----------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestSupport.h"
#include "wavesmith/Simulator/Checker.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

using namespace llvm;

namespace wavesmith::sim::test {

std::vector<uint8_t> compile(const std::string &source,
                             const std::string &language,
                             const std::string &target,
                             const std::string &options) {
  SmallString<128> input, output, log;
  if (sys::fs::createTemporaryFile("kernel", "txt", input) ||
      sys::fs::createTemporaryFile("kernel", "hsaco", output) ||
      sys::fs::createTemporaryFile("kernel", "log", log)) {
    ADD_FAILURE() << "no temporary file";
    return {};
  }
  {
    std::error_code error;
    raw_fd_ostream out(input, error);
    out << source;
  }
  SmallVector<StringRef, 16> arguments = {
      WAVESMITH_TEST_CLANG, "-x",       language, "-target",
      "amdgcn-amd-amdhsa",  "-nogpulib"};
  std::string processor = "-mcpu=" + target;
  arguments.push_back(processor);
  if (StringRef(options).find("-O") == StringRef::npos)
    arguments.push_back("-O3");
  if (StringRef(options).find("-mcode-object-version") == StringRef::npos)
    arguments.push_back("-mcode-object-version=5");
  SmallVector<StringRef, 16> extra;
  StringRef(options).split(extra, ' ', -1, /*KeepEmpty=*/false);
  arguments.append(extra.begin(), extra.end());
  arguments.append({input, "-o", output});
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(log),
                                          StringRef(log)};
  std::string message;
  int status = sys::ExecuteAndWait(WAVESMITH_TEST_CLANG, arguments,
                                   std::nullopt, redirects, 0, 0, &message);
  std::vector<uint8_t> result;
  if (status) {
    auto text = MemoryBuffer::getFile(log);
    ADD_FAILURE() << "clang failed: " << message << "\n"
                  << (text ? (*text)->getBuffer().str() : "") << "\n"
                  << source;
  } else if (auto file = MemoryBuffer::getFile(output)) {
    StringRef bytes = (*file)->getBuffer();
    result.assign(bytes.bytes_begin(), bytes.bytes_end());
  }
  sys::fs::remove(input);
  sys::fs::remove(output);
  sys::fs::remove(log);
  return result;
}

std::string ocmlOptions(const std::string &target) {
  std::string result;
  for (std::string file :
       {"ocml", "oclc_finite_only_off", "oclc_unsafe_math_off",
        "oclc_daz_opt_off", "oclc_correctly_rounded_sqrt_on",
        "oclc_wavefrontsize64_on", "oclc_abi_version_500"})
    result += " -Xclang -mlink-builtin-bitcode -Xclang " WAVESMITH_TEST_BITCODE
              "/" +
              file + ".bc";
  result += " -Xclang -mlink-builtin-bitcode -Xclang " WAVESMITH_TEST_BITCODE
            "/oclc_isa_version_" +
            std::string(target == "gfx90a" ? "90a" : "940") + ".bc";
  return result;
}

std::shared_ptr<const CodeObject> build(const std::string &source,
                                        const std::string &language,
                                        const std::string &target,
                                        const std::string &options) {
  static std::map<std::string, std::shared_ptr<const CodeObject>> cache;
  auto &entry =
      cache[language + "\n" + target + "\n" + options + "\n" + source];
  if (entry)
    return entry;
  std::vector<uint8_t> elf = compile(source, language, target, options);
  if (elf.empty())
    return nullptr;
  auto object = CodeObject::load(elf);
  EXPECT_TRUE(bool(object)) << messageOf(object);
  if (!object)
    return nullptr;
  entry = *object;
  return entry;
}

llvm::Expected<Counters> launchChecked(const CodeObject &object, Memory &memory,
                                       LaunchParameters parameters,
                                       unsigned threads) {
  static const bool checked = std::getenv("WAVESMITH_TEST_CHECKED") != nullptr;
  if (!checked)
    return launch(object, memory, parameters, threads);
  CheckOptions options;
  std::vector<Finding> findings;
  parameters.check = &options;
  parameters.findings = &findings;
  auto result = launch(object, memory, parameters, threads);
  if (findings.empty())
    return result;
  consumeError(result.takeError());
  return createStringError(findings.front().text());
}

std::vector<double> assortedDoubles(size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> result;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double special[] = {0.0,
                            -0.0,
                            1.0,
                            -1.0,
                            infinity,
                            -infinity,
                            std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::denorm_min(),
                            -std::numeric_limits<double>::denorm_min(),
                            std::numeric_limits<double>::min(),
                            std::numeric_limits<double>::max(),
                            -std::numeric_limits<double>::max(),
                            0x1.fffffffffffffp-1023,
                            0x1p-1022,
                            0x1p1023,
                            3.0};
  for (size_t i = 0; i < count; ++i) {
    uint64_t r = random();
    switch (random() % 8) {
    case 0:
      result.push_back(special[random() % std::size(special)]);
      break;
    case 1: { // denormals
      double d;
      uint64_t b = r & 0x800fffffffffffffull;
      std::memcpy(&d, &b, 8);
      result.push_back(d);
      break;
    }
    case 2: // of order one
    case 3:
      result.push_back(std::ldexp(double(int64_t(r)), -62));
      break;
    default: { // any bits
      double d;
      std::memcpy(&d, &r, 8);
      result.push_back(d);
    }
    }
  }
  return result;
}

int64_t ulps(double a, double b) {
  if (a != a && b != b)
    return 0;
  if (a != a || b != b)
    return std::numeric_limits<int64_t>::max();
  auto order = [](double x) {
    int64_t i;
    std::memcpy(&i, &x, 8);
    return i < 0 ? std::numeric_limits<int64_t>::min() - i : i;
  };
  // Of opposite signs the distance may overflow: only small ones matter.
  __int128 distance = __int128(order(a)) - order(b);
  if (distance < 0)
    distance = -distance;
  return distance > std::numeric_limits<int64_t>::max()
             ? std::numeric_limits<int64_t>::max()
             : int64_t(distance);
}

} // namespace wavesmith::sim::test
