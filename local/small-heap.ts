import { setFlagsFromString } from "node:v8";

// Imported first, for its effect: V8 takes up to 48 MB for young objects and keeps what it once took. Sluice waits most of
// the time, so it does with less and cleans up more often.
setFlagsFromString("--semi-space-growth-factor=1");
setFlagsFromString("--max-semi-space-size=2");
