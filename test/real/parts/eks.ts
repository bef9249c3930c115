import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ask } from "../ask.ts";
import { here, partFolder } from "../folders.ts";
import type { Part } from "../part.ts";
import { account } from "./account.ts";
import { goProgram } from "./go-program.ts";
import { planeAnswers, planePrograms, startPlane } from "./start-plane.ts";

/** moto's. */
const accountId = "123456789012";
const clusterName = "sluice-real";
const role = `arn:aws:iam::${accountId}:role/sluice-reconcile`;
const cluster = `arn:aws:eks:${account.region}:${accountId}:cluster/${clusterName}`;
/** Of the role's sessions in the cluster, as an access entry names it. */
const group = "sluice-reconcile";

/** What EKS' own authenticator is told; JSON is YAML. */
const configuration = (folder: string, port: number): string =>
  JSON.stringify({
    clusterID: clusterName,
    server: {
      port,
      address: "127.0.0.1",
      hostname: "127.0.0.1",
      stateDir: folder,
      generateKubeconfig: join(folder, "webhook.kubeconfig"),
      mapRoles: [{ roleARN: role, username: "sluice:{{SessionName}}", groups: [group] }],
    },
  });

/**
 * A control plane of its own that authenticates as EKS does: aws-iam-authenticator, which EKS runs too, takes the tokens and asks
 * STS whose they are. Only for stories of the whole system, which take every custom resource in it for theirs.
 */
export const eks: Part = {
  name: "eks",
  installations: [
    ...planePrograms,
    goProgram({
      program: "aws-iam-authenticator",
      module: "control-plane",
      packages: ["sigs.k8s.io/aws-iam-authenticator/cmd/aws-iam-authenticator"],
      output: "aws-iam-authenticator",
      // It asks EC2 for the names of nodes, which have none here.
      neverRun: ["github.com/aws/aws-sdk-go-v2/service/ec2"],
      needsMegabytes: 2_500,
    }),
  ],
  async start(run) {
    const { folder, installed, ports, spawn, until } = run;
    const [sts, webhook = 0] = await ports(2);
    const state = join(folder, "authenticator");
    const file = join(state, "config.yaml");
    await mkdir(state);
    await writeFile(file, configuration(state, webhook));
    const address = `http://127.0.0.1:${sts}`;
    await spawn({
      name: "sts",
      command: process.execPath,
      args: [
        fileURLToPath(new URL("../eks/sts-process.ts", import.meta.url)),
        `${sts}`,
        account.region,
        join(partFolder("aws"), "started.json"),
      ],
    });
    await spawn({
      name: "aws-iam-authenticator",
      command: join(installed("aws-iam-authenticator"), "aws-iam-authenticator"),
      args: ["server", "--config", file],
      env: {
        AWS_REGION: account.region,
        AWS_EC2_METADATA_DISABLED: "true",
        // It takes no other host for STS, nor another certificate: this is how it gets to ours.
        HTTPS_PROXY: address,
        SSL_CERT_FILE: join(here, "../fixtures/tls/amazon.crt"),
      },
    });
    const isUp = async (): Promise<boolean> => (await ask(`${address}/`)) !== undefined;
    await until("STS", isUp);
    await until("authenticator", () => isHealthy(webhook, join(state, "cert.pem")));
    const apiServerArgs = [`--authentication-token-webhook-config-file=${join(state, "webhook.kubeconfig")}`];
    // The stories count requests, and look who sent them.
    const files = await startPlane({ ...run, audit: true }, { groups: ["sluice", group], apiServerArgs });
    const kubeconfig = files.kubeconfigOf.admin;
    return { eks: { cluster, role, sts: address, kubeconfig, audit: files.auditLog, folder } };
  },
  answers: async ({ eks: found }) =>
    found !== undefined && (await ask(`${found.sts}/`)) !== undefined && (await planeAnswers(found.kubeconfig)),
};

async function isHealthy(port: number, certificate: string): Promise<boolean> {
  const ca = await readFile(certificate, "utf8").catch(() => undefined);
  return ca !== undefined && (await ask(`https://127.0.0.1:${port}/healthz`, { ca }))?.status === 200;
}
