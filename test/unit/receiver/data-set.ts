import type { Sent } from "./receiver-world.ts";

// The data set of the reference, section 21: bodies, their signatures under the token, and headers.

export const a = '{"ref":"refs/heads/main","after":"0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"}';
export const b = "payload=%7B%22zen%22%3A%22Keep+it+small%22%7D";
export const c = '{"action":"CREATED","repositoryName":"maven-releases"}';
export const d = '{"eventKey":"repo:refs_changed","changes":[{"refId":"refs/heads/main"}]}';
export const sha1OfA = "sha1=07ba3e1c572f53800e743492bdce833009088033";
export const sha256OfA = "sha256=f668214f97dde0c569111c4926d0d4065f1c9ce1153add6be8bbba3b12fa53c9";
export const sha512OfA =
  "sha512=c5c574416f517071bf2315a6808e111aa95f1e6d56d9a12772ff51eb1e34cda5297f80bdb5fd8f6b46cd643ea17c84270f5669a39aefd4563057b7673de98b44";
export const json = { "Content-Type": "application/json" };
export const form = { "Content-Type": "application/x-www-form-urlencoded" };

export const signed = (value: string, body = a): Sent => ({ headers: { "X-Signature": value }, body });
