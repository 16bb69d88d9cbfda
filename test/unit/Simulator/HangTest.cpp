//===- HangTest.cpp - Loops that end, and loops that do not -------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstructionRunner.h"
#include "TestSupport.h"
#include "wavesmith/Simulator/Checker.h"
#include "wavesmith/Simulator/Timing.h"

using namespace wavesmith::sim;
using namespace wavesmith::sim::test;

namespace {

/// v1 is zero, s[4:5] points to two dwords, 0 and 1. Wavefronts after the first
/// go to "second".
const char *const entry = R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_readfirstlane_b32 s6, v0
  v_mov_b32_e32 v1, 0
  s_mov_b32 m0, -1
  ds_write_b32 v1, v1
  s_waitcnt lgkmcnt(0)
  s_barrier
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 second
)";

class HangTest : public OnTarget {
protected:
  /// Runs a body with the limits that launches have by default, in workgroups
  /// of two wavefronts, of which the second ends at once if the body does not
  /// say otherwise. Every mode has to agree whether it ends; returns the
  /// message.
  std::string run(std::string body, bool timed = true) {
    if (body.find("second:") == std::string::npos)
      body += "second:\n";
    std::string text =
        assembleKernel(target(), entry + body + "  s_endpgm\n", 1024);
    // Vector memory says otherwise on gfx942 what gfx90a calls glc.
    for (size_t at = 0; target() == "gfx942" &&
                        (at = text.find("global_", at)) != std::string::npos;) {
      at = text.find('\n', at);
      if (text.compare(at - 4, 4, " glc") == 0)
        text.replace(at - 4, 4, " sc0");
    }
    const std::string limit = "max_flat_workgroup_size: 64";
    text.replace(text.find(limit), limit.size(),
                 "max_flat_workgroup_size: 512");
    auto object = build(text, "assembler", target());
    if (!object)
      return "";
    std::string message;
    for (int mode = 0; mode < (timed ? 4 : 2); ++mode) {
      Device device;
      memory = device.upload(std::vector<uint32_t>{0, 1});
      Arguments arguments;
      arguments.add(memory).add(memory).add(uint64_t(0));
      LaunchParameters parameters;
      parameters.kernel = "f";
      parameters.workgroup = {128, 1, 1};
      parameters.kernarg = arguments.bytes;
      CheckOptions options;
      options.races = options.uninitialised = options.barriers = false;
      std::vector<Finding> findings;
      if (mode & 1) {
        parameters.check = &options;
        parameters.findings = &findings;
      }
      std::string got;
      if (mode & 2) {
        auto result = launchTimed(*object, device.memory, parameters, {});
        got = messageOf(result);
      } else {
        auto result = launch(*object, device.memory, parameters);
        got = messageOf(result);
      }
      if (mode == 0)
        message = got;
      EXPECT_EQ(got.empty(), message.empty()) << mode << ": " << got;
      if (!got.empty()) {
        EXPECT_NE(got.find("the workgroup hangs"), std::string::npos) << got;
        if (mode & 1) {
          EXPECT_EQ(findings.size(), 1u);
          EXPECT_EQ(findings.front().kind, FindingKind::Hang);
          EXPECT_FALSE(findings.front().disassembly.empty());
        }
      } else {
        EXPECT_TRUE(findings.empty()) << findings.front().text();
      }
    }
    return message;
  }

  uint64_t memory = 0;
};

FOR_BOTH_TARGETS(HangTest);

TEST_P(HangTest, NothingChanges) {
  for (const char *body :
       {// Nothing at all.
        "again:\n  s_branch again\n",
        // Waits for a flag in global memory, by a vector and a scalar load.
        R"(
again:
  global_load_dword v2, v1, s[4:5] glc
  s_waitcnt vmcnt(0)
  v_cmp_eq_u32_e32 vcc, 0, v2
  s_cbranch_vccnz again
)",
        R"(
again:
  s_load_dword s7, s[4:5], 0x0 glc
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s7, 0
  s_cbranch_scc1 again
)",
        // For a flag in LDS.
        R"(
again:
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  v_cmp_eq_u32_e32 vcc, 0, v2
  s_cbranch_vccnz again
)",
        // For a lock that is taken.
        R"(
  v_mov_b32_e32 v3, 0
  v_mov_b32_e32 v2, 1
again:
  global_atomic_cmpswap v4, v1, v[2:3], s[4:5] offset:4 glc
  s_waitcnt vmcnt(0)
  v_cmp_ne_u32_e32 vcc, 0, v4
  s_sleep 1
  s_cbranch_vccnz again
)",
        // Writes the same again and again, and a counter that wraps.
        R"(
  s_mov_b32 s7, 0
again:
  v_mov_b32_e32 v2, s7
  global_store_dword v1, v2, s[4:5]
  ds_write_b32 v1, v2 offset:64
  s_add_u32 s7, s7, 1
  s_and_b32 s7, s7, 7
  s_branch again
)",
        // One waits at the barrier, and the other does not come.
        "again:\n  s_branch again\nsecond:\n  s_barrier\n",
        // Both wait for the other, in loops of different length.
        R"(
again:
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  v_cmp_ne_u32_e32 vcc, 0, v2
  s_cbranch_vccz again
  s_endpgm
second:
  s_nop 0
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  v_cmp_ne_u32_e32 vcc, 0, v2
  s_nop 0
  s_cbranch_vccz second
)"}) {
    std::string message = run(body);
    EXPECT_FALSE(message.empty()) << body;
    EXPECT_NE(message.find("instruction at"), std::string::npos) << message;
  }
}

TEST_P(HangTest, SomethingChanges) {
  // About 5 to 10 million instructions, which is watched once or twice; what
  // counts them is in one place alone.
  const std::string count = std::to_string(1500000);
  EXPECT_EQ(run("  s_mov_b32 s7, " + count + R"(
again:
  s_nop 0
  s_nop 0
  s_nop 0
  s_nop 0
  s_sub_u32 s7, s7, 1
  s_cmp_lg_u32 s7, 0
  s_cbranch_scc1 again
)",
                /*timed=*/false),
            "");
  EXPECT_EQ(run(R"(
again:
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  v_add_u32_e32 v2, 1, v2
  ds_write_b32 v1, v2
  v_cmp_ne_u32_e32 vcc, )" +
                    count + R"(, v2
  v_mov_b32_e32 v2, 0
  s_cbranch_vccnz again
)",
                /*timed=*/false),
            "");
  EXPECT_EQ(run("  s_mov_b32 s7, " + count + R"(
  v_mov_b32_e32 v3, s7
  v_mov_b32_e32 v4, 1
again:
  global_load_dword v2, v1, s[4:5] glc
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v2, 1, v2
  global_store_dword v1, v2, s[4:5]
  v_cmp_ne_u32_e32 vcc, v2, v3
  v_mov_b32_e32 v2, 0
  s_cbranch_vccnz again
)",
                /*timed=*/false),
            "");
  // The clock goes on.
  EXPECT_EQ(run(R"(
again:
  s_memtime s[8:9]
  s_waitcnt lgkmcnt(0)
  s_cmp_lt_u32 s8, )" +
                    count + R"(
  s_mov_b64 s[8:9], 0
  s_nop 0
  s_nop 0
  s_cbranch_scc1 again
)",
                /*timed=*/false),
            "");
  // The other wavefront lets it go, late.
  EXPECT_EQ(run(R"(
again:
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  v_cmp_eq_u32_e32 vcc, 0, v2
  s_cbranch_vccnz again
  s_endpgm
second:
  s_mov_b32 s7, )" + count +
                    R"(
longer:
  s_sub_u32 s7, s7, 1
  s_cmp_lg_u32 s7, 0
  s_cbranch_scc1 longer
  v_mov_b32_e32 v2, 1
  ds_write_b32 v1, v2
  s_waitcnt lgkmcnt(0)
)",
                /*timed=*/false),
            "");
}

TEST_P(HangTest, AnotherWorkgroupMayEndIt) {
  // The first workgroup waits for the second, which another host thread may
  // run: not to be told from a loop without end, so that the limit ends it.
  auto object = build(R"(
kernel void f(global volatile int *flag) {
  if (__builtin_amdgcn_workgroup_id_x() == 0)
    while (*flag == 0) {}
  else
    *flag = 1;
})",
                      "cl", target(), "-cl-std=CL2.0");
  ASSERT_TRUE(object);
  Device device;
  uint64_t flag = device.upload(std::vector<int>(1, 0));
  Arguments arguments;
  arguments.add(flag);
  LaunchParameters parameters;
  parameters.kernel = "f";
  parameters.grid = {2, 1, 1};
  parameters.workgroup = {64, 1, 1};
  parameters.kernarg = arguments.bytes;
  auto result = launch(*object, device.memory, parameters, 2);
  EXPECT_EQ(messageOf(result), "");
}

TEST_P(HangTest, TheLimitIsTheWorkgroups) {
  auto object = build("kernel void f() { for (;;) {} }", "cl", target(),
                      "-cl-std=CL2.0 -O0");
  ASSERT_TRUE(object);
  Device device;
  for (uint32_t threads : {64, 256}) {
    auto result = device.tryRun(*object, "f", 1, threads, Arguments(), 1, 5000);
    std::string message = messageOf(result);
    EXPECT_NE(message.find("the workgroup has issued 5000 instructions, the "
                           "limit"),
              std::string::npos)
        << message;
  }
}

} // namespace
