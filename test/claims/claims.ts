/** The references with numbered statements that have a section in docs/maintainers/conformance.md, and the number of statements in each. */
export const lastStatements = {
  kustomization: 124,
  sources: 127,
  cli: 30,
  notifications: 70,
  helmrelease: 65,
  "image-automation": 70,
  canary: 66,
} as const;
type Reference = keyof typeof lastStatements;

interface Statement {
  readonly reference: Reference;
  readonly number: number;
}

/** A row of docs/maintainers/conformance.md: the statements, and the folders and files below `test/` that prove them (none if a later issue implements them). */
export interface Claim {
  readonly reference: Reference;
  readonly numbers: readonly number[];
  readonly files: readonly string[];
}

/** A test as a runner reports it. */
export interface ReportedTest {
  /** Below `test/`. */
  readonly file: string;
  /** With the titles of the suites around it, tables filled in. */
  readonly title: string;
}

/** As titles and tables write it: `7`, `15, 16`, `30 to 32, 84`. */
const listOfNumbers = String.raw`\d+(?: to \d+)?(?:, \d+(?![\d.])(?: to \d+)?)*`;
// If vitest shortens a value in a title, it writes `…(2)`.
const inParentheses = new RegExp(`(?<=^|\\s)\\((${listOfNumbers})\\)`, "g");
const ofSources = new RegExp(`\\b11\\.\\d/(${listOfNumbers})`, "g");
const ofHelmReleases = new RegExp(`(?<![\\w./])23/(${listOfNumbers})`, "g");
/** A recorded scenario has the same name, and its steps begin with a zero: `image-automation/01-first-commit`. */
const ofImages = new RegExp(`(?<![\\w./-])image-automation/(?!0)(${listOfNumbers})`, "g");
const ofCanaries = new RegExp(`(?<![\\w./-])canary/(${listOfNumbers})`, "g");
const beforeColon = new RegExp(`(?<=^|\\s)(${listOfNumbers}): `, "g");

/**
 * The statements that a title names, as `(15, 16)` or, for sources and HelmReleases, as `11.3/60` and `23/8`, since readers look for
 * sections, and for image automation and canaries as `image-automation/45` and `canary/7`.
 * In the tests of receivers and of notifications a number before a colon is a statement about notifications: `20: to an unknown path is 404`.
 * A number in parentheses is a statement of the command line in its own tests, and of a Kustomization in all others. A number
 * beyond the last statement is an HTTP status, as in the titles of recorded cases.
 */
export function statementsIn({ file, title }: ReportedTest): readonly Statement[] {
  const reference = /^(?:e2e|unit)\/cli\b/.test(file) ? "cli" : "kustomization";
  const found = (pattern: RegExp) => [...title.matchAll(pattern)].flatMap(([, list = ""]) => numbersOf(list));
  return [
    ...found(inParentheses)
      .filter((number) => number <= lastStatements[reference])
      .map((number) => ({ reference, number }) as const),
    ...found(ofSources).map((number) => ({ reference: "sources", number }) as const),
    ...found(ofHelmReleases).map((number) => ({ reference: "helmrelease", number }) as const),
    ...found(ofImages).map((number) => ({ reference: "image-automation", number }) as const),
    ...found(ofCanaries).map((number) => ({ reference: "canary", number }) as const),
    ...(/^unit\/(?:(?:flows\/)?receiver|notify)\//.test(file) ? found(beforeColon) : []).map(
      (number) => ({ reference: "notifications", number }) as const,
    ),
  ];
}

/** The rows of the tables of docs/maintainers/conformance.md. */
export function readClaims(document: string): readonly Claim[] {
  const row = new RegExp(`^\\| (${listOfNumbers}) \\|([^|]*)\\|`, "gm");
  return document.split(/^## /m).flatMap((section) => {
    const reference = references.find((one) => section.startsWith(`${one}.md`));
    if (reference === undefined) return [];
    return [...section.matchAll(row)].map(([, list = "", where = ""]) => ({
      reference,
      numbers: numbersOf(list),
      files: [...where.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path),
    }));
  });
}

/** Faults of the tables themselves: each statement must stand in exactly one row. */
export function tableFaults(claims: readonly Claim[]): readonly string[] {
  return references.flatMap((reference) => {
    const listed = claims.filter((claim) => claim.reference === reference).flatMap(({ numbers }) => numbers);
    const all = new Set([...listed, ...Array.from({ length: lastStatements[reference] }, (_, index) => index + 1)]);
    return [...all].flatMap((number) => {
      const name = `statement ${number} of ${reference}.md`;
      if (number < 1 || number > lastStatements[reference]) return [`${name} is listed, and there is none`];
      const rows = listed.filter((one) => one === number).length;
      return rows === 1 ? [] : [`${name} stands in ${rows} rows, and has to stand in one`];
    });
  });
}

/** Claims that these tests do not prove: a number without a test in the files of its row, and a file without a test for a number of its row. */
export function unprovenClaims(claims: readonly Claim[], tests: readonly ReportedTest[]): readonly string[] {
  const named = tests.flatMap((test) => statementsIn(test).map((statement) => ({ ...statement, file: test.file })));
  return claims.flatMap(({ reference, numbers, files }) => {
    if (files.length === 0) return [];
    const proofs = named.filter((one) => one.reference === reference && numbers.includes(one.number));
    const below = (path: string) => proofs.filter(({ file }) => file.startsWith(path));
    const proven = new Set(files.flatMap(below).map(({ number }) => number));
    return [
      ...numbers
        .filter((number) => !proven.has(number))
        .map((number) => `statement ${number} of ${reference}.md has no test that passed in ${files.join(", ")}`),
      ...files
        .filter((path) => below(path).length === 0)
        .map(
          (path) =>
            `${path} proves none of the statements ${numbers.join(", ")} of ${reference}.md beside which it stands`,
        ),
    ];
  });
}

/** Titles with a number that no row with files has: a statement of a later issue, or a number without a statement. */
export function unclaimedTitles(claims: readonly Claim[], tests: readonly ReportedTest[]): readonly string[] {
  const claimed = new Set(
    claims.flatMap(({ reference, numbers, files }) =>
      files.length === 0 ? [] : numbers.map((number) => `${reference} ${number}`),
    ),
  );
  return tests.flatMap((test) =>
    statementsIn(test)
      .filter(({ reference, number }) => !claimed.has(`${reference} ${number}`))
      .map(
        ({ reference, number }) =>
          `${test.file}: "${test.title}" names statement ${number} of ${reference}.md, which is not claimed`,
      ),
  );
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its keys are written above
const references = Object.keys(lastStatements) as readonly Reference[];

function numbersOf(list: string): readonly number[] {
  return list.split(", ").flatMap((part) => {
    const [first = Number.NaN, last = first] = part.split(" to ").map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
