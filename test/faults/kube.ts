import type { FileFaults } from "./fault.ts";

const ofCalls = [
  "test/unit/kube/connect.test.ts",
  "test/unit/kube/watch.test.ts",
  "test/unit/kube/api-client.test.ts",
  "test/unit/kube/list-pages.test.ts",
  "test/unit/kube/bad-worlds.test.ts",
];

export const kubeFaults: readonly FileFaults[] = [
  {
    file: "lib/core/json.ts",
    tests: ["test/unit/core/values.test.ts"],
    faults: [
      { what: "an integer of 16 digits is not looked for", find: "-?\\d{16}/;", replace: "-?\\d{17}/;" },
      {
        what: "an integer beyond 64 bits keeps digits that the API server drops",
        find: "|| integer < minInteger || integer > maxInteger",
        replace: "",
      },
      {
        what: "digits in a string count as an integer",
        find: "const isInString = string.begin < index;",
        replace: "const isInString = false;",
      },
      {
        what: "an integer in a field is not restored",
        find: "container[key] = restored(container[key]);",
        replace: "restored(container[key]);",
      },
      {
        what: "bigints have an empty digest",
        find: 'if (typeof value === "bigint") return String(value);\n  if (!isJsonObject',
        replace: "if (!isJsonObject",
      },
    ],
  },
  {
    file: "lib/core/json-text.ts",
    tests: ["test/unit/kube/list-answer.test.ts"],
    faults: [
      {
        what: "parts of a long text are not counted",
        find: "if (++parts > maxParts)",
        replace: "if (++parts > 1e9)",
      },
      {
        what: "one level more than allowed",
        find: "cursor.depth > maxDepth",
        replace: "cursor.depth > maxDepth + 1",
      },
      {
        what: "lists beside each other count as nested",
        find: "        case closeObject:\n          this.#depth--;",
        replace: "        case closeObject:",
        tests: ["test/unit/receiver/authenticate.test.ts"],
      },
      {
        what: "lists and objects do not count as parts",
        find: "if (code === closeList || code === closeObject) continue;",
        replace: "if (code !== comma) continue;",
        tests: ["test/unit/receiver/authenticate.test.ts"],
      },
      {
        what: "a quote after an escaped backslash does not end the string",
        find: "if ((end - before) % 2 === 1) return end;",
        replace: "if (end - before === 1) return end;",
      },
      {
        what: "brackets in a string count",
        find: "at = endOfString(text, at);",
        replace: "",
      },
    ],
  },
  {
    file: "lib/kube/list-answer.ts",
    tests: ["test/unit/kube/list-answer.test.ts"],
    faults: [
      {
        what: "of two fields named items the first counts",
        find: ' || rest["items"] !== placeholder',
        replace: "",
      },
      {
        what: "the last item is left out",
        find: "} else if (code === closeList && cursor.depth === 1) {",
        replace: "} else if (code === closeList && cursor.depth === 1) {\n      items.pop();",
      },
      {
        what: "an empty list has an item",
        find: "if (items.length > 0 || text",
        replace: "if (items.length >= 0 || text",
      },
    ],
  },
  {
    file: "lib/kube/api-client.ts",
    tests: ofCalls,
    faults: [
      {
        what: "no upper limit of a call",
        find: "Math.min(deps.limitMs ?? defaultLimitMs, maxLimitMs)",
        replace: "deps.limitMs ?? defaultLimitMs",
        tests: ["test/unit/kube/sent-requests.test.ts"],
      },
      {
        what: "Retry-After of 429 ignored",
        find: "return retryAfterOf(answer) ?? 1_000;",
        replace: "return 1_000;",
        tests: ["test/unit/kube/sent-requests.test.ts"],
      },
      {
        what: "each retry has the full timeout",
        find: "    const remainingMs = Math.ceil(endsAt - clock.monotonic());",
        replace: "    const remainingMs = Math.ceil(limitMs);",
      },
    ],
  },
  {
    file: "lib/kube/connect.ts",
    tests: ofCalls,
    faults: [
      {
        what: "a service account's run has Sluice's own rights",
        find: "clusterOver(client.as(user), uid, deps)",
        replace: "clusterOver(client, uid, deps)",
        tests: ["test/unit/kube/other-users.test.ts"],
      },
      {
        what: "adapter drops the uid precondition",
        find: "...(uid === undefined ? {} : { uid }),",
        replace: "",
        tests: ["test/unit/kube/sent-requests.test.ts"],
      },
      {
        what: "adapter drops the resourceVersion precondition",
        find: "...(resourceVersion === undefined ? {} : { resourceVersion }),",
        replace: "",
        tests: ["test/unit/kube/sent-requests.test.ts"],
      },
      {
        what: "JSON patch repeatable",
        find: 'repeatable: patch.type === "merge",',
        replace: "repeatable: true,",
        tests: ["test/unit/kube/sent-requests.test.ts"],
      },
      {
        what: "Secret values quoted in errors",
        find: 'if (group !== "" || kind !== "Secret") return error;',
        replace: 'if (group !== "" || kind !== "") return error;',
      },
    ],
  },
  {
    file: "lib/kube/list-pages.ts",
    tests: ofCalls,
    faults: [
      { what: "expired list not read again", find: "error.code === 410;", replace: "error.code === 411;" },
      {
        what: "a list of a server that a tenant names has no limit of bytes",
        find: "if (held.bytes > held.max)",
        replace: "if (held.bytes > held.max * 100)",
      },
      {
        what: "whole objects are kept of a list of metadata",
        find: "objects.map(metadataOf)",
        replace: "objects",
      },
      {
        what: "a list of empty pages has no end",
        find: "emptyPages = found.length === 0 ? emptyPages + 1 : 0;",
        replace: "emptyPages = 0;",
      },
    ],
  },
  {
    file: "lib/kube/endpoint.ts",
    tests: ["test/unit/kube/remote-clusters.test.ts"],
    faults: [
      {
        what: "the order of the CAs changes the cluster's identity",
        find: ".toSorted()",
        replace: "",
      },
      {
        what: "one known CA among several identifies the cluster",
        find: 'return ["certificates", fingerprints(ca)];',
        replace: 'return ["certificates", fingerprints(ca).slice(0, 1)];',
      },
      {
        what: "a CA that is not verified counts",
        find: "tls.insecure ? undefined : ",
        replace: "",
      },
    ],
  },
  {
    file: "lib/kube/agents.ts",
    tests: ["test/unit/kube/remote-clusters.test.ts"],
    faults: [
      {
        what: "certificates outside of the identity are trusted",
        find: "network === undefined ? tls.ca : trusted(tls.ca)",
        replace: "tls.ca",
      },
    ],
  },
  {
    file: "lib/flows/owner/remote-target.ts",
    tests: ["test/unit/flows/kustomization/remote-identity.test.ts"],
    faults: [
      {
        what: "a server with the home cluster's uid counts as home",
        find: "hasOurAuthority && told === (await",
        replace: "told === (await",
      },
      {
        what: "a server that knows one of our accounts counts as home",
        find: "const isHome = hasOurAuthority && (",
        replace: "const isHome = here !== undefined && (",
      },
      {
        what: "a server is identified only by its uid",
        find: "`${ofAuthority(authority)}$",
        replace: "`${ofAuthority(digestOf(uid))}$",
      },
      {
        what: "an error in place of a server's uid counts as a bug",
        find: " || error.code === 404 || !isOutage(error))",
        replace: ")",
      },
    ],
  },
  {
    file: "lib/kube/transport.ts",
    tests: ofCalls,
    faults: [
      {
        what: "create sent twice on a stale connection",
        find: "if (!(error instanceof StaleConnection) || !exchange.repeatable) throw error;",
        replace: "if (!(error instanceof StaleConnection)) throw error;",
      },
    ],
  },
];
