//===- InstructionSet.cpp - The instructions that a target can decode ----===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// LLVM's public headers do not say which instructions a processor has. Its
/// disassembler does: here it is given every value of the opcode field of every
/// encoding, with the operands in a few forms, and the names that come out are
/// looked up in the simulator's table.
///
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "llvm/Support/Endian.h"
#include <map>

using namespace llvm;
using namespace wavesmith::sim;

namespace {

/// Registers that suit sources of any width: v8, v12, v16, s8, s12.
constexpr uint32_t vector0 = 256 + 8, vector1 = 256 + 12, vector2 = 256 + 16;
constexpr uint32_t scalar0 = 8, scalar1 = 12, scalar2 = 16;

/// Collects pairs of words.
class Encodings {
public:
  void add(uint32_t first, uint32_t second = 0) {
    words.push_back({first, second});
  }
  std::vector<std::pair<uint32_t, uint32_t>> words;
};

void scalarFormats(Encodings &out) {
  for (uint32_t op = 0; op < 128; ++op) {
    if (op < 96)
      out.add(0x80000000u | (op << 23) | (4u << 16) | (scalar1 << 8) | scalar0);
    out.add(0xbf000000u | (op << 16) | (scalar1 << 8) | scalar0);
    for (uint32_t immediate : {0u, 1u}) // s_barrier takes 0 only
      out.add(0xbf800000u | (op << 16) | immediate);
    // s_set_gpr_idx_on takes a mode, s_waitcnt and the like any number.
    out.add(0xbf000000u | (op << 16) | (1u << 8) | scalar0);
  }
  for (uint32_t op = 0; op < 32; ++op)
    out.add(0xb0000000u | (op << 23) | (4u << 16) | 0xf801u, 0x3f800000u);
  for (uint32_t op = 0; op < 256; ++op) {
    out.add(0xbe800000u | (4u << 16) | (op << 8) | scalar0);
    // SMEM with an immediate, an SGPR and both; data in s[16:31].
    for (uint32_t form : {1u << 17, 0u, (1u << 17) | (1u << 14)})
      for (uint32_t glc : {0u, 1u << 16})
        out.add(0xc0000000u | (op << 18) | form | glc | (16u << 6) | (8u / 2),
                (form & (1u << 17)) ? 4u | (4u << 25) : 4u);
  }
}

void vectorFormats(Encodings &out) {
  constexpr uint32_t sdwa = 249, dpp = 250;
  constexpr uint32_t sdwaWord =
                         (vector0 & 255) | (6u << 8) | (6u << 16) | (6u << 24),
                     sdwaCompareWord =
                         (vector0 & 255) | (6u << 16) | (6u << 24),
                     dppWord = (vector0 & 255) | (0x111u << 8) | (0xffu << 24);
  auto compact = [&](uint32_t word, bool compare) {
    out.add(word | vector0, 0x3f800000u);
    out.add(word | sdwa, compare ? sdwaCompareWord : sdwaWord);
    out.add(word | dpp, dppWord);
  };
  for (uint32_t op = 0; op < 62; ++op)
    compact((op << 25) | (4u << 17) | ((vector1 & 255) << 9), false);
  for (uint32_t op = 0; op < 256; ++op) {
    compact(0x7c000000u | (op << 17) | ((vector1 & 255) << 9), true);
    compact(0x7e000000u | (4u << 17) | (op << 9), false);
    // v_nop and its like take nothing, v_readfirstlane an SGPR.
    out.add(0x7e000000u | (op << 9));
    out.add(0x7e000000u | (4u << 17) | (op << 9) | scalar0);
  }
  const uint32_t sources[][3] = {{vector0, vector1, vector2},
                                 {vector0, vector1, scalar2},
                                 {vector0, scalar1, 0},
                                 {vector0, vector1, 0},
                                 {vector0, 0, 0},
                                 {scalar0, scalar1, 0},
                                 {scalar0, scalar1, scalar2},
                                 {0, 0, 0}};
  for (uint32_t op = 0; op < 1024; ++op)
    for (const auto &s : sources)
      for (uint32_t mask : {0u, 20u << 8})
        for (uint32_t destination : {4u, 106u})
          out.add(0xd0000000u | (op << 16) | mask | destination,
                  s[0] | (s[1] << 9) | (s[2] << 18));
}

void memoryFormats(Encodings &out) {
  for (uint32_t op = 0; op < 256; ++op)
    for (uint32_t gds : {0u, 1u << 16})
      for (uint32_t place : {0u, 4u << 24})
        // Fields that an instruction does not use must be zero.
        for (uint32_t used :
             {0u, 8u, 8u | (12u << 8), 12u << 8, 8u | (12u << 8) | (16u << 16)})
          out.add(0xd8000000u | (op << 17) | gds, used | place);
  for (uint32_t op = 0; op < 128; ++op) {
    for (uint32_t segment = 0; segment < 3; ++segment)
      for (uint32_t glc : {0u, 1u << 16})
        for (uint32_t lds : {0u, 1u << 13})
          for (uint32_t saddr : {0x7fu, 8u, 0u}) // 0 where there is none
            for (uint32_t place : {0u, 4u << 24})
              for (uint32_t used : {0u, 8u, 8u | (12u << 8), 12u << 8})
                out.add(0xdc000000u | (op << 18) | (segment << 14) | glc | lds,
                        used | (saddr << 16) | place);
    for (uint32_t form = 0; form < 4; ++form)
      for (uint32_t glc : {0u, 1u << 14})
        for (uint32_t lds : {0u, 1u << 16})
          out.add(0xe0000000u | (op << 18) | (form << 12) | glc | lds,
                  8u | (12u << 8) | (2u << 16) | (scalar0 << 24));
    out.add(0xe0000000u | (op << 18));
    if (op < 16)
      for (uint32_t form = 0; form < 4; ++form)
        out.add(0xe8000000u | (op << 15) | (form << 12) | (4u << 19) |
                    (7u << 23),
                8u | (12u << 8) | (2u << 16) | (scalar0 << 24));
    // Images, exports and interpolation: none of them is for computing.
    out.add(0xf0000000u | (op << 18) | 0xf00u,
            8u | (12u << 8) | (2u << 16) | (3u << 21));
    if (op < 4)
      out.add(0xd4000000u | (op << 16) | (4u << 18) | 8u);
  }
  out.add(0xc4000000u | 0xfu, 0x03020100u);
}

} // namespace

StringRef wavesmith::sim::spelling(Exactness exactness) {
  switch (exactness) {
  case Exactness::Exact:
    return "exact";
  case Exactness::Approximate:
    return "approximate";
  case Exactness::Unsupported:
    break;
  }
  return "unsupported";
}

StringRef wavesmith::sim::whyUnsupported(StringRef opcode) {
  if (opcode.starts_with("DS_GWS_"))
    return "global wave sync is not modelled";
  if (opcode.starts_with("IMAGE_") || opcode.starts_with("EXP") ||
      opcode.starts_with("V_INTERP_") || opcode.starts_with("V_SCREEN_") ||
      opcode == "S_ENDPGM_ORDERED_PS_DONE")
    return "graphics";
  if (opcode.starts_with("TBUFFER_") || opcode.contains("_FORMAT_"))
    return "typed buffers: graphics";
  if (opcode.starts_with("S_RFE") || opcode == "S_ENDPGM_SAVED")
    return "trap handlers are not modelled";
  if (opcode.starts_with("S_SCRATCH_"))
    return "scalar access to scratch: LLVM does not emit it";
  if (opcode == "S_SETVSKIP")
    return "skipping of vector instructions: LLVM does not emit it";
  return "not implemented";
}

Expected<std::vector<InstructionInfo>>
wavesmith::sim::instructionSet(StringRef target) {
  if (target != "gfx90a" && target != "gfx942")
    return createStringError("the simulator has no target '" + target +
                             "', only gfx90a and gfx942");
  Encodings encodings;
  scalarFormats(encodings);
  vectorFormats(encodings);
  memoryFormats(encodings);
  // Each candidate has four words of its own, filled up with s_nop.
  constexpr unsigned slot = 4;
  std::vector<uint8_t> bytes(encodings.words.size() * slot * 4);
  for (size_t i = 0; i < encodings.words.size(); ++i) {
    uint8_t *p = &bytes[4 * slot * i];
    support::endian::write32le(p, encodings.words[i].first);
    support::endian::write32le(p + 4, encodings.words[i].second);
    for (unsigned k = 2; k < slot; ++k)
      support::endian::write32le(p + 4 * k, 0xbf800000u);
  }
  wavesmith::sim::detail::CodeObjectImage image;
  image.target = target.str();
  image.texts.emplace_back();
  image.texts[0].bytes = bytes;
  if (Error error = decode(image))
    return std::move(error);

  std::map<std::string, InstructionInfo> found;
  const OpcodeTable &table = opcodeTable();
  for (size_t i = 0; i < encodings.words.size(); ++i) {
    const auto &instruction =
        image.instructions[image.texts[0].indexOfWord[slot * i]];
    StringRef name = image.opcodeNames[instruction.opcodeName];
    if (name.empty())
      continue;
    bool known = instruction.handler != table.unknown;
    name = name.take_until([](char c) { return c == ','; });
    InstructionInfo &info = found[name.str()];
    info.opcode = name.str();
    if (known) {
      auto it = table.entries.find(name);
      info.exactness =
          it == table.entries.end() ? Exactness::Exact : it->second.exactness;
      info.note = it == table.entries.end() ? "" : it->second.note;
    } else if (info.exactness == Exactness::Unsupported && info.note.empty()) {
      info.note = whyUnsupported(name).str();
    }
  }
  std::vector<InstructionInfo> result;
  for (auto &[name, info] : found)
    result.push_back(std::move(info));
  return std::move(result);
}

Expected<std::string> wavesmith::sim::instructionTable() {
  std::map<std::string, std::array<std::optional<InstructionInfo>, 2>> rows;
  unsigned counts[2][3] = {};
  const char *targets[2] = {"gfx90a", "gfx942"};
  for (unsigned t = 0; t < 2; ++t) {
    auto list = instructionSet(targets[t]);
    if (!list)
      return list.takeError();
    for (InstructionInfo &info : *list) {
      ++counts[t][static_cast<unsigned>(info.exactness)];
      rows[info.opcode][t] = std::move(info);
    }
  }
  std::string page =
      "# Instructions of the simulator\n\n"
      "Generated by `simulator-instructions --markdown`; do not edit.\n\n"
      "One row for each instruction that LLVM decodes for gfx90a or gfx942, "
      "under\nLLVM's name without the encoding. *exact*: the bits of the chip, "
      "NaN as a\nclass. *approximate*: the chip approximates within the bound "
      "noted, the\nsimulator stays within it but may give another value. "
      "*unsupported*: executing\nit is an error. A dash: the target has no "
      "such instruction.\n\n"
      "| target | exact | approximate | unsupported |\n|---|---|---|---|\n";
  for (unsigned t = 0; t < 2; ++t)
    page +=
        "| " + std::string(targets[t]) + " | " +
        std::to_string(counts[t][unsigned(Exactness::Exact)]) + " | " +
        std::to_string(counts[t][unsigned(Exactness::Approximate)]) + " | " +
        std::to_string(counts[t][unsigned(Exactness::Unsupported)]) + " |\n";
  page += "\n| opcode | gfx90a | gfx942 | note |\n|---|---|---|---|\n";
  for (const auto &[name, both] : rows) {
    page += "| " + name + " |";
    std::string note;
    for (unsigned t = 0; t < 2; ++t) {
      page +=
          " " +
          (both[t] ? spelling(both[t]->exactness).str() : std::string("-")) +
          " |";
      if (both[t] && !both[t]->note.empty() && both[t]->note != note)
        note += (note.empty() ? "" : "; ") + both[t]->note;
    }
    page += " " + note + " |\n";
  }
  return page;
}
