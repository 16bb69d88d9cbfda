//===- AttentionSchedule.h - Default schedules of attention -----*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_DIALECT_WAVESMITH_TRANSFORMS_ATTENTIONSCHEDULE_H
#define WAVESMITH_DIALECT_WAVESMITH_TRANSFORMS_ATTENTIONSCHEDULE_H

#include "wavesmith/Dialect/Wavesmith/IR/Wavesmith.h"
#include "wavesmith/Target/Target.h"

namespace wavesmith {

/// The schedule of an attention that has none: the first row of a table that
/// fits its type, head dims and options; the number of dies is the target's.
/// \p target may be null: then it is 1.
AttentionScheduleAttr getDefaultAttentionSchedule(AttentionOp op,
                                                  const TargetInfo *target);

} // namespace wavesmith

#endif // WAVESMITH_DIALECT_WAVESMITH_TRANSFORMS_ATTENTIONSCHEDULE_H
