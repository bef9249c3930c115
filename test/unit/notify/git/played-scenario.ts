import { createHash, generateKeyPairSync } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { messageOf } from "../../../../lib/core/failure.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { defaultCommitStatus } from "../../../../lib/notify/commit-status-id.ts";
import type { NotificationEvent } from "../../../../lib/notify/notification-event.ts";
import { EventShape } from "../../../../lib/notify/notification-message.ts";
import {
  isSetupFailure,
  type MakeProvider,
  type ProviderParts,
  type ProviderSettings,
} from "../../../../lib/notify/provider.ts";
import { providers } from "../../../../lib/notify/providers/providers.ts";

/** A step of a recording: what was posted, and what Flux did. */
export interface PlayedStep {
  readonly name: string;
  /** The event as a provider sees it; undefined if it is not for this class of provider. */
  readonly event: NotificationEvent | undefined;
  readonly settings: ProviderSettings;
  readonly deliveries: readonly Delivery[];
  /** Of Flux's events on the Alert. */
  readonly messages: readonly string[];
}

export interface Delivery {
  readonly over?: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw?: string | undefined;
}

export const providerUid = "0c9c2e41-d2f9-4f9b-9c41-bebc1984d67a";
/** Git hosts are asked by HTTP alone. */
export const noDial = (): Promise<never> => Promise.reject(new Error("nothing is dialled here"));
export const never = new AbortController().signal;
const appKey = generateKeyPairSync("rsa", { modulusLength: 2048 })
  .privateKey.export({ type: "pkcs1", format: "pem" })
  .toString();

const Texts = z.record(z.string(), z.string());
const Step = z.object({
  posted: z.array(
    z.object({
      event: EventShape,
    }),
  ),
  deliveries: z.array(
    z.object({
      over: z.string().optional(),
      method: z.string(),
      path: z.string(),
      headers: Texts,
      raw: z.string().optional(),
    }),
  ),
  events: z.array(z.object({ message: z.string() })),
});
const Input = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string() }),
  spec: z
    .object({
      type: z.string().optional(),
      address: z.string().default(""),
      proxy: z.string().optional(),
      secretRef: z.object({ name: z.string() }).optional(),
    })
    .optional(),
  stringData: Texts.optional(),
});
type Input = z.infer<typeof Input>;

/** The steps of a recorded scenario for providers of git hosts, in order. */
export function playedSteps(scenario: string): readonly PlayedStep[] {
  const folder = join(import.meta.dirname, "../../../fixtures/notify", scenario);
  const inputs = parseAllDocuments(readFileSync(join(folder, "input.yaml"), "utf8")).map((document) => ({
    label: (document.commentBefore ?? document.contents?.commentBefore ?? "").trim().replaceAll(" ", "-"),
    object: Input.parse(document.toJS()),
  }));
  let applied = inputs.findIndex(({ label }) => label !== "");
  if (applied < 0) applied = inputs.length;
  const files = readdirSync(folder).filter((file) => /^\d/.test(file));
  return files.toSorted().map((file) => {
    const name = file.replace(/^\d+-|\.yaml$/g, "");
    applied = Math.max(applied, inputs.findLastIndex(({ label }) => label === name) + 1);
    const objects = inputs.slice(0, applied).map(({ object }) => object);
    const { posted, deliveries, events } = Step.parse(parse(readFileSync(join(folder, file), "utf8")));
    const [{ event } = { event: undefined }] = posted;
    if (event === undefined) throw new Error(`${file}: nothing was posted`);
    const settings = settingsOf(objects, name, event.involvedObject);
    return {
      name,
      settings,
      event: isFor(settings.type, event) ? merged(event) : undefined,
      deliveries: deliveries.map((delivery) => ({
        ...delivery,
        path: filledIn(delivery.path, settings, name, encodeURIComponent),
        ...(delivery.raw === undefined ? {} : { raw: filledIn(delivery.raw, settings, name) }),
      })),
      messages: events.map(({ message }) => message),
    };
  });
}

function settingsOf(
  objects: readonly Input[],
  step: string,
  involved: { readonly kind: string; readonly name: string },
): ProviderSettings {
  const find = (kind: string, names: readonly string[]): Input | undefined =>
    objects.findLast((object) => object.kind === kind && names.includes(object.metadata.name));
  const provider = find("Provider", [step]) ?? find("Provider", ["provider"]);
  if (provider?.spec === undefined) throw new Error(`${step}: no provider`);
  const { type = "", address, proxy, secretRef } = provider.spec;
  const secret = secretRef === undefined ? {} : (find("Secret", [secretRef.name])?.stringData ?? {});
  const { githubAppID: appId } = secret;
  return {
    type,
    name: provider.metadata.name,
    namespace: provider.metadata.namespace,
    uid: providerUid,
    address: secret["address"] ?? address,
    channel: "",
    username: secret["username"] ?? "",
    password: secret["password"] ?? "",
    token: secret["token"] ?? "",
    headers: {},
    ...(proxy === undefined ? {} : { proxy: { url: new URL(proxy) } }),
    ...(appId === undefined
      ? {}
      : {
          githubApp: {
            appId,
            privateKey: appKey,
            ...(secret["githubAppInstallationID"] === undefined
              ? {}
              : { installationId: secret["githubAppInstallationID"] }),
            ...(secret["githubAppInstallationOwner"] === undefined
              ? {}
              : { installationOwner: secret["githubAppInstallationOwner"] }),
            ...(secret["githubAppBaseURL"] === undefined ? {} : { baseUrl: secret["githubAppBaseURL"] }),
          },
        }),
    secret: {},
    commitStatus: defaultCommitStatus(involved.kind, involved.name, providerUid),
    alert: { name: "alert", namespace: provider.metadata.namespace, uid: "8f14e45f-ceea-467f-a9d8-0b1c2d3e4f50" },
  };
}

type Posted = z.infer<typeof Step>["posted"][number]["event"];

const ownGroup = "event.toolkit.fluxcd.io/";

/** Which events a class of providers is for (reference 13). */
function isFor(type: string, { metadata = {}, severity, involvedObject }: Posted): boolean {
  const [group] = (involvedObject.apiVersion ?? "").split("/");
  const isUpdate = metadata[`${group}/commit_status`] === "update";
  if (providers[type]?.class === "change-request")
    return (metadata[`${ownGroup}change_request`] ?? "") !== "" && !isUpdate;
  return (metadata[`${ownGroup}commit`] ?? "") !== "" || isUpdate || severity === "error";
}

/** The metadata of the object, then those of its controller, without prefixes. */
function merged({ metadata = {}, ...event }: Posted): NotificationEvent {
  const [group] = (event.involvedObject.apiVersion ?? "").split("/");
  const of = (prefix: string): Record<string, string> =>
    Object.fromEntries(
      Object.entries(metadata).flatMap(([key, value]) =>
        key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : [],
      ),
    );
  return { ...event, metadata: { ...of(ownGroup), ...of(`${group}/`) } };
}

/** The recording with the values that stand for its placeholders. */
function filledIn(
  text: string,
  settings: ProviderSettings,
  step: string,
  escaped = (part: string): string => part,
): string {
  const [part = ""] = providerUid.split("-");
  const id = settings.commitStatus ?? "";
  const sha1 = createHash("sha1").update(id).digest("hex");
  return text
    .replaceAll(`<SHA-1 of kustomization/${step}/<provider-uid-part-of-${step}>>`, sha1)
    .replaceAll(/<provider-uid-part(?:-of-[a-z]+)?>/g, escaped(part))
    .replaceAll("<provider-uid>", providerUid);
}

/** What becomes of an event: undefined if it is delivered, or what Flux says of it on the Alert. */
export async function outcomeOf(
  { event, settings }: Pick<PlayedStep, "event" | "settings">,
  parts: ProviderParts,
  make: MakeProvider | undefined = providers[settings.type]?.make,
): Promise<string | undefined> {
  if (event === undefined) return undefined;
  if (make === undefined) throw new Error(`no provider of type ${settings.type}`);
  const { kind, namespace, name } = event.involvedObject;
  const object = `${kind}/${namespace}/${name}`;
  const setUp = (error: unknown): string =>
    `failed to dispatch notification for ${object}: failed to initialize notifier for provider '${settings.name}': failed to initialize notifier: ${messageOf(error)}`;
  let provider;
  try {
    provider = make(settings, parts);
  } catch (error) {
    return setUp(error);
  }
  try {
    await provider.post(event, never);
    return undefined;
  } catch (error) {
    if (isSetupFailure(error)) return setUp(error);
    return `failed to send notification for ${object}: ${messageOf(error)}`;
  }
}

/** Settings that a test changes a field of. */
export function settingsFor(type: string, change: Partial<ProviderSettings> = {}): ProviderSettings {
  return {
    type,
    name: "provider",
    namespace: "apps",
    uid: providerUid,
    address: "https://git.example/golden/repo",
    channel: "",
    username: "",
    password: "",
    token: "golden-token",
    headers: {},
    secret: {},
    commitStatus: "kustomization/apps/0c9c2e41",
    alert: { name: "alert", namespace: "apps", uid: "8f14e45f-ceea-467f-a9d8-0b1c2d3e4f50" },
    ...change,
  };
}

export const commit = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";

export function eventOf(change: Partial<NotificationEvent> = {}): NotificationEvent {
  return {
    involvedObject: {
      kind: "Kustomization",
      namespace: "apps",
      name: "apps",
      uid: "u",
      apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    },
    severity: "info",
    timestamp: "2026-03-02T11:31:07Z",
    message: "Applied revision",
    reason: "ApplySucceeded",
    metadata: { revision: `main@sha1:${commit}` },
    reportingController: "kustomize-controller",
    ...change,
  };
}

export const proxyOf = (url: string) => ({
  url: new URL(url),
  username: "golden",
  password: new Secret("golden-password"),
});
