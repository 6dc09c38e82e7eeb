import re, subprocess

# Worlds: bounds of openings, writes, leaves, joins, crashes; F=1: the image in place of a disk is of another history.
WORLDS = {
    "stops": "O=2 W=1 L=0 J=1 C=0", "away": "O=3 W=1 L=0 J=1 C=0", "pulled": "O=2 W=1 L=1 J=1 C=0", "crash": "O=2 W=1 L=0 J=1 C=1",
    "pulled, crash": "O=2 W=1 L=1 J=1 C=1", "histories": "O=3 W=1 L=0 J=1 C=0 F=1", "histories, crash": "O=3 W=1 L=0 J=1 C=1 F=1 R=1",
    "histories, pulled, crash": "O=3 W=1 L=1 J=1 C=1 F=1 R=1", "no image": "O=3 W=1 L=0 J=2 C=1 R=0",
}
RULES = [
    ("(all rules)", ""), ("a record of what each disk held when it left", "held=0"), ("that record is durable before the view without the disk", "before=0"),
    ("superblocks in two rounds at a stop, which state what every member held", "rounds=0"), ("the record has the journal too", "journal=0"),
    ("a disk that was joining is judged by its record", "joiner=0"), ("a record is not replaced by a weaker one", "keep=0"),
    ("a disk with less is stale as a whole", "whole=0"), ("a disk that has just left is judged before the next session writes to it", "voter=0"), ("tokens of sessions are compared", "token=0"), ("a view that is proposed names the session that opens", "pending=0"),
    ("(limit: the image was made after the last record of the metadata)", "meta=0"),
]
for name, rule in RULES:
    total, noticed = 0, ""
    for world, bounds in WORLDS.items():
        run = subprocess.run(["nice", "./membership", "trace=0", "max=15"] + bounds.split() + rule.split(), capture_output=True, text=True).stdout
        total += int(re.search(r"states (\d+)", run).group(1))
        capped = "CAPPED" in run
        if "VIOLATION" in run:
            noticed = f"{world}: " + run.split("VIOLATION: ")[1].strip()
            break
        if capped:
            print(f"   {world}: not all states", flush=True)
    print(name, "|", rule, "|", noticed or f"no violation in {total} states", flush=True)
