/** The commands of `svc permissions`. */
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { indented } from '../../project/directory/write-metadata.ts';
import { EXIT, failure, type FilePlace } from '../../project/failure.ts';
import { printedName } from '../../project/directory/sections.ts';
import { eachObject } from '../../project/directory/each-object.ts';
import { lintMetadata } from '../../project/lint/lint.ts';
import { PERMISSION_RULES } from '../../project/lint/rules.ts';
import { sourceNames } from '../../migrations/sources.ts';
import { describeGrant, type Grant, grantsOf, sessionVariablesOf } from '../../project/permissions/matrix.ts';
import { evaluateRow, type EvaluatedPart, passes, printEvaluation } from '../../project/permissions/evaluate-row.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, parseJson, printJson } from '../../util/json.ts';
import { type CommandContext, listOption, type CommandOutcome, textOption } from '../context.ts';
import { findingsOutcome } from './findings.ts';
import { requireKnown, rolesIn } from './known-names.ts';
import { table } from './table.ts';

/** `svc permissions matrix` */
export async function runMatrix(context: CommandContext): Promise<CommandOutcome> {
  const { document } = readMetadata((await context.project()).metadata);
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
export async function runPermissionsLint(context: CommandContext): Promise<CommandOutcome> {
  const { metadata } = await context.project();
  const { problems, accepted } = lintMetadata(metadata, readMetadata(metadata), PERMISSION_RULES);
  return findingsOutcome(context, problems, accepted);
}

/** `svc permissions explain` */
export async function runExplain(context: CommandContext): Promise<CommandOutcome> {
  const [role, named, operation] = [textOption(context, 'role'), textOption(context, 'table'), textOption(context, 'op')] as [
    string,
    string,
    string,
  ];
  const read = readMetadata((await context.project()).metadata);
  const row = rowOf(context);
  const all = grantsOf(read.document);
  // Tables of MariaDB's default database have no schema.
  const inSource = textOption(context, 'databaseName');
  const tables = tablesIn(read.document, inSource);
  const tableName = named.includes('.') || tables.includes(named) ? named : `public.${named}`;
  requireKnown('source', inSource, sourceNames(read.document));
  requireKnown('table', tableName, tables);
  requireKnown('role', role, rolesIn(read.document));
  const grants = all.filter(
    (grant) =>
      grant.role === role &&
      grant.table === tableName &&
      grant.operation === operation &&
      (inSource === undefined || grant.source === inSource),
  );
  if (role === 'admin')
    return { text: `admin may ${operation} all rows and columns of ${tableName}`, data: { verdict: 'allowed', rules: [] } };
  if (grants.length === 0)
    return { text: `${role} may not ${operation} ${tableName}: the role has no permission`, data: { verdict: 'denied', rules: [] } };
  const session = new Map(
    listOption(context, 'session').map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name.toLowerCase().startsWith('x-svc-') ? name.toLowerCase() : `x-svc-${name.toLowerCase()}`, value.join('=')] as const;
    }),
  );
  const reports: GrantReport[] = [];
  for (const grant of grants) reports.push(await reportOf(context, grant, read.placeOf(grant.path), session, row));
  const lines = reports.flatMap((report) => report.lines);
  const rules = reports.map(({ rule }) => rule);
  const passing = reports.some((report) => report.passes);
  if (row !== undefined) {
    const verdict = `${role} ${passing ? 'may' : 'may not'} ${operation} the row ${printJson(row)}${operation === 'insert' ? ' as it is' : ''}`;
    return { text: [...lines, verdict].join('\n'), data: { verdict: passing ? 'allowed' : 'denied', rules } };
  }
  const verdict =
    grants.length > 1
      ? `${role} may ${operation} the rows that at least one of ${grants.length} inherited rules allows, with the columns of the rules that allow the row`
      : `${role} may ${operation} the rows that the rule allows`;
  return { text: [...lines, verdict].join('\n'), data: { verdict: 'allowed', rules } };
}

interface GrantReport {
  readonly lines: readonly string[];
  readonly rule: JsonObject;
  /** True if the grant allows the row. */
  readonly passes: boolean;
}

/** @param row to judge, if there is one */
async function reportOf(
  context: CommandContext,
  grant: Grant,
  place: FilePlace | undefined,
  session: ReadonlyMap<string, string>,
  row: JsonObject | undefined,
): Promise<GrantReport> {
  const { role, table: of, operation, from, permission } = grant;
  const missing = [...new Set(sessionVariablesOf(permission))].filter((name) => !session.has(name) && name !== 'x-svc-role');
  const inherited = from === role ? '' : ` inherited from ${from},`;
  const judged = row === undefined || missing.length > 0 ? undefined : await judgedBy(context, grant, row, session);
  return {
    lines: [
      `${operation} on ${of} for ${role},${inherited} ${place?.file ?? ''}:${place?.line ?? ''}`,
      indented(withSession(permission, session)),
      ...(missing.length > 0 ? [`missing session variables: ${missing.join(', ')}; such a request is rejected`] : []),
      ...(judged === undefined ? [] : [printEvaluation(judged)]),
    ],
    rule: {
      ...grantJson(grant),
      file: place?.file ?? null,
      line: place?.line ?? null,
      missing_session_variables: missing,
      ...(judged === undefined ? {} : { row: judged.map((part) => ({ ...part })), passes: passes(judged) }),
    },
    passes: judged !== undefined && passes(judged),
  };
}

function tablesIn(document: JsonObject, inSource: string | undefined): readonly string[] {
  const tables: string[] = [];
  eachObject(document['sources'], [], ({ name, tables: list }) => {
    if (inSource === undefined || name === inSource) eachObject(list, [], ({ table: of }) => tables.push(printedName(of ?? null)));
  });
  return tables;
}

/** Columns and values of `--pk` or `--row` that identify a row. @throws ProjectFailure */
function rowOf(context: CommandContext): JsonObject | undefined {
  const [pairs, text] = [listOption(context, 'pk'), textOption(context, 'row')];
  if (pairs.length > 0 && text !== undefined) throw failure('usage', '--pk and --row exclude each other', {}, EXIT.usage);
  if (pairs.length > 0)
    return Object.fromEntries(
      pairs.map((pair) => {
        const [column = '', ...value] = pair.split('=');
        if (column === '' || value.length === 0) throw failure('usage', `--pk must be column=value, not "${pair}"`, {}, EXIT.usage);
        return [column, value.join('=')];
      }),
    );
  if (text === undefined) return undefined;
  try {
    const row = parseJson(text);
    if (isJsonObject(row) && Object.keys(row).length > 0) return row;
  } catch {
    // reported below
  }
  throw failure('usage', `--row must be a JSON object of columns, not "${text}"`, {}, EXIT.usage);
}

/** Evaluates each part of a permission rule for a row. @throws ProjectFailure */
async function judgedBy(
  context: CommandContext,
  grant: Grant,
  row: JsonObject,
  session: ReadonlyMap<string, string>,
): Promise<readonly EvaluatedPart[]> {
  const { permission, operation, source, tableName } = grant;
  const rule = permission[operation === 'insert' ? 'check' : 'filter'] ?? {};
  const { settings } = await context.project();
  return evaluateRow(await context.server(), settings.paths.query, { source, table: tableName }, row, withSession(rule, session));
}

/** Operators that compare with a list. */
const LIST_OPERATORS: ReadonlySet<string> = new Set(['_in', '_nin', '$in', '$nin']);

/** Replaces session variables in a rule by their values. */
function withSession(value: Json, session: ReadonlyMap<string, string>): Json {
  if (typeof value === 'string') return session.get(value.toLowerCase()) ?? value;
  if (isJsonArray(value)) return value.map((item) => withSession(item, session));
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const list = typeof item === 'string' && LIST_OPERATORS.has(key) ? listOf(session.get(item.toLowerCase())) : undefined;
        return [key, list ?? withSession(item, session)];
      }),
    );
  return value;
}

/** Parses a session variable with several values, such as `{1,2}`. */
function listOf(text: string | undefined): Json | undefined {
  const inside = /^\{(.*)\}$/s.exec(text ?? '')?.[1];
  if (inside === undefined) return undefined;
  return [...inside.matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/g)].map(
    ([, quoted, plain]) => quoted?.replace(/\\(.)/g, '$1') ?? plain?.trim() ?? '',
  );
}
