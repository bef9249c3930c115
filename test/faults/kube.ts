import type { FileFaults } from "./fault.ts";

const ofCalls = [
  "test/unit/kube/connect.test.ts",
  "test/unit/kube/api-client.test.ts",
  "test/unit/kube/list-pages.test.ts",
  "test/unit/kube/bad-worlds.test.ts",
];

export const kubeFaults: readonly FileFaults[] = [
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
        what: "each repetition has the whole time",
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
        find: 'resource.group === "" && resource.kind === "Secret" ? withoutSecretValues(errorOf(answer)) : errorOf(answer)',
        replace: "errorOf(answer)",
      },
    ],
  },
  {
    file: "lib/kube/list-pages.ts",
    tests: ofCalls,
    faults: [{ what: "expired list not read again", find: "error.code === 410;", replace: "error.code === 411;" }],
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
