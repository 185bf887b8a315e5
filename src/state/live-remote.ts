/** A remote schema: its connection and its introspection. Immutable, so that a change that fails leaves no trace. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { runCooperatively, type Cooperative } from '../util/cooperative.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { EnvironmentVariables } from '../metadata/environment-template.ts';
import type { Network } from '../metadata/network.ts';
import type { RemoteSchema, RemoteSchemaDefinition } from '../metadata/remote-schema.ts';
import { modelFromIntrospection } from '../remote-schema/from-introspection.ts';
import type { RemoteModel } from '../remote-schema/model.ts';
import type { RemoteSchemaInput } from '../schema-cache/stages/remote-schema.ts';
import type { StoredIntrospection } from '../metadata-store/remote-introspections.ts';
import { type RemoteConnection, remoteConnection } from '../remote-schema/client/connection.ts';
import type { Json } from '../util/json.ts';
import { UNLIMITED } from '../model/json-scan.ts';
import { parseJsonCooperatively } from '../util/parse-json-cooperatively.ts';
import { printInPieces } from '../util/print-in-pieces.ts';
import type { CallOptions } from '../util/deadline.ts';

export interface LiveRemote {
  /** The object in the metadata. */
  readonly definition: RemoteSchemaDefinition;
  /** `null` if the address cannot be resolved. */
  readonly connection: RemoteConnection | null;
  readonly input: RemoteSchemaInput;
  /** Introspection from which the model was built; `null` if there is none. */
  readonly introspection: RemoteIntrospection | null;
}

/** Introspection of a server. Compressed, because its text is rarely used and may be large. */
export interface RemoteIntrospection {
  readonly packed: Buffer;
  readonly digest: string;
  readonly model: RemoteModel;
}

export interface RemoteContext {
  readonly environment: EnvironmentVariables;
  /** @throws SvcError remote-schema-error */
  readonly introspect: (connection: RemoteConnection, network: Network, callOptions: CallOptions) => Promise<Json>;
}

export interface OpenRemote extends RemoteContext {
  readonly network: Network;
  /** Last introspection of the same server, used while it does not respond. */
  readonly before: RemoteIntrospection | null;
  /** Upper bound for the timeout of the definition, in ms; `null` for none. */
  readonly timeoutMs: number | null;
  readonly callOptions?: CallOptions;
}

/** Returns the identity of a server: its address and headers. */
export function serverOf({ address, headers }: RemoteSchemaDefinition): string {
  return JSON.stringify([address, headers.map(({ name, value, valueFromEnv }) => [name, value ?? null, valueFromEnv ?? null])]);
}

/** Introspects a remote schema. Never rejects: the result has a failure if the server does not respond. */
export async function openRemote({ name, definition }: RemoteSchema, context: OpenRemote): Promise<LiveRemote> {
  const { environment, network, before } = context;
  let connection: RemoteConnection | null = null;
  try {
    connection = remoteConnection(name, definition, environment);
    const answer = await context.introspect(connection, network, callOptionsWithin(context));
    const text = (await runCooperatively(printInPieces(answer))).join('');
    const said = await readIntrospection(answer, text, before);
    return { definition, connection, input: { model: said.model, failure: null }, introspection: said };
  } catch (error) {
    const said = connection === null ? null : before;
    return { definition, connection, input: { model: said?.model ?? null, failure: failureOf(error) }, introspection: said };
  }
}

function callOptionsWithin({ timeoutMs, callOptions = {} }: OpenRemote): CallOptions {
  return timeoutMs === null
    ? callOptions
    : { ...callOptions, deadline: Math.min(callOptions.deadline ?? Number.POSITIVE_INFINITY, Date.now() + timeoutMs) };
}

/** Makes a remote schema from an introspection that another instance has stored. */
export async function storedRemote(
  { name, definition }: RemoteSchema,
  said: RemoteIntrospection,
  environment: EnvironmentVariables,
): Promise<LiveRemote> {
  try {
    const connection = remoteConnection(name, definition, environment);
    return { definition, connection, input: { model: said.model, failure: null }, introspection: said };
  } catch (error) {
    return { definition, connection: null, input: { model: null, failure: failureOf(error) }, introspection: null };
  }
}

/** Returns why requests to a remote schema cannot be made, such as an unset variable; `null` if they can. Makes no request. */
export function addressFailure({ name, definition }: RemoteSchema, environment: EnvironmentVariables): RemoteSchemaInput['failure'] {
  try {
    remoteConnection(name, definition, environment);
    return null;
  } catch (error) {
    return failureOf(error);
  }
}

function failureOf(error: unknown): NonNullable<RemoteSchemaInput['failure']> {
  if (!(error instanceof SvcError)) return { code: 'remote-schema-error', reason: describeFailure(error) };
  const { code, message: reason, internal } = error;
  return { code, reason, ...(internal === undefined ? {} : { message: internal }) };
}

/** Returns the remote schema with other settings of the same server, such as the timeout. */
export function withDefinition(live: LiveRemote, remote: RemoteSchema, environment: EnvironmentVariables): LiveRemote {
  const { definition } = remote;
  if (live.definition === definition) return live;
  // An address that could not be resolved is tried again in the background.
  return { ...live, definition, connection: live.connection === null ? null : remoteConnection(remote.name, definition, environment) };
}

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** Bytes hashed per cooperative step. */
const CHUNK = 262_144;

/** @param text text of `answer` @throws SvcError remote-schema-error */
async function readIntrospection(answer: Json, text: string, before: RemoteIntrospection | null): Promise<RemoteIntrospection> {
  const bytes = Buffer.from(text);
  const digest = await runCooperatively(digestOf(bytes));
  if (before !== null && before.digest === digest) return before;
  const model = await runCooperatively(modelFromIntrospection(answer));
  return { packed: await pack(bytes), digest, model };
}

function* digestOf(bytes: Buffer): Cooperative<string> {
  const hash = createHash('sha256');
  for (let start = 0; start < bytes.length; start += CHUNK) {
    hash.update(bytes.subarray(start, start + CHUNK));
    yield;
  }
  return hash.digest('base64');
}

/** Returns the response of the server to the introspection query. */
export async function introspectionText({ packed }: RemoteIntrospection): Promise<string> {
  return (await unpack(packed)).toString('utf8');
}

/** @throws SvcError remote-schema-error, SyntaxError */
async function readStored(text: string): Promise<RemoteIntrospection> {
  const { json } = await runCooperatively(parseJsonCooperatively(text, UNLIMITED));
  return readIntrospection(json as Json, text, null);
}

/** Returns stored introspections of the servers in the metadata, by name. Invalid ones are ignored. */
export async function usableIntrospections(
  stored: readonly StoredIntrospection[],
  remotes: ReadonlyMap<string, RemoteSchema>,
): Promise<ReadonlyMap<string, RemoteIntrospection>> {
  const usable = new Map<string, RemoteIntrospection>();
  for (const { name, server, text } of stored) {
    const remote = remotes.get(name);
    if (remote === undefined || serverOf(remote.definition) !== server) continue;
    const said = await readStored(text).catch(() => null);
    if (said !== null) usable.set(name, said);
  }
  return usable;
}
