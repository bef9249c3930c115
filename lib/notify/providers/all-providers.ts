import type { ProviderClass, ProviderType } from "../admits.ts";
import { gitProviders } from "./git-providers.ts";
import { providers } from "./providers.ts";

/** Every type of Provider that Flux has and Sluice delivers to, by `spec.type`. */
export const allProviders: Readonly<Record<string, ProviderType>> = {
  ...providers,
  ...Object.fromEntries(
    Object.entries(gitProviders).map(([type, make]) => [type, { make, class: classOf(type) }] as const),
  ),
};

/** Of a type that speaks to git hosts (reference notifications 13). */
function classOf(type: string): ProviderClass {
  if (type === "githubdispatch") return "other";
  return type.endsWith("requestcomment") ? "change-request" : "commit-status";
}
