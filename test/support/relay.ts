import net from 'node:net';
import { Transform } from 'node:stream';
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
  /**
   * Lets the next change of the metadata be committed, or not, and then breaks all connections without an answer; new ones are
   * refused until `speak` is called. Resolves when that has happened. The service must not use prepared statements.
   */
  loseCommit(commit?: 'arrives' | 'is lost'): Promise<void>;
}

/** Channel that a change of the metadata is announced on, in its transaction. */
const CHANNEL = 'svc_metadata';
const COMMIT = 'commit\0';

/** Stands between a service and its database, so that the database can go away. It is started. */
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
  /** Sees what a client sends, and returns whether it goes on to the database. */
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
