import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Addresses } from "../addresses.ts";
import { ask } from "../ask.ts";
import { here } from "../folders.ts";
import type { Part, ProcessSpec } from "../part.ts";
import { goProgram } from "./go-program.ts";

const tlsFolder = join(here, "../fixtures/tls");
const certificate = join(tlsFolder, "server.crt");
const user = { username: "sluice", password: "sluice-prometheus" };
/** The password above, by bcrypt; Prometheus accepts no other hash. */
const users = { [user.username]: "$2a$05$YHmdw8/tCHy8KKmpwRZ3l.hJ6RGKJ41t0hbJZpmibd6gzMInlucAy" };

/** Clients of clouds, which Prometheus links for its senders and never calls here. */
const neverRun = [
  "github.com/aws/...",
  "github.com/Azure/...",
  "github.com/AzureAD/...",
  "cloud.google.com/...",
  "github.com/google/s2a-go/...",
  "google.golang.org/api/...",
];

/**
 * Prometheus three times: one that scrapes what tests name in a folder, one with TLS and an account, and one that is still starting.
 * It is built without its pages and without all discoveries but those by file and by HTTP.
 */
export const prometheus: Part = {
  name: "prometheus",
  installations: [
    goProgram({
      program: "prometheus",
      module: "prometheus",
      packages: ["github.com/prometheus/prometheus/cmd/prometheus"],
      tags: "remove_all_sd",
      output: "prometheus",
      neverRun,
      needsMegabytes: 2_500,
    }),
  ],
  async start({ folder, installed, ports, spawn, until }) {
    const [open = 0, closed = 0, starting = 0] = await ports(3);
    const command = join(installed("prometheus"), "prometheus");
    const targets = join(folder, "targets");
    const [scrape, none, web] = [join(folder, "scrape.yml"), join(folder, "none.yml"), join(folder, "web.yml")];
    const key = join(tlsFolder, "server.key");
    const tls = { cert_file: certificate, key_file: key };
    await mkdir(targets);
    await Promise.all([
      writeFile(scrape, JSON.stringify(scraping(targets))),
      writeFile(none, "{}"),
      writeFile(web, JSON.stringify({ tls_server_config: tls, basic_auth_users: users })),
      blockStart(join(folder, "starting")),
    ]);
    const processOf = (name: string, port: number, config: string, ...more: readonly string[]): ProcessSpec => ({
      name: `prometheus-${name}`,
      command,
      args: [`--config.file=${config}`, `--web.listen-address=127.0.0.1:${port}`, ...more, ...common(folder, name)],
    });
    await spawn(processOf("open", open, scrape));
    await spawn(processOf("tls", closed, none, `--web.config.file=${web}`));
    await spawn(processOf("starting", starting, none));
    const addresses = {
      prometheus: { url: `http://127.0.0.1:${open}`, targets },
      prometheusTls: { url: `https://127.0.0.1:${closed}`, ca: certificate, ...user },
      prometheusStarting: `http://127.0.0.1:${starting}`,
    };
    await until("answer", () => answer(addresses));
    return addresses;
  },
  answers: async (addresses) => answer(addresses),
};

const common = (folder: string, name: string): readonly string[] => [
  `--storage.tsdb.path=${join(folder, name)}`,
  "--log.level=warn",
];

function scraping(targets: string): object {
  const everySecond = { scrape_interval: "1s", scrape_timeout: "1s" };
  // A new file is noticed at once; the interval is that of file systems without notices.
  const discovery = { files: [join(targets, "*.json")], refresh_interval: "1s" };
  return { global: everySecond, scrape_configs: [{ job_name: "tests", file_sd_configs: [discovery] }] };
}

/** A write-ahead log that is a pipe without a writer: Prometheus waits for it, and starts no further. */
async function blockStart(folder: string): Promise<void> {
  await mkdir(join(folder, "wal"), { recursive: true });
  await promisify(execFile)("mkfifo", [join(folder, "wal/00000000")]);
}

/** 401 proves that the second requires an account, 503 that the third is still starting. */
async function answer({ prometheus: open, prometheusTls: closed, prometheusStarting }: Addresses): Promise<boolean> {
  if (open === undefined || closed === undefined || prometheusStarting === undefined) return false;
  const ca = await readFile(closed.ca, "utf8");
  const answers = await Promise.all([
    ask(`${open.url}/-/ready`),
    ask(`${closed.url}/-/ready`, { ca }),
    ask(`${prometheusStarting}/-/ready`),
  ]);
  return answers.map((each) => each?.status).join() === "200,401,503";
}
