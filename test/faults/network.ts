import type { FileFaults } from "./fault.ts";

export const networkFaults: readonly FileFaults[] = [
  {
    file: "lib/core/network/address-kind.ts",
    tests: ["test/unit/core/address-kind.test.ts", "test/unit/core/network-policy.test.ts"],
    faults: [
      {
        what: "addresses inside NAT64 are not checked",
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
        what: "only the first address is checked",
        find: "for (const { address } of found) {",
        replace: "for (const { address } of found.slice(0, 1)) {",
      },
    ],
  },
  {
    file: "lib/http/http-client.ts",
    tests: [
      "test/unit/http/http-client.test.ts",
      "test/unit/http/kept-connections.test.ts",
      "test/contract/http.test.ts",
    ],
    faults: [
      {
        what: "a redirect to another host goes past the proxy",
        find: "return { ...request, headers: Object.fromEntries(harmless), tls: trustElsewhere(tls) };",
        replace: `const { proxy: _proxy, ...rest } = request;
  return { ...rest, headers: Object.fromEntries(harmless), tls: trustElsewhere(tls) };`,
        tests: ["test/unit/http/proxied-request.test.ts"],
      },
      {
        what: "a host that redirects back to ours triggers a login",
        find: "if (next.host !== url.host) current = withoutCredentials(current);",
        replace: "current = next.host === new URL(request.url).host ? request : withoutCredentials(current);",
        named: "that comes back from another host",
      },
      {
        what: "connections in use are cut off to make room",
        find: "retire(longestUnused[1]);",
        replace: "longestUnused[1].destroy();",
      },
      {
        what: "the oldest CA's connections are closed, however often they are used",
        find: "    trusting.delete(key);\n    const",
        replace: "    if (trusting.has(key)) return agent;\n    const",
      },
      {
        what: "the address of a redirect is not checked",
        find: `        assertAllowed(target, network);
`,
        replace: `        if (redirects === 0) assertAllowed(target, network);
`,
      },
      {
        what: "a redirect from https to http is followed",
        find: 'return next.protocol === "http:" && from.protocol === "http:";',
        replace: 'return next.protocol === "http:" && from.protocol !== "";',
      },
    ],
  },
  {
    file: "lib/http/exchange-bounds.ts",
    tests: ["test/contract/http.test.ts"],
    faults: [
      {
        what: "a request whose time is up goes on",
        find: "setTimeout(onTime, Math.min(request.timeoutMs, maxTimerMs))",
        replace: "setTimeout(onTime, maxTimerMs)",
      },
      {
        what: "a request whose caller stops goes on",
        find: 'signal.addEventListener("abort", end, { once: true });',
        replace: "",
      },
    ],
  },
  {
    file: "lib/http/exchange-bounds.ts",
    tests: ["test/unit/http/exchange-bounds.test.ts"],
    faults: [
      {
        what: "a request that begins after its exchange has ended waits for ever",
        find: "if (isOver) next.destroy(ended);",
        replace: "",
      },
      {
        what: "an exchange that has ended keeps its request in memory",
        find: "    outgoing = undefined;\n",
        replace: "",
      },
    ],
  },
  {
    file: "lib/http/send-request.ts",
    tests: ["test/unit/http/exchange-bounds.test.ts"],
    faults: [
      {
        what: "an answer that is destroyed before its end was read waits for ever",
        find: "if (!incoming.readableEnded)",
        replace: "if (!incoming.complete)",
      },
    ],
  },
  {
    file: "lib/http/send-request.ts",
    tests: [
      "test/unit/http/http-client.test.ts",
      "test/unit/http/kept-connections.test.ts",
      "test/contract/http.test.ts",
    ],
    faults: [
      {
        what: "a PATCH is sent again where a kept connection was closed",
        find: '(method === "POST" || method === "PATCH") && request',
        replace: 'method === "POST" && request',
        named: "is repeated once",
      },
    ],
  },
  {
    file: "lib/http/dial.ts",
    tests: ["test/unit/http/dial.test.ts"],
    faults: [
      {
        what: "the host behind a proxy is not checked",
        find: `    judge(() => assertAllowed({ host: target.host, port: target.port }, network));
`,
        replace: "",
      },
    ],
  },
  {
    file: "lib/sources/git/known-hosts.ts",
    tests: ["test/unit/sources/git/known-hosts.test.ts"],
    faults: [
      {
        what: "a line without a port counts for every port",
        find: "patterns.filter(({ name, port }) => port === atPort && isMatch(name, host))",
        replace:
          "patterns.filter(({ name, port }) => (port === atPort || port === defaultPort) && isMatch(name, host))",
      },
      {
        what: "a revoked host key is accepted",
        find: `      if (revoked.some((one) => one.key.equals(key))) return "knownhosts: key is revoked";
`,
        replace: "",
      },
      { what: "the last key of a type counts", find: "own.toReversed().map(", replace: "own.map(" },
    ],
  },
  {
    file: "lib/sources/git/ssh-transport.ts",
    tests: ["test/unit/sources/git/ssh-transport.test.ts"],
    faults: [{ what: "any host key taken", find: "return refused === undefined;", replace: "return true;" }],
  },
  {
    file: "lib/sources/git/github-app.ts",
    tests: ["test/unit/sources/git/github-app.test.ts"],
    faults: [
      {
        what: "a token is cached for another key of the same App",
        find: "{cacheKey(app)}`;",
        replace: "{app.id}`;",
      },
    ],
  },
  {
    file: "lib/sources/git/codecommit-host.ts",
    tests: ["test/unit/aws/codecommit/codecommit-login.test.ts"],
    faults: [
      {
        what: "a FIPS host of CodeCommit is not recognised",
        find: "(?:-fips)?",
        replace: "",
        tests: ["test/unit/flows/git-repository/provider-login.test.ts"],
      },
      {
        what: "a host with the prefix of CodeCommit's gets a signature",
        find: String.raw`(?:\.cn)?$/`,
        replace: String.raw`(?:\.cn)?/`,
      },
    ],
  },
  {
    file: "lib/flows/git-repository/transport.ts",
    tests: ["test/unit/flows/git-repository/transport.test.ts"],
    faults: [
      {
        what: "a certificate that cannot be used is left out",
        find: 'if (unusable === undefined || url.protocol === "http:") return transport;',
        replace: 'if (unusable !== "") return transport;',
      },
    ],
  },
  {
    file: "lib/flows/git-repository/provider-login.ts",
    tests: ["test/unit/flows/git-repository/provider-login.test.ts"],
    faults: [
      {
        what: "a URL of another host is refused as an installation without an identity",
        find: "  refuseAwsLogin(url, proxy !== undefined);\n",
        replace: "",
      },
      {
        what: "Sluice's signature is sent to a server with the tenant's own CA",
        find: `["ca.crt", "caFile"].find(`,
        replace: `["ca.pem"].find(`,
      },
    ],
  },
  {
    file: "lib/core/json.ts",
    tests: ["test/unit/core/values.test.ts"],
    faults: [
      {
        what: "an object is equal to one with more fields",
        find: "keys.length === definedKeys(b).length && keys.every",
        replace: "keys.every",
      },
      { what: "a list is equal to one that goes on", find: "a.length === b.length && a.every(", replace: "a.every(" },
    ],
  },
  {
    file: "lib/core/json-pointer.ts",
    tests: ["test/unit/core/json-pointer.test.ts"],
    faults: [
      {
        what: "only the first slash of a part is read",
        find: 'part.replaceAll("~1", "/")',
        replace: 'part.replace("~1", "/")',
      },
      {
        what: "~01 is a slash",
        find: 'part.replaceAll("~1", "/").replaceAll("~0", "~")',
        replace: 'part.replaceAll("~0", "~").replaceAll("~1", "/")',
      },
    ],
  },
  {
    file: "lib/core/concurrency.ts",
    tests: ["test/unit/core/concurrency.test.ts"],
    faults: [
      {
        what: "mapLimit throws the last failure",
        find: "firstError ??= { error };",
        replace: "firstError = { error };",
      },
    ],
  },
  {
    file: "lib/http/send-request.ts",
    tests: ["test/unit/http/text-body.test.ts"],
    faults: [
      {
        what: "a body of text changes the headers beside it",
        find: 'outgoing.end(body, "latin1");',
        replace: "outgoing.end(body);",
      },
    ],
  },
  {
    file: "lib/http/proxy-address.ts",
    tests: ["test/unit/http/dial.test.ts"],
    faults: [
      {
        what: "a proxy of https listens at port 80",
        find: '{ "http:": 80, "https:": 443 }[url.protocol] ?? 1080',
        replace: '{ "http:": 80, "https:": 80 }[url.protocol] ?? 1080',
      },
    ],
  },
  {
    file: "lib/http/connect-by-proxy.ts",
    tests: ["test/unit/http/dial.test.ts"],
    faults: [
      {
        what: "an IPv6 address is named to a proxy without brackets",
        find: "isIP(host) === 6 ? `[${host}]` : host",
        replace: "host",
      },
    ],
  },
];
