//===- ScalarALU.cpp - Scalar arithmetic and logic ----------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {
namespace {

// Expressions see a and b (the sources), carry (SCC before) and assign scc
// where the instruction writes it.

template <typename F> void scalar32(Wave &w, const Instruction &I) {
  uint32_t a = s32(w, I.src[0]), b = s32(w, I.src[1]);
  bool scc = w.scc;
  uint32_t result = F::apply(a, b, scc);
  w.scc = scc;
  setS32(w, I.dst, result);
}

template <typename F> void scalar64(Wave &w, const Instruction &I) {
  uint64_t a = s64(w, I.src[0]), b = s64(w, I.src[1]);
  bool scc = w.scc;
  uint64_t result = F::apply(a, b, scc);
  w.scc = scc;
  setS64(w, I.dst, result);
}

/// 64-bit first source and result, 32-bit second source.
template <typename F> void scalar64By32(Wave &w, const Instruction &I) {
  uint64_t a = s64(w, I.src[0]);
  uint32_t b = s32(w, I.src[1]);
  bool scc = w.scc;
  uint64_t result = F::apply(a, b, scc);
  w.scc = scc;
  setS64(w, I.dst, result);
}

/// 64-bit source, 32-bit result.
template <typename F> void scalar32Of64(Wave &w, const Instruction &I) {
  uint64_t a = s64(w, I.src[0]);
  bool scc = w.scc;
  uint32_t result = F::apply(a, 0, scc);
  w.scc = scc;
  setS32(w, I.dst, result);
}

template <typename F> void scalarCompare32(Wave &w, const Instruction &I) {
  w.scc = F::apply(s32(w, I.src[0]), s32(w, I.src[1]));
}

template <typename F> void scalarCompare64(Wave &w, const Instruction &I) {
  w.scc = F::apply(s64(w, I.src[0]), s64(w, I.src[1]));
}

template <typename F> void scalarBit64(Wave &w, const Instruction &I) {
  w.scc = F::apply(s64(w, I.src[0]), s32(w, I.src[1]));
}

/// D = EXEC; EXEC = expression of a (the source) and b (EXEC).
template <typename F> void saveExec(Wave &w, const Instruction &I) {
  uint64_t a = s64(w, I.src[0]), b = w.read64(sgprEXEC);
  uint64_t result = F::apply(a, b);
  setS64(w, I.dst, b);
  w.write64(sgprEXEC, result);
  w.scc = result != 0;
}

/// EXEC = D = expression.
template <typename F> void writeExec(Wave &w, const Instruction &I) {
  uint64_t result = F::apply(s64(w, I.src[0]), w.read64(sgprEXEC));
  w.write64(sgprEXEC, result);
  setS64(w, I.dst, result);
  w.scc = result != 0;
}

void conditionalMove32(Wave &w, const Instruction &I) {
  if (w.scc)
    setS32(w, I.dst, s32(w, I.src[0]));
}
void conditionalMove64(Wave &w, const Instruction &I) {
  if (w.scc)
    setS64(w, I.dst, s64(w, I.src[0]));
}

/// Bits [first, first+count) of a, sign-extended on demand.
template <typename T> T bitfield(T a, unsigned first, unsigned count) {
  constexpr unsigned width = 8 * sizeof(T);
  if (count == 0)
    return 0;
  if (count > width)
    count = width;
  using U = std::make_unsigned_t<T>;
  T shifted = a >> first;
  if (count >= width)
    return shifted;
  U up = static_cast<U>(shifted) << (width - count);
  return static_cast<T>(up) >> (width - count);
}

template <typename T> uint32_t signBits(T a) {
  for (unsigned i = 1; i < 8 * sizeof(T); ++i)
    if (((a >> (8 * sizeof(T) - 1 - i)) ^ (a >> (8 * sizeof(T) - 1))) & 1)
      return i;
  return ~0u;
}

template <typename T> T reverseBits(T a) {
  T result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i)
    result |= ((a >> i) & T(1)) << (8 * sizeof(T) - 1 - i);
  return result;
}

template <typename T> T quadMask(T a) {
  T result = 0;
  for (unsigned i = 0; i < 2 * sizeof(T); ++i)
    result |= T(((a >> (4 * i)) & 15) != 0) << i;
  return result;
}

template <typename T> T wholeQuads(T a) {
  T result = 0;
  for (unsigned i = 0; i < 2 * sizeof(T); ++i)
    if ((a >> (4 * i)) & 15)
      result |= T(15) << (4 * i);
  return result;
}

void moveRelativeSource(Wave &w, const Instruction &I, unsigned dwords) {
  uint32_t index = I.src[0].index + w.sgpr[sgprM0];
  if (I.src[0].kind != OperandKind::SGPR || index + dwords > generalSGPRs) {
    fail(w, "s_movrels reads scalar register " + llvm::Twine(index) +
                ", beyond the " + llvm::Twine(generalSGPRs) + " general ones");
    return;
  }
  for (unsigned i = 0; i < dwords; ++i)
    w.sgpr[I.dst.index + i] = w.sgpr[index + i];
}

void moveRelativeDestination(Wave &w, const Instruction &I, unsigned dwords) {
  uint32_t index = I.dst.index + w.sgpr[sgprM0];
  uint64_t value = dwords == 2 ? s64(w, I.src[0]) : s32(w, I.src[0]);
  if (index + dwords > generalSGPRs) {
    fail(w, "s_movreld writes scalar register " + llvm::Twine(index) +
                ", beyond the " + llvm::Twine(generalSGPRs) + " general ones");
    return;
  }
  w.sgpr[index] = static_cast<uint32_t>(value);
  if (dwords == 2)
    w.sgpr[index + 1] = static_cast<uint32_t>(value >> 32);
}

} // namespace

#define SCALAR(NAME, SHAPE, RT, AT, BT, BODY)                                  \
  {                                                                            \
    struct F {                                                                 \
      static inline RT apply(AT a, BT b, bool &scc) {                          \
        (void)a, (void)b, (void)scc;                                           \
        BODY                                                                   \
      }                                                                        \
    };                                                                         \
    table.entries[NAME] = plainEntry(&SHAPE<F>, Category::SALU);               \
  }
#define S32(NAME, BODY)                                                        \
  SCALAR(NAME, scalar32, uint32_t, uint32_t, uint32_t, BODY)
#define S64(NAME, BODY)                                                        \
  SCALAR(NAME, scalar64, uint64_t, uint64_t, uint64_t, BODY)
#define S64BY32(NAME, BODY)                                                    \
  SCALAR(NAME, scalar64By32, uint64_t, uint64_t, uint32_t, BODY)
#define S32OF64(NAME, BODY)                                                    \
  SCALAR(NAME, scalar32Of64, uint32_t, uint64_t, uint64_t, BODY)
#define TEST(NAME, SHAPE, AT, BT, EXPRESSION)                                  \
  {                                                                            \
    struct F {                                                                 \
      static inline bool apply(AT a, BT b) { return EXPRESSION; }              \
    };                                                                         \
    table.entries[NAME] = plainEntry(&SHAPE<F>, Category::SALU);               \
  }
#define EXECOP(NAME, SHAPE, EXPRESSION)                                        \
  {                                                                            \
    struct F {                                                                 \
      static inline uint64_t apply(uint64_t a, uint64_t b) {                   \
        return EXPRESSION;                                                     \
      }                                                                        \
    };                                                                         \
    table.entries[NAME] = plainEntry(&SHAPE<F>, Category::SALU);               \
  }

void registerScalarALU(OpcodeTable &table) {
  S32("S_MOV_B32", return a;);
  S64("S_MOV_B64", return a;);
  S32("S_MOVK_I32", return a;);
  table.entries["S_CMOV_B32"] = plainEntry(&conditionalMove32, Category::SALU);
  table.entries["S_CMOVK_I32"] = plainEntry(&conditionalMove32, Category::SALU);
  table.entries["S_CMOV_B64"] = plainEntry(&conditionalMove64, Category::SALU);
  S32("S_CSELECT_B32", return scc ? a : b;);
  S64("S_CSELECT_B64", return scc ? a : b;);

  S32("S_ADD_U32", uint32_t r = a + b; scc = r < a; return r;);
  S32("S_SUB_U32", scc = b > a; return a - b;);
  S32("S_ADD_I32", uint32_t r = a + b; scc = ((~(a ^ b) & (a ^ r)) >> 31) & 1;
      return r;);
  S32("S_SUB_I32", uint32_t r = a - b; scc = (((a ^ b) & (a ^ r)) >> 31) & 1;
      return r;);
  S32("S_ADDC_U32", uint64_t r = uint64_t(a) + b + scc; scc = r >> 32;
      return static_cast<uint32_t>(r););
  S32("S_SUBB_U32", uint64_t r = uint64_t(a) - b - scc; scc = (r >> 32) & 1;
      return static_cast<uint32_t>(r););
  S32("S_ADDK_I32", uint32_t r = a + b; scc = ((~(a ^ b) & (a ^ r)) >> 31) & 1;
      return r;);
  S32("S_MULK_I32", return a * b;);
  S32("S_MUL_I32", return a * b;);
  S32("S_MUL_HI_U32", return static_cast<uint32_t>((uint64_t(a) * b) >> 32););
  S32("S_MUL_HI_I32",
      return static_cast<uint32_t>((int64_t(int32_t(a)) * int32_t(b)) >> 32););
  S32("S_ABS_I32", uint32_t r = int32_t(a) < 0 ? 0u - a : a; scc = r != 0;
      return r;);
  S32("S_ABSDIFF_I32", uint32_t r = a - b; if (int32_t(r) < 0) r = 0u - r;
      scc = r != 0; return r;);
  S32("S_MIN_I32", scc = int32_t(a) < int32_t(b); return scc ? a : b;);
  S32("S_MAX_I32", scc = int32_t(a) >= int32_t(b); return scc ? a : b;);
  S32("S_MIN_U32", scc = a < b; return scc ? a : b;);
  S32("S_MAX_U32", scc = a >= b; return scc ? a : b;);
  S32("S_LSHL1_ADD_U32", uint64_t r = (uint64_t(a) << 1) + b;
      scc = (r >> 32) != 0; return static_cast<uint32_t>(r););
  S32("S_LSHL2_ADD_U32", uint64_t r = (uint64_t(a) << 2) + b;
      scc = (r >> 32) != 0; return static_cast<uint32_t>(r););
  S32("S_LSHL3_ADD_U32", uint64_t r = (uint64_t(a) << 3) + b;
      scc = (r >> 32) != 0; return static_cast<uint32_t>(r););
  S32("S_LSHL4_ADD_U32", uint64_t r = (uint64_t(a) << 4) + b;
      scc = (r >> 32) != 0; return static_cast<uint32_t>(r););

  S32("S_AND_B32", uint32_t r = a & b; scc = r != 0; return r;);
  S64("S_AND_B64", uint64_t r = a & b; scc = r != 0; return r;);
  S32("S_OR_B32", uint32_t r = a | b; scc = r != 0; return r;);
  S64("S_OR_B64", uint64_t r = a | b; scc = r != 0; return r;);
  S32("S_XOR_B32", uint32_t r = a ^ b; scc = r != 0; return r;);
  S64("S_XOR_B64", uint64_t r = a ^ b; scc = r != 0; return r;);
  S32("S_ANDN2_B32", uint32_t r = a & ~b; scc = r != 0; return r;);
  S64("S_ANDN2_B64", uint64_t r = a & ~b; scc = r != 0; return r;);
  S32("S_ORN2_B32", uint32_t r = a | ~b; scc = r != 0; return r;);
  S64("S_ORN2_B64", uint64_t r = a | ~b; scc = r != 0; return r;);
  S32("S_NAND_B32", uint32_t r = ~(a & b); scc = r != 0; return r;);
  S64("S_NAND_B64", uint64_t r = ~(a & b); scc = r != 0; return r;);
  S32("S_NOR_B32", uint32_t r = ~(a | b); scc = r != 0; return r;);
  S64("S_NOR_B64", uint64_t r = ~(a | b); scc = r != 0; return r;);
  S32("S_XNOR_B32", uint32_t r = ~(a ^ b); scc = r != 0; return r;);
  S64("S_XNOR_B64", uint64_t r = ~(a ^ b); scc = r != 0; return r;);
  S32("S_NOT_B32", uint32_t r = ~a; scc = r != 0; return r;);
  S64("S_NOT_B64", uint64_t r = ~a; scc = r != 0; return r;);
  S32("S_WQM_B32", uint32_t r = wholeQuads(a); scc = r != 0; return r;);
  S64("S_WQM_B64", uint64_t r = wholeQuads(a); scc = r != 0; return r;);
  S32("S_QUADMASK_B32", uint32_t r = quadMask(a); scc = r != 0; return r;);
  S64("S_QUADMASK_B64", uint64_t r = quadMask(a); scc = r != 0; return r;);

  S32("S_LSHL_B32", uint32_t r = a << (b & 31); scc = r != 0; return r;);
  S64BY32("S_LSHL_B64", uint64_t r = a << (b & 63); scc = r != 0; return r;);
  S32("S_LSHR_B32", uint32_t r = a >> (b & 31); scc = r != 0; return r;);
  S64BY32("S_LSHR_B64", uint64_t r = a >> (b & 63); scc = r != 0; return r;);
  S32("S_ASHR_I32", uint32_t r = uint32_t(int32_t(a) >> (b & 31)); scc = r != 0;
      return r;);
  S64BY32("S_ASHR_I64", uint64_t r = uint64_t(int64_t(a) >> (b & 63));
          scc = r != 0; return r;);
  S32("S_BFM_B32", return ((1u << (a & 31)) - 1) << (b & 31););
  {
    struct F {
      static void run(Wave &w, const Instruction &I) {
        uint32_t a = s32(w, I.src[0]), b = s32(w, I.src[1]);
        setS64(w, I.dst, ((uint64_t(1) << (a & 63)) - 1) << (b & 63));
      }
    };
    table.entries["S_BFM_B64"] = plainEntry(&F::run, Category::SALU);
  }
  S32("S_BFE_U32", uint32_t r = bitfield<uint32_t>(a, b & 31, (b >> 16) & 127);
      scc = r != 0; return r;);
  S32("S_BFE_I32", uint32_t r = uint32_t(
                       bitfield<int32_t>(int32_t(a), b & 31, (b >> 16) & 127));
      scc = r != 0; return r;);
  S64BY32("S_BFE_U64",
          uint64_t r = bitfield<uint64_t>(a, b & 63, (b >> 16) & 127);
          scc = r != 0; return r;);
  S64BY32("S_BFE_I64",
          uint64_t r =
              uint64_t(bitfield<int64_t>(int64_t(a), b & 63, (b >> 16) & 127));
          scc = r != 0; return r;);
  S32("S_BREV_B32", return reverseBits(a););
  S64("S_BREV_B64", return reverseBits(a););
  S32("S_BCNT0_I32_B32", uint32_t r = 32 - __builtin_popcount(a); scc = r != 0;
      return r;);
  S32("S_BCNT1_I32_B32", uint32_t r = __builtin_popcount(a); scc = r != 0;
      return r;);
  S32OF64("S_BCNT0_I32_B64", uint32_t r = 64 - __builtin_popcountll(a);
          scc = r != 0; return r;);
  S32OF64("S_BCNT1_I32_B64", uint32_t r = __builtin_popcountll(a); scc = r != 0;
          return r;);
  S32("S_FF0_I32_B32", return ~a ? uint32_t(__builtin_ctz(~a)) : ~0u;);
  S32("S_FF1_I32_B32", return a ? uint32_t(__builtin_ctz(a)) : ~0u;);
  S32OF64("S_FF0_I32_B64", return ~a ? uint32_t(__builtin_ctzll(~a)) : ~0u;);
  S32OF64("S_FF1_I32_B64", return a ? uint32_t(__builtin_ctzll(a)) : ~0u;);
  S32("S_FLBIT_I32_B32", return a ? uint32_t(__builtin_clz(a)) : ~0u;);
  S32OF64("S_FLBIT_I32_B64", return a ? uint32_t(__builtin_clzll(a)) : ~0u;);
  S32("S_FLBIT_I32", return signBits<uint32_t>(a););
  S32OF64("S_FLBIT_I32_I64", return signBits<uint64_t>(a););
  S32("S_SEXT_I32_I8", return uint32_t(int32_t(int8_t(a))););
  S32("S_SEXT_I32_I16", return uint32_t(int32_t(int16_t(a))););
  S32("S_PACK_LL_B32_B16", return (a & 0xffffu) | (b << 16););
  S32("S_PACK_LH_B32_B16", return (a & 0xffffu) | (b & 0xffff0000u););
  S32("S_PACK_HH_B32_B16", return (a >> 16) | (b & 0xffff0000u););
  {
    // The destination is read as well.
    struct Set0 {
      static void run(Wave &w, const Instruction &I) {
        w.sgpr[I.dst.index] &= ~(1u << (s32(w, I.src[0]) & 31));
      }
    };
    struct Set1 {
      static void run(Wave &w, const Instruction &I) {
        w.sgpr[I.dst.index] |= 1u << (s32(w, I.src[0]) & 31);
      }
    };
    struct Set064 {
      static void run(Wave &w, const Instruction &I) {
        w.write64(I.dst.index, w.read64(I.dst.index) &
                                   ~(uint64_t(1) << (s32(w, I.src[0]) & 63)));
      }
    };
    struct Set164 {
      static void run(Wave &w, const Instruction &I) {
        w.write64(I.dst.index, w.read64(I.dst.index) |
                                   (uint64_t(1) << (s32(w, I.src[0]) & 63)));
      }
    };
    struct Replicate {
      static void run(Wave &w, const Instruction &I) {
        uint32_t a = s32(w, I.src[0]);
        uint64_t r = 0;
        for (unsigned i = 0; i < 32; ++i)
          r |= uint64_t(((a >> i) & 1) * 3) << (2 * i);
        setS64(w, I.dst, r);
      }
    };
    table.entries["S_BITSET0_B32"] = plainEntry(&Set0::run, Category::SALU);
    table.entries["S_BITSET1_B32"] = plainEntry(&Set1::run, Category::SALU);
    table.entries["S_BITSET0_B64"] = plainEntry(&Set064::run, Category::SALU);
    table.entries["S_BITSET1_B64"] = plainEntry(&Set164::run, Category::SALU);
    table.entries["S_BITREPLICATE_B64_B32"] =
        plainEntry(&Replicate::run, Category::SALU);
  }
  {
    struct MoveS {
      static void b32(Wave &w, const Instruction &I) {
        moveRelativeSource(w, I, 1);
      }
      static void b64(Wave &w, const Instruction &I) {
        moveRelativeSource(w, I, 2);
      }
    };
    struct MoveD {
      static void b32(Wave &w, const Instruction &I) {
        moveRelativeDestination(w, I, 1);
      }
      static void b64(Wave &w, const Instruction &I) {
        moveRelativeDestination(w, I, 2);
      }
    };
    table.entries["S_MOVRELS_B32"] = plainEntry(&MoveS::b32, Category::SALU);
    table.entries["S_MOVRELS_B64"] = plainEntry(&MoveS::b64, Category::SALU);
    table.entries["S_MOVRELD_B32"] = plainEntry(&MoveD::b32, Category::SALU);
    table.entries["S_MOVRELD_B64"] = plainEntry(&MoveD::b64, Category::SALU);
  }

#define COMPARE(SUFFIX, OPERATOR)                                              \
  TEST("S_CMP_" SUFFIX "_I32", scalarCompare32, int32_t, int32_t,              \
       a OPERATOR b);                                                          \
  TEST("S_CMP_" SUFFIX "_U32", scalarCompare32, uint32_t, uint32_t,            \
       a OPERATOR b);                                                          \
  TEST("S_CMPK_" SUFFIX "_I32", scalarCompare32, int32_t, int32_t,             \
       a OPERATOR b);                                                          \
  TEST("S_CMPK_" SUFFIX "_U32", scalarCompare32, uint32_t, uint32_t,           \
       a OPERATOR b);
  COMPARE("EQ", ==)
  COMPARE("LG", !=)
  COMPARE("GT", >)
  COMPARE("GE", >=)
  COMPARE("LT", <)
  COMPARE("LE", <=)
#undef COMPARE
  TEST("S_CMP_EQ_U64", scalarCompare64, uint64_t, uint64_t, a == b);
  TEST("S_CMP_LG_U64", scalarCompare64, uint64_t, uint64_t, a != b);
  TEST("S_BITCMP0_B32", scalarCompare32, uint32_t, uint32_t,
       !((a >> (b & 31)) & 1));
  TEST("S_BITCMP1_B32", scalarCompare32, uint32_t, uint32_t,
       (a >> (b & 31)) & 1);
  TEST("S_BITCMP0_B64", scalarBit64, uint64_t, uint32_t,
       !((a >> (b & 63)) & 1));
  TEST("S_BITCMP1_B64", scalarBit64, uint64_t, uint32_t, (a >> (b & 63)) & 1);

  EXECOP("S_AND_SAVEEXEC_B64", saveExec, a & b);
  EXECOP("S_OR_SAVEEXEC_B64", saveExec, a | b);
  EXECOP("S_XOR_SAVEEXEC_B64", saveExec, a ^ b);
  EXECOP("S_ANDN2_SAVEEXEC_B64", saveExec, a & ~b);
  EXECOP("S_ORN2_SAVEEXEC_B64", saveExec, a | ~b);
  EXECOP("S_NAND_SAVEEXEC_B64", saveExec, ~(a & b));
  EXECOP("S_NOR_SAVEEXEC_B64", saveExec, ~(a | b));
  EXECOP("S_XNOR_SAVEEXEC_B64", saveExec, ~(a ^ b));
  EXECOP("S_ANDN1_SAVEEXEC_B64", saveExec, ~a & b);
  EXECOP("S_ORN1_SAVEEXEC_B64", saveExec, ~a | b);
  EXECOP("S_ANDN1_WREXEC_B64", writeExec, ~a & b);
  EXECOP("S_ANDN2_WREXEC_B64", writeExec, a & ~b);
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
