/**
 * A remote schema as the state holds it: how its server is reached and what the server said of itself. Values are never
 * edited: asking anew gives another value, so a change that fails leaves no trace.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { inSlices, type Sliced } from '../util/sliced.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Environment } from '../metadata/environment-template.ts';
import type { Network } from '../metadata/network.ts';
import type { RemoteSchema, RemoteSchemaDefinition } from '../metadata/remote-schema.ts';
import { modelFromIntrospection } from '../remote-schema/from-introspection.ts';
import type { RemoteModel } from '../remote-schema/model.ts';
import type { RemoteSchemaInput } from '../schema-cache/stages/remote-schema.ts';
import type { StoredIntrospection } from '../metadata-store/remote-introspections.ts';
import { type RemoteConnection, remoteConnection } from '../remote-schema/client/connection.ts';
import type { Json } from '../util/json.ts';
import { UNLIMITED } from '../model/json-scan.ts';
import { parseInSlices } from '../util/json-slices.ts';
import { printInPieces } from '../util/print-in-pieces.ts';
import type { Wanted } from './wanted.ts';

export interface LiveRemote {
  /** The metadata's own object. */
  readonly definition: RemoteSchemaDefinition;
  /** null: the address cannot be made out. */
  readonly connection: RemoteConnection | null;
  readonly input: RemoteSchemaInput;
  /** What the model was read from; null: there is no model. */
  readonly said: Introspection | null;
}

/** An introspection as it is kept: it is asked for rarely and may be large. */
export interface Introspection {
  readonly packed: Buffer;
  readonly digest: string;
  readonly model: RemoteModel;
}

export interface RemoteContext {
  readonly environment: Environment;
  /** @throws SvcError remote-schema-error */
  readonly introspect: (connection: RemoteConnection, network: Network, wanted: Wanted) => Promise<Json>;
}

export interface OpenRemote extends RemoteContext {
  readonly network: Network;
  /** What the same server said before: it is used while the server cannot be asked. */
  readonly before: Introspection | null;
  /** ms to wait at most, where the definition lets wait longer. */
  readonly patienceMs: number | null;
  readonly wanted?: Wanted;
}

/** Which server it is and how it is asked. */
export function serverOf({ address, headers }: RemoteSchemaDefinition): string {
  return JSON.stringify([address, headers.map(({ name, value, valueFromEnv }) => [name, value ?? null, valueFromEnv ?? null])]);
}

/** Never rejects: one that cannot be asked has a failure. */
export async function openRemote({ name, definition }: RemoteSchema, context: OpenRemote): Promise<LiveRemote> {
  const { environment, network, before } = context;
  let connection: RemoteConnection | null = null;
  try {
    connection = remoteConnection(name, definition, environment);
    const answer = await context.introspect(connection, network, wantedWithin(context));
    const text = (await inSlices(printInPieces(answer))).join('');
    const said = await readIntrospection(answer, text, before);
    return { definition, connection, input: { model: said.model, failure: null }, said };
  } catch (error) {
    const said = connection === null ? null : before;
    return { definition, connection, input: { model: said?.model ?? null, failure: failureOf(error) }, said };
  }
}

function wantedWithin({ patienceMs, wanted = {} }: OpenRemote): Wanted {
  return patienceMs === null
    ? wanted
    : { ...wanted, deadline: Math.min(wanted.deadline ?? Number.POSITIVE_INFINITY, Date.now() + patienceMs) };
}

/** One that another instance has asked already. @throws SvcError when what is stored makes no sense */
export async function storedRemote({ name, definition }: RemoteSchema, said: Introspection, environment: Environment): Promise<LiveRemote> {
  try {
    const connection = remoteConnection(name, definition, environment);
    return { definition, connection, input: { model: said.model, failure: null }, said };
  } catch (error) {
    return { definition, connection: null, input: { model: null, failure: failureOf(error) }, said: null };
  }
}

function failureOf(error: unknown): NonNullable<RemoteSchemaInput['failure']> {
  if (!(error instanceof SvcError)) return { code: 'remote-schema-error', reason: describeFailure(error) };
  const { code, message: reason, internal } = error;
  return { code, reason, ...(internal === undefined ? {} : { message: internal }) };
}

/** The same server with other settings of how it is called, such as the time limit. */
export function withDefinition(live: LiveRemote, remote: RemoteSchema, environment: Environment): LiveRemote {
  const { definition } = remote;
  if (live.definition === definition) return live;
  // What could not be made out before is tried again in the background.
  return { ...live, definition, connection: live.connection === null ? null : remoteConnection(remote.name, definition, environment) };
}

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** Bytes that are hashed at once. */
const CHUNK = 262_144;

/** @param text the printed answer @throws SvcError remote-schema-error */
async function readIntrospection(answer: Json, text: string, before: Introspection | null): Promise<Introspection> {
  const bytes = Buffer.from(text);
  const digest = await inSlices(digestOf(bytes));
  if (before !== null && before.digest === digest) return before;
  const model = await inSlices(modelFromIntrospection(answer));
  return { packed: await pack(bytes), digest, model };
}

function* digestOf(bytes: Buffer): Sliced<string> {
  const hash = createHash('sha256');
  for (let start = 0; start < bytes.length; start += CHUNK) {
    hash.update(bytes.subarray(start, start + CHUNK));
    yield;
  }
  return hash.digest('base64');
}

/** The answer of the server to the introspection query. */
export async function introspectionText({ packed }: Introspection): Promise<string> {
  return (await unpack(packed)).toString('utf8');
}

/** @throws SvcError remote-schema-error, SyntaxError */
async function readStored(text: string): Promise<Introspection> {
  const { json } = await inSlices(parseInSlices(text, UNLIMITED));
  return readIntrospection(json as Json, text, null);
}

/** By name, of what is stored: those that are of the server that the metadata name. One that makes no sense counts as absent. */
export async function usableIntrospections(
  stored: readonly StoredIntrospection[],
  remotes: ReadonlyMap<string, RemoteSchema>,
): Promise<ReadonlyMap<string, Introspection>> {
  const usable = new Map<string, Introspection>();
  for (const { name, server, text } of stored) {
    const remote = remotes.get(name);
    if (remote === undefined || serverOf(remote.definition) !== server) continue;
    const said = await readStored(text).catch(() => null);
    if (said !== null) usable.set(name, said);
  }
  return usable;
}
