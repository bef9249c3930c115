import { parseApiVersion } from "../core/object-ref.ts";
import type { InvolvedObject } from "./notification-event.ts";

/** Before the keys that users give by annotations of an object. */
export const userPrefix = "event.toolkit.fluxcd.io/";

/** Before the keys that the emitter gives: the API group of the object. */
export function ownPrefix({ apiVersion = "" }: InvolvedObject): string {
  return `${parseApiVersion(apiVersion).group}/`;
}
