import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gitPrograms } from "../../doubles/git-server.ts";
import { type Hosting, hosting } from "../../doubles/hosting.ts";
import { type CliWorld, cliWorld } from "../cli-world.ts";
import { playStory } from "./story.ts";

const { signal } = new AbortController();
const sync = "clusters/prod/flux-system/gotk-sync.yaml";

describe.skipIf(gitPrograms === undefined)(
  "sluice bootstrap on a running Sluice (git with http-backend is needed)",
  () => {
    let world: CliWorld;
    let host: Hosting;
    beforeAll(async () => {
      host = await hosting();
      world = await cliWorld();
    });
    afterAll(async () => {
      await world.close();
      await host[Symbol.asyncDispose]();
    });

    const bootstrap = (which: "github" | "gitlab", ...args: readonly string[]) =>
      world.runIn(
        { KUBECONFIG: world.kubeconfig, GITHUB_TOKEN: host.token, GITLAB_TOKEN: host.token },
        ...["bootstrap", which, "--hostname", host.origin, "--allow-insecure-http", "--ssh-hostname", host.ssh],
        ...args,
      );
    const fleet = () => [
      ...["--owner=acme", "--repository=fleet", "--path=clusters/prod"],
      `--webhook-url=${world.receiver}`,
    ];

    /** What the cluster has of a bootstrap: each object, whether it was made again, and what of it a user writes. */
    const written = async (namespace = "flux-system") => {
      const kinds = [
        { group: "", version: "v1", kind: "Secret", name: namespace },
        { group: "", version: "v1", kind: "Secret", name: `${namespace}-webhook` },
        { group: "source.toolkit.fluxcd.io", version: "v1", kind: "GitRepository", name: namespace },
        { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization", name: namespace },
        { group: "notification.toolkit.fluxcd.io", version: "v1", kind: "Receiver", name: namespace },
      ];
      const lives = await Promise.all(kinds.map((ref) => world.cluster.get({ ...ref, namespace }, signal)));
      return lives.map((live) => {
        const { uid, generation, annotations } = live?.metadata ?? {};
        return { uid, generation, annotations, spec: live?.["spec"], data: live?.["data"] };
      });
    };

    /** Without what a run of Sluice may change. */
    const asWritten = ({ uid, spec, data }: Awaited<ReturnType<typeof written>>[number]) => ({ uid, spec, data });

    test("creates repository, deploy key and webhook, commits the manifests, and waits until the cluster has applied the commit", async () => {
      const { code, err } = await bootstrap("github", ...fleet());
      expect([code, err.split("\n").at(-2)]).toEqual([0, "✔ the cluster follows the repository"]);
      const { isPrivate, keys, hooks } = host.repositories.get("acme/fleet") ?? { keys: [], hooks: [] };
      expect(isPrivate).toBe(true);
      expect(keys).toEqual([
        {
          title: "flux-system-main-flux-system-./clusters/prod",
          key: expect.stringMatching(/^ssh-ed25519 /),
          isReadOnly: true,
        },
      ]);
      expect(hooks).toEqual([{ url: expect.stringMatching(/\/hook\/[0-9a-f]{64}$/), secret: expect.any(String) }]);
      expect(await host.git("acme/fleet", "log", "--format=%an <%ae> %s", "main")).toBe(
        "Sluice <> Add Sluice sync manifests",
      );
      expect(await host.git("acme/fleet", "ls-tree", "-r", "--name-only", "main")).toBe(
        `${sync}\nclusters/prod/flux-system/kustomization.yaml`,
      );
      const uid = await world.cluster.uid(signal);
      expect(await host.git("acme/fleet", "show", `main:${sync}`)).toContain(`sluice.dev/cluster: ${uid}`);
      await host.git("acme/fleet", "fsck", "--strict");
      const head = await host.git("acme/fleet", "rev-parse", "main");
      expect(err).toContain(`✔ fetched revision main@sha1:${head}`);
      expect(err).toContain("✔ Kustomization reconciled successfully");
    });

    test("run again it changes nothing: no commit, no write at the host, and the same objects", async () => {
      const before = await written();
      const head = await host.git("acme/fleet", "rev-parse", "main");
      host.asked.length = 0;
      const { code, err } = await bootstrap("github", ...fleet());
      expect(code).toBe(0);
      expect(err).toContain("✔ source secret up to date");
      expect(err).toContain("✔ sync manifests are up to date");
      expect(err).toContain("✔ webhook up to date");
      expect(await host.git("acme/fleet", "rev-parse", "main")).toBe(head);
      expect(host.asked.filter((request) => !request.startsWith("GET "))).toEqual([]);
      expect(await written()).toEqual(before);
    });

    test("refuses the folder of another cluster before any write, and --force takes it over", async () => {
      const before = await written();
      const text = await host.git("acme/fleet", "show", `main:${sync}`);
      const uid = await world.cluster.uid(signal);
      await host.commit("acme/fleet", sync, `${text.replaceAll(uid, "another-cluster")}\n`);
      const head = await host.git("acme/fleet", "rev-parse", "main");
      const refused = await bootstrap("github", ...fleet());
      expect([refused.code, refused.err.split("\n").at(-2)]).toEqual([
        1,
        `✗ ./clusters/prod is the folder of another cluster: ${sync} names the cluster another-cluster, and this one is ${uid}. Choose another --path, or give --force if that cluster is gone`,
      ]);
      expect(await host.git("acme/fleet", "rev-parse", "main")).toBe(head);
      expect((await written()).map(asWritten)).toEqual(before.map(asWritten));
      const forced = await bootstrap("github", ...fleet(), "--force");
      expect([forced.code, forced.err.split("\n").at(-2)]).toEqual([0, "✔ the cluster follows the repository"]);
      expect(await host.git("acme/fleet", "show", `main:${sync}`)).toBe(text);
    });

    test("works on GitLab with the token in place of a deploy key, and a group as team", async () => {
      const args = [
        "--owner=acme/platform",
        "--repository=fleet",
        "--path=clusters/prod",
        "--team=ops",
        "--token-auth",
      ];
      const { code, err } = await bootstrap("gitlab", ...args, `--webhook-url=${world.receiver}`, "-n", "platform");
      expect([code, err.split("\n").at(-2)]).toEqual([0, "✔ the cluster follows the repository"]);
      const repository = host.repositories.get("acme/platform/fleet");
      expect([repository?.isPrivate, repository?.keys, [...(repository?.teams ?? [])]]).toEqual([
        true,
        [],
        [["2", 40]],
      ]);
      expect(repository?.hooks).toHaveLength(1);
      const [secret, , source] = await written("platform");
      const text = (value: string) => Buffer.from(value).toString("base64");
      expect(secret?.data).toEqual({ username: text("git"), password: text(host.token) });
      expect(source?.spec).toMatchObject({ url: `${host.origin}/acme/platform/fleet.git` });
      host.asked.length = 0;
      const again = await bootstrap("gitlab", ...args, `--webhook-url=${world.receiver}`, "-n", "platform");
      expect([again.code, host.asked.filter((request) => !request.startsWith("GET "))]).toEqual([0, []]);
    });

    test("the first steps of a flux user: bootstrap, podinfo as files, commit, and a watch until it is ready", async () => {
      await host.create("jane/podinfo", { isPrivate: false, branch: "master" });
      await host.commit(
        "jane/podinfo",
        "kustomize/config.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: podinfo}\ndata: {color: blue}\n",
        "master",
      );
      await using other = await cliWorldOf();
      const { watched, head } = await playStory({ host, ...other.world });
      expect(watched.split("\n")[0]).toMatch(/^NAME\s+REVISION\s+SUSPENDED\s+READY\s+MESSAGE/);
      expect(watched).toMatch(/^podinfo\s+master@sha1:[0-9a-f]{8}\s+False\s+True\s+Applied revision: master@sha1:/m);
      const applied = { group: "", version: "v1", kind: "ConfigMap", namespace: "default", name: "podinfo" };
      expect((await other.world.cluster.get(applied, signal))?.["data"]).toEqual({ color: "blue" });
      const all = await other.world.sh("get", "kustomizations");
      expect(all.out).toMatch(new RegExp(`^flux-system\\s+main@sha1:${head.slice(0, 8)}\\s+False\\s+True`, "m"));
    });
  },
);

/** Another Sluice with a cluster of its own. */
async function cliWorldOf() {
  const world = await cliWorld();
  return { world, [Symbol.asyncDispose]: () => world.close() };
}
