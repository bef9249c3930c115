import { z } from "zod";

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
  /** The default of Flagger's flag of this name; absent where Flagger has no such flag. */
  flagger: z.string().optional(),
  /** The first version that has it. */
  since: z.string().regex(/^\d+\.\d+\.\d+$/),
});
type SettingText = z.infer<typeof SettingText>;

export function documented<Schema extends z.ZodType>(text: SettingText, schema: Schema): Schema {
  return schema.meta({ ...text });
}
