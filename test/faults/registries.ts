import type { FileFaults } from "./fault.ts";

/** Mistakes in how registries are asked, and in the flow of OCIRepository. */
export const registryFaults: readonly FileFaults[] = [
  {
    file: "lib/http/http-failure.ts",
    tests: ["test/unit/http/plain-server.test.ts"],
    faults: [
      {
        what: "a server of plain HTTP is reported with an address in memory",
        find: "(handshakeFault(message) ?? message)",
        replace: "message",
      },
    ],
  },
  {
    file: "lib/sources/oci/registry-words.ts",
    tests: ["test/unit/sources/registry-words.test.ts"],
    faults: [
      {
        what: "a registry that does not speak TLS is reported with another request than Flux's",
        find: ' || reason === "protocol"',
        replace: "",
      },
      {
        what: "an address below /v2/ of any host is taken for the registry's",
        find: " && new URL(base).host === found",
        replace: " && found !== ''",
      },
    ],
  },
  {
    file: "lib/sources/oci/resolve.ts",
    tests: ["test/unit/flows/oci-repository-failures.test.ts"],
    faults: [
      {
        what: "a registry that is down is not reported in the words of Flux's client",
        find: "artifact digest: ${inRegistryWords(error, host)}",
        replace: "artifact digest: ${String(error)}",
      },
    ],
  },
  {
    file: "lib/sources/oci/resolve.ts",
    tests: ["test/unit/flows/oci-repository-failures.test.ts"],
    faults: [
      {
        what: "a digest of another algorithm is asked for",
        find: 'if (algorithm !== "sha256") return',
        replace: 'if (algorithm === "") return',
      },
    ],
  },
  {
    file: "lib/sources/oci/repository-url.ts",
    tests: ["test/unit/sources/repository-url.test.ts"],
    faults: [
      {
        what: "a name without a dot is the host of a registry",
        find: 'path !== undefined && (/[.:]/.test(host) || host === "localhost")',
        replace: "path !== undefined",
      },
    ],
  },
  {
    file: "lib/flows/oci-repository/registry.ts",
    tests: ["test/unit/flows/oci-repository-secrets.test.ts"],
    faults: [
      {
        what: "an answer for one namespace's login is shared with all namespaces",
        find: "[ctx.run.key.cluster, ctx.namespace]",
        replace: "[ctx.run.key.cluster]",
        tests: ["test/unit/flows/oci-repository/shared-listing.test.ts"],
      },
      {
        what: "the tags of one repository are those of all",
        find: "`tags ${identity} ${repository}`",
        replace: "`tags ${identity}`",
        tests: ["test/unit/flows/oci-repository/shared-listing.test.ts"],
      },
      {
        what: "the digest of one tag is that of every tag",
        find: "`tag ${identity} ${repository}:${tag}`",
        replace: "`tag ${identity} ${repository}`",
        tests: ["test/unit/flows/oci-repository/shared-listing.test.ts"],
      },
      {
        what: "a source with another password takes the answers that one with the right one got",
        find: "[access, ...hidden, ...who]",
        replace: "[access, ...who]",
        tests: ["test/unit/flows/oci-repository/shared-listing.test.ts"],
      },
      {
        what: "a missing Secret of a service account is reported as the object's own",
        find: "found.push(await pullSecret(name, absent, ctx));",
        replace: "found.push(await pullSecret(name, `secret '${name}' not found`, ctx));",
      },
    ],
  },
  {
    file: "lib/core/go-url-fault.ts",
    tests: ["test/unit/core/go-url-fault.test.ts"],
    faults: [
      {
        what: "an escape in a host is read as one in a path",
        find: "if (escaped !== undefined) return `invalid URL escape ${JSON.stringify(escaped)}`;",
        replace: "",
      },
    ],
  },
  {
    file: "lib/core/validation.ts",
    tests: ["test/unit/core/key-pair.test.ts"],
    faults: [
      {
        what: "a certificate of another key is accepted",
        find: "if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {",
        replace: 'if (new X509Certificate(cert).subject !== "" && createPrivateKey(key).type === "private") {',
      },
      {
        what: "a pair that no connection can use is kept",
        find: "      createSecureContext({ cert, key });\n",
        replace: "",
      },
    ],
  },
  {
    file: "lib/sources/oci/pull-artifact.ts",
    tests: ["test/unit/sources/pull-artifact.test.ts"],
    faults: [
      {
        what: "Docker's index is read as a manifest",
        find: "found.mediaType === mediaTypes.index || found.mediaType === mediaTypes.dockerIndex",
        replace: "found.mediaType === mediaTypes.index",
      },
      {
        what: "an artifact for another system is pulled",
        find: '(platform.os === "linux" && platform.architecture === "amd64")',
        replace: 'platform.architecture === "amd64"',
      },
      {
        what: "layer's announced size not limited",
        find: `    if (layer.size > limits.maxPackedBytes) {
      throw new RangeError(\`the layer has \${layer.size} bytes, \${limits.maxPackedBytes} are allowed\`);
    }
`,
        replace: "",
      },
    ],
  },
  {
    file: "lib/sources/oci/registry-client.ts",
    tests: [
      "test/unit/sources/registry-client.test.ts",
      "test/unit/sources/misbehaving-registry.test.ts",
      "test/unit/sources/registry-limits.test.ts",
    ],
    faults: [
      {
        what: "any link of a list is its next page",
        find: 'return /<([^>]+)>\\s*;[^,]*rel="?next"?/.exec(link)?.[1];',
        replace: "return /<([^>]+)>/.exec(link)?.[1];",
      },
      {
        what: "a public address beside the private ones is asked by plain HTTP",
        find: "172\\.(?:1[6-9]|2\\d|3[01])\\.",
        replace: "172\\.(?:1[6-9]|2\\d|3\\d)\\.",
      },
      {
        what: "plain HTTP that one object allows is for all",
        find: "if (!access.insecure && !isLocal(access.host)) return",
        replace: "if (origins.get(access.host) === undefined && !access.insecure && !isLocal(access.host)) return",
      },
      {
        what: "untrusted TLS falls back to plain HTTP",
        find: 'error.reason === "tls" || error.reason === "refused"',
        replace: 'error.reason === "refused"',
        tests: ["test/unit/sources/registry-credentials.test.ts"],
      },
      {
        what: "credentials go to another host of an upload",
        find: "const own = host === base.host;",
        replace: 'const own = host !== "";',
        tests: ["test/unit/sources/registry-credentials.test.ts"],
      },
      {
        what: "blob digest not checked",
        find: `      if (found !== digest) throw mismatch("blob", repository, digest, found);
`,
        replace: "",
      },
      {
        what: "manifest digest not checked",
        find: 'promised?.startsWith("sha256:") === true && promised !== digest',
        replace: 'promised?.startsWith("md5:") === true && promised !== digest',
      },

      {
        what: "only the first page of tags",
        find: 'path = nextPage(response.headers["link"] ?? "", where);',
        replace: "path = undefined;",
      },
    ],
  },
  {
    file: "lib/sources/oci/docker-config.ts",
    tests: ["test/unit/sources/docker-config.test.ts"],
    faults: [
      { what: "a key that is a URL of plain http names no host", find: "/^https?:\\/\\//", replace: "/^https:\\/\\//" },
      {
        what: "a host that begins like another gets its login",
        find: "return a === b || (dockerHub.has(a) && dockerHub.has(b));",
        replace: "return a.startsWith(b) || (dockerHub.has(a) && dockerHub.has(b));",
      },
    ],
  },
  {
    file: "lib/sources/oci/authorize.ts",
    tests: ["test/unit/sources/registry-client.test.ts"],
    faults: [
      {
        what: "a token in its other field is ignored",
        find: "parsed.data?.token ?? parsed.data?.access_token",
        replace: "parsed.data?.token",
      },
    ],
  },
  {
    file: "lib/flows/oci-repository/oci-repository-flow.ts",
    tests: ["test/unit/flows/oci-repository-artifact.test.ts"],
    faults: [
      {
        what: "a range of charts is followed as one of tags",
        find: "...(layerSelector?.mediaType === mediaTypes.helmChart ? { isChart: true } : {}),",
        replace: "",
      },
      {
        what: "the filter of a range is not followed",
        find: '...(semverFilter === "" ? {} : { filter: semverFilter }),',
        replace: "",
      },
      {
        what: "a tag beside a range is followed",
        find: 'if (semver === "") return { kind: "names"',
        replace: 'if (semver === "" || tag !== "") return { kind: "names"',
      },
    ],
  },
  {
    file: "lib/secrets/trust.ts",
    tests: ["test/unit/flows/oci-repository-secrets.test.ts"],
    faults: [
      { what: "a private key by its old name is none", find: '["tls.key", "keyFile"]', replace: '["tls.key"]' },
      {
        what: "the CA next to a client certificate is left out",
        find: "return { cert, key, ...(ca === undefined ? {} : { ca }) };",
        replace: "return { cert, key };",
      },
    ],
  },
  {
    file: "lib/sources/oci/push-artifact.ts",
    tests: ["test/unit/sources/push-artifact.test.ts"],
    faults: [
      {
        what: "patterns next to those that replace the default are left out",
        find: "const ignore = ignoreBy([...patterns, ...lines(artifact.addIgnorePaths ?? [])]);",
        replace: `const more = artifact.ignorePaths === undefined ? lines(artifact.addIgnorePaths ?? []) : [];
  const ignore = ignoreBy([...patterns, ...more]);`,
      },
    ],
  },
  {
    file: "lib/sources/oci/registry-fault.ts",
    tests: ["test/unit/sources/registry-client.test.ts"],
    faults: [
      {
        what: "the signature of Amazon's URLs is shown",
        find: 'new Set(["digest", "from", "last", "mount", "n", "scope", "service"])',
        replace: 'new Set(["digest", "from", "last", "mount", "n", "scope", "service", "X-Amz-Signature"])',
      },
    ],
  },
];
