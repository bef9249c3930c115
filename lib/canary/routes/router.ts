import type { CanaryStatus } from "../../api/canary.ts";
import type { TakeOver } from "./originals.ts";

/** Where requests go, in percent; both weights together are 100. */
export interface Routes {
  readonly primary: number;
  readonly canary: number;
  /** Whether requests are sent to the canary too, whose answers are dropped. */
  readonly isMirrored: boolean;
}

/** What setting routes changes in the status. */
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
  /** Makes the route, or mends what others have changed of it. */
  ensure(how?: Ensuring): Promise<void>;
  routes(): Promise<Routes>;
  setRoutes(routes: Routes): Promise<CookieChanges>;
  /** Gives back what was there before, when the Canary goes with `revertOnDeletion`. */
  finalize(): Promise<void>;
}

/** The three Services of a Canary. */
export interface Services {
  /** Those of canary and primary. */
  ensureOwn(): Promise<void>;
  /** The one that serves production: its selector is the primary's. */
  ensureApex(takeOver?: TakeOver): Promise<void>;
  /** Gives an apex Service that the Canary does not own back what it was. */
  finalize(): Promise<void>;
}
