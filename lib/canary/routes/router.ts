import type { CanaryStatus } from "../../api/canary.ts";
import type { TakeOver } from "./originals.ts";

/** Where requests go, in percent; both weights together are 100. */
export interface Routes {
  readonly primary: number;
  readonly canary: number;
  /** Whether the canary also gets copies of requests, whose answers are dropped. */
  readonly isMirrored: boolean;
}

/** The changes of the status after routes are set. */
export type CookieChanges = Partial<
  Pick<CanaryStatus, "previousSessionAffinityCookie" | "primarySessionAffinityCookie" | "sessionAffinityCookie">
>;

/** How a route is made or mended. */
export interface Ensuring {
  /** The share of the canary in percent. Without it the shares stay as they are. */
  readonly weight?: number;
  readonly takeOver?: TakeOver;
}

/**
 * The traffic of a Canary, as one provider routes it. Made for one step: what it has read is not read again, unless it writes. Every
 * method may be repeated; each throws a `StepFault` in Flagger's words.
 */
export interface Router {
  /** Creates the route, or repairs changes by other writers. */
  ensure(how?: Ensuring): Promise<void>;
  routes(): Promise<Routes>;
  setRoutes(routes: Routes): Promise<CookieChanges>;
  /** Gives back what was there before, when the Canary goes with `revertOnDeletion`. */
  finalize(): Promise<void>;
}

/** The three Services of a Canary. */
export interface Services {
  /** Creates or repairs the Services of canary and primary. */
  ensureOwn(): Promise<void>;
  /** The one that serves production: its selector is the primary's. */
  ensureApex(takeOver?: TakeOver): Promise<void>;
  /** Restores an apex Service that the Canary does not own. */
  finalize(): Promise<void>;
}
