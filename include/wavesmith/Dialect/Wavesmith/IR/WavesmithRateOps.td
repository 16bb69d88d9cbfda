//===- WavesmithRateOps.td - Typed rate coefficients -------*- tablegen -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources of the formulas: the CHEMKIN and Cantera manuals, R. G. Gilbert,
// K. Luther and J. Troe (1983), P. H. Stewart, C. W. Larson and D. M. Golden
// (1989, SRI), W. Tsang and J. T. Herron (1991), B. J. McBride, S. Gordon and
// M. A. Reno (1993, NASA polynomials), R. H. Cyburt et al. (2010, REACLIB).
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_RATE_OPS_TD
#define WAVESMITH_RATE_OPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "wavesmith/Dialect/Wavesmith/IR/WavesmithOdeOps.td"

def Wavesmith_RateGroup : OpDocGroup {
  let summary = "Rate coefficients";
  let description = [{
    The kinds of rate coefficient that reaction mechanisms use. Each description
    gives the formula as it is computed: one operation is one rounding, `fma` is
    one rounding, constants in {braces} are computed once, in f64, when
    compiling. Products and sums without parentheses associate to the left.

    Temperatures are in K, pressures in Pa. The operations do not know units of
    rate coefficients; the term that uses one declares it.
  }];
}

class Wavesmith_RateOp<string mnemonic, list<Trait> traits = []>
    : Wavesmith_SystemOp<mnemonic, !listconcat([Pure], traits)> {
  let results = (outs F64:$result);
  let opDocGroup = Wavesmith_RateGroup;
}

//===----------------------------------------------------------------------===//
// Sums over states
//===----------------------------------------------------------------------===//

def Wavesmith_WeightedSumOp : Wavesmith_RateOp<"weighted_sum"> {
  let summary = "a weighted sum of states";
  let description = [{
    From +0.0: sum = fma(w_i, y_i, sum) in ascending order of the states'
    indices, whatever the order in which they are listed. The total
    concentration is the sum of all species with weight 1. All the states have
    the same unit.

    Example: `%total = wavesmith.weighted_sum ["H2" = 1.0, "O2" = 1.0]`
  }];
  let arguments = (ins StrArrayAttr:$states, DenseF64ArrayAttr:$weights);
  let assemblyFormat = "custom<Weights>($states, $weights) attr-dict";
  let hasVerifier = 1;
}

def Wavesmith_ThirdBodyOp : Wavesmith_RateOp<"third_body"> {
  let summary = "concentration of third bodies, weighted by their efficiencies";
  let description = [{
    From default * total: sum = fma({efficiency_i - default}, y_i, sum) in
    ascending order of the states' indices, over the states that are listed.

    Example: `%M = wavesmith.third_body %total default 1.0 efficiencies ["H2" = 2.4, "H2O" = 15.4]`
  }];
  let arguments = (ins F64:$total, F64Attr:$default_efficiency,
                       StrArrayAttr:$states, DenseF64ArrayAttr:$efficiencies);
  let assemblyFormat = [{
    $total `default` custom<PlainF64>($default_efficiency) `efficiencies`
    custom<Weights>($states, $efficiencies) attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Functions of the temperature
//===----------------------------------------------------------------------===//

def Wavesmith_ArrheniusOp : Wavesmith_RateOp<"arrhenius"> {
  let summary = "A T^b exp(-E/T)";
  let description = [{
    A * exp(x), with A of any sign, E the activation temperature E_a/R in K, and
    - b = 0 and E = 0: the result is A;
    - b = 0: x = {-E} * (1/T);
    - E = 0: x = b * log(T);
    - else x = fma(b, log(T), {-E} * (1/T)).

    Example: `%k = wavesmith.arrhenius %T A 38.7 b 2.7 E 3150.1542797022735`
  }];
  let arguments = (ins F64:$temperature, F64Attr:$A, F64Attr:$b, F64Attr:$E);
  let assemblyFormat = [{
    $temperature `A` custom<PlainF64>($A) `b` custom<PlainF64>($b)
    `E` custom<PlainF64>($E) attr-dict
  }];
  let hasVerifier = 1;
}

def Wavesmith_ThermoQuantity : I32EnumAttr<"ThermoQuantity",
    "a dimensionless thermodynamic quantity of a species", [
      I32EnumAttrCase<"Gibbs", 0, "gibbs">,
      I32EnumAttrCase<"Enthalpy", 1, "enthalpy">,
      I32EnumAttrCase<"HeatCapacity", 2, "heat_capacity">]> {
  let cppNamespace = "::wavesmith";
}

def Wavesmith_Nasa7Op : Wavesmith_RateOp<"nasa7"> {
  let summary = "a thermodynamic quantity by NASA's 7-coefficient polynomials";
  let description = [{
    With a0..a6 those of `low` where T <= T_mid, else those of `high`:
    - heat_capacity, c_p/R:
      fma(fma(fma(fma(a4, T, a3), T, a2), T, a1), T, a0);
    - enthalpy, h/(R T):
      fma(fma(fma(fma({a4/5}, T, {a3/4}), T, {a2/3}), T, {a1/2}), T,
      fma(a5, 1/T, a0));
    - gibbs, g/(R T) = h/(R T) - s/R:
      fma(fma(fma(fma({-a4/20}, T, {-a3/12}), T, {-a2/6}), T, {-a1/2}), T,
      fma(a0, 1 - log(T), fma(a5, 1/T, {-a6}))).

    Example:

    ```mlir
    %g = wavesmith.nasa7 gibbs %T T_mid 1000.0
      low [2.5, 0.0, 0.0, 0.0, 0.0, 25473.7, -0.4467] high [2.5, 0.0, 0.0, 0.0, 0.0, 25473.7, -0.4467]
    ```
  }];
  let arguments = (ins Wavesmith_ThermoQuantity:$quantity, F64:$temperature,
                       F64Attr:$T_mid, DenseF64ArrayAttr:$low,
                       DenseF64ArrayAttr:$high);
  let assemblyFormat = [{
    $quantity $temperature `T_mid` custom<PlainF64>($T_mid) `low` custom<Numbers>($low)
    `high` custom<Numbers>($high) attr-dict
  }];
  let hasVerifier = 1;
}

def Wavesmith_ReverseRateOp : Wavesmith_RateOp<"reverse_rate"> {
  let summary = "rate coefficient of the reverse reaction, by equilibrium";
  let description = [{
    For the reaction with net stoichiometric coefficients nu_i (products
    positive) and the species' g_i/(R T): from x = +0.0,
    x = fma(nu_i, g_i, x) in the order in which they are listed; with
    dn = {sum nu_i}, if it is not zero, x = fma({-dn}, log({p/R} * (1/T)), x),
    R = 8314.46261815324 J/kmol/K, p the reference pressure. The result is
    k_forward * (exp(x) > 1e300 ? 1e300 : exp(x)), for concentrations in
    kmol/m^3. The bound is Cantera's.

    Example: `%kr = wavesmith.reverse_rate %kf, %T gibbs [%gO = -2.0, %gO2 = 1.0] reference_pressure 101325.0`
  }];
  let arguments = (ins F64:$forward, F64:$temperature, Variadic<F64>:$gibbs,
                       DenseF64ArrayAttr:$coefficients,
                       F64Attr:$reference_pressure);
  let assemblyFormat = [{
    $forward `,` $temperature `gibbs`
    custom<WeightedOperands>($gibbs, $coefficients)
    `reference_pressure` custom<PlainF64>($reference_pressure) attr-dict
  }];
  let hasVerifier = 1;
}

def Wavesmith_ReaclibOp : Wavesmith_RateOp<"reaclib"> {
  let summary = "a rate of the JINA REACLIB library";
  let description = [{
    The sum over the sets, from +0.0 in the order listed, of exp(x) with
    T9 = T / 1e9, c = cbrt(T9) and

        x = fma(a6, log(T9), fma(a5, T9 * (c * c), fma(a4, T9,
            fma(a3, c, fma(a2, 1/c, fma(a1, 1/T9, a0))))))

    Each set has the seven parameters a0..a6.

    Example: `%k = wavesmith.reaclib %T sets [[17.18, 0.0, -13.69, -0.3866, 0.05, -0.0057, -0.6667]]`
  }];
  let arguments = (ins F64:$temperature, DenseF64ArrayAttr:$sets);
  let assemblyFormat =
      "$temperature `sets` custom<Rows>(\"7\", $sets) attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Fall-off
//===----------------------------------------------------------------------===//

def Wavesmith_ReducedPressureOp : Wavesmith_RateOp<"reduced_pressure"> {
  let summary = "reduced pressure of a fall-off reaction";
  let description = [{
    (M * k_low) / (k_high + 1e-300); the small number is Cantera's.

    Example: `%pr = wavesmith.reduced_pressure %klow, %khigh, %M`
  }];
  let arguments = (ins F64:$low, F64:$high, F64:$third_body);
  let assemblyFormat = "$low `,` $high `,` $third_body attr-dict";
}

def Wavesmith_TroeOp : Wavesmith_RateOp<"troe"> {
  let summary = "Troe's blending function";
  let description = [{
        f = {1 - A} * exp(T * {-1/T3})
        f = fma(A, exp(T * {-1/T1}), f)
        f = f + exp({-T2} * (1/T))              (only if T2 is given)
        F = blend(f, pr)

    where an absolute T3 or T1 below 1e-300 leaves its exponential out (it is
    0.0), and

        blend(f, pr):
          lf = log10(f < 1e-300 ? 1e-300 : f)
          a = log10(pr < 1e-300 ? 1e-300 : pr) + fma(-0.67, lf, -0.4)
          u = a / fma(-0.14, a, fma(-1.27, lf, 0.75))
          F = exp((lf / fma(u, u, 1.0)) * 2.302585092994046)

    Example: `%F = wavesmith.troe %T, %pr A 0.7346 T3 94.0 T1 1756.0 T2 5182.0`
  }];
  let arguments = (ins F64:$temperature, F64:$reduced_pressure, F64Attr:$A,
                       F64Attr:$T3, F64Attr:$T1, OptionalAttr<F64Attr>:$T2);
  let assemblyFormat = [{
    $temperature `,` $reduced_pressure `A` custom<PlainF64>($A)
    `T3` custom<PlainF64>($T3) `T1` custom<PlainF64>($T1)
    (`T2` custom<PlainF64>($T2)^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Wavesmith_SriOp : Wavesmith_RateOp<"sri"> {
  let summary = "the SRI blending function";
  let description = [{
        w = a * exp({-b} * (1/T))
        w = w + exp(T * {-1/c})                 (only if c is not 0)
        l = log10(pr < 1e-300 ? 1e-300 : pr)
        F = exp((1 / fma(l, l, 1.0)) * log(w))
        F = F * d                               (only if d is not 1)
        F = F * exp(e * log(T))                 (only if e is not 0)

    c is not negative.

    Example: `%F = wavesmith.sri %T, %pr a 0.54 b 201.0 c 1024.0 d 1.0 e 0.0`
  }];
  let arguments = (ins F64:$temperature, F64:$reduced_pressure, F64Attr:$a,
                       F64Attr:$b, F64Attr:$c, F64Attr:$d, F64Attr:$e);
  let assemblyFormat = [{
    $temperature `,` $reduced_pressure `a` custom<PlainF64>($a)
    `b` custom<PlainF64>($b) `c` custom<PlainF64>($c) `d` custom<PlainF64>($d)
    `e` custom<PlainF64>($e) attr-dict
  }];
  let hasVerifier = 1;
}

def Wavesmith_TsangOp : Wavesmith_RateOp<"tsang"> {
  let summary = "Tsang's blending function";
  let description = [{
    blend(fma(B, T, A), pr), with `blend` as in `troe`.

    Example: `%F = wavesmith.tsang %T, %pr A 0.95 B -1.0e-04`
  }];
  let arguments = (ins F64:$temperature, F64:$reduced_pressure, F64Attr:$A,
                       F64Attr:$B);
  let assemblyFormat = [{
    $temperature `,` $reduced_pressure `A` custom<PlainF64>($A)
    `B` custom<PlainF64>($B) attr-dict
  }];
  let hasVerifier = 1;
}

def Wavesmith_FalloffOp : Wavesmith_RateOp<"falloff"> {
  let summary = "rate coefficient of a fall-off reaction";
  let description = [{
    (pr * (F / (pr + 1.0))) * k_high. Without F (Lindemann's form) F is 1.0.

    Example: `%k = wavesmith.falloff %khigh, %pr, %F`
  }];
  let arguments = (ins F64:$high, F64:$reduced_pressure,
                       Optional<F64>:$blending);
  let assemblyFormat =
      "$high `,` $reduced_pressure (`,` $blending^)? attr-dict";
}

def Wavesmith_ChemicallyActivatedOp
    : Wavesmith_RateOp<"chemically_activated"> {
  let summary = "rate coefficient of a chemically activated reaction";
  let description = [{
    (F / (pr + 1.0)) * k_low. Without F (Lindemann's form) F is 1.0.

    Example: `%k = wavesmith.chemically_activated %klow, %pr, %F`
  }];
  let arguments = (ins F64:$low, F64:$reduced_pressure,
                       Optional<F64>:$blending);
  let assemblyFormat =
      "$low `,` $reduced_pressure (`,` $blending^)? attr-dict";
}

//===----------------------------------------------------------------------===//
// Functions of temperature and pressure
//===----------------------------------------------------------------------===//

def Wavesmith_PlogOp : Wavesmith_RateOp<"plog"> {
  let summary = "logarithmic interpolation in pressure of Arrhenius rates";
  let description = [{
    Rows of (p, A, b, E), p ascending; rows of the same p are summed. With
    lp = log(p), the value l_j of the j-th distinct pressure is
    - one row: fma({-E}, 1/T, fma(b, log(T), {log(A)}));
    - several: log(s), s from 1e-300, s = s + arrhenius(row) in order.

    Then, with P_0 < ... < P_n the distinct pressures, from l = l_0, for
    j = 0 .. n-1:

        w = fma(l_(j+1) - l_j, (lp - {log(P_j)}) * {1/(log(P_(j+1)) - log(P_j))}, l_j)
        l = lp >= {log(P_j)} ? w : l

    at last l = lp >= {log(P_n)} ? l_n : l, and the result is exp(l). Outside
    of the range the nearest pressure counts.

    Example: `%k = wavesmith.plog %T, %P rates [[1.0e+04, 1.2e+10, 0.0, 5000.0], [1.0e+05, 3.0e+11, 0.0, 5500.0]]`
  }];
  let arguments = (ins F64:$temperature, F64:$pressure,
                       DenseF64ArrayAttr:$rates);
  let assemblyFormat =
      "$temperature `,` $pressure `rates` custom<Rows>(\"4\", $rates) attr-dict";
  let hasVerifier = 1;
}

def Wavesmith_ChebyshevOp : Wavesmith_RateOp<"chebyshev"> {
  let summary = "a rate by a bivariate Chebyshev polynomial";
  let description = [{
        t = (2.0 * (1/T) + {-1/T_min - 1/T_max}) * {1/(1/T_max - 1/T_min)}
        q = (2.0 * log10(p) + {-log10(p_min) - log10(p_max)})
            * {1/(log10(p_max) - log10(p_min))}

    where the first product and sum are one fma. C_0(x) = 1, C_1(x) = x,
    C_(n+1)(x) = fma(x + x, C_n(x), -C_(n-1)(x)). For row i,
    d_i = a_i0, then d_i = fma(C_j(q), a_ij, d_i), j = 1, 2, ...; then
    l = d_0, l = fma(C_i(t), d_i, l), i = 1, 2, ...
    The result is exp(l * 2.302585092994046). Rows run over the temperature,
    columns over the pressure. Outside of its range the polynomial is
    extrapolated, as in Cantera.

    Example: `%k = wavesmith.chebyshev %T, %P T_range [300.0, 2000.0] p_range [1000.0, 1.0e+07] coefficients [[8.2883, -1.1397], [1.9764, 1.0037]]`
  }];
  let arguments = (ins F64:$temperature, F64:$pressure,
                       DenseF64ArrayAttr:$T_range, DenseF64ArrayAttr:$p_range,
                       I64Attr:$columns, DenseF64ArrayAttr:$coefficients);
  let assemblyFormat = [{
    $temperature `,` $pressure `T_range` custom<Numbers>($T_range)
    `p_range` custom<Numbers>($p_range) `coefficients` custom<Matrix>($columns, $coefficients) attr-dict
  }];
  let hasVerifier = 1;
}

#endif // WAVESMITH_RATE_OPS_TD
