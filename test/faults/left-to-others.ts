import type { FileFaults } from "./fault.ts";

const kinds = "test/unit/api/kinds/unreconciled.test.ts";
const unattended = "test/unit/health/unattended.test.ts";
const objects = "test/unit/flows/kustomization/unreconciled-objects.test.ts";
const stories = "test/e2e/flow/embedded.test.ts";
const named = "that Sluice does not reconcile";
const receiver = "test/unit/flows/receiver/selected-resources.test.ts";
const topics = "test/unit/core/topics.test.ts";

/** What Sluice does not reconcile and says so, and the hosts of a registry of ECR. */
export const leftToOthersFaults: readonly FileFaults[] = [
  {
    file: "lib/api/kinds/unreconciled.ts",
    tests: [kinds],
    faults: [
      {
        what: "Flagger's kinds do not count as Flux's or Flagger's",
        find: 'return group.endsWith(".fluxcd.io") || group === flaggerGroup;',
        replace: 'return group.endsWith(".fluxcd.io");',
      },
      {
        what: "a group with a prefix or suffix of Flux's counts as Flux's",
        find: 'group.endsWith(".fluxcd.io") || group === flaggerGroup',
        replace: 'group.includes("fluxcd.io") || group.endsWith(flaggerGroup)',
      },
      {
        what: "only kinds outside toolkit.fluxcd.io count as unreconciled",
        find: "if (!isFluxGroup(kind.group)) return false;",
        replace: 'if (!isFluxGroup(kind.group) || kind.group.endsWith("toolkit.fluxcd.io")) return false;',
      },
      {
        what: "kinds that are only read count as unreconciled",
        find: "kindOf(kind, [...reconciled, ...readKinds])",
        replace: "kindOf(kind, reconciled)",
      },
      {
        what: "an ImageUpdateAutomation is attributed to the other image controller",
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
        what: "a status write counts as a change of the object",
        find: 'managedFields.filter(({ subresource }) => subresource === undefined || subresource === "")',
        replace: "managedFields",
      },
      {
        what: "only the creation counts for an object's age",
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
        what: "a controller gets no time to handle an object",
        find: "now - Math.min(lastChangeOf(object), since) >= attendedWithinMs",
        replace: "now - Math.min(lastChangeOf(object), since) >= 0",
      },
      {
        what: "an API server whose clock is ahead makes an object wait longer",
        find: "Math.min(lastChangeOf(object), since)",
        replace: "lastChangeOf(object)",
      },
      {
        what: "kinds that are reconciled become unknown too",
        find: "if (!rules.isUnreconciled(refOf(object)) || !isUnattended(object)) return false;",
        replace: "if (!isUnattended(object)) return false;",
      },
      {
        what: "an object without a status is healthy, as for kstatus",
        find: 'if (status === "Current") return true;',
        replace: 'if (status === "Current") return false;',
      },
      {
        what: "a deleted or failed object becomes unknown",
        find: 'return status === "InProgress" && now -',
        replace: 'return status !== "Unknown" && now -',
      },
      {
        what: "a verdict waits for unreconciled objects",
        find: 'status !== "Current" && isAlone !== true',
        replace: 'status !== "Current" && isAlone !== undefined',
      },
      {
        what: "a verdict does not name unreconciled objects",
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
        what: "an object is reported in each run",
        find: "news: found.filter((ref) => !told.includes(markOf(ref)))",
        replace: "news: found.filter((ref) => told.length >= 0 || !told.includes(markOf(ref)))",
      },
      {
        what: "an interrupted run forgets earlier reports of other objects",
        find: '...(part === "all" ? [] : told)',
        replace: '...(part === "all" ? told.slice(0, 0) : told.slice(0, 0))',
      },
      {
        what: "an object that was removed and added is not reported again",
        find: '...(part === "all" ? [] : told)',
        replace: "...told",
      },
      {
        what: "objects of two kinds with one name are one",
        find: "return mark(refKey(ref));",
        replace: 'return mark(refKey({ ...ref, kind: "" }));',
      },
      {
        what: "very many objects are reported one by one",
        find: "found.length > maxToldObjects ? markOfKind : markOfObject",
        replace: "found.length > 10 * maxToldObjects ? markOfKind : markOfObject",
      },
      {
        what: "a newer version counts as unreconciled even if ours is served",
        find: "return (await target.resource({ group, kind, version: ours }, signal)) === undefined;",
        replace: "return (await target.resource({ group, kind, version }, signal)) !== undefined || ours === version;",
      },
      {
        what: "a cluster that does not report its served kinds fails the run",
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
        what: "a restart reports unreconciled objects again",
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
        what: "each run reports that the health of some objects is unknown",
        find: "return healthBefore !== unknown ||",
        replace: 'return healthBefore !== "True" ||',
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
        what: "any other kind counts as one of Flux",
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
        what: "a dual-stack host counts as a separate registry",
        find: '[...awsDomains, "on.aws"]',
        replace: "awsDomains",
      },
      {
        what: "a FIPS host counts as a separate registry",
        find: "ecr(?:-fips)?",
        replace: "ecr",
      },
      {
        what: "every partition has the default host of the first",
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
    file: "cli/objects/unreconciled.ts",
    tests: ["test/unit/cli/check-unreconciled.test.ts"],
    faults: [
      {
        what: "kinds without objects are named",
        find: "listed.filter(({ count }) => count !== 0)",
        replace: "listed.filter(({ count }) => count !== -1)",
      },
      {
        what: "one kind without the right to list it hides all others",
        find: "if (!(error instanceof ApiError)) throw error;\n    return { ...own, count: null",
        replace:
          "if (!(error instanceof ApiError) || error.code === 403) throw error;\n    return { ...own, count: null",
      },
    ],
  },
];
