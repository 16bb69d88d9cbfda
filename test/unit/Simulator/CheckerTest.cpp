//===- CheckerTest.cpp - Planted faults and correct code ----------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "wavesmith/Simulator/Checker.h"
#include "InstructionRunner.h"
#include "TestSupport.h"

using namespace wavesmith::sim;
using namespace wavesmith::sim::test;

namespace {

/// Loads the three arguments: s[4:5] in, s[6:7] out, s[8:9] the value; v1 is
/// eight times the lane, v2 four times.
const char *const entry = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[8:9], s[0:1], 0x10
  v_lshlrev_b32_e32 v1, 3, v0
  v_lshlrev_b32_e32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
)";

class CheckerTest : public OnTarget {
protected:
  void SetUp() override {
    input = device.upload(std::vector<uint32_t>(256, 7), "in");
    auto fresh = device.memory.allocate(1024, "out");
    ASSERT_TRUE(bool(fresh)) << messageOf(fresh);
    output = *fresh;
  }

  /// Assembles a kernel around a body that follows entry, and runs it.
  std::vector<Finding> check(const std::string &body, uint32_t grid = 1,
                             uint32_t workgroup = 64, unsigned ldsBytes = 0,
                             const CheckOptions &options = {}) {
    std::string text =
        assembleKernel(target(), entry + body + "\n  s_endpgm\n", ldsBytes);
    const std::string limit = "max_flat_workgroup_size: 64";
    text.replace(text.find(limit), limit.size(),
                 "max_flat_workgroup_size: 512");
    auto object = build(text, "assembler", target());
    if (!object)
      return {};
    return run(*object, "f", grid, workgroup,
               Arguments().add(input).add(output).add(uint64_t(5)), options);
  }

  std::vector<Finding> run(const CodeObject &object, const std::string &kernel,
                           uint32_t grid, uint32_t workgroup,
                           const Arguments &arguments,
                           const CheckOptions &options = {}) {
    std::vector<Finding> findings;
    LaunchParameters parameters;
    parameters.kernel = kernel;
    parameters.grid = {grid, 1, 1};
    parameters.workgroup = {workgroup, 1, 1};
    parameters.kernarg = arguments.bytes;
    parameters.check = &options;
    parameters.findings = &findings;
    auto result = launch(object, device.memory, parameters);
    error = messageOf(result);
    return findings;
  }

  std::shared_ptr<const CodeObject> cl(const std::string &source,
                                       const std::string &options = "") {
    return build(R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define LOCAL __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define BARRIER __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
)" + source,
                 "cl", target(), "-cl-std=CL2.0 " + options);
  }

  static std::string textOf(const std::vector<Finding> &findings) {
    std::string result;
    for (const Finding &finding : findings)
      result += finding.text() + "\n";
    return result;
  }

  /// Exactly one finding of a kind, whose text has these parts.
  void expectOne(const std::vector<Finding> &findings, FindingKind kind,
                 const std::vector<std::string> &parts) {
    EXPECT_EQ(error, "");
    ASSERT_EQ(findings.size(), 1u) << textOf(findings);
    EXPECT_EQ(findings[0].kind, kind) << textOf(findings);
    for (const std::string &part : parts)
      EXPECT_NE(findings[0].text().find(part), std::string::npos)
          << "no '" << part << "' in " << textOf(findings);
  }
  void expectNone(const std::vector<Finding> &findings) {
    EXPECT_EQ(error, "");
    EXPECT_TRUE(findings.empty()) << textOf(findings);
  }

  Device device;
  uint64_t input = 0, output = 0;
  std::string error;
};

FOR_BOTH_TARGETS(CheckerTest);

//===----------------------------------------------------------------------===//
// Bounds and alignment
//===----------------------------------------------------------------------===//

TEST_P(CheckerTest, OutOfBoundsNamesTheAllocationAndGoesOn) {
  // Lanes 62 and 63 write 8 and 16 bytes beyond 1024; then all lanes go on.
  auto findings = check(R"(
  v_mov_b32_e32 v4, 42
  v_mov_b32_e32 v5, 43
  v_lshlrev_b32_e32 v3, 4, v0
  global_store_dwordx2 v3, v[4:5], s[6:7] offset:32
  s_waitcnt vmcnt(0)
  global_store_dword v2, v5, s[6:7]
)");
  expectOne(findings, FindingKind::OutOfBounds,
            {"out-of-bounds", "lane 62", "'out'", "0 bytes after the end",
             "global_store_dwordx2", "wavefront 0", "workgroup (0, 0, 0)"});
  auto got = device.download<uint32_t>(output, 256);
  EXPECT_EQ(got[63], 43u);  // the last instruction
  EXPECT_EQ(got[252], 42u); // lane 61 of the first one
}

TEST_P(CheckerTest, ReadOfFreedMemoryAndNull) {
  ASSERT_FALSE(bool(device.memory.release(input)));
  expectOne(check(R"(
  global_load_dword v4, v2, s[4:5]
  s_waitcnt vmcnt(0)
)"),
            FindingKind::OutOfBounds, {"'in'", "released"});
  expectOne(check(R"(
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 0
  global_load_dword v4, v[4:5], off
  s_waitcnt vmcnt(0)
)"),
            FindingKind::OutOfBounds, {"null"});
}

TEST_P(CheckerTest, OutOfBoundsInLDSAndScalarLoads) {
  expectOne(check("ds_write_b32 v2, v2 offset:200\n", 1, 64, 256),
            FindingKind::OutOfBounds, {"LDS", "lane 14", "256 bytes"});
  expectOne(check("s_load_dword s10, s[4:5], 0x400\ns_waitcnt lgkmcnt(0)\n"),
            FindingKind::OutOfBounds, {"'in'", "s_load_dword"});
}

TEST_P(CheckerTest, Misaligned) {
  expectOne(check(R"(
  global_load_dword v4, v2, s[4:5] offset:2
  s_waitcnt vmcnt(0)
)"),
            FindingKind::Misaligned, {"no multiple of 4", "lane 0"});
  expectOne(check("ds_write_b16 v0, v2\n", 1, 64, 256), FindingKind::Misaligned,
            {"LDS offset 0x1", "no multiple of 2", "lane 1"});
  CheckOptions options;
  options.misaligned = false;
  expectNone(check("ds_write_b16 v0, v2\n", 1, 64, 256, options));
}

// LLVM merges 16-bit loads there.
TEST_P(CheckerTest, DispatchPacketNeedNotBeAligned) {
  auto object = cl(R"(
typedef struct __attribute__((packed)) { ulong value; } Packed;
kernel void f(global ulong *out) {
  constant char *packet = (constant char *)__builtin_amdgcn_dispatch_ptr();
  out[LOCAL] = ((constant Packed *)(packet + 2))->value;
})");
  ASSERT_TRUE(object);
  expectNone(run(*object, "f", 1, 64, Arguments().add(output)));
  // Dimensions, and the workgroup's size in three of them.
  EXPECT_EQ(device.download<uint64_t>(output, 64)[63], 0x0001000100400003u);
}

TEST_P(CheckerTest, PrivateMemoryNeedNotBeAligned) {
  auto object = cl(R"(
kernel void f(global const uchar *in, global uint *out) {
  uchar bytes[2000]; // too large to be moved to LDS or registers
  for (uint i = 0; i < 2000; ++i)
    bytes[i] = 3 * i + LOCAL;
  uint inserted = 0x01020304u * in[0], value;
  __builtin_memcpy(bytes + in[0] + LOCAL % 8, &inserted, 4);
  __builtin_memcpy(&value, bytes + in[0] + 2, 4);
  out[LOCAL] = value;
})");
  ASSERT_TRUE(object);
  expectNone(run(*object, "f", 1, 64, Arguments().add(input).add(output)));
  auto got = device.download<uint32_t>(output, 64);
  for (uint32_t l = 0; l < 64; ++l) {
    uint8_t bytes[32];
    for (uint32_t i = 0; i < 32; ++i)
      bytes[i] = uint8_t(3 * i + l);
    uint32_t inserted = 0x01020304u * 7, value;
    std::memcpy(bytes + 7 + l % 8, &inserted, 4);
    std::memcpy(&value, bytes + 9, 4);
    EXPECT_EQ(got[l], value) << l;
  }
}

//===----------------------------------------------------------------------===//
// Uninitialised values
//===----------------------------------------------------------------------===//

// What a shift pushes out does not matter: LLVM's products of 64 bits at -O0.
TEST_P(CheckerTest, ShiftsOfHalfDefinedNumbers) {
  // v8 and s10 are defined, v9 and s11 are not.
  auto shifted = [&](const std::string &shift, const std::string &stored) {
    return check("v_mov_b32_e32 v8, v0\ns_mov_b32 s10, 5\ns_mov_b32 s12, 32\n" +
                 shift + "\nv_mov_b32_e32 v6, " + stored +
                 "\nv_add_u32_e32 v6, 1, v6\n"
                 "global_store_dword v2, v6, s[6:7]\n");
  };
  for (const char *stored : {"v4", "v5"}) {
    expectNone(shifted("v_lshlrev_b64 v[4:5], 32, v[8:9]", stored));
    expectNone(shifted("v_lshlrev_b64 v[4:5], s12, v[8:9]", stored));
  }
  expectNone(shifted("v_lshrrev_b64 v[4:5], s12, v[8:9]", "v5"));
  for (const char *shift :
       {"v_lshrrev_b64 v[4:5], s12, v[8:9]", "v_ashrrev_i64 v[4:5], 40, v[8:9]",
        "v_lshlrev_b64 v[4:5], s13, v[8:9]"})
    expectOne(shifted(shift, "v4"), FindingKind::UninitialisedRegister,
              {"by way of arithmetic"});
  expectOne(shifted("v_lshlrev_b64 v[4:5], 31, v[8:9]", "v5"),
            FindingKind::UninitialisedRegister, {"by way of arithmetic"});
  expectOne(shifted("v_ashrrev_i64 v[4:5], 40, v[8:9]", "v5"),
            FindingKind::UninitialisedRegister, {"by way of arithmetic"});
  for (const char *stored : {"s14", "s15"})
    expectNone(shifted("s_lshl_b64 s[14:15], s[10:11], s12", stored));
  expectNone(shifted("s_lshr_b64 s[14:15], s[10:11], s12", "s15"));
  expectOne(shifted("s_lshr_b64 s[14:15], s[10:11], s12", "s14"),
            FindingKind::UninitialisedRegister, {"by way of arithmetic"});
  expectOne(shifted("s_ashr_i64 s[14:15], s[10:11], s12", "s15"),
            FindingKind::UninitialisedRegister, {"by way of arithmetic"});
}

TEST_P(CheckerTest, UninitialisedRegisterIsStored) {
  expectOne(check(R"(
  v_add_f32_e32 v4, v5, v5
  v_mov_b32_e32 v6, v4
  global_store_dword v2, v6, s[6:7]
)"),
            FindingKind::UninitialisedRegister,
            {"global_store_dword", "never written"});
}

TEST_P(CheckerTest, UninitialisedRegisterInOneLane) {
  // Lanes below 5 write v4; lane 5 is the first that has not.
  expectOne(check(R"(
  v_cmp_gt_u32_e32 vcc, 5, v0
  s_and_saveexec_b64 s[10:11], vcc
  v_mov_b32_e32 v4, 1
  s_mov_b64 exec, s[10:11]
  global_store_dword v2, v4, s[6:7]
)"),
            FindingKind::UninitialisedRegister, {"lane 5"});
  // Only the lanes that have it store it.
  expectNone(check(R"(
  v_cmp_gt_u32_e32 vcc, 5, v0
  s_and_saveexec_b64 s[10:11], vcc
  v_mov_b32_e32 v4, 1
  global_store_dword v2, v4, s[6:7]
)"));
}

TEST_P(CheckerTest, UninitialisedAddress) {
  auto findings = check("global_load_dword v4, v9, s[4:5]\n"
                        "s_waitcnt vmcnt(0)\n");
  // The address is the pattern's: out of bounds as well.
  ASSERT_EQ(findings.size(), 2u) << textOf(findings);
  EXPECT_EQ(findings[0].kind, FindingKind::UninitialisedRegister);
  EXPECT_NE(findings[0].message.find("the address depends on v9"),
            std::string::npos)
      << findings[0].message;
  EXPECT_EQ(findings[1].kind, FindingKind::OutOfBounds);
  expectOne(check("v_and_b32_e32 v4, 0x7c, v9\n"
                  "global_load_dword v4, v4, s[4:5]\n"
                  "s_waitcnt vmcnt(0)\n"),
            FindingKind::UninitialisedRegister, {"the address depends on v4"});
}

TEST_P(CheckerTest, UninitialisedBranch) {
  expectOne(check(R"(
  s_cmp_eq_u32 s20, 0
  s_cbranch_scc1 end
  s_nop 0
end:
)"),
            FindingKind::UninitialisedRegister, {"s_cbranch_scc1", "SCC"});
  expectOne(check(R"(
  v_cmp_eq_u32_e32 vcc, 0, v9
  s_and_saveexec_b64 s[10:11], vcc
)"),
            FindingKind::UninitialisedRegister, {"s_and_saveexec_b64", "EXEC"});
  // Lanes whose other operand decides do not count.
  expectNone(check(R"(
  v_cmp_eq_u32_e32 vcc, 0, v9
  s_mov_b64 s[12:13], 0
  s_and_b64 vcc, vcc, s[12:13]
  s_and_saveexec_b64 s[10:11], vcc
)"));
  // A mask that is defined for some lanes only, spilled to a lane of a register
  // and back, as -O0 code has them.
  expectNone(check(R"(
  s_mov_b64 s[12:13], 0xff
  s_or_b64 s[14:15], s[14:15], s[12:13]
  v_writelane_b32 v9, s14, 0
  s_nop 1
  v_readlane_b32 s16, v9, 0
  s_nop 3
  s_mov_b32 s17, 0
  s_and_b64 s[16:17], s[16:17], s[12:13]
  s_and_saveexec_b64 s[10:11], s[16:17]
)"));
}

TEST_P(CheckerTest, UndefinedValuesMayBeMoved) {
  // Spills of registers that hold nothing, selects that do not choose it,
  // partial writes, permutes of idle lanes.
  expectNone(check(R"(
  v_mov_b32_e32 v4, v9
  v_writelane_b32 v10, s20, 3
  v_readlane_b32 s21, v10, 3
  s_mov_b32 s22, s21
  v_add_f32_e32 v11, v9, v9
  v_cmp_le_u32_e32 vcc, 0, v0
  v_cndmask_b32_e32 v12, v11, v2, vcc
  global_store_dword v2, v12, s[6:7]
  ds_write_b32 v2, v9
  ds_read_b32 v13, v2
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v14, v13
)",
                   1, 64, 256));
}

TEST_P(CheckerTest, UninitialisedLDS) {
  // Lane 0 reads what the others have not written.
  auto findings = check(R"(
  v_cmp_ne_u32_e32 vcc, 0, v0
  s_and_saveexec_b64 s[10:11], vcc
  ds_write_b32 v2, v0
  s_mov_b64 exec, s[10:11]
  ds_read_b32 v4, v2
  s_waitcnt lgkmcnt(0)
  v_add_u32_e32 v4, 1, v4
  global_store_dword v2, v4, s[6:7]
)",
                        1, 64, 256);
  expectOne(findings, FindingKind::UninitialisedLDS,
            {"lane 0", "LDS offset 0", "ds_read_b32"});
}

TEST_P(CheckerTest, UninitialisedGlobalMemory) {
  expectOne(check(R"(
  global_load_dwordx2 v[4:5], v1, s[6:7]
  s_waitcnt vmcnt(0)
  v_add_f64 v[4:5], v[4:5], 1.0
  global_store_dwordx2 v1, v[4:5], s[6:7]
)"),
            FindingKind::UninitialisedGlobal, {"byte 0 of 'out'"});
  // A kernel writes it, a later one reads it.
  expectNone(check(R"(
  v_mov_b32_e32 v3, v2
  global_store_dwordx2 v1, v[2:3], s[6:7]
)"));
  expectNone(check(R"(
  global_load_dwordx2 v[4:5], v1, s[6:7]
  s_waitcnt vmcnt(0)
  v_add_f64 v[4:5], v[4:5], 1.0
  global_store_dwordx2 v1, v[4:5], s[6:7]
)"));
  expectOne(check(R"(
  s_load_dword s10, s[6:7], 0x3fc
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s10, 0
  s_cbranch_scc1 end
end:
)"),
            FindingKind::UninitialisedGlobal, {"byte 1020 of 'out'"});
}

TEST_P(CheckerTest, UninitialisedPrivateMemory) {
  auto object = cl(R"(
kernel void f(global const int *index, global double *out) {
  volatile double a[16];
  int n = index[0];
  a[n] = 1.0;
  out[LOCAL] = a[index[1]] + 1.0;
})");
  ASSERT_TRUE(object);
  uint64_t same = device.upload(std::vector<int>{5, 5}, "index");
  uint64_t other = device.upload(std::vector<int>{5, 6}, "index");
  expectNone(run(*object, "f", 1, 64, Arguments().add(same).add(output)));
  expectOne(run(*object, "f", 1, 64, Arguments().add(other).add(output)),
            FindingKind::UninitialisedScratch, {"private memory"});
}

TEST_P(CheckerTest, AtomicOnUninitialisedMemory) {
  expectOne(check(R"(
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 1
  global_atomic_add v4, v5, s[6:7]
)"),
            FindingKind::UninitialisedGlobal, {"atomic operation"});
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

/// Each wavefront writes 256 bytes of LDS and reads the other's.
std::string exchange(const char *between) {
  return std::string(R"(
  v_xor_b32_e32 v3, 0x100, v2
  ds_write_b32 v2, v0
)") + between +
         R"(
  ds_read_b32 v4, v3
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v4, s[6:7]
)";
}

TEST_P(CheckerTest, RaceInLDS) {
  expectNone(check(exchange("s_waitcnt lgkmcnt(0)\ns_barrier\n"), 1, 128, 512));
  auto findings = check(exchange("s_waitcnt lgkmcnt(0)\n"), 1, 128, 512);
  // The first wavefront reads before the second writes, and the other way
  // round.
  bool found = false;
  for (const Finding &finding : findings)
    found |= finding.kind == FindingKind::LDSRace &&
             finding.message.find("no barrier") != std::string::npos;
  EXPECT_TRUE(found) << textOf(findings);
  EXPECT_EQ(error, "");
}

TEST_P(CheckerTest, CopiesOfAValueInLDS) {
  // Two wavefronts write the same value to the same place, then other ones.
  std::string body = R"(
  v_and_b32_e32 v3, 63, v0
  v_lshlrev_b32_e32 v4, 2, v3
)";
  expectNone(check(body + "ds_write_b32 v4, v3\n", 1, 128, 256));
  expectOne(check(body + "ds_write_b32 v4, v0\n", 1, 128, 256),
            FindingKind::LDSRace, {"LDS offset 0", "no barrier"});
}

TEST_P(CheckerTest, LDSWriteOutstandingAtTheBarrier) {
  expectOne(check(exchange("s_barrier\n"), 1, 128, 512), FindingKind::LDSRace,
            {"outstanding at the barrier", "ds_write_b32"});
}

TEST_P(CheckerTest, NeighbouringBytesAreNoRace) {
  // Wavefront w writes byte w of each dword: twice, with nothing between.
  std::string body = R"(
  v_and_b32_e32 v3, 63, v0
  v_lshlrev_b32_e32 v3, 2, v3
  v_lshrrev_b32_e32 v4, 6, v0
  v_add_u32_e32 v5, v3, v4
  ds_write_b8 v5, v0
  ds_write_b8 v5, v0
  global_store_byte v5, v0, s[6:7]
)";
  expectNone(check(body, 1, 256, 256));
  // The same byte.
  auto findings = check(body + "ds_write_b8 v3, v0\n", 1, 256, 256);
  expectOne(findings, FindingKind::LDSRace, {"LDS offset 0"});
}

TEST_P(CheckerTest, RaceInGlobalMemory) {
  // Two wavefronts of a workgroup, then two workgroups.
  std::string body = R"(
  v_and_b32_e32 v3, 63, v0
  v_lshlrev_b32_e32 v3, 2, v3
  global_store_dword v3, v0, s[6:7]
)";
  expectOne(check(body, 1, 128), FindingKind::GlobalRace,
            {"'out'", "no barrier"});
  expectOne(check(body, 2, 64), FindingKind::GlobalRace,
            {"'out'", "workgroup number 0"});
  expectNone(check(body, 1, 64));
  // Read by one workgroup, written by another.
  expectOne(check(R"(
  global_load_dword v4, v2, s[4:5]
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc1 end
  global_store_dword v2, v2, s[4:5]
end:
)",
                  2),
            FindingKind::GlobalRace, {"'in'", "read"});
}

TEST_P(CheckerTest, AtomicsAreNoRace) {
  expectNone(check(R"(
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 1
  global_atomic_add v4, v5, s[4:5]
)",
                   4, 256));
}

TEST_P(CheckerTest, LastWorkgroupReadsWhatTheOthersWrote) {
  auto object = cl(R"(
kernel void f(global double *part, global int *ticket, global double *out) {
  part[GROUP * 64 + LOCAL] = GROUP + LOCAL;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  local int last;
  if (LOCAL == 0)
    last = __atomic_fetch_add(ticket, 1, __ATOMIC_RELAXED) == 3;
  BARRIER;
  if (!last) return;
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  double sum = 0;
  for (int g = 0; g < 4; ++g) sum += part[g * 64 + LOCAL];
  out[LOCAL] = sum;
})");
  ASSERT_TRUE(object);
  auto part = device.memory.allocate(8 * 256, "part");
  ASSERT_TRUE(bool(part));
  uint64_t ticket = device.upload(std::vector<int>(1, 0), "ticket");
  expectNone(
      run(*object, "f", 4, 64, Arguments().add(*part).add(ticket).add(output)));
  EXPECT_EQ(device.download<double>(output, 2)[1], 10.0);
}

// A histogram: atomics, then each wavefront reads. Without the barrier the
// first one reads what the second has not yet added to.
TEST_P(CheckerTest, ReadOfLDSThatAtomicsStillChange) {
  auto histogram = [&](const std::string &between, const std::string &after) {
    return check(R"(
  v_and_b32_e32 v3, 63, v0
  v_lshlrev_b32_e32 v3, 2, v3
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 1
  v_cmp_gt_u32_e32 vcc, 64, v0
  s_and_saveexec_b64 s[10:11], vcc
  ds_write_b32 v3, v4
  s_mov_b64 exec, s[10:11]
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_add_u32 v3, v5
)" + between + R"(
  ds_read_b32 v6, v3
  s_waitcnt lgkmcnt(0)
)" + after + R"(
  global_store_dword v2, v6, s[6:7]
)",
                 1, 128, 256);
  };
  expectNone(histogram("s_waitcnt lgkmcnt(0)\ns_barrier", ""));
  expectOne(histogram("s_waitcnt lgkmcnt(0)", ""), FindingKind::LDSRace,
            {"read of LDS offset 0", "which wavefront 1 changes", "ds_add_u32",
             "ds_read_b32", "wavefront 0"});
  // Atomics that are outstanding at the barrier may happen behind it.
  expectOne(histogram("s_barrier", ""), FindingKind::LDSRace,
            {"outstanding at the barrier", "ds_add_u32", "ds_read_b32"});
  // What an atomic load is good for: the old value of an exchange, or to look
  // until it fits.
  expectNone(histogram("", "ds_cmpst_b32 v3, v6, v5"));
  expectNone(histogram(".Lagain:", "v_cmp_ne_u32_e32 vcc, 2, v6\n"
                                   "s_cbranch_vccnz .Lagain"));
}

// A store that publishes and a load that looks for it, as LLVM's memory model
// has them.
TEST_P(CheckerTest, AtomicLoadsAndStoresAreNoRace) {
  bool gfx942 = target() == "gfx942";
  // The first wavefront stores data and a flag, the second waits for it.
  auto handOver = [&](const std::string &fence, const std::string &storeBits,
                      const std::string &loadBits) {
    return check(R"(
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 1
  v_readfirstlane_b32 s10, v0
  s_cmp_eq_u32 s10, 0
  s_cbranch_scc0 .Lsecond
  global_store_dword v4, v5, s[4:5] offset:4
)" + fence + "  global_store_dword v4, v5, s[4:5]" +
                     storeBits + R"(
  s_branch .Lend
.Lsecond:
  global_load_dword v6, v4, s[4:5])" +
                     loadBits + R"(
  s_waitcnt vmcnt(0)
  global_load_dword v7, v4, s[4:5] offset:4
  s_waitcnt vmcnt(0)
  global_store_dword v4, v7, s[6:7]
.Lend:
)",
                 1, 128);
  };
  std::string fence = "  s_waitcnt vmcnt(0)\n";
  expectNone(handOver(fence, gfx942 ? " sc1" : "", gfx942 ? " sc1" : " glc"));
  // Plain accesses are a race, of the flag and of the data.
  auto findings = handOver("", "", "");
  EXPECT_EQ(error, "");
  EXPECT_EQ(findings.size(), 2u) << textOf(findings);
  for (const Finding &finding : findings)
    EXPECT_EQ(finding.kind, FindingKind::GlobalRace);
  // A flag that is not stored atomically publishes nothing.
  findings = handOver("", "", gfx942 ? " sc1" : " glc");
  expectOne(findings, FindingKind::GlobalRace, {"read of byte 4 of 'in'"});
  // An initial value is no atomic store.
  expectOne(check(R"(
  v_mov_b32_e32 v4, 0
  v_readfirstlane_b32 s10, v0
  s_cmp_eq_u32 s10, 0
  s_cbranch_scc0 .Ladd
  global_store_dword v4, v4, s[4:5]
.Ladd:
  global_atomic_add v4, v0, s[4:5]
)",
                  1, 128),
            FindingKind::GlobalRace, {"write of byte 0 of 'in'"});
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

TEST_P(CheckerTest, MissingWaitForVectorMemory) {
  std::string loads = R"(
  global_load_dword v4, v2, s[4:5]
  global_load_dword v5, v2, s[4:5] offset:4
)";
  expectOne(check(loads + "v_add_u32_e32 v6, 1, v4\ns_waitcnt vmcnt(0)\n"),
            FindingKind::MissingWait, {"v4 is read", "vmcnt(1)"});
  expectOne(check(loads + "s_waitcnt vmcnt(1)\nv_add_u32_e32 v6, v5, v4\n"),
            FindingKind::MissingWait, {"v5 is read", "vmcnt(0)"});
  expectNone(check(loads + "s_waitcnt vmcnt(1)\nv_add_u32_e32 v6, 1, v4\n"));
  expectOne(check(loads + "v_mov_b32_e32 v4, 0\n"), FindingKind::MissingWait,
            {"v4 is overwritten"});
  // Stores count in order with loads; their data may be overwritten at once.
  expectNone(check("global_load_dword v4, v2, s[4:5]\n"
                   "global_store_dword v2, v2, s[6:7]\n"
                   "v_mov_b32_e32 v2, 0\n"
                   "s_waitcnt vmcnt(1)\n"
                   "v_add_u32_e32 v6, 1, v4\n"));
  // Loads return in order: the later one wins.
  expectNone(check("global_load_dword v4, v2, s[4:5]\n"
                   "global_load_dword v4, v2, s[4:5] offset:4\n"
                   "s_waitcnt vmcnt(0)\n"
                   "v_add_u32_e32 v6, 1, v4\n"));
}

TEST_P(CheckerTest, MissingWaitForScalarMemory) {
  // Out of order: only lgkmcnt(0) is safe.
  std::string loads = R"(
  s_load_dword s10, s[4:5], 0x0
  s_load_dword s11, s[4:5], 0x40
)";
  expectOne(check(loads + "s_waitcnt lgkmcnt(1)\ns_add_u32 s12, s10, 1\n"),
            FindingKind::MissingWait, {"s10 is read", "lgkmcnt(0)"});
  expectNone(check(loads + "s_waitcnt lgkmcnt(0)\ns_add_u32 s12, s10, s11\n"));
  expectOne(check(loads + "v_add_u32_e32 v4, s11, v0\ns_waitcnt lgkmcnt(0)\n"),
            FindingKind::MissingWait, {"s11 is read"});
}

TEST_P(CheckerTest, MissingWaitForLDS) {
  std::string reads = R"(
  ds_write_b32 v2, v0
  ds_read_b32 v4, v2
  ds_read_b32 v5, v2
)";
  expectOne(check(reads + "v_add_u32_e32 v6, 1, v4\n", 1, 64, 256),
            FindingKind::MissingWait, {"v4 is read", "lgkmcnt(1)"});
  expectNone(check(reads + "s_waitcnt lgkmcnt(1)\nv_add_u32_e32 v6, 1, v4\n", 1,
                   64, 256));
  // A scalar load may be the one that is outstanding, or the LDS read.
  expectOne(check(reads + "s_load_dword s10, s[4:5], 0x0\n"
                          "s_waitcnt lgkmcnt(1)\n"
                          "v_add_u32_e32 v6, 1, v5\n",
                  1, 64, 256),
            FindingKind::MissingWait, {"v5 is read", "lgkmcnt(0)"});
}

TEST_P(CheckerTest, LoadToLDSNeedsItsWait) {
  std::string load = target() == "gfx942" ? R"(
  s_mov_b32 m0, 0
  s_nop 0
  global_load_lds_dword v2, s[4:5]
)"
                                          : R"(
  s_mov_b32 m0, 0
  s_mov_b32 s12, s4
  s_mov_b32 s13, s5
  s_mov_b32 s14, 1024
  s_mov_b32 s15, 0x27000
  buffer_load_dword v2, s[12:15], 0 offen lds
)";
  std::string use = R"(
  ds_read_b32 v4, v2
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v4, s[6:7]
)";
  expectOne(check(load + use, 1, 64, 256), FindingKind::MissingWait,
            {"load to LDS", "vmcnt(0)"});
  expectNone(check(load + "s_waitcnt vmcnt(0)\n" + use, 1, 64, 256));
}

//===----------------------------------------------------------------------===//
// Barriers and hangs
//===----------------------------------------------------------------------===//

TEST_P(CheckerTest, DivergentBarrier) {
  expectOne(check(R"(
  v_readfirstlane_b32 s10, v0
  s_cmp_eq_u32 s10, 0
  s_cbranch_scc1 other
  s_barrier
  s_endpgm
other:
  s_barrier
)",
                  1, 128),
            FindingKind::DivergentBarrier, {"another barrier"});
}

TEST_P(CheckerTest, BarrierThatOneWavefrontMisses) {
  std::string body = R"(
  v_readfirstlane_b32 s10, v0
  s_cmp_eq_u32 s10, 0
  s_cbranch_scc1 end
  s_barrier
end:
)";
  expectOne(check(body, 1, 128), FindingKind::BarrierNotReached,
            {"wavefront 0 has ended"});
  CheckOptions options;
  options.barriers = false;
  expectNone(check(body, 1, 128, 0, options));
}

TEST_P(CheckerTest, RegistersThatAreNotAllocated) {
  // The descriptor of this kernel gives 32 VGPRs, AGPRs from 16 on, and 32
  // SGPRs.
  auto check = [&](const std::string &body) {
    std::string text =
        assembleKernel(target(), entry + body + "\n  s_endpgm\n", 0);
    auto set = [&](const std::string &name, int value) {
      size_t at = text.find(".amdhsa_" + name);
      ASSERT_NE(at, std::string::npos) << name;
      text.replace(at, text.find('\n', at) - at,
                   ".amdhsa_" + name + " " + std::to_string(value));
    };
    set("next_free_vgpr", 32);
    set("accum_offset", 16);
    set("next_free_sgpr", 26);
    auto object = build(text, "assembler", target());
    if (!object)
      return std::vector<Finding>();
    return run(*object, "f", 1, 64,
               Arguments().add(input).add(output).add(uint64_t(5)));
  };
  auto kind = FindingKind::RegisterNotAllocated;
  expectNone(check("  v_mov_b32_e32 v15, 0\n  v_accvgpr_write_b32 a15, 0\n"
                   "  s_mov_b32 s31, 0\n"));
  expectOne(check("  v_mov_b32_e32 v16, 0\n"), kind,
            {"v16", "16 VGPRs and 16 AGPRs"});
  // Of a range, the first that is beyond.
  expectOne(check("  v_lshlrev_b64 v[16:17], 0, v[14:15]\n"), kind, {": v16,"});
  expectOne(check("  v_accvgpr_write_b32 a16, 0\n"), kind, {"a16"});
  expectOne(check("  s_mov_b64 s[32:33], 0\n"), kind, {"s32", "32 SGPRs"});
  // Picked at run time.
  std::string indexed = "  s_mov_b32 s10, 15\n"
                        "  s_set_gpr_idx_on s10, gpr_idx(DST)\n"
                        "  v_mov_b32_e32 v%, 0\n"
                        "  s_set_gpr_idx_off\n";
  auto with = [&](const char *number) {
    std::string text = indexed;
    return text.replace(text.find('%'), 1, number);
  };
  expectNone(check(with("0")));
  expectOne(check(with("3")), kind, {"v18"});
}

TEST_P(CheckerTest, Hang) {
  CheckOptions options;
  options.instructionBudget = 5000;
  auto findings = check("again:\n  s_branch again\n", 1, 64, 0, options);
  ASSERT_EQ(findings.size(), 1u) << textOf(findings);
  EXPECT_EQ(findings[0].kind, FindingKind::Hang);
  EXPECT_NE(error.find("5000 instructions"), std::string::npos) << error;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

TEST_P(CheckerTest, NamesTheSourceLine) {
  auto object = cl("kernel void f(global double *out, int n) {\n"
                   "  double x = LOCAL;\n"
                   "  out[n + LOCAL] = x;\n"
                   "}\n",
                   "-g");
  ASSERT_TRUE(object);
  auto findings =
      run(*object, "f", 1, 64, Arguments().add(output).add(int(128)));
  // The prelude has five lines.
  expectOne(findings, FindingKind::OutOfBounds, {".txt:8:"});
  EXPECT_NE(findings[0].source.find(":8:"), std::string::npos);
}

TEST_P(CheckerTest, CountsAndLimits) {
  std::string body;
  for (int i = 0; i < 6; ++i)
    body += "global_load_dword v4, v2, s[4:5] offset:2\n"
            "s_waitcnt vmcnt(0)\n";
  CheckOptions options;
  options.maximum = 4;
  auto findings = check(body, 3, 64, 0, options);
  ASSERT_EQ(findings.size(), 4u) << textOf(findings);
  for (const Finding &finding : findings)
    EXPECT_EQ(finding.count, 3u);
  EXPECT_NE(findings[0].pc, findings[1].pc);
}

TEST_P(CheckerTest, NeedsAListForFindings) {
  auto object =
      build(assembleKernel(target(), "  s_endpgm\n"), "assembler", target());
  ASSERT_TRUE(object);
  CheckOptions options;
  std::vector<uint8_t> arguments(24);
  LaunchParameters parameters;
  parameters.kernel = "f";
  parameters.workgroup = {64, 1, 1};
  parameters.kernarg = arguments;
  parameters.check = &options;
  auto result = launch(*object, device.memory, parameters);
  EXPECT_NE(messageOf(result).find("needs a list"), std::string::npos);
}

} // namespace
