/** A list of numbers as titles and tables write it: `7`, `15, 16`, `30 to 32, 84`. A source of a regular expression. */
export const listOfNumbers = String.raw`\d+(?: to \d+)?(?:, \d+(?![\d.])(?: to \d+)?)*`;

/** The numbers of such a list, in its order. */
export function numbersOf(list: string): readonly number[] {
  return list.split(", ").flatMap((part) => {
    const [first = Number.NaN, last = first] = part.split(" to ").map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
