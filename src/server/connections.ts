/**
 * The requests of each connection, one at a time and in their order: an HTTP/1.1 client may send
 * several before it reads the first answer, and what changes data must not overtake what was sent
 * before (RFC 9112, section 9.3.2). When the connection closes, the running one is cancelled and
 * those behind it are dropped.
 */
import type { Socket } from 'node:net';
import { CancellationSource } from '../util/cancellation.ts';

/** Answers one request; `client` tells when nobody waits for the answer any more. Never rejects. */
export type Serve = (client: CancellationSource) => Promise<void>;

interface Connection {
  running: CancellationSource | null;
  readonly waiting: Serve[];
}

/** A client that has more requests waiting behind a running one is cut off. */
const MAX_WAITING = 256;

export class Connections {
  readonly #bySocket = new Map<Socket, Connection>();
  /** Requests that run or wait. */
  #count = 0;
  #idle: (() => void) | null = null;

  get requests(): number {
    return this.#count;
  }

  get size(): number {
    return this.#bySocket.size;
  }

  get sockets(): Iterable<Socket> {
    return this.#bySocket.keys();
  }

  /** A socket may come anew, when its request did not become another protocol. */
  add(socket: Socket): void {
    if (this.#bySocket.has(socket)) return;
    const connection: Connection = { running: null, waiting: [] };
    this.#bySocket.set(socket, connection);
    socket.on('close', () => {
      this.#bySocket.delete(socket);
      this.#count -= connection.waiting.length;
      connection.waiting.length = 0;
      connection.running?.cancel();
      this.#checkIdle();
    });
  }

  /** Whether a request of the connection runs or waits. */
  isBusy(socket: Socket): boolean {
    return this.#bySocket.get(socket)?.running != null;
  }

  /** Serves the request once those before it on its connection have been answered. */
  enter(socket: Socket, serve: Serve): void {
    const connection = this.#bySocket.get(socket);
    if (connection === undefined) return; // closed meanwhile
    this.#count++;
    if (connection.running === null) this.#run(connection, serve);
    else if (connection.waiting.push(serve) > MAX_WAITING) socket.destroy();
  }

  /** Resolves when nothing runs or waits, or after so many milliseconds. */
  async settled(limit: number): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limit);
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #run(connection: Connection, serve: Serve): void {
    const client = new CancellationSource();
    connection.running = client;
    void serve(client).finally(() => {
      connection.running = null;
      this.#count--;
      const next = connection.waiting.shift();
      if (next !== undefined) this.#run(connection, next);
      else this.#checkIdle();
    });
  }

  #checkIdle(): void {
    if (this.#count === 0) this.#idle?.();
  }
}
