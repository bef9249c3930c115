import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

// Imported first, for its effect. V8 takes up to 64 MB for young objects and keeps what it once took; Sluice waits most of
// the time. With the 2 MB it begins with, though, what a run allocates is looked through so often that it takes twice as
// long. So the room is made once as large as a run of a few objects needs, and then never grows. (Sizes cannot be set in a
// process that runs: of V8's flags for this room only the factor that it grows by still counts.)
const youngBytes = 16 * 1024 * 1024;
const enough = 10_000;

function youngSize(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? youngBytes;
}

// The room grows when what is in it stays alive.
setFlagsFromString("--semi-space-growth-factor=8");
const alive: unknown[] = [];
while (youngSize() < youngBytes && alive.length < enough) alive.push(Array.from({ length: 512 }));
alive.length = 0;
setFlagsFromString("--semi-space-growth-factor=1");
// Old objects are looked through when they have doubled: left to itself V8 lets them grow to four times what is in use.
setFlagsFromString("--heap-growing-percent=100");
