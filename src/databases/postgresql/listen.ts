/** Notifications of a channel, on a connection of its own that is reopened when it breaks. */
import type { Socket } from 'node:net';
import type pg from 'pg';
import type { Listening } from '../../backend/backend.ts';
import { identifier, print, sql } from '../../sql/fragment.ts';
import { dialect } from './compile/dialect.ts';

export interface NotificationOptions {
  readonly open: () => Promise<pg.Client>;
  readonly channel: string;
  /** Called with `null` if messages may have been lost. */
  readonly onMessage: (payload: string | null) => void;
  readonly onEvent: (kind: string, message: string) => void;
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
const END_GRACE_MS = 1_000;

/** Resolves after the first attempt to listen, and retries after a failure. Never rejects. */
export async function listen(options: NotificationOptions): Promise<Listening> {
  const listener = new Listener(options);
  await listener.start();
  return listener;
}

class Listener implements Listening {
  readonly #options: NotificationOptions;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #failures = 0;

  constructor(options: NotificationOptions) {
    this.#options = options;
  }

  async start(again = false): Promise<void> {
    const { open, channel, onMessage, onEvent } = this.#options;
    let client: pg.Client | undefined;
    try {
      client = await open();
      this.#client = client;
      client.once('end', () => this.#lost());
      client.on('notification', ({ payload }) => {
        if (!this.#stopped) onMessage(payload ?? '');
      });
      if (this.#stopped) return await this.stop();
      await client.query(print(sql`listen ${identifier(channel)}`, dialect).text);
    } catch (error) {
      if (this.#failures === 0 && !this.#stopped) onEvent('listen-failed', error instanceof Error ? error.message : String(error));
      this.#failures += 1;
      // The `end` event of an open client triggers the retry.
      if (client === undefined) this.#lost();
      else await end(client);
      return;
    }
    this.#failures = 0;
    if (again && !this.#stopped) onMessage(null);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    if (this.#client !== undefined) await end(this.#client);
  }

  #lost(): void {
    this.#client = undefined;
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.start(true), Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures));
    this.#timer.unref();
  }
}

/** Closes the connection, even if the server does not answer. */
async function end(client: pg.Client): Promise<void> {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  const timer = setTimeout(() => stream.destroy(), END_GRACE_MS);
  await client.end().catch(() => undefined);
  clearTimeout(timer);
}
