import { SvcError } from '../../errors/svc-error.ts';
import { isJsonObject, type Json } from '../../util/json.ts';
import { DatabaseError } from '../postgresql/driver/database-error.ts';

/** Context of errors from another server, which lack the fields with the names of tables and constraints. */
const FROM_WORKER = /while executing command on /;
const FEATURE_NOT_SUPPORTED = '0A000';
/** Default SQLSTATE: of refusals and failures of the extension, and of corrupted data in PostgreSQL. */
const INTERNAL_ERROR = 'XX000';
/**
 * Refusals of Citus 13.2.2 without a SQLSTATE of their own: of its planner, its executor, and its checks of earlier statements of a
 * transaction.
 */
const REFUSAL = new RegExp(
  [
    String.raw`\b(?:not (?:yet |currently )?(?:supported|allowed)|unsupported|does not support)\b`,
    'is not distributed$',
    '^could not find valid entry for (?:citus table|shard) ',
    '^could not find shardinterval to which to send the query',
    'a join that requires repartitioning',
    'because there was a parallel ',
    'because there is a foreign key between them and ',
    'because a local execution has accessed a placement',
    '^cannot switch local execution status',
    '^cannot execute a distributed query from a query on a shard',
    '^cannot approximate count',
    'COMBINEFUNC$',
    '^no hash function defined for type',
    '^could not find a conversion path',
    '^cannot coerce ',
    String.raw`exceeds citus\.max_intermediate_result_size`,
  ].join('|'),
  'i',
);
/** Message for both a refused commit on the server of a shard, as for a deferred constraint, and a lost server. */
const FAILED_COMMIT = /^could not commit transaction for shard /;
/** End of the names of tables and constraints of shards, whose numbers start at 102008. */
const SHARD = /_\d{6,}$/;
const HASH = /_[0-9a-f]{8}$/;
/** Maximum length of a name of PostgreSQL, in bytes. Truncation leaves no part of a character. */
const MAX_NAME_BYTES = 63;
const MIN_TRUNCATED_BYTES = MAX_NAME_BYTES - 3;
/** Messages do not double the quotes inside names, so a match may begin at another name before that of the shard. */
const NAMES_OF_SHARDS = /\b(constraint|index|relation|table) "(.+?_\d{6,})"/gs;

/** Returns whether a shard has this number. */
export type KnowsShard = (shard: string) => Promise<boolean>;

/**
 * Translates an error of a request's statement on the coordinator: `not-supported` for what the extension refuses, an uncertain error for a
 * failed commit of a shard, and the names of tables and constraints instead of those of shards. Any other error is returned as it is.
 */
export async function translateError(error: unknown, knowsShard: KnowsShard): Promise<unknown> {
  const named = await withoutShards(error, knowsShard);
  if (!(named instanceof SvcError) || !(named.cause instanceof DatabaseError)) return named;
  const { cause, internal, path } = named;
  const isInternal = cause.code === INTERNAL_ERROR;
  if (isInternal && FAILED_COMMIT.test(cause.message)) {
    const message = 'a server of the database failed to commit the transaction: a deferred constraint is violated, or the server was lost';
    return new SvcError('postgres-error', `${message}; the transaction may be committed or not`, {
      ...{ path, cause, internal, status: 500, isTransient: true, isUncertain: true },
    });
  }
  if (cause.code !== FEATURE_NOT_SUPPORTED && !(isInternal && REFUSAL.test(cause.message))) return named;
  // The message of the database names tables and columns that a role may not see: it is in `internal`.
  return new SvcError('not-supported', 'the database does not support this', { path, cause, internal });
}

/** Replaces the names of shards in an error of a statement by those of their tables. Any other error is returned as it is. */
export async function withoutShards(error: unknown, knowsShard: KnowsShard): Promise<unknown> {
  if (!(error instanceof SvcError) || !(error.cause instanceof DatabaseError)) return error;
  const { code, path, status, isTransient, isUncertain, internal, cause } = error;
  const { message } = cause;
  const named = await nameTables(cause, knowsShard);
  if (named === message) return error;
  cause.message = named;
  return new SvcError(
    code,
    error.message.replace(message, () => named),
    {
      ...{ path, status, isTransient, isUncertain, cause },
      internal: internal === undefined ? undefined : replaced(internal, message, named),
    },
  );
}

async function nameTables({ code, message, where, table, constraint }: DatabaseError, knowsShard: KnowsShard): Promise<string> {
  // These messages contain values of requests, which may look like names.
  if (code.startsWith('22')) return message;
  if (where !== null && FROM_WORKER.test(where))
    return message.replaceAll(NAMES_OF_SHARDS, (_, kind: string, name: string) => `${kind} "${withoutShard(name)}"`);
  // The coordinator has shards itself, and the name of a table of another kind may end with a number.
  const suffix = SHARD.exec(table ?? '')?.[0];
  if (suffix === undefined || !(constraint?.endsWith(suffix) === true || (await knowsShard(suffix.slice(1))))) return message;
  return message.replaceAll(NAMES_OF_SHARDS, (whole, kind: string, name: string) =>
    name.endsWith(suffix) ? `${kind} "${withoutShard(name)}"` : whole,
  );
}

/** Removes the number of a shard, and the hash before it in a name that was truncated. */
function withoutShard(name: string): string {
  const own = Buffer.byteLength(name) > MAX_NAME_BYTES ? name.slice(name.lastIndexOf('"') + 1) : name;
  const isTruncated = Buffer.byteLength(own) >= MIN_TRUNCATED_BYTES;
  return name.replace(SHARD, '').replace(isTruncated ? HASH : '', '');
}

function replaced(json: Json, from: string, to: string): Json {
  if (typeof json === 'string') return json === from ? to : json;
  if (!isJsonObject(json)) return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, replaced(value ?? null, from, to)]));
}
