import type { FileFaults } from "./fault.ts";

const ofSource = [
  "test/unit/flows/oci-repository.test.ts",
  "test/unit/flows/oci-repository-replaced.test.ts",
  "test/unit/flows/oci-repository-suspended.test.ts",
  "test/unit/flows/oci-repository-durations.test.ts",
  "test/unit/flows/oci-repository-artifact.test.ts",
  "test/unit/flows/oci-repository-failures.test.ts",
];

export const sourcesFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/source/source-flow.ts",
    tests: ofSource,
    faults: [
      {
        what: "our finalizer replaces those of others",
        find: "const withOurs = (finalizers: readonly string[]) => [...finalizers, finalizer];",
        replace: "const withOurs = () => [finalizer];",
        tests: ["test/unit/flows/source/memory-source.test.ts"],
      },
      {
        what: "the finalizers of others are removed with ours",
        find: "const withoutOurs = (finalizers: readonly string[]) => finalizers.filter((one) => one !== finalizer);",
        replace: "const withoutOurs = () => [];",
        tests: ["test/unit/flows/source/memory-source.test.ts"],
      },
      {
        what: "a source that has just subscribed takes a listing from before",
        find: "isOld ? since : deps.clock.monotonic()",
        replace: "isOld ? since : since",
        tests: ["test/unit/flows/oci-repository/shared-listing.test.ts"],
      },
      {
        what: "source is resolved before it subscribes",
        find: `  const subscribed = await subscribe(kind.topics(spec, ctx), ctx);
  const resolved = await kind.resolve(spec, { ...ctx, since: subscribed.since });`,
        replace: `  const resolved = await kind.resolve(spec, ctx);
  const subscribed = await subscribe(kind.topics(spec, ctx), ctx);`,
      },
    ],
  },
  {
    file: "lib/flows/source/report.ts",
    tests: ["test/unit/flows/source/memory-source.test.ts"],
    faults: [
      {
        what: "a failure is announced at each run after a request",
        find: "const isRequested = ctx.requestedAt !== undefined && ctx.requestedAt !== ctx.before.lastHandledReconcileAt;",
        replace: "const isRequested = ctx.requestedAt !== undefined;",
        tests: ["test/unit/flows/oci-repository-failures.test.ts"],
      },
      {
        what: "a short Retry-After ends a long back-off",
        find: "Math.max(backOffMs(failures, ctx.deps.timing.retryDelay), retryAfterMs(failure))",
        replace: "retryAfterMs(failure) || backOffMs(failures, ctx.deps.timing.retryDelay)",
        tests: ["test/unit/flows/oci-repository-failures.test.ts"],
      },
      {
        what: "an event that is late counts as missed",
        find: 'if (run.isRequested) return "no finding";',
        replace: 'if (run.isRequested && before.artifact === undefined) return "no finding";',
      },
      {
        what: "a finding with an unknown push time is never counted",
        find: 'run.carried).data?.unannounced === revision) return "missed";',
        replace: 'run.carried).data?.unannounced === revision) return "no finding";',
      },
    ],
  },
  {
    file: "lib/sources/shared-listing.ts",
    tests: ["test/unit/sources/shared-listing.test.ts"],
    faults: [
      {
        what: "a listing answers a run that began at the same moment",
        find: "found.startedAt > since",
        replace: "found.startedAt >= since",
      },
      {
        what: "an aborted run fails all callers that waited for its listing",
        find: `        signal.throwIfAborted();
        return ask(signal);`,
        replace: `        signal.throwIfAborted();
        return await typed<Answer>(found);`,
      },
    ],
  },
  {
    file: "lib/sources/followed.ts",
    tests: ["test/unit/sources/followed.test.ts"],
    faults: [
      {
        what: "an event without a tag does not wake followers of a tag",
        find: "return name === undefined || follows.names.includes(name);",
        replace: "return name !== undefined && follows.names.includes(name);",
      },
      {
        what: "a range that cannot be read is never woken",
        find: "if (error instanceof RangeError) return true;",
        replace: "if (error instanceof RangeError) return false;",
      },
      {
        what: "a ref with the name of a version wakes followers of versions",
        find: "  if (!name.startsWith(after)) return false;\n",
        replace: "",
        named: "not another ref of the same name",
      },
    ],
  },
  {
    file: "lib/flows/source/stored-artifact.ts",
    tests: ofSource,
    faults: [
      {
        what: "an artifact is recorded before it is stored",
        find: `  await deps.artifacts.put(pulled.digest, pulled.bytes, run.signal).catch(unstored);
  await deps.records.record(run.key, live.metadata.uid, pulled.digest, run.fence, run.signal);`,
        replace: `  await deps.records.record(run.key, live.metadata.uid, pulled.digest, run.fence, run.signal);
  await deps.artifacts.put(pulled.digest, pulled.bytes, run.signal).catch(unstored);`,
      },
      {
        what: "the settings of an artifact do not count",
        find: " && equal(observedOf(status, noted), observed)",
        replace: "",
        tests: ["test/unit/flows/source/memory-source.test.ts"],
      },
      {
        what: "an artifact in the status is trusted without a record",
        find: `    (await deps.records.recorded(run.key, live.metadata.uid, digest.data, run.signal)) &&
`,
        replace: "",
      },
    ],
  },
  {
    file: "lib/flows/source/read-source.ts",
    tests: ["test/unit/flows/source/read-source.test.ts"],
    faults: [
      {
        what: "artifact of a source that is being deleted counts",
        find: "  if (deletionTimestamp !== undefined) return { uid, artifact: undefined };\n",
        replace: "",
      },
    ],
  },
  {
    file: "lib/flows/source/source-conditions.ts",
    tests: ["test/unit/flows/source/memory-source.test.ts"],
    faults: [
      {
        what: "a condition with another message keeps its time",
        find: "was.reason === condition.reason && was.message === condition.message;",
        replace: "was.reason === condition.reason;",
      },
      {
        what: "another failure hides that a source is verified",
        find: "removeConditions(status, isVerified ? removed : ",
        replace: "removeConditions(status, !isVerified ? removed : ",
      },
      {
        what: "a missing include hides that the login failed before",
        find: 'if (type === "IncludeUnavailable") return ["FetchFailed"];',
        replace: "",
        tests: ["test/unit/flows/git-repository/include.test.ts"],
      },
      {
        what: "a login that fails hides that an include is missing",
        find: 'return reasonsBeforeIncludes.has(reason) ? ["IncludeUnavailable"] : [];',
        replace: "return reasonsBeforeIncludes.has(reason) ? [] : [];",
        tests: ["test/unit/flows/git-repository/include.test.ts"],
      },
      {
        what: "a failure that Ready does not show is announced at each attempt",
        find: "(one.type === type && one.status === status)) &&",
        replace: "(one.type === type && one.status !== status)) &&",
        tests: ["test/unit/flows/git-repository/include.test.ts"],
      },
      {
        what: "the recovery from a failed verification announces the artifact",
        find: "  return failureTypes.some((type) => isTrue(conditions, type));",
        replace: "  return failureTypes.some((type) => isTrue(conditions, type)) || conditions.some(isUnverified);",
        tests: ["test/unit/flows/git-repository/verify.test.ts"],
      },
    ],
  },
  {
    file: "lib/flows/source/source-context.ts",
    tests: ofSource,
    faults: [
      {
        what: "the source's writes do not check the lease",
        find: "leasedCluster(deps.home, run)",
        replace: "deps.home",
      },
    ],
  },
  {
    file: "lib/sources/archive/read-tar.ts",
    tests: ["test/unit/sources/unpack.test.ts"],
    faults: [
      {
        what: "a symbolic link has as much content as its header says",
        find: "/[123456]/.test(type) ? 0 : declaredSize",
        replace: "/[13456]/.test(type) ? 0 : declaredSize",
      },
      {
        what: "what fills the last block of skipped content is the next header",
        find: `  if (!(await reader.skip(unread))) throw unexpectedEnd();
  await reader.skip(padding(size));`,
        replace: "  if (!(await reader.skip(unread))) throw unexpectedEnd();",
      },
      { what: "a folder of an old tar is a file", find: '(name.endsWith("/") ? "5" : "0")', replace: '"0"' },
      {
        what: "a contiguous file is skipped",
        find: 'flag === "7" ? "0" : flag',
        replace: "flag",
        equivalent: "a member of a type that is not known is a file",
      },
      {
        what: "only the low bits of a binary number count",
        find: "total * 256 + (index === 0 ? byte & 0x7f : byte)",
        replace: "total * 256 + (index === 0 ? 0 : byte & 0x7f)",
        named: "binary number",
      },
      {
        what: "the long target of one link is that of all links behind it",
        find: `      longLink = undefined;
    }`,
        replace: "    }",
      },
      {
        what: "a pax global header has the records as its content",
        find: 'header.type === "g" ? { ...header, size: 0 } : header',
        replace: "header",
      },
      {
        what: "pax size ignored",
        find: "const declaredSize = paxSize === undefined ? headerSize : Number(paxSize);",
        replace: "const declaredSize = headerSize;",
      },
    ],
  },
  {
    file: "lib/sources/archive/unpack.ts",
    tests: ["test/unit/sources/unpack.test.ts"],
    faults: [
      {
        what: "a small archive is refused if it is packed well",
        find: "bytes > ratioFreeBytes && bytes > packedBytes * limits.maxRatio",
        replace: "bytes > packedBytes * limits.maxRatio",
      },
      {
        what: "an archive may have one entry less than is allowed",
        find: "if (++entries > limits.maxEntries)",
        replace: "if (++entries >= limits.maxEntries)",
      },
      {
        what: "a link that a later member replaces is still one",
        find: `  links.delete(path);
`,
        replace: "",
      },
      {
        what: "a link of any length",
        find: 'if ((type !== "1" && type !== "2") || Buffer',
        replace: 'if (type === "1" || type === "2" || Buffer',
      },
      {
        what: "a body that is too short for gzip has a wrong header",
        find: "packed.length < gzipHeadBytes",
        replace: "packed.length < 0",
      },
      { what: "NUL in names allowed", find: ' || name.includes("\\0")', replace: "" },
      {
        what: "no limit of unpacked bytes",
        find: `    if (bytes > limits.maxBytes) throw tooBig(limits);
    if (bytes > ratio`,
        replace: "    if (bytes > ratio",
      },
      {
        what: "symbolic link becomes an empty file",
        find: `      links.set(path, { type: "link", path, target });
      return;`,
        replace: `      links.set(path, { type: "link", path, target });
      break;`,
      },
      {
        what: "a hard link is resolved from its own folder",
        find: "target, isHard: true }",
        replace: "target }",
        tests: ["test/unit/sources/pull-artifact.test.ts"],
      },
      {
        what: "copies of links are not counted",
        find: "if (bytes <= limits.maxBytes) return followed;",
        replace: "if (bytes >= 0) return followed;",
        tests: ["test/unit/sources/pull-artifact.test.ts"],
      },
      { what: "'..' as last part allowed", find: 'isBad || parts.includes("..") || name', replace: "isBad || name" },
      {
        what: "implied folders do not count",
        find: `      if (tree.size > limits.maxEntries) throw new RangeError(\`tar has more than \${limits.maxEntries} entries\`);
`,
        replace: "",
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
    file: "lib/sources/archive/ignore-rules.ts",
    tests: ["test/unit/sources/ignore-rules.test.ts"],
    faults: [
      {
        what: "an ignore file applies to folders with the same prefix",
        find: "scope.some((name, index) => path[index] !== name)",
        replace: "scope.some((name, index) => path[index]?.startsWith(name) !== true)",
      },
    ],
  },
  {
    file: "lib/sources/archive/archive-tree.ts",
    tests: ["test/unit/sources/archive-tree.test.ts"],
    faults: [
      {
        what: "ignore files count in the order in which they were found",
        find: "return inWalkOrder(found).map(",
        replace: "return found.map(",
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
  {
    file: "lib/sources/archive/follow-links.ts",
    tests: ["test/unit/sources/follow-links.test.ts"],
    faults: [
      {
        what: "a link through one that points outside resolves to nothing",
        find: 'if (found.target.startsWith("/")) return outside;',
        replace: "",
      },
      {
        what: "a link to a folder with the same prefix counts as inside it",
        find: "entry.path.startsWith(`${end.path}/`)",
        replace: "entry.path.startsWith(end.path)",
      },
    ],
  },
];
