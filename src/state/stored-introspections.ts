/** Introspections of remote schemas in the metadata database, as far as this instance has read or written them. */
import type { Metadata } from '../metadata/metadata.ts';
import type { RemoteIntrospectionStore, StoredIntrospection } from '../metadata-store/remote-introspections.ts';
import { type RemoteIntrospection, introspectionText, type LiveRemote, serverOf, usableIntrospections } from './live-remote.ts';
import type { Connection } from '../backend/connection.ts';

/** Introspections to store with a change. */
export interface IntrospectionWrite {
  /** Names of the remote schemas with a new introspection. */
  readonly names: readonly string[];
  inTransaction(connection: Connection): Promise<void>;
  /** Called after the commit. */
  done(): void;
}

export class StoredIntrospections {
  readonly #store: RemoteIntrospectionStore;
  /** Server and digest of each stored introspection, by name. */
  readonly #known = new Map<string, string>();

  constructor(store: RemoteIntrospectionStore) {
    this.#store = store;
  }

  /** Reads the stored introspections of the servers in the metadata. */
  async read(
    { remoteSchemas }: Metadata,
    names: Iterable<string> = remoteSchemas.keys(),
  ): Promise<ReadonlyMap<string, RemoteIntrospection>> {
    const usable = await usableIntrospections(await this.#store.read([...names]), remoteSchemas);
    for (const [name, { digest }] of usable) {
      const remote = remoteSchemas.get(name);
      if (remote !== undefined) this.#known.set(name, keyOf(serverOf(remote.definition), digest));
    }
    return usable;
  }

  /** Returns whether there are introspections that are not stored. */
  hasNews(remotes: ReadonlyMap<string, LiveRemote>): boolean {
    return this.#news(remotes).length > 0;
  }

  /** Returns `null` if there is nothing to store. */
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
        for (const [name, server, { digest }] of news) this.#known.set(name, keyOf(server, digest));
        for (const name of removed) this.#known.delete(name);
      },
    };
  }

  #news(remotes: ReadonlyMap<string, LiveRemote>): readonly (readonly [string, string, RemoteIntrospection])[] {
    return [...remotes].flatMap(([name, { definition, introspection: said }]) => {
      if (said === null) return [];
      const server = serverOf(definition);
      return this.#known.get(name) === keyOf(server, said.digest) ? [] : [[name, server, said] as const];
    });
  }
}

function keyOf(server: string, digest: string): string {
  return `${digest} ${server}`;
}
