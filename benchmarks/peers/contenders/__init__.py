"""How each package does each work: one module for a package, one function for a work.

A function takes the inputs of the work (arrays by name) and returns what to run, which is timed,
and what makes an array to compare out of its result, which is not. Turning the inputs into the
package's own form belongs to neither. Each module is run by path in the package's own interpreter,
so it imports its package inside its functions and nothing of ours, except `ours` and `growth`.
"""
