/**
 * A text from a cluster, a registry or a file as a terminal may show it: without escape sequences, control characters other
 * than tab and line feed, and characters that turn the direction of what follows. A name or message could otherwise clear the
 * screen, overwrite lines or pass for other output.
 */
export function printable(text: string): string {
  return text.replaceAll(unprintable, "");
}

/**
 * `ESC [ … letter`; `ESC ] … BEL` and its like if they end in the same line, as an open one must hide nothing; then what is
 * left of control characters and the overrides and isolates of direction. One pass, so that nothing is put together by it.
 */
const unprintable =
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)|\u001b[\]PX^_[]?|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
