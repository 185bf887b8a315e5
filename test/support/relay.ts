import net from 'node:net';
import { Transform } from 'node:stream';
import { freePort } from './free-port.ts';

export interface Relay {
  /** The database's URL through the relay. */
  readonly url: string;
  /** Breaks all connections and refuses new ones. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Keeps all connections open, new ones included, but forwards nothing. */
  silence(): void;
  /** Breaks the silent connections; new ones work. */
  speak(): void;
  /** Closes the next new connection at once and discards its data. */
  loseNext(): void;
  /**
   * Lets the next metadata change commit, or not, and then breaks all connections without a response. New connections are
   * refused until `speak` is called. Resolves when the connections are broken. The service must not use prepared statements.
   */
  loseCommit(commit?: 'arrives' | 'is lost'): Promise<void>;
}

/** Channel on which a metadata change is announced, in its transaction. */
const CHANNEL = 'svc_metadata';
const COMMIT = 'commit\0';

/** Starts a proxy between a service and its database, so that the database can fail. */
export async function relayTo(databaseUrl: string): Promise<Relay> {
  const { port, hostname } = new URL(databaseUrl);
  const sockets = new Set<net.Socket>();
  let silent = false;
  let losesNext = false;
  let isRefusing = false;
  let losing: { readonly arrives: boolean; readonly done: () => void } | undefined;
  const breakAll = (): void => {
    isRefusing = true;
    for (const socket of sockets) socket.destroy();
    losing?.done();
    losing = undefined;
  };
  /** Receives data of the client and returns whether to forward it to the database. */
  const watchCommit = (client: net.Socket, upstream: net.Socket): ((chunk: Buffer) => boolean) => {
    let isChange = false;
    return (chunk) => {
      isChange ||= chunk.includes(CHANNEL);
      if (losing !== undefined && isChange && chunk.includes(COMMIT)) {
        if (!losing.arrives) {
          breakAll();
          return false;
        }
        upstream.unpipe(client);
        upstream.once('data', breakAll).resume();
      }
      isChange &&= !chunk.includes(COMMIT);
      return true;
    };
  };
  const server = net.createServer((client) => {
    if (losesNext || isRefusing) {
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
    const passes = watchCommit(client, upstream);
    const forward = new Transform({
      transform(chunk: Buffer, _, done) {
        done(null, passes(chunk) ? chunk : undefined);
      },
    });
    client.pipe(forward).pipe(upstream);
    upstream.pipe(client);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
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
      isRefusing = false;
      for (const socket of sockets) socket.destroy();
    },
    loseNext() {
      losesNext = true;
    },
    loseCommit: (commit = 'arrives') =>
      new Promise((done) => {
        losing = { arrives: commit === 'arrives', done };
      }),
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
