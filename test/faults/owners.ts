import type { FileFaults } from "./fault.ts";

/** Mistakes between two owners of objects, with names that begin alike, and in the order of their objects. */
export const ownerFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/owner/owners-nearby.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a prune deletes a namespace with HelmRelease objects",
        find: 'const all = [...kustomizations, ...(await ownersOfKind("HelmRelease", home, signal))];',
        replace: "const all = kustomizations.filter(() => home !== undefined && !signal.aborted);",
        named: "while a HelmRelease has objects",
      },
    ],
  },
  {
    file: "lib/flows/owner/sharing-target.ts",
    tests: ["test/unit/flows/owner/sharing-target.test.ts"],
    faults: [
      {
        what: "a cluster that does not answer one home is left out by all of them",
        find: "const text = `${run.key.cluster} ${kubeConfigText(other)}`;",
        replace: "const text = kubeConfigText(other);",
      },
    ],
  },
  {
    file: "lib/flows/owner/kube-config-field.ts",
    tests: ["test/unit/flows/owner/sharing-target.test.ts"],
    faults: [
      {
        what: "Secrets of one name in two namespaces count as one cluster",
        find: "JSON.stringify([metadata.namespace, KubeConfigOf",
        replace: "JSON.stringify([KubeConfigOf",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/dependency-cycle.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a dependency without a namespace is looked for in that of the first object of the path",
        find: "needed(found.spec.dependsOn ?? [], key, deps.gates)",
        replace: "needed(found.spec.dependsOn ?? [], run.key, deps.gates)",
        named: "a dependency cycle through another namespace is reported",
      },
      {
        what: "a ready member of another source counts as waiting",
        find: "isSameSource && status.lastAppliedRevision !== source.revision",
        replace: "status.lastAppliedRevision !== source.revision",
        named: "of another source is ready and waits for nothing",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/blocked.ts",
    tests: ["test/e2e/helm-release/preconditions.test.ts"],
    faults: [
      {
        what: "a HelmRelease whose dependency does not exist only waits: isMissing is ignored",
        find: "outcomeOfWait({ isMissing })",
        replace: "outcomeOfWait({ isMissing: isMissing && event === undefined })",
        named: "that does not exist fails the run",
      },
    ],
  },
  {
    file: "lib/flows/helm-release/dependency-cycle.ts",
    tests: ["test/e2e/helm-release/preconditions.test.ts"],
    faults: [
      {
        what: "a circle of HelmReleases is not named",
        find: "const dependencies = needed(rotated, run.key, deps.gates);",
        replace: "const dependencies = needed([], run.key, deps.gates);",
        named: "that depends on it in turn is named with the whole circle",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/report.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "a new generation does not wake the dependents",
        find: "const announced = `${source.revision} ${ctx.generation}`;",
        replace: "const announced = source.revision;",
        named: "a dependent is woken by the next run if a run was killed",
      },
    ],
  },
  {
    file: "lib/apply/prune/cascade-refusals.ts",
    tests: ["test/unit/apply/prune/cascade-refusals.test.ts"],
    faults: [
      {
        what: "a namespace waits for a kept object that is deleted anyway",
        find: "  if (object.metadata.deletionTimestamp !== undefined) return [];\n",
        replace: "",
      },
    ],
  },
  {
    file: "lib/apply/status-inventory.ts",
    tests: ["test/unit/flows/kustomization/status.test.ts"],
    faults: [
      {
        what: "the status shows what was only planned",
        find: 'state !== "live" && !(state === "planned" && shownBefore.has(id))',
        replace: 'state !== "live" && state !== "planned"',
      },
    ],
  },
  {
    file: "lib/apply/prune/release.ts",
    tests: ["test/unit/apply/prune/prune.test.ts"],
    faults: [
      {
        what: "waiting owners are not woken if one object is ours again",
        find: "!returned.has(decision.entry.id)",
        replace: "returned.size === 0",
      },
    ],
  },
  {
    file: "lib/apply/set/apply-order.ts",
    tests: ["test/unit/apply/set/apply-order.test.ts"],
    faults: [
      {
        what: "a kind with Class inside its name is of the stage of classes",
        find: 'kind.endsWith("Class")',
        replace: 'kind.includes("Class")',
      },
    ],
  },
  {
    file: "lib/flows/owner/config-map-target.ts",
    tests: ["test/e2e/flow/two-clusters.test.ts"],
    faults: [
      {
        what: "the default account comes before the one that the ConfigMap names",
        find: 'const name = given === "" ? defaultKubeconfigAccount : given;',
        replace: 'const name = defaultKubeconfigAccount === "" ? given : defaultKubeconfigAccount;',
        named: "or as the default one of the installation",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/other-owners.ts",
    tests: ["test/e2e/flow/embedded.test.ts"],
    faults: [
      {
        what: "one of the same source that was edited counts as done at this revision",
        find: "    status.observedGeneration === metadata.generation &&\n    isTrue",
        replace: "    isTrue",
        named: "also if an edit of both moves it",
      },
    ],
  },
];
