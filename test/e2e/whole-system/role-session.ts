import { z } from "zod";

export interface RoleSession {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const Element = z.string().min(1);

/** Credentials of a role, as Lambda gets them for a function. */
export async function roleSession(sts: string, role: string, name: string): Promise<RoleSession> {
  const body = new URLSearchParams({
    Action: "AssumeRole",
    Version: "2011-06-15",
    RoleArn: role,
    RoleSessionName: name,
  });
  const xml = await (await fetch(sts, { method: "POST", body })).text();
  const element = (tag: string): string => Element.parse(new RegExp(`<${tag}>([^<]+)</${tag}>`).exec(xml)?.[1]);
  return {
    accessKeyId: element("AccessKeyId"),
    secretAccessKey: element("SecretAccessKey"),
  };
}
