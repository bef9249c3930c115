import { goUrlFault } from "../../core/go-url-fault.ts";
import { markdownOf } from "../describe-event.ts";
import { postMessage } from "../post-json.ts";
import type { MakeProvider } from "../provider.ts";
import { basicLogin } from "./alertmanager.ts";

/** A topic of a channel of Zulip (`channel/topic`), by the name and the API key of a bot. */
export const zulip: MakeProvider = ({ address, channel, username, password, proxy, tls }, parts) => {
  const fault = goUrlFault(address);
  if (fault !== undefined) throw new Error(`invalid Zulip endpoint URL: parse ${JSON.stringify(address)}: ${fault}`);
  const [to = ""] = channel.split("/", 1);
  const topic = channel.slice(to.length + 1);
  if (to === "" || topic === "") {
    throw new Error(`invalid Zulip channel format, expected <channel>/<topic>, got '${channel}'`);
  }
  const url = apiOf(address);
  const login = username === "" && password === "" ? {} : { authorization: basicLogin(username, password) };
  const headers = { "content-type": "application/x-www-form-urlencoded", ...login };
  return {
    post: (event, signal) => {
      const body = form({ content: markdownOf(event), to, topic, type: "stream" });
      return postMessage({ url, headers, body, proxy, tls }, parts, signal);
    },
  };
};

function apiOf(address: string): string {
  if (!URL.canParse(address)) return "/api/v1/messages";
  const url = new URL(address);
  url.pathname = "/api/v1/messages";
  return url.href;
}

/** A form as Go writes it. */
function form(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map((pair) => pair.map(goQueryEscape).join("="))
    .join("&");
}

function goQueryEscape(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}
