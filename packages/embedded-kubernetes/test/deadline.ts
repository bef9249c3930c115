/** How long a test waits for what has to come. It ends a hang and judges no speed. */
export const deadlineMs = 240_000;
