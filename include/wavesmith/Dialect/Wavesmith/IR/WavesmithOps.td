//===- WavesmithOps.td - All operations of wavesmith -------*- tablegen -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_OPS_TD
#define WAVESMITH_OPS_TD

include "wavesmith/Dialect/Wavesmith/IR/WavesmithAttributes.td"
include "wavesmith/Dialect/Wavesmith/IR/WavesmithAttentionOps.td"
include "wavesmith/Dialect/Wavesmith/IR/WavesmithOdeOps.td"
include "wavesmith/Dialect/Wavesmith/IR/WavesmithRateOps.td"
include "wavesmith/Dialect/Wavesmith/IR/WavesmithTileOps.td"
include "wavesmith/Dialect/Wavesmith/IR/WavesmithWorkgroupOps.td"

#endif // WAVESMITH_OPS_TD
