/** The blocks of shell of a page of Markdown, in order. */
export function shellBlocks(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^( *)```(?:sh|bash|shell)\n([^]*?)^\1```$/gm)].map(([, , text = ""]) => text);
}

/**
 * The commands of a block, each as its words: without comments, assignments and redirections, and without the text of here-documents.
 * A command within `$( )` is not looked at. Good enough for what our pages have; no shell.
 */
export function commandsOf(block: string): readonly (readonly string[])[] {
  const plain = block.replaceAll(/<<-?\s*(['"]?)(\w+)\1([^\n]*)\n[^]*?^\2$/gm, "$3").replaceAll(/\\\n\s*/g, " ");
  return plain
    .split("\n")
    .flatMap(commandsOfLine)
    .map((words) => words.slice(words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word))))
    .filter((words) => words.length > 0);
}

/** One word or separator of a line: quoted parts, `$(…)`, and all that is neither space nor operator. */
const token =
  /(?:"(?:\\.|\$\([^)]*\)|[^"\\])*"|'[^']*'|\$\([^)]*\)|\\.|[^\s"'|&;<>()#$\\]|\$(?!\()|(?<=\S)#)+|&&|\|\||[|;&()]|[<>]+|#.*$/g;

function commandsOfLine(line: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  let isTarget = false;
  for (const [text] of line.replaceAll(/(?<=\s)\d(?=>)/g, "").matchAll(token)) {
    if (text.startsWith("#")) break;
    if (/^[|;&()]/.test(text)) commands.push([]);
    else if (/^[<>]/.test(text)) isTarget = true;
    else if (isTarget) isTarget = false;
    else commands.at(-1)?.push(unquoted(text));
  }
  return commands;
}

function unquoted(word: string): string {
  return word.replaceAll(
    /"((?:\\.|[^"\\])*)"|'([^']*)'/g,
    (_, double?: string, single?: string) => double ?? single ?? "",
  );
}
