/** The commands of `svc permissions`. */
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { indented } from '../../project/directory/write-metadata.ts';
import { EXIT, failure } from '../../project/failure.ts';
import { printedName } from '../../project/directory/sections.ts';
import { eachObject, lintMetadata } from '../../project/lint.ts';
import { sourceNames } from '../../migrations/sources.ts';
import { describeGrant, type Grant, grantsOf, sessionVariablesOf } from '../../project/permissions/matrix.ts';
import { judgeRow, type JudgedPart, passes, printJudged } from '../../project/permissions/judge-row.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, parseJson, printJson } from '../../util/json.ts';
import { nearest } from '../../util/nearest.ts';
import { type Call, listOption, type Outcome, textOption } from '../call.ts';
import { findingsOutcome } from './findings.ts';
import { table } from './table.ts';

/** `svc permissions matrix` */
export async function runMatrix(call: Call): Promise<Outcome> {
  const { document } = readMetadata((await call.project()).metadata);
  const grants = grantsOf(document);
  const rows = grants.map((grant) => {
    const { columns, rules } = describeGrant(grant);
    return [grant.role, grant.source, grant.table, grant.operation, columns, rules, grant.from === grant.role ? '' : `from ${grant.from}`];
  });
  const text =
    rows.length === 0 ? 'no role has permissions' : table(['ROLE', 'SOURCE', 'TABLE', 'OPERATION', 'COLUMNS', 'RULES', ''], rows);
  return { text, data: { permissions: grants.map(grantJson) } };
}

function grantJson({ role, source, table: of, operation, from, permission }: Grant): JsonObject {
  return { role, source, table: of, operation, inherited_from: from === role ? null : from, permission };
}

/** `svc permissions lint` */
export async function runPermissionsLint(call: Call): Promise<Outcome> {
  const read = readMetadata((await call.project()).metadata);
  const problems = lintMetadata(read).filter(({ code }) => code !== 'plain-secret');
  return findingsOutcome(call, problems);
}

/** `svc permissions explain` */
export async function runExplain(call: Call): Promise<Outcome> {
  const [role, named, operation] = [textOption(call, 'role'), textOption(call, 'table'), textOption(call, 'op')] as [
    string,
    string,
    string,
  ];
  const read = readMetadata((await call.project()).metadata);
  const row = rowOf(call);
  const all = grantsOf(read.document);
  // Tables of MariaDB's own database have no schema.
  const inSource = textOption(call, 'databaseName');
  const tables = tablesIn(read.document, inSource);
  const wanted = named.includes('.') || tables.includes(named) ? named : `public.${named}`;
  requireKnown('source', inSource, sourceNames(read.document));
  requireKnown('table', wanted, tables);
  requireKnown('role', role, rolesIn(read.document));
  const grants = all.filter(
    (grant) =>
      grant.role === role &&
      grant.table === wanted &&
      grant.operation === operation &&
      (inSource === undefined || grant.source === inSource),
  );
  if (role === 'admin') return { text: `admin may ${operation} everything of ${wanted}`, data: { verdict: 'allowed', rules: [] } };
  if (grants.length === 0)
    return { text: `${role} may not ${operation} ${wanted}: there is no permission for it`, data: { verdict: 'denied', rules: [] } };
  const session = new Map(
    listOption(call, 'session').map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name.toLowerCase().startsWith('x-svc-') ? name.toLowerCase() : `x-svc-${name.toLowerCase()}`, value.join('=')] as const;
    }),
  );
  const lines: string[] = [];
  const rules: JsonObject[] = [];
  let passing = 0;
  for (const grant of grants) {
    const place = read.placeOf(grant.path);
    const missing = [...new Set(sessionVariablesOf(grant.permission))].filter((name) => !session.has(name) && name !== 'x-svc-role');
    const from = grant.from === role ? '' : ` inherited from ${grant.from},`;
    lines.push(
      `${operation} on ${wanted} for ${role},${from} ${place?.file ?? ''}:${place?.line ?? ''}`,
      indented(withSession(grant.permission, session)),
    );
    if (missing.length > 0) lines.push(`missing in the session: ${missing.join(', ')}: such a request is refused`);
    const judged = row === undefined || missing.length > 0 ? undefined : await judgedBy(call, grant, row, session);
    if (judged !== undefined) {
      lines.push(printJudged(judged));
      if (passes(judged)) passing += 1;
    }
    rules.push({
      ...grantJson(grant),
      file: place?.file ?? null,
      line: place?.line ?? null,
      missing_session_variables: missing,
      ...(judged === undefined ? {} : { row: judged.map((part) => ({ ...part })), passes: passes(judged) }),
    });
  }
  if (row !== undefined) {
    const verdict = `${role} ${passing > 0 ? 'may' : 'may not'} ${operation} the row ${printJson(row)}${operation === 'insert' ? ' as it is' : ''}`;
    return { text: [...lines, verdict].join('\n'), data: { verdict: passing > 0 ? 'allowed' : 'denied', rules } };
  }
  const verdict =
    grants.length > 1
      ? `${role} may ${operation} the rows that one of ${grants.length} inherited rules lets through, and see of each what the rules that let it through show`
      : `${role} may ${operation} the rows that the rule lets through`;
  return { text: [...lines, verdict].join('\n'), data: { verdict: 'allowed', rules } };
}

function tablesIn(document: JsonObject, inSource: string | undefined): readonly string[] {
  const tables: string[] = [];
  eachObject(document['sources'], [], ({ name, tables: list }) => {
    if (inSource === undefined || name === inSource) eachObject(list, [], ({ table: of }) => tables.push(printedName(of ?? null)));
  });
  return tables;
}

/** Whoever may do anything by the metadata, and not only with tables. */
function rolesIn(document: JsonObject): readonly string[] {
  const roles = new Set(['admin']);
  const visit = (value: Json): void => {
    if (isJsonArray(value)) for (const item of value) visit(item);
    else if (isJsonObject(value))
      for (const [key, item] of Object.entries(value)) {
        if ((key === 'role' || key === 'role_name') && item !== null && typeof item !== 'object') roles.add(String(item));
        if (key === 'role_set' && isJsonArray(item)) for (const each of item) roles.add(String(each));
        visit(item);
      }
  };
  for (const section of ['sources', 'inherited_roles', 'remote_schemas', 'actions']) visit(document[section] ?? null);
  return [...roles];
}

/** @throws ProjectFailure with the name that was probably meant */
function requireKnown(what: string, name: string | undefined, known: readonly string[]): void {
  if (name === undefined || known.includes(name)) return;
  const meant = nearest(name, known);
  const guess = meant === undefined ? '' : `, did you mean "${meant}"?`;
  throw failure('not-exists', `the metadata has no ${what} "${name}"${guess}`, {}, EXIT.usage);
}

/** The columns that tell the row, of --pk or --row. @throws ProjectFailure */
function rowOf(call: Call): JsonObject | undefined {
  const [pairs, text] = [listOption(call, 'pk'), textOption(call, 'row')];
  if (pairs.length > 0 && text !== undefined) throw failure('usage', '--pk and --row exclude each other', {}, EXIT.usage);
  if (pairs.length > 0)
    return Object.fromEntries(
      pairs.map((pair) => {
        const [column = '', ...value] = pair.split('=');
        if (column === '' || value.length === 0) throw failure('usage', `--pk is to be column=value, not "${pair}"`, {}, EXIT.usage);
        return [column, value.join('=')];
      }),
    );
  if (text === undefined) return undefined;
  try {
    const row = parseJson(text);
    if (isJsonObject(row) && Object.keys(row).length > 0) return row;
  } catch {
    // told below
  }
  throw failure('usage', `--row is to be a JSON object of columns, not "${text}"`, {}, EXIT.usage);
}

/** What the rule of a permission says of a row. @throws ProjectFailure */
async function judgedBy(call: Call, grant: Grant, row: JsonObject, session: ReadonlyMap<string, string>): Promise<readonly JudgedPart[]> {
  const { permission, operation, source, tableName } = grant;
  const rule = permission[operation === 'insert' ? 'check' : 'filter'] ?? {};
  const { settings } = await call.project();
  return judgeRow(await call.server(), settings.paths.query, { source, table: tableName }, row, withSession(rule, session));
}

/** Operators that compare with a list. */
const OF_LISTS: ReadonlySet<string> = new Set(['_in', '_nin', '$in', '$nin']);

/** The rule with what the session says in the places of its variables. */
function withSession(value: Json, session: ReadonlyMap<string, string>): Json {
  if (typeof value === 'string') return session.get(value.toLowerCase()) ?? value;
  if (isJsonArray(value)) return value.map((item) => withSession(item, session));
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const list = typeof item === 'string' && OF_LISTS.has(key) ? listOf(session.get(item.toLowerCase())) : undefined;
        return [key, list ?? withSession(item, session)];
      }),
    );
  return value;
}

/** Of a session variable that holds several: `{1,2}`. */
function listOf(text: string | undefined): Json | undefined {
  const inside = /^\{(.*)\}$/s.exec(text ?? '')?.[1];
  if (inside === undefined) return undefined;
  return [...inside.matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/g)].map(
    ([, quoted, plain]) => quoted?.replace(/\\(.)/g, '$1') ?? plain?.trim() ?? '',
  );
}
