/** For an option that can be given several times. */
export function listed(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** For an option that has several values between commas, and can be given several times. */
export function commaSeparated(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(",")];
}
