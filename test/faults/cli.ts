import type { FileFaults } from "./fault.ts";

/** Mistakes in the commands of the command line. */
export const cliFaults: readonly FileFaults[] = [
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
      {
        what: "the host's key in a Secret ends with a line break, unlike flux's",
        find: "known_hosts: knownHosts.trimEnd()",
        replace: "known_hosts: knownHosts",
        named: "creates a deploy key of type",
      },
      {
        what: "a damaged key is given out",
        tests: ["test/unit/cli/usable-pair.test.ts"],
        find: '      await parseSshKey(pair.private, "");\n',
        replace: "",
        named: "that is damaged is made again",
      },
    ],
  },
  {
    file: "cli/create-tenant.ts",
    tests: ["test/e2e/cli-create.test.ts"],
    faults: [
      {
        what: "create tenant removes a namespace's other labels",
        find: '  const body = { metadata: { labels: manifest.metadata.labels ?? {} } };\n  await cluster.patch(ref, { type: "merge", body }, { manager }, signal);\n',
        replace:
          '  const body = [{ op: "add", path: "/metadata/labels", value: manifest.metadata.labels ?? {} }];\n  await cluster.patch(ref, { type: "json", body }, { manager }, signal);\n',
        named: "keeps the labels that a namespace has already",
      },
      {
        what: "create tenant keeps a role binding whose role changes",
        find: 'live !== undefined && equal(live["roleRef"], binding["roleRef"])',
        replace: 'live !== undefined && !equal(live["roleRef"], undefined)',
        named: "creates namespace, service account and role binding",
      },
      {
        what: "create tenant recreates a role binding whose role is the same",
        find: 'equal(live["roleRef"], binding["roleRef"])',
        replace: 'equal(live["roleRef"], binding)',
        named: "creates namespace, service account and role binding",
      },
    ],
  },
  {
    file: "cli/migration/repositories.ts",
    tests: ["test/unit/cli/migration/needs.test.ts"],
    faults: [
      {
        what: "a GitRepository with provider aws and a Secret is left out",
        find: 'ofKind(objects, "GitRepository").filter(isOfAws)',
        replace: 'ofKind(objects, "GitRepository").filter(isLent)',
      },
    ],
  },
];
