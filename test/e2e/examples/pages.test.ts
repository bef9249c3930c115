import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startNotifyHosts } from "../../../local/demo/notify-hosts.ts";
import { withinDeadline } from "../../deadline.ts";
import { gitPrograms, gitRepository, gitServer } from "../../doubles/git-server.ts";
import { printedAddress, script, type Terminals, terminals } from "../../doubles/terminal.ts";
import { blocksToRun } from "../../unit/documents/page-blocks.ts";

const root = join(import.meta.dirname, "../../..");
const open = new AsyncDisposableStack();
let folder = "";
let typed: Terminals;
/** The line of README.md that a reader types into each new terminal. */
let addresses = "";

const textOf = (page: string): Promise<string> => readFile(join(root, page), "utf8");

/** The commands of blocks, one a line. */
const linesOf = (blocks: readonly string[]): readonly string[] =>
  blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, " ").split("\n")).filter((line) => line !== "");

const run = (line: string): Promise<string> => typed.run(folder, `${addresses}\n${line}`);

/**
 * Runs commands as they stand, and answers what they print. What only reads is repeated until it shows what its reader waits for.
 *
 * @param shown by the beginning of a command
 */
async function follow(lines: readonly string[], shown: Readonly<Record<string, RegExp>>): Promise<string> {
  const unused = Object.keys(shown).filter((begin) => !lines.some((line) => line.startsWith(begin)));
  if (unused.length > 0) throw new Error(`the page has no such command: ${unused.join(", ")}`);
  let printed = "";
  for (const line of lines) {
    const [, awaited] = Object.entries(shown).find(([begin]) => line.startsWith(begin)) ?? [];
    printed += awaited === undefined ? await run(line) : await untilShown(line, awaited);
  }
  return printed;
}

const untilShown = (line: string, awaited: RegExp): Promise<string> =>
  vi.waitFor(
    async () => {
      const text = await run(line);
      if (!awaited.test(text)) throw new Error(`${line} does not show ${String(awaited)}: ${text}`);
      return text;
    },
    { ...withinDeadline, interval: 500 },
  );

/** Puts an address of ours into a file of the reader's folder, as the page asks for. */
async function edit(file: string, before: string, after: string): Promise<void> {
  const text = await readFile(join(folder, file), "utf8");
  if (!text.includes(before)) throw new Error(`${file} does not have ${before}`);
  await writeFile(join(folder, file), text.replaceAll(before, after));
}

describe.skipIf(gitPrograms === undefined)("the commands of a page, typed beside sluice local", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-pages-"));
    open.defer(() => rm(folder, { recursive: true, force: true }));
    const standIns = ["helm", "crane"].map((name) => [name, join(folder, name)] as const);
    for (const [name, file] of standIns) await script(file, join(import.meta.dirname, "stand-in.ts"), name);
    typed = open.use(await terminals(folder, Object.fromEntries(standIns)));
    await cp(join(root, "examples"), join(folder, "examples"), { recursive: true });
    await typed.run(folder, "git init --quiet && git commit --quiet --allow-empty --message start");
    const [start = "", next = ""] = await blocksToRun("README.md", 2);
    const registry = await printedAddress(typed.open(folder, start), "registry");
    [addresses = ""] = linesOf([next]);
    if (!addresses.includes("127.0.0.1:PORT")) throw new Error(`no port to put in: ${addresses}`);
    addresses = addresses.replace("127.0.0.1:PORT", new URL(registry).host);
  });
  afterAll(() => open.disposeAsync());

  /** Serves a repository with these files on its branch main. */
  async function served(files: Readonly<Record<string, string>>): Promise<string> {
    const repository = open.use(await gitRepository());
    await repository.git("config", "http.receivepack", "true");
    await repository.commit(files);
    return open.use(await gitServer(repository)).url;
  }

  test("README.md, Use it: the repository that app.yaml names is applied, and the last command shows it", async () => {
    const [, use = ""] = /^## Use it$(.*?)^## /ms.exec(await textOf("README.md")) ?? [];
    const [, yaml = ""] = /^```yaml\n(.*?)^```$/ms.exec(use) ?? [];
    const map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: app, namespace: default }\n";
    const url = await served({ "deploy/app.yaml": map });
    await writeFile(join(folder, "app.yaml"), yaml.replace("https://git.example.com/team/app", url));
    const printed = await follow(linesOf((await blocksToRun("README.md", 2)).slice(1)).slice(1), {
      "sluice get kustomizations": /^app +\tmain@sha1:[0-9a-f]{8}\tFalse +\tTrue +\tApplied revision: main@sha1:/m,
    });
    expect(printed).toContain("kustomization.kustomize.toolkit.fluxcd.io/app created");
  });

  test("examples/overlays: both environments become Ready, and a changed greeting reaches production alone", async () => {
    const [first = ""] = await blocksToRun("examples/overlays/README.md", 1);
    await follow(linesOf([first]), {
      "sluice get kustomizations": /^greeter-production(?:.*\n)*?greeter-staging.*\tTrue +\tApplied/m,
      "kubectl get configmap,secret,deployment": /deployment\.apps\/greeter +3\/3/,
    });
    const greeting = (environment: string) => run(`kubectl get configmap -n greeter-${environment} -o yaml`);
    await vi.waitFor(async () => expect(await greeting("production")).toContain("Good morning"), withinDeadline);
    expect(await greeting("staging")).not.toContain("Good morning");
  });

  test("examples/notify: the status of the pushed commit and a message of sluice notify test arrive", async () => {
    const [first = ""] = await blocksToRun("examples/notify/README.md", 1);
    const hosts = open.use(await startNotifyHosts("a-token"));
    await edit("examples/notify/alerts.yaml", "http://127.0.0.1:8080", hosts.url);
    await follow(linesOf([first.replace("token=…", "token=a-token")]), {
      "sluice get alerts": /^commit-status\t.*\tTrue .*\n^failures +\t.*\tTrue /m,
    });
    const commit = (await run("git rev-parse HEAD")).trim();
    await vi.waitFor(() => {
      expect(hosts.statuses).toContainEqual(expect.objectContaining({ commit, state: "success" }));
      expect(hosts.messages).not.toEqual([]);
    }, withinDeadline);
  });

  test("examples/podinfo-helm: the pushed chart is installed, and a changed value upgrades it", async () => {
    await follow(linesOf(await blocksToRun("examples/podinfo-helm/README.md", 1)), {
      "sluice get helmreleases": /^podinfo *\t.*\tTrue +\tHelm install succeeded for release default\/podinfo\.v1/m,
      "sluice get values": /^replicas\tConfigMap default\/podinfo-values values.yaml\t2 /m,
    });
    expect(await untilShown("kubectl get deployment podinfo", /podinfo +3\/3/)).toContain("podinfo");
    await run("kubectl delete helmrelease podinfo --timeout=4m");
  });

  test("examples/podinfo-images: the tag of a pushed image is committed to the repository", async () => {
    const names = ["deployment.yaml", "kustomization.yaml", "job.yaml"];
    const read = async (name: string) =>
      [`deploy/${name}`, await textOf(`examples/podinfo-images/deploy/${name}`)] as const;
    const url = await served(Object.fromEntries(await Promise.all(names.map(read))));
    await typed.run(folder, `git clone --quiet ${url} my-deploy`);
    addresses += `\nexport TOKEN=a-token REPOSITORY=${url}`;
    const printed = await follow(linesOf(await blocksToRun("examples/podinfo-images/README.md", 1)), {
      "kubectl get imagerepositories": /imagepolicy\S+\/podinfo .*1\.1\.0/,
      "git -C my-deploy pull": /^ +Update podinfo\n(?:.*\n)*\+ +image: \S+\/podinfo:1\.1\.0 /m,
    });
    expect(printed).toMatch(/^-.*podinfo:1\.0\.0 /m);
  });
});
