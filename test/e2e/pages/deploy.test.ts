import { chmod, cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { buildClients, crane } from "../../interop/build-clients.ts";
import { ownPart } from "../../real/own-part.ts";
import { blocksToRun } from "../../unit/documents/page-blocks.ts";
import { awsProgram, type PageWorld, pageAccount, pageWorld, replaced } from "./page-world.ts";

const isNamed = process.env["SLUICE_REAL_AWS"] !== undefined;
const missing = isNamed ? await buildClients() : "";
const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
const ecr = "123456789012.dkr.ecr.eu-west-1.amazonaws.com";

/** Of the role that every real cluster has, what the example needs; the embedded cluster has no roles of its own. */
const clusterRole = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: admin }
rules:
  - apiGroups: ["", apps, autoscaling, policy]
    resources: [services, deployments, horizontalpodautoscalers, poddisruptionbudgets]
    verbs: [get, list, watch, create, update, patch, delete]`;

/** The blocks of the page in their order, without those of the CDK, which docs/maintainers/testing.md lists. */
async function blocks() {
  const [push = "", rollback = "", remove = ""] = await blocksToRun("docs/deploy.md", 3);
  return { push, rollback, remove };
}

describe.skipIf(missing !== undefined)(
  `the commands of docs/deploy.md after the deployment (SLUICE_REAL_AWS)${missing ?? ""}`,
  () => {
    const opened = new AsyncDisposableStack();
    let page: PageWorld;
    let account = "";
    beforeAll(async () => {
      const moto = opened.use(await ownPart("aws", z.object({ aws: z.string(), awsCli: z.string() })));
      const programs = await mkdtemp(join(tmpdir(), "sluice-programs-"));
      opened.defer(() => rm(programs, { recursive: true, force: true }));
      const docker = join(programs, "docker");
      // There is no ECR registry to log in to, so this docker writes down its arguments and the password.
      await writeFile(docker, `#!/bin/sh\necho "$@" > "$HOME/docker-login"\ncat > "$HOME/docker-password"\n`);
      await chmod(docker, 0o755);
      page = opened.use(await pageWorld({ aws: await awsProgram(programs, moto.awsCli), docker, crane }));
      account = pageAccount(moto.aws);
      await page.apply(clusterRole);
      await cp(join(import.meta.dirname, "../../../examples"), join(page.folder, "examples"), { recursive: true });
      await page.type(`${account}
aws eks create-cluster --name prod --role-arn arn:aws:iam::123456789012:role/eks --resources-vpc-config {}
git init --quiet && git add examples && git commit --quiet --message start
git remote add origin https://git.example.com/team/apps`);
    });
    afterAll(() => opened.disposeAsync());

    const onRegistry = (text: string) => replaced(text, { [ecr]: page.sluice.registry });
    const digest = async () =>
      (await page.type("kubectl -n flux-system get ocirepository apps -o jsonpath='{.status.artifact.digest}'")).trim();
    const replicas = () => page.type("kubectl get deployment oddy-test-deployment -o jsonpath='{.spec.replicas}'");

    test("the first push is applied by the service account that the commands create", async () => {
      const { push } = await blocks();
      const [kubeconfig = "", ...rest] = push.split(/(?=^aws ecr |^sluice push )/m);
      const [login = "", ...others] = rest;
      await page.type(`${account}\nexport KUBECONFIG=$HOME/eks-kubeconfig\n${kubeconfig}`);
      expect(await readFile(join(page.folder, "eks-kubeconfig"), "utf8")).toContain(`current-context: ${arn}`);
      await page.type(`${account}\n${login}`);
      expect(await readFile(join(page.folder, "docker-login"), "utf8")).toBe(
        `login --username AWS --password-stdin ${ecr}\n`,
      );
      expect(await readFile(join(page.folder, "docker-password"), "utf8")).toMatch(/\S/);
      // The identity of AWS is not lent by sluice local, whose registry asks for none.
      await page.type(replaced(onRegistry(others.join("")), { "provider: aws": "insecure: true" }));
      await page.typeUntil("sluice get kustomizations", /^apps\s.*\tTrue +\tApplied revision/m);
      expect(await page.type("kubectl get deployment oddy-test-deployment -o name")).toContain("oddy-test-deployment");
    });

    test("the first rollback: the tag names the former artifact again, and its manifests are applied", async () => {
      const { rollback } = await blocks();
      const former = await page.type(`crane digest ${page.sluice.registry}/apps:v1`);
      const before = await digest();
      await page.type(`sed -i 's/replicas: 2/replicas: 3/' examples/oddy-test/manifests/*.yaml
sluice push artifact oci://${page.sluice.registry}/apps:v1 --path examples/oddy-test/manifests
sluice reconcile kustomization apps --with-source`);
      expect(await replicas()).toBe("3");
      await page.type(`${replaced(onRegistry(rollback), { "sha256:<former digest>": former.trim() })}
sluice reconcile kustomization apps --with-source`);
      expect([await replicas(), await digest()]).toEqual(["2", before]);
    });

    test("the removal takes Sluice from the cluster and leaves every workload", async () => {
      const { remove } = await blocks();
      // The names that aws eks update-kubeconfig writes.
      const kubeconfig = await readFile(page.sluice.kubeconfig, "utf8");
      const [, name = ""] = /^current-context: (\S+)$/m.exec(kubeconfig) ?? [];
      await writeFile(join(page.folder, "prod"), kubeconfig.replaceAll(new RegExp(`: "?${name}"?$`, "gm"), `: ${arn}`));
      const [look = "", uninstall = ""] = remove.split(/(?=^sluice uninstall --cluster prod$)/m);
      const onProd = (line: string) => page.type(`export KUBECONFIG=$HOME/prod\n{\n${line}\n} 2>&1`);
      const shown = await onProd(look);
      expect(shown).toContain("delete CustomResourceDefinition/kustomizations.kustomize.toolkit.fluxcd.io");
      expect(shown).toMatch(/✔ nothing was changed \(dry run\)\n$/);
      expect(await onProd(`${uninstall.trimEnd()} --yes`)).toContain("✔ uninstall finished");
      expect(await page.type("kubectl get deployment oddy-test-deployment -o name")).toContain("oddy-test-deployment");
    });
  },
);
