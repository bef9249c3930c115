import { z } from "zod";
import { parseClusterArn } from "../lib/aws/eks/cluster-arn.ts";
import {
  applyConfiguration,
  configurationState,
  type ObjectState,
  refreshSecret,
  removeConfiguration,
  type WantedSecret,
} from "../lib/configuration/apply-configuration.ts";
import { Configuration, ConfiguredSecret } from "../lib/configuration/configuration.ts";
import { cutText } from "../lib/core/cut-text.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { Secret } from "../lib/core/secret.ts";
import { clusterArnPattern } from "../lib/core/work-key.ts";
import type { HandleResource, ResourceDone, ResourceRequest } from "./lambda/custom-resource.ts";
import { admitted, assertOwn, explained, type OpenCluster, openIfThere, RoleArn } from "./lambda/reach-cluster.ts";

const cluster = z
  .string("is required")
  .regex(clusterArnPattern, "must be arn:aws:eks:<region>:<account>:cluster/<name>");
const installation = z.string("is required").min(1);

/** The properties of the custom resource, as `SluiceConfiguration` in infra/ writes them. */
const Properties = z.object({
  cluster,
  role: RoleArn.optional(),
  installation,
  /** JSON, since CloudFormation makes text of every number and boolean. */
  configuration: z.string("is required").transform((text, context) => {
    const parsed = Configuration.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    for (const { path, message } of parsed.error.issues) context.addIssue({ code: "custom", path: [...path], message });
    return z.NEVER;
  }),
});
type Properties = z.infer<typeof Properties>;

/** What the schedule of a configuration sends, so that logins that were rotated reach the cluster. */
const Refresh = z.object({
  refresh: z.object({
    cluster,
    role: RoleArn.optional(),
    installation,
    name: z.string(),
    namespace: z.string(),
    secrets: z.array(ConfiguredSecret),
  }),
});

export interface ConfigurationDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly open: OpenCluster;
  /** The text of a secret in Secrets Manager, by ARN or name. */
  readonly readStored: (id: string, signal: AbortSignal) => Promise<Secret>;
}

const pollMs = 3_000;
/** How long a delete waits for the reconcile function to let its Kustomizations go. */
const removedWithinMs = 600_000;

/** Creates, updates and removes the objects of one configuration in a cluster. */
export function configurationHandler(deps: ConfigurationDeps): HandleResource {
  return async (request, signal) => {
    const parsed = Properties.safeParse(request.properties);
    if (!parsed.success) {
      const faults = parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
      throw new Error(`the configuration is not usable: ${faults.join("; ")}`);
    }
    return request.type === "Delete"
      ? remove(request, parsed.data, deps, signal)
      : apply(request, parsed.data, deps, signal);
  };
}

/** Whether an event is for {@link refreshHandler}, and not for the custom resource. */
export function isRefresh(event: unknown): boolean {
  return typeof event === "object" && event !== null && "refresh" in event;
}

/** Copies logins again that Secrets Manager has rotated. Writes nothing where they are the same. */
export function refreshHandler(deps: ConfigurationDeps): (event: unknown, signal: AbortSignal) => Promise<void> {
  return async (event, signal) => {
    const { refresh } = Refresh.parse(event);
    const secrets = await readSecrets(refresh.secrets, deps, signal);
    await using opened = await deps.open(parseClusterArn(refresh.cluster), refresh.role, signal);
    const { cluster: api, description } = opened;
    await explained(refresh.cluster, description, async () => {
      await assertOwn(api, refresh, signal);
      for (const secret of secrets) {
        const about = { configuration: refresh.name, namespace: refresh.namespace, secret: secret.name };
        if (await refreshSecret(api, secret, refresh, signal)) deps.log.info("login copied again", about);
      }
    });
  };
}

async function apply(
  { resource }: ResourceRequest,
  { cluster: id, configuration, installation: own, role }: Properties,
  deps: ConfigurationDeps,
  signal: AbortSignal,
): Promise<ResourceDone> {
  const { clock } = deps;
  const secrets = await readSecrets(configuration.secrets, deps, signal);
  await using opened = await deps.open(parseClusterArn(id), role, signal);
  const { cluster: api, description } = opened;
  return await explained(id, description, async () => {
    await admitted(api, clock, signal);
    await assertOwn(api, { cluster: id, installation: own }, signal);
    await applyConfiguration(api, configuration, { resource, secrets }, signal);
    const states = await waited(api, configuration, clock, signal);
    return { physicalId: physicalId(id, configuration), attributes: attributesOf(states) };
  });
}

async function remove(
  { resource }: ResourceRequest,
  { cluster: id, configuration, role }: Properties,
  { clock, log, open }: ConfigurationDeps,
  signal: AbortSignal,
): Promise<ResourceDone> {
  const done = { physicalId: physicalId(id, configuration) };
  await using opened = await openIfThere(parseClusterArn(id), role, open, signal);
  if (opened === undefined) {
    log.info("the cluster does not exist any more", { cluster: id });
    return done;
  }
  const { cluster: api, description } = opened;
  return await explained(id, description, async () => {
    const limit = AbortSignal.timeout(removedWithinMs);
    try {
      await removeConfiguration(api, configuration, { resource, clock }, AbortSignal.any([signal, limit]));
    } catch (error) {
      if (!limit.aborted) throw error;
      const { name, namespace } = configuration;
      throw new Error(
        `the Kustomizations of ${name} in namespace ${namespace} of cluster ${id} are not gone after ${removedWithinMs / 60_000} minutes: see why with kubectl -n ${namespace} get kustomizations, and delete again`,
        { cause: error },
      );
    }
    return done;
  });
}

/** The states at once, or as soon as all are ready. Throws if one cannot become ready, or if the time that was set is up. */
async function waited(
  api: Pick<Cluster, "get">,
  configuration: Configuration,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly ObjectState[]> {
  const { waitSeconds } = configuration;
  const giveUpAt = clock.monotonic() + waitSeconds * 1_000;
  for (;;) {
    const states = await configurationState(api, configuration, signal);
    const open = states.filter(({ ready }) => ready !== "True");
    if (waitSeconds === 0 || open.length === 0) return states;
    const stalled = open.filter(({ isStalled }) => isStalled);
    if (stalled.length > 0) throw new Error(`${told(stalled)}; change what is named and deploy again`);
    if (clock.monotonic() >= giveUpAt) {
      throw new Error(`not ready after ${waitSeconds} s: ${told(open)}; mend this, or raise or leave out waitForReady`);
    }
    await clock.sleep(pollMs, signal);
  }
}

const maxWhyBytes = 400;

function told(states: readonly ObjectState[]): string {
  return states
    .map(({ object, why }) => `${object} ${cutText(why === "" ? "has no status yet" : why, maxWhyBytes)}`)
    .join("; ");
}

function attributesOf(states: readonly ObjectState[]): Record<string, string> {
  const isFalse = states.some(({ ready }) => ready === "False");
  const isReady = states.every(({ ready }) => ready === "True");
  return {
    Ready: isReady ? "True" : isFalse ? "False" : "Unknown",
    State: states.map(({ object, ready, why }) => `${object} ${ready}${ready === "True" ? "" : ` ${why}`}`).join("; "),
  };
}

function physicalId(id: string, { name, namespace }: Configuration): string {
  return `${id}/${namespace}/${name}`;
}

async function readSecrets(
  secrets: readonly ConfiguredSecret[],
  { readStored }: ConfigurationDeps,
  signal: AbortSignal,
): Promise<readonly WantedSecret[]> {
  return Promise.all(
    secrets.map(async ({ host, name, stored }) => ({
      name,
      dockerConfigJson: dockerConfig(await readStored(stored, signal), host, stored),
    })),
  );
}

const Login = z.object({ username: z.string().min(1), password: z.string().min(1) });
const DockerConfig = z.object({ auths: z.record(z.string(), z.unknown()) });

/** A login as Kubernetes keeps it. Throws an error that quotes nothing of the secret. */
function dockerConfig(secret: Secret, host: string, stored: string): string {
  const json = parseJson(secret.reveal());
  if (DockerConfig.safeParse(json).success) return secret.reveal();
  const { success, data } = Login.safeParse(json);
  if (success) return JSON.stringify({ auths: { [host]: data } });
  throw new Error(
    `the secret ${stored} in Secrets Manager is not a login: store {"username": "…", "password": "…"} in it, or a .dockerconfigjson with auths`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's words would quote the text.
    return undefined;
  }
}
