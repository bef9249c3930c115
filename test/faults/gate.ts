import type { FileFaults } from "./fault.ts";

export const gateFaults: readonly FileFaults[] = [
  {
    file: "lib/gate/gated-cluster.ts",
    tests: ["test/unit/gate/gated-cluster.test.ts"],
    faults: [
      { what: "a write does not wait for the gate", find: "      await gate.enter(signal);\n", replace: "" },
      { what: "nobody asks when a request is sent", find: "      gate.assertOpen();\n", replace: "" },
      { what: "the lease is not asked any more", find: "      options.beforeSend?.();\n", replace: "" },
      { what: "a dry run asks, too", find: "if (options.dryRun === true) return write(options);", replace: "" },
      {
        what: "a request that took long to be sent is not tried again",
        find: "const maxTries = 3;",
        replace: "const maxTries: number = 1;",
      },
      {
        what: "a delete passes the gate",
        find: "delete: (ref, options, signal) => pass(options, signal, (given) => cluster.delete(ref, given, signal)),",
        replace: "delete: (ref, options, signal) => cluster.delete(ref, options, signal),",
      },
    ],
  },
  {
    file: "lib/gate/write-gate.ts",
    tests: ["test/unit/gate/write-gate.test.ts"],
    faults: [
      {
        what: "the monotonic clock alone says how old a look is",
        find: "Math.max(clock.now() - last.wall, clock.monotonic() - last.monotonic)",
        replace: "clock.monotonic() - last.monotonic",
      },
      {
        what: "a look counts from its answer",
        find: "last = { ...moment, reason };",
        replace: "last = { wall: clock.now(), monotonic: clock.monotonic(), reason };",
      },
      {
        what: "each asker looks for itself",
        find: "looking ??= look().finally(() => {",
        replace: "looking = look().finally(() => {",
      },
      {
        what: "a closed gate opens for want of an answer",
        find: "if (before === undefined) throw error;",
        replace: "if (before === undefined || last !== undefined) throw error;",
      },
      {
        what: "each look of a closed gate is logged",
        find: "if (last.reason !== undefined && before === undefined) {",
        replace: "if (last.reason !== undefined) {",
      },
      { what: "the last reason counts", find: "if (reason !== undefined) return reason;", replace: "" },
    ],
  },
  {
    file: "lib/gate/cluster-owner.ts",
    tests: ["test/unit/gate/cluster-owner.test.ts"],
    faults: [
      {
        what: "the owner of another cluster counts",
        find: "return cluster === clusterUid ? { owner: { id, where, version, since } } : undefined;",
        replace: "return cluster === undefined ? undefined : { owner: { id, where, version, since } };",
      },
      {
        what: "a take-over writes over what it has not seen",
        find: "metadata: { resourceVersion }, data",
        replace: "data",
      },
      { what: "the place of the former owner stays", find: "data: { where: null, ...data }", replace: "data" },
      {
        what: "an object that cannot be read lets everybody in",
        find: 'if ("fault" in said) {',
        replace: 'if ("fault" in said) return undefined;\n  if ("fault" in said) {',
      },
      {
        what: "another's creation at the same moment is a failure",
        find: '["AlreadyExists", "Conflict", "NotFound"]',
        replace: '["Conflict", "NotFound"]',
      },
      {
        what: "what cannot be found out is a fault of the object",
        find: "if (!(error instanceof ApiError)) throw error;",
        replace: "if (!(error instanceof ApiError) || error.code !== 200) throw error;",
      },
    ],
  },
  {
    file: "cli/take-over-command.ts",
    tests: ["test/unit/cli/take-over.test.ts"],
    faults: [
      {
        what: "a cluster is given to an id that no installation can have",
        find: "!/^[\\w.:/-]+$/.test(installation) || ",
        replace: "",
      },
      {
        what: "an id is written that is too long to be read again",
        find: " || installation.length > maxOwnerFieldChars",
        replace: "",
      },
      { what: "a state folder beside an id is ignored", find: '.conflicts("state")', replace: "" },
    ],
  },
];
