import { maxTimerMs, parseDuration } from "../lib/core/duration.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import type { Terminal } from "./terminal.ts";

/** What a command is given by the process it runs in. */
export interface Surroundings {
  readonly terminal: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
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
  readonly timeout?: string;
}

/** What a command that speaks to a cluster works with. */
export interface Session {
  readonly terminal: Terminal;
  readonly cluster: Cluster;
  readonly namespace: string;
  /** Whether the user named the namespace, rather than meant the default one. */
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

/** Opens the cluster of the kubeconfig for one command, within its time, and closes it again. */
export async function withCluster<Result>(
  options: GlobalOptions,
  { terminal, env, homeDir, signal }: Surroundings,
  command: (session: Session) => Promise<Result>,
): Promise<Result> {
  const timeoutMs = timeoutOf(options);
  const fallback = defaultNamespace(env, terminal);
  const [{ readKubeconfig }, { connect }, { systemClock }] = await Promise.all([
    import("../lib/kube/kubeconfig.ts"),
    import("../lib/kube/connect.ts"),
    import("../lib/core/system-clock.ts"),
  ]);
  const { kubeconfig, context } = options;
  const config = await readKubeconfig({
    env,
    homeDir,
    ...(kubeconfig === undefined ? {} : { file: kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  const follows = options.nsFollowsKubeContext === true || isYes(env["FLUX_NS_FOLLOWS_KUBE_CONTEXT"]);
  const namespace = options.namespace ?? (follows ? (config.namespace ?? "default") : fallback);
  const cluster = connect(config, { clock: systemClock, env });
  const time = new AbortController();
  const timer = setTimeout(() => {
    time.abort(new TimeIsUp());
  }, timeoutMs);
  try {
    const isNamespaceGiven = options.namespace !== undefined;
    const ends = AbortSignal.any([signal, time.signal]);
    return await command({ terminal, cluster, namespace, isNamespaceGiven, signal: ends });
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

function defaultNamespace(env: Surroundings["env"], terminal: Terminal): string {
  const wanted = env["FLUX_SYSTEM_NAMESPACE"] ?? "";
  if (wanted === "" || dnsLabel.test(wanted)) return wanted === "" ? "flux-system" : wanted;
  terminal.warning(` ignoring invalid FLUX_SYSTEM_NAMESPACE: "${wanted}"`);
  return "flux-system";
}

function isYes(value: string | undefined): boolean {
  return ["1", "t", "true"].includes((value ?? "").toLowerCase());
}
