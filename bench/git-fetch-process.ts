import { homeNetwork } from "../lib/core/network/network-policy.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { parseCommit } from "../lib/sources/git/git-object.ts";
import { walkTree } from "../lib/sources/git/git-tree.ts";
import { httpTransport } from "../lib/sources/git/http-transport.ts";
import { openGitRemote } from "../lib/sources/git/open-git-remote.ts";

/** Fetches `main` of the repository that the first argument names, reads all its files, and prints a JSON line of figures. */
const [, , url = "", how] = process.argv;
const { signal } = new AbortController();
const http = httpClient({ network: homeNetwork });
const begun = performance.now();
let files = 0;
let bytes = 0;
{
  await using remote = openGitRemote(httpTransport({ url }, http));
  const [main] = await remote.list(["refs/heads/main"], signal);
  if (main === undefined) throw new Error(`${url} has no branch main`);
  // A commit that the server does not have is looked for in the history of a branch, which is then fetched whole.
  const absent = "1".repeat(40);
  if (how === "history") {
    const reason: unknown = await remote.fetch([absent], { within: [main.oid] }, signal).then(
      () => "found",
      (error: unknown) => error,
    );
    if (!String(reason).includes(absent)) throw reason;
  } else {
    await using objects = await remote.fetch([main.oid], {}, signal);
    const { tree } = parseCommit((await objects.read(main.oid)).bytes);
    for await (const { type, oid } of walkTree(objects, tree)) {
      if (type !== "file") continue;
      files++;
      bytes += (await objects.read(oid)).bytes.length;
    }
  }
}
http.close();
const megabytes = process.resourceUsage().maxRSS / 1000;
process.stdout.write(`${JSON.stringify({ ms: performance.now() - begun, megabytes, files, bytes })}\n`);
