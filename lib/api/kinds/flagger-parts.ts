import { flaggerGroup } from "../names.ts";
import type { KindDeclaration } from "./declaration.ts";

/** The common parts of Flagger's kinds. */
export const flaggerParts = {
  group: flaggerGroup,
  shortNames: [],
  categories: ["all"],
  versions: ["v1beta1"],
  statusManager: "flagger",
  eventSource: "flagger",
  isSource: false,
} as const satisfies Partial<KindDeclaration>;

/** The common parts of those that Canaries read. They have no status, and are ready as they are. */
export const staticParts = {
  ...flaggerParts,
  isStatusless: true,
  isStatic: () => true,
} as const satisfies Partial<KindDeclaration>;
