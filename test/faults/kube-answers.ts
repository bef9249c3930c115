import type { FileFaults } from "./fault.ts";

/** Mistakes in what the API of a cluster answers: lists in pages, discovery, watches; and in how it is opened. */
export const kubeAnswerFaults: readonly FileFaults[] = [
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
];
