const units = ["B", "kB", "MB", "GB"];

/** A number of bytes as Flux prints it in events: four digits at most, in units of 1000. */
export function humanSize(bytes: number): string {
  const exponent = units.findIndex((_unit, index) => bytes < 1_000 ** (index + 1));
  const index = exponent === -1 ? units.length - 1 : exponent;
  return `${Number((bytes / 1_000 ** index).toPrecision(4))}${units[index]}`;
}
