//===- WavesmithOdeOps.td - Systems of sparse-term ODEs ----*- tablegen -*-===//
//
// Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A system, its terms, and the operations that ask for a quantity of it.
//
//===----------------------------------------------------------------------===//

#ifndef WAVESMITH_ODE_OPS_TD
#define WAVESMITH_ODE_OPS_TD

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "wavesmith/Dialect/Wavesmith/IR/WavesmithAttributes.td"

def Wavesmith_OdeGroup : OpDocGroup {
  let summary = "Systems of ODEs";
  let description = "A system, its terms, and what is asked of it on a batch of zones.";
}

class Wavesmith_OdeOp<string mnemonic, list<Trait> traits = []>
    : Wavesmith_Op<mnemonic, traits> {
  let opDocGroup = Wavesmith_OdeGroup;
}

def Wavesmith_OdeSystemOp : Wavesmith_OdeOp<"ode_system",
    [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock,
     HasParent<"::mlir::ModuleOp">]> {
  let summary = "a system of ordinary differential equations of sparse terms";
  let description = [{
    Declares the states y (with units), the parameters p (with units) and the
    unit of time. The region holds rate coefficients, arith/math expressions
    on f64 values (docs/numbers.md lists the operations), and terms. All zones of a batch share the
    system; y and p differ between zones, time does not.

    With the terms numbered r = 0, 1, ... in the order in which they stand,
    v_r the value of a term, and nu+ and nu- its gain and loss weights:

        P_i = sum_r nu+_ir v_r      L_i = sum_r nu-_ir v_r
        dy_i/dt = sum_r (nu+_ir - nu-_ir) v_r

    Each sum starts at +0.0 and takes `sum = fma(weight, v_r, sum)` in
    ascending r. Weights that are zero take no part.

    A unit is a product of powers: `kmol/m^3`, `cm^3 mol^-1 s^-1`, `1/s`, `1`
    (no dimension). A `/` inverts only the factor after it. Known: m km dm cm
    mm um l s ms us ns min h kg g mg K mol kmol mmol molecule J kJ cal kcal
    erg eV W N Pa kPa MPa bar atm Torr. Units are compared with their scale:
    `mol` against `kmol` is an error.

    Example:

    ```mlir
    wavesmith.ode_system @robertson states ["A" : "mol/l", "B" : "mol/l", "C" : "mol/l"] parameters [] time "s" {
      %k1 = arith.constant 0.04 : f64
      wavesmith.term %k1 : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
      %k2 = arith.constant 3.0e+07 : f64
      wavesmith.term %k2 : "l/mol/s" orders ["B" = 2.0] loss ["B" = 1.0] gain ["C" = 1.0]
      %k3 = arith.constant 1.0e+04 : f64
      wavesmith.term %k3 : "l/mol/s" orders ["B" = 1.0, "C" = 1.0] loss ["B" = 1.0] gain ["A" = 1.0]
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       StrArrayAttr:$states, StrArrayAttr:$state_units,
                       StrArrayAttr:$parameters, StrArrayAttr:$parameter_units,
                       StrAttr:$time_unit);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `states` custom<NamedUnits>($states, $state_units)
    `parameters` custom<NamedUnits>($parameters, $parameter_units)
    `time` $time_unit attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The index of a state, or nullopt.
    std::optional<unsigned> findState(::llvm::StringRef name);
    /// The index of a parameter, or nullopt.
    std::optional<unsigned> findParameter(::llvm::StringRef name);
    unsigned getNumStates() { return getStates().size(); }
    unsigned getNumParameters() { return getParameters().size(); }
  }];
}

class Wavesmith_SystemOp<string mnemonic, list<Trait> traits = []>
    : Wavesmith_OdeOp<mnemonic,
                      !listconcat(traits, [HasParent<"OdeSystemOp">])>;

def Wavesmith_StateOp : Wavesmith_SystemOp<"state", [Pure]> {
  let summary = "the value of a state in this zone";
  let description = [{
    In the unit that the system declares for it.

    Example: `%h2 = wavesmith.state "H2"`
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs F64:$result);
  let assemblyFormat = "$name attr-dict";
  let hasVerifier = 1;
}

def Wavesmith_ParameterOp : Wavesmith_SystemOp<"parameter", [Pure]> {
  let summary = "the value of a parameter in this zone";
  let description = [{
    In the unit that the system declares for it.

    Example: `%T = wavesmith.parameter "T"`
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs F64:$result);
  let assemblyFormat = "$name attr-dict";
  let hasVerifier = 1;
}

def Wavesmith_TimeOp : Wavesmith_SystemOp<"time", [Pure]> {
  let summary = "the time, the same in all zones";
  let description = [{
    In the unit of time that the system declares.

    Example: `%t = wavesmith.time`
  }];
  let results = (outs F64:$result);
  let assemblyFormat = "attr-dict";
}

def Wavesmith_TermOp : Wavesmith_SystemOp<"term", []> {
  let summary = "one sparse term of the system";
  let description = [{
    v = k * prod_m y_m^o_m, added to the states in `gain` and taken from those
    in `loss`, with their weights. The result is v, for use in later
    expressions (an energy equation, for example).

    The product is left-associated in ascending order of the states' indices:
    v = ((k * q_a) * q_b) * ..., with q = y^o made so:
    - o = 1: y; o = 2: y*y; o = 3: (y*y)*y; o = 4: (y*y)*(y*y);
    - any other o: y > 0 ? exp(o * log(y)) : 0.0 (as in Cantera, a reaction
      whose reactant is used up stands still).

    `orders`, `loss` and `gain` may be left out. The order in which states are
    listed means nothing. A name stands at most once in each. Weights are
    positive, orders are not zero. The string after the coefficient is its
    unit: coefficient times the powers of the states must give the unit of
    each state in `gain` and `loss` over the unit of time.

    Example: `%v = wavesmith.term %k : "m^3/kmol/s" orders ["O" = 1.0, "H2" = 1.0] loss ["O" = 1.0, "H2" = 1.0] gain ["H" = 1.0, "OH" = 1.0]`
  }];
  let arguments = (ins F64:$coefficient, StrAttr:$unit,
                       StrArrayAttr:$order_states, DenseF64ArrayAttr:$orders,
                       StrArrayAttr:$loss_states, DenseF64ArrayAttr:$losses,
                       StrArrayAttr:$gain_states, DenseF64ArrayAttr:$gains);
  let results = (outs F64:$value);
  let assemblyFormat = [{
    $coefficient `:` $unit
    custom<OptionalWeights>("\"orders\"", $order_states, $orders)
    custom<OptionalWeights>("\"loss\"", $loss_states, $losses)
    custom<OptionalWeights>("\"gain\"", $gain_states, $gains) attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Quantities of a system on a batch of zones
//===----------------------------------------------------------------------===//

class Wavesmith_OdeQuantityOp<string mnemonic, dag resultTypes>
    : Wavesmith_OdeOp<mnemonic,
        [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let arguments = (ins FlatSymbolRefAttr:$system, F64:$time,
                       2DTensorOf<[F64]>:$states,
                       Optional<2DTensorOf<[F64]>>:$parameters,
                       DefaultValuedAttr<Wavesmith_ZoneLayoutAttr,
                           "::wavesmith::ZoneLayout::StructureOfArrays">:$layout,
                       OptionalAttr<Wavesmith_OdeScheduleAttr>:$schedule);
  let results = resultTypes;
  let assemblyFormat = [{
    $system `(` $time `,` $states (`,` $parameters^)? `)` attr-dict `:`
    functional-type(operands, results)
  }];
}

def Wavesmith_OdeRhsOp : Wavesmith_OdeQuantityOp<"ode_rhs",
    (outs 2DTensorOf<[F64]>:$derivatives)> {
  let summary = "dy/dt of a system in every zone of a batch";
  let description = [{
    The net form: for state i, sum = fma(nu+_ir - nu-_ir, v_r, sum) over the
    terms r in ascending order, from +0.0; the difference of the weights is
    taken in f64, and terms where it is zero take no part.

    States and result have shape N x zones (`soa`) or zones x N (`aos`),
    parameters P x zones or zones x P; they are left out if the system has
    none. The number of zones is dynamic.

    Example:

    ```mlir
    %dydt = wavesmith.ode_rhs @h2o2(%t, %y, %p) : (f64, tensor<10x?xf64>, tensor<1x?xf64>) -> tensor<10x?xf64>
    ```
  }];
}

def Wavesmith_OdeProductionLossOp : Wavesmith_OdeQuantityOp<
    "ode_production_loss",
    (outs 2DTensorOf<[F64]>:$production, 2DTensorOf<[F64]>:$loss)> {
  let summary = "production and loss of each state in every zone of a batch";
  let description = [{
    P_i = fma(nu+_ir, v_r, sum) and L_i = fma(nu-_ir, v_r, sum), each over
    ascending r from +0.0. Asymptotic integrators need both. Shapes as in
    `ode_rhs`.

    Example:

    ```mlir
    %p, %l = wavesmith.ode_production_loss @h2o2(%t, %y, %q) : (f64, tensor<10x?xf64>, tensor<1x?xf64>) -> (tensor<10x?xf64>, tensor<10x?xf64>)
    ```
  }];
}

def Wavesmith_OdeTermValuesOp : Wavesmith_OdeQuantityOp<"ode_term_values",
    (outs 2DTensorOf<[F64]>:$coefficients, 2DTensorOf<[F64]>:$values)> {
  let summary = "coefficient and value of each term in every zone of a batch";
  let description = [{
    k_r and v_r for every term r, in the order of the terms: R x zones, or
    zones x R. For tests that check rates and sums apart, and for users who
    look for the reaction that matters.

    Example:

    ```mlir
    %k, %v = wavesmith.ode_term_values @h2o2(%t, %y, %q) : (f64, tensor<10x?xf64>, tensor<1x?xf64>) -> (tensor<58x?xf64>, tensor<58x?xf64>)
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Integration of a system on a batch of zones
//===----------------------------------------------------------------------===//

def Wavesmith_OdeIntegrateOp : Wavesmith_OdeOp<"ode_integrate",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "integrate a system over time in every zone of a batch";
  let description = [{
    Takes each zone from its own time to `end`, which is the same for all, with
    its own step size, which starts at `step`. Zones have no influence on each
    other. Results: the states, the time that was reached, the step size to go
    on with, the number of steps taken, and the status:

    - 0: the zone has reached `end`;
    - 1: it has taken `max_steps` steps and is not there;
    - 2: a number was not finite (NaN, overflow), or no step is small enough;
      states, time and step size are those at the start of the step that failed.

    A zone whose time is not below `end` takes no step. The status is 2 as well
    if a state is not finite at the end. min and max are NaN if an operand is.
    In what follows, y are the states at the start of a step, t is the zone's
    time, and h the step size that the step before has left.

    `#wavesmith.asymptotic`: with P and L as in `ode_production_loss` at y and
    t, A the weights of `conserved`, X(y) the sum of fma(A_i, y_i, sum) in
    ascending i from +0.0, and m the largest |P_i - L_i| (NaN if there is one,
    from +0.0):

        h1 = min(min(flux_fraction / m, time_fraction * t), h)
        h2 = h1 where nothing is conserved, else, with
             x = X(update(h1)), c = |x0 - x|, w = tolerance * |total|:
               |x - total| > |x0 - total| and c > w: h1 * max(w / max(c, 1e-9 w), 0.1)
               else, c < 0.25 w:                     h1 * (w / max(c, 0.9 w))
               else:                                 h1
        y = update(d), with d = end - t and t = end if t + h2 >= end, else
            d = h2 and t = t + h2
        x0 = X(y)

        update(d)_i = q > 1 ? fma(P_i, d, y_i) / (1 + q) : fma(P_i - L_i, d, y_i)
                      with q = (L_i * d) / y_i (not greater where NaN)

    x0 is X of the states given at first, `total` that as well unless it is
    given. The step size that is kept is h2. A step fails if m or x is not
    finite or h1 not positive (so time starts above zero). The method is FERN's
    explicit asymptotic method (github.com/jayjaybillings/fern).

    `#wavesmith.tsit5`: f(t, y) is `ode_rhs`, N the number of states; a_sj, c_s
    and e_j are the coefficients in Tsit5.h. A step tries

        h' = min(h, largest_step)
        d = end - t and t' = end if t + h' >= end, else d = h' and t' = t + h'
        k_1 = f(t, y)
        k_s = f(fma(c_s, d, t), y_s) for s = 2 ... 6, k_7 = f(t', y_7), with
              y_s,i = fma(d, A, y_i), A = (sum of fma(a_sj, k_j,i, sum)) + 0.0,
              in ascending j = 1 ... s - 1 from +0.0
        r_i = (d * E_i) / fma(relative_i, max(|y_i|, |y_7,i|), absolute_i)
              with E_i the sum of fma(e_j, k_j,i, sum) in ascending j from +0.0
        err = sqrt(S / N), S the sum of fma(r_i, r_i, sum) in ascending i from +0.0
        x = safety * pow(err, -0.2)
        g = d * (x > smallest_factor ? min(x, largest_factor) : smallest_factor)

    and takes it if err <= 1: t = t', y = y_7, h = max(u, smallest_step) with
    u = max(h', g) if t' is `end` because t + h' >= end, else u = g. Otherwise
    the step is rejected (NaN too): t and y stay, and h = g. Both count as
    steps. A step fails if h' < smallest_step, if t' is not greater than t, if
    h' is NaN, or if a k_1,i is not finite. k_7 is k_1 of the next step, and
    k_1 stays where a step is rejected, so six evaluations make a step.
    `conserved` is left out.

    States and parameters have the shapes of `ode_rhs`; time, step size, steps
    and status are one number a zone. `conserved` names states with weights;
    it may be left out.

    Example:

    ```mlir
    %y1, %t1, %h1, %steps, %status = wavesmith.ode_integrate @net(%t, %end, %h, %y, %p)
        method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07>
        conserved ["H1" = 1.0, "He4" = 4.0] total 1.0 max_steps 1000000
        : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>, tensor<2x?xf64>)
        -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
    %y2, %t2, %h2, %steps2, %status2 = wavesmith.ode_integrate @net(%t, %end, %h, %y, %p)
        method #wavesmith.tsit5<absolute_tolerance = 1.0e-12, relative_tolerance = 1.0e-06>
        max_steps 10000
        : (tensor<?xf64>, f64, tensor<?xf64>, tensor<2x?xf64>, tensor<2x?xf64>)
        -> (tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$system,
                       1DTensorOf<[F64]>:$time, F64:$end,
                       1DTensorOf<[F64]>:$step,
                       2DTensorOf<[F64]>:$states,
                       Optional<2DTensorOf<[F64]>>:$parameters,
                       AnyAttrOf<[Wavesmith_AsymptoticAttr,
                                  Wavesmith_Tsit5Attr]>:$method,
                       StrArrayAttr:$conserved_states,
                       DenseF64ArrayAttr:$conserved_weights,
                       OptionalAttr<F64Attr>:$total,
                       I64Attr:$max_steps,
                       DefaultValuedAttr<Wavesmith_ZoneLayoutAttr,
                           "::wavesmith::ZoneLayout::StructureOfArrays">:$layout,
                       OptionalAttr<Wavesmith_OdeScheduleAttr>:$schedule);
  let results = (outs 2DTensorOf<[F64]>:$final_states,
                      1DTensorOf<[F64]>:$final_time,
                      1DTensorOf<[F64]>:$final_step,
                      1DTensorOf<[I32]>:$num_steps,
                      1DTensorOf<[I32]>:$status);
  let assemblyFormat = [{
    $system `(` $time `,` $end `,` $step `,` $states (`,` $parameters^)? `)`
    `method` $method custom<OptionalWeights>("\"conserved\"", $conserved_states, $conserved_weights)
    (`total` $total^)? `max_steps` $max_steps attr-dict `:`
    functional-type(operands, results)
  }];
}

#endif // WAVESMITH_ODE_OPS_TD
