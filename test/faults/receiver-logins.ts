import type { FileFaults } from "./fault.ts";

/** Mistakes in how a delivery proves its sender: signatures, tokens and the keys of their issuers. */
export const receiverLoginFaults: readonly FileFaults[] = [
  {
    file: "lib/receiver/key-sets.ts",
    tests: ["test/unit/receiver/key-sets.test.ts"],
    faults: [
      {
        what: "expired keys restart the limit of requests",
        find: "const refreshes = kept.get(url)?.refreshes ?? [];",
        replace: "const refreshes: readonly Moment[] = [];",
      },
      {
        what: "an issuer that failed once for a new key is not asked again",
        find: "      old.next = undefined;\n",
        replace: "      // Kept.\n",
      },
      {
        what: "documents of all issuers are cached without limit",
        find: "map.size <= maxDocuments",
        replace: "map.size <= 1000 * maxDocuments",
      },
      {
        what: "keys take unlimited memory",
        find: " && bytes <= maxKeptBytes",
        replace: "",
      },
      {
        what: "keys that were just fetched are fetched again",
        find: "return isCached && isSignedBy",
        replace: "return isSignedBy",
      },
    ],
  },
  {
    file: "lib/receiver/oidc.ts",
    tests: ["test/unit/receiver/oidc.test.ts"],
    faults: [
      {
        what: "a document of an issuer with the same prefix is accepted",
        find: "issuer !== issuerURL",
        replace: "!issuerURL.startsWith(issuer)",
      },
      {
        what: "an audience with the same prefix is accepted",
        find: "!aud.includes(audience)",
        replace: "!aud.some((one) => one?.startsWith(audience))",
      },
    ],
  },
  {
    file: "lib/receiver/google-token.ts",
    tests: ["test/unit/receiver/google-token.test.ts"],
    faults: [
      {
        what: "an audience with the same prefix is accepted",
        find: "aud !== expected.audience",
        replace: '!aud.startsWith(expected.audience ?? "")',
      },
      {
        what: "a token that names no key is tried with all of Google's",
        find: "token.kid === undefined || ",
        replace: "",
      },
    ],
  },
  {
    file: "lib/receiver/json-web-token.ts",
    tests: ["test/unit/receiver/json-web-token.test.ts"],
    faults: [
      {
        what: "a token of the greatest length is refused",
        find: "token.length > maxTokenChars",
        replace: "token.length >= maxTokenChars",
      },
      {
        what: "a key without a name counts for any token",
        find: "each.kid === kid)",
        replace: "each.kid === undefined || each.kid === kid)",
      },
      { what: "a token is tried with every key", find: ".slice(0, maxTriedKeys)", replace: ".slice(0)" },
      {
        what: "a token is tried with few keys, whether they are of its algorithm or not",
        find: ".slice(0, maxTriedKeys)",
        replace: ".slice(0, maxTriedKeys - 1)",
      },
      {
        what: "an exponent of any length is accepted",
        find: " || publicExponent > maxRsaExponent",
        replace: " || publicExponent === 0n",
      },
      { what: "a modulus of any length is taken", find: "modulusLength > maxRsaBits || ", replace: "" },
      {
        what: "a set of any number of keys is read",
        find: "z.string().optional() }), maxKeys)",
        replace: "z.string().optional() }), 10 * maxKeys)",
      },
      {
        what: "the name of a key in a set may have any length",
        find: ' || (jwk.kid ?? "").length > maxKeyIdChars',
        replace: "",
      },
    ],
  },
  {
    file: "lib/receiver/authenticate.ts",
    tests: ["test/unit/receiver/authenticate.test.ts"],
    faults: [
      {
        what: "an event with the prefix of a listed one is accepted",
        find: "one.toLowerCase() === event",
        replace: "event.startsWith(one.toLowerCase())",
      },
      {
        what: "a tag of acr may be a number",
        find: 'target: { repository: "text", tag: "text" }',
        replace: 'target: { repository: "text" }',
      },
    ],
  },
  {
    file: "lib/receiver/signature.ts",
    tests: ["test/unit/receiver/authenticate.test.ts"],
    faults: [
      { what: "what follows a second = in a signature is left out", find: 'rest.join("=")', replace: 'rest[0] ?? ""' },
    ],
  },
];
