"""Goes through all states of a model breadth first, with all of its rules and then with each of them taken out."""
import collections


def explore(first, steps, wrong):
    """Number of states seen, what is wrong in the first bad one (or None), and the names of the steps that lead to it."""
    came = {state: None for state in first}
    todo = collections.deque(came)
    while todo:
        state = todo.popleft()
        what = wrong(state)
        if what:
            trace = []
            while came[state]:
                state, name = came[state]
                trace.append(name)
            return len(came), what, trace[::-1]
        for name, after in steps(state):
            if after not in came:
                came[after] = (state, name)
                todo.append(after)
    return len(came), None, []


def check(rules, first, steps, wrong, forced=()):
    """Prints a line for each run. The exit code: how many runs ended otherwise than they should; a forced rule need not be noticed."""
    states, what, trace = explore(first, lambda state: steps(state, set(rules)), wrong)
    print(f'all rules: {states} states, {what or "no violation"}', *trace, sep='\n    ')
    bad = int(what is not None)
    for rule in rules:
        states, what, trace = explore(first, lambda state: steps(state, set(rules) - {rule}), wrong)
        print(f'without {rule}: {states} states, {what or "NOT NOTICED"}' + (f' after {", ".join(trace)}' if what else ''))
        bad += what is None and rule not in forced
    return bad
