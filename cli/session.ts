import { maxTimerMs, parseDuration } from "../lib/core/duration.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import type { ServiceProxy } from "../lib/core/ports/service-proxy.ts";
import type { ConnectedCluster } from "../lib/kube/connect.ts";
import type { Terminal } from "./terminal.ts";

/** Everything that a command gets from its process. */
export interface Surroundings {
  readonly terminal: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  /** The working folder, where `sluice local` keeps its state by default. */
  readonly cwd: string;
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Aborted by Ctrl-C and the like. */
  readonly signal: AbortSignal;
  /** Calls `listener` for each SIGTERM, SIGINT and SIGHUP. */
  readonly onSignal: (listener: () => void) => void;
  readonly exit: (code: number) => never;
}

/** The options that every command takes. */
export interface GlobalOptions {
  readonly namespace?: string;
  readonly nsFollowsKubeContext?: boolean;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Name or ARN of a cluster of the kubeconfig, of the commands that take it. */
  readonly cluster?: string;
  readonly timeout?: string;
}

/** Everything that a command on a cluster works with. */
export interface Session {
  readonly terminal: Terminal;
  readonly cluster: Cluster;
  readonly serverVersion: ConnectedCluster["serverVersion"];
  readonly isAllowed: ConnectedCluster["isAllowed"];
  /** Reaches Services of the cluster with the rights of the user; absent where nothing is sent to them. */
  readonly services?: ServiceProxy;
  readonly namespace: string;
  /** Whether the user gave a namespace; otherwise it is the default one. */
  readonly isNamespaceGiven: boolean;
  /** Aborted with {@link TimeIsUp} when `--timeout` has passed. */
  readonly signal: AbortSignal;
}

/** The text is Go's, which scripts around flux know. */
export class TimeIsUp extends Error {
  override readonly name = "TimeIsUp";
  constructor() {
    super("context deadline exceeded");
  }
}

const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * Opens the cluster of the kubeconfig for one command, within its time, and closes it again. The default time limit is for
 * commands that end by themselves: with `--watch` only a `--timeout` that was given counts.
 */
export async function withCluster<Result>(
  options: GlobalOptions & { readonly watch?: boolean },
  { terminal, env, homeDir, cwd, signal }: Surroundings,
  command: (session: Session) => Promise<Result>,
): Promise<Result> {
  const timeoutMs = timeoutOf(options);
  const fallback = defaultNamespace(env, terminal);
  const [{ readKubeconfig }, { connect }, { systemClock }, local] = await Promise.all([
    import("../lib/kube/kubeconfig.ts"),
    import("../lib/kube/connect.ts"),
    import("../lib/process/system-clock.ts"),
    import("../local/local-kubeconfig.ts"),
  ]);
  const { kubeconfig, context, cluster: wanted } = options;
  if (context !== undefined && wanted !== undefined) throw new Error("give --context or --cluster, not both");
  const found =
    kubeconfig === undefined ? await local.findLocalKubeconfig({ env, homeDir, cwd }) : ({ kind: "none" } as const);
  const line = local.describeLocalKubeconfig(found);
  // With --context the user has chosen a kubeconfig: there is nothing to point out.
  if (line !== undefined && (found.kind === "used" || context === undefined)) terminal.action(line);
  const file = found.kind === "used" ? found.file : kubeconfig;
  const config = await readKubeconfig({
    env,
    homeDir,
    ...(file === undefined ? {} : { file }),
    ...(context === undefined ? {} : { context }),
    ...(wanted === undefined ? {} : { cluster: wanted }),
  });
  const follows = options.nsFollowsKubeContext === true || isYes(env["FLUX_NS_FOLLOWS_KUBE_CONTEXT"]);
  const namespace = options.namespace ?? (follows ? (config.namespace ?? "default") : fallback);
  const cluster = connect(config, { clock: systemClock, env });
  const time = new AbortController();
  const isUnlimited = options.watch === true && options.timeout === undefined;
  const timer = isUnlimited ? undefined : setTimeout(() => time.abort(new TimeIsUp()), timeoutMs);
  try {
    const isNamespaceGiven = options.namespace !== undefined;
    const ends = AbortSignal.any([signal, time.signal]);
    const { serverVersion, isAllowed, services } = cluster;
    const of = { terminal, cluster, serverVersion, isAllowed, services, namespace, isNamespaceGiven };
    return await command({ ...of, signal: ends });
  } finally {
    clearTimeout(timer);
    cluster.close();
  }
}

/** `--timeout` in milliseconds, at most {@link maxTimerMs}. */
export function timeoutOf({ timeout = "5m" }: GlobalOptions): number {
  try {
    return Math.min(Math.ceil(parseDuration(timeout)), maxTimerMs);
  } catch (error) {
    throw new Error(`invalid argument "${timeout}" for "--timeout" flag: write it like 30s, 5m or 1h`, {
      cause: error,
    });
  }
}

/** Where `-n` does not say another: `$FLUX_SYSTEM_NAMESPACE`, else `flux-system`. */
export function defaultNamespace(env: Surroundings["env"], terminal: Terminal): string {
  const wanted = env["FLUX_SYSTEM_NAMESPACE"] ?? "";
  if (wanted === "" || dnsLabel.test(wanted)) return wanted === "" ? "flux-system" : wanted;
  terminal.warning(` ignoring invalid FLUX_SYSTEM_NAMESPACE: "${wanted}"`);
  return "flux-system";
}

function isYes(value: string | undefined): boolean {
  return ["1", "t", "true"].includes((value ?? "").toLowerCase());
}
