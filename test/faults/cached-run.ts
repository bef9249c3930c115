import type { FileFaults } from "./fault.ts";

const story = "test/e2e/flow/unchanged-run.test.ts";

/** Decisions about what a run may take from the process in place of the API server. */
export const cachedRunFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/kustomization/cached-run.ts",
    tests: [story],
    faults: [
      {
        what: "a requested run uses cached objects",
        find: "  if (isRequested || !ended.success) return undefined;",
        replace: "  if (!ended.success) return undefined;",
        named: "writes its status if it was requested",
      },
      {
        what: "a killed run between two others is ignored",
        find: "  if (fence.token !== read.token + 1) return undefined;\n",
        replace: "",
        named: "after a run that was killed",
      },
      {
        what: "objects are not read again once an hour",
        find: "  return isDone && isShownOfLate(status.data ?? {}, clock.now()) ? read : undefined;",
        replace: "  return isDone ? read : undefined;",
        named: "once an hour",
      },
      {
        what: "drift is reverted from cached objects",
        find: "asTarget(guardedCluster(await deps.targetOf(live, signal), refuse))",
        replace: "asTarget(await deps.targetOf(live, signal))",
        equivalent: "the second line: the status that announces a change is written first, and refused",
      },
      {
        what: "a refused write does not make the run read again",
        find: "    if (refusing.isRefused()) return undefined;\n",
        replace: "",
        equivalent: "a refused write throws, and only the history's is caught: where that is written, so is the status",
      },
      {
        what: "the status is written from cached objects",
        find: "asHome({ ...readOnly, create })",
        replace: "asHome({ ...home, create })",
        named: "from an outdated cached one",
      },
      {
        what: "an event of another outcome is sent from cached objects",
        find: '  return manifest.kind === "Event" && manifest["reason"] === "ReconciliationSucceeded";',
        replace: '  return manifest.kind === "Event" && manifest["reason"] !== "";',
        equivalent: "the second line: what another event tells is written first, and refused",
      },
      {
        what: "the finished event of a run on cached objects is lost",
        find: "    for (const event of refusing.events) await sendEvent(event, deps.home, run, deps.log);\n",
        replace: "",
        named: "writes the event of its end",
      },
      {
        what: "an ExternalArtifact is cached",
        find: "  return group === sourceGroup && kind !== declaredExternalArtifact.kind;",
        replace: "  return group === sourceGroup;",
        named: "reads an ExternalArtifact in each run",
      },
      {
        what: "dependencies and ConfigMaps are read as the source",
        find: "  const isCached = (ref: ObjectRef): boolean => isSame(ref, key) || isSource(ref);",
        replace: "  const isCached = (_ref: ObjectRef): boolean => true;",
        named: "reads its dependencies other than the source",
      },
    ],
  },
  {
    file: "lib/flows/kustomization/object-cache.ts",
    tests: ["test/unit/flows/kustomization/object-cache.test.ts"],
    faults: [
      {
        what: "an older version of an object is found",
        find: "live?.metadata.uid === uid && live.metadata.resourceVersion === resourceVersion",
        replace: "live?.metadata.uid === uid",
      },
      {
        what: "an earlier object of the same name is found",
        find: "live?.metadata.uid === uid && live.metadata.resourceVersion === resourceVersion",
        replace: "live?.metadata.resourceVersion === resourceVersion",
      },
      {
        what: "objects of the same name in two clusters are one",
        find: "put: (key, live) => cached.set(formatWorkKey(key), live),",
        replace: 'put: (key, live) => cached.set(formatWorkKey({ ...key, cluster: "there" }), live),',
      },
    ],
  },
  {
    file: "lib/flows/kustomization/report.ts",
    tests: [story],
    faults: [
      {
        what: "a requested run does not write the status",
        find: "isRemembered || ctx.run.isRequested || saysMore(next, ctx)",
        replace: "isRemembered || saysMore(next, ctx)",
        named: "writes its status if it was requested",
      },
      {
        what: "the duration of a health check makes each run write its status",
        find: `isPassed(one) ? { ...one, message: "", lastTransitionTime: "" } : one`,
        replace: `isPassed(one) ? { ...one, lastTransitionTime: "" } : one`,
        named: "and waits for health",
      },
      {
        what: "a status that another client changed is kept",
        find: "  return !equal(lasting(ctx.status()), lasting(next)) || !isShownOfLate(",
        replace: "  return !isShownOfLate(",
        named: "writes a status that another client has changed",
      },
      {
        what: "runs without a status are never counted",
        find: "    revision,\n    originRevision,\n    unshown,\n",
        replace: "    revision,\n    originRevision,\n    unshown: Math.min(unshown, 0),\n",
        named: "once an hour",
      },
    ],
  },
  {
    file: "lib/flows/source/source-flow.ts",
    tests: ["test/unit/flows/oci-repository.test.ts"],
    faults: [
      {
        what: "consumers notice a deleted source only after an hour",
        find: "  await wakeConsumers({ deps, run }, `${formatWorkKey(run.key)} is deleted`);\n",
        replace: "",
        named: "wakes its consumers when it is deleted",
      },
      {
        what: "consumers notice a source that was deleted at once only after an hour",
        find: "    await wakeConsumers({ deps, run }, `${formatWorkKey(run.key)} is gone`);\n",
        replace: "",
        named: "wakes its consumers when it is deleted",
      },
    ],
  },
];
