import type { Cluster, Guarded } from "../core/ports/cluster.ts";

type Access = "read" | "write";

type KeyOfAny<Parameter> = Parameter extends unknown ? keyof Parameter : never;

/** A method with `beforeSend` in its options is a write; for any other the table decides. */
type AccessOf<Method extends (...args: never[]) => unknown> =
  "beforeSend" extends KeyOfAny<Parameters<Method>[number]> ? "write" : Access;

/**
 * Whether a method of the port changes the cluster. A method that is added to the port does not compile before it stands here and in
 * {@link guardedCluster}, so no write can pass a guard by being forgotten.
 */
export const clusterAccess = {
  uid: "read",
  endpoint: "read",
  resource: "read",
  served: "read",
  version: "read",
  get: "read",
  list: "read",
  listMetadata: "read",
  watch: "read",
  apply: "write",
  create: "write",
  patch: "write",
  delete: "write",
} as const satisfies { readonly [Method in keyof Required<Cluster>]: AccessOf<Required<Cluster>[Method]> };

type MethodsWith<Wanted extends Access> = {
  readonly [Method in keyof Required<Cluster> as (typeof clusterAccess)[Method] extends Wanted
    ? Method
    : never]: Required<Cluster>[Method];
};

/** Sends a write with these options or with a `beforeSend` that may still refuse it, or throws and sends nothing. */
export type GuardWrite = <Options extends Guarded, Result>(
  options: Options,
  signal: AbortSignal,
  send: (options: Options) => Promise<Result>,
) => Promise<Result>;

/** The methods of the port and nothing else that `cluster` may have. Each write passes the guard; reads and dry runs do not. */
export function guardedCluster(cluster: Cluster, guard: GuardWrite): Cluster {
  const guarded = async <Options extends Guarded & { readonly dryRun?: boolean }, Result>(
    options: Options,
    signal: AbortSignal,
    send: (options: Options) => Promise<Result>,
  ): Promise<Result> => (options.dryRun === true ? send(options) : guard(options, signal, send));
  const reads: MethodsWith<"read"> = {
    uid: (signal) => cluster.uid(signal),
    endpoint: async (signal) => cluster.endpoint?.(signal),
    resource: (query, signal) => cluster.resource(query, signal),
    served: (signal) => cluster.served(signal),
    version: async (signal) => (await cluster.version?.(signal)) ?? "",
    get: (ref, signal) => cluster.get(ref, signal),
    list: (query, signal) => cluster.list(query, signal),
    listMetadata: (query, signal) => cluster.listMetadata(query, signal),
    watch: (query, signal) => cluster.watch(query, signal),
  };
  const writes: MethodsWith<"write"> = {
    apply: (manifest, options, signal) => guarded(options, signal, (given) => cluster.apply(manifest, given, signal)),
    create: (manifest, options, signal) => guarded(options, signal, (given) => cluster.create(manifest, given, signal)),
    patch: (ref, patch, options, signal) =>
      guarded(options, signal, (given) => cluster.patch(ref, patch, given, signal)),
    delete: (ref, options, signal) => guarded(options, signal, (given) => cluster.delete(ref, given, signal)),
  };
  return { ...reads, ...writes };
}
