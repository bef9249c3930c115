import type { FileFaults } from "./fault.ts";

/** Mistakes at limits, between neighbours and in repeated steps of git, receivers, sops and manifests, found by planting some by hand. */
export const limitFaults: readonly FileFaults[] = [
  {
    file: "lib/receiver/handle-delivery.ts",
    tests: ["test/unit/receiver/handle-delivery.test.ts"],
    faults: [
      {
        what: "a guessed path counts as the first contact with the cluster",
        find: "entry.secret !== undefined && deps.isFirstContact",
        replace: "deps.isFirstContact",
      },
      {
        what: "the first contact with the state counts as that with the cluster",
        find: "deps.isFirstContact(key.cluster)",
        replace: 'deps.isFirstContact("")',
      },
      {
        what: "the Secret of a Receiver is read in the home cluster",
        find: "cluster: key.cluster, namespace: key.namespace, name }",
        replace: 'cluster: "", namespace: key.namespace, name }',
      },
    ],
  },
  {
    file: "lib/receiver/wake-selected.ts",
    tests: ["test/unit/receiver/handle-delivery.test.ts"],
    faults: [
      {
        what: "each entry has its own budget for expressions",
        find: '  const cel = deps.cel.withBudget(key, "delivery");\n  let isWhole = true;\n  let woken = 0;\n  for (const resource of entry.resources) {',
        replace:
          '  let isWhole = true;\n  let woken = 0;\n  for (const resource of entry.resources) {\n    const cel = deps.cel.withBudget(key, "delivery");',
      },
      {
        what: "the log counts what the last entry wakes",
        find: "woken += names.length;",
        replace: "woken = names.length;",
      },
    ],
  },
  {
    file: "lib/receiver/secret-cache.ts",
    tests: ["test/unit/receiver/caches.test.ts"],
    faults: [
      {
        what: "a Secret that does not fit is read for each delivery",
        find: "fits(values) ? maxSecretAgeMs : minAgeMs",
        replace: "fits(values) ? maxSecretAgeMs : 0",
      },
      {
        what: "every caller that finds an expired Secret reads it again",
        find: "now === undefined || now === found ? load(ref, id) : now",
        replace: "load(ref, id)",
      },
      {
        what: "tokens of any length are kept",
        find: " && chars <= maxCachedChars",
        replace: "",
      },
    ],
  },
  {
    file: "lib/receiver/refusal-log.ts",
    tests: ["test/unit/receiver/refusal-log.test.ts"],
    faults: [
      { what: "refusals that never pause are no warnings", find: "    if (isQuiet) return;\n", replace: "" },
      {
        what: "all Receivers are cached without limit",
        find: "warned.size > maxReceivers",
        replace: "warned.size > 1000 * maxReceivers",
      },
    ],
  },
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
  {
    file: "lib/receiver/delivery.ts",
    tests: ["test/unit/receiver/authenticate.test.ts"],
    faults: [
      {
        what: "a body may have any number of values",
        find: "maxParts: maxBodyValues - 1",
        replace: "maxParts: 1_000 * maxBodyValues",
      },
    ],
  },
  {
    file: "lib/receiver/cdevents.ts",
    tests: ["test/unit/receiver/cdevents.test.ts"],
    faults: [
      {
        what: "the highest severity is refused",
        find: 'maybe("low", "medium", "high", "critical")',
        replace: 'maybe("low", "medium", "high")',
      },
      {
        what: "a list of an event has any number of entries",
        find: "limitedList(Link, maxListEntries)",
        replace: "limitedList(Link, 10 * maxListEntries)",
      },
    ],
  },
  {
    file: "lib/flows/receiver/index-entry.ts",
    tests: ["test/unit/flows/receiver/receiver-flow.test.ts"],
    faults: [
      {
        what: "a suspended Receiver lists what it selects",
        find: 'state === "ready" ? poolsOf(spec, rules) : []',
        replace: "poolsOf(spec, rules)",
      },
    ],
  },
  {
    file: "lib/sops/stores/yaml-comments.ts",
    tests: ["test/unit/sops/yaml-store.test.ts"],
    faults: [{ what: "a comment keeps the line end of Windows", find: '.replace(/\\r$/, "")', replace: "" }],
  },
  {
    file: "lib/sops/stores/yaml-emit.ts",
    tests: ["test/unit/sops/yaml-store.test.ts"],
    faults: [
      {
        what: "infinity is written with a sign",
        find: '.replace("Inf", ".inf").replace("+", "")',
        replace: '.replace("Inf", ".inf")',
      },
    ],
  },
  {
    file: "lib/sops/stores/yaml-load.ts",
    tests: ["test/unit/sops/yaml-store.test.ts"],
    faults: [
      { what: "an alias stands for an anchor of another document", find: "    this.#anchors.clear();\n", replace: "" },
      {
        what: "a file with as many characters as the limit is refused",
        find: "count > maxIndicators",
        replace: "count >= maxIndicators",
      },
      {
        what: "binary data is read as text",
        find: 'isUtf8(bytes) ? bytes.toString("utf8") : bytes',
        replace: 'bytes.toString("utf8")',
      },
      {
        what: "a whole number with the tag of a float is refused",
        find: '    if (tag === "!!float" && typeof value === "bigint") return Number(value);\n',
        replace: "",
      },
    ],
  },
  {
    file: "lib/sops/stores/yaml-scalar.ts",
    tests: ["test/unit/sops/yaml-store.test.ts"],
    faults: [
      {
        what: "a leading zero does not make a number octal",
        find: "/^0[0-7]/.test(digits)",
        replace: "/^00[0-7]/.test(digits)",
      },
      {
        what: "a text that looks like a YAML 1.1 time is written without quotes",
        find: "oldBooleans.has(text) || base60.test(text) ||",
        replace: "oldBooleans.has(text) ||",
      },
      { what: "one spelling of an old boolean stands without quotes", find: '  "Off",\n', replace: "" },
      {
        what: "a number with underscores is a text",
        find: '? text : text.replaceAll("_", "")',
        replace: "? text : text",
      },
    ],
  },
  {
    file: "lib/sops/stores/yaml-writer.ts",
    tests: ["test/unit/sops/yaml-store.test.ts"],
    faults: [
      {
        what: "a text of one line break is written as an empty one",
        find: 'text === "\\n" || text.endsWith("\\n\\n") ? "+"',
        replace: 'text.endsWith("\\n\\n") ? "+"',
      },
      { what: "bytes stand in lines of another length", find: "match(/.{1,70}/g)", replace: "match(/.{1,76}/g)" },
    ],
  },
  {
    file: "lib/sources/archive/unpack.ts",
    tests: ["test/unit/sources/archive-limits.test.ts"],
    faults: [
      {
        what: "links may copy ten times the bytes of the limit",
        find: "if (bytes <= limits.maxBytes) return followed;",
        replace: "if (bytes <= 10 * limits.maxBytes) return followed;",
      },
      {
        what: "copies of links count by the mode of files",
        find: "sizes.set(read, bytes.length);",
        replace: "sizes.set(read, file.mode);",
      },
      {
        what: "the paths of copies may have gigabytes",
        find: "const maxLinkedPathsBytes = 32 * 1024 * 1024;",
        replace: "const maxLinkedPathsBytes = 32 * 1024 * 1024 * 1024;",
      },
      {
        what: "a tar of as many bytes as the limit is refused",
        find: "if (bytes > limits.maxBytes) throw tooBig(limits);",
        replace: "if (bytes >= limits.maxBytes) throw tooBig(limits);",
      },
      {
        what: "a path as deep as the limit is refused",
        find: "parts.length > limits.maxDepth",
        replace: "parts.length >= limits.maxDepth",
      },
      {
        what: "a path counts by its characters",
        find: "Buffer.byteLength(name) > limits.maxPathBytes",
        replace: "name.length > limits.maxPathBytes",
      },
      {
        what: "a link counts by its characters",
        find: "Buffer.byteLength(link) <= maxPathBytes",
        replace: "link.length <= maxPathBytes",
      },
    ],
  },
  {
    file: "lib/sources/archive/follow-links.ts",
    tests: ["test/unit/sources/archive-limits.test.ts"],
    faults: [
      {
        what: "as many copies as the limit are refused",
        find: "copied.length <= maxEntries",
        replace: "copied.length < maxEntries",
      },
      {
        what: "a path as long as the limit is refused",
        find: "if (bytes > maxPathBytes)",
        replace: "if (bytes >= maxPathBytes)",
      },
      {
        what: "paths as long together as the limit are refused",
        find: "pathBytes > maxPathsBytes",
        replace: "pathBytes >= maxPathsBytes",
      },
      {
        what: "copies may be nested once more than the limit",
        find: "open.size >= maxNestedLinks",
        replace: "open.size > maxNestedLinks",
      },
      {
        what: "a link over as many links as the limit is refused",
        find: "++hops > maxHops",
        replace: "++hops >= maxHops",
      },
      {
        what: "only the last folder that is copied is known",
        find: "new Set([...open, end.path])",
        replace: "new Set([end.path])",
      },
    ],
  },
  {
    file: "lib/sops/keys/gcp-kms.ts",
    tests: ["test/unit/sops/keys/quoted-secrets.test.ts"],
    faults: [
      {
        what: "a token service may quote the refresh token",
        find: "[new Secret(client_secret), new Secret(refresh_token)]",
        replace: "[new Secret(client_secret)]",
      },
      {
        what: "a token service may quote the client secret",
        find: "[new Secret(client_secret), new Secret(refresh_token)]",
        replace: "[new Secret(refresh_token)]",
      },
      { what: "a token service may quote the assertion", find: "[new Secret(assertion)]", replace: "[]" },
      {
        what: "Google's KMS may quote the token",
        find: "            secrets: [token],\n",
        replace: "            secrets: [],\n",
      },
    ],
  },
  {
    file: "lib/sops/keys/vault.ts",
    tests: ["test/unit/sops/keys/quoted-secrets.test.ts"],
    faults: [
      { what: "Vault may quote the token of a login", find: "secrets: [jwt], ", replace: "" },
      {
        what: "a data key as long as the limit is refused",
        find: "enc.length > maxCiphertextChars",
        replace: "enc.length >= maxCiphertextChars",
        tests: ["test/unit/sops/keys/key-limits.test.ts"],
      },
      {
        what: "a path as long as the limit is refused",
        find: "path.length > maxNameChars",
        replace: "path.length >= maxNameChars",
        tests: ["test/unit/sops/keys/key-limits.test.ts"],
      },
      {
        what: "an address as long as the limit is refused",
        find: "address.length <= maxNameChars",
        replace: "address.length < maxNameChars",
        tests: ["test/unit/sops/keys/key-limits.test.ts"],
      },
      {
        what: "a path with a dot is sent",
        find: 'part === "." || part === ".."',
        replace: 'part === ".."',
        tests: ["test/unit/sops/keys/key-limits.test.ts"],
      },
    ],
  },
  {
    file: "lib/sops/keys/vault-tokens.ts",
    tests: ["test/unit/sops/keys/vault-tokens.test.ts"],
    faults: [
      {
        what: "the token of the first server goes to the second",
        find: "const token = tokens.get(address) ??",
        replace: "const token = tokens.values().next().value ??",
      },
      {
        what: "any number of servers may be listed",
        find: "export const maxInstances = 1_000;",
        replace: "export const maxInstances = 1_000_000;",
      },
      {
        what: "only the first listed server counts",
        find: "config.data.instances.map((",
        replace: "config.data.instances.slice(0, 1).map((",
      },
    ],
  },
  {
    file: "lib/sops/keys/age.ts",
    tests: ["test/unit/sops/keys/key-limits.test.ts"],
    faults: [
      {
        what: "as many identities as the limit are refused",
        find: "lines.length > maxIdentities",
        replace: "lines.length >= maxIdentities",
      },
      {
        what: "every identity is tried for every recipient",
        find: 'refuseMoreTries(stanzasOf(file, "X25519") * identities.length, maxTries);',
        replace: "",
        tests: ["test/unit/sops/keys/age.test.ts"],
      },
      {
        what: "every hybrid identity is tried for every recipient",
        find: "refuseMoreTries(stanzas * identities.length, maxHybridTries);",
        replace: "",
        tests: ["test/unit/sops/keys/age.test.ts"],
      },
    ],
  },
  {
    file: "lib/sops/keys/pgp.ts",
    tests: ["test/unit/sops/keys/key-limits.test.ts"],
    faults: [
      {
        what: "a message as long as the limit is refused",
        find: "recipient.enc.length > maxMessageChars",
        replace: "recipient.enc.length >= maxMessageChars",
      },
      {
        what: "a key is tried for any number of recipients",
        find: "recipientsOf(key) > maxRecipientsOfKey",
        replace: "recipientsOf(key) > 10 * maxRecipientsOfKey",
        tests: ["test/unit/sops/keys/pgp.test.ts"],
      },
      {
        what: "a key has any number of bits",
        find: "?? 0) > maxKeyBits",
        replace: "?? 0) > 2 * maxKeyBits",
        tests: ["test/unit/sops/keys/pgp.test.ts"],
      },
    ],
  },
  {
    file: "lib/flows/interval.ts",
    tests: ["test/unit/flows/interval.test.ts"],
    faults: [
      {
        what: "an interval of one second gives a warning",
        find: "ms > 0 && ms < minIntervalMs",
        replace: "ms > 0 && ms <= minIntervalMs",
      },
      {
        what: "a short retry interval gives no warning",
        find: "Object.entries({ interval, retryInterval })",
        replace: "Object.entries({ interval })",
      },
      {
        what: "one old condition makes the warning come again",
        find: "conditions.some(",
        replace: "conditions.every(",
      },
    ],
  },
  {
    file: "lib/flows/conditions.ts",
    tests: ["test/unit/flows/conditions.test.ts"],
    faults: [
      {
        what: "the time stays where the status changes",
        find: "    before.status !== condition.status ||\n",
        replace: "",
      },
      {
        what: "the time stays where the reason changes",
        find: "    before.reason !== condition.reason ||\n",
        replace: "",
      },
      {
        what: "the time of a message that is cut moves with each run",
        find: "before.message !== message;",
        replace: "before.message !== condition.message;",
      },
    ],
  },
  {
    file: "lib/core/merge-patch.ts",
    tests: ["test/unit/core/merge-patch.test.ts"],
    faults: [
      {
        what: "a mapping is sent as a whole without removed keys",
        find: "const inner = mergePatch(was, is);",
        replace: "const inner = equal(was, is) ? undefined : is;",
      },
      {
        what: "an inherited property counts as a field",
        find: "Object.hasOwn(object, key) ? (object[key] ?? null) : null",
        replace: "object[key] ?? null",
      },
    ],
  },
  {
    file: "lib/core/event-manifest.ts",
    tests: ["test/unit/flows/record-event.test.ts"],
    faults: [
      {
        what: "the name of an event has a hyphen before its dot",
        find: 'name.slice(0, 200).replace(/[-.]+$/, "")',
        replace: "name.slice(0, 200)",
      },
    ],
  },
  {
    file: "lib/flows/record-event.ts",
    tests: ["test/unit/flows/record-event.test.ts"],
    faults: [
      {
        what: "an annotation of the object hides the revision of an event",
        find: "{ ...ownMetadata(object), ...event.annotations }",
        replace: "{ ...event.annotations, ...ownMetadata(object) }",
      },
    ],
  },
  {
    file: "lib/flows/write-finalizers.ts",
    tests: ["test/unit/flows/write-finalizers.test.ts"],
    faults: [
      {
        what: "a finalizer that another controller added is lost",
        find: 'const { finalizers = [], resourceVersion = "" } = present.metadata;',
        replace: 'const { finalizers = [] } = live.metadata;\n    const { resourceVersion = "" } = present.metadata;',
      },
      { what: "a conflict fails the run at once", find: "tries === maxTries", replace: "tries > 0" },
    ],
  },
  {
    file: "lib/manifests/engine-message.ts",
    tests: ["test/unit/manifests/engine-message.test.ts"],
    faults: [{ what: "the query of a remote base is shown", find: 'text.replace(/\\?.*$/, "?...")', replace: "text" }],
  },
  {
    file: "lib/sources/git/greeting.ts",
    tests: ["test/unit/sources/git/greeting.test.ts"],
    faults: [
      {
        what: "the peeled object of a tag takes the place of the tag",
        find: "refs.set(name, { ...tag, peeled: ref.oid });",
        replace: "refs.set(name, { ...tag, oid: ref.oid });",
      },
      {
        what: "the ends of a shallow repository are refs",
        find: 'for await (const text of more) if (!text.startsWith("shallow ")) add(text);',
        replace: "for await (const text of more) add(text);",
      },
      {
        what: "version 2 with other object ids is accepted",
        find: "return sha1Only({ version: 2, capabilities });",
        replace: "return { version: 2, capabilities };",
      },
    ],
  },
  {
    file: "lib/sources/git/upload-pack.ts",
    tests: ["test/unit/sources/git/greeting.test.ts"],
    faults: [
      {
        what: "a server of an old version is asked to leave files out",
        find: "return version === 2 && featuresOfFetch(",
        replace: "return featuresOfFetch(",
      },
      {
        what: "a feature with the same prefix counts as the filter",
        find: 'version === 2 && featuresOfFetch(capabilities).includes("filter")',
        replace: 'version === 2 && (capabilities.get("fetch") ?? "").includes("filter")',
      },
      {
        what: "a server that serves tips is not asked for one",
        find: 'capabilities.has("allow-tip-sha1-in-want") || ',
        replace: "",
      },
      {
        what: "a server that serves reachable objects is not asked for one",
        find: ' || capabilities.has("allow-reachable-sha1-in-want")',
        replace: "",
      },
    ],
  },
];
