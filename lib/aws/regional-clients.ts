export interface RegionalClients<Client> {
  of(region: string): Client;
  /** Ends their connections. */
  close(): void;
}

/** A client of AWS for each region, made when it is first needed and kept. */
export function regionalClients<Client extends { destroy(): void }>(
  make: (region: string) => Client,
): RegionalClients<Client> {
  const clients = new Map<string, Client>();
  return {
    of(region) {
      const client = clients.get(region) ?? make(region);
      clients.set(region, client);
      return client;
    },
    close() {
      for (const client of clients.values()) client.destroy();
    },
  };
}
