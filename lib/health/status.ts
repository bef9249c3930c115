/** What kstatus says of an object; the words are part of health messages. */
export type Status = "InProgress" | "Failed" | "Current" | "Terminating" | "NotFound" | "Unknown";
