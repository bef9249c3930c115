import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { ask } from "../ask.ts";
import { here } from "../folders.ts";
import type { Part } from "../part.ts";
import { account } from "./account.ts";
import { mavenJars } from "./maven-jars.ts";

/** Amazon's own DynamoDB Local, in memory, one set of tables for all accounts. */
export const dynamodb: Part = {
  name: "dynamodb",
  installations: [
    {
      program: "dynamodb",
      toolchain: "maven",
      locks: ["maven/dynamodb.xml", "maven/dynamodb.sha256", "maven/Loopback.java"],
      needsMegabytes: 300,
      async install(folder, build) {
        await mavenJars("dynamodb", folder, build);
        await copyFile(join(here, "maven/Loopback.java"), join(folder, "Loopback.java"));
        await build.run("javac", ["-cp", `${folder}/*`, "-d", folder, "Loopback.java"], { cwd: folder });
      },
    },
  ],
  async start({ installed, ports, spawn, until }) {
    const [port] = await ports(1);
    const jars = installed("dynamodb");
    const address = `http://127.0.0.1:${port}`;
    const java = [
      "-XX:TieredStopAtLevel=1",
      "-XX:+UseSerialGC",
      "-Xmx512m",
      `-Djava.library.path=${jars}`,
      "-cp",
      `${jars}/*:${jars}`,
    ];
    const server = ["Loopback", "-inMemory", "-sharedDb", "-port", `${port}`, "-disableTelemetry"];
    await spawn({ name: "dynamodb", command: "java", args: [...java, ...server] });
    await until("answer", async () => (await ask(address)) !== undefined);
    return { dynamodb: address, ...account };
  },
  answers: async ({ dynamodb: address }) => address !== undefined && (await ask(address)) !== undefined,
};
