const contextLines = 3;

interface Line {
  readonly mark: " " | "-" | "+";
  readonly text: string;
  /** Line numbers from 1 that the line has or would have in each text. */
  readonly before: number;
  readonly after: number;
}

/** A unified diff without file names, three lines of context, each hunk ended by a newline; empty if nothing differs. */
export function unifiedDifference(before: readonly string[], after: readonly string[]): string {
  const lines = compare(before, after);
  return hunksOf(lines)
    .map((hunk) => {
      const [first] = hunk;
      const removed = hunk.filter(({ mark }) => mark !== "+").length;
      const added = hunk.filter(({ mark }) => mark !== "-").length;
      const head = `@@ -${first?.before ?? 0},${removed} +${first?.after ?? 0},${added} @@`;
      return `${[head, ...hunk.map(({ mark, text }) => mark + text)].join("\n")}\n`;
    })
    .join("");
}

function compare(before: readonly string[], after: readonly string[]): readonly Line[] {
  const common = commonLengths(before, after);
  const lines: Line[] = [];
  let [left, right] = [0, 0];
  while (left < before.length || right < after.length) {
    const position = { before: left + 1, after: right + 1 };
    if (left < before.length && right < after.length && before[left] === after[right]) {
      lines.push({ mark: " ", text: before[left] ?? "", ...position });
      left += 1;
      right += 1;
    } else if (
      right >= after.length ||
      (left < before.length && lengthAt(common, left + 1, right) >= lengthAt(common, left, right + 1))
    ) {
      lines.push({ mark: "-", text: before[left] ?? "", ...position });
      left += 1;
    } else {
      lines.push({ mark: "+", text: after[right] ?? "", ...position });
      right += 1;
    }
  }
  return lines;
}

/** Lengths of the longest common subsequence from each pair of positions on. */
function commonLengths(before: readonly string[], after: readonly string[]): readonly Uint16Array[] {
  const table = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let left = before.length - 1; left >= 0; left -= 1) {
    const row = table[left] ?? new Uint16Array();
    for (let right = after.length - 1; right >= 0; right -= 1) {
      row[right] =
        before[left] === after[right]
          ? lengthAt(table, left + 1, right + 1) + 1
          : Math.max(lengthAt(table, left + 1, right), lengthAt(table, left, right + 1));
    }
  }
  return table;
}

function lengthAt(table: readonly Uint16Array[], left: number, right: number): number {
  return table[left]?.[right] ?? 0;
}

/** Changes with their context; those that are near each other share a hunk. */
function hunksOf(lines: readonly Line[]): readonly (readonly Line[])[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - contextLines), index + contextLines + 1).some(({ mark }) => mark !== " "),
  );
  const hunks: Line[][] = [];
  lines.forEach((line, index) => {
    if (isNear[index] !== true) return;
    const last = hunks.at(-1);
    if (last === undefined || isNear[index - 1] !== true) hunks.push([line]);
    else last.push(line);
  });
  return hunks;
}
