import { join } from "node:path";
import { here } from "../folders.ts";
import type { ProcessSpec } from "../part.ts";
import type { ControlPlaneFiles } from "./control-plane-files.ts";

export interface ControlPlanePorts {
  readonly api: number;
  readonly etcd: number;
  readonly etcdPeer: number;
  readonly controllers: number;
  readonly scheduler: number;
  readonly kwok: number;
}

/** Self-signed; its user, jane, has no rights until she is granted some. */
const clientCertificate = join(here, "../fixtures/tls/client.crt");

/** Go's own setting of its garbage collector: the servers share few processors with the tests, and have enough memory. */
const env = { GOGC: "400", GOMEMLIMIT: "1500MiB" };

export function etcdProcess(programs: string, folder: string, { etcd, etcdPeer }: ControlPlanePorts): ProcessSpec {
  const [client, peer] = [`http://127.0.0.1:${etcd}`, `http://127.0.0.1:${etcdPeer}`];
  return {
    name: "etcd",
    command: join(programs, "etcd"),
    env,
    args: [
      "--name=real",
      `--data-dir=${join(folder, "etcd")}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=real=${peer}`,
      "--unsafe-no-fsync",
      "--quota-backend-bytes=4294967296",
      "--log-level=warn",
    ],
  };
}

/** The arguments of an API server that logs every request. */
export function auditArgs({ auditPolicy, auditLog }: ControlPlaneFiles): readonly string[] {
  return [
    `--audit-policy-file=${auditPolicy}`,
    `--audit-log-path=${auditLog}`,
    // Batches, the default, would make a count taken right after a run too low.
    "--audit-log-mode=blocking",
    // MB. The default, 100, rotates the log under those that follow it.
    "--audit-log-maxsize=1000000",
  ];
}

export function apiServerProcess(
  programs: string,
  files: ControlPlaneFiles,
  { api, etcd }: ControlPlanePorts,
  more: readonly string[],
): ProcessSpec {
  return {
    name: "kube-apiserver",
    command: join(programs, "kube-apiserver"),
    env,
    args: [
      `--etcd-servers=http://127.0.0.1:${etcd}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${api}`,
      "--advertise-address=127.0.0.1",
      // The default would publish the address as endpoints, and loopback is not allowed there.
      "--endpoint-reconciler-type=none",
      `--cert-dir=${files.certificates}`,
      `--client-ca-file=${clientCertificate}`,
      "--service-cluster-ip-range=10.0.0.0/16",
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${files.publicKey}`,
      `--service-account-signing-key-file=${files.privateKey}`,
      "--authorization-mode=RBAC",
      `--token-auth-file=${files.tokens}`,
      ...more,
    ],
  };
}

export function controllerProcess(programs: string, files: ControlPlaneFiles, ports: ControlPlanePorts): ProcessSpec {
  return {
    name: "kube-controller-manager",
    command: join(programs, "kube-controller-manager"),
    env,
    args: [
      `--kubeconfig=${files.kubeconfigOf.admin}`,
      "--leader-elect=false",
      "--bind-address=127.0.0.1",
      `--secure-port=${ports.controllers}`,
      `--service-account-private-key-file=${files.privateKey}`,
      `--root-ca-file=${files.ca}`,
      "--use-service-account-credentials=false",
      // kwok's heartbeats come later than the default allows, and nodes would flap.
      "--node-monitor-grace-period=1h",
      // The defaults are slower than the code under test.
      "--kube-api-qps=500",
      "--kube-api-burst=1000",
      "--concurrent-deployment-syncs=20",
      "--concurrent-replicaset-syncs=20",
    ],
  };
}

export function schedulerProcess(programs: string, files: ControlPlaneFiles, ports: ControlPlanePorts): ProcessSpec {
  return {
    name: "kube-scheduler",
    command: join(programs, "kube-scheduler"),
    args: [
      `--kubeconfig=${files.kubeconfigOf.admin}`,
      "--leader-elect=false",
      "--bind-address=127.0.0.1",
      `--secure-port=${ports.scheduler}`,
    ],
  };
}

export function kwokProcess(programs: string, files: ControlPlaneFiles, ports: ControlPlanePorts): ProcessSpec {
  return {
    name: "kwok",
    command: join(programs, "kwok"),
    args: [
      `--kubeconfig=${files.kubeconfigOf.admin}`,
      "--manage-all-nodes=true",
      `--server-address=127.0.0.1:${ports.kwok}`,
      "--node-ip=127.0.0.1",
    ],
  };
}
