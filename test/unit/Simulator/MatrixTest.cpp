//===- MatrixTest.cpp - v_mfma and v_smfmac -------------------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Layouts: every shape and type, in several register forms and with every
/// modifier, against a plain matrix product of values for which no rounding
/// occurs; the places of elements are those that AMD's matrix instruction
/// calculator prints.
///
/// Rounding: against a second implementation of the chips' rules in integers
/// of 1024 bits, which shares no code with the simulator.
///
//===----------------------------------------------------------------------===//

#include "InstructionRunner.h"
#include "wavesmith/Simulator/MatrixInstruction.h"
#include "llvm/ADT/APInt.h"
#include <array>
#include <cmath>

using namespace wavesmith::sim;
using namespace wavesmith::sim::test;
using llvm::APInt;

namespace {

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

enum class Type { F64, F32, XF32, F16, BF16, FP8, BF8, I8 };

unsigned bitsOf(Type type) {
  switch (type) {
  case Type::F64:
    return 64;
  case Type::F32:
  case Type::XF32:
    return 32;
  case Type::F16:
  case Type::BF16:
    return 16;
  default:
    return 8;
  }
}

struct Matrix {
  /// LLVM's opcode name.
  const char *name;
  /// The mnemonics; null where the chip lacks the instruction.
  const char *gfx90a, *gfx942;
  Type a, b;
  unsigned n, k, blocks;
  /// Elements of A in a lane: registers that AMD's calculator names, by bits.
  unsigned perLane;
  bool sparse;
  /// Products that are summed before the sum goes to C.
  unsigned group90a, group942;

  const char *mnemonic(const std::string &target) const {
    return target == "gfx90a" ? gfx90a : gfx942;
  }
  unsigned group(const std::string &target) const {
    return target == "gfx90a" ? group90a : group942;
  }
  /// Products of a result.
  unsigned depth() const { return sparse ? k / 2 : k; }
  unsigned registersA() const { return perLane * bitsOf(a) / 32; }
  unsigned registersB() const {
    return (sparse ? 2 : 1) * perLane * bitsOf(b) / 32;
  }
  unsigned registersD() const {
    return n * n * blocks / 64 * (a == Type::F64 ? 2 : 1);
  }
  /// AMD's calculator: "CBSZ and ABID bits supported", "BLGP bits supported".
  bool hasBroadcast() const { return blocks > 1 && a != Type::F64; }
  bool hasPattern(const std::string &target) const {
    if (a == Type::F64 || sparse)
      return false;
    return target == "gfx90a" || blocks > 1 || a == Type::F32;
  }
};

const Matrix matrices[] = {
    {"V_MFMA_F64_16X16X4F64", "v_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4_f64",
     Type::F64, Type::F64, 16, 4, 1, 1, false, 1, 1},
    {"V_MFMA_F64_4X4X4F64", "v_mfma_f64_4x4x4f64", "v_mfma_f64_4x4x4_4b_f64",
     Type::F64, Type::F64, 4, 4, 4, 1, false, 1, 1},
    {"V_MFMA_F32_32X32X1F32", "v_mfma_f32_32x32x1f32",
     "v_mfma_f32_32x32x1_2b_f32", Type::F32, Type::F32, 32, 1, 2, 1, false, 1,
     1},
    {"V_MFMA_F32_16X16X1F32", "v_mfma_f32_16x16x1f32",
     "v_mfma_f32_16x16x1_4b_f32", Type::F32, Type::F32, 16, 1, 4, 1, false, 1,
     1},
    {"V_MFMA_F32_4X4X1F32", "v_mfma_f32_4x4x1f32", "v_mfma_f32_4x4x1_16b_f32",
     Type::F32, Type::F32, 4, 1, 16, 1, false, 1, 1},
    {"V_MFMA_F32_32X32X2F32", "v_mfma_f32_32x32x2f32", "v_mfma_f32_32x32x2_f32",
     Type::F32, Type::F32, 32, 2, 1, 1, false, 1, 1},
    {"V_MFMA_F32_16X16X4F32", "v_mfma_f32_16x16x4f32", "v_mfma_f32_16x16x4_f32",
     Type::F32, Type::F32, 16, 4, 1, 1, false, 1, 1},
    {"V_MFMA_F32_16X16X8XF32", nullptr, "v_mfma_f32_16x16x8_xf32", Type::XF32,
     Type::XF32, 16, 8, 1, 2, false, 0, 4},
    {"V_MFMA_F32_32X32X4XF32", nullptr, "v_mfma_f32_32x32x4_xf32", Type::XF32,
     Type::XF32, 32, 4, 1, 2, false, 0, 4},
    {"V_MFMA_F32_32X32X4F16", "v_mfma_f32_32x32x4f16",
     "v_mfma_f32_32x32x4_2b_f16", Type::F16, Type::F16, 32, 4, 2, 4, false, 4,
     4},
    {"V_MFMA_F32_16X16X4F16", "v_mfma_f32_16x16x4f16",
     "v_mfma_f32_16x16x4_4b_f16", Type::F16, Type::F16, 16, 4, 4, 4, false, 4,
     4},
    {"V_MFMA_F32_4X4X4F16", "v_mfma_f32_4x4x4f16", "v_mfma_f32_4x4x4_16b_f16",
     Type::F16, Type::F16, 4, 4, 16, 4, false, 4, 4},
    {"V_MFMA_F32_32X32X8F16", "v_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8_f16",
     Type::F16, Type::F16, 32, 8, 1, 4, false, 4, 8},
    {"V_MFMA_F32_16X16X16F16", "v_mfma_f32_16x16x16f16",
     "v_mfma_f32_16x16x16_f16", Type::F16, Type::F16, 16, 16, 1, 4, false, 4,
     8},
    {"V_MFMA_F32_32X32X4BF16_1K", "v_mfma_f32_32x32x4bf16_1k",
     "v_mfma_f32_32x32x4_2b_bf16", Type::BF16, Type::BF16, 32, 4, 2, 4, false,
     4, 4},
    {"V_MFMA_F32_16X16X4BF16_1K", "v_mfma_f32_16x16x4bf16_1k",
     "v_mfma_f32_16x16x4_4b_bf16", Type::BF16, Type::BF16, 16, 4, 4, 4, false,
     4, 4},
    {"V_MFMA_F32_4X4X4BF16_1K", "v_mfma_f32_4x4x4bf16_1k",
     "v_mfma_f32_4x4x4_16b_bf16", Type::BF16, Type::BF16, 4, 4, 16, 4, false, 4,
     4},
    {"V_MFMA_F32_32X32X8BF16_1K", "v_mfma_f32_32x32x8bf16_1k",
     "v_mfma_f32_32x32x8_bf16", Type::BF16, Type::BF16, 32, 8, 1, 4, false, 4,
     8},
    {"V_MFMA_F32_16X16X16BF16_1K", "v_mfma_f32_16x16x16bf16_1k",
     "v_mfma_f32_16x16x16_bf16", Type::BF16, Type::BF16, 16, 16, 1, 4, false, 4,
     8},
    {"V_MFMA_F32_32X32X2BF16", "v_mfma_f32_32x32x2bf16", nullptr, Type::BF16,
     Type::BF16, 32, 2, 2, 2, false, 2, 0},
    {"V_MFMA_F32_16X16X2BF16", "v_mfma_f32_16x16x2bf16", nullptr, Type::BF16,
     Type::BF16, 16, 2, 4, 2, false, 2, 0},
    {"V_MFMA_F32_4X4X2BF16", "v_mfma_f32_4x4x2bf16", nullptr, Type::BF16,
     Type::BF16, 4, 2, 16, 2, false, 2, 0},
    {"V_MFMA_F32_32X32X4BF16", "v_mfma_f32_32x32x4bf16", nullptr, Type::BF16,
     Type::BF16, 32, 4, 1, 2, false, 2, 0},
    {"V_MFMA_F32_16X16X8BF16", "v_mfma_f32_16x16x8bf16", nullptr, Type::BF16,
     Type::BF16, 16, 8, 1, 2, false, 2, 0},
    {"V_MFMA_I32_32X32X4I8", "v_mfma_i32_32x32x4i8", "v_mfma_i32_32x32x4_2b_i8",
     Type::I8, Type::I8, 32, 4, 2, 4, false, 4, 4},
    {"V_MFMA_I32_16X16X4I8", "v_mfma_i32_16x16x4i8", "v_mfma_i32_16x16x4_4b_i8",
     Type::I8, Type::I8, 16, 4, 4, 4, false, 4, 4},
    {"V_MFMA_I32_4X4X4I8", "v_mfma_i32_4x4x4i8", "v_mfma_i32_4x4x4_16b_i8",
     Type::I8, Type::I8, 4, 4, 16, 4, false, 4, 4},
    {"V_MFMA_I32_32X32X8I8", "v_mfma_i32_32x32x8i8", nullptr, Type::I8,
     Type::I8, 32, 8, 1, 4, false, 4, 4},
    {"V_MFMA_I32_16X16X16I8", "v_mfma_i32_16x16x16i8", nullptr, Type::I8,
     Type::I8, 16, 16, 1, 4, false, 4, 4},
    {"V_MFMA_I32_32X32X16I8", nullptr, "v_mfma_i32_32x32x16_i8", Type::I8,
     Type::I8, 32, 16, 1, 8, false, 4, 4},
    {"V_MFMA_I32_16X16X32I8", nullptr, "v_mfma_i32_16x16x32_i8", Type::I8,
     Type::I8, 16, 32, 1, 8, false, 4, 4},
#define FLOAT8(U, L, A, B)                                                     \
  {"V_MFMA_F32_16X16X32_" U,                                                   \
   nullptr,                                                                    \
   "v_mfma_f32_16x16x32_" L,                                                   \
   Type::A,                                                                    \
   Type::B,                                                                    \
   16,                                                                         \
   32,                                                                         \
   1,                                                                          \
   8,                                                                          \
   false,                                                                      \
   0,                                                                          \
   16},                                                                        \
      {"V_MFMA_F32_32X32X16_" U,                                               \
       nullptr,                                                                \
       "v_mfma_f32_32x32x16_" L,                                               \
       Type::A,                                                                \
       Type::B,                                                                \
       32,                                                                     \
       16,                                                                     \
       1,                                                                      \
       8,                                                                      \
       false,                                                                  \
       0,                                                                      \
       16},                                                                    \
      {"V_SMFMAC_F32_16X16X64_" U,                                             \
       nullptr,                                                                \
       "v_smfmac_f32_16x16x64_" L,                                             \
       Type::A,                                                                \
       Type::B,                                                                \
       16,                                                                     \
       64,                                                                     \
       1,                                                                      \
       8,                                                                      \
       true,                                                                   \
       0,                                                                      \
       16},                                                                    \
      {"V_SMFMAC_F32_32X32X32_" U,                                             \
       nullptr,                                                                \
       "v_smfmac_f32_32x32x32_" L,                                             \
       Type::A,                                                                \
       Type::B,                                                                \
       32,                                                                     \
       32,                                                                     \
       1,                                                                      \
       8,                                                                      \
       true,                                                                   \
       0,                                                                      \
       16}
    FLOAT8("FP8_FP8", "fp8_fp8", FP8, FP8),
    FLOAT8("FP8_BF8", "fp8_bf8", FP8, BF8),
    FLOAT8("BF8_FP8", "bf8_fp8", BF8, FP8),
    FLOAT8("BF8_BF8", "bf8_bf8", BF8, BF8),
#undef FLOAT8
    {"V_SMFMAC_F32_16X16X32_F16", nullptr, "v_smfmac_f32_16x16x32_f16",
     Type::F16, Type::F16, 16, 32, 1, 4, true, 0, 8},
    {"V_SMFMAC_F32_32X32X16_F16", nullptr, "v_smfmac_f32_32x32x16_f16",
     Type::F16, Type::F16, 32, 16, 1, 4, true, 0, 8},
    {"V_SMFMAC_F32_16X16X32_BF16", nullptr, "v_smfmac_f32_16x16x32_bf16",
     Type::BF16, Type::BF16, 16, 32, 1, 4, true, 0, 8},
    {"V_SMFMAC_F32_32X32X16_BF16", nullptr, "v_smfmac_f32_32x32x16_bf16",
     Type::BF16, Type::BF16, 32, 16, 1, 4, true, 0, 8},
    {"V_SMFMAC_I32_16X16X64_I8", nullptr, "v_smfmac_i32_16x16x64_i8", Type::I8,
     Type::I8, 16, 64, 1, 8, true, 0, 4},
    {"V_SMFMAC_I32_32X32X32_I8", nullptr, "v_smfmac_i32_32x32x32_i8", Type::I8,
     Type::I8, 32, 32, 1, 8, true, 0, 4},
};

//===----------------------------------------------------------------------===//
// Places of elements
//===----------------------------------------------------------------------===//

/// A bit field of a lane's registers.
struct Place {
  unsigned reg, lane, shift;
};

/// A[i][k] of a block, or B[k][i], with that many elements in a lane.
Place placeOfSource(Type type, unsigned n, unsigned blocks, unsigned perLane,
                    unsigned i, unsigned k, unsigned block) {
  if (type == Type::F64)
    return {0, (blocks == 1 ? n * k : 4 * block + 16 * k) + i, 0};
  unsigned bits = bitsOf(type), each = 32 / bits;
  if (blocks > 1)
    return {k / each, n * block + i, bits * (k % each)};
  return {(k / each) % (perLane / each ? perLane / each : 1),
          n * (k / perLane) + i, bits * (k % each)};
}

/// C[i][j] or D[i][j]; the low register of a pair for f64.
Place placeOfResult(Type type, unsigned n, unsigned i, unsigned j,
                    unsigned block) {
  if (type == Type::F64)
    return n == 16 ? Place{2 * (i / 4), 16 * (i % 4) + j, 0}
                   : Place{0, 16 * (i % 4) + 4 * block + j, 0};
  if (n == 32)
    return {16 * block + 4 * (i / 8) + i % 4, (32 * (i / 4)) % 64 + j, 0};
  if (n == 16)
    return {4 * block + i % 4, 16 * (i / 4) + j, 0};
  return {i, 4 * block + j, 0};
}

/// The wavefront's inputs: registers of each lane.
struct Input {
  std::array<std::array<uint32_t, 4>, 64> a{}, b{};
  std::array<std::array<uint32_t, 32>, 64> c{};
  std::array<uint32_t, 64> index{};
};
using Output = std::array<std::array<uint32_t, 32>, 64>;

template <typename Registers>
uint64_t readBits(const Registers &r, Place p, unsigned bits) {
  uint64_t value = r[p.lane][p.reg];
  if (bits == 64)
    return value | uint64_t(r[p.lane][p.reg + 1]) << 32;
  return (value >> p.shift) & ((uint64_t(1) << bits) - 1);
}
template <typename Registers>
void writeBits(Registers &r, Place p, unsigned bits, uint64_t value) {
  if (bits == 64) {
    r[p.lane][p.reg] = uint32_t(value);
    r[p.lane][p.reg + 1] = uint32_t(value >> 32);
    return;
  }
  uint64_t mask = ((uint64_t(1) << bits) - 1) << p.shift;
  uint32_t &word = r[p.lane][p.reg];
  word = uint32_t((word & ~mask) | ((value << p.shift) & mask));
}

/// The source lane of each lane of B under blgp, as AMD's calculator says.
unsigned laneUnderPattern(unsigned blgp, unsigned lane) {
  switch (blgp) {
  case 0:
    return lane;
  case 1: // lanes 0-31 also in 32-63
    return lane & 31;
  case 2: // lanes 32-63 also in 0-31
    return (lane & 31) | 32;
  case 3: // rotated down by 16
    return (lane + 16) & 63;
  default: // one group of 16 everywhere
    return (lane & 15) | ((blgp - 4) << 4);
  }
}

/// How one result reads its operands: raw elements of A and B in the order of
/// k (the kept ones for sparse A), and C.
struct Terms {
  std::vector<uint64_t> a, b;
  uint64_t c = 0;
};

struct Modifiers {
  unsigned cbsz = 0, abid = 0, blgp = 0;
};

Terms termsOf(const Matrix &m, const Input &in, const Modifiers &mod,
              unsigned block, unsigned i, unsigned j) {
  Terms t;
  unsigned blockA = block;
  if (!m.sparse && mod.cbsz)
    blockA = block / (1u << mod.cbsz) * (1u << mod.cbsz) + mod.abid;
  auto b = [&](unsigned k) {
    Place p = placeOfSource(m.b, m.n, m.blocks,
                            m.sparse ? 2 * m.perLane : m.perLane, j, k, block);
    if (m.b != Type::F64)
      p.lane = laneUnderPattern(mod.blgp, p.lane);
    return readBits(in.b, p, bitsOf(m.b));
  };
  for (unsigned s = 0; s < m.depth(); ++s) {
    t.a.push_back(readBits(
        in.a, placeOfSource(m.a, m.n, m.blocks, m.perLane, i, s, blockA),
        bitsOf(m.a)));
    if (!m.sparse) {
      t.b.push_back(b(s));
      continue;
    }
    // Four of k have four bits of the register: two places.
    unsigned quad = s / 2, quadsOfLane = m.perLane / 2;
    uint32_t word = in.index[m.n * (quad / quadsOfLane) + i];
    unsigned set = mod.cbsz ? 0 : mod.abid;
    unsigned bit = set * (bitsOf(m.a) == 16 ? 8 : 16) +
                   4 * (quad % quadsOfLane) + 2 * (s % 2);
    t.b.push_back(b(4 * quad + ((word >> bit) & 3)));
  }
  t.c = readBits(in.c, placeOfResult(m.a, m.n, i, j, block),
                 m.a == Type::F64 ? 64 : 32);
  return t;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Where the operands are.
enum class Form {
  InPlace,     ///< VGPRs, D is C
  Accumulate,  ///< A, C and D (which is C) in AGPRs, B in VGPRs
  ConstantC,   ///< B in AGPRs, the rest in VGPRs, C a constant
  Accumulator, ///< all in AGPRs, D apart from C
};

std::string registers(char file, unsigned first, unsigned count) {
  std::string f(1, file);
  if (count == 1)
    return f + std::to_string(first);
  return f + "[" + std::to_string(first) + ":" +
         std::to_string(first + count - 1) + "]";
}

struct Variant {
  const Matrix *matrix;
  Form form = Form::InPlace;
  Modifiers modifiers;
};

/// The assembler line, and where D is.
std::string lineOf(const std::string &target, const Variant &variant,
                   char &file, unsigned &first) {
  const Matrix &m = *variant.matrix;
  bool accumulate =
      variant.form == Form::Accumulate || variant.form == Form::Accumulator;
  char fileA = accumulate ? 'a' : 'v';
  char fileB =
      variant.form == Form::ConstantC || variant.form == Form::Accumulator
          ? 'a'
          : 'v';
  file = accumulate ? 'a' : 'v';
  first = m.sparse || variant.form == Form::InPlace ||
                  variant.form == Form::Accumulate
              ? 0
              : 64;
  unsigned nd = m.registersD();
  std::string c = registers(file, 0, nd);
  if (m.sparse)
    c = "v40";
  else if (variant.form == Form::ConstantC)
    c = m.a == Type::I8 ? "-7" : "-4.0";
  std::string text = std::string(m.mnemonic(target)) + " " +
                     registers(file, first, nd) + ", " +
                     registers(fileA, 32, m.registersA()) + ", " +
                     registers(fileB, 36, m.registersB()) + ", " + c;
  const Modifiers &mod = variant.modifiers;
  if (mod.cbsz)
    text += " cbsz:" + std::to_string(mod.cbsz);
  if (mod.abid)
    text += " abid:" + std::to_string(mod.abid);
  if (mod.blgp && m.a == Type::F64 && target == "gfx942")
    text += " neg:[" + std::to_string(mod.blgp & 1) + "," +
            std::to_string((mod.blgp >> 1) & 1) + "," +
            std::to_string(mod.blgp >> 2) + "]";
  else if (mod.blgp)
    text += " blgp:" + std::to_string(mod.blgp);
  return text;
}

/// A module with a kernel f0, f1, ... for each run. A kernel reads, for each
/// lane, four registers of A, four of B, 32 of C and one of indices, and stores
/// the 32 registers from D's first one.
std::string moduleOf(const std::string &target,
                     const std::vector<Variant> &runs) {
  std::vector<AssembledKernel> kernels;
  for (size_t r = 0; r < runs.size(); ++r) {
    char file;
    unsigned first;
    std::string line = lineOf(target, runs[r], file, first);
    std::string text = R"(
  s_mov_b32 s20, s2
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_load_dwordx2 s[16:17], s[0:1], 0x10
  v_lshl_add_u32 v120, s20, 6, v0
  v_mul_u32_u24 v121, 176, v120
  v_lshlrev_b32 v122, 7, v120
  s_waitcnt lgkmcnt(0)
  global_load_dwordx4 v[32:35], v121, s[4:5]
  global_load_dwordx4 v[36:39], v121, s[4:5] offset:16
  global_load_dword v40, v121, s[4:5] offset:160
)";
    for (unsigned i = 0; i < 32; i += 4)
      text += "  global_load_dwordx4 " + registers('v', i, 4) +
              ", v121, s[4:5] offset:" + std::to_string(32 + 4 * i) + "\n";
    text += "  s_waitcnt vmcnt(0)\n";
    for (unsigned i = 0; i < 40; ++i)
      text += "  v_accvgpr_write_b32 a" + std::to_string(i) + ", v" +
              std::to_string(i) + "\n";
    text +=
        "  s_mov_b64 exec, s[16:17]\n  " + line + "\n  s_mov_b64 exec, -1\n";
    unsigned nd = runs[r].matrix->registersD();
    for (unsigned i = 0; i < nd; ++i) {
      std::string to = std::to_string(64 + i);
      std::string from = std::to_string(first + i);
      if (file == 'a')
        text += "  v_accvgpr_read_b32 v" + to + ", a" + from + "\n";
      else if (first != 64)
        text += "  v_mov_b32 v" + to + ", v" + from + "\n";
    }
    for (unsigned i = 0; i < nd; ++i)
      text += "  global_store_dword v122, v" + std::to_string(64 + i) +
              ", s[6:7] offset:" + std::to_string(4 * i) + "\n";
    AssembledKernel kernel;
    kernel.name = "f" + std::to_string(r);
    kernel.body = text + "  s_endpgm\n";
    kernel.vgprs = 256;
    kernel.accumOffset = 128;
    kernels.push_back(std::move(kernel));
  }
  return assembleModule(target, kernels);
}

class MatrixTest : public OnTarget {
protected:
  std::shared_ptr<const CodeObject> module(const std::vector<Variant> &runs) {
    return build(moduleOf(target(), runs), "assembler", target());
  }
  llvm::Expected<std::vector<Output>>
  tryExecute(const CodeObject &object, unsigned kernel,
             const std::vector<Input> &inputs, uint64_t exec = ~uint64_t(0)) {
    std::vector<uint32_t> in;
    in.reserve(inputs.size() * 64 * 44);
    for (const Input &wave : inputs)
      for (unsigned l = 0; l < 64; ++l) {
        in.insert(in.end(), wave.a[l].begin(), wave.a[l].end());
        in.insert(in.end(), wave.b[l].begin(), wave.b[l].end());
        in.insert(in.end(), wave.c[l].begin(), wave.c[l].end());
        in.push_back(wave.index[l]);
        in.resize(in.size() + 3);
      }
    Device device;
    uint64_t source = device.upload(in);
    uint64_t target =
        device.upload(std::vector<uint32_t>(inputs.size() * 64 * 32));
    auto counters = device.tryRun(
        object, "f" + std::to_string(kernel), unsigned(inputs.size()), 64,
        Arguments().add(source).add(target).add(exec));
    if (!counters)
      return counters.takeError();
    EXPECT_EQ(counters->MFMA, inputs.size());
    auto words = device.download<uint32_t>(target, inputs.size() * 64 * 32);
    std::vector<Output> outputs(inputs.size());
    for (size_t w = 0; w < inputs.size(); ++w)
      std::memcpy(outputs[w].data(), &words[w * 64 * 32], 64 * 32 * 4);
    return outputs;
  }
  std::vector<Output> execute(const CodeObject &object, unsigned kernel,
                              const std::vector<Input> &inputs,
                              uint64_t exec = ~uint64_t(0)) {
    auto outputs = tryExecute(object, kernel, inputs, exec);
    EXPECT_TRUE(bool(outputs)) << messageOf(outputs);
    return outputs ? *outputs : std::vector<Output>(inputs.size());
  }
};

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// The raw bits of a small integer. Positive and negative up to 8 are exact in
/// every type.
uint64_t encodeInteger(Type type, int value) {
  unsigned magnitude = unsigned(std::abs(value));
  int e = 0;
  while ((2u << e) <= magnitude)
    ++e;
  auto pack = [&](unsigned exponentBits, unsigned fraction, int bias) {
    uint64_t sign = value < 0;
    if (!value)
      return uint64_t(0);
    return sign << (exponentBits + fraction) | uint64_t(e + bias) << fraction |
           ((uint64_t(magnitude) << fraction >> e) - (uint64_t(1) << fraction));
  };
  switch (type) {
  case Type::F64:
    return bits(double(value));
  case Type::F32:
  case Type::XF32:
    return bits(float(value));
  case Type::F16:
    return pack(5, 10, 15);
  case Type::BF16:
    return pack(8, 7, 127);
  case Type::FP8:
    return pack(4, 3, 8);
  case Type::BF8:
    return pack(5, 2, 16);
  case Type::I8:
    return uint8_t(int8_t(value));
  }
  return 0;
}

/// A wavefront of integers; the values are in the matrices too.
struct IntegerInput {
  Input in;
  /// [block][i][k], with the zeros that sparse A leaves out; [block][k][j].
  std::vector<int> a, b;
  std::vector<int64_t> c;
};

IntegerInput integerInput(const Matrix &m, unsigned abid,
                          std::mt19937 &random) {
  IntegerInput r;
  // bf8 has two fraction bits: 1 to 4, 6, 8 only.
  const int choices[] = {-8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8};
  auto choose = [&] {
    if (m.a == Type::I8)
      return int(random() % 256) - 128;
    return choices[random() % std::size(choices)];
  };
  r.a.resize(m.blocks * m.n * m.k);
  r.b.resize(m.blocks * m.n * m.k);
  r.c.resize(m.blocks * m.n * m.n);
  for (unsigned l = 0; l < 64; ++l)
    r.in.index[l] = random();
  for (unsigned block = 0; block < m.blocks; ++block)
    for (unsigned n = 0; n < m.n; ++n)
      for (unsigned k = 0; k < m.k; ++k) {
        int x = choose();
        r.b[(block * m.k + k) * m.n + n] = x;
        writeBits(r.in.b,
                  placeOfSource(m.b, m.n, m.blocks,
                                m.sparse ? 2 * m.perLane : m.perLane, n, k,
                                block),
                  bitsOf(m.b), encodeInteger(m.b, x));
        if (!m.sparse) {
          x = choose();
          r.a[(block * m.n + n) * m.k + k] = x;
          writeBits(r.in.a,
                    placeOfSource(m.a, m.n, m.blocks, m.perLane, n, k, block),
                    bitsOf(m.a), encodeInteger(m.a, x));
        }
      }
  if (m.sparse) // two different places of every four
    for (unsigned i = 0; i < m.n; ++i)
      for (unsigned quad = 0; quad < m.k / 4; ++quad) {
        unsigned first = random() % 3;
        unsigned second = first + 1 + random() % (3 - first);
        unsigned quadsOfLane = m.perLane / 2;
        unsigned at =
            abid * (bitsOf(m.a) == 16 ? 8 : 16) + 4 * (quad % quadsOfLane);
        uint32_t &word = r.in.index[m.n * (quad / quadsOfLane) + i];
        word = (word & ~(15u << at)) | (first | second << 2) << at;
        for (unsigned s = 0; s < 2; ++s) {
          int x = choose();
          r.a[i * m.k + 4 * quad + (s ? second : first)] = x;
          writeBits(r.in.a,
                    placeOfSource(m.a, m.n, 1, m.perLane, i, 2 * quad + s, 0),
                    bitsOf(m.a), encodeInteger(m.a, x));
        }
      }
  for (unsigned block = 0; block < m.blocks; ++block)
    for (unsigned i = 0; i < m.n; ++i)
      for (unsigned j = 0; j < m.n; ++j) {
        int64_t x = m.a == Type::I8 ? int64_t(int32_t(random()))
                                    : int64_t(random() % 4001) - 2000;
        r.c[(block * m.n + i) * m.n + j] = x;
        uint64_t raw = m.a == Type::I8    ? uint32_t(x)
                       : m.a == Type::F64 ? bits(double(x))
                                          : bits(float(x));
        writeBits(r.in.c, placeOfResult(m.a, m.n, i, j, block),
                  m.a == Type::F64 ? 64 : 32, raw);
      }
  return r;
}

/// Checks D against the plain product.
void checkProduct(const Matrix &m, const IntegerInput &in, const Output &out,
                  bool constantC, const std::string &what) {
  for (unsigned block = 0; block < m.blocks; ++block)
    for (unsigned i = 0; i < m.n; ++i)
      for (unsigned j = 0; j < m.n; ++j) {
        int64_t sum = constantC ? (m.a == Type::I8 ? -7 : -4)
                                : in.c[(block * m.n + i) * m.n + j];
        for (unsigned k = 0; k < m.k; ++k)
          sum += int64_t(in.a[(block * m.n + i) * m.k + k]) *
                 in.b[(block * m.k + k) * m.n + j];
        uint64_t want = m.a == Type::I8    ? uint32_t(sum)
                        : m.a == Type::F64 ? bits(double(sum))
                                           : bits(float(sum));
        uint64_t got = readBits(out, placeOfResult(m.a, m.n, i, j, block),
                                m.a == Type::F64 ? 64 : 32);
        ASSERT_EQ(got, want)
            << what << ", block " << block << ", D[" << i << "][" << j << "]";
      }
}

TEST_P(MatrixTest, EveryShapeMultipliesMatrices) {
  std::vector<Variant> runs;
  for (const Matrix &m : matrices)
    if (m.mnemonic(target()))
      for (Form form : {Form::InPlace, Form::Accumulate, Form::ConstantC,
                        Form::Accumulator}) {
        if (m.sparse && form == Form::ConstantC)
          continue; // C is always D
        runs.push_back({&m, form, {}});
      }
  auto object = module(runs);
  ASSERT_TRUE(object);
  std::mt19937 random(20);
  for (unsigned r = 0; r < runs.size(); ++r) {
    const Matrix &m = *runs[r].matrix;
    char file;
    unsigned first;
    std::string line = lineOf(target(), runs[r], file, first);
    std::vector<IntegerInput> in = {integerInput(m, 0, random),
                                    integerInput(m, 0, random)};
    // Lanes that are off take part all the same.
    for (uint64_t exec : {~uint64_t(0), uint64_t(0x00ff137f80000001)}) {
      auto out = execute(*object, r, {in[0].in, in[1].in}, exec);
      for (unsigned w = 0; w < 2; ++w)
        checkProduct(m, in[w], out[w], runs[r].form == Form::ConstantC, line);
      if (HasFatalFailure())
        return;
    }
  }
}

/// A and B of matrix instructions in AGPRs: another emulator reads VGPRs of
/// the same numbers.
TEST_P(MatrixTest, SourcesInAccumulatorRegisters) {
  const Matrix &m = matrices[12];
  ASSERT_STREQ(m.name, "V_MFMA_F32_32X32X8F16");
  std::string text = moduleOf(target(), {{&m, Form::Accumulator, {}}});
  // Destroy the VGPRs that the operands were loaded into.
  size_t at = text.find("  s_mov_b64 exec, s[16:17]");
  for (unsigned i = 0; i < 40; ++i)
    text.insert(at, "  v_mov_b32 v" + std::to_string(i) + ", -1\n");
  auto object = build(text, "assembler", target());
  ASSERT_TRUE(object);
  std::mt19937 random(4);
  IntegerInput in = integerInput(m, 0, random);
  checkProduct(m, in, execute(*object, 0, {in.in})[0], false, "AGPRs");
}

/// C in registers that D partly covers: read before any is written. The
/// assembler allows this for up to four registers.
TEST_P(MatrixTest, ResultOverlapsC) {
  const Matrix &m = matrices[13];
  ASSERT_STREQ(m.name, "V_MFMA_F32_16X16X16F16");
  std::string text = moduleOf(target(), {{&m, Form::InPlace, {}}});
  auto replace = [&](const std::string &from, const std::string &to) {
    size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  replace(" v[0:3], v[32:33]", " v[2:5], v[32:33]");
  for (unsigned i = 0; i < 4; ++i) {
    std::string to = "  v_mov_b32 v" + std::to_string(64 + i) + ", v";
    replace(to + std::to_string(i) + "\n", to + std::to_string(i + 2) + "\n");
  }
  auto object = build(text, "assembler", target());
  ASSERT_TRUE(object);
  std::mt19937 random(5);
  IntegerInput in = integerInput(m, 0, random);
  checkProduct(m, in, execute(*object, 0, {in.in})[0], false, "overlap");
}

/// cbsz, abid and blgp, wherever AMD's calculator lists them as supported.
TEST_P(MatrixTest, BroadcastAndLanePatterns) {
  std::vector<Variant> runs;
  for (const Matrix &m : matrices) {
    if (!m.mnemonic(target()) || m.sparse)
      continue;
    for (unsigned cbsz = 0; m.hasBroadcast() && (1u << cbsz) <= m.blocks;
         ++cbsz)
      for (unsigned abid = 0; abid < (1u << cbsz); ++abid)
        runs.push_back(
            {&m,
             abid % 2 ? Form::Accumulate : Form::InPlace,
             {cbsz, abid, m.hasPattern(target()) ? (abid + cbsz) % 8 : 0}});
    for (unsigned blgp = 1; m.hasPattern(target()) && blgp < 8; ++blgp)
      runs.push_back({&m, Form::Accumulate, {0, 0, blgp}});
  }
  ASSERT_GT(runs.size(), 100u);
  auto object = module(runs);
  ASSERT_TRUE(object);
  std::mt19937 random(21);
  for (unsigned r = 0; r < runs.size(); ++r) {
    const Matrix &m = *runs[r].matrix;
    char file;
    unsigned first;
    std::string line = lineOf(target(), runs[r], file, first);
    IntegerInput in = integerInput(m, 0, random);
    Output out = execute(*object, r, {in.in})[0];
    // What the multiplier sees under the modifiers.
    IntegerInput seen = in;
    for (unsigned block = 0; block < m.blocks; ++block)
      for (unsigned i = 0; i < m.n; ++i)
        for (unsigned j = 0; j < m.n; ++j) {
          Terms t = termsOf(m, in.in, runs[r].modifiers, block, i, j);
          for (unsigned k = 0; k < m.k; ++k)
            for (int x = -128; x < 128; ++x) {
              if (encodeInteger(m.a, x) == t.a[k])
                seen.a[(block * m.n + i) * m.k + k] = x;
              if (encodeInteger(m.b, x) == t.b[k])
                seen.b[(block * m.k + k) * m.n + j] = x;
            }
        }
    checkProduct(m, seen, out, false, line);
    if (HasFatalFailure())
      return;
  }
}

/// blgp of f64 negates A, B and C on gfx942; gfx90a does not define it.
TEST_P(MatrixTest, NegationOfDoubles) {
  for (unsigned which : {0u, 1u}) {
    const Matrix &m = matrices[which];
    std::vector<Variant> runs;
    for (unsigned blgp = 1; blgp < 8; ++blgp)
      runs.push_back({&m, Form::InPlace, {0, 0, blgp}});
    auto object = module(runs);
    ASSERT_TRUE(object);
    std::mt19937 random(8);
    IntegerInput in = integerInput(m, 0, random);
    for (unsigned blgp = 1; blgp < 8; ++blgp) {
      if (target() == "gfx90a") {
        auto out = tryExecute(*object, blgp - 1, {in.in});
        EXPECT_NE(messageOf(out).find("blgp is not defined"),
                  std::string::npos);
        continue;
      }
      IntegerInput seen = in;
      for (int &x : seen.a)
        x = blgp & 1 ? -x : x;
      for (int &x : seen.b)
        x = blgp & 2 ? -x : x;
      for (int64_t &x : seen.c)
        x = blgp & 4 ? -x : x;
      // The sign of a zero sum depends on the signs: avoid it.
      Output out = execute(*object, blgp - 1, {in.in})[0];
      for (auto &lane : out)
        for (unsigned r = 0; r + 1 < m.registersD(); r += 2)
          if (lane[r] == 0 && lane[r + 1] == 0x80000000u)
            lane[r + 1] = 0;
      checkProduct(m, seen, out, false, m.name);
    }
  }
}

/// Modifiers that the chip does not define are errors, not ignored.
TEST_P(MatrixTest, UndefinedModifiersAreErrors) {
  std::vector<Variant> variants;
  std::vector<const char *> messages;
  auto expectError = [&](const Matrix &m, Modifiers modifiers,
                         const char *message) {
    variants.push_back({&m, Form::InPlace, modifiers});
    messages.push_back(message);
  };
  for (const Matrix &m : matrices) {
    if (!m.mnemonic(target()))
      continue;
    if (m.sparse) {
      expectError(m, {0, bitsOf(m.a) == 16 ? 4u : 2u, 0}, "is not defined");
      continue;
    }
    if (m.a == Type::F64)
      continue; // has no cbsz and abid in assembly
    unsigned largest = m.hasBroadcast() ? unsigned(std::log2(m.blocks)) : 0;
    expectError(m, {largest + 1, 0, 0}, "is not defined");
    if (largest < 4)
      expectError(m, {largest, 1u << largest, 0}, "is not defined");
    if (!m.hasPattern(target()))
      expectError(m, {0, 0, 3}, "blgp is not defined");
  }
  auto object = module(variants);
  ASSERT_TRUE(object);
  for (unsigned r = 0; r < variants.size(); ++r) {
    auto out = tryExecute(*object, r, {Input()});
    std::string message = messageOf(out);
    EXPECT_NE(message.find(messages[r]), std::string::npos)
        << variants[r].matrix->name << ": " << message;
  }
}

/// Sparse A: a dense product with the zeros put back, for each set of indices;
/// cbsz other than 0 always takes the first.
TEST_P(MatrixTest, SparseProducts) {
  std::vector<Variant> runs;
  for (const Matrix &m : matrices)
    if (m.sparse && m.mnemonic(target())) {
      unsigned sets = bitsOf(m.a) == 16 ? 4 : 2;
      for (unsigned abid = 0; abid < sets; ++abid)
        runs.push_back({&m, Form::InPlace, {0, abid, 0}});
      runs.push_back({&m, Form::Accumulator, {1, sets - 1, 0}});
    }
  if (target() == "gfx90a") {
    ASSERT_TRUE(runs.empty());
    return;
  }
  ASSERT_EQ(runs.size(), 4u * 5 + 10u * 3);
  auto object = module(runs);
  ASSERT_TRUE(object);
  std::mt19937 random(9);
  for (unsigned r = 0; r < runs.size(); ++r) {
    const Matrix &m = *runs[r].matrix;
    char file;
    unsigned first;
    unsigned set = runs[r].modifiers.cbsz ? 0 : runs[r].modifiers.abid;
    IntegerInput in = integerInput(m, set, random);
    checkProduct(m, in, execute(*object, r, {in.in})[0], false,
                 lineOf(target(), runs[r], file, first));
    if (HasFatalFailure())
      return;
  }
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

/// Fixed-point numbers of 1024 bits, the last worth 2^-420.
constexpr unsigned width = 1024;
constexpr int point = 420;

APInt fixed(int64_t mantissa, int exponent) {
  return APInt(width, uint64_t(mantissa), /*isSigned=*/true)
         << unsigned(point + exponent);
}

/// A decoded element or accumulator.
struct Number {
  enum { Finite, Infinite, NaN } kind = Finite;
  /// The value is mantissa * 2^(exponent - fraction); zero has exponent -126
  /// whatever the type.
  int64_t mantissa = 0;
  int exponent = -126;
  int fraction = 0;
  bool negative = false;
  bool subnormal = false;
  float approximate() const {
    float sign = negative ? -1.0f : 1.0f;
    if (kind == NaN)
      return std::nanf("");
    if (kind == Infinite)
      return sign * INFINITY;
    return mantissa ? float(std::ldexp(double(mantissa), exponent - fraction))
                    : sign * 0.0f;
  }
  APInt value() const { return fixed(mantissa, exponent - fraction); }
};

Number decode(Type type, uint64_t raw) {
  unsigned exponentBits = 8, fraction = 23;
  int bias = 127;
  bool fnuz = false;
  if (type == Type::XF32)
    raw &= 0xffffe000u;
  if (type == Type::F16)
    exponentBits = 5, fraction = 10, bias = 15;
  else if (type == Type::BF16)
    fraction = 7;
  else if (type == Type::FP8)
    exponentBits = 4, fraction = 3, bias = 8, fnuz = true;
  else if (type == Type::BF8)
    exponentBits = 5, fraction = 2, bias = 16, fnuz = true;
  Number n;
  n.fraction = int(fraction);
  n.negative = (raw >> (exponentBits + fraction)) & 1;
  uint64_t field = (raw >> fraction) & ((1u << exponentBits) - 1);
  uint64_t rest = raw & ((uint64_t(1) << fraction) - 1);
  if (fnuz && n.negative && !field && !rest) {
    n.kind = Number::NaN;
    return n;
  }
  if (!fnuz && field == (1u << exponentBits) - 1) {
    n.kind = rest ? Number::NaN : Number::Infinite;
    return n;
  }
  if (!field && !rest)
    return n;
  n.subnormal = !field;
  n.exponent = field ? int(field) - bias : 1 - bias;
  n.mantissa = int64_t(field ? rest | uint64_t(1) << fraction : rest);
  if (n.negative)
    n.mantissa = -n.mantissa;
  return n;
}

/// Rounds to f32, nearest even, subnormals and overflow included.
float roundToFloat(const APInt &value) {
  bool negative = value.isNegative();
  APInt m = value.abs();
  if (m.isZero())
    return 0.0f;
  int top = int(m.getActiveBits()) - 1;
  int lowest = std::max(top - 23, point - 149);
  APInt quotient = m.lshr(unsigned(lowest));
  APInt rest = m - quotient.shl(unsigned(lowest));
  APInt half = APInt::getOneBitSet(width, unsigned(lowest - 1));
  if (rest.ugt(half) || (rest == half && quotient[0]))
    ++quotient;
  double result = std::ldexp(double(quotient.getZExtValue()), lowest - point);
  return float(negative ? -result : result);
}

/// Multiples of 2^exponent not above x, and those towards zero.
APInt cutDown(const APInt &x, int exponent) {
  unsigned shift = unsigned(point + exponent);
  return x.ashr(shift).shl(shift);
}
APInt cutToZero(const APInt &x, int exponent) {
  return x.isNegative() ? -cutDown(-x, exponent) : cutDown(x, exponent);
}

float flush(float x) { return std::fabs(x) < 0x1p-126f ? x * 0.0f : x; }

/// Sum of two f32 values, rounded once.
float addFloats(float x, float y) {
  if (!std::isfinite(x) || !std::isfinite(y) || (x == 0 && y == 0))
    return x + y;
  return roundToFloat(decode(Type::F32, bits(x)).value() +
                      decode(Type::F32, bits(y)).value());
}

float pairwiseReference(const std::vector<Number> &a,
                        const std::vector<Number> &b, Number c,
                        unsigned group) {
  auto flushed = [](const Number &n) { return n.subnormal ? Number() : n; };
  float sum = flush(c.approximate());
  if (sum == 0)
    sum = 0.0f;
  for (size_t k = 0; k < a.size(); k += group) {
    std::vector<float> level;
    for (size_t g = k; g < k + group; ++g) {
      Number x = flushed(a[g]), y = flushed(b[g]);
      float product;
      if (x.kind || y.kind)
        product = x.approximate() * y.approximate();
      else if (x.mantissa && y.mantissa) {
        product = roundToFloat(
            fixed(x.mantissa * y.mantissa,
                  x.exponent - x.fraction + y.exponent - y.fraction));
        if (product == 0 && (x.negative != y.negative))
          product = -0.0f;
      } else
        product = 0.0f;
      level.push_back(flush(product));
    }
    while (level.size() > 1) {
      std::vector<float> next;
      for (size_t i = 0; i < level.size(); i += 2)
        next.push_back(flush(addFloats(level[i], level[i + 1])));
      level = next;
    }
    sum = flush(addFloats(sum, level[0]));
  }
  return sum;
}

/// Sum of the products whose number has the given parity (all for step 1), cut
/// to 24 bits below the largest exponent, which is returned too.
APInt sumReference(const std::vector<Number> &a, const std::vector<Number> &b,
                   size_t first, size_t step, int &largest) {
  largest = -100000;
  for (size_t i = first; i < a.size(); i += step)
    largest = std::max(largest, a[i].exponent + b[i].exponent);
  APInt sum(width, 0);
  for (size_t i = first; i < a.size(); i += step)
    sum += cutToZero(
        fixed(a[i].mantissa * b[i].mantissa,
              a[i].exponent - a[i].fraction + b[i].exponent - b[i].fraction),
        largest - 24);
  return sum;
}

float fusedReference(const std::vector<Number> &allA,
                     const std::vector<Number> &allB, float c, unsigned group,
                     bool isFloat8) {
  for (size_t k = 0; k < allA.size(); k += group) {
    std::vector<Number> a(allA.begin() + k, allA.begin() + k + group);
    std::vector<Number> b(allB.begin() + k, allB.begin() + k + group);
    // NaN and infinities as in any order of plain additions.
    double plain = c;
    bool special = !std::isfinite(c), up = false, down = false;
    for (unsigned g = 0; g < group; ++g) {
      double product = double(a[g].approximate()) * b[g].approximate();
      special |= a[g].kind || b[g].kind;
      plain += product;
      up |= product >= 0x1p128;
      down |= product <= -0x1p128;
    }
    if (special) {
      c = float(plain);
      continue;
    }
    if (up || down) {
      c = up && down ? std::nanf("") : up ? INFINITY : -INFINITY;
      continue;
    }
    int e;
    APInt sum(width, 0);
    if (isFloat8) {
      int e0, e1;
      APInt s0 = sumReference(a, b, 0, 2, e0);
      APInt s1 = sumReference(a, b, 1, 2, e1);
      e = std::max(e0, e1);
      sum = cutDown(s0, e - 24) + cutDown(s1, e - 24);
    } else {
      sum = sumReference(a, b, 0, 1, e);
    }
    Number n = decode(Type::F32, bits(c));
    int m = std::max(e, n.exponent);
    APInt addend = cutDown(n.value(), m - 24);
    if (isFloat8 && n.exponent < m - 25)
      addend = APInt(width, 0);
    c = roundToFloat(cutDown(sum, m - 31) + addend);
  }
  return c;
}

/// The raw bits that a chip leaves for a result.
uint64_t reference(const std::string &target, const Matrix &m, const Terms &t) {
  if (m.a == Type::F64) {
    auto of = [](uint64_t raw) {
      double d;
      std::memcpy(&d, &raw, 8);
      return d;
    };
    double sum = of(t.c);
    for (size_t k = 0; k < t.a.size(); ++k)
      sum = std::fma(of(t.a[k]), of(t.b[k]), sum);
    return bits(sum);
  }
  auto floatOf = [](uint64_t raw) {
    uint32_t b = uint32_t(raw);
    float f;
    std::memcpy(&f, &b, 4);
    return f;
  };
  if (m.a == Type::F32) {
    float sum = floatOf(t.c);
    for (size_t k = 0; k < t.a.size(); ++k) {
      Number x = decode(Type::F32, t.a[k]), y = decode(Type::F32, t.b[k]),
             z = decode(Type::F32, bits(sum));
      if (x.kind || y.kind || z.kind) {
        sum = std::fmaf(floatOf(t.a[k]), floatOf(t.b[k]), sum);
        continue;
      }
      APInt exact =
          fixed(x.mantissa * y.mantissa, x.exponent + y.exponent - 46) +
          z.value();
      sum = exact.isZero() ? std::fmaf(floatOf(t.a[k]), floatOf(t.b[k]), sum)
                           : roundToFloat(exact);
      if (sum == 0 && exact.isNegative())
        sum = -0.0f;
    }
    return bits(sum);
  }
  std::vector<Number> a, b;
  for (size_t k = 0; k < t.a.size(); ++k) {
    a.push_back(decode(m.a, t.a[k]));
    b.push_back(decode(m.b, t.b[k]));
  }
  if (target == "gfx90a")
    return bits(pairwiseReference(a, b, decode(Type::F32, t.c), m.group90a));
  return bits(fusedReference(a, b, floatOf(t.c), m.group942, bitsOf(m.a) == 8));
}

/// Kinds of operands. Each draws other paths of an implementation.
struct Flavour {
  const char *what;
  /// Exponents of A and B lie within this of the centre.
  int spread;
  /// Of 256: any bits, specials, zeros.
  unsigned any, special, zero;
  enum { Near, Wide, Any, Cancel, Zero } c;
  int centre = 0;
};
const Flavour flavours[] = {
    {"of order one", 2, 0, 0, 8, Flavour::Near},
    {"of order one, C of any size", 2, 0, 0, 0, Flavour::Wide},
    {"cancellation", 1, 0, 0, 0, Flavour::Cancel},
    {"spread exponents, cancellation", 7, 0, 0, 0, Flavour::Cancel},
    {"spread exponents", 14, 0, 0, 20, Flavour::Wide},
    {"wide exponents", 60, 0, 0, 20, Flavour::Wide},
    {"few specials", 3, 0, 2, 64, Flavour::Any},
    {"any bits", 3, 200, 6, 10, Flavour::Any},
    {"zeros", 2, 0, 0, 230, Flavour::Zero},
    {"tiny products and zeros", 6, 0, 0, 150, Flavour::Zero, -51},
    {"tiny products", 9, 0, 0, 60, Flavour::Wide, -50},
    {"tiny products, cancellation", 3, 0, 0, 10, Flavour::Cancel, -50},
    {"one in 256 special", 2, 0, 1, 30, Flavour::Near},
    {"huge products", 4, 0, 0, 30, Flavour::Near, 62},
    {"huge products, cancellation", 2, 0, 0, 0, Flavour::Cancel, 61},
};

uint64_t randomElement(Type type, const Flavour &f, std::mt19937_64 &random) {
  uint64_t r = random();
  unsigned die = random() % 256;
  unsigned exponentBits = 8, fraction = 23;
  int bias = 127;
  switch (type) {
  case Type::F64:
    exponentBits = 11, fraction = 52, bias = 1023;
    break;
  case Type::F16:
    exponentBits = 5, fraction = 10, bias = 15;
    break;
  case Type::BF16:
    fraction = 7;
    break;
  case Type::FP8:
    exponentBits = 4, fraction = 3, bias = 8;
    break;
  case Type::BF8:
    exponentBits = 5, fraction = 2, bias = 16;
    break;
  default:
    break;
  }
  unsigned total = 1 + exponentBits + fraction;
  uint64_t all = total == 64 ? ~uint64_t(0) : (uint64_t(1) << total) - 1;
  if (die < f.any)
    return r & all;
  uint64_t sign = (r >> 63) << (total - 1);
  uint64_t rest = r & ((uint64_t(1) << fraction) - 1);
  uint64_t top = (uint64_t(1) << exponentBits) - 1;
  if (die < f.any + f.special) {
    const uint64_t specials[] = {
        top << fraction,
        (top << fraction) | (uint64_t(1) << (fraction - 1)),
        1,
        rest, // subnormals
        ((top - 1) << fraction) | ((uint64_t(1) << fraction) - 1),
        uint64_t(1) << fraction};
    return sign | specials[r % std::size(specials)];
  }
  if (die < f.any + f.special + f.zero)
    return total == 8 ? 0 : sign;
  int e = int((r >> 55) % unsigned(2 * f.spread + 1)) - f.spread + f.centre;
  e = std::clamp(e, -bias, int(top) - 1 - bias);
  return sign | uint64_t(e + bias) << fraction | rest;
}

/// Inputs of a flavour; C may need the products.
Input randomInput(const Matrix &m, const Flavour &f, std::mt19937_64 &random) {
  Input in;
  for (unsigned l = 0; l < 64; ++l)
    in.index[l] = uint32_t(random());
  unsigned perLaneB = m.sparse ? 2 * m.perLane : m.perLane;
  for (unsigned block = 0; block < m.blocks; ++block)
    for (unsigned n = 0; n < m.n; ++n) {
      for (unsigned k = 0; k < m.depth(); ++k)
        writeBits(in.a,
                  placeOfSource(m.a, m.n, m.blocks, m.perLane, n, k, block),
                  bitsOf(m.a), randomElement(m.a, f, random));
      for (unsigned k = 0; k < m.k; ++k)
        writeBits(in.b,
                  placeOfSource(m.b, m.n, m.blocks, perLaneB, n, k, block),
                  bitsOf(m.b), randomElement(m.b, f, random));
    }
  bool isDouble = m.a == Type::F64;
  for (unsigned block = 0; block < m.blocks; ++block)
    for (unsigned i = 0; i < m.n; ++i)
      for (unsigned j = 0; j < m.n; ++j) {
        Place place = placeOfResult(m.a, m.n, i, j, block);
        uint64_t raw = 0;
        Flavour near{"", 3, 0, 0, 0, Flavour::Near};
        switch (f.c) {
        case Flavour::Near:
          raw = randomElement(isDouble ? Type::F64 : Type::F32, near, random);
          break;
        case Flavour::Wide:
          near.spread = f.spread > 20 ? 126 : 40;
          raw = randomElement(isDouble ? Type::F64 : Type::F32, near, random);
          break;
        case Flavour::Any:
          near.any = 100;
          near.special = 4;
          raw = randomElement(isDouble ? Type::F64 : Type::F32, near, random);
          break;
        case Flavour::Zero:
          raw = random() % 2 ? 0 : uint64_t(1) << (isDouble ? 63 : 31);
          break;
        case Flavour::Cancel: {
          Terms t = termsOf(m, in, {}, block, i, j);
          double sum = 0;
          for (size_t k = 0; k < t.a.size(); ++k) {
            double x, y;
            if (isDouble) {
              std::memcpy(&x, &t.a[k], 8);
              std::memcpy(&y, &t.b[k], 8);
            } else {
              x = decode(m.a, t.a[k]).approximate();
              y = decode(m.b, t.b[k]).approximate();
            }
            sum += x * y;
          }
          // From nothing left to hardly anything gone.
          sum *= -1 + std::ldexp(double(int64_t(random())),
                                 -63 - int(random() % 30));
          if (random() % 4 == 0)
            sum = std::ldexp(sum, int(random() % 9) - 2);
          raw = isDouble ? bits(sum) : bits(float(sum));
          break;
        }
        }
        writeBits(in.c, place, isDouble ? 64 : 32, raw);
      }
  return in;
}

/// Equal bits, or NaN on both sides.
bool agree(uint64_t x, uint64_t y, bool isDouble) {
  if (x == y)
    return true;
  auto isNaN = [&](uint64_t raw) {
    return isDouble ? (raw << 1) > (uint64_t(0x7ff) << 53)
                    : (uint32_t(raw) << 1) > 0xff000000u;
  };
  return isNaN(x) && isNaN(y);
}

TEST_P(MatrixTest, RoundsAsTheChip) {
  std::vector<Variant> runs;
  for (const Matrix &m : matrices)
    if (m.mnemonic(target()) && m.a != Type::I8)
      runs.push_back({&m, Form::InPlace, {}});
  auto object = module(runs);
  ASSERT_TRUE(object);
  std::mt19937_64 random(22);
  size_t special = 0, ordinary = 0;
  for (unsigned r = 0; r < runs.size(); ++r) {
    const Matrix &m = *runs[r].matrix;
    bool isDouble = m.a == Type::F64;
    for (const Flavour &f : flavours) {
      std::vector<Input> in;
      for (unsigned w = 0; w < (m.n == 32 ? 2u : 4u); ++w)
        in.push_back(randomInput(m, f, random));
      auto out = execute(*object, r, in);
      for (size_t w = 0; w < in.size(); ++w)
        for (unsigned block = 0; block < m.blocks; ++block)
          for (unsigned i = 0; i < m.n; ++i)
            for (unsigned j = 0; j < m.n; ++j) {
              Terms t = termsOf(m, in[w], {}, block, i, j);
              uint64_t want = reference(target(), m, t);
              uint64_t got =
                  readBits(out[w], placeOfResult(m.a, m.n, i, j, block),
                           isDouble ? 64 : 32);
              ASSERT_TRUE(agree(got, want, isDouble))
                  << m.name << ", " << f.what << ": D[" << i << "][" << j
                  << "] is " << std::hex << got << ", not " << want << "; C is "
                  << t.c;
              bool finite = isDouble ? ((want >> 52) & 0x7ff) != 0x7ff
                                     : ((want >> 23) & 0xff) != 0xff;
              ++(finite ? ordinary : special);
            }
    }
  }
  // Both kinds were there.
  EXPECT_GT(special, ordinary / 100);
}

/// Cases worked out by hand, one for each property of the rules.
TEST_P(MatrixTest, RoundingByHand) {
  const Matrix *half = nullptr, *bf16 = nullptr;
  for (const Matrix &m : matrices) {
    if (!std::strcmp(m.name, "V_MFMA_F32_16X16X16F16"))
      half = &m;
    if (!std::strcmp(m.name, "V_MFMA_F32_16X16X16BF16_1K"))
      bf16 = &m;
  }
  auto object = module({{half, Form::InPlace, {}}, {bf16, Form::InPlace, {}}});
  ASSERT_TRUE(object);
  bool cdna2 = target() == "gfx90a";
  // D[0][0] for the first products of row and column 0.
  auto result = [&](unsigned kernel, std::vector<uint64_t> a,
                    std::vector<uint64_t> b, float c) {
    const Matrix &m = kernel ? *bf16 : *half;
    Input in;
    for (unsigned k = 0; k < a.size(); ++k) {
      writeBits(in.a, placeOfSource(m.a, 16, 1, 4, 0, k, 0), 16, a[k]);
      writeBits(in.b, placeOfSource(m.a, 16, 1, 4, 0, k, 0), 16, b[k]);
    }
    in.c[0][0] = bits(c);
    uint32_t word = execute(*object, kernel, {in})[0][0][0];
    float f;
    std::memcpy(&f, &word, 4);
    return f;
  };
  constexpr uint64_t one = 0x3c00, minusOne = 0xbc00;
  // A subnormal half counts on gfx942 only.
  EXPECT_EQ(result(0, {0x0001}, {one}, 0), cdna2 ? 0.0f : 0x1p-24f);
  // So does a subnormal C, and a subnormal result.
  EXPECT_EQ(result(1, {0}, {0}, 0x1p-140f), cdna2 ? 0.0f : 0x1p-140f);
  EXPECT_EQ(result(1, {0x2000}, {0x1b80}, 0), // 2^-63 * 2^-72
            cdna2 ? 0.0f : 0x1p-135f);
  // 2^-24 twice with C = 1: half a unit of its last place each. On gfx90a they
  // are in different groups of four and lost one by one.
  EXPECT_EQ(result(0, {one, minusOne, 0x1000, 0, 0x1000},
                   {one, one, 0x0800, 0, 0x0800}, 1.0f),
            cdna2 ? 1.0f : 1.0f + 0x1p-23f);
  // 2048 * 2048 + 2^-10 * 2^-10 - 2048 * 2048: the small product is cut 24
  // bits below the largest on gfx942; on gfx90a it is lost with its pair.
  EXPECT_EQ(result(0, {0x6800, 0x1400, 0xe800}, {0x6800, 0x1400, 0x6800}, 0),
            0.0f);
  // The same with 2^-1 * 2^-1 (24 bits below 2^22): gfx942 keeps it, gfx90a
  // rounds 2^22 + 2^-2 to even in f32.
  EXPECT_EQ(result(0, {0x6800, 0x3800, 0xe800}, {0x6800, 0x3800, 0x6800}, 0),
            cdna2 ? 0.0f : 0.25f);
  // C is cut downwards on gfx942: -2^-30 below a sum of 1 is worth -2^-24,
  // which takes 1 to the next float below; gfx90a adds it exactly.
  EXPECT_EQ(result(0, {one}, {one}, -0x1p-30f), cdna2 ? 1.0f : 1.0f - 0x1p-24f);
}

//===----------------------------------------------------------------------===//
// Names and clocks
//===----------------------------------------------------------------------===//

TEST(MatrixInstructionTest, AllSpellingsNameOneInstruction) {
  size_t count = 0;
  for (const Matrix &m : matrices) {
    EXPECT_EQ(canonicalMatrixName(m.name), m.name);
    EXPECT_EQ(canonicalMatrixName(std::string(m.name) + "_gfx90a_vcd"), m.name);
    EXPECT_EQ(canonicalMatrixName(std::string(m.name) + "_gfx940_acd"), m.name);
    EXPECT_EQ(canonicalMatrixName(std::string(m.name) + "_mac_vgprcd_e64"),
              m.name);
    if (m.gfx90a) {
      EXPECT_EQ(canonicalMatrixName(m.gfx90a), m.name);
      ++count;
    }
    if (m.gfx942) {
      EXPECT_EQ(canonicalMatrixName(m.gfx942), m.name);
      ++count;
    }
    EXPECT_TRUE(findMatrixInstruction(m.name)) << m.name;
  }
  EXPECT_EQ(count, 27u + 46u);
  EXPECT_EQ(matrixInstructions().size(), std::size(matrices));
  EXPECT_FALSE(findMatrixInstruction("V_FMA_F64"));
  EXPECT_FALSE(findMatrixInstruction("V_MFMA_"));
  EXPECT_FALSE(findMatrixInstruction("V_MFMA_F32"));
  EXPECT_FALSE(findMatrixInstruction("V_MFMA_F32_"));
  EXPECT_FALSE(findMatrixInstruction(""));
}

/// Old and new mnemonics of one instruction assemble to the same, and decode.
TEST_P(MatrixTest, BothMnemonicsAreKnown) {
  if (target() == "gfx90a")
    return; // has only the old ones
  std::string text = moduleOf(target(), {{&matrices[12], Form::InPlace, {}},
                                         {&matrices[17], Form::InPlace, {}}});
  for (auto [from, to] :
       {std::pair<const char *, const char *>{"v_mfma_f32_32x32x8_f16",
                                              "v_mfma_f32_32x32x8f16"},
        {"v_mfma_f32_32x32x8_bf16", "v_mfma_f32_32x32x8bf16_1k"}})
    text.replace(text.find(from), std::strlen(from), to);
  auto object = build(text, "assembler", target());
  ASSERT_TRUE(object);
  for (unsigned kernel : {0u, 1u}) {
    auto code = object->disassemble("f" + std::to_string(kernel));
    ASSERT_TRUE(bool(code)) << messageOf(code);
    size_t found = 0;
    for (const auto &line : *code)
      if (mfmaCycles(line.opcode, target())) {
        EXPECT_TRUE(line.known) << line.text;
        EXPECT_EQ(line.opcode, matrices[kernel ? 17 : 12].name);
        ++found;
      }
    EXPECT_EQ(found, 1u);
  }
}

/// The clocks give the published rates: flop (or operations) a clock and CU.
TEST(MatrixInstructionTest, ClocksGivePublishedRates) {
  struct {
    const char *name;
    unsigned gfx90a, gfx942;
  } rates[] = {
      {"v_mfma_f64_16x16x4f64", 256, 256},
      {"v_mfma_f32_32x32x2f32", 256, 256},
      {"v_mfma_f32_16x16x4f32", 256, 256},
      {"v_mfma_f32_32x32x4_xf32", 0, 1024},
      {"v_mfma_f32_16x16x8_xf32", 0, 1024},
      {"v_mfma_f32_32x32x8f16", 1024, 2048},
      {"v_mfma_f32_16x16x16f16", 1024, 2048},
      {"v_mfma_f32_32x32x8bf16_1k", 1024, 2048},
      {"v_mfma_f32_16x16x16bf16_1k", 1024, 2048},
      {"v_mfma_f32_32x32x4bf16", 512, 0},
      {"v_mfma_i32_32x32x8i8", 1024, 0},
      {"v_mfma_i32_16x16x32_i8", 0, 4096},
      {"v_mfma_f32_32x32x16_fp8_bf8", 0, 4096},
      {"v_mfma_f32_16x16x32_bf8_bf8", 0, 4096},
      // counted as the dense product that they stand for
      {"v_smfmac_f32_32x32x16_f16", 0, 4096},
      {"v_smfmac_i32_16x16x64_i8", 0, 8192},
  };
  for (const auto &rate : rates) {
    const Matrix *matrix = nullptr;
    for (const Matrix &m : matrices)
      if (canonicalMatrixName(rate.name) == m.name)
        matrix = &m;
    ASSERT_TRUE(matrix) << rate.name;
    for (const char *target : {"gfx90a", "gfx942"}) {
      unsigned clocks = mfmaCycles(rate.name, target);
      unsigned wanted =
          target == std::string("gfx90a") ? rate.gfx90a : rate.gfx942;
      if (!wanted) {
        EXPECT_EQ(clocks, 0u) << rate.name;
        continue;
      }
      unsigned operations =
          2 * matrix->n * matrix->n * matrix->k * matrix->blocks;
      ASSERT_GT(clocks, 0u) << rate.name;
      EXPECT_EQ(4 * operations / clocks, wanted) << rate.name << target;
      EXPECT_LT(mfmaCoissueCycles(rate.name, target), clocks);
    }
  }
  EXPECT_EQ(mfmaCycles("v_mfma_f32_32x32x8f16", "gfx1100"), 0u);
  EXPECT_EQ(mfmaCoissueCycles("v_mfma_f64_16x16x4f64", "gfx90a"), 0u);
}

FOR_BOTH_TARGETS(MatrixTest);

} // namespace
