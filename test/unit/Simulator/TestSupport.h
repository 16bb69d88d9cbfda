//===- TestSupport.h - Compile and run kernels in tests ---------*- C++ -*-===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Builds code objects with the installed clang while a test runs, and a small
/// device with typed buffers on top of the simulator.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_TEST_UNIT_SIMULATOR_TESTSUPPORT_H
#define WAVESMITH_TEST_UNIT_SIMULATOR_TESTSUPPORT_H

#include "wavesmith/Simulator/Simulator.h"
#include "gtest/gtest.h"
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace wavesmith::sim::test {

/// Compiles source text (language "cl", "ir" or "assembler") for a target into
/// a linked code object. Fails the test and returns nothing where it cannot.
std::vector<uint8_t> compile(const std::string &source,
                             const std::string &language,
                             const std::string &target,
                             const std::string &options = "");

/// The options that link Debian's ocml and its control variables.
std::string ocmlOptions(const std::string &target);

/// Compiles (results are cached for the process) and loads.
std::shared_ptr<const CodeObject> build(const std::string &source,
                                        const std::string &language,
                                        const std::string &target,
                                        const std::string &options = "");

/// The text of an error, "" for success.
template <typename T> std::string messageOf(llvm::Expected<T> &value) {
  return value ? "" : llvm::toString(value.takeError());
}

/// Packs kernel arguments with natural alignment.
class Arguments {
public:
  template <typename T> Arguments &add(T value) {
    while (bytes.size() % sizeof(T))
      bytes.push_back(0);
    size_t at = bytes.size();
    bytes.resize(at + sizeof(T));
    std::memcpy(&bytes[at], &value, sizeof(T));
    return *this;
  }
  std::vector<uint8_t> bytes;
};

/// Launches; under the checker if the environment has WAVESMITH_TEST_CHECKED,
/// with the first finding as an error.
llvm::Expected<Counters> launchChecked(const CodeObject &object, Memory &memory,
                                       LaunchParameters parameters,
                                       unsigned threads = 1);

/// A memory with typed buffers.
class Device {
public:
  template <typename T>
  uint64_t upload(const std::vector<T> &values, const char *name = "buffer") {
    auto address = memory.allocate(values.size() * sizeof(T), name);
    EXPECT_TRUE(bool(address)) << messageOf(address);
    if (!address)
      return 0;
    llvm::Error error = memory.write(
        *address, llvm::ArrayRef<uint8_t>(
                      reinterpret_cast<const uint8_t *>(values.data()),
                      values.size() * sizeof(T)));
    EXPECT_FALSE(bool(error));
    return *address;
  }
  template <typename T>
  std::vector<T> download(uint64_t address, size_t count) {
    std::vector<T> values(count);
    llvm::Error error =
        memory.read(address, llvm::MutableArrayRef<uint8_t>(
                                 reinterpret_cast<uint8_t *>(values.data()),
                                 count * sizeof(T)));
    EXPECT_FALSE(bool(error));
    return values;
  }
  /// Launches and expects success.
  Counters run(const CodeObject &object, const std::string &kernel,
               uint32_t grid, uint32_t workgroup, const Arguments &arguments,
               unsigned threads = 1) {
    auto result = tryRun(object, kernel, grid, workgroup, arguments, threads);
    EXPECT_TRUE(bool(result)) << messageOf(result);
    return result ? *result : Counters();
  }
  llvm::Expected<Counters>
  tryRun(const CodeObject &object, const std::string &kernel, uint32_t grid,
         uint32_t workgroup, const Arguments &arguments, unsigned threads = 1,
         uint64_t limit = 1 << 24) {
    LaunchParameters parameters;
    parameters.kernel = kernel;
    parameters.grid = {grid, 1, 1};
    parameters.workgroup = {workgroup, 1, 1};
    parameters.kernarg = arguments.bytes;
    parameters.maxInstructions = limit;
    return launchChecked(object, memory, parameters, threads);
  }
  Memory memory;
};

/// Doubles of all kinds: ordinary ones, denormals, huge, tiny, special.
std::vector<double> assortedDoubles(size_t count, unsigned seed);

inline uint64_t bits(double value) {
  uint64_t result;
  std::memcpy(&result, &value, 8);
  return result;
}
inline uint32_t bits(float value) {
  uint32_t result;
  std::memcpy(&result, &value, 4);
  return result;
}

/// Equal bits, or NaN on both sides.
template <typename T> bool same(T a, T b) {
  return (a != a && b != b) || bits(a) == bits(b);
}

/// Distance in units of the last place; 0 for two NaN.
int64_t ulps(double a, double b);

/// A test that runs for both targets.
class OnTarget : public ::testing::TestWithParam<const char *> {
protected:
  std::string target() const { return GetParam(); }
};

#define FOR_BOTH_TARGETS(SUITE)                                                \
  INSTANTIATE_TEST_SUITE_P(                                                    \
      Targets, SUITE, ::testing::Values("gfx90a", "gfx942"),                   \
      [](const auto &info) { return std::string(info.param); })

} // namespace wavesmith::sim::test

#endif // WAVESMITH_TEST_UNIT_SIMULATOR_TESTSUPPORT_H
