import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export type User = "admin" | "sluice";

export interface ControlPlaneFiles {
  readonly certificates: string;
  /** Where the API server writes its own certificate, which is also its CA. */
  readonly ca: string;
  readonly tokens: string;
  readonly tokenOf: Readonly<Record<User, string>>;
  readonly privateKey: string;
  readonly publicKey: string;
  readonly auditPolicy: string;
  readonly auditLog: string;
  readonly kubeconfigOf: Readonly<Record<User, string>>;
}

const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "Metadata" }],
};

/** Writes what must be there before the first process starts. */
export async function writeControlPlaneFiles(folder: string): Promise<ControlPlaneFiles> {
  const tokenOf = { admin: randomBytes(16).toString("hex"), sluice: randomBytes(16).toString("hex") };
  const files: ControlPlaneFiles = {
    certificates: join(folder, "certificates"),
    ca: join(folder, "certificates/apiserver.crt"),
    tokens: join(folder, "tokens.csv"),
    tokenOf,
    privateKey: join(folder, "service-accounts.key"),
    publicKey: join(folder, "service-accounts.pub"),
    auditPolicy: join(folder, "audit-policy.json"),
    auditLog: join(folder, "audit.log"),
    kubeconfigOf: { admin: join(folder, "admin.kubeconfig"), sluice: join(folder, "sluice.kubeconfig") },
  };
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  // The group system:masters is exempt from RBAC and from priority and fairness; Sluice must meet both.
  const tokens = `${tokenOf.admin},admin,admin,"system:masters"\n${tokenOf.sluice},sluice,sluice,"sluice"\n`;
  await Promise.all([
    mkdir(files.certificates),
    writeFile(files.tokens, tokens),
    writeFile(files.privateKey, privateKey),
    writeFile(files.publicKey, publicKey),
    writeFile(files.auditPolicy, JSON.stringify(auditPolicy)),
  ]);
  return files;
}

/** One for each user, once the API server has made its certificate. */
export async function writeKubeconfigs(files: ControlPlaneFiles, server: string): Promise<void> {
  const ca = await readFile(files.ca, "base64");
  const users = ["admin", "sluice"] as const;
  const write = async (user: User): Promise<void> => {
    const kubeconfig = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": user,
      clusters: [{ name: "real", cluster: { server, "certificate-authority-data": ca } }],
      contexts: [{ name: user, context: { cluster: "real", user } }],
      users: [{ name: user, user: { token: files.tokenOf[user] } }],
    };
    await writeFile(files.kubeconfigOf[user], JSON.stringify(kubeconfig, undefined, 2));
  };
  await Promise.all(users.map(write));
}
