# Goes through all worlds of evidence.cpp with all rules, then takes each rule out. Prints a line each: the rule, and the world
# and the promise that notice its removal. The exit code is the number of unexpected results.
import re, subprocess, sys

WORLDS = {
    "two copies, writes": "copies=2 writes=2 zeroings=1 kills=1 cuts=1 flushes=2",
    "one copy, writes": "copies=1 writes=2 zeroings=1 kills=2 cuts=1 flushes=2 writebacks=1",
    "one copy, never written": "copies=1 never=1 writes=2 kills=1 cuts=1 flushes=2 faults=1 rotCopy=1 moves=1",
    "one copy, never written, rot of page and log":
        "copies=1 never=1 writes=1 zeroings=1 kills=1 cuts=1 flushes=1 faults=1 rotPage=1 rotLog=1",
    "rot of both copies": "copies=2 writes=1 neighbours=1 kills=1 cuts=2 faults=2 rotCopy=1",
    "rot of the only copy, pages": "copies=1 writes=1 neighbours=1 moves=1 kills=1 cuts=2 faults=1 rotCopy=1 writebacks=1 flushes=1",
    "disks leave": "copies=2 writes=2 kills=2 cuts=1 flushes=1 leaves=1 returns=1",
    "disks leave and rot": "copies=2 writes=1 neighbours=1 kills=2 cuts=1 flushes=1 leaves=1 returns=1 faults=1 rotCopy=1",
    "disks leave, two cuts and rot": "copies=2 writes=1 neighbours=1 kills=1 cuts=2 flushes=1 leaves=1 returns=1 faults=1 rotCopy=1",
    "older version": "copies=2 writes=2 kills=1 cuts=1 flushes=1 leaves=1 returns=1 faults=1 oldCopy=1",
    "rot of pages": "copies=2 writes=1 zeroings=1 kills=1 flushes=1 leaves=1 returns=1 faults=1 rotPage=1 writebacks=2",
    "rot of pages and a cut": "copies=2 writes=1 kills=1 cuts=1 flushes=1 leaves=1 returns=1 faults=1 rotPage=1 writebacks=1",
    "rot of the log": "copies=2 writes=1 zeroings=1 kills=1 cuts=1 flushes=2 leaves=1 returns=1 faults=1 rotLog=1",
    "failed writes": "copies=2 writes=2 kills=1 cuts=1 leaves=1 returns=1 faults=1 failWrite=1 flushes=1",
    "failed writes on one copy": "copies=1 writes=3 kills=1 cuts=1 flushes=1 faults=2 failWrite=1",
    "caches lost": "copies=2 writes=1 kills=1 cuts=1 faults=2 loseCache=1 flushes=1 leaves=1 returns=1 rotCopy=1",
    "opened anew": "copies=1 writes=2 zeroings=1 flushes=1 reopenings=1 kills=1 faults=2 loseCache=1 rotCopy=1",
    "moves": "copies=2 writes=1 neighbours=1 moves=1 kills=1 leaves=1 returns=1 faults=1 rotCopy=1 rotPage=1 writebacks=1 cuts=1 flushes=1",
    "moves of zeroed blocks": "copies=1 writes=1 zeroings=1 moves=1 kills=1 cuts=1 flushes=1 neighbours=1",
    "retirement": "copies=2 writes=1 neighbours=1 retires=1 leaves=1 returns=1 faults=1 rotCopy=1 rotPage=1 rotLog=1 flushes=1 cuts=1 kills=1",
    "three copies": "copies=3 writes=1 flushes=1 kills=1 cuts=1 leaves=2 returns=1 faults=1 rotCopy=1",
}

RULES = re.findall(r"RULE\((\w+)\)", open("evidence-rules.h").read())[0:]

def run(world, removed=None):
    arguments = ["nice", "-n", "10", "./evidence", "trace=0", *world.split()]
    if removed: arguments.append(removed + "=0")
    out = subprocess.run(arguments, capture_output=True, text=True).stdout
    states = int(re.search(r"states (\d+)", out).group(1))
    return states, out.split("VIOLATION: ")[1].split("\n")[0] if "VIOLATION" in out else "", "CAPPED" in out
total = 0
for name, world in WORLDS.items():
    states, violation, capped = run(world)
    total += states
    print(f"{states:9d}  {name}: {violation or 'no violation'}{' CAPPED' if capped else ''}", flush=True)
print(total)
for rule in RULES:
    if rule == "name": continue
    for name, world in WORLDS.items():
        states, violation, capped = run(world, rule)
        if violation: print(f"{rule}: {name} ({states}): {violation}", flush=True); break
    else: print(f"{rule}: NOT NOTICED", flush=True)
