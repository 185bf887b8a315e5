/** What the metadata database holds of remote schemas, as far as this instance knows. */
import type { Metadata } from '../metadata/metadata.ts';
import type { RemoteIntrospectionStore, StoredIntrospection } from '../metadata-store/remote-introspections.ts';
import { type Introspection, introspectionText, type LiveRemote, serverOf, usableIntrospections } from './live-remote.ts';
import type { Connection } from '../backend/connection.ts';

/** What a change stores, and what is known when it has. */
export interface IntrospectionWrite {
  /** Remote schemas of which something new is stored. */
  readonly names: readonly string[];
  inTransaction(connection: Connection): Promise<void>;
  done(): void;
}

export class KeptIntrospections {
  readonly #store: RemoteIntrospectionStore;
  /** By name: server and digest of what is stored. */
  readonly #known = new Map<string, string>();

  constructor(store: RemoteIntrospectionStore) {
    this.#store = store;
  }

  /** What is stored of these remote schemas and is of their servers. */
  async read({ remoteSchemas }: Metadata, names: Iterable<string> = remoteSchemas.keys()): Promise<ReadonlyMap<string, Introspection>> {
    const usable = await usableIntrospections(await this.#store.read([...names]), remoteSchemas);
    for (const [name, { digest }] of usable) {
      const remote = remoteSchemas.get(name);
      if (remote !== undefined) this.#known.set(name, markOf(serverOf(remote.definition), digest));
    }
    return usable;
  }

  /** Whether the servers said anything that is not stored. */
  hasNews(remotes: ReadonlyMap<string, LiveRemote>): boolean {
    return this.#news(remotes).length > 0;
  }

  /** Null when there is nothing to store. */
  async write(remotes: ReadonlyMap<string, LiveRemote>): Promise<IntrospectionWrite | null> {
    const news = this.#news(remotes);
    const removed = [...this.#known.keys()].filter((name) => !remotes.has(name));
    if (news.length + removed.length === 0) return null;
    const changed = await Promise.all(
      news.map(async ([name, server, said]): Promise<StoredIntrospection> => ({ name, server, text: await introspectionText(said) })),
    );
    return {
      names: news.map(([name]) => name),
      inTransaction: (connection) => this.#store.write(connection, changed, removed),
      done: () => {
        for (const [name, server, { digest }] of news) this.#known.set(name, markOf(server, digest));
        for (const name of removed) this.#known.delete(name);
      },
    };
  }

  #news(remotes: ReadonlyMap<string, LiveRemote>): readonly (readonly [string, string, Introspection])[] {
    return [...remotes].flatMap(([name, { definition, said }]) => {
      if (said === null) return [];
      const server = serverOf(definition);
      return this.#known.get(name) === markOf(server, said.digest) ? [] : [[name, server, said] as const];
    });
  }
}

function markOf(server: string, digest: string): string {
  return `${digest} ${server}`;
}
