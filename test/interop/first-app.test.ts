import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { gitPrograms } from "../../local/demo/git-http-backend.ts";
import { deadlineMs, withinDeadline } from "../deadline.ts";
import { printedAddress, terminals } from "../doubles/terminal.ts";
import { isPortTaken, onFreePorts } from "../real/free-ports.ts";
import { blocksToRun } from "../unit/documents/page-blocks.ts";
import { ageKeygen, installSops, sops } from "./build-clients.ts";

const root = join(import.meta.dirname, "../..");
const page = await readFile(join(root, "docs/first-app.md"), "utf8");
const [, gitHost = ""] = /^```js\n(.*?)^```$/ms.exec(page) ?? [];
const notifications = `curl --silent "$RECEIVER/notifications"`;
const missing = gitPrograms === undefined ? ": git has no http-backend" : await installSops();

test.skipIf(missing !== undefined)(
  `every command of docs/first-app.md does what the page says, typed in its three terminals${missing ?? ""}`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-first-app-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const { open, run, ...opened } = await terminals(folder, { sops, "age-keygen": ageKeygen });
    onTestFinished(() => opened[Symbol.asyncDispose]());
    const [start = "", addresses = "", host = "", ...rest] = await blocksToRun("docs/first-app.md", 14);
    const work = join(folder, "first-app");

    const first = open(folder, start);
    const receiver = await printedAddress(first, "receiver");
    await writeFile(join(work, "git-host.js"), gitHost);
    const port = await onFreePorts(1, async ([each = 0]) => {
      const screen = open(work, host.replaceAll("8080", String(each)));
      const isTaken = () => isPortTaken(new Error(screen()));
      const answers = async () =>
        (await fetch(`http://127.0.0.1:${each}/app.git/info/refs?service=git-upload-pack`)).ok;
      await vi.waitFor(async () => expect(isTaken() || (await answers())).toBe(true), withinDeadline);
      if (isTaken()) throw new Error(screen());
      return each;
    });
    const second = [addresses.replace("http://127.0.0.1:PORT", receiver), ...rest]
      .join("\n")
      .replaceAll("8080", String(port))
      // The notification comes a moment after the condition that the page waits for.
      .replace(
        notifications,
        `until ${notifications} | grep --quiet Reconciliation; do sleep 0.2; done\n${notifications}`,
      );
    const stdout = await run(work, second);

    const inOrder = [
      /^app +\t\S+ *\tFalse +\tTrue +\tApplied revision: main@sha1:/m,
      /^hello +1\/1 /m,
      /Deployment\/default\/hello configured/,
      /Helm install succeeded for release default\/greeter\.v1/,
      /^text +\tinline\t"Hello from Helm"/m,
      /^Hello from Helm$/m,
      /^ *password: ENC\[AES256_GCM/m,
      /correct horse battery staple/,
      /\tFalse\tDeployment\/default\/hello dry-run failed/,
      /error Kustomization\/default\/app ReconciliationFailed\n.*\.spec\.replicas/,
      /^hello +2\/2 /m,
      /^app +\t\S+ *\tFalse +\tTrue +\tApplied revision: main@sha1:/m,
    ];
    let left = stdout;
    for (const expected of inOrder) {
      expect(left).toMatch(expected);
      left = left.slice(left.search(expected) + 1);
    }
  },
  20 * deadlineMs,
);
