import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { homeNetwork } from "../../lib/core/network/network-policy.ts";
import { Secret } from "../../lib/core/secret.ts";
import { httpClient } from "../../lib/http/http-client.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import type { RegistryAccess } from "../../lib/sources/oci/authorize.ts";
import { registryClients } from "../../lib/sources/oci/registry-client.ts";
import { startRegistry } from "../../local/registry/start-registry.ts";
import { silentLog } from "../doubles/silent-log.ts";
import { realRegistry } from "../real/addresses.ts";
import { catalogContract, type RegistryUnderTest, registryContract } from "./registry-contract.ts";

const nothing = (): void => undefined;

const embedded = async (): Promise<RegistryUnderTest> => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-registry-"));
  const registry = await startRegistry({ folder, port: 0, log: silentLog, onPush: nothing });
  return {
    access: { host: registry.address, insecure: true },
    close: async () => {
      await registry.close();
      await rm(folder, { recursive: true });
    },
  };
};

registryContract("the embedded registry", embedded);
catalogContract("the embedded registry", embedded);

/** A registry on loopback without accounts, `127.0.0.1:5000` for example: Debian's docker-registry, or distribution v3. */
const real = realRegistry();
describe.skipIf(real === undefined)("where SLUICE_REAL_REGISTRY=host:port names one", () => {
  const open = async (): Promise<RegistryUnderTest> => ({
    access: { host: real ?? "", insecure: true },
    close: async () => undefined,
  });
  registryContract("the CNCF registry", open);
  catalogContract("the CNCF registry", open);
});

const {
  SLUICE_REAL_REGISTRY_TLS_ADDRESS: host = "",
  SLUICE_REAL_REGISTRY_TLS_CA: authority = "",
  SLUICE_REAL_REGISTRY_TLS_USERNAME: username = "",
  SLUICE_REAL_REGISTRY_TLS_PASSWORD: password = "",
} = process.env;

describe.skipIf(host === "")("where SLUICE_REAL_REGISTRY_TLS_ADDRESS=host:port names one", () => {
  const credentials = { username, password: new Secret(password) };
  const trusted = async () => ({ host, insecure: false, tls: { ca: await readFile(authority, "utf8") } });

  registryContract("the CNCF registry with TLS and an account", async () => ({
    access: { ...(await trusted()), credentials },
    close: async () => undefined,
  }));

  describe("the registry client on the CNCF registry with TLS and an account", () => {
    const http = httpClient({ network: homeNetwork });
    afterAll(() => http.close());
    /** What a look at a tag comes to. */
    async function lookAs(access: Partial<RegistryAccess>): Promise<unknown> {
      const client = registryClients(http, systemClock)({ ...(await trusted()), ...access });
      return client.digestOfTag("contract/none", "v1", new AbortController().signal).catch((error: unknown) => error);
    }

    test.each<[string, Partial<RegistryAccess>]>([
      ["nobody", {}],
      ["another user", { credentials: { username: "jane", password: credentials.password } }],
      ["the account, with another password", { credentials: { username, password: new Secret("hunter2") } }],
    ])("refuses %s with its own message, without the password", async (_, access) => {
      const error = await lookAs(access);
      expect(error).toMatchObject({ status: 401, message: expect.stringContaining("UNAUTHORIZED") });
      expect(inspect(error, { depth: 10 })).not.toMatch(new RegExp(`hunter2|${password}`));
    });

    test("accepts the account, whose login may come from a cloud", async () => {
      for (const access of [{ credentials }, { login: async () => credentials }]) {
        expect(await lookAs(access)).toMatchObject({ status: 404 });
      }
    });

    test("is not trusted without its CA, even if plain HTTP is allowed", async () => {
      for (const insecure of [false, true]) {
        expect(await lookAs({ credentials, tls: {}, insecure })).toMatchObject({ name: "HttpError", reason: "tls" });
      }
    });
  });
});
