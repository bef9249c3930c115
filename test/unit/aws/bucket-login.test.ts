import { describe, expect, test } from "vitest";
import { bucketLogin } from "../../../lib/aws/bucket-login.ts";

const never = new AbortController().signal;
const request = { bucket: "things", cluster: "here", namespace: "apps" };
const key = { accessKeyId: "AKIA", secretAccessKey: "hunter2", sessionToken: "token" };

describe("the login to buckets", () => {
  test("uses Sluice's identity for a listed bucket, in its region", async () => {
    const asked: unknown[] = [];
    const isAllowed = (...of: readonly unknown[]) => asked.push(of) > 0;
    const login = bucketLogin({ connection: { region: "eu-west-1", credentials: key }, isAllowed });
    const given = await login.credentials(request, never);
    expect(given).toMatchObject({ accessKeyId: "AKIA", region: "eu-west-1" });
    expect([given.secretAccessKey.reveal(), given.sessionToken?.reveal()]).toEqual(["hunter2", "token"]);
    expect(asked).toEqual([[{ cluster: "here", namespace: "apps" }, "things"]]);
    expect(JSON.stringify(given)).not.toMatch(/hunter2|"token"/);
  });

  test("is refused for another bucket with a mend", async () => {
    const credentials = () => Promise.reject(new Error("asked"));
    const login = bucketLogin({ connection: { region: "eu-west-1", credentials }, isAllowed: () => false });
    await expect(login.credentials(request, never)).rejects.toMatchObject({
      reason: "not-allowed",
      message:
        "this installation does not lend its AWS identity to namespace apps for the bucket things: add it to the buckets of this cluster in the installation, or give a secretRef",
    });
  });

  test("reports why there is no identity", async () => {
    const credentials = () => Promise.reject(new Error("no credentials"));
    const login = bucketLogin({ connection: { region: "eu-west-1", credentials }, isAllowed: () => true });
    await expect(login.credentials(request, never)).rejects.toMatchObject({
      reason: "failed",
      message: "no credentials",
    });
  });
});
