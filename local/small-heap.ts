import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

// Imported first, for its effect. V8 uses up to 64 MB for young objects and never gives them back; Sluice waits most of the
// time. With the initial 2 MB, though, V8 collects so often during a run that the run takes twice as long. So this makes the
// space once as large as a run of a few objects needs, and then keeps it from growing. (A running process cannot set the size:
// of V8's flags for this space only its growth factor still counts.)
const youngBytes = 16 * 1024 * 1024;
const enough = 10_000;

function youngSize(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? youngBytes;
}

// The space grows when the objects in it stay alive.
setFlagsFromString("--semi-space-growth-factor=8");
const alive: unknown[] = [];
while (youngSize() < youngBytes && alive.length < enough) alive.push(Array.from({ length: 512 }));
alive.length = 0;
setFlagsFromString("--semi-space-growth-factor=1");
// Collects old objects when they have doubled: by default V8 lets them grow to four times the size in use.
setFlagsFromString("--heap-growing-percent=100");
