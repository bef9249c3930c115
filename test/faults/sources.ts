import type { FileFaults } from "./fault.ts";

const ofSource = [
  "test/unit/flows/oci-repository.test.ts",
  "test/unit/flows/oci-repository-replaced.test.ts",
  "test/unit/flows/oci-repository-suspended.test.ts",
  "test/unit/flows/oci-repository-durations.test.ts",
  "test/unit/flows/oci-repository-artifact.test.ts",
  "test/unit/flows/oci-repository-failures.test.ts",
];

export const sourcesFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/source/source-flow.ts",
    tests: ofSource,
    faults: [
      {
        what: "our finalizer replaces those of others",
        find: "const withOurs = (finalizers: readonly string[]) => [...finalizers, finalizer];",
        replace: "const withOurs = () => [finalizer];",
        tests: ["test/unit/flows/source/memory-source.test.ts"],
      },
      {
        what: "the finalizers of others are removed with ours",
        find: "const withoutOurs = (finalizers: readonly string[]) => finalizers.filter((one) => one !== finalizer);",
        replace: "const withoutOurs = () => [];",
        tests: ["test/unit/flows/source/memory-source.test.ts"],
      },
      {
        what: "a source that has just subscribed takes a listing from before",
        find: "isOld ? since : deps.clock.monotonic()",
        replace: "isOld ? since : since",
        tests: ["test/unit/flows/oci-repository/shared-listing.test.ts"],
      },
      {
        what: "source is resolved before it subscribes",
        find: `  const subscribed = await subscribe(kind.topics(spec, ctx), ctx);
  const resolved = await kind.resolve(spec, { ...ctx, since: subscribed.since });`,
        replace: `  const resolved = await kind.resolve(spec, ctx);
  const subscribed = await subscribe(kind.topics(spec, ctx), ctx);`,
      },
    ],
  },
  {
    file: "lib/flows/source/report.ts",
    tests: ["test/unit/flows/source/memory-source.test.ts"],
    faults: [
      {
        what: "a failure is announced at each run after a request",
        find: "|| ctx.isAsked;",
        replace: "|| ctx.requestedAt !== undefined;",
        tests: ["test/unit/flows/oci-repository-failures.test.ts"],
      },
      {
        what: "a run that is killed leaves a new artifact in the status without its event",
        find: "if (isTold) await recorded;",
        replace: "if (isTold) void recorded;",
      },
      {
        what: "an unchanged run waits for its event before it writes the status",
        find: "if (isTold) await recorded;",
        replace: "await recorded;",
      },
      {
        what: "a short Retry-After ends a long back-off",
        find: "Math.max(backOffMs(failures, ctx.deps.timing.retryDelay), retryAfterMs(failure))",
        replace: "retryAfterMs(failure) || backOffMs(failures, ctx.deps.timing.retryDelay)",
        tests: ["test/unit/flows/oci-repository-failures.test.ts"],
      },
      {
        what: "an event that is late counts as missed",
        find: 'if (run.isRequested) return "no finding";',
        replace: 'if (run.isRequested && before.artifact === undefined) return "no finding";',
      },
      {
        what: "a finding with an unknown push time is never counted",
        find: 'run.carried).data?.unannounced === revision) return "missed";',
        replace: 'run.carried).data?.unannounced === revision) return "no finding";',
      },
    ],
  },
  {
    file: "lib/sources/shared-listing.ts",
    tests: ["test/unit/sources/shared-listing.test.ts"],
    faults: [
      {
        what: "a listing answers a run that began at the same moment",
        find: "found.startedAt > since",
        replace: "found.startedAt >= since",
      },
      {
        what: "an aborted run fails all callers that waited for its listing",
        find: `        signal.throwIfAborted();
        return ask(signal);`,
        replace: `        signal.throwIfAborted();
        return await typed<Answer>(found);`,
      },
    ],
  },
  {
    file: "lib/sources/followed.ts",
    tests: ["test/unit/sources/followed.test.ts"],
    faults: [
      {
        what: "an event without a tag does not wake followers of a tag",
        find: "return name === undefined || follows.names.includes(name);",
        replace: "return name !== undefined && follows.names.includes(name);",
      },
      {
        what: "a range that cannot be read is never woken",
        find: "if (error instanceof RangeError) return true;",
        replace: "if (error instanceof RangeError) return false;",
      },
      {
        what: "a ref with the name of a version wakes followers of versions",
        find: "  if (!name.startsWith(after)) return false;\n",
        replace: "",
        named: "not another ref of the same name",
      },
    ],
  },
  {
    file: "lib/flows/source/stored-artifact.ts",
    tests: ofSource,
    faults: [
      {
        what: "an artifact is recorded before it is stored",
        find: `  await deps.artifacts.put(pulled.digest, pulled.bytes, run.signal).catch(unstored);
  await deps.records.record(run.key, live.metadata.uid, pulled.digest, run.fence, run.signal);`,
        replace: `  await deps.records.record(run.key, live.metadata.uid, pulled.digest, run.fence, run.signal);
  await deps.artifacts.put(pulled.digest, pulled.bytes, run.signal).catch(unstored);`,
      },
      {
        what: "the settings of an artifact do not count",
        find: " && equal(observedOf(status, noted), observed)",
        replace: "",
        tests: ["test/unit/flows/source/memory-source.test.ts"],
      },
      {
        what: "an artifact that is no longer stored stays in the status",
        find: `    (await deps.artifacts.has(digest.data, run.signal).catch(unread))
`,
        replace: `    ((await deps.artifacts.has(digest.data, run.signal).catch(unread)) || true)
`,
        named: "11.1/11",
      },
      {
        what: "an unchanged run reads the stored artifact",
        find: "(await deps.artifacts.has(digest.data, run.signal).catch(unread))",
        replace: "(await deps.artifacts.get(digest.data, run.signal).catch(unread)) !== undefined",
        named: "an unchanged source does not read its artifact",
      },
      {
        what: "an artifact in the status is trusted without a record",
        find: `    (await deps.records.recorded(run.key, live.metadata.uid, digest.data, run.signal)) &&
`,
        replace: "",
      },
    ],
  },
  {
    file: "lib/flows/source/read-source.ts",
    tests: ["test/unit/flows/source/read-source.test.ts"],
    faults: [
      {
        what: "artifact of a source that is being deleted counts",
        find: "  if (deletionTimestamp !== undefined) return { uid, artifact: undefined };\n",
        replace: "",
      },
    ],
  },
  {
    file: "lib/flows/source/source-conditions.ts",
    tests: ["test/unit/flows/source/memory-source.test.ts"],
    faults: [
      {
        what: "a condition with another message keeps its time",
        find: "was.reason === condition.reason && was.message === condition.message;",
        replace: "was.reason === condition.reason;",
      },
      {
        what: "another failure hides that a source is verified",
        find: "removeConditions(status, isVerified ? removed : ",
        replace: "removeConditions(status, !isVerified ? removed : ",
      },
      {
        what: "a missing include hides that the login failed before",
        find: 'if (type === "IncludeUnavailable") return ["FetchFailed"];',
        replace: "",
        tests: ["test/unit/flows/git-repository/include.test.ts"],
      },
      {
        what: "a login that fails hides that an include is missing",
        find: 'return reasonsBeforeIncludes.has(reason) ? ["IncludeUnavailable"] : [];',
        replace: "return reasonsBeforeIncludes.has(reason) ? [] : [];",
        tests: ["test/unit/flows/git-repository/include.test.ts"],
      },
      {
        what: "a failure that Ready does not show is announced at each attempt",
        find: "(one.type === type && one.status === status)) &&",
        replace: "(one.type === type && one.status !== status)) &&",
        tests: ["test/unit/flows/git-repository/include.test.ts"],
      },
      {
        what: "the recovery from a failed verification announces the artifact",
        find: "  return failureTypes.some((type) => isTrue(conditions, type));",
        replace: "  return failureTypes.some((type) => isTrue(conditions, type)) || conditions.some(isUnverified);",
        tests: ["test/unit/flows/git-repository/verify.test.ts"],
      },
    ],
  },
  {
    file: "lib/flows/run-context.ts",
    tests: ofSource,
    faults: [
      {
        what: "the writes of a source do not check the lease",
        find: "leasedCluster(deps.home, run)",
        replace: "deps.home",
      },
    ],
  },
];
