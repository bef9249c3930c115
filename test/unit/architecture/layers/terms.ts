import type { Layer } from "../check-layers.ts";

/** The terms, kinds and interfaces that all others use, the queue, and the engines that compute for them. */
export const termLayers: readonly Layer[] = [
  {
    folder: "lib/core",
    imports: [],
    why: "The terms that all layers use. It does no I/O and imports no other folder.",
  },
  {
    folder: "lib/core/network",
    imports: [],
    why: "The network policy is decided on plain values: it needs no port and no term.",
  },
  {
    folder: "lib/core/ports",
    imports: ["lib/core"],
    why: "The interfaces to the outside, what they throw, and the runs and clusters that flows get by them.",
  },
  {
    folder: "lib/identity",
    imports: ["lib/core", "lib/core/ports"],
    why: "The cloud identity of a service account, which flows and the keys of sops ask for.",
  },
  {
    folder: "lib/secrets",
    imports: ["lib/core", "lib/core/ports"],
    why: "What Secrets hold for connections, in Flux's words: trust of certificates, and proxies.",
  },
  {
    folder: "lib/process",
    imports: ["lib/core", "lib/core/ports"],
    why: "Adapter: the clock of the machine, and log entries as lines.",
  },
  {
    folder: "lib/api",
    imports: ["lib/core"],
    why: "The kinds as schemas and types. They do not know who uses them.",
  },
  {
    folder: "lib/api/kinds",
    imports: ["lib/core", "lib/api"],
    why: "One declaration for each kind, as plain data; the command line reads it without any flow.",
  },
  {
    folder: "lib/queue",
    imports: ["lib/core", "lib/core/ports", "lib/api", "lib/api/kinds"],
    why: "The work queue runs flows that it is given: it knows no kind's flow.",
  },
  {
    folder: "lib/gate",
    imports: ["lib/core", "lib/core/ports"],
    why: "Every write passes it, so it knows no writer.",
  },
  {
    folder: "lib/threads",
    imports: ["lib/core", "lib/core/ports"],
    why: "Decides whose turn it is to run in a thread, and its limits there. It does not know the programs of the threads.",
  },
  {
    folder: "lib/engine",
    imports: ["lib/core", "lib/core/ports", "lib/threads"],
    why: "Runs WebAssembly modules in threads, whatever they compute.",
  },
  {
    folder: "lib/cel",
    imports: ["lib/core", "lib/core/ports", "lib/engine"],
    why: "CEL is a module of the engine.",
  },
  {
    folder: "lib/health",
    imports: ["lib/core", "lib/core/ports", "lib/cel"],
    why: "Decides from an object whether it is ready; CEL evaluates a user's expressions.",
  },
];
