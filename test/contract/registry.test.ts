import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";
import { startRegistry } from "../../local/registry/start-registry.ts";
import { registryContract } from "./registry-contract.ts";

const nothing = (): void => undefined;
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

registryContract("the embedded registry", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-registry-"));
  const registry = await startRegistry({ folder, port: 0, log, onPush: nothing });
  return {
    address: registry.address,
    close: async () => {
      await registry.close();
      await rm(folder, { recursive: true });
    },
  };
});

/** A registry on loopback without accounts, `127.0.0.1:5000` for example: Debian's docker-registry, or distribution v3. */
const real = process.env["SLUICE_REAL_REGISTRY"] ?? "";
describe.skipIf(real === "")("where SLUICE_REAL_REGISTRY=host:port names one", () => {
  registryContract("the CNCF registry", async () => ({ address: real, close: async () => undefined }));
});
