# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The names of the package, which __init__.py loads when they are used.

from wavesmith import importers as importers
from wavesmith import math as math
from wavesmith import simulator as simulator
from wavesmith import testing as testing
from wavesmith.kernel import CompiledModule as CompiledModule
from wavesmith.kernel import Device as Device
from wavesmith.kernel import DeviceError as DeviceError
from wavesmith.kernel import Kernel as Kernel
from wavesmith.kernel import NoDeviceError as NoDeviceError
from wavesmith.kernel import compile as compile
from wavesmith.kernel import load as load
from wavesmith.kernel import version as version
from wavesmith._attention import BlockMask as BlockMask
from wavesmith._attention import and_masks as and_masks
from wavesmith._attention import attention as attention
from wavesmith._attention import attention_mlir as attention_mlir
from wavesmith._attention import create_block_mask as create_block_mask
from wavesmith._attention import flex_attention as flex_attention
from wavesmith._attention import or_masks as or_masks
from wavesmith.errors import CompileError as CompileError
from wavesmith.system import Integration as Integration
from wavesmith.system import Status as Status
from wavesmith.system import System as System
from wavesmith.system import load_mechanism as load_mechanism
from wavesmith.system import ode_system as ode_system
from wavesmith.language import Parameter as Parameter
from wavesmith.language import Parameters as Parameters
from wavesmith.language import State as State
from wavesmith.language import States as States
from wavesmith.language import Time as Time
from wavesmith.language import arrhenius as arrhenius
from wavesmith.language import chebyshev as chebyshev
from wavesmith.language import chemically_activated as chemically_activated
from wavesmith.language import falloff as falloff
from wavesmith.language import nasa7 as nasa7
from wavesmith.language import plog as plog
from wavesmith.language import reaclib as reaclib
from wavesmith.language import reaction as reaction
from wavesmith.language import reduced_pressure as reduced_pressure
from wavesmith.language import reverse_rate as reverse_rate
from wavesmith.language import sri as sri
from wavesmith.language import term as term
from wavesmith.language import third_body as third_body
from wavesmith.language import troe as troe
from wavesmith.language import tsang as tsang
from wavesmith.language import weighted_sum as weighted_sum
from wavesmith.tuning import Trial as Trial
from wavesmith.tuning import Tuning as Tuning
from wavesmith.tuning import autotune as autotune

__all__: list[str]
