import { configureGlobal } from "fast-check";

/** A setup file of vitest, used only where SLUICE_PROPERTY_RUNS is set: how often a property is tried that does not say so itself. */
configureGlobal({ numRuns: Number(process.env["SLUICE_PROPERTY_RUNS"]) });
