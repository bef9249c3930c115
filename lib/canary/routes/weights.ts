import type { CanaryStatus } from "../../api/canary.ts";
import { isWithoutPrimary } from "../canary.ts";
import type { Routes } from "./router.ts";

/** Shares of the requests in percent; their sum is 100. */
export type Weights = Pick<Routes, "primary" | "canary">;

/** Also where nothing else is known. */
export const allToPrimary: Routes = { primary: 100, canary: 0, isMirrored: false };
export const allToCanary: Routes = { primary: 0, canary: 100, isMirrored: false };

/** The weights of an object as shares: other writers may have set weights that do not add up to 100. */
export function sharesOf(primary: number, canary: number): Weights {
  const sum = primary + canary;
  if (!(primary >= 0 && canary >= 0 && sum > 0)) return allToPrimary;
  const share = Math.round((canary / sum) * 100);
  return { primary: 100 - share, canary: share };
}

/** A weight as Flagger writes it where 0 is the default of the kind: not at all. */
export function nonZero(weight: number): { readonly weight?: number } {
  return weight === 0 ? {} : { weight };
}

/** The weights of a route that is made. Only a primary that has failed in its promotion gets no requests (reference canary 6.7). */
export function firstWeights(status: CanaryStatus): Weights {
  return isWithoutPrimary(status) ? allToCanary : allToPrimary;
}

/** Throws a `RangeError` for weights that do not share all requests: the caller has reckoned wrongly, and nothing is written. */
export function checkSum({ primary, canary }: Weights): void {
  const areWhole = Number.isInteger(primary) && Number.isInteger(canary) && primary >= 0 && canary >= 0;
  if (!areWhole || primary + canary !== 100) {
    throw new RangeError(`weights ${primary} and ${canary} do not sum to 100`);
  }
}
