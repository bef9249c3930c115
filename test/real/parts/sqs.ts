import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ask } from "../ask.ts";
import type { Part } from "../part.ts";
import { account } from "./account.ts";
import { mavenJars } from "./maven-jars.ts";

const configuration = (port: number): string => `include classpath("application.conf")
node-address { protocol = http, host = "127.0.0.1", port = ${port}, context-path = "" }
rest-sqs { enabled = true, bind-port = ${port}, bind-hostname = "127.0.0.1", sqs-limits = strict }
rest-stats { enabled = false }
aws { region = ${account.region}, accountId = 000000000000 }
`;

/** ElasticMQ with SQS' own limits, in memory. */
export const sqs: Part = {
  name: "sqs",
  installations: [
    {
      program: "sqs",
      toolchain: "maven",
      locks: ["maven/sqs.xml", "maven/sqs.sha256"],
      needsMegabytes: 200,
      install: (folder, build) => mavenJars("sqs", folder, build),
    },
  ],
  async start({ folder, installed, ports, spawn, until }) {
    const [port = 0] = await ports(1);
    const file = join(folder, "elasticmq.conf");
    await writeFile(file, configuration(port));
    const java = [
      "-XX:TieredStopAtLevel=1",
      "-XX:+UseSerialGC",
      "-Xmx256m",
      `-Dconfig.file=${file}`,
      "-cp",
      `${installed("sqs")}/*`,
    ];
    await spawn({ name: "elasticmq", command: "java", args: [...java, "org.elasticmq.server.Main"] });
    const address = `http://127.0.0.1:${port}`;
    await until("answer", async () => (await ask(address)) !== undefined);
    return { sqs: address, ...account };
  },
  answers: async ({ sqs: address }) => address !== undefined && (await ask(address)) !== undefined,
};
