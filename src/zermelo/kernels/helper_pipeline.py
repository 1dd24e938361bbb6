"""A numba pipeline for functions that only kernels call: it stops at LLVM code.

By default numba optimises every function, together with all functions that it calls, and turns it
into machine code of its own. Helpers are always inlined into a kernel, which is then optimised as a
whole, so this work would be thrown away: it is a third of the time to compile all kernels.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering


class HelperLibrary(JITCodeLibrary):
    """The LLVM code of a helper, to be linked into kernels but never run by itself."""

    def _optimize_final_module(self) -> None:
        """Leave the optimisation to the kernel."""

    def _finalize_final_module(self) -> None:
        """Mark the code as complete without turning it into machine code."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class HelperLowering(NativeLowering):
    """The lowering of a helper: numba's own, without an executable function at the end."""

    _name = "helper_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower a function, and register its code for the functions that call it."""
        codegen = state.targetctx.codegen()
        state.library = HelperLibrary(codegen, state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        # numba identifies a callee by a built-in function: this one is unique, and never called.
        callee = object().__sizeof__
        state.targetctx.insert_user_function(callee, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=callee)
        return True


class HelperCompiler(CompilerBase):
    """The compiler of helpers: numba's usual passes, with `HelperLowering`."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the only pipeline."""
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [
            (HelperLowering if step is NativeLowering else step, description)
            for step, description in pipeline.passes
        ]
        pipeline.finalize()
        return [pipeline]
