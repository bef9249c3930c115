import { setFlagsFromString } from "node:v8";

// Imported first, for its effect: V8 takes up to 64 MB for young objects and keeps what it once took. Sluice waits most of
// the time, so the room stays as small as it begins and is cleaned up more often. Of V8's flags for this room only this one
// still counts in a process that runs.
setFlagsFromString("--semi-space-growth-factor=1");
// Old objects are looked through when they have doubled: left to itself V8 lets them grow to four times what is in use.
setFlagsFromString("--heap-growing-percent=100");
