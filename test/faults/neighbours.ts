import type { FileFaults } from "./fault.ts";

/** More mistakes that take two inputs at once, a neighbour whose name begins alike, or several runs, found by planting some by hand. */
export const neighbourFaults: readonly FileFaults[] = [
  {
    file: "lib/threads/fair-turns.ts",
    tests: ["test/unit/threads/fair-turns.test.ts"],
    faults: [
      {
        what: "the tenant that began to wait first has all turns",
        find: "const turn = lastTurn.get(tenant) ?? -1;",
        replace: "const turn = lastTurn.has(tenant) ? 0 : 0;",
      },
      {
        what: "a turn without a wait does not count",
        find: "      free--;\n      begin(tenant);",
        replace: "      free--;",
      },
      {
        what: "tenants are told apart by their namespace alone",
        find: "const tenant = `${cluster}/${namespace}`;",
        replace: "const tenant = cluster === undefined ? cluster : namespace;",
      },
      {
        what: "an aborted caller still counts as waiting",
        find: "else callers.splice(index, 1);",
        replace: "else callers[index] = () => undefined;",
      },
      {
        what: "a place given to an aborted caller is lost",
        find: "if (index === -1) release();\n      else callers",
        replace: "if (index !== -1) callers",
      },
      {
        what: "one more may wait than is allowed",
        find: "if (callers.length >= maxWaiting) {",
        replace: "if (callers.length > maxWaiting) {",
      },
    ],
  },
  {
    file: "lib/queue/cluster-views.ts",
    tests: ["test/unit/queue/cluster-views.test.ts"],
    faults: [
      {
        what: "a failed read makes the rows of dead processes count again",
        find: "of.view = { ...of.view, state: emptyView.state };",
        replace: "of.view = emptyView;",
      },
    ],
  },
  {
    file: "lib/queue/cluster-rules.ts",
    tests: ["test/unit/queue/cluster-rules.test.ts"],
    faults: [
      {
        what: "a renewed hold counts as the one before it",
        find: "return `${kind} ${since} ${probes}`;",
        replace: "return `${kind} ${probes}`;",
      },
    ],
  },
  {
    file: "lib/health/check-health.ts",
    tests: ["test/unit/health/check-health.test.ts"],
    faults: [
      {
        what: "a workload fails because of Pods in another namespace",
        find: 'kind: "Pod", namespace, labelSelector }',
        replace: 'kind: "Pod", labelSelector }',
      },
      {
        what: "objects of several namespaces are looked for in the first one's list",
        find: "`${ref.group}/${ref.version}/${ref.kind}/${ref.namespace}`",
        replace: "`${ref.group}/${ref.version}/${ref.kind}`",
      },
    ],
  },
  {
    file: "lib/health/why-not-ready.ts",
    tests: ["test/unit/health/why-not-ready.test.ts"],
    faults: [
      {
        what: "a terminating Pod explains why an object is not ready",
        find: "return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);",
        replace: "return pods;",
      },
      {
        what: "the container that waits for an init container is named in its place",
        find: "[initContainerStatuses, containerStatuses]",
        replace: "[containerStatuses, initContainerStatuses]",
      },
      {
        what: "an event that repeats counts as old as its first time",
        find: "const times = [lastTimestamp, lastObservedTime, eventTime,",
        replace: "const times = [lastTimestamp, eventTime,",
      },
      {
        what: "the events of a running Pod are reported in place of those of one that does not start",
        find: 'failing?.pod ?? pods.find((one) => objectAt(one, "status")["phase"] !== "Running")',
        replace: "failing?.pod ?? pods[0]",
      },
    ],
  },
  {
    file: "lib/gate/owner-object.ts",
    tests: ["test/unit/gate/pause.test.ts"],
    faults: [
      {
        what: "the webhook address stays when the owner releases the cluster",
        find: 'const ownerFields = ["installation", "where", "version", "since", "webhookUrl"] as const;',
        replace: 'const ownerFields = ["installation", "where", "version", "since"] as const;',
      },
    ],
  },
  {
    file: "lib/aws/kms-data-keys.ts",
    tests: ["test/unit/aws/kms-data-keys.test.ts"],
    faults: [
      {
        what: "the second role of a region decrypts with the session of the first",
        find: 'const key = `${region} ${role ?? ""}`;',
        replace: "const key = region;",
      },
    ],
  },
  {
    file: "lib/aws/ecr/ecr-login.ts",
    tests: ["test/unit/aws/ecr/ecr-login.test.ts"],
    faults: [
      {
        what: "a caller gets the token of another region that is being fetched",
        find: "const running = fetching.get(region) ?? fetch(region).finally(() => fetching.delete(region));\n    fetching.set(region, running);",
        replace:
          'const running = fetching.get("") ?? fetch(region).finally(() => fetching.delete(""));\n    fetching.set("", running);',
      },
      {
        what: "a token is used until it expires",
        find: "now + Math.min((token.expiresAt - now) * shareOfLife, maxCachedMs)",
        replace: "now + Math.min(token.expiresAt - now, maxCachedMs)",
      },
    ],
  },
  {
    file: "lib/kube/connect.ts",
    tests: ["test/unit/kube/sent-requests.test.ts"],
    faults: [
      {
        what: "a namespace that its own finalizer holds counts as deleted",
        find: 'return graceful || isFilled(finalizers) || (isJsonObject(spec) && isFilled(spec["finalizers"]));',
        replace: "return graceful || isFilled(finalizers);",
      },
    ],
  },
  {
    file: "lib/core/json-text.ts",
    tests: ["test/unit/kube/list-pages.test.ts"],
    faults: [
      {
        what: "short values of a list take no more memory than their text",
        find: "bytes += bytesOfPart;",
        replace: "bytes++;",
        named: "a limit of bytes in memory",
      },
      {
        what: "only commas of a list take memory",
        find: "if (code !== closeList && code !== closeObject) bytes",
        replace: "if (code === comma) bytes",
        named: "a limit of bytes in memory",
      },
    ],
  },
  {
    file: "lib/kube/list-pages.ts",
    tests: ["test/unit/kube/list-pages.test.ts"],
    faults: [
      {
        what: "of a list of metadata only the text counts",
        find: 'bytesInMemory(parts === "metadata" ? formatJson(used) : answer.text)',
        replace: 'parts === "metadata" ? formatJson(used).length : bytesInMemory(answer.text)',
        named: "a limit of bytes in memory",
      },
      {
        what: "only the first page of a list is of the selected objects",
        find: "const page = { limit: String(limit), continue: next, labelSelector, fieldSelector };",
        replace:
          "const page = next === undefined ? { limit: String(limit), continue: next, labelSelector, fieldSelector } : { limit: String(limit), continue: next };",
      },
    ],
  },
  {
    file: "lib/kube/remote-clusters.ts",
    tests: ["test/unit/kube/remote-clusters.test.ts"],
    faults: [
      {
        what: "a cluster of EKS is described for each run once ten minutes have passed",
        find: "kept.set(id, { ...still, freshUntil });",
        replace: "kept.set(id, still);",
      },
    ],
  },
  {
    file: "lib/kube/kubeconfig.ts",
    tests: ["test/unit/kube/kubeconfig.test.ts"],
    faults: [
      {
        what: "--cluster accepts an eksctl entry with the same prefix",
        find: "entry.startsWith(`${name}.`) &&",
        replace: "entry.startsWith(name) &&",
      },
      {
        what: "--cluster accepts an ARN with the same suffix",
        find: "entry.endsWith(`:cluster/${name}`)",
        replace: "entry.endsWith(name)",
      },
      {
        what: "--cluster is ignored in a pod without a kubeconfig",
        find: "query.file === undefined && query.cluster === undefined ? inClusterConfig",
        replace: "query.file === undefined ? inClusterConfig",
      },
      {
        what: "a credential plugin does not get the proxy",
        find: '    "proxy-url": cluster.text("proxy-url"),\n',
        replace: "",
      },
    ],
  },
  {
    file: "cli/show-events.ts",
    tests: ["test/unit/cli/show-events.test.ts"],
    faults: [
      {
        what: "events of the HelmChart between a release and its source are left out",
        find: "of [generatedChartOf(kind, object), sourceOf(kind, object)]",
        replace: "of [sourceOf(kind, object)]",
      },
      {
        what: "events of two namespaces do not name them",
        find: "options.allNamespaces === true || queries.some((query) => query.namespace !== namespace)",
        replace: "options.allNamespaces === true",
      },
      { what: "events of one second are in any order", find: " || storedBefore(a, b)", replace: "" },
    ],
  },
  {
    file: "cli/created-object.ts",
    tests: ["test/unit/cli/create-git.test.ts"],
    faults: [
      {
        what: "labels that are no longer given stay on an object that exists",
        find: '"/metadata/labels": metadata.labels ?? {}',
        replace: '"/metadata/labels": metadata.labels',
        tests: ["test/unit/cli/create-helm-release.test.ts"],
        named: "the whole spec of an existing object",
      },
    ],
  },
  {
    file: "cli/session.ts",
    tests: ["test/unit/cli/session.test.ts"],
    faults: [
      {
        what: "a context without a namespace has that of Flux in place of default",
        find: '(config.namespace ?? "default")',
        replace: "(config.namespace ?? fallback)",
      },
      {
        what: "--cluster is ignored",
        find: "    ...(wanted === undefined ? {} : { cluster: wanted }),\n",
        replace: "",
      },
    ],
  },
  {
    file: "cli/push-artifact.ts",
    tests: ["test/unit/cli/push-artifact.test.ts"],
    faults: [
      {
        what: "a password with a colon is cut off there",
        find: "new Secret(text.slice(colon + 1))",
        replace: 'new Secret(text.split(":")[1] ?? "")',
      },
      { what: "--creds is taken without a user", find: "if (colon <= 0)", replace: "if (colon < 0)" },
      { what: "a file .yml counts as no manifest", find: "/\\.ya?ml$/", replace: "/\\.yaml$/" },
    ],
  },
  {
    file: "cli/git-folder.ts",
    tests: ["test/unit/cli/git-folder.test.ts"],
    faults: [
      {
        what: "git runs the file monitor that a repository names",
        find: '  "core.fsmonitor": "false",\n',
        replace: "",
      },
      {
        what: "git runs the filters that a repository names",
        find: "    [...filters].flatMap((filter) => [",
        replace: "    [...filters].slice(1_000).flatMap((filter) => [",
      },
      {
        what: "a token in the address of a remote becomes part of the source",
        find: '  if (url.protocol !== "ssh:") url.username = "";\n',
        replace: "",
      },
    ],
  },
  {
    file: "cli/get-objects.ts",
    tests: ["test/unit/cli/get-objects.test.ts"],
    faults: [
      {
        what: "with -A the name does not limit the rows",
        find: "...(name === undefined ? {} : { fieldSelector:",
        replace: "...(name === undefined || options.allNamespaces === true ? {} : { fieldSelector:",
      },
      {
        what: "with a name --label-selector is ignored",
        find: "    ...queryOf(kind, options, session),\n",
        replace: "    ...queryOf(kind, name === undefined ? options : { header: true }, session),\n",
      },
      {
        what: "--watch shows objects that --status-selector leaves out",
        find: "    if (isSelected(object)) printer.next(object);",
        replace: "    printer.next(object);",
      },
    ],
  },
  {
    file: "functions/sweep-cluster.ts",
    tests: ["test/unit/functions/sweep-cluster.test.ts"],
    faults: [
      {
        what: "a foreign kind that is not served ends the sweep",
        find: '(error.reason !== "Forbidden" && error.reason !== "NoMatch")',
        replace: 'error.reason !== "Forbidden"',
      },
    ],
  },
  {
    file: "local/join-clusters.ts",
    tests: ["test/unit/local/join-clusters.test.ts"],
    faults: [
      {
        what: "a cluster that is open and not served counts as served",
        find: "served.has(entry) ? ids.get(entry) : undefined",
        replace: "ids.get(entry)",
      },
    ],
  },
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
        find: "needed(found.spec.dependsOn ?? [], key.namespace, key.cluster, deps.gates)",
        replace: "needed(found.spec.dependsOn ?? [], run.key.namespace, key.cluster, deps.gates)",
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
    file: "lib/kube/discovery.ts",
    tests: ["test/unit/kube/served-kinds.test.ts"],
    faults: [
      {
        what: "a removed kind stays cached if it has a group",
        find: "      kinds.delete(kindKey(group, kind));",
        replace: '      kinds.delete(kindKey("", kind));',
      },
      {
        what: "a name with a question mark ends the path",
        find: "`${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`",
        replace: "`${collectionPath(resource, namespace)}/${name}`",
      },
    ],
  },
  {
    file: "lib/kube/watch-events.ts",
    tests: ["test/unit/kube/served-kinds.test.ts"],
    faults: [
      {
        what: "a watch is not limited to the wanted object",
        find: "const selectors = { labelSelector: query.labelSelector, fieldSelector: query.fieldSelector };",
        replace: "const selectors = { labelSelector: query.labelSelector };",
      },
      {
        what: "a watch of metadata lists whole objects",
        find: 'query.isMetadataOnly === true ? "metadata" : "whole"',
        replace: '"whole"',
      },
    ],
  },
  {
    file: "lib/kube/api-answer.ts",
    tests: ["test/unit/kube/served-kinds.test.ts"],
    faults: [
      {
        what: "an object counts as gone where its namespace of the same name is missing",
        find: 'return details["name"] === name && details["kind"] === plural;',
        replace: 'return details["name"] === name;',
      },
    ],
  },
  {
    file: "lib/aws/sqs.ts",
    tests: ["test/unit/aws/sqs-faults.test.ts"],
    faults: [
      {
        what: "a dead letter of a cluster with an odd id is refused by the queue",
        find: "MessageGroupId: messageGroup(letter.key.cluster),",
        replace: "MessageGroupId: letter.key.cluster,",
      },
      {
        what: "a message is hidden for longer than SQS takes",
        find: "Math.min(Math.ceil(visibilityMs / 1000), maxVisibilitySeconds)",
        replace: "Math.ceil(visibilityMs / 1000)",
      },
    ],
  },
  {
    file: "lib/aws/s3/create-object.ts",
    tests: ["test/unit/aws/s3/s3-faults.test.ts"],
    faults: [
      {
        what: "a large artifact overwrites one that is there",
        find: "      ...condition,\n      UploadId,",
        replace: "      UploadId,",
      },
    ],
  },
  {
    file: "functions/admission.ts",
    tests: ["test/unit/functions/admission.test.ts"],
    faults: [
      {
        what: "the webhook sends hints for kinds of another group",
        find: "one.group === change.kind.group && one.kind === change.kind.kind",
        replace: "one.kind === change.kind.kind",
      },
    ],
  },
  {
    file: "local/local-kubeconfig.ts",
    tests: ["test/unit/local/local-kubeconfig.test.ts"],
    faults: [
      {
        what: "an empty entry makes KUBECONFIG count as unset",
        find: '.some((path) => path !== "")',
        replace: '.every((path) => path !== "")',
      },
    ],
  },
  {
    file: "cli/suspend-and-resume.ts",
    tests: ["test/unit/cli/suspend-and-resume.test.ts"],
    faults: [
      {
        what: "a status of an earlier generation counts as the present one",
        find: "return observed === generation ||",
        replace: "return observed !== undefined ||",
      },
      {
        what: "resume --all waits if one name is given too",
        find: "if (!options.wait && (options.all || names.length !== 1)) return;",
        replace: "if (!options.wait && names.length !== 1) return;",
      },
      {
        what: "--all is all of every namespace",
        find: "cluster.list({ ...served, namespace }, signal)",
        replace: "cluster.list(served, signal)",
      },
    ],
  },
  {
    file: "cli/progress.ts",
    tests: ["test/unit/cli/progress.test.ts"],
    faults: [
      {
        what: "a stall of an earlier generation ends the wait",
        find: 'stalled?.status === "True" && isOfNow',
        replace: 'stalled?.status === "True"',
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
    file: "lib/aws/eks/eks-targets.ts",
    tests: ["test/e2e/flow/two-clusters.test.ts"],
    faults: [
      {
        what: "a ca.crt with an additional CA is trusted with Sluice's own token",
        find: "fingerprintsIn(ca).every((one)",
        replace: "fingerprintsIn(ca).some((one)",
        named: "cannot send Sluice's own token to another server",
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
    file: "lib/aws/dynamodb/cluster-states.ts",
    tests: ["test/unit/aws/dynamodb/cluster-states.test.ts"],
    faults: [
      {
        what: "an expired hold counts until DynamoDB removes it",
        find: "filter((row) => numberOf(row, ttlAttribute) > now)",
        replace: "filter((row) => numberOf(row, ttlAttribute) > 0)",
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
  {
    file: "functions/configuration.ts",
    tests: ["test/e2e/definitions/embedded.test.ts"],
    faults: [
      {
        what: "a login is stored for its secret in place of its host",
        find: "auths: { [host]: data }",
        replace: "auths: { [stored]: data }",
        named: "a configuration on",
      },
      {
        what: "logins are copied without the role that reaches the cluster",
        find: "refresh.role, signal",
        replace: "undefined, signal",
        named: "a configuration on",
      },
      {
        what: "an object that has failed leaves the configuration's state unknown",
        find: 'isFalse ? "False" : "Unknown"',
        replace: 'isFalse ? "Unknown" : "Unknown"',
        named: "a configuration on",
      },
    ],
  },
  {
    file: "functions/definitions.ts",
    tests: ["test/e2e/definitions/embedded.test.ts"],
    faults: [
      {
        what: "an uninstalled cluster keeps an owner that came back",
        find: "      await letGo({ id: installation }, cluster, signal);\n      log.info",
        replace: "      log.info",
        named: "after sluice uninstall",
      },
      {
        what: "a replaced resource releases its successor's cluster",
        find: 'if (rights === "of others") {',
        replace: 'if (rights === "of others" && onDelete === "keep") {',
        named: "a resource that another one has replaced",
      },
      {
        what: "the newest version that was tested counts as newer",
        find: "Number(minor) <= newestMinor",
        replace: "Number(minor) < newestMinor",
        named: "at the limits of the tested versions",
      },
      {
        what: "the oldest version that was tested counts as too old",
        find: "Number(minor) < oldestMinor",
        replace: "Number(minor) <= oldestMinor",
        named: "at the limits of the tested versions",
      },
    ],
  },
  {
    file: "cli/local-command.ts",
    tests: ["test/unit/cli/local-command.test.ts"],
    faults: [{ what: "the highest port is refused", find: "number <= 65_535", replace: "number < 65_535" }],
  },
  {
    file: "cli/git-credentials.ts",
    tests: ["test/unit/cli/create-git.test.ts"],
    faults: [
      {
        what: "keys of RSA may have any number of bits",
        find: "bits <= 8192 && bits % 8 === 0",
        replace: "bits <= 8192",
      },
    ],
  },
];
