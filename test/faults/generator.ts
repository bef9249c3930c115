import type { FileFaults } from "./fault.ts";

const flow = ["artifact-generator", "generator-refusals", "killed-generator"].map(
  (name) => `test/unit/flows/artifact-generator/${name}.test.ts`,
);
const copies = ["test/unit/sources/generator/copy-files.test.ts"];

export const generatorFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/artifact-generator/artifact-generator-flow.ts",
    tests: flow,
    faults: [
      {
        what: "each artifact is published before the next one is made",
        find: "  for (const request of requests) stored.push(await buildAndStore(request, sources, budget, ctx));\n",
        replace:
          "  for (const request of requests) {\n    stored.push(await buildAndStore(request, sources, budget, ctx));\n    for (const one of stored) await publishArtifact(one, spec, observed, ctx);\n  }\n",
      },
      {
        what: "a paused generator that is deleted keeps its artifacts",
        find: "    await removeOthers(new Set(), await ownedArtifacts(ctx), before, ctx);\n",
        replace: "    if (live.metadata.annotations === undefined) await removeOthers(new Set(), [], before, ctx);\n",
      },
    ],
  },
  {
    file: "lib/flows/artifact-generator/owned-artifacts.ts",
    tests: flow,
    faults: [
      {
        what: "artifacts that a killed run has published are left over",
        find: "const names = new Set([...owned.map(({ metadata }) => metadata.name), ...listed]);",
        replace: "const names = new Set(listed);",
      },
      {
        what: "a removed output keeps its record",
        find: '    await deps.records.retain(key, "", [], run.fence, run.signal);\n',
        replace: "",
      },
    ],
  },
  {
    file: "lib/flows/artifact-generator/publish.ts",
    tests: flow,
    faults: [
      {
        what: "consumers are not woken for what a killed run has published",
        find: 'isChanged || !isListed(entry, before) || readyOf(before)?.status !== "True"',
        replace: "isChanged",
      },
      {
        what: "an artifact that has not changed wakes its consumers",
        find: "  if (isNews) await wakeConsumers",
        replace: "  if (isNews || !isChanged) await wakeConsumers",
      },
    ],
  },
  {
    file: "lib/flows/artifact-generator/drift.ts",
    tests: flow,
    faults: [
      {
        what: "an artifact that is missing from the store is not rebuilt",
        find: '    if (!(await isStored(name, uid, digest.data, ctx))) return "ArtifactMissing";\n',
        replace: "    void isStored;\n    void uid;\n",
      },
      {
        what: "a run that was killed counts as one that succeeded",
        find: 'if (ready?.status !== "True") return "NotReady";',
        replace: 'if (ready?.status === "False" || ready === undefined) return "NotReady";',
        equivalent: "a run that was killed left the generation, the sources or the objects different as well",
      },
    ],
  },
  {
    file: "lib/flows/source/read-source.ts",
    tests: flow,
    faults: [
      {
        what: "the address in the status of an ExternalArtifact chooses what is applied",
        find: "&& !(await deps.records.recorded(key, uid, generatedHere, run.signal));",
        replace: "&& generatedHere !== undefined && uid !== undefined;",
      },
    ],
  },
  {
    file: "lib/core/work-key.ts",
    tests: ["test/unit/flows/artifact-generator/artifact-generator.test.ts"],
    faults: [
      {
        what: "an artifact that a generator stored is given to every namespace",
        find: "return `${cluster}/${group}/${kind}/${namespace}/${name}`;",
        replace: "return `${cluster}/${group}/${kind}/${namespace && 0}/${name}`;",
        named: "in another namespace",
      },
    ],
  },
  {
    file: "lib/sources/generator/copy-files.ts",
    tests: copies,
    faults: [
      {
        what: "a path points outside of the artifact",
        find: 'return path === ".." || path.startsWith("../") || path.startsWith("/");',
        replace: 'return path === ".." || path.startsWith("/");',
      },
      {
        what: "a folder is copied without its name",
        find: "return copyPath(path, joined(to, posix.basename(path)), path, copying);",
        replace: "return copyPath(path, joined(to, posix.basename(path) && to), path, copying);",
      },
    ],
  },
];
