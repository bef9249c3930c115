import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { deadlineMs, withinDeadline } from "../../deadline.ts";
import { gitPrograms, gitRepository, gitServer } from "../../doubles/git-server.ts";
import { hasProgram, printedAddress, script, type Terminals, terminals } from "../../doubles/terminal.ts";
import { blocksToRun, statementsOf } from "../../unit/documents/page-blocks.ts";
import { filesIn, startChat } from "./fleet-hosts.ts";

const examples = join(import.meta.dirname, "../../../examples");
const [publish = "", apply = ""] = await blocksToRun("examples/fleet/README.md", 2);

const isPossible = gitPrograms !== undefined && hasProgram("python3");

describe.skipIf(!isPossible)("the commands of examples/fleet, typed beside sluice local (python3 is needed)", () => {
  const open = new AsyncDisposableStack();
  let folder = "";
  let typed: Terminals;
  let registry = "";
  let addresses = "";

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-fleet-"));
    open.defer(() => rm(folder, { recursive: true, force: true }));
    const standIns = ["helm", "crane"].map((name) => [name, join(folder, name)] as const);
    for (const [name, file] of standIns) await script(file, join(examples, "../test/e2e/examples/stand-in.ts"), name);
    typed = open.use(await terminals(folder, Object.fromEntries(standIns)));
    await cp(examples, join(folder, "examples"), { recursive: true });
    registry = new URL(await printedAddress(typed.open(folder, "sluice local"), "registry")).host;
    addresses = `export KUBECONFIG=$PWD/.sluice/kubeconfig REGISTRY=${registry}\n`;
  });
  afterAll(() => open.disposeAsync());

  const run = (line: string): Promise<string> => typed.run(folder, addresses + line);

  /** Starts the line that serves the charts, on a free port. Answers its address. */
  async function serve(line: string): Promise<string> {
    const screen = typed.open(folder, `export PYTHONUNBUFFERED=1\n${line.replace("8879", "0").replace(/ &$/, "")}`);
    return vi.waitFor(() => {
      const [, port] = / port (\d+) /.exec(screen()) ?? [];
      if (port === undefined) throw new Error(`the charts are not served: ${screen()}`);
      return `127.0.0.1:${port}`;
    }, withinDeadline);
  }

  /** Puts the addresses into the files, as the page asks for, and pushes its folder. */
  async function push(charts: string): Promise<{ readonly told: readonly string[] }> {
    const repository = open.use(await gitRepository());
    await repository.git("config", "http.receivepack", "true");
    const { url } = open.use(await gitServer(repository));
    const chat = await startChat(open);
    const here = (content: string): string =>
      content
        .replaceAll("http://127.0.0.1:3000/platform/fleet.git", url)
        .replaceAll("127.0.0.1:5000", registry)
        .replaceAll("127.0.0.1:8879", charts)
        .replaceAll("127.0.0.1:8080", chat.address);
    const fleet = join(folder, "examples/fleet");
    for (const [path, content] of Object.entries(await filesIn(fleet)))
      await writeFile(join(fleet, path), here(content));
    await repository.commit(await filesIn(join(fleet, "repository")));
    return chat;
  }

  test(
    "publish charts and image, and staging becomes Ready with a message in the chat",
    async () => {
      const lines = statementsOf(publish);
      const serving = lines.filter((line) => line.endsWith(" &"));
      expect(serving).toHaveLength(1);
      await run(lines.filter((line) => !serving.includes(line)).join("\n"));
      const chat = await push(await serve(serving[0] ?? ""));
      const [watch = "", ...applied] = statementsOf(apply).toReversed();
      await run(applied.toReversed().join("\n"));
      const screen = typed.open(folder, addresses + watch);
      const ready = ["flux-system", "infra-controllers", "infra-configs", "apps"];
      await vi.waitFor(() => {
        for (const name of ready) {
          expect(screen()).toMatch(
            new RegExp(`^${name} *\\t\\S+ *\\tFalse *\\tTrue *\\tApplied revision: main@sha1:`, "m"),
          );
        }
      }, withinDeadline);
      expect(await run("kubectl get deployment -n podinfo podinfo")).toMatch(/^podinfo +\d\/\d /m);
      await vi.waitFor(() => expect(chat.told.join("\n")).toContain("Helm install succeeded"), withinDeadline);
    },
    4 * deadlineMs,
  );
});
