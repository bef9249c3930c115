import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { declaredReceiver } from "../lib/api/kinds/receiver.ts";
import { notificationGroup } from "../lib/api/names.ts";
import { type Manifest, refOf } from "../lib/core/manifest.ts";
import { webhookUrlOf } from "../lib/gate/cluster-owner.ts";
import type { GitHost } from "./bootstrap/git-host.ts";
import { secretOf, upsert } from "./created-object.ts";
import { secretData } from "./live-secret.ts";
import { textAt } from "./objects/read-object.ts";
import { failureOf, waitFor } from "./progress.ts";
import { isCurrent } from "./reconcile-object.ts";
import type { Session } from "./session.ts";
import { isObserved } from "./suspend-and-resume.ts";

export interface WebhookOptions {
  /** The name of the GitRepository, and of its Receiver. */
  readonly name: string;
  /** The address before the path of the webhook; undefined for the address of the installation. */
  readonly url: string | undefined;
}

/** Events that announce a push, in the words of each host. */
const events = { github: ["ping", "push"], gitlab: ["Push Hook"] } as const;

/**
 * Has the host announce each push: a Receiver with its token in the cluster, and the webhook at the host. Where the installation has no
 * address that the host can reach it says so and does nothing: pushes are then found at the interval.
 */
export async function connectWebhook(host: GitHost, { name, url }: WebhookOptions, session: Session): Promise<void> {
  const { cluster, terminal, signal } = session;
  const base = url ?? (await webhookUrlOf(cluster, signal));
  if (base === undefined) {
    terminal.action(
      noWebhook("the installation has not published the address of its receiver: give it with --webhook-url"),
    );
    return;
  }
  if (url === undefined && isLoopback(base)) {
    terminal.action(
      noWebhook(
        `the receiver listens at ${base}, where ${host.name} cannot reach it; give a tunnel to it by --webhook-url`,
      ),
    );
    return;
  }
  const secretName = `${name}-webhook`;
  const token = await webhookToken(secretName, session);
  const path = await receiverPath(host, { name, secretName }, session);
  const ensured = await host.ensureHook({ url: `${base.replace(/\/+$/, "")}${path}`, secret: token }, signal);
  terminal.success(ensured === "present" ? "webhook up to date" : `configured webhook for "${host.repository}"`);
}

function noWebhook(why: string): string {
  return `no webhook: ${why}. Pushes are found at the interval of the GitRepository`;
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
}

async function webhookToken(name: string, session: Session): Promise<string> {
  const { token = "" } = (await secretData(name, session)) ?? {};
  if (token !== "") return token;
  const made = randomBytes(20).toString("hex");
  // With the label a token that a user writes counts at once.
  const label = ["reconcile.fluxcd.io/watch=Enabled"];
  await upsert(secretOf(name, session.namespace, { token: made }, { label }), session);
  return made;
}

async function receiverPath(
  { receiverType }: GitHost,
  { name, secretName }: { readonly name: string; readonly secretName: string },
  session: Session,
): Promise<string> {
  const { cluster, namespace, terminal, signal } = session;
  const manifest: Manifest = {
    apiVersion: `${notificationGroup}/${declaredReceiver.versions[0]}`,
    kind: declaredReceiver.kind,
    metadata: { name, namespace },
    spec: {
      type: receiverType,
      events: [...events[receiverType]],
      secretRef: { name: secretName },
      resources: [{ kind: "GitRepository", name }],
    },
  };
  const ref = { ...refOf(manifest), version: declaredReceiver.versions[0] };
  const live = await cluster.get(ref, signal);
  if (live === undefined || !isDeepStrictEqual(live["spec"], manifest["spec"])) {
    terminal.success(`Receiver ${await upsert(manifest, session)}`);
  }
  const isReady = await waitFor(
    ref,
    (object) => {
      if (!isObserved(object)) return false;
      const failure = failureOf(object);
      if (failure !== undefined) throw new Error(`Receiver ${namespace}/${name} is not ready: ${failure}`);
      return isCurrent(object) && textAt(object, "status", "webhookPath") !== "";
    },
    session,
  );
  return textAt(isReady, "status", "webhookPath");
}
