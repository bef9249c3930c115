import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ageKeygen, installSops, sops } from "../../interop/build-clients.ts";
import { blocksToRun } from "../../unit/documents/page-blocks.ts";
import { pageWorld } from "./page-world.ts";

const missing = await installSops();
const password = "correct horse battery staple";

test.skipIf(missing !== undefined)(
  `docs/sops.md: a Secret that its commands have encrypted is applied by the Kustomization of the page${missing ?? ""}`,
  async () => {
    const [encrypt = ""] = await blocksToRun("docs/sops.md", 1);
    const page = await pageWorld({ sops, "age-keygen": ageKeygen });
    onTestFinished(() => page[Symbol.asyncDispose]());
    const text = await readFile(join(import.meta.dirname, "../../../docs/sops.md"), "utf8");
    const [, kustomization = ""] = /^```yaml\n(.*?)^```$/ms.exec(text) ?? [];
    const secret = join(page.folder, "secret.yaml");
    await writeFile(
      secret,
      `apiVersion: v1\nkind: Secret\nmetadata: { name: web, namespace: team }\nstringData: { password: ${password} }\n`,
    );
    await page.type(`kubectl create namespace team\n${encrypt}`);
    expect(await readFile(secret, "utf8")).toMatch(/password: ENC\[AES256_GCM/);
    await page.apply(`
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: { name: web, namespace: team }
spec: { interval: 1h, url: "oci://${page.sluice.registry}/web", ref: { tag: v1 }, insecure: true }
---
${kustomization}`);
    await page.type(
      `sluice push artifact oci://${page.sluice.registry}/web:v1 --path secret.yaml --source local --revision v1`,
    );
    await page.typeUntil("sluice get kustomizations -n team", /^web\s.*\tTrue +\tApplied revision/m);
    const applied = await page.type("kubectl -n team get secret web -o jsonpath='{.data.password}'");
    expect(Buffer.from(applied, "base64").toString()).toBe(password);
  },
);
