import { ecrEntries } from "../../lib/aws/ecr/ecr-host.ts";
import { type NetworkPolicy, networkPolicy } from "../../lib/core/network/network-policy.ts";
import type { Config } from "../settings/config.ts";
import type { Settings } from "../settings/settings.ts";

/** Where a function may connect to for what a tenant names: as the settings say, and to ECR in its own region. */
export function functionNetwork(
  { AWS_REGION, SLUICE_LOCAL_ADDRESSES }: Pick<Config, "AWS_REGION" | "SLUICE_LOCAL_ADDRESSES">,
  { network }: Pick<Settings, "network">,
): NetworkPolicy {
  const place = SLUICE_LOCAL_ADDRESSES === "allowed" ? "home" : "functions";
  return networkPolicy(network, place, ecrEntries(AWS_REGION));
}
