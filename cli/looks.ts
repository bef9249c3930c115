import { styleText } from "node:util";

/** Adds colours to a text that is safe to show, and changes nothing else in it. */
export type Look = (safe: string) => string;

export type Colour = "cyan" | "green" | "red" | "yellow";

/**
 * Whether a stream of the process gets colours: one that is a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`. `FORCE_COLOR` overrides
 * all of that in both directions: with `0` or `false` nothing gets colours, with any other value also a pipe does.
 */
export function wantsColours(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const { FORCE_COLOR: forced = "", NO_COLOR: refused = "", TERM: terminal } = env;
  if (forced !== "") return forced !== "0" && forced !== "false";
  return isTerminal && refused === "" && terminal !== "dumb";
}

export function coloured(colour: Colour, text: string): string {
  // The caller has decided whether there are colours: by default, Node would look at its own standard output.
  return styleText(colour, text, { validateStream: false });
}

/** How a table looks whose column at this place says whether a condition holds. */
export function conditionLook(column: number): Look {
  return columnLook(column, { True: "green", False: "red", Unknown: "yellow" });
}

/** How a table looks whose column at this place has cells that stand out. Tables separate their cells by tabs, and no cell has one. */
export function columnLook(column: number, colours: Readonly<Partial<Record<string, Colour>>>): Look {
  return (table) =>
    table
      .split("\n")
      .map((line) => {
        const cells = line.split("\t");
        const cell = cells[column] ?? "";
        const text = cell.trimEnd();
        const colour = Object.hasOwn(colours, text) ? colours[text] : undefined;
        if (colour === undefined) return line;
        cells[column] = coloured(colour, text) + cell.slice(text.length);
        return cells.join("\t");
      })
      .join("\n");
}
