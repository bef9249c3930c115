import type { FileFaults } from "./fault.ts";

const tests = (...names: readonly string[]): readonly string[] =>
  names.map((name) => `test/unit/sources/git/${name}.test.ts`);

export const gitFaults: readonly FileFaults[] = [
  {
    file: "lib/sources/git/http-transport.ts",
    tests: tests("http-transport"),
    faults: [
      {
        what: "another port of the host gets the credentials",
        find: "const isOwn = new URL(request.url).host === host;",
        replace: 'const isOwn = new URL(request.url).hostname === host.replace(/:\\d+$/, "");',
        tests: ["test/unit/sources/git/http-transport.test.ts"],
        named: "only if the host is the server's own",
      },
      {
        what: "the client certificate goes to the host that a redirect led to",
        find: "tls: isOwn ? tls : trustElsewhere(tls),",
        replace: "tls,",
        tests: ["test/unit/sources/git/http-transport.test.ts"],
        named: "only if the host is the server's own",
      },
      {
        what: "a status is reported with Sluice's own text",
        find: 'const asked = kind === "advertisement" ? `${at}?service=${service}` : at;',
        replace: "const asked = at;",
      },
      {
        what: "an unreachable proxy is reported as the host",
        find: 'proxy !== undefined && why.startsWith("dial tcp ")',
        replace: 'proxy !== undefined && why === "dial tcp "',
      },
      {
        what: "a listing that takes too long is reported as a fetch",
        find: 'late: {\n      list: `Get "${given}/info/refs?service=${service}": ${deadline}`',
        replace: 'late: {\n      list: `Post "${given}/git-upload-pack": ${deadline}`',
      },
      {
        what: "credentials go to the host that a redirect led to",
        find: "...(isOwn ? headers : {})",
        replace: "...headers",
      },
      {
        what: "the server that a redirect led to is forgotten",
        find: "      base = `${found.origin}",
        replace: "      void `${found.origin}",
      },
      {
        what: "a server of plain files is treated as a git server",
        find: 'if (headers["content-type"] !== `application/x-${service}-${kind}`) {',
        replace: 'if (headers["content-type"] === kind) {',
      },
      {
        what: "an answer that declares too many bytes is read",
        find: 'if (Number(headers["content-length"] ?? 0) > maxBytes) {',
        replace: 'if (Number(headers["content-length"] ?? 0) < 0) {',
      },
    ],
  },
  {
    file: "lib/sources/git/pkt-line.ts",
    tests: tests("pkt-line"),
    faults: [
      {
        what: "an answer that ends after a length counts as complete",
        find: "if (!(await need(length - headerBytes))) throw brokeOff();",
        replace: "await need(length - headerBytes);",
      },
      {
        what: "an error of the server is quoted",
        find: 'return new GitFault("not-found", "repository not found");',
        replace: 'return new GitFault("not-found", text);',
      },
    ],
  },
  {
    file: "lib/sources/git/pack-file.ts",
    tests: tests("pack-objects"),
    faults: [
      {
        what: "the checksum of a pack is ignored",
        find: 'if (!hash.digest().equals(tail)) throw damagedPack("its bytes do not have the checksum at its end");',
        replace: "hash.digest();",
      },
      {
        what: "a pack keeps its name on disk",
        find: `      await remove();
    } catch {`,
        replace: `      await Promise.resolve();
    } catch {`,
      },
      {
        what: "a pack is written whatever its length",
        find: "if (bytes > maxPackBytes) {",
        replace: "if (bytes > Number.MAX_SAFE_INTEGER) {",
        tests: tests("http-transport"),
      },
    ],
  },
  {
    file: "lib/sources/git/pack-objects.ts",
    tests: tests("pack-objects"),
    faults: [
      {
        what: "deltas without a base are skipped",
        find: "if (resolved < count) throw",
        replace: "if (resolved < 0) throw",
      },
      {
        what: "a chain of deltas may be of any length",
        find: "if (depth > maxDeltaDepth) {",
        replace: "if (depth < 0) {",
      },
      {
        what: "a delta is applied before its base is complete",
        find: "deltas.toReversed()",
        replace: "deltas",
      },
      {
        what: "bytes after the objects of a pack are ignored",
        find: 'if (at !== pack.bytes) throw damagedPack("it has more bytes than its objects");',
        replace: "",
      },
    ],
  },
  {
    file: "lib/sources/git/pack-unpacker.ts",
    tests: tests("pack-objects"),
    faults: [
      {
        what: "the result of a delta does not count",
        find: "      count(readDeltaHeader(delta).resultBytes);\n",
        replace: "      readDeltaHeader(delta);\n",
      },
    ],
  },
  {
    file: "lib/sources/git/delta.ts",
    tests: tests("delta"),
    faults: [
      {
        what: "a copy without a length copies nothing",
        find: "if (length === 0) length = 0x10000;",
        replace: "",
      },
      {
        what: "a delta may make fewer bytes than declared",
        find: "if (written !== resultBytes)",
        replace: "if (written > resultBytes)",
      },
    ],
  },
  {
    file: "lib/sources/git/git-tree.ts",
    tests: tests("git-tree"),
    faults: [
      {
        what: "names that differ in case are two names",
        find: 'name.normalize("NFC").toLowerCase()',
        replace: 'name.normalize("NFC")',
      },
      {
        what: "a tree may contain itself without limit",
        find: "if (--budget.entries < 0) {",
        replace: "if (budget.entries < 0) {",
      },
      {
        what: "a folder counts as wanted if it has the prefix of a wanted one",
        find: "path.startsWith(`${folder}/`)",
        replace: "path.startsWith(folder)",
      },
    ],
  },
  {
    file: "lib/sources/git/conversations.ts",
    tests: tests("http-backend"),
    faults: [
      {
        what: "a server is asked for its greeting every time",
        find: "knownAs === undefined ? undefined : known.get(knownAs)",
        replace: "knownAs === undefined ? known.get(transport.url) : undefined",
      },
      {
        what: "an answer for one object counts for all",
        find: "  const { knownAs } = transport;",
        replace: "  const knownAs = transport.isStateless ? transport.url : undefined;",
      },
    ],
  },
  {
    file: "lib/sources/git/open-git-remote.ts",
    tests: tests("http-backend"),
    faults: [
      {
        what: "refs of version 0 are listed once for all",
        find: "        if (listed !== undefined) talks.end();\n",
        replace: "",
      },
      {
        what: "missing objects in a pack are not noticed",
        find: "if (absent.length === 0) return objects;",
        replace: "if (absent.length >= 0) return objects;",
      },
    ],
  },
  {
    file: "lib/sources/git/github-app.ts",
    tests: ["test/unit/sources/git/github-app.test.ts"],
    faults: [
      {
        what: "a token fetched with one proxy login is cached for every other",
        find: "[proxy?.url.href, proxy?.username, proxy?.password?.reveal()]",
        replace: "[proxy?.url.href, proxy?.username]",
      },
      {
        what: "a token fetched with one CA is cached for every other",
        find: "baseUrl, tls, way]);",
        replace: "baseUrl, way]);",
      },
    ],
  },
];
