import { silentLog } from "../../src/core/log.ts";
import { startKubernetes } from "../../src/start-kubernetes.ts";

/** A process to be killed: writes ConfigMaps one after the other, and prints each name once it is acknowledged. */
const [, , stateFolder = "", first = "0"] = process.argv;
const kubernetes = await startKubernetes({ stateFolder, port: 0, controllers: false, log: silentLog });

for (let number = Number(first); ; number += 1) {
  const name = `written-${number}`;
  const response = await fetch(`${kubernetes.url}/api/v1/namespaces/default/configmaps`, {
    method: "POST",
    headers: { authorization: `Bearer ${kubernetes.token}`, "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { number: String(number) } }),
  });
  const text = await response.text();
  if (response.status !== 201) throw new Error(text);
  process.stdout.write(`${name}\n`);
}
