//===- InstructionRunner.cpp - Lines of assembly over many values --------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstructionRunner.h"
#include <sstream>

namespace wavesmith::sim::test {

std::string assembleModule(const std::string &target,
                           const std::vector<AssembledKernel> &kernels) {
  std::string text = ".amdgcn_target \"amdgcn-amd-amdhsa--" + target +
                     "\"\n.amdhsa_code_object_version 5\n";
  std::string metadata =
      ".amdgpu_metadata\namdhsa.version: [1, 2]\namdhsa.kernels:\n";
  auto line = [](std::string &to, const char *what, const auto &value) {
    std::ostringstream os;
    os << what << value << "\n";
    to += os.str();
  };
  for (const AssembledKernel &k : kernels) {
    text += ".text\n.globl " + k.name + "\n.p2align 8\n.type " + k.name +
            ",@function\n" + k.name + ":\n" + k.body + "\n.rodata\n" +
            ".p2align 6\n.amdhsa_kernel " + k.name + "\n";
    line(text, "  .amdhsa_user_sgpr_kernarg_segment_ptr ", 1);
    line(text, "  .amdhsa_next_free_vgpr ", k.vgprs);
    line(text, "  .amdhsa_next_free_sgpr ", 96);
    line(text, "  .amdhsa_accum_offset ", k.accumOffset);
    line(text, "  .amdhsa_float_denorm_mode_32 ", 3);
    line(text, "  .amdhsa_kernarg_size ", 32);
    line(text, "  .amdhsa_group_segment_fixed_size ", k.ldsBytes);
    line(text, "  .amdhsa_private_segment_fixed_size ", k.scratchBytes);
    text += ".end_amdhsa_kernel\n";
    line(metadata, "  - .name: ", k.name);
    line(metadata, "    .symbol: ", k.name + ".kd");
    line(metadata, "    .kernarg_segment_size: ", 32);
    line(metadata, "    .kernarg_segment_align: ", 8);
    line(metadata, "    .group_segment_fixed_size: ", k.ldsBytes);
    line(metadata, "    .private_segment_fixed_size: ", k.scratchBytes);
    line(metadata, "    .wavefront_size: ", 64);
    line(metadata, "    .sgpr_count: ", 96);
    line(metadata, "    .vgpr_count: ", k.vgprs);
    line(metadata, "    .agpr_count: ", k.vgprs - k.accumOffset);
    line(metadata, "    .max_flat_workgroup_size: ", k.workgroup);
    metadata += R"(    .args:
      - {.name: in, .offset: 0, .size: 8, .value_kind: global_buffer}
      - {.name: out, .offset: 8, .size: 8, .value_kind: global_buffer}
      - {.name: exec, .offset: 16, .size: 8, .value_kind: by_value}
)";
  }
  return text + metadata + ".end_amdgpu_metadata\n";
}

std::string assembleKernel(const std::string &target, const std::string &body,
                           unsigned ldsBytes) {
  AssembledKernel kernel;
  kernel.body = body;
  kernel.ldsBytes = ldsBytes;
  return assembleModule(target, {kernel});
}

std::vector<std::vector<Outcome>>
runLines(const std::string &target, const std::vector<std::string> &lines,
         const std::vector<Sources> &sources, uint64_t exec, unsigned mode,
         unsigned ldsBytes, std::vector<InstructionUse> *use) {
  constexpr size_t lanes = 64;
  size_t groups = (sources.size() + lanes - 1) / lanes;
  // in: three 64-bit values a lane; out: two for each line and lane.
  std::string body = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[16:17], s[0:1], 0x10
  s_mov_b64 s[36:37], -1
  s_mov_b32 s38, 0
  s_mov_b32 s39, 0x400c0000
  s_waitcnt lgkmcnt(0)
  v_lshl_add_u32 v1, s2, 6, v0
  v_mul_u32_u24 v1, 24, v1
  global_load_dwordx4 v[2:5], v1, s[4:5]
  global_load_dwordx2 v[6:7], v1, s[4:5] offset:16
  v_lshlrev_b32 v12, 4, v0
  s_mul_i32 s21, s2, )" +
                     std::to_string(lines.size() * lanes * 16) + R"(
  v_add_u32 v12, s21, v12
  s_waitcnt vmcnt(0)
)";
  for (const std::string &line : lines)
    body += "  v_mov_b32 v8, 0x9abcdef0\n  v_mov_b32 v9, 0x12345678\n"
            "  v_mov_b32 v10, 0x9abcdef0\n  v_mov_b32 v11, 0x12345678\n"
            "  s_mov_b64 exec, s[16:17]\n"
            "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), " +
            std::to_string(mode) + "\n  " + line +
            "\n  s_mov_b64 exec, -1\n"
            "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf0\n"
            "  s_waitcnt vmcnt(0) lgkmcnt(0)\n"
            "  global_store_dwordx4 v12, v[8:11], s[6:7]\n"
            "  v_add_u32 v12, 0x400, v12\n";
  body += "  s_endpgm\n";
  std::vector<std::vector<Outcome>> result;
  auto object =
      build(assembleKernel(target, body, ldsBytes), "assembler", target);
  if (!object)
    return result;

  std::vector<uint64_t> in(groups * lanes * 3);
  for (size_t i = 0; i < sources.size(); ++i) {
    in[3 * i] = sources[i].a;
    in[3 * i + 1] = sources[i].b;
    in[3 * i + 2] = sources[i].c;
  }
  Device device;
  uint64_t inAddress = device.upload(in);
  size_t outputs = groups * lines.size() * lanes;
  uint64_t outAddress = device.upload(std::vector<Outcome>(outputs));
  LaunchParameters parameters;
  parameters.kernel = "f";
  parameters.grid = {static_cast<uint32_t>(groups), 1, 1};
  parameters.workgroup = {lanes, 1, 1};
  Arguments arguments;
  arguments.add(inAddress).add(outAddress).add(exec);
  parameters.kernarg = arguments.bytes;
  parameters.instructionUse = use;
  auto counters = launchChecked(*object, device.memory, parameters);
  if (!counters) {
    ADD_FAILURE() << llvm::toString(counters.takeError());
    return result;
  }
  auto out = device.download<Outcome>(outAddress, outputs);
  result.resize(lines.size());
  for (size_t k = 0; k < lines.size(); ++k)
    for (size_t i = 0; i < sources.size(); ++i)
      result[k].push_back(
          out[(i / lanes * lines.size() + k) * lanes + i % lanes]);
  return result;
}

} // namespace wavesmith::sim::test
