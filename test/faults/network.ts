import type { FileFaults } from "./fault.ts";

export const networkFaults: readonly FileFaults[] = [
  {
    file: "lib/core/network/address-kind.ts",
    tests: ["test/unit/core/address-kind.test.ts", "test/unit/core/network-policy.test.ts"],
    faults: [
      {
        what: "NAT64 not looked into",
        find: `  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: [last] },
`,
        replace: "",
      },
      { what: "fd00:ec2 allowed", find: 'ranges("metadata", "fd00:ec2::/32", ', replace: 'ranges("metadata", ' },
    ],
  },
  {
    file: "lib/http/guarded-lookup.ts",
    tests: ["test/unit/http/http-client.test.ts", "test/contract/http.test.ts"],
    faults: [
      {
        what: "only the first address judged",
        find: "for (const { address } of found) {",
        replace: "for (const { address } of found.slice(0, 1)) {",
      },
    ],
  },
  {
    file: "lib/http/http-client.ts",
    tests: ["test/unit/http/http-client.test.ts", "test/contract/http.test.ts"],
    faults: [
      {
        what: "redirect to an address not judged",
        find: `        assertAllowed(target, network);
`,
        replace: `        if (redirects === 0) assertAllowed(target, network);
`,
      },
      {
        what: "redirect from https to http",
        find: 'return next.protocol === "http:" && from.protocol === "http:";',
        replace: 'return next.protocol === "http:" && from.protocol !== "";',
      },
    ],
  },
];
