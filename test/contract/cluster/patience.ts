/** For what a controller or the server does in its own time, which is long where others compute. */
export const patience = { timeout: 90_000 };
