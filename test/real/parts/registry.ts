import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ask } from "../ask.ts";
import { here } from "../folders.ts";
import type { Part } from "../part.ts";
import { goProgram } from "./go-program.ts";

const tlsFolder = join(here, "../fixtures/tls");
const certificate = join(tlsFolder, "server.crt");
const user = { username: "sluice", password: "sluice-registry" };
/** The password above, by bcrypt; the registry accepts no other hash. */
const passwordLine = `${user.username}:$2a$05$2iCiFMbWhzE2pFeQ466nXOBImMfdqXDBZJCNVJ5qAfbmkLzHqsevy\n`;

const configuration = (folder: string, http: { readonly addr: string }, more: object): string =>
  JSON.stringify({
    version: "0.1",
    log: { level: "warn", accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: folder }, delete: { enabled: true } },
    http: { secret: "sluice", ...http },
    ...more,
  });

/** The CNCF registry twice: open, which sends notifications, and with TLS and an account. */
export const registry: Part = {
  name: "registry",
  installations: [
    goProgram({
      program: "registry",
      module: "registry",
      packages: ["."],
      ownSource: ["main.go"],
      output: "registry",
      needsMegabytes: 2_500,
    }),
  ],
  async start({ folder, installed, ports, spawn, until }) {
    const [open, closed, events] = await ports(3);
    const [openFile, closedFile, users] = [join(folder, "open.yaml"), join(folder, "tls.yaml"), join(folder, "users")];
    const registryEvents = `http://127.0.0.1:${events}/events`;
    const endpoint = { name: "test", url: registryEvents, timeout: "20s", threshold: 5, backoff: "2s" };
    const notifications = { endpoints: [{ ...endpoint, ignore: { actions: ["pull"] } }] };
    const http = { addr: `127.0.0.1:${closed}`, tls: { certificate, key: join(tlsFolder, "server.key") } };
    await writeFile(users, passwordLine);
    await writeFile(openFile, configuration(join(folder, "open"), { addr: `127.0.0.1:${open}` }, { notifications }));
    const auth = { htpasswd: { realm: "sluice", path: users } };
    await writeFile(closedFile, configuration(join(folder, "tls"), http, { auth }));
    const command = join(installed("registry"), "registry");
    // Its traces would go to a collector that does not exist.
    const env = { OTEL_TRACES_EXPORTER: "none" };
    await spawn({ name: "registry", command, args: ["serve", openFile], env });
    await spawn({ name: "registry-tls", command, args: ["serve", closedFile], env });
    const addresses = {
      registry: `127.0.0.1:${open}`,
      registryEvents,
      registryTls: { address: `127.0.0.1:${closed}`, ca: certificate, ...user },
    };
    await until("answer", () => answer(addresses.registry, addresses.registryTls.address));
    return addresses;
  },
  answers: async ({ registry: open, registryTls }) =>
    open !== undefined && registryTls !== undefined && answer(open, registryTls.address),
};

/** 401 proves that the second requires an account. */
async function answer(open: string, closed: string): Promise<boolean> {
  const ca = await readFile(certificate, "utf8");
  const answers = await Promise.all([ask(`http://${open}/v2/`), ask(`https://${closed}/v2/`, { ca })]);
  return answers[0]?.status === 200 && answers[1]?.status === 401;
}
