/**
 * The extension pgcrypto for migrations that use its functions and do not create it. The engine whose projects are imported creates it in
 * every source; this service creates it only where the SQL of a project needs it.
 */
import type { NeededExtension } from '../../../backend/migration-dialect.ts';
import { isJsonObject, type JsonObject, objectOf, parseJson } from '../../../util/json.ts';
import { withoutComments } from '../../../model/split-statements.ts';
import { dialect } from '../compile/dialect.ts';

const FUNCTIONS = 'gen_random_uuid|crypt|gen_salt|digest|hmac|gen_random_bytes|pgp_(?:sym|pub)_(?:en|de)crypt(?:_bytea)?';
/** A name of a function before a parenthesis. */
const NAMED = new RegExp(String.raw`(?<![\w$".])(?:(?:"([^"]+)"|([a-z_][\w$]*)) ?\. ?)?("?)(${FUNCTIONS})\3 ?\(`, 'gi');
const CREATION = /\bcreate extension (?:if not exists )?"?pgcrypto\b/i;
const DEFINITION = /\bcreate (?:or replace )?(?:function|procedure|aggregate) $/i;
/** Words of SQL and PL/pgSQL before an expression; any other word or name is followed by the name of a table, type or alias. */
const BEFORE_EXPRESSION =
  /\b(?:all|and|assert|between|by|call|case|default|distinct|else|elsif|from|having|if|ilike|in|join|lateral|like|limit|next|not|offset|on|or|perform|query|return|returning|select|then|to|using|when|where|while|zone|into \S+|(?<!(?:create|replace|drop) )(?:function|routine)) $/i;
const INDEX_ON = /\bcreate (?:unique )?index (?:concurrently )?(?:if not exists )?(?:(?!on )\S+ )?on $/i;
const COMMON_TABLE = /^[\w$", ]*\) ?as ?(?:(?:not )?materialized ?)?\(/i;
/** Maximum length of the text that is read before and after a name, in characters. */
const CONTEXT = 400;

/** Returns SQL without comments and texts; of names in quotes, only those that may be of functions are left. */
function bareSql(sql: string): string {
  return withoutComments(sql, (text) => (/^"[\w$]+"$/.test(text) ? text : text.startsWith('"') ? '"_"' : "''"));
}

/** Returns whether a name before a parenthesis calls a function. */
function isCall(before: string, behind: string): boolean {
  if (COMMON_TABLE.test(behind)) return false;
  if (/[\w$] ?$/.test(before)) return BEFORE_EXPRESSION.test(before) && !INDEX_ON.test(before);
  return /(?:[^\s\w$"')\]:;]) ?$/.test(before);
}

/** A function that SQL names; `schema` is `null` if it names none. */
interface Call {
  readonly schema: string | null;
  readonly name: string;
}

/** Returns the schema in which extensions of a source are created. @param entry of the source in a metadata document */
function extensionsSchema({ configuration }: JsonObject): string {
  const schema = isJsonObject(configuration) ? configuration['extensions_schema'] : undefined;
  return typeof schema === 'string' ? schema : 'public';
}

/**
 * Returns the calls that only pgcrypto in the schema can answer. PostgreSQL has `gen_random_uuid` itself, in another schema.
 * @param texts without comments, in the order in which they run
 */
function callsIn(texts: readonly string[], schema: string): readonly Call[] {
  const created: Call[] = [];
  return texts.flatMap((bare) => {
    const named = [...bare.matchAll(NAMED)].flatMap(({ 0: whole, 1: quoted, 2: plain, 3: quote, 4: written = '', index }) => {
      const name = written.toLowerCase();
      if (quote !== '' && name !== written) return [];
      const end = index + whole.length;
      const before = bare.slice(Math.max(0, index - CONTEXT), index);
      return [{ call: { schema: quoted ?? plain?.toLowerCase() ?? null, name }, before, behind: bare.slice(end, end + CONTEXT) }];
    });
    created.push(...named.filter(({ before }) => DEFINITION.test(before)).map(({ call }) => call));
    return named
      .filter(({ before, behind }) => isCall(before, behind))
      .map(({ call }) => call)
      .filter(
        (call) =>
          (call.schema === null ? call.name !== 'gen_random_uuid' : call.schema === schema) && !created.some((each) => isSame(each, call)),
      );
  });
}

/** Returns whether two names may be of one function: one without a schema may be in any. */
function isSame(one: Call, other: Call): boolean {
  return one.name === other.name && (one.schema === null || other.schema === null || one.schema === other.schema);
}

/** Returns pgcrypto if SQL needs it and the database lacks it. */
export async function neededExtension(
  entry: JsonObject,
  texts: readonly string[],
  cell: (sql: string) => Promise<string>,
): Promise<NeededExtension | undefined> {
  const schema = extensionsSchema(entry);
  const bare = texts.map(bareSql);
  const created = bare.findIndex((text) => CREATION.test(text));
  const calls = callsIn(created < 0 ? bare : bare.slice(0, created), schema);
  const unique = [...new Map(calls.map((call) => [`${call.schema ?? ''}.${call.name}`, call])).values()];
  if (unique.length === 0) return undefined;
  const values = unique
    .map((call) => `(${call.schema === null ? 'null' : dialect.string(call.schema)}, ${dialect.string(call.name)})`)
    .join(', ');
  const found = parseJson(
    await cell(`select pg_catalog.json_build_object(
      'installed', exists (select from pg_catalog.pg_extension where extname = 'pgcrypto'),
      'lacking', (select coalesce(pg_catalog.json_agg(concat_ws('.', schema, name)), '[]') from (values ${values}) as called (schema, name)
        where not exists (select from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
          where p.proname = called.name and case when schema is null then pg_catalog.pg_function_is_visible(p.oid) else n.nspname = schema end)))`),
  );
  const { installed, lacking }: JsonObject = objectOf(found);
  const functions = Array.isArray(lacking) ? lacking.map(String) : [];
  // An extension is in one schema only.
  if (installed === true || functions.length === 0) return undefined;
  return {
    name: 'pgcrypto',
    schema,
    functions,
    sql: `create extension if not exists pgcrypto with schema ${dialect.identifier(schema)}`,
  };
}
