/** Opens the remote schemas of the metadata: reuses those of the last snapshot, and introspects the others. */
import type { Metadata } from '../metadata/metadata.ts';
import type { RemoteSchema } from '../metadata/remote-schema.ts';
import {
  type RemoteIntrospection,
  type LiveRemote,
  openRemote,
  type RemoteContext,
  serverOf,
  storedRemote,
  withDefinition,
} from './live-remote.ts';
import type { Refresh } from './state.ts';
import type { CallOptions } from '../util/deadline.ts';

export interface RemotesFor extends RemoteContext {
  readonly metadata: Metadata;
  readonly before: ReadonlyMap<string, LiveRemote> | undefined;
  readonly refresh: Refresh['remoteSchemas'];
  /** Stored introspections by name. */
  readonly stored: ReadonlyMap<string, RemoteIntrospection>;
  /**
   * `ask` introspects the server, and uses the stored result if it does not respond. `trust` uses the stored result, which another
   * instance has just read.
   */
  readonly useStored: 'ask' | 'trust';
  readonly timeoutMs: number | null;
  readonly callOptions?: CallOptions;
  readonly onFailure: (remoteSchema: string, message: string) => void;
}

/** Maximum number of concurrent introspections: each response may be large. */
const MAX_CONCURRENT = 8;

/** Opens all remote schemas of the metadata. Never rejects: those that cannot be opened have a failure. */
export async function remotesFor(what: RemotesFor): Promise<ReadonlyMap<string, LiveRemote>> {
  const waiting = [...what.metadata.remoteSchemas.values()];
  const made = new Map<string, LiveRemote>();
  const work = async (): Promise<void> => {
    for (let remote = waiting.shift(); remote !== undefined; remote = waiting.shift()) made.set(remote.name, await remoteFor(remote, what));
  };
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT, waiting.length) }, work));
  return made;
}

export function isNamed(refresh: Refresh['remoteSchemas'], name: string): boolean {
  return refresh === 'all' || refresh?.includes(name) === true;
}

async function remoteFor(remote: RemoteSchema, what: RemotesFor): Promise<LiveRemote> {
  const { before, refresh, stored, useStored, environment, introspect, metadata, timeoutMs } = what;
  const known = sameServer(before?.get(remote.name), remote);
  if (known !== undefined && !isNamed(refresh, remote.name)) return withDefinition(known, remote, environment);
  const kept = stored.get(remote.name);
  if (useStored === 'trust' && kept !== undefined) {
    return storedRemote(remote, known?.introspection?.digest === kept.digest ? known.introspection : kept, environment);
  }
  const live = await openRemote(remote, {
    environment,
    introspect,
    network: metadata.network,
    before: known?.introspection ?? kept ?? null,
    timeoutMs,
    ...(what.callOptions && { callOptions: what.callOptions }),
  });
  if (live.input.failure !== null) what.onFailure(remote.name, live.input.failure.reason);
  return live;
}

/** Returns the remote schema if its server is the one in the metadata. */
export function sameServer(live: LiveRemote | undefined, { definition }: RemoteSchema): LiveRemote | undefined {
  return live !== undefined && (live.definition === definition || serverOf(live.definition) === serverOf(definition)) ? live : undefined;
}
