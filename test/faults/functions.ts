import type { FileFaults } from "./fault.ts";

export const functionsFaults: readonly FileFaults[] = [
  {
    file: "functions/settings/feature-gates.ts",
    tests: ["test/unit/functions/settings/feature-gates.test.ts"],
    faults: [
      {
        what: "a gate that Sluice cannot set is accepted silently",
        find: "return only === undefined || only.value === value ? undefined",
        replace: "return only === undefined || only.why !== name ? undefined",
      },
      {
        what: "an unknown gate is accepted silently",
        find: "if (!Object.hasOwn(gateTexts, name)) {",
        replace: 'if (name === "") {',
      },
    ],
  },
  {
    file: "functions/settings/flow-settings.ts",
    tests: ["test/unit/functions/settings/flow-settings.test.ts"],
    faults: [
      {
        what: "the gate DisableConfigWatchers does nothing",
        find: 'return values["feature-gates"].DisableConfigWatchers ?',
        replace: 'return values["watch-configs-label-selector"] === "" ?',
      },
    ],
  },
  {
    file: "functions/lambda/read-document.ts",
    tests: ["test/unit/functions/read-document.test.ts"],
    faults: [
      {
        what: "a document that was changed after the deploy is used",
        find: "found.digest !== config.SLUICE_INSTALLATION_DIGEST",
        replace: "found.digest.length === 0",
      },
    ],
  },
  {
    file: "functions/ingest.ts",
    tests: ["test/unit/functions/ingest/ingest.test.ts", "test/unit/functions/ingest/custom.test.ts"],
    faults: [
      {
        what: "events of any account are accepted",
        find: "  if (!deps.isAdmitted(account, region)) {",
        replace: '  if (account === "") {',
        named: "comes from an unlisted account or region",
      },
      {
        what: "an event wakes all subscribers of its topic",
        find: "const concerned = await concernedBy(change, found.flat(), signal);",
        replace: "const concerned = await concernedBy({}, found.flat(), signal);",
      },
      {
        what: "an undocumented event is retried again and again",
        find: "    if (error instanceof z.ZodError)",
        replace: "    if (error instanceof z.ZodError && error.issues.length === 0)",
      },
      {
        what: "a custom event wakes a missing object",
        find: "(await deps.observed.get(object, signal)) !== undefined ? [object] : []",
        replace: "(await deps.observed.get(object, signal)) !== '' ? [object] : []",
      },
    ],
  },
  {
    file: "functions/lambda/network-queues.ts",
    tests: ["test/unit/functions/network-queues.test.ts"],
    faults: [
      {
        what: "all wake-ups go to the first network",
        find: "clusters.find(({ arn }) => arn === id)",
        replace: "clusters.find(({ arn }) => arn !== id)",
      },
    ],
  },
  {
    file: "lib/aws/assumed-role.ts",
    tests: ["test/unit/aws/assumed-role.test.ts"],
    faults: [
      {
        what: "a token is cached longer than the credentials that signed it",
        find: "const renewBeforeMs = 15 * 60_000;",
        replace: "const renewBeforeMs = 5 * 60_000;",
      },
    ],
  },
  {
    file: "lib/aws/kms-data-keys.ts",
    tests: ["test/unit/aws/kms-data-keys.test.ts"],
    faults: [
      {
        what: "Sluice's identity decrypts a data key with any KMS key",
        find: 'identity.kind === "installation" && !isAllowed(identity, sealed)',
        replace: 'identity.kind === "installation" && sealed.sealedBy === "" && !isAllowed(identity, sealed)',
      },
      {
        what: "a tenant's data key is decrypted with Sluice's identity",
        find: "return { accessKeyId, secretAccessKey: secretAccessKey.reveal(), ...session };",
        replace:
          "return connection.credentials ?? { accessKeyId, secretAccessKey: secretAccessKey.reveal(), ...session };",
      },
    ],
  },
  {
    file: "lib/core/work-key.ts",
    tests: ["test/unit/core/values.test.ts"],
    faults: [
      { what: "an ARN is cut at its slash", find: '.slice(0, -4).join("/")', replace: '.slice(0, 1).join("/")' },
    ],
  },
  {
    file: "functions/reconcile.ts",
    tests: ["test/unit/functions/reconcile.test.ts"],
    faults: [
      {
        what: "an invocation that ends reports no failures",
        find: "(record) => isHandled(record, deps, signal)",
        replace:
          "async (record) => { const done = await isHandled(record, deps, signal); signal.throwIfAborted(); return done; }",
      },
      {
        what: "runs start even if the gate is closed",
        find: "if (refused === undefined) return await handleWakeUp",
        replace: "if (refused === undefined || refused.length > 0) return await handleWakeUp",
      },
      {
        what: "a refused wake-up hides the following ones",
        find: "return await setAside(key, deps, signal);",
        replace: "return;",
      },
    ],
  },
  {
    file: "functions/compose-reconcile.ts",
    tests: ["test/unit/functions/compose.test.ts"],
    faults: [
      {
        what: "ConfigMaps and Secrets are not observed",
        find: "...configKinds(adapters.configSelector, { subscriptions, requests }),",
        replace: "...configKinds(undefined, { subscriptions, requests }),",
      },
      {
        what: "ExternalArtifacts are observed without their gate",
        find: "...externalArtifactKinds(adapters.gates, { subscriptions, requests }),",
        replace: "...externalArtifactKinds({ ExternalArtifact: true }, { subscriptions, requests }),",
      },
      {
        what: "each run creates the flows of its cluster again",
        find: "flowOf: flowsOfClusters(clusters, flowsOf),",
        replace: "flowOf: (key) => flowsOfClusters(clusters, flowsOf)(key),",
      },
    ],
  },
  {
    file: "functions/compose-flows.ts",
    tests: ["test/unit/functions/compose.test.ts"],
    faults: [
      {
        what: "flows do not have the settings of the installation",
        find: "{ ...parts, ...flowSettings(settings) }",
        replace: '{ ...parts, ...flowSettings({ ...settings, "no-cross-namespace-refs": false }) }',
      },
      {
        what: "keys are decrypted without tokens of the cluster's accounts",
        find: "sopsKeys: { ...keys, accountTokens } }",
        replace: "sopsKeys: { ...keys, accountTokens: accountTokens && undefined } }",
      },
    ],
  },
  {
    file: "functions/compose-receiver.ts",
    tests: ["test/unit/functions/compose.test.ts"],
    faults: [
      {
        what: "the Secret of a Receiver in a cluster that is not served counts as absent",
        find: "if (cluster === undefined) throw new Error(`cluster ${id} is not served here`);",
        replace: "if (cluster === undefined) return undefined;",
      },
    ],
  },
  {
    file: "functions/make-flows.ts",
    tests: ["test/unit/functions/make-flows.test.ts"],
    faults: [
      {
        what: "objects of another cluster are reconciled here",
        find: "clusters.get(key.cluster);",
        replace: 'clusters.get("home");',
      },
    ],
  },
  {
    file: "functions/sweep.ts",
    tests: ["test/unit/functions/sweep.test.ts"],
    faults: [
      {
        what: "an object of an undeclared kind raises the alarm forever",
        find: "if (kindOf(one.key, kinds) === undefined) return [];",
        replace: "if (kindOf(one.key, kinds) === null) return [];",
      },
      {
        what: "overdue objects in a removed cluster are woken forever",
        find: "await deps.limits.budgets(clusters, signal)",
        replace: "() => ({ atMost: 1_000, perSecond: 1_000 })",
      },
      {
        what: "a cluster whose sweep cannot be requested stops the sweep of all",
        find: "          failures.push(error);",
        replace: "          throw error;",
      },
    ],
  },
  {
    file: "functions/tell-objects.ts",
    tests: ["test/unit/functions/sweep-cluster.test.ts"],
    faults: [
      {
        what: "objects beyond the named ones are not counted",
        find: "if (unnamed > 0) metrics",
        replace: "if (unnamed > objects.length) metrics",
      },
    ],
  },
  {
    file: "functions/admission.ts",
    tests: ["test/unit/functions/admission.test.ts"],
    faults: [
      {
        what: "dry runs send hints",
        find: "if (change.dryRun) return change.name === checkedName ? answer(webhookAnswers) : answer();",
        replace: "if (change.dryRun && change.name === checkedName) return answer(webhookAnswers);",
      },
      {
        what: "a failing hint denies the change",
        find: "    dropped(messageOf(error));",
        replace: "    throw error;",
      },
      {
        what: "the answer waits for the queue",
        find: "await orAborted(looks.send(look, lookDelaysMs[0], stop), stop);",
        replace: "await looks.send(look, lookDelaysMs[0], stop);",
      },
      {
        what: "a flood of hints is passed on",
        find: "    if (left < 1) return false;",
        replace: "",
      },
      {
        what: "a process that was throttled never sends hints again",
        find: "    left = Math.min(hintBurst, left + ((now - at) / 1_000) * hintsPerSecond);",
        replace: "    left = Math.min(hintBurst, left + ((now - at) / 1_000) * 0);",
      },
    ],
  },
  {
    file: "lib/admission/admission-path.ts",
    tests: ["test/unit/functions/admission.test.ts"],
    faults: [
      {
        what: "any token is accepted",
        find: "  return isOurs && ClusterId",
        replace: "  return token.length === 64 && ClusterId",
      },
      {
        what: "one token is valid for every cluster",
        find: ".update(`admission/${cluster}`)",
        replace: ".update(`admission/${cluster.length > 9_999}`)",
      },
    ],
  },
  {
    file: "lib/admission/admission-review.ts",
    tests: ["test/unit/functions/admission.test.ts"],
    faults: [
      {
        what: "an object to be created has an old version",
        find: 'operation === "CREATE" ? undefined : versionOf(oldObject)',
        replace: "versionOf(oldObject)",
      },
      {
        what: "an object with a generated name sends no hint",
        find: 'const name = change.name === "" ? (object?.metadata.name ?? "") : change.name;',
        replace: 'const name = object === null ? "" : change.name;',
      },
    ],
  },
  {
    file: "functions/look-at-object.ts",
    tests: ["test/unit/functions/look-at-object.test.ts"],
    faults: [
      {
        what: "a change that is not visible yet is not checked again",
        find: "      if (!shows) await lookAgain",
        replace: "      if (!shows && look.tries > 9) await lookAgain",
      },
      {
        what: "the deletion of an unknown object is announced",
        find: "  if ((await deps.observed.get(key, signal)) === undefined) return false;",
        replace: "",
      },
      {
        what: "a look reads every object of the namespace",
        find: "const only = { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` };",
        replace: "const only = { namespace: key.namespace };",
      },
      {
        what: "changes in a paused cluster count as observed",
        find: "  if ((await closedReason(gate, signal)) !== undefined) return true;",
        replace: "  await closedReason(gate, signal);",
      },
      {
        what: "a change counts as visible as soon as there is an object",
        find: "    return isChanged || uid !== before?.uid || resourceVersion !== before.resourceVersion;",
        replace: "    return isChanged || uid !== before?.uid || resourceVersion !== undefined;",
      },
    ],
  },
  {
    file: "functions/sweep-cluster.ts",
    tests: ["test/unit/functions/sweep-cluster.test.ts"],
    faults: [
      {
        what: "a Stalled object is reported only after half an hour",
        find: 'outcome === "stalled" || clock.now() - since > notReadyMs',
        replace: "clock.now() - since > notReadyMs",
      },
      {
        what: "an object that has just failed is reported at once",
        find: 'outcome === "stalled" || clock.now() - since > notReadyMs',
        replace: 'outcome === "stalled" || clock.now() >= since',
      },
      {
        what: "a sweep observes changes even if the gate is closed",
        find: "    if (refused === undefined) adopted",
        replace: "    if (refused === undefined || refused.length > 0) adopted",
      },
      {
        what: "a sweep without the right to list Secrets stops there",
        find: `    if (!isOthers || (error.reason !== "Forbidden" && error.reason !== "NoMatch")) throw error;`,
        replace: `    if (!isOthers || error.reason !== "Timeout") throw error;`,
      },
      {
        what: "a sweep treats a Secret as a custom resource",
        find: "{ ...deps, ...kind.observe }",
        replace: "deps",
      },
      {
        what: "a sweep that still runs is started twice",
        find: "  if (!(await sweepLeases.take(id, holder, leaseMs, signal))) {",
        replace: "  if (!(await sweepLeases.take(id, holder, leaseMs, signal)) && holder.length === 0) {",
      },
      {
        what: "a sweep holds its lease no longer than it was taken for",
        find: "      if (!(await sweepLeases.take(id, holder, leaseMs, stop))) throw",
        replace: "      if (holder.length === 0) throw",
      },
    ],
  },
];
