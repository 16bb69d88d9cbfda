//===- VectorCompare.cpp - Vector comparisons ---------------------------===//
//
// Part of Wavesmith. Licensed under the Apache License v2.0 with LLVM
// Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Semantics.h"

namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT {

#define COMPARE(NAME, A, B, EXPRESSION)                                        \
  {                                                                            \
    struct F {                                                                 \
      static ALWAYS_INLINE bool apply(A::type a, B::type b) {                  \
        (void)a, (void)b;                                                      \
        return EXPRESSION;                                                     \
      }                                                                        \
    };                                                                         \
    table.entries["V_CMP_" NAME] =                                             \
        vectorEntry<A, B>(&comparison<F, false, A, B>, ValueType::None);       \
    table.entries["V_CMPX_" NAME] =                                            \
        vectorEntry<A, B>(&comparison<F, true, A, B>, ValueType::None);        \
  }

// The six integer relations and the two constants.
#define INTEGER(SUFFIX, T)                                                     \
  COMPARE("F_" SUFFIX, T, T, false)                                            \
  COMPARE("LT_" SUFFIX, T, T, a < b)                                           \
  COMPARE("EQ_" SUFFIX, T, T, a == b)                                          \
  COMPARE("LE_" SUFFIX, T, T, a <= b)                                          \
  COMPARE("GT_" SUFFIX, T, T, a > b)                                           \
  COMPARE("NE_" SUFFIX, T, T, a != b)                                          \
  COMPARE("GE_" SUFFIX, T, T, a >= b)                                          \
  COMPARE("T_" SUFFIX, T, T, true)

// The sixteen floating-point relations: U is unordered, N negates.
#define FLOATING(SUFFIX, T)                                                    \
  COMPARE("F_" SUFFIX, T, T, false)                                            \
  COMPARE("LT_" SUFFIX, T, T, a < b)                                           \
  COMPARE("EQ_" SUFFIX, T, T, a == b)                                          \
  COMPARE("LE_" SUFFIX, T, T, a <= b)                                          \
  COMPARE("GT_" SUFFIX, T, T, a > b)                                           \
  COMPARE("LG_" SUFFIX, T, T, (a < b) || (a > b))                              \
  COMPARE("GE_" SUFFIX, T, T, a >= b)                                          \
  COMPARE("O_" SUFFIX, T, T, (a == a) && (b == b))                             \
  COMPARE("U_" SUFFIX, T, T, (a != a) || (b != b))                             \
  COMPARE("NGE_" SUFFIX, T, T, !(a >= b))                                      \
  COMPARE("NLG_" SUFFIX, T, T, !((a < b) || (a > b)))                          \
  COMPARE("NGT_" SUFFIX, T, T, !(a > b))                                       \
  COMPARE("NLE_" SUFFIX, T, T, !(a <= b))                                      \
  COMPARE("NEQ_" SUFFIX, T, T, a != b)                                         \
  COMPARE("NLT_" SUFFIX, T, T, !(a < b))                                       \
  COMPARE("TRU_" SUFFIX, T, T, true)

void registerVectorCompare(OpcodeTable &table) {
  INTEGER("I16", I16)
  INTEGER("U16", U16)
  INTEGER("I32", I32)
  INTEGER("U32", U32)
  INTEGER("I64", I64)
  INTEGER("U64", U64)
  FLOATING("F16", F16)
  FLOATING("F32", F32)
  FLOATING("F64", F64)
  // Classes look at the bits, so the source keeps a signalling NaN.
  COMPARE("CLASS_F64", F64, U32, hardware::class_f64(hardware::bitsOf(a), b))
  COMPARE("CLASS_F32", F32, U32, hardware::class_f32(hardware::bitsOf(a), b))
  COMPARE("CLASS_F16", H16, U32, hardware::class_f16(a, b))
  for (const char *name :
       {"V_CMP_CLASS_F64", "V_CMP_CLASS_F32", "V_CMP_CLASS_F16",
        "V_CMPX_CLASS_F64", "V_CMPX_CLASS_F32", "V_CMPX_CLASS_F16"})
    table.entries[name].bitwise = true;
}

} // namespace wavesmith::sim::WAVESMITH_SIMULATOR_VARIANT
