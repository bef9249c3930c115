import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKubernetes } from "@sluice/embedded-kubernetes";

/** Serves until Ctrl-C, in a folder that is removed then. */
const stateFolder = await mkdtemp(join(tmpdir(), "kubernetes-"));
const kubernetes = await startKubernetes({ stateFolder });
process.once("SIGINT", () => {
  void kubernetes.close().then(() => rm(stateFolder, { recursive: true }));
});

const answer = await fetch(`${kubernetes.url}/api/v1/namespaces/default/configmaps/greeting?fieldManager=example`, {
  method: "PATCH",
  headers: { authorization: `Bearer ${kubernetes.token}`, "content-type": "application/apply-patch+yaml" },
  body: "{ apiVersion: v1, kind: ConfigMap, metadata: { name: greeting }, data: { hello: world } }",
});
process.stdout.write(`server-side apply: ${answer.status}\n`);

const kubeconfig = join(stateFolder, "kubeconfig");
await writeFile(kubeconfig, kubernetes.kubeconfig(), { mode: 0o600 });
process.stdout.write(`kubectl --kubeconfig ${kubeconfig} get configmap greeting -o yaml\n`);
