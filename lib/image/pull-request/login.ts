import { githubAppIn, type HostSettings } from "../../git-hosts/host-settings.ts";

type Login = Omit<HostSettings, "address" | "proxy" | "tls">;

/** The login for the API in the Secret of a GitRepository, or in one for the API alone. A token counts before a password, and an App after both. */
export function hostLogin(data: ReadonlyMap<string, string>): Login {
  const token = data.get("token") ?? data.get("bearerToken") ?? "";
  // Together with a key for ssh, `password` is the passphrase of the key.
  const password = data.has("identity") ? "" : (data.get("password") ?? "");
  const githubApp = githubAppIn(data);
  return { token: token.trim(), password: password.trim(), ...(githubApp === undefined ? {} : { githubApp }) };
}
