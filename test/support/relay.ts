import net from 'node:net';
import { freePort } from './free-port.ts';

export interface Relay {
  /** The database's URL, through the relay. */
  readonly url: string;
  /** Breaks all connections; nobody listens any more. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** From now on connections stay open, new ones too, and nothing goes through. */
  silence(): void;
  /** Breaks the connections that were silent; new ones go through. */
  speak(): void;
  /** The next new connection is closed at once, and what it brings is lost. */
  loseNext(): void;
}

/** Stands between a service and its database, so that the database can go away. It is started. */
export async function relayTo(databaseUrl: string): Promise<Relay> {
  const { port, hostname } = new URL(databaseUrl);
  const sockets = new Set<net.Socket>();
  let silent = false;
  let losesNext = false;
  const server = net.createServer((client) => {
    if (losesNext) {
      losesNext = false;
      client.on('error', () => undefined).destroy();
      return;
    }
    if (silent) {
      sockets.add(client);
      client.on('error', () => undefined).on('close', () => sockets.delete(client));
      return;
    }
    const upstream = net.connect(Number(port), hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from
        .on('error', () => to.destroy())
        .on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
    }
  });
  const own = await freePort();
  const listen = () => new Promise<void>((resolve) => server.listen(own, '127.0.0.1', resolve));
  await listen();
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(own);
  return {
    url: url.href,
    start: listen,
    silence() {
      silent = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    speak() {
      silent = false;
      for (const socket of sockets) socket.destroy();
    },
    loseNext() {
      losesNext = true;
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
