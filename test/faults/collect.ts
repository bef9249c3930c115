import type { FileFaults } from "./fault.ts";

const ofCollection = ["test/unit/sources/collect/collect-artifacts.test.ts"];

export const collectFaults: readonly FileFaults[] = [
  {
    file: "lib/sources/collect/collect-artifacts.ts",
    tests: ofCollection,
    faults: [
      {
        what: "an artifact is deleted by the collection that finds it first",
        find: "Math.min(known.get(digest) ?? now, now)",
        replace: "Math.min(known.get(digest) ?? 0, now)",
      },
      {
        what: "an artifact is deleted a day too late",
        find: "(since.get(artifact.digest) ?? now) > now - graceMs",
        replace: "(since.get(artifact.digest) ?? now) >= now - graceMs",
      },
      {
        what: "a new artifact counts as unnamed",
        find: "artifact.storedAt <= now - graceMs && ",
        replace: "",
      },
      {
        what: "an artifact that a source names is deleted",
        find: " && !named.has(artifact.digest)",
        replace: "",
      },
      {
        what: "an empty table allows deleting everything",
        find: "if (named.size === 0) {",
        replace: "if (named.size < 0) {",
      },
      {
        what: "a clock that was ahead keeps an artifact",
        find: "Math.min(known.get(digest) ?? now, now)",
        replace: "known.get(digest) ?? now",
      },
      {
        what: "the list is not stored",
        find: "  await artifacts.keepUnnamed(since, signal);\n  let deleted = 0;",
        replace: "  let deleted = 0;",
      },
      {
        what: "more artifacts are remembered than the limit says",
        find: "unnamed.length < maxUnnamed && ",
        replace: "",
        tests: ["test/unit/sources/collect/collect-limit.test.ts"],
      },
    ],
  },
  {
    file: "local/state/artifact-files.ts",
    tests: [...ofCollection, "test/contract/local-state.test.ts"],
    faults: [
      {
        what: "an artifact that is stored again stays old",
        find: "        await utimes(file, now, now);\n",
        replace: "",
      },
      {
        what: "an artifact that was stored again is deleted",
        find: "statSync(file, { throwIfNoEntry: false })?.mtimeMs !== storedAt",
        replace: "statSync(file, { throwIfNoEntry: false }) === undefined",
      },
    ],
  },
  {
    file: "lib/core/unnamed-artifacts.ts",
    tests: ["test/unit/core/unnamed-artifacts.test.ts"],
    faults: [
      {
        what: "a damaged digest is read",
        find: "if (digest.success) unnamed.set(digest.data, Number(since));",
        replace: 'if (named !== "") unnamed.set(named as Digest, Number(since));',
      },
    ],
  },
];
