r"""Engines: how the solutions of an instance are counted.

base                 The registry of engines: one decorator in an engine's own file, and everybody
                     knows it
complementarity      The engine `complementarity`: shallow ReLU nets, decided or counted
counter              Counting with what is certain first: ranks and root counts before any engine
exact                Real solutions counted exactly: msolve over Q on the rational instance
fsolve               The first paper's method: `scipy.optimize.fsolve` from up to 400 random
                     starts
homotopy             Complete counts of real solutions by parameter homotopy
multistart           Real solutions by many Newton runs: a rigorous lower bound where N is out of
                     reach
newton               Lower bounds for networks with activations: many starts, each solution
                     certified in balls
optimizers           The first paper's criterion for ReLU nets: an optimizer, and "a match" where
                     MSE < 1e-2
phcpy                Real solutions counted by phcpy: the reference engine
plans                What is known of an allocation before any instance is solved: ranks, then
                     root count
scip                 The engine `scip`: ReLU instances decided by SCIP, independent of our branch
                     and bound
search               A search for real solutions that needs no root count: some paths, Newton
                     runs, more paths
witness_search       Which rational instances have no real solution? A numerical guess for the
                     certificate
relu_exact           The engine `relu-exact`: ReLU normalization networks, by verdict or in
                     rationals
"""
