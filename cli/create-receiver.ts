import { randomBytes } from "node:crypto";
import { declaredReceiver } from "../lib/api/kinds/receiver.ts";
import { webhookPath } from "../lib/receiver/webhook-path.ts";
import { applyAndWait, type CreatedOptions, objectOf, printOrApply } from "./create-object.ts";
import { createSecret, type NewSecret } from "./create-secret.ts";
import { checkName, withoutUndefined } from "./created-object.ts";
import { secretData } from "./live-secret.ts";
import { splitKind } from "./object-reference.ts";
import { textAt } from "./objects/read-object.ts";
import type { Session, Surroundings } from "./session.ts";

interface ReceiverOptions extends CreatedOptions {
  readonly type?: string;
  readonly secretRef?: string;
  readonly event?: readonly string[];
  /** Each `<kind>/<name>`. */
  readonly resource?: readonly string[];
}

interface ReceiverSecretOptions extends CreatedOptions {
  readonly type?: string;
  readonly token?: string;
  readonly hostname?: string;
  readonly emailClaim?: string;
  readonly audienceClaim?: string;
}

/** `create receiver`: a Receiver, and waits until its webhook has an address. */
export async function createReceiver(
  name: string | undefined,
  options: ReceiverOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const { type = "", secretRef = "", event, resource = [] } = options;
  if (type === "") throw new Error("Receiver type is required");
  if (secretRef === "") throw new Error("secret ref is required");
  const resources = resource.map((text) => {
    const { kind, rest } = splitKind(text);
    if (kind === "") throw new Error(`invalid event source '${text}', must be in format <kind>/<name>`);
    return { kind, name: rest };
  });
  if (resources.length === 0) throw new Error("atleast one resource is required: give --resource KIND/NAME");
  const events = event === undefined ? undefined : [...event];
  const spec = withoutUndefined({ type, events, resources, secretRef: { name: secretRef } });
  await printOrApply(
    objectOf(declaredReceiver, name, spec, options),
    options,
    surroundings,
    async (manifest, session) => {
      session.terminal.generating("generating Receiver");
      const seen = await applyAndWait(manifest, { thing: "Receiver" }, session);
      session.terminal.success(`Receiver ${name} is ready`);
      session.terminal.success(`generated webhook URL ${textAt(seen, "status", "webhookPath")}`);
    },
  );
}

/** `create secret receiver`: the token of a Receiver of the same name, and in an annotation the URL of its webhook. */
export async function createSecretReceiver(
  name: string | undefined,
  options: ReceiverSecretOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const { type = "", hostname = "", emailClaim = "", audienceClaim = "" } = options;
  if (type === "") throw new Error("--type is required");
  if (hostname === "") throw new Error("--hostname is required");
  const isGcr = type === "gcr";
  if (isGcr && emailClaim === "") throw new Error("--email-claim is required for gcr receiver type");
  const secretWith = (token: string): NewSecret => {
    const urlIn = (namespace: string) => `https://${hostname}${webhookPath(Buffer.from(token), { name, namespace })}`;
    const dataIn = (namespace: string) => {
      const audience = audienceClaim === "" ? urlIn(namespace) : audienceClaim;
      return { token, ...(isGcr ? { email: emailClaim, audience } : {}) };
    };
    return { name, dataIn, annotationsIn: (namespace) => ({ [webhookAnnotation]: urlIn(namespace) }) };
  };
  const { token = "" } = options;
  const secret = secretWith(token === "" ? randomBytes(32).toString("hex") : token);
  await createSecret(
    "receiver",
    token === "" ? { ...secret, inCluster: (session) => withKeptToken(secret, secretWith, session) } : secret,
    options,
    surroundings,
    {
      after: ({ metadata }, session) =>
        session.terminal.success(`webhook URL ${metadata.annotations?.[webhookAnnotation] ?? ""}`),
    },
  );
}

const webhookAnnotation = "notification.toolkit.fluxcd.io/webhook";

/** Keeps the token of an existing Secret: the path of the webhook is made from it, and the caller of the webhook already has that URL. */
async function withKeptToken(
  secret: NewSecret,
  secretWith: (token: string) => NewSecret,
  session: Session,
): Promise<NewSecret> {
  const { token = "" } = (await secretData(secret.name, session)) ?? {};
  if (token === "") return secret;
  session.terminal.action("keeping the token that the Secret has: give --token for another one");
  return secretWith(token);
}
