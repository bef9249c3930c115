import type { FileFaults } from "./fault.ts";

const deliveries = ["test/unit/receiver/deliveries.test.ts"];
const asGoReads = ["test/unit/receiver/as-go-reads.test.ts"];
const filters = "test/unit/receiver/filters.test.ts";
const lookup = "test/unit/receiver/receiver-lookup.test.ts";

export const receiverFaults: readonly FileFaults[] = [
  {
    file: "lib/receiver/signature.ts",
    tests: deliveries,
    faults: [
      {
        what: "a token beyond ASCII is compared by its characters",
        find: 'Buffer.from(value, "latin1")',
        replace: "Buffer.from(value)",
        tests: ["test/unit/receiver/deliveries.test.ts"],
      },
      {
        what: "a missing signature counts as valid",
        find: `export function hmacFault(signature: string | undefined, token: Uint8Array, body: Uint8Array): string | undefined {
  if (signature === undefined || signature === "") return "the signature is missing";`,
        replace: `export function hmacFault(signature: string | undefined, token: Uint8Array, body: Uint8Array): string | undefined {
  if (signature === undefined || signature === "") return undefined;`,
      },
      {
        what: "the algorithm is accepted in any letter case",
        find: "if (!algorithms.has(algorithm))",
        replace: "if (!algorithms.has(algorithm.toLowerCase()))",
      },
      {
        what: "Nexus' hex digits are accepted in any letter case",
        find: "return isEqual(Buffer.from(signature), Buffer.from(wanted))",
        replace: "return isEqual(Buffer.from(signature.toLowerCase()), Buffer.from(wanted))",
      },
    ],
  },
  {
    file: "lib/receiver/authenticate.ts",
    tests: deliveries,
    faults: [
      {
        what: "a valid SHA-1 makes up for an invalid SHA-256",
        find: 'github: unless(readableContentType, signedBy("x-hub-signature-256", "x-hub-signature")',
        replace: 'github: unless(readableContentType, signedBy("x-hub-signature", "x-hub-signature-256")',
      },
      {
        what: "events are compared case-sensitively",
        find: "events.some((one) => one.toLowerCase() === event)",
        replace: "events.some((one) => one === event)",
      },
    ],
  },
  {
    file: "lib/receiver/authenticate.ts",
    tests: asGoReads,
    faults: [
      {
        what: "any body is parsed as a form",
        find: "return isForm(delivery.body) ?",
        replace: "return isForm(new Uint8Array()) ?",
      },
      {
        what: "the bytes of an event's name are characters",
        find: '.toString("utf8")\n      .toLowerCase()',
        replace: '.toString("latin1")\n      .toLowerCase()',
      },
    ],
  },
  {
    file: "lib/receiver/media-type.ts",
    tests: asGoReads,
    faults: [
      {
        what: "text after the parameters of a content type is ignored",
        find: "return end.test(header.slice(at)) ?",
        replace: "return end.test(header.slice(at, at)) ?",
      },
      {
        what: "a parameter may occur twice",
        find: "if ((values.get(key.toLowerCase()) ?? value) !== value) return undefined;",
        replace: "",
      },
      {
        what: "a list continues after an invalid type",
        find: "if (name === undefined) return false;",
        replace: "",
      },
    ],
  },
  {
    file: "lib/receiver/issued-tokens.ts",
    tests: ["test/unit/receiver/token-deliveries.test.ts"],
    faults: [
      {
        what: "a provider without an audience has no default",
        find: "audience || defaultAudience",
        replace: "audience",
      },
    ],
  },
  {
    file: "lib/receiver/clean-path.ts",
    tests: ["test/unit/functions/receiver.test.ts"],
    faults: [
      {
        what: "a query ends at its second question mark",
        find: 'const asked = query.join("?");',
        replace: 'const [asked = ""] = query;',
      },
      {
        what: "a path with a backslash redirects to another host",
        find: "encodeURI(target.toWellFormed())",
        replace: "target",
      },
      {
        what: "only one spelling of the webhook path is handled",
        find: 'cleaned === "/hook" ? "/hook/" : cleaned',
        replace: "cleaned",
      },
    ],
  },
  {
    file: "lib/receiver/oidc.ts",
    tests: ["test/unit/receiver/oidc.test.ts"],
    faults: [
      {
        what: "an issuer with a trailing slash is requested with two",
        find: 'issuerURL.replace(/\\/$/, "")',
        replace: "issuerURL",
        named: "with the path",
      },
      {
        what: "a time that no int64 holds is far away",
        find: "(Math.abs(seconds) < 2 ** 63 ? seconds : 0)",
        replace: "seconds",
      },
      {
        what: "empty claims may have any type",
        find: "  nonce: z.string().nullish(),\n",
        replace: "",
      },
    ],
  },
  {
    file: "lib/receiver/json-shape.ts",
    tests: asGoReads,
    faults: [
      { what: "null has no shape", find: "if (value === null) return undefined;", replace: "" },
      {
        what: "field names are matched case-sensitively",
        find: "fields.get(key.toLowerCase())",
        replace: "fields.get(key)",
      },
    ],
  },
  {
    file: "lib/receiver/delivery.ts",
    tests: [filters],
    faults: [
      {
        what: "every body that names JSON is read by filters",
        find: 'if (!isJsonType(delivery.header("content-type") ?? ""))',
        replace: 'if (!(delivery.header("content-type") ?? "").includes("application/json"))',
      },
      {
        what: "a null body is not a request",
        find: 'if (body.value === null) return new JsonText("{}");\n',
        replace: "",
      },
    ],
  },
  {
    file: "lib/receiver/handle-delivery.ts",
    tests: [...deliveries, lookup],
    faults: [
      {
        what: "only the filter of the first entry sees the body",
        find: "[entry.resourceFilter, ...entry.resources.map(({ filter }) => filter)].some(",
        replace: "[entry.resourceFilter, entry.resources[0]?.filter].some(",
        tests: ["test/unit/receiver/filters.test.ts"],
      },
      {
        what: "a Receiver that accepts a delivery hides that another failed",
        find: "[500, 200, 400, 503]",
        replace: "[200, 500, 400, 503]",
        tests: ["test/unit/receiver/receiver-lookup.test.ts"],
      },
      {
        what: "a suspended Receiver accepts deliveries",
        find: 'if (entry.state !== "ready") return',
        replace: 'if (entry.state === "not ready") return',
      },
      {
        what: "an empty token is accepted",
        find: '(values.get("token")?.reveal() ?? "") === ""',
        replace: 'values.get("token") === undefined',
      },
    ],
  },
  {
    file: "lib/receiver/first-contact.ts",
    tests: ["test/unit/functions/receiver.test.ts"],
    faults: [
      {
        what: "every contact counts as a first one",
        find: "return ageOf(first, clock) < firstContactMs;",
        replace: "return ageOf(first, clock) < Infinity;",
      },
      {
        what: "other deliveries get no time beside the first",
        find: "return ageOf(first, clock) < firstContactMs;\n  };",
        replace: "return first.wall === -1 || since.size === 0;\n  };",
      },
    ],
  },
  {
    file: "functions/receiver.ts",
    tests: ["test/unit/functions/receiver.test.ts"],
    faults: [
      {
        what: "a first contact has no more time than another",
        find: "using first = deadline(times.firstAuthenticMs);",
        replace: "using first = deadline(times.authenticMs);",
      },
    ],
  },
  {
    file: "lib/receiver/wake-selected.ts",
    tests: [...deliveries, filters],
    faults: [
      {
        what: "a filter of an entry hides that the one for all failed",
        find: "left = next.fault === undefined && left.fault !== undefined ? { ...next, fault: left.fault } : next;",
        replace: "left = next;",
        tests: ["test/unit/receiver/filters.test.ts"],
      },
      {
        what: "the object of the same name in the Receiver's own namespace is woken",
        find: "const { group, kind, namespace } = resource;",
        replace: `const { group, kind } = resource;
        const { namespace } = key;`,
        tests: ["test/unit/receiver/deliveries.test.ts"],
      },
      {
        what: "objects after one whose filter fails are woken",
        find: "const before = failed === -1 ? names : names.slice(0, failed);",
        replace: "const before = names;",
      },
      {
        what: "a failing entry is not reported",
        find: "    isWhole = false;\n",
        replace: "    isWhole = woken === 0;\n",
      },
    ],
  },
  {
    file: "lib/receiver/secret-cache.ts",
    tests: [lookup, "test/unit/receiver/caches.test.ts"],
    faults: [
      {
        what: "Secrets of two clusters are one",
        find: "const id = `${ref.cluster}/${ref.namespace}/${ref.name}`",
        replace: "const id = `${ref.namespace}/${ref.name}`",
      },
      {
        what: "Secrets of two namespaces are one",
        find: "`${ref.cluster}/${ref.namespace}/${ref.name}`",
        replace: "`${ref.cluster}/${ref.name}`",
      },
      {
        what: "a Secret that was replaced is not read again",
        find: "(fits(values) ? maxSecretAgeMs : minAgeMs)",
        replace: "maxSecretAgeMs",
      },
      {
        what: "a read that failed is kept",
        find: "() => kept.get(id) === entry && kept.delete(id),",
        replace: "() => undefined,",
      },
    ],
  },
  {
    file: "lib/receiver/google-token.ts",
    tests: ["test/unit/receiver/google-token.test.ts"],
    faults: [
      {
        what: "a token of Google ends with the beginning of its last second",
        find: "Math.floor(clock.now() / 1000) > exp",
        replace: "clock.now() / 1000 > exp",
      },
    ],
  },
  {
    file: "lib/receiver/json-web-token.ts",
    tests: ["test/unit/receiver/oidc.test.ts"],
    faults: [
      {
        what: "a key without a name has the empty name",
        find: '(kid === "" || each.kid === kid)',
        replace: "each.kid === kid",
        named: "empty name",
      },
    ],
  },
];
