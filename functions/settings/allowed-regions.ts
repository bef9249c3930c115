/** Regions by namespace. */
export type AllowedRegions = Readonly<Record<string, readonly string[]>>;

/** Whether objects of a namespace may use our identity in this region. Nothing is allowed that is not listed, to the last character. */
export function isAllowedRegion(allowed: AllowedRegions, namespace: string, region: string): boolean {
  return Object.hasOwn(allowed, namespace) && (allowed[namespace] ?? []).includes(region);
}

/** Whether this is the name of a region of AWS: `eu-west-1`, `us-gov-west-1`. */
export function isRegion(text: string): boolean {
  return /^[a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}$/.test(text);
}
