r"""Engines: methods that count the solutions of an instance.

base                 The registry of engines: a decorator in an engine's own file adds it
complementarity      The engine `complementarity`: shallow ReLU nets, decided or counted
counter              Counts by ranks and root counts first, then by an engine
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
plans                Results on an allocation before any instance is solved: ranks and the root
                     count
scip                 The engine `scip`: ReLU instances decided by SCIP, independent of our branch
                     and bound
search               A search for real solutions that needs no root count: some paths, Newton
                     runs, more paths
witness_search       A numerical search for rational instances without real solutions, for
                     certificates
relu_exact           The engine `relu-exact`: ReLU normalization networks, by verdict or in
                     rationals
"""
