/** Controls (but tab and line feed), exotic line ends and byte order marks: YAML readers and writers differ over these. */
export const oddCharacter = /[^\P{Cc}\t\n]|[\u2028\u2029\ufeff\ufffe\uffff]/u;
