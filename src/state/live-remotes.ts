/** The remote schemas of the metadata: those of before taken over where they still fit, others asked. */
import type { Metadata } from '../metadata/metadata.ts';
import type { RemoteSchema } from '../metadata/remote-schema.ts';
import {
  type Introspection,
  type LiveRemote,
  openRemote,
  type RemoteContext,
  serverOf,
  storedRemote,
  withDefinition,
} from './live-remote.ts';
import type { Refresh } from './state.ts';
import type { Wanted } from './wanted.ts';

export interface RemotesFor extends RemoteContext {
  readonly metadata: Metadata;
  readonly before: ReadonlyMap<string, LiveRemote> | undefined;
  readonly refresh: Refresh['remoteSchemas'];
  /** What is stored of remote schemas. */
  readonly stored: ReadonlyMap<string, Introspection>;
  /**
   * `ask`: the server has the word; what is stored is for when it does not answer. `trust`: what is stored was asked
   * by another instance just now.
   */
  readonly useStored: 'ask' | 'trust';
  readonly patienceMs: number | null;
  readonly wanted?: Wanted;
  readonly onFailure: (remoteSchema: string, message: string) => void;
}

/** Introspections under way at a time: each answer may be large. */
const AT_ONCE = 8;

/** Opens all remote schemas of the metadata, several at a time; those that cannot be opened say why. */
export async function remotesFor(what: RemotesFor): Promise<ReadonlyMap<string, LiveRemote>> {
  const waiting = [...what.metadata.remoteSchemas.values()];
  const made = new Map<string, LiveRemote>();
  const work = async (): Promise<void> => {
    for (let remote = waiting.shift(); remote !== undefined; remote = waiting.shift()) made.set(remote.name, await remoteFor(remote, what));
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, waiting.length) }, work));
  return made;
}

export function isNamed(refresh: Refresh['remoteSchemas'], name: string): boolean {
  return refresh === 'all' || refresh?.includes(name) === true;
}

async function remoteFor(remote: RemoteSchema, what: RemotesFor): Promise<LiveRemote> {
  const { before, refresh, stored, useStored, environment, introspect, metadata, patienceMs } = what;
  const known = sameServer(before?.get(remote.name), remote);
  if (known !== undefined && !isNamed(refresh, remote.name)) return withDefinition(known, remote, environment);
  const kept = stored.get(remote.name);
  if (useStored === 'trust' && kept !== undefined) {
    return storedRemote(remote, known?.said?.digest === kept.digest ? known.said : kept, environment);
  }
  const live = await openRemote(remote, {
    environment,
    introspect,
    network: metadata.network,
    before: known?.said ?? kept ?? null,
    patienceMs,
    ...(what.wanted && { wanted: what.wanted }),
  });
  if (live.input.failure !== null) what.onFailure(remote.name, live.input.failure.reason);
  return live;
}

/** The remote schema, where it is of the server that the metadata name now. */
export function sameServer(live: LiveRemote | undefined, { definition }: RemoteSchema): LiveRemote | undefined {
  return live !== undefined && (live.definition === definition || serverOf(live.definition) === serverOf(definition)) ? live : undefined;
}
