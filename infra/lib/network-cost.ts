/** US dollars a month for the queue and the alarm of each network after the first, at rest in us-east-1, as docs/cost.md reckons. */
export const furtherNetworkUsd = 0.36;
