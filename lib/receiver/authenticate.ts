import { type ReceiverType, receiverTypes } from "../api/receiver.ts";
import type { JsonText } from "../cel/cel.ts";
import type { ReceiverEntry } from "../core/ports/receiver-index.ts";
import type { Tenant } from "../core/tenant.ts";
import { type Delivery, parseBody } from "./delivery.ts";
import { type JsonShape, misshapen } from "./json-shape.ts";
import { mediaTypeOf } from "./media-type.ts";
import { bytesOfSecret, type SecretValues } from "./secret-values.ts";
import { hmacFault, nexusFault, tokenFault } from "./signature.ts";

/** A delivery, and the Secret and Receiver that it is checked with. */
export interface Challenge {
  readonly delivery: Delivery;
  /** Empty for a type without a Secret; else `token` is there and not empty. */
  readonly secret: SecretValues;
  readonly entry: ReceiverEntry;
  /** The namespace of the Receiver, whose turns its expressions take. */
  readonly tenant: Tenant;
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
    shaped({ action: "text", repositoryName: "text" }),
  ),
  dockerhub: unless(shaped({ push_data: { tag: "text" }, repository: { repo_url: "text" } })),
  quay: unless(shaped({ docker_url: "text", updated_tags: "texts" })),
  acr: unless(shaped({ action: "text", target: { repository: "text", tag: "text" } })),
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
    // A header comes as its bytes, which Go reads as UTF-8.
    const event = Buffer.from(delivery.header(header) ?? "", "latin1")
      .toString("utf8")
      .toLowerCase();
    if (events.length === 0 || events.some((one) => one.toLowerCase() === event)) return undefined;
    return `the event in ${header} is not one of spec.events`;
  };
}

const formType = "application/x-www-form-urlencoded";

/** As Go's `url.ParseQuery` takes it. */
function isForm(body: Uint8Array): boolean {
  return !/;|%(?![0-9a-f]{2})/i.test(Buffer.from(body).toString("latin1"));
}

function readableContentType({ delivery }: Challenge): string | undefined {
  const type = mediaTypeOf(delivery.header("content-type") ?? "");
  if (type === "application/json") return undefined;
  if (type === formType) return isForm(delivery.body) ? undefined : "the body is not a form";
  return `the content type is neither application/json nor ${formType}`;
}

/** As Go reads it. */
function shaped(shape: JsonShape) {
  return ({ delivery }: Challenge): string | undefined => {
    const body = parseBody(delivery.body);
    if ("fault" in body) return `the body ${body.fault}`;
    const path = misshapen(body.value, shape);
    return path === undefined ? undefined : `the body's ${path} has another type`;
  };
}
