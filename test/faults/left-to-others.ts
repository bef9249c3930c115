import type { FileFaults } from "./fault.ts";

const kinds = "test/unit/api/kinds/unreconciled.test.ts";
const unattended = "test/unit/health/unattended.test.ts";
const objects = "test/unit/flows/kustomization/unreconciled-objects.test.ts";
const stories = "test/e2e/flow/embedded.test.ts";
const named = "that Sluice does not reconcile";
const receiver = "test/unit/flows/receiver/receiver-flow.test.ts";
const topics = "test/unit/core/topics.test.ts";

/** What Sluice does not reconcile and says so, and the hosts of a registry of ECR. */
export const leftToOthersFaults: readonly FileFaults[] = [
  {
    file: "lib/api/kinds/unreconciled.ts",
    tests: [kinds],
    faults: [
      {
        what: "Flagger's kinds count as anybody's",
        find: 'return group.endsWith(".fluxcd.io") || group === flaggerGroup;',
        replace: 'return group.endsWith(".fluxcd.io");',
      },
      {
        what: "a group that only begins or ends alike is Flux's",
        find: 'group.endsWith(".fluxcd.io") || group === flaggerGroup',
        replace: 'group.includes("fluxcd.io") || group.endsWith(flaggerGroup)',
      },
      {
        what: "only kinds outside toolkit.fluxcd.io are left to others",
        find: "if (!isFluxGroup(kind.group)) return false;",
        replace: 'if (!isFluxGroup(kind.group) || kind.group.endsWith("toolkit.fluxcd.io")) return false;',
      },
      {
        what: "what is only read is left to others",
        find: "kindOf(kind, [...reconciled, ...readKinds])",
        replace: "kindOf(kind, reconciled)",
      },
      {
        what: "an ImageUpdateAutomation is said to be of the other image controller",
        find: 'if (kind === "ImageUpdateAutomation") return "image-automation-controller";',
        replace: "",
      },
    ],
  },
  {
    file: "lib/health/unattended.ts",
    tests: [unattended],
    faults: [
      {
        what: "a status of an earlier generation counts for this one",
        find: "observed.every((value) => value < generation)",
        replace: "observed.every((value) => value < 0)",
      },
      {
        what: "conditions of this generation do not count",
        find: '[status["observedGeneration"], ...conditionsOf(status).map((one) => one["observedGeneration"])]',
        replace: '[status["observedGeneration"]]',
      },
      {
        what: "a status without a generation does not count",
        find: 'return Object.keys(status).every((field) => field === "observedGeneration");',
        replace: "return true;",
      },
      {
        what: "a write of the status is a change of the object",
        find: 'managedFields.filter(({ subresource }) => subresource === undefined || subresource === "")',
        replace: "managedFields",
      },
      {
        what: "an object is as old as its first version",
        find: "const times = [creationTimestamp, ...changes.map(({ time }) => time)];",
        replace: "const times = [creationTimestamp, ...changes.slice(0, 0).map(({ time }) => time)];",
      },
    ],
  },
  {
    file: "lib/health/check-health.ts",
    tests: [unattended],
    faults: [
      {
        what: "an object has no time in which a controller may come to it",
        find: "now - Math.min(lastChangeOf(object), since) >= attendedWithinMs",
        replace: "now - Math.min(lastChangeOf(object), since) >= 0",
      },
      {
        what: "an API server whose clock is ahead makes an object wait longer",
        find: "Math.min(lastChangeOf(object), since)",
        replace: "lastChangeOf(object)",
      },
      {
        what: "kinds that are reconciled are given up too",
        find: "if (!rules.isUnreconciled(refOf(object)) || !isUnattended(object)) return false;",
        replace: "if (!isUnattended(object)) return false;",
      },
      {
        what: "an object without a status is healthy, as for kstatus",
        find: 'if (status === "Current") return true;',
        replace: 'if (status === "Current") return false;',
      },
      {
        what: "an object that is being deleted or has failed is given up",
        find: 'return status === "InProgress" && now -',
        replace: 'return status !== "Unknown" && now -',
      },
      {
        what: "a verdict waits for what nobody reconciles",
        find: 'status !== "Current" && isAlone !== true',
        replace: 'status !== "Current" && isAlone !== undefined',
      },
      {
        what: "a verdict does not name what nobody reconciles",
        find: "observed.filter((one) => one.isUnattended === true)",
        replace: 'observed.filter((one) => one.isUnattended === undefined && one.status === "Unknown")',
      },
    ],
  },
  {
    file: "lib/flows/kustomization/unreconciled-objects.ts",
    tests: [objects],
    faults: [
      {
        what: "an object is told of in each run",
        find: "news: found.filter((ref) => !told.includes(markOf(ref)))",
        replace: "news: found.filter((ref) => told.length >= 0 || !told.includes(markOf(ref)))",
      },
      {
        what: "a run that stops halfway forgets what was told of the others",
        find: '...(part === "all" ? [] : told)',
        replace: '...(part === "all" ? told.slice(0, 0) : told.slice(0, 0))',
      },
      {
        what: "an object that was taken out is never told of again",
        find: '...(part === "all" ? [] : told)',
        replace: "...told",
      },
      {
        what: "objects of two kinds with one name are one",
        find: "return mark(refKey(ref));",
        replace: 'return mark(refKey({ ...ref, kind: "" }));',
      },
      {
        what: "very many objects are told of one by one",
        find: "found.length > maxToldObjects ? markOfKind : markOfObject",
        replace: "found.length > 10 * maxToldObjects ? markOfKind : markOfObject",
      },
      {
        what: "a later version is left to others even where ours is served",
        find: "return (await target.resource({ group, kind, version: ours }, signal)) === undefined;",
        replace: "return (await target.resource({ group, kind, version }, signal)) !== undefined || ours === version;",
      },
      {
        what: "a cluster that does not say what it serves fails the run",
        find: "if (error instanceof ApiError) return false;",
        replace: "if (error instanceof TypeError) return false;",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/told-objects.ts",
    tests: [objects],
    faults: [
      {
        what: "the carried state grows without a limit",
        find: "told = marks.slice(0, maxToldObjects);",
        replace: "told = marks;",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/kustomization-flow.ts",
    tests: [stories],
    faults: [
      {
        what: "a restart tells again of objects that are not reconciled",
        find: "const carried = ctx.told.addTo(result.carried);",
        replace: "const carried = result.carried;",
        named,
      },
    ],
  },
  {
    file: "lib/flows/kustomization/report.ts",
    tests: [stories],
    faults: [
      {
        what: "a Kustomization with objects of unknown health is Healthy",
        find: '{ type: "Healthy", status: "Unknown", reason: "NotReconciled", message: unknown }',
        replace: '{ type: "Healthy", status: "True", reason: "NotReconciled", message: unknown }',
        named,
      },
      {
        what: "each run tells that the health of some objects is not known",
        find: "was?.message === unknown",
        replace: 'was?.status === "True"',
        named,
      },
    ],
  },
  {
    file: "lib/flows/receiver/select-resources.ts",
    tests: [receiver],
    faults: [
      {
        what: "a kind that is not reconciled fails each delivery",
        find: "if (isUnreconciled === true) return { ...own, objects: [] };",
        replace: 'if (isUnreconciled === true) return { ...own, fault: "not reconciled", objects: [] };',
      },
      {
        what: "objects of a kind that is not reconciled are listed",
        find: "fault === undefined && isUnreconciled !== true",
        replace: "fault === undefined",
      },
      {
        what: "a kind of anybody counts as one of Flux",
        find: "if (isFluxGroup(pool.group)) return",
        replace: 'if (pool.group !== "") return',
      },
    ],
  },
  {
    file: "lib/flows/receiver/receiver-flow.ts",
    tests: [receiver],
    faults: [
      {
        what: "a Receiver warns of kinds that are not reconciled in each run",
        find: "if (ready?.message.endsWith(message) === true) return;",
        replace: "if (ready === undefined) return;",
      },
    ],
  },
  {
    file: "lib/core/ecr-registry.ts",
    tests: [topics],
    faults: [
      {
        what: "a dual-stack host is a registry of its own",
        find: '[...awsDomains, "on.aws"]',
        replace: "awsDomains",
      },
      {
        what: "a FIPS host is a registry of its own",
        find: "ecr(?:-fips)?",
        replace: "ecr",
      },
      {
        what: "the usual host of any partition is that of the first",
        find: "${region}.${domainOfRegion(region)}`",
        replace: "${region}.${awsDomains[0] ?? domainOfRegion(region)}`",
      },
    ],
  },
  {
    file: "functions/settings/allowed-repositories.ts",
    tests: ["test/unit/functions/config.test.ts"],
    faults: [
      {
        what: "a registry is allowed by the one host that is listed",
        find: "    .map(canonical)\n",
        replace: '    .map((pattern) => (pattern === "" ? canonical(pattern) : pattern))\n',
      },
    ],
  },
  {
    file: "cli/check-unreconciled.ts",
    tests: ["test/unit/cli/check-unreconciled.test.ts"],
    faults: [
      {
        what: "kinds without objects are named",
        find: "listed.filter(({ count }) => count !== 0)",
        replace: "listed.filter(({ count }) => count !== -1)",
      },
      {
        what: "one kind that may not be listed hides all others",
        find: "if (!(error instanceof ApiError)) throw error;\n    return { ...own, count: null",
        replace:
          "if (!(error instanceof ApiError) || error.code === 403) throw error;\n    return { ...own, count: null",
      },
    ],
  },
];
