import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { withinDeadline } from "../../deadline.ts";
import { gitPrograms } from "../../doubles/git-server.ts";
import { type Hosting, hosting } from "../../doubles/hosting.ts";
import { newSshKey } from "../../doubles/ssh-server.ts";
import { blocksToRun } from "../../unit/documents/page-blocks.ts";
import { type PageWorld, pageWorld, replaced } from "./page-world.ts";

const followed = "✔ the cluster follows the repository";
const manifests = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: podinfo }\n`;

describe.skipIf(gitPrograms === undefined)(
  "the commands of docs/bootstrap.md (git with http-backend is needed)",
  () => {
    const opened = new AsyncDisposableStack();
    let page: PageWorld;
    let host: Hosting;
    beforeAll(async () => {
      host = opened.use(await hosting());
      page = opened.use(await pageWorld());
    });
    afterAll(() => opened.disposeAsync());

    test("a cluster follows a repository that it has created at the host, and applies what is pushed there", async () => {
      const [first = ""] = await blocksToRun("docs/bootstrap.md", 2);
      await host.create("stefanprodan/podinfo", { isPrivate: false, branch: "master" });
      await host.commit("stefanprodan/podinfo", "kustomize/podinfo.yaml", manifests, "master");
      const clone = `${host.origin.replace("://", `://jane:${host.token}@`)}/my-org/fleet-infra.git`;
      const onGitHub = "https://github.com/my-org/fleet-infra";
      await writeFile(join(page.folder, ".gitconfig"), `[url "${clone}"]\ninsteadOf = ${onGitHub}\n`);
      const [begin = "", watch = ""] = first.split(/(?=^sluice get kustomizations --watch$)/m);
      const place = `--hostname=${host.origin} --allow-insecure-http --ssh-hostname=${host.ssh} --webhook-url=${page.sluice.receiver}`;
      await page.type(
        replaced(begin, {
          "ghp_...": host.token,
          "sluice bootstrap github": `sluice bootstrap github ${place}`,
          "https://github.com/stefanprodan/podinfo": `${host.origin}/stefanprodan/podinfo.git`,
        }),
      );
      const screen = page.open(watch);
      await vi.waitFor(
        () => expect(screen()).toMatch(/^podinfo\s.*\tTrue *\tApplied revision: master@sha1:/m),
        withinDeadline,
      );
      expect(await page.type("kubectl get configmap podinfo -o name")).toBe("configmap/podinfo\n");
    });

    test("any git server: by a password, by a key from a file, and by a key that the command makes", async () => {
      const [, others = ""] = await blocksToRun("docs/bootstrap.md", 2);
      const [byPassword = "", byFile = "", byNewKey = "", ...unknown] = others.trimEnd().split("\n");
      expect(unknown).toEqual([]);
      const names = ["by-password", "by-file", "by-new-key"];
      for (const name of names) await host.create(`ops/${name}`, { isPrivate: true });
      const key = await newSshKey();
      await writeFile(join(page.folder, "key"), key.getPrivatePEM());
      const line = `${key.type} ${key.getPublicSSH().toString("base64")}`;
      host.repositories.get("ops/by-file")?.keys.push({ title: "jane", key: line, isReadOnly: false });
      // A cluster follows one folder in each namespace, and the three lines are three ways to do the same.
      const typed = (line: string, name: string, values: Readonly<Record<string, string>>) =>
        page.type(`${replaced(line, { "ops/fleet.git": `ops/${name}.git`, ...values })} -n ${name} 2>&1`);

      const https = { "https://git.example.com": host.origin, "GIT_PASSWORD=...": `GIT_PASSWORD=${host.token}` };
      expect(await typed(`${byPassword} --allow-insecure-http`, "by-password", https)).toContain(followed);
      const ssh = { "git@git.example.com": `git@${host.ssh}` };
      expect(await typed(byFile, "by-file", ssh)).toContain(followed);
      const shown = await typed(`! ${byNewKey}`, "by-new-key", ssh);
      expect(shown).toContain("run the command again with --silent");
      const [, newKey = ""] = /✚ deploy key: (\S+ \S+)/.exec(shown) ?? [];
      host.repositories.get("ops/by-new-key")?.keys.push({ title: "sluice", key: newKey, isReadOnly: false });
      expect(await typed(`${byNewKey} --silent`, "by-new-key", ssh)).toContain(followed);
    });
  },
);
