import type { FileFaults } from "./fault.ts";

const ofSource = [
  "test/unit/flows/oci-repository.test.ts",
  "test/unit/flows/oci-repository-artifact.test.ts",
  "test/unit/flows/oci-repository-failures.test.ts",
];

export const sourcesFaults: readonly FileFaults[] = [
  {
    file: "lib/flows/oci-repository/oci-repository-flow.ts",
    tests: ofSource,
    faults: [
      {
        what: "source looks before it listens",
        find: `  await of.deps.edges.listen([repositoryEdge(address.host, address.repository)], of.run.fence, of.run.signal);
  const registry = await registryOf(address, spec, connect, of);
  const resolved = await resolve(spec, address, registry, of.run.signal);`,
        replace: `  const registry = await registryOf(address, spec, connect, of);
  const resolved = await resolve(spec, address, registry, of.run.signal);
  await of.deps.edges.listen([repositoryEdge(address.host, address.repository)], of.run.fence, of.run.signal);`,
      },
    ],
  },
  {
    file: "lib/flows/oci-repository/store-artifact.ts",
    tests: ofSource,
    faults: [
      {
        what: "recorded before stored",
        find: `  await deps.artifacts.put(pulled.digest, pulled.bytes, run.signal).catch(unstored);
  await deps.records.record(run.key, live.metadata.uid, pulled.digest, run.fence, run.signal);`,
        replace: `  await deps.records.record(run.key, live.metadata.uid, pulled.digest, run.fence, run.signal);
  await deps.artifacts.put(pulled.digest, pulled.bytes, run.signal).catch(unstored);`,
      },
      {
        what: "status' artifact trusted unrecorded",
        find: `    (await deps.records.recorded(run.key, live.metadata.uid, digest.data, run.signal)) &&
`,
        replace: "",
      },
    ],
  },
  {
    file: "lib/flows/oci-repository/subject-of-run.ts",
    tests: ofSource,
    faults: [{ what: "source's writes not fenced", find: "fencedCluster(deps.cluster, run)", replace: "deps.cluster" }],
  },
  {
    file: "lib/sources/archive/read-tar.ts",
    tests: ["test/unit/sources/unpack.test.ts"],
    faults: [
      {
        what: "pax size ignored",
        find: "const told = paxSize === undefined ? headerSize : Number(paxSize);",
        replace: "const told = headerSize;",
      },
    ],
  },
  {
    file: "lib/sources/archive/unpack.ts",
    tests: ["test/unit/sources/unpack.test.ts"],
    faults: [
      { what: "NUL in names allowed", find: ' || name.includes("\\0")', replace: "" },
      {
        what: "no limit of unpacked bytes",
        find: `    if (bytes > limits.maxBytes) throw tooBig(limits);
    if (bytes > ratio`,
        replace: "    if (bytes > ratio",
      },
      {
        what: "symbolic link becomes an empty file",
        find: `    case "2":
      links.push(path);
      return;`,
        replace: `    case "2":
      links.push(path);
      break;`,
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
    file: "lib/sources/oci/pull-artifact.ts",
    tests: ["test/unit/sources/pull-artifact.test.ts"],
    faults: [
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
    tests: ["test/unit/sources/registry-client.test.ts"],
    faults: [
      {
        what: "untrusted TLS falls back to plain HTTP",
        find: 'error.kind === "tls" || error.kind === "refused"',
        replace: 'error.kind === "refused"',
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
];
