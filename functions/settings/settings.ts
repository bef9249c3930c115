import { z } from "zod";
import { NetworkSettings } from "../../lib/core/network/network-settings.ts";

/**
 * What users read about a setting, beside its name. Kept with the schema as its metadata, so that neither goes without the
 * other.
 *
 * @internal Exported for its tests.
 */
export const SettingText = z.object({
  /** What it does, a sentence or two. */
  description: z.string().min(1),
  /** The default of Flux's flag of this name; absent where Flux has no such flag. */
  flux: z.string().optional(),
  /** The first version that has it. */
  since: z.string().regex(/^\d+\.\d+\.\d+$/),
});
type SettingText = z.infer<typeof SettingText>;

function documented<Schema extends z.ZodType>(text: SettingText, schema: Schema): Schema {
  return schema.meta({ ...text });
}

/**
 * The settings of an installation, each under the name of Flux's flag where Flux has one. All may be left out. The schema is
 * the only place that knows them: docs/settings.md and `sluice settings` are made from it.
 */
export const Settings = z.strictObject({
  "no-cross-namespace-refs": documented(
    {
      description:
        "Refuses a Kustomization whose `spec.sourceRef.namespace` is another namespace than its own: it is stalled with reason `AccessDenied`. `dependsOn` and `healthChecks` may name other namespaces all the same. For installations that several tenants share.",
      flux: "false",
      since: "0.1.0",
    },
    z.boolean("must be true or false").default(false),
  ),
  "concurrent-ssa": documented(
    {
      description:
        "How many requests a run has at the API server at the same time, dry runs, applies and deletes alike.",
      flux: "4",
      since: "0.1.0",
    },
    wholeNumber(1, 100).default(8),
  ),
  network: documented(
    {
      description:
        "Where Sluice may connect to for what a tenant names, see [where Sluice goes on the network](network.md). `allow` lists hosts (`registry.example.com`, `*.example.com`, with or without `:PORT`) that may be at private addresses and be token services, and ranges (`10.20.0.0/16`) that every host may be at. `unlisted` says what other hosts may be at: `public` addresses (the default in functions), `anything` (at home) or nothing (`refused`).",
      since: "0.1.0",
    },
    NetworkSettings.prefault({}),
  ),
});
export type Settings = z.infer<typeof Settings>;

/** The values of an installation that sets nothing. */
export const defaultSettings: Settings = Settings.parse({});

function wholeNumber(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}`;
  return z.int(message).min(least, message).max(most, message);
}
