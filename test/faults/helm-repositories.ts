import type { FileFaults } from "./fault.ts";

export const helmRepositoryFaults: readonly FileFaults[] = [
  {
    file: "lib/manifests/go-yaml/keys-set-twice.ts",
    tests: ["test/unit/manifests/go-yaml-fault.test.ts"],
    faults: [
      {
        what: "only the first key that is there twice is reported",
        find: "twice.length === listedKeys",
        replace: "twice.length === 1",
      },
      {
        what: "a key with a text in block style is reported one line too late",
        find: "else frame.line = isBlockText(event) ? line - 1 : line;",
        replace: "else frame.line = line;",
      },
    ],
  },
  {
    file: "lib/manifests/go-yaml/go-yaml-fault.ts",
    tests: ["test/unit/sources/helm/chart-index.test.ts"],
    faults: [
      {
        what: "a list without an end is reported one line too late",
        find: 'text.replace(/\\n$/, "").split',
        replace: "text.split",
      },
      {
        what: "a mapping without an end is reported as a list without one",
        find: "if (closed === missedComma) return `${line} ',' or '}'`;",
        replace: "if (closed === missedComma) return `${line} ',' or ']'`;",
        tests: ["test/unit/manifests/go-yaml-fault.test.ts"],
      },
      {
        what: "a quoted text without an end in a list is reported as a list without one",
        find: "closed === undefined || closed === withoutEnd ?",
        replace: "line !== undefined ?",
        tests: ["test/unit/manifests/go-yaml-fault.test.ts"],
      },
      {
        what: "a fault in the first line of the scanner gets a line number",
        find: "(line === 0 ? what :",
        replace: "(line < 0 ? what :",
        tests: ["test/unit/manifests/go-yaml-fault.test.ts"],
      },
    ],
  },
  {
    file: "lib/flows/helm-repository/credentials.ts",
    tests: ["test/unit/flows/helm-repository/credentials.test.ts"],
    faults: [
      {
        what: "a certificate without its key in secretRef fails the repository",
        find: "isWholeTrust(data) ? trustIn(data",
        replace: "data.has('tls.crt') ? trustIn(data",
      },
    ],
  },
  {
    file: "lib/flows/helm-chart/oci-charts.ts",
    tests: ["test/unit/flows/helm-chart/from-registry.test.ts"],
    faults: [
      {
        what: "a chart that cannot be pulled is reported in the words of another client",
        find: "const why = orasWords(error.refusal, asked, hasCredentials);",
        replace: 'const why = hasCredentials ? "" : error.message;',
      },
      {
        what: "a missing layer is reported as a missing manifest",
        find: 'copy: { operation: "Fetch", what: layer.digest }',
        replace: 'copy: { operation: "FetchReference", what: pulled }',
      },
      {
        what: "a registry that a verification does not reach is reported in the words of Node",
        find: "new HttpError(error.reason, inRegistryWords(error, host), { cause: error })",
        replace: "host === '' ? inRegistryWords(error, host) : error",
        tests: ["test/unit/flows/helm-chart/verify-chart.test.ts"],
      },
    ],
  },
  {
    file: "lib/flows/helm-chart/oras-words.ts",
    tests: ["test/unit/flows/helm-chart/oras-words.test.ts"],
    faults: [
      {
        what: "the code of an error keeps its capital letters",
        find: ".toLowerCase()",
        replace: "",
      },
      {
        what: "a missing login is reported after any challenge",
        find: 'status === 401 && challenge === "basic" && !hasCredentials',
        replace: "status === 401 && challenge !== '' && !hasCredentials",
      },
      {
        what: "a refusal of the token service is reported as one of the registry",
        find: "return inCopy(step, `${named(tokenFor)}: ${answered(refusal)}`);",
        replace: "return inCopy(step, answered(refusal));",
      },
      {
        what: "a host that a redirect names is taken for the registry",
        find: " || !isOfRegistry(host, unanswered.url)",
        replace: ' || !isOfRegistry(host === "" ? "" : new URL(unanswered.url).host, unanswered.url)',
      },
    ],
  },
  {
    file: "lib/flows/helm-chart/verify-chart.ts",
    tests: ["test/unit/flows/helm-chart/verify-chart.test.ts"],
    faults: [
      {
        what: "a HelmChart that is verified by Notation without a Secret asks the registry first",
        find: 'if (provider === "notation" && secretRef === undefined) {',
        replace: 'if (provider === "notation" && secretRef !== undefined) {',
      },
    ],
  },
  {
    file: "lib/sources/helm/build-remote.ts",
    tests: ["test/unit/sources/helm/build-remote.test.ts"],
    faults: [
      {
        what: "a values file outside of the chart is found in it",
        find: "cleanPath(path)",
        replace: "cleanPath(`/${path}`).slice(1)",
      },
    ],
  },
  {
    file: "lib/sources/helm/go-time-fault.ts",
    tests: ["test/unit/sources/helm/go-time-fault.test.ts"],
    faults: [
      {
        what: "a fault in a time names all of it in place of what is left",
        find: "cannot parse ${quoted(rest)} as",
        replace: "cannot parse ${quoted(text)} as",
      },
    ],
  },
  {
    file: "lib/core/clean-path.ts",
    tests: ["test/unit/sources/helm/build-remote.test.ts"],
    faults: [
      {
        what: "a values file with a slash behind its name is missing",
        find: 'clean.length > 1 && clean.endsWith("/") ? clean.slice(0, -1) : clean',
        replace: "clean",
      },
    ],
  },
  {
    file: "lib/sources/helm/chart-entry.ts",
    tests: ["test/unit/sources/helm/chart-index.test.ts"],
    faults: [
      {
        what: "an unknown field of an entry is accepted silently in YAML too",
        find: 'if (format === "json") continue;',
        replace: "if (format !== undefined) continue;",
      },
      {
        what: "two dependencies of one name drop the version",
        find: "if (names.has(key)) return true;",
        replace: "if (names.has(key)) return false;",
      },
    ],
  },
  {
    file: "lib/sources/helm/index-reader.ts",
    tests: ["test/unit/sources/helm/chart-index.test.ts"],
    faults: [
      {
        what: "versions stay in the order of the index",
        find: "compareSemver(other.version, one.version)",
        replace: "0 * compareSemver(other.version, one.version)",
      },
      {
        what: "an index may have a field twice, if one of them is not in block style",
        find: "this.#named.add(name);",
        replace: "",
      },
    ],
  },
  {
    file: "lib/sources/helm/index-pieces.ts",
    tests: ["test/unit/sources/helm/chart-index.test.ts"],
    faults: [
      {
        what: "an index may have its charts in block style and an empty list of charts",
        find: 'if (inEntries) yield { kind: "field", text: textOf(from, to) };\n      else open',
        replace: "if (!inEntries) open",
      },
    ],
  },
  {
    file: "lib/sources/helm/chart-index.ts",
    tests: ["test/unit/sources/helm/chart-index.test.ts"],
    faults: [
      {
        what: "a chart that a large index has twice is not named",
        find: "if (cause instanceof NamedTwice) {",
        replace: "if (cause instanceof NamedTwice && cause.key === undefined) {",
      },
    ],
  },
  {
    file: "lib/sources/helm/choose-chart.ts",
    tests: ["test/unit/sources/helm/choose-chart.test.ts"],
    faults: [
      {
        what: "a range takes precedence over the exact version text",
        find: "if (literal !== undefined) return literal;",
        replace: "",
      },
      {
        what: "a tag with a v counts",
        find: ".filter((tag) => strictVersion.test(tag))",
        replace: "",
      },
    ],
  },
  {
    file: "lib/flows/helm-repository/fetch-index.ts",
    tests: ["test/unit/flows/helm-repository/helm-repository-flow.test.ts"],
    faults: [
      {
        what: "the answer of one URL counts for another",
        find: "known.url === url && known.revision === stored",
        replace: "known.revision === stored",
      },
      {
        what: "a lost artifact is not asked for again",
        find: "known.url === url && known.revision === stored",
        replace: "known.url === url",
      },
    ],
  },
  {
    file: "lib/flows/helm-repository/helm-getter.ts",
    tests: ["test/unit/flows/helm-repository/helm-getter.test.ts"],
    faults: [
      {
        what: "another port of the host is sent the password",
        find: "own.host === other.host",
        replace: "own.hostname === other.hostname",
      },
      {
        what: "a query, which may be a signature, is shown",
        find: 'return href.replace(/\\?.*$/s, "?…");',
        replace: "return href;",
      },
      {
        what: "an answer that is late is reported as one that did not begin",
        find: "if (exchange.hasHead) return `${late}",
        replace: "if (exchange.method === '') return `${late}",
      },
      {
        what: "a failed connection to a Helm repository is not reported in the words of Go's client",
        find: "new HelmFetchError(inWordsOfGo(error), { cause: error })",
        replace: "new HelmFetchError(inWordsOfGo === undefined ? '' : error.message, { cause: error })",
      },
    ],
  },
  {
    file: "lib/flows/source/source-flow.ts",
    tests: ["test/unit/flows/source/kind-options.test.ts"],
    faults: [
      {
        what: "a suspended static object loses its artifact",
        find: '(isJsonObject(spec) && spec["suspend"] === true) || ',
        replace: "",
      },
    ],
  },
];
