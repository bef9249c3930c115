/** Whether two lines of public keys have the same key, whatever their comments say. */
export function isSameKey(one: string, other: string): boolean {
  const parts = (line: string): string => line.trim().split(/\s+/).slice(0, 2).join(" ");
  return parts(one) === parts(other);
}
