//===- Tsit5.h - Coefficients of the method Tsit5 ---------------*- C++ -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The embedded explicit Runge-Kutta pair of orders 5 and 4 of Ch. Tsitouras,
/// "Runge-Kutta pairs of order 5(4) satisfying only the first column
/// simplifying assumption", Computers & Mathematics with Applications 62 (2011)
/// 770-775, Table 1. The f64 values are part of the meaning of
/// `#wavesmith.tsit5`; test/Numeric/test_tsit5.py checks them against the order
/// conditions.
///
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_DIALECT_WAVESMITH_IR_TSIT5_H
#define WAVESMITH_DIALECT_WAVESMITH_IR_TSIT5_H

namespace wavesmith::tsit5 {

/// The last stage is the first of the next step.
inline constexpr unsigned kNumStages = 7;

/// c_s: the times of the stages.
inline constexpr double kNodes[kNumStages] = {
    0.0, 0.161, 0.327, 0.9, 0.9800255409045097, 1.0, 1.0};

/// a_sj: the states of stage s from the derivatives of the stages j < s. The
/// last row is the solution of order 5.
inline constexpr double kMatrix[kNumStages][kNumStages - 1] = {
    {0.0, 0.0, 0.0, 0.0, 0.0, 0.0},
    {0.161, 0.0, 0.0, 0.0, 0.0, 0.0},
    {-0.008480655492356989, 0.335480655492357, 0.0, 0.0, 0.0, 0.0},
    {2.8971530571054935, -6.359448489975075, 4.3622954328695815, 0.0, 0.0, 0.0},
    {5.325864828439257, -11.748883564062828, 7.4955393428898365,
     -0.09249506636175525, 0.0, 0.0},
    {5.86145544294642, -12.92096931784711, 8.159367898576159,
     -0.071584973281401, -0.028269050394068383, 0.0},
    {0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742,
     -3.290069515436081, 2.324710524099774}};

/// e_j: the solution of order 5 less that of order 4.
inline constexpr double kError[kNumStages] = {
    -0.00178001105222577714, -0.0008164344596567469, 0.007880878010261995,
    -0.1447110071732629,     0.5823571654525552,     -0.45808210592918697,
    0.015151515151515152};

} // namespace wavesmith::tsit5

#endif // WAVESMITH_DIALECT_WAVESMITH_IR_TSIT5_H
