import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ask } from "../ask.ts";
import type { Part } from "../part.ts";
import { account } from "./account.ts";
import { goProgram } from "./go-program.ts";

/** Versity's S3 gateway on a folder: it checks conditions, checksums, signatures and their expiry. */
export const s3: Part = {
  name: "s3",
  installations: [
    goProgram({
      program: "versitygw",
      module: "versitygw",
      packages: ["github.com/versity/versitygw/cmd/versitygw"],
      output: "versitygw",
      needsMegabytes: 1_500,
    }),
  ],
  async start({ folder, installed, ports, spawn, until }) {
    const [port] = await ports(1);
    const [objects, old, accounts] = [join(folder, "objects"), join(folder, "versions"), join(folder, "accounts")];
    await Promise.all([mkdir(objects), mkdir(old), mkdir(accounts)]);
    const server = ["--port", `127.0.0.1:${port}`, "--region", account.region, "--quiet"];
    // Tests may make further accounts (test/real/eks/s3-account.ts).
    const iam = ["--iam-dir", accounts, "--iam-cache-disable"];
    await spawn({
      name: "versitygw",
      command: join(installed("versitygw"), "versitygw"),
      args: [...server, ...iam, "posix", "--versioning-dir", old, objects],
      env: { ROOT_ACCESS_KEY: account.accessKeyId, ROOT_SECRET_KEY: account.secretAccessKey },
    });
    const address = `http://127.0.0.1:${port}`;
    await until("answer", async () => (await ask(address)) !== undefined);
    return { s3: address, ...account };
  },
  answers: async ({ s3: address }) => address !== undefined && (await ask(address)) !== undefined,
};
