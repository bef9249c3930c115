import ssh from "ssh2";
import { expect, test } from "vitest";
import { usablePair } from "../../../cli/git-credentials.ts";

const damaged = {
  public: "",
  private: "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n",
};

test("a new SSH key that is damaged is made again", async () => {
  const pair = ssh.utils.generateKeyPairSync("ecdsa", { bits: 256 });
  const made = [damaged, damaged, pair];
  expect(await usablePair(() => made.shift() ?? damaged)).toBe(pair);
  expect(made).toEqual([]);
});

test("after ten damaged SSH keys in a row the command fails", async () => {
  let made = 0;
  const generate = () => {
    made++;
    return damaged;
  };
  await expect(usablePair(generate)).rejects.toThrow("the private key is damaged");
  expect(made).toBe(10);
});
