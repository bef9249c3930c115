import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ask } from "../ask.ts";
import { here, partFolder } from "../folders.ts";
import type { Part } from "../part.ts";
import { account } from "./account.ts";
import { goProgram } from "./go-program.ts";
import { planeAnswers, planePrograms, startPlane } from "./start-plane.ts";

/** The account of moto. */
const accountId = "123456789012";
const clusterName = "sluice-real";
const role = `arn:aws:iam::${accountId}:role/sluice-reconcile`;
const cluster = `arn:aws:eks:${account.region}:${accountId}:cluster/${clusterName}`;
/** The group of the role's sessions in the cluster, as an access entry names it. */
const group = "sluice-reconcile";

/** The configuration of EKS' own authenticator; JSON is YAML. */
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
 * STS for their identity. Only for stories of the whole system, which reconcile every custom resource in it.
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
      // It would ask EC2 for the names of nodes, which do not exist here.
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
        // It accepts no other host or certificate for STS: this leads it to ours.
        HTTPS_PROXY: address,
        SSL_CERT_FILE: join(here, "../fixtures/tls/amazon.crt"),
      },
    });
    const isUp = async (): Promise<boolean> => (await ask(`${address}/`)) !== undefined;
    await until("STS", isUp);
    await until("authenticator", () => isHealthy(webhook, join(state, "cert.pem")));
    const apiServerArgs = [`--authentication-token-webhook-config-file=${join(state, "webhook.kubeconfig")}`];
    // The stories count requests and check their senders.
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
