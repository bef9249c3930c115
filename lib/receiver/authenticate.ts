import { z } from "zod";
import { type ReceiverType, receiverTypes } from "../api/receiver.ts";
import type { JsonText } from "../cel/cel.ts";
import type { ReceiverEntry } from "../core/ports/receiver-index.ts";
import { type Delivery, parseBody } from "./delivery.ts";
import { bytesOfSecret, type SecretValues } from "./secret-values.ts";
import { hmacFault, nexusFault, tokenFault } from "./signature.ts";

/** What a delivery has to prove itself against. */
export interface Challenge {
  readonly delivery: Delivery;
  /** Empty for a type without a Secret; else `token` is there and not empty. */
  readonly secret: SecretValues;
  readonly entry: ReceiverEntry;
}

/** `why` is for the log: it has no byte of a token, signature or body. */
export type Verdict = Accepted | { readonly kind: "refused"; readonly why: string };

interface Accepted {
  readonly kind: "accepted";
  /** `req` of filters, if it is not the body. */
  readonly req?: JsonText;
  /** `claims` of filters. */
  readonly claims?: JsonText;
}

/** Checks who sends a delivery, and that it has the shape of its type. */
export type Authenticate = (challenge: Challenge, signal: AbortSignal) => Verdict | Promise<Verdict>;

export type Authentications = Readonly<Partial<Record<ReceiverType, Authenticate>>>;

const accepted: Accepted = { kind: "accepted" };

/** Accepts what none of these finds a fault in. They are asked in their order, and none after the first fault. */
function unless(...faultsOf: readonly ((challenge: Challenge) => string | undefined)[]): Authenticate {
  return (challenge) => {
    for (const faultOf of faultsOf) {
      const why = faultOf(challenge);
      if (why !== undefined) return { kind: "refused", why };
    }
    return accepted;
  };
}

/** Who may call, by type (reference notifications 6). Every comparison with a token takes constant time. */
export const authentications: Authentications = {
  generic: unless(),
  "generic-hmac": unless(signedBy("x-signature")),
  github: unless(readableContentType, signedBy("x-hub-signature-256", "x-hub-signature"), listedIn("x-github-event")),
  bitbucket: unless(readableContentType, signedBy("x-hub-signature-256", "x-hub-signature"), listedIn("x-event-key")),
  gitlab: unless(holdsToken("x-gitlab-token"), listedIn("x-gitlab-event")),
  harbor: unless(holdsToken("authorization")),
  nexus: unless(
    ({ delivery, secret }) => nexusFault(delivery.header("x-nexus-webhook-signature"), tokenOf(secret), delivery.body),
    shaped(z.object({ action: text(), repositoryName: text() })),
  ),
  dockerhub: unless(shaped(z.object({ push_data: part({ tag: text() }), repository: part({ repo_url: text() }) }))),
  quay: unless(shaped(z.object({ docker_url: text(), updated_tags: z.array(z.string()).nullish() }))),
  acr: unless(shaped(z.object({ action: text(), target: part({ repository: text(), tag: text() }) }))),
};

/** Whether this is the name of a type: an entry may have been written by another release. */
export function isReceiverType(type: string): type is ReceiverType {
  return receiverTypes.some((one) => one === type);
}

function tokenOf(secret: SecretValues): Uint8Array {
  const token = secret.get("token");
  return token === undefined ? new Uint8Array() : bytesOfSecret(token);
}

/** The first of the headers that is there counts, and no other: a wrong one is not made up for. */
function signedBy(...headers: readonly string[]) {
  return ({ delivery, secret }: Challenge): string | undefined => {
    const signature = headers.map((name) => delivery.header(name)).find((value = "") => value !== "");
    return hmacFault(signature, tokenOf(secret), delivery.body);
  };
}

function holdsToken(header: string) {
  return ({ delivery, secret }: Challenge) => tokenFault(delivery.header(header), tokenOf(secret));
}

/** Events are filtered once the sender is known. */
export function listedIn(header: string) {
  return ({ delivery, entry: { events } }: Challenge): string | undefined => {
    const event = (delivery.header(header) ?? "").toLowerCase();
    if (events.length === 0 || events.some((one) => one.toLowerCase() === event)) return undefined;
    return `the event in ${header} is not one of spec.events`;
  };
}

const contentTypes: ReadonlySet<string> = new Set(["application/json", "application/x-www-form-urlencoded"]);

function readableContentType({ delivery }: Challenge): string | undefined {
  const [type = ""] = (delivery.header("content-type") ?? "").split(";");
  const media = type.trim().toLowerCase();
  if (contentTypes.has(media)) return undefined;
  return "the content type is neither application/json nor application/x-www-form-urlencoded";
}

function shaped(schema: z.ZodType) {
  return ({ delivery }: Challenge): string | undefined => {
    const body = parseBody(delivery.body);
    if ("fault" in body) return `the body ${body.fault}`;
    const { error } = schema.safeParse(body.value);
    const [issue] = error?.issues ?? [];
    return issue === undefined ? undefined : `the body's ${issue.path.join(".") || "top level"} has another type`;
  };
}

/** As Go reads them: what is missing or null is empty. */
function text() {
  return z.string().nullish();
}

function part<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.object(shape).nullish();
}
