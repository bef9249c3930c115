import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Answer } from "../ask.ts";
import { here } from "../folders.ts";
import type { Installation, PartRun } from "../part.ts";

const source = "go/gateway-api";
const module = "sigs.k8s.io/gateway-api";

/** The definitions of the Gateway API's standard channel, from its Go module. */
export const gatewayApi: Installation = {
  program: "gateway-api",
  toolchain: "go",
  locks: ["go.mod", "go.sum"].map((name) => join(source, name)),
  needsMegabytes: 100,
  async install(folder, { run }) {
    const options = { cwd: join(here, source), env: { GOFLAGS: "-mod=readonly", GOWORK: "off" } };
    await run("go", ["mod", "download", module], options);
    const copy = `cp "$(go list -m -f '{{.Dir}}' ${module})"/config/crd/standard/gateway.networking.k8s.io_*.yaml "$0"`;
    await run("sh", ["-c", copy, folder], options);
  },
};

/** Asks the API server as its administrator; a text is YAML. */
type AskAsAdmin = (method: string, path: string, body?: string) => Promise<Answer | undefined>;

/** Creates the definitions, and waits until the API server serves them. */
export async function defineGatewayApi({ installed, until }: PartRun, admin: AskAsAdmin): Promise<void> {
  const folder = installed("gateway-api");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".yaml"));
  const definitions = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  for (const text of definitions) {
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    // 409: the first attempt was carried out.
    await until("definition of the Gateway API", async () =>
      [201, 409].includes((await admin("POST", path, text))?.status ?? 0),
    );
  }
  const served = "/apis/gateway.networking.k8s.io/v1/httproutes";
  await until("served Gateway API", async () => (await admin("GET", served))?.status === 200);
}
