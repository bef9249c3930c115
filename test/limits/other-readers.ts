/** Readers without a worst input of their own, and why. */
export const measuredElsewhere: Readonly<Record<string, string>> = {};
