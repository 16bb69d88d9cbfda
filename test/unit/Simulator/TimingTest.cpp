//===- TimingTest.cpp - The model of a launch's time ----------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What has to hold whatever the model's parameters are. Its figures are held to
// published ones by bench-fidelity.
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Simulator/Timing.h"
#include "../../../lib/Simulator/Timing/ComputeUnitModel.h"
#include "InstructionRunner.h"
#include "TestSupport.h"
#include <optional>

using namespace wavesmith;
using namespace wavesmith::sim;
using namespace wavesmith::sim::test;

namespace {

/// y = a^n x + ..., a long chain of f64 arithmetic on one element.
const char *arithmetic = R"(
#pragma OPENCL FP_CONTRACT OFF
kernel void chain(global double *y, ulong n) {
  size_t i = __builtin_amdgcn_workgroup_id_x() * 64 +
             __builtin_amdgcn_workitem_id_x();
  double x = y[i];
  for (ulong k = 0; k < n; ++k) {
    x = __builtin_fma(x, 0.5, 1.0);
    x = __builtin_fma(x, 0.25, 1.0);
    x = __builtin_fma(x, 0.75, 1.0);
    x = __builtin_fma(x, 0.125, 1.0);
  }
  y[i] = x;
})";

/// Adds up an array, with LDS and barriers.
const char *reduction = R"(
kernel void sum(global const float *x, global float *out, ulong perGroup) {
  __local float part[256];
  unsigned lane = __builtin_amdgcn_workitem_id_x();
  size_t first = __builtin_amdgcn_workgroup_id_x() * perGroup;
  float s = 0;
  for (ulong i = lane; i < perGroup; i += 256)
    s += x[first + i];
  part[lane] = s;
  for (unsigned width = 128; width; width /= 2) {
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
    if (lane < width)
      part[lane] += part[lane + width];
  }
  if (lane == 0)
    out[__builtin_amdgcn_workgroup_id_x()] = part[0];
})";

class TimingTest : public OnTarget {
protected:
  struct Result {
    std::vector<double> y;
    Counters counters;
    TimingReport timing;
  };

  /// Builds a source and models a launch of its kernel. Fails the test and
  /// returns nothing where it cannot.
  std::optional<std::pair<Counters, TimingReport>>
  model(const std::string &source, const std::string &language, Device &device,
        uint32_t grid, uint32_t workgroup, const Arguments &arguments,
        TimingOptions options = {}, unsigned threads = 1,
        std::vector<InstructionUse> *use = nullptr) {
    auto object = build(source, language, target());
    EXPECT_TRUE(object);
    if (!object)
      return std::nullopt;
    LaunchParameters p = parametersOf(*object, grid, workgroup, arguments);
    p.instructionUse = use;
    auto result = launchTimed(*object, device.memory, p, options, threads);
    EXPECT_TRUE(bool(result)) << messageOf(result);
    if (!result)
      return std::nullopt;
    return std::move(*result);
  }

  LaunchParameters parametersOf(const CodeObject &object, uint32_t grid,
                                uint32_t workgroup,
                                const Arguments &arguments) {
    LaunchParameters p;
    p.kernel = object.kernels().front().name;
    p.grid = {grid, 1, 1};
    p.workgroup = {workgroup, 1, 1};
    p.kernarg = arguments.bytes;
    return p;
  }

  Result chain(uint32_t grid, uint64_t n, unsigned threads = 1,
               TimingOptions options = {}) {
    Result r;
    Device device;
    std::vector<double> y(size_t(grid) * 64);
    for (size_t i = 0; i < y.size(); ++i)
      y[i] = double(i % 1000) / 8;
    uint64_t address = device.upload(y);
    Arguments arguments;
    arguments.add(address).add(n);
    auto result =
        model(arithmetic, "cl", device, grid, 64, arguments, options, threads);
    if (!result)
      return r;
    r.counters = result->first;
    r.timing = result->second;
    r.y = device.download<double>(address, y.size());
    return r;
  }

  std::string text(const TimingReport &report) {
    std::string result;
    llvm::raw_string_ostream(result) << report.toJSON();
    return result;
  }
};

TEST_P(TimingTest, ResultsAndCountersAreThoseOfALaunch) {
  // More workgroups than CUs, and a last round that is not full.
  constexpr uint32_t grid = 700;
  Result timed = chain(grid, 10);
  auto object = build(arithmetic, "cl", target());
  ASSERT_TRUE(object);
  Device device;
  std::vector<double> y(size_t(grid) * 64);
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = double(i % 1000) / 8;
  uint64_t address = device.upload(y);
  Arguments arguments;
  arguments.add(address).add(uint64_t(10));
  Counters counters = device.run(*object, "chain", grid, 64, arguments);
  EXPECT_EQ(device.download<double>(address, y.size()), timed.y);
  EXPECT_EQ(counters.instructions, timed.counters.instructions);
  EXPECT_EQ(counters.waves, timed.counters.waves);
  EXPECT_EQ(counters.workgroups, timed.counters.workgroups);
  EXPECT_EQ(counters.f64FMA, timed.counters.f64FMA);
  EXPECT_EQ(counters.globalBytesRead, timed.counters.globalBytesRead);
}

TEST_P(TimingTest, TheSameWhateverTheThreadsAndTheRun) {
  Result one = chain(1000, 20, 1), again = chain(1000, 20, 1),
         three = chain(1000, 20, 3);
  EXPECT_EQ(text(one.timing), text(again.timing));
  EXPECT_EQ(text(one.timing), text(three.timing));
  EXPECT_EQ(one.y, three.y);
}

TEST_P(TimingTest, DependentArithmeticTakesATurnEach) {
  // One wavefront a SIMD at most: each FMA waits for the one before.
  double brief = chain(1, 100).timing.cycles;
  double lengthy = chain(1, 1100).timing.cycles;
  EXPECT_GE((lengthy - brief) / 1000, 16.0);
  EXPECT_LE((lengthy - brief) / 1000, 60.0);
}

TEST_P(TimingTest, FullSIMDsAreLimitedByVALU) {
  const TargetInfo &info = llvm::cantFail(lookupTarget(target()));
  // Eight wavefronts on each SIMD.
  uint32_t full = info.computeUnits * 32;
  Result result = chain(full, 500);
  ASSERT_FALSE(result.timing.shares.empty());
  EXPECT_EQ(result.timing.limit, "VALU");
  EXPECT_GT(result.timing.shares.front().share, 0.8);
  // The oldest wavefronts are served first and leave the others behind.
  EXPECT_GT(result.timing.achievedOccupancy, 0.5);
  EXPECT_EQ(result.timing.wavesPerSIMD, 8u);
  // Twice the work takes nearly twice as long: the second round begins while
  // the first one ends.
  double twice = chain(2 * full, 500).timing.cycles;
  EXPECT_NEAR(twice / result.timing.cycles, 1.9, 0.15);
}

TEST_P(TimingTest, ARoundThatIsNotFullCosts) {
  const TargetInfo &info = llvm::cantFail(lookupTarget(target()));
  double one = chain(info.computeUnits, 400).timing.cycles;
  // The CU with the most workgroups decides; SIMDs were idle before.
  double more = chain(info.computeUnits * 33, 400).timing.cycles;
  EXPECT_GT(more, 1.9 * one);
}

TEST_P(TimingTest, TheRestIsExtrapolated) {
  const TargetInfo &info = llvm::cantFail(lookupTarget(target()));
  uint32_t grid = info.computeUnits * 400;
  Result all = chain(grid, 30);
  TimingOptions options;
  options.detailedInstructions = 40000;
  Result part = chain(grid, 30, 1, options);
  EXPECT_FALSE(all.timing.extrapolated);
  ASSERT_TRUE(part.timing.extrapolated);
  EXPECT_LT(part.timing.detailedWorkgroups, all.timing.detailedWorkgroups);
  EXPECT_NEAR(part.timing.cycles / all.timing.cycles, 1.0, 0.1);
  EXPECT_EQ(part.y, all.y);
  EXPECT_EQ(part.counters.instructions, all.counters.instructions);
}

/// Eight lengths of workgroups in turn on each die, as tiles of queries have
/// under a causal mask, take what as many of the mean length take. Of gfx90a's
/// 104 CUs, each would have workgroups of one length only if they were dealt in
/// turn.
TEST_P(TimingTest, UnequalWorkgroupsGoToTheCUThatIsFree) {
  const TargetInfo &info = llvm::cantFail(lookupTarget(target()));
  uint32_t grid = info.computeUnits * 96;
  const uint64_t unit = 20, dies = info.dies;
  const char *source = R"(
#pragma OPENCL FP_CONTRACT OFF
kernel void chain(global double *y, ulong unit, ulong dies) {
  unsigned group = __builtin_amdgcn_workgroup_id_x();
  double x = y[__builtin_amdgcn_workitem_id_x()];
  ulong n = dies ? unit * (group / dies % 8 + 1) : unit * 9 / 2;
  for (ulong k = 0; k < n; ++k) {
    x = __builtin_fma(x, 0.5, 1.0);
    x = __builtin_fma(x, 0.25, 1.0);
    x = __builtin_fma(x, 0.75, 1.0);
    x = __builtin_fma(x, 0.125, 1.0);
  }
  if (x == 0.125)
    y[256] = x;
})";
  Device device;
  uint64_t y = device.upload(std::vector<double>(257, 1.0));
  auto run = [&](bool unequal, uint64_t detailed) {
    Arguments arguments;
    arguments.add(y).add(unit).add(unequal ? dies : uint64_t(0));
    TimingOptions options;
    options.executeRest = false;
    options.detailedInstructions = detailed;
    if (unequal)
      options.work = [=](uint64_t number) {
        return double(number / dies % 8 + 1);
      };
    auto result = model(source, "cl", device, grid, 256, arguments, options);
    return result ? result->second : TimingReport();
  };
  TimingReport equal = run(false, UINT64_MAX), all = run(true, UINT64_MAX),
               part = run(true, 30'000);
  EXPECT_FALSE(all.extrapolated);
  ASSERT_TRUE(part.extrapolated);
  // The CU with the most work has more than the mean, and the end of its last
  // workgroups is not full.
  EXPECT_NEAR(all.cycles / equal.cycles, 1.0, 0.15);
  EXPECT_NEAR(part.cycles / all.cycles, 1.0, 0.1);
  EXPECT_GT(all.balance, 0.9);
  EXPECT_LT(all.balance, 1.0);
  EXPECT_EQ(equal.balance, 1.0);
}

TEST_P(TimingTest, MemoryAndBarriers) {
  const TargetInfo &info = llvm::cantFail(lookupTarget(target()));
  uint32_t grid = info.computeUnits * 2;
  uint64_t perGroup = 4096;
  Device device;
  std::vector<float> x(grid * perGroup, 0.25f);
  uint64_t from = device.upload(x),
           to = device.upload(std::vector<float>(grid));
  Arguments arguments;
  arguments.add(from).add(to).add(perGroup);
  std::vector<InstructionUse> use;
  auto result =
      model(reduction, "cl", device, grid, 256, arguments, {}, 1, &use);
  ASSERT_TRUE(result);
  const Counters &counters = result->first;
  const TimingReport &timing = result->second;
  for (float sum : device.download<float>(to, grid))
    EXPECT_EQ(sum, 1024.0f);
  // Every byte comes from HBM once.
  EXPECT_NEAR(timing.hbmBytesRead / (4.0 * double(x.size())), 1.0, 0.05);
  EXPECT_GT(timing.stallsByReason[unsigned(StallReason::VectorMemory)], 0u);
  EXPECT_GT(timing.stallsByReason[unsigned(StallReason::Barrier)], 0u);
  EXPECT_GT(timing.ldsCycles, 0);
  EXPECT_EQ(timing.ldsConflictCycles, 0);
  // No faster than memory can be.
  EXPECT_GT(timing.seconds,
            4.0 * double(x.size()) / info.hbmAchievableBytesPerSecond);
  // The stalls by instruction add up to those by reason.
  uint64_t byInstruction = 0, byReason = 0;
  for (const InstructionTiming &i : timing.instructions)
    byInstruction += i.stallCycles;
  for (uint64_t cycles : timing.stallsByReason)
    byReason += cycles;
  EXPECT_EQ(byInstruction, byReason);

  auto value = [&](llvm::StringRef name) {
    for (const RocprofCounter &c : rocprofCounters(counters, use, &timing))
      if (c.name == name)
        return c.value;
    ADD_FAILURE() << name.str();
    return -1.0;
  };
  EXPECT_EQ(value("SQ_WAVES"), 4.0 * grid);
  EXPECT_EQ(value("GRBM_GUI_ACTIVE"), timing.cycles);
  EXPECT_EQ(value("SQ_INSTS_LDS"), double(counters.LDS));
  EXPECT_GT(value("SQ_INSTS_VALU_ADD_F32"), 16.0 * grid);
  EXPECT_EQ(value("SQ_INSTS_VALU_ADD_F64"), 0);
  EXPECT_NEAR(value("FETCH_SIZE"), timing.hbmBytesRead / 1024, 1e-6);
  std::string csv;
  llvm::raw_string_ostream os(csv);
  printCSV(os, "a \"b\"", {{"SQ_WAVES", 3}, {"X", 0.5}});
  EXPECT_EQ(csv, "KernelName,SQ_WAVES,X\n\"a \"\"b\"\"\",3,0.5\n");

  std::string printed;
  llvm::raw_string_ostream out(printed);
  timing.print(out, 5);
  EXPECT_NE(printed.find("modelled time of 'sum'"), std::string::npos);
  EXPECT_NE(printed.find("s_waitcnt"), std::string::npos);
}

TEST_P(TimingTest, PackedInstructionsWaitForMatrixInstructions) {
  auto cyclesOfPair = [&](const std::string &vector) {
    constexpr unsigned count = 64;
    std::string body;
    for (unsigned i = 0; i < count; ++i)
      body += "v_mfma_f32_32x32x8f16 a[0:15], v[2:3], v[4:5], 0\\n" + vector +
              "\\n";
    std::string source = "kernel void pairs() { __asm__ volatile(\"" + body +
                         "\" ::: \"v2\", \"v3\", \"v4\", \"v5\", \"v6\", "
                         "\"v7\", \"v8\", \"v9\", \"a15\"); }";
    Device device;
    auto result = model(source, "cl", device, 1, 64, Arguments());
    return result ? result->second.cycles / count : 0.0;
  };
  double plain = cyclesOfPair("v_mul_f32 v6, v8, v9");
  double packed = cyclesOfPair("v_pk_mul_f32 v[6:7], v[8:9], v[8:9]");
  double clocks = std::string(target()) == "gfx942" ? 32 : 64;
  // Others go on beside the matrix unit.
  EXPECT_GE(plain, clocks);
  EXPECT_LT(plain, clocks + 6);
  // Two turns later than the last pass, and one for itself.
  if (std::string(target()) == "gfx942")
    EXPECT_GE(packed, clocks + 2 * 4);
  else
    EXPECT_LT(packed, clocks + 6);
}

TEST_P(TimingTest, NontemporalStoresLeaveTheCachesToOthers) {
  const TargetInfo &info = llvm::cantFail(lookupTarget(target()));
  // One compute unit's part of L2 holds what is read, but not what is written
  // as well.
  uint32_t n =
      uint32_t(info.l2Bytes / info.computeUnits / sizeof(float)) / 8 * 5;
  n -= n % 64;
  auto missesOf = [&](const std::string &store) {
    std::string source =
        "kernel void copy(global const float *x, global float *y, uint n) {\n"
        "  for (uint round = 0; round < 6; ++round)\n"
        "    for (uint i = __builtin_amdgcn_workitem_id_x(); i < n; i += 64)\n"
        "      " +
        store + "}";
    Device device;
    uint64_t x = device.upload(std::vector<float>(n, 1));
    uint64_t y = device.upload(std::vector<float>(6 * n));
    Arguments arguments;
    arguments.add(x).add(y).add(n);
    auto result = model(source, "cl", device, 1, 64, arguments);
    if (!result)
      return 0.0;
    EXPECT_EQ(device.download<float>(y, 6 * n), std::vector<float>(6 * n, 1));
    return result->second.l2Misses;
  };
  double plain = missesOf("y[round * n + i] = x[i];");
  double nontemporal =
      missesOf("__builtin_nontemporal_store(x[i], y + round * n + i);");
  EXPECT_GT(nontemporal, 0);
  EXPECT_LT(nontemporal, 0.8 * plain);
}

TEST_P(TimingTest, FittedParametersMoveTheResult) {
  TimingOptions options;
  options.fittedScale = 4.0 / 3.0;
  Result plain = chain(4, 100), scaled = chain(4, 100, 1, options);
  // Branches cost more, and nothing costs less.
  EXPECT_GT(scaled.timing.cycles, plain.timing.cycles);
  bool fitted = false;
  for (auto [a, b] :
       llvm::zip_equal(plain.timing.parameters, scaled.timing.parameters)) {
    EXPECT_FALSE(a.source.empty());
    fitted |= a.fitted;
    EXPECT_DOUBLE_EQ(b.value, a.fitted ? a.value * 4 / 3 : a.value)
        << a.name.str();
  }
  EXPECT_TRUE(fitted);
}

TEST_P(TimingTest, NoLaunchEndsBeforeItsBounds) {
  TimingOptions options;
  options.followDependencies = true;
  const TargetInfo &info = llvm::cantFail(lookupTarget(target()));
  // Alone, a wavefront is what its chain is; with others, what SIMDs can issue.
  TimingReport alone = chain(1, 200, 1, options).timing;
  TimingReport full = chain(info.computeUnits * 32, 200, 1, options).timing;
  for (const TimingReport *report : {&alone, &full}) {
    const LowerBounds &bounds = report->bounds;
    EXPECT_GT(bounds.dependencies, 0.0);
    EXPECT_LE(bounds.dependencies, bounds.inOrder);
    EXPECT_LE(bounds.inOrder, report->cycles);
    EXPECT_LE(bounds.issue, report->cycles);
    EXPECT_EQ(bounds.lds, 0.0);
  }
  EXPECT_GT(alone.bounds.inOrder, 0.8 * alone.cycles);
  EXPECT_GT(alone.bounds.dependencies, alone.bounds.issue);
  EXPECT_GT(full.bounds.issue, full.bounds.dependencies);
  EXPECT_GT(full.bounds.issue, 0.8 * full.cycles);
  // Whoever does not ask does not pay.
  EXPECT_EQ(chain(1, 200).timing.bounds.dependencies, 0.0);
}

TEST_P(TimingTest, BoundsOfAccessesToLDS) {
  constexpr unsigned count = 64;
  auto boundsOf = [&](llvm::StringRef instruction, llvm::StringRef wait) {
    std::string body = "v_lshlrev_b32 v2, 2, v0\n"
                       "ds_write_b32 v2, v2\ns_waitcnt lgkmcnt(0)\n";
    for (unsigned i = 0; i < count; ++i)
      body += (instruction + "\n" + wait + "\n").str();
    body += "s_waitcnt lgkmcnt(0)\ns_endpgm\n";
    Device device;
    TimingOptions options;
    options.followDependencies = true;
    Arguments arguments;
    arguments.add(uint64_t(0)).add(uint64_t(0)).add(uint64_t(0));
    auto result = model(assembleKernel(target(), body, /*ldsBytes=*/256),
                        "assembler", device, 1, 64, arguments, options);
    if (!result)
      return LowerBounds();
    EXPECT_LE(result->second.bounds.inOrder, result->second.cycles);
    EXPECT_LE(result->second.bounds.lds, result->second.cycles);
    return result->second.bounds;
  };
  const TargetInfo &info = llvm::cantFail(lookupTarget(target()));
  TimingParameters parameters = timingParameters(info, 1.0);
  // The address is what the load before has brought, or always the same.
  llvm::StringRef wait = "s_waitcnt lgkmcnt(0)";
  LowerBounds chained = boundsOf("ds_read_b32 v2, v2", wait);
  LowerBounds ordered = boundsOf("ds_read_b32 v3, v2", wait);
  LowerBounds free = boundsOf("ds_read_b32 v3, v2", "");
  EXPECT_GT(chained.dependencies, count * parameters.ldsLatency);
  // A wait is no dependency, but holds a wavefront up that goes in order.
  EXPECT_LT(ordered.dependencies, 0.2 * chained.dependencies);
  EXPECT_GT(ordered.inOrder, count * parameters.ldsLatency);
  EXPECT_LT(free.inOrder, 0.2 * ordered.inOrder);
  // An exchange between lanes takes what a load without conflicts does.
  LowerBounds exchanged = boundsOf("ds_bpermute_b32 v2, v2, v2", wait);
  EXPECT_EQ(exchanged.lds, chained.lds);
  EXPECT_EQ(exchanged.inOrder, chained.inOrder);
  EXPECT_GT(free.lds, 0.0);
}

TEST_P(TimingTest, Errors) {
  auto object = build(arithmetic, "cl", target());
  ASSERT_TRUE(object);
  Device device;
  uint64_t address = device.upload(std::vector<double>(64, 1.0));
  Arguments arguments;
  arguments.add(address).add(uint64_t(1));
  LaunchParameters p = parametersOf(*object, 1, 64, arguments);
  TimingOptions options;
  options.chip = target() == "gfx90a" ? "mi300x" : "mi210";
  auto other = launchTimed(*object, device.memory, p, options);
  ASSERT_FALSE(bool(other));
  EXPECT_NE(messageOf(other).find(options.chip), std::string::npos);
  options = {};
  options.fittedScale = 0;
  auto zero = launchTimed(*object, device.memory, p, options);
  EXPECT_FALSE(bool(zero));
  llvm::consumeError(zero.takeError());
  // What goes wrong in execution is the launch's error.
  Arguments wild;
  wild.add(uint64_t(64)).add(uint64_t(1));
  p.kernarg = wild.bytes;
  auto bad = launchTimed(*object, device.memory, p, {});
  ASSERT_FALSE(bool(bad));
  EXPECT_NE(messageOf(bad).find("workgroup (0, 0, 0)"), std::string::npos);
}

FOR_BOTH_TARGETS(TimingTest);

TEST(LDSCycles, Patterns) {
  const TargetInfo &target = llvm::cantFail(lookupTarget("gfx90a"));
  auto cycles = [&](unsigned bytes, auto address) {
    MemoryAccess access;
    access.space = AccessSpace::LDS;
    access.bytes = static_cast<uint16_t>(bytes);
    access.lanes = ~uint64_t(0);
    for (unsigned l = 0; l < 64; ++l)
      access.address[l] = address(l);
    LDSCycles c = ldsCycles(target, access);
    return std::make_pair(c.all, c.conflicts);
  };
  using Pair = std::pair<unsigned, unsigned>;
  // 64 words in 32 banks; twice that for twice the width.
  EXPECT_EQ(cycles(4, [](unsigned l) { return 4 * l; }), Pair(2, 0));
  EXPECT_EQ(cycles(8, [](unsigned l) { return 8 * l; }), Pair(4, 0));
  EXPECT_EQ(cycles(16, [](unsigned l) { return 16 * l; }), Pair(8, 0));
  // One word for all.
  EXPECT_EQ(cycles(4, [](unsigned) { return 128; }), Pair(2, 0));
  // A stride of 32 words: all in one bank; of 33: none.
  EXPECT_EQ(cycles(4, [](unsigned l) { return 128 * l; }), Pair(64, 62));
  EXPECT_EQ(cycles(4, [](unsigned l) { return 132 * l; }), Pair(2, 0));
  EXPECT_EQ(cycles(4, [](unsigned l) { return 8 * l; }), Pair(4, 2));
  // Bytes of one word do not conflict.
  EXPECT_EQ(cycles(1, [](unsigned l) { return l; }), Pair(2, 0));
}

TEST(LDSCycles, ExchangesAreLoadsWithoutConflicts) {
  for (const char *chip : {"gfx90a", "gfx942"}) {
    const TargetInfo &target = llvm::cantFail(lookupTarget(chip));
    TimingParameters parameters = timingParameters(target, 1.0);
    MemoryAccess load;
    load.space = AccessSpace::LDS;
    load.bytes = 4;
    load.lanes = ~uint64_t(0);
    for (unsigned l = 0; l < 64; ++l)
      load.address[l] = 4 * l;
    LDSAccessCost loaded =
        ldsAccessCost(target, parameters, load, /*store=*/false);
    LDSAccessCost exchanged = ldsExchangeCost(target, parameters);
    EXPECT_EQ(exchanged.banks.all, loaded.banks.all);
    EXPECT_EQ(exchanged.banks.conflicts, 0u);
    EXPECT_EQ(exchanged.portCycles, loaded.portCycles);
    EXPECT_EQ(exchanged.latency, loaded.latency);
  }
}

TEST(CacheModel, KeepsWhatWasUsedLast) {
  Cache cache(16 * 64, 64, 4);
  for (uint64_t line = 0; line < 16; ++line)
    EXPECT_FALSE(cache.access(line));
  unsigned hits = 0;
  for (uint64_t line = 0; line < 16; ++line)
    hits += cache.access(line);
  EXPECT_EQ(hits, 16u);
  // A stream of new lines drives the old ones out.
  for (uint64_t line = 1000; line < 1064; ++line)
    EXPECT_FALSE(cache.access(line));
  for (uint64_t line = 0; line < 16; ++line)
    EXPECT_FALSE(cache.contains(line));
  EXPECT_FALSE(Cache(0, 64, 4).isPresent());
}

TEST(CacheModel, ReplacesFirstWhatIsNotKept) {
  Cache cache(16 * 64, 64, 4);
  for (uint64_t line = 0; line < 16; ++line)
    cache.access(line);
  // They take one place of each set, from each other.
  for (uint64_t line = 1000; line < 1064; ++line)
    EXPECT_FALSE(cache.access(line, /*keep=*/false));
  unsigned kept = 0;
  for (uint64_t line = 0; line < 16; ++line)
    kept += cache.contains(line);
  EXPECT_EQ(kept, 12u);
  EXPECT_TRUE(cache.access(1063, /*keep=*/false));
}

} // namespace
