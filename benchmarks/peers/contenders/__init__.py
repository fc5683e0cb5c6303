"""How each package does each work: one module for a package, one function for a work.

A function takes the inputs of the work (arrays by name) and returns what to run, which is timed,
and what makes an array to compare out of its result, which is not. Turning the inputs into the
package's own form belongs to neither. Each module is run by path in the package's own interpreter,
so it imports its package inside its functions, and nothing of ours but `held_out`, by its bare name
and inside its functions too. Only the modules that run this package itself import more.
`beforehand`, where there is one, is called first in the process of the contender.
"""
