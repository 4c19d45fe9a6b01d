"""The test of a timeline that a rung on the simulator writes.

usage: timeline.py PROGRAM OUTPUT K_TILES WARPS [ARGUMENT...]

PROGRAM ARGUMENT... --trace OUTPUT must succeed. Every CTA must have these WARPS, as "1 producer, 2 consumer"; every warp
bars that follow each other without a gap; and every tile K_TILES loads or products, in order.
"""

import json
import subprocess
import sys
from collections import Counter, defaultdict

program, output, k_tiles, warps, *arguments = sys.argv[1:]
done = subprocess.run([program, *arguments, "--trace", output], capture_output=True, text=True)
if done.returncode:
    sys.exit(f"exit code {done.returncode}: {done.stdout}{done.stderr}")
with open(output) as file:
    events = json.load(file)["traceEvents"]
roles, bars = {}, defaultdict(list)
for event in events:
    warp = event["pid"], event["tid"]
    if event["name"] == "thread_name":
        roles[warp] = event["args"]["name"].replace(",", "").split()[0]
    elif event["ph"] == "X":
        bars[warp].append(event)
if not roles or set(roles) != set(bars):
    sys.exit(f"warps {sorted(roles)} have names, {sorted(bars)} have bars")
for cta in {cta for cta, _ in roles}:
    count = Counter(role for (own, _), role in roles.items() if own == cta)
    if (found := ", ".join(f"{number} {role}" for role, number in count.items())) != warps:
        sys.exit(f"CTA {cta} has {found}, not {warps}")
for warp, own in bars.items():
    for before, after in zip(own, own[1:]):
        if abs(before["ts"] + before["dur"] - after["ts"]) > 0.0025:  # three decimals each
            sys.exit(f"warp {warp}: a gap between {before} and {after}")
    does = "load" if roles[warp] == "producer" else "wait for data"
    found = [(bar["args"]["tile"], bar["args"]["k_tile"]) for bar in own if bar["name"] == does]
    expected = [(tile, k) for tile in range(found[-1][0] + 1) for k in range(int(k_tiles))]
    if found != expected:
        sys.exit(f"warp {warp}: {does} of {found}, not {expected}")
print(f"{len(roles)} warps, {sum(map(len, bars.values()))} bars")
