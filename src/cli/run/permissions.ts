/** The commands of `svc permissions`. */
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { projectFiles } from '../../project/directory/files.ts';
import { MetadataReader, readMetadata } from '../../project/directory/read-metadata.ts';
import { sameMeaning } from '../../project/directory/sections.ts';
import { indented } from '../../project/directory/write-metadata.ts';
import { EXIT, failure, type Problem, ProjectFailure } from '../../project/failure.ts';
import { lintMetadata } from '../../project/lint.ts';
import { describeGrant, type Grant, grantsOf, sessionVariablesOf } from '../../project/permissions/matrix.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, printJson } from '../../util/json.ts';
import { type Call, listOption, type Outcome, textOption } from '../call.ts';
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
  return problems.length === 0 ? { text: 'nothing found' } : { exit: EXIT.failed, problems, text: `${problems.length} findings` };
}

/** `svc permissions explain` */
export async function runExplain(call: Call): Promise<Outcome> {
  if (textOption(call, 'pk') !== undefined || textOption(call, 'row') !== undefined)
    throw failure(
      'not-supported',
      'what a rule says of one row is not told yet: svc permissions explain without --pk and --row tells the rule',
      {},
      EXIT.usage,
    );
  const [role, named, operation] = [textOption(call, 'role'), textOption(call, 'table'), textOption(call, 'op')] as [
    string,
    string,
    string,
  ];
  const read = readMetadata((await call.project()).metadata);
  const wanted = named.includes('.') ? named : `public.${named}`;
  const grants = grantsOf(read.document).filter((grant) => grant.role === role && grant.table === wanted && grant.operation === operation);
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
  const rules = grants.map((grant) => {
    const place = read.placeOf(grant.path);
    const missing = [...new Set(sessionVariablesOf(grant.permission))].filter((name) => !session.has(name) && name !== 'x-svc-role');
    const from = grant.from === role ? '' : ` inherited from ${grant.from},`;
    lines.push(
      `${operation} on ${wanted} for ${role},${from} ${place?.file ?? ''}:${place?.line ?? ''}`,
      indented(withSession(grant.permission, session)),
    );
    if (missing.length > 0) lines.push(`missing in the session: ${missing.join(', ')}: such a request is refused`);
    return { ...grantJson(grant), file: place?.file ?? null, line: place?.line ?? null, missing_session_variables: missing };
  });
  const verdict =
    grants.length > 1
      ? `${role} may ${operation} the rows that one of ${grants.length} inherited rules lets through, and see of each what the rules that let it through show`
      : `${role} may ${operation} the rows that the rule lets through`;
  return { text: [...lines, verdict].join('\n'), data: { verdict: 'allowed', rules } };
}

/** The rule with what the session says in the places of its variables. */
function withSession(value: Json, session: ReadonlyMap<string, string>): Json {
  if (typeof value === 'string') return session.get(value.toLowerCase()) ?? value;
  if (isJsonArray(value)) return value.map((item) => withSession(item, session));
  if (isJsonObject(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withSession(item, session)]));
  return value;
}

interface PermissionCase {
  readonly name: string;
  readonly file: string;
  readonly json: JsonObject;
}

/** `svc permissions test` */
export async function runPermissionsTest(call: Call): Promise<Outcome> {
  const project = await call.project();
  const folder = join(project.root, 'tests', 'permissions');
  const named = call.args.map((file) => resolve(call.cwd, file));
  const paths = named.length > 0 ? named : listYaml(folder);
  if (paths.length === 0) throw failure('missing-file', `there are no tests in ${project.files.show(folder)}`);
  const server = await call.server();
  const problems: Problem[] = [];
  const lines: string[] = [];
  let count = 0;
  for (const each of paths.flatMap((path) => casesOf(path, project.root))) {
    count += 1;
    const complaint = await runCase(each, async (headers, query, variables) => {
      const { body } = await server.send(project.settings.paths.graphql, { body: { query, variables }, headers });
      return isJsonObject(body) ? body : { data: body };
    });
    lines.push(`${complaint === undefined ? 'ok' : 'not ok'} ${count} - ${each.name}`);
    if (complaint !== undefined) problems.push({ code: 'permission-test', message: `${each.name}: ${complaint}`, file: each.file });
  }
  return {
    text: [`1..${count}`, ...lines].join('\n'),
    problems,
    exit: problems.length > 0 ? EXIT.failed : EXIT.done,
    data: { tests: count, failed: problems.length },
  };
}

function listYaml(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /\.ya?ml$/.test(name))
      .sort()
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

const CASE_KEYS = ['name', 'as', 'query', 'variables', 'expect'];

function casesOf(path: string, root: string): readonly PermissionCase[] {
  const files = projectFiles(root);
  const reader = new MetadataReader(files);
  const read = reader.read(path);
  if (reader.problems.length > 0) throw new ProjectFailure(reader.problems);
  const file = files.show(path);
  if (read === undefined) throw failure('missing-file', 'the file does not exist', { file });
  return (isJsonArray(read) ? read : [read]).map((json, i) => {
    if (!isJsonObject(json)) throw failure('shape', 'a test is an object', { file });
    const unknown = Object.keys(json).find((key) => !CASE_KEYS.includes(key));
    if (unknown !== undefined)
      throw failure(
        unknown === 'setup' || unknown === 'op' ? 'not-supported' : 'shape',
        `tests have no "${unknown}"; they have ${CASE_KEYS.join(', ')}`,
        { file },
      );
    return { name: typeof json['name'] === 'string' ? json['name'] : `${file}#${i + 1}`, file, json };
  });
}

/** @returns what is wrong; undefined: nothing */
async function runCase(
  { json, file }: PermissionCase,
  ask: (headers: Readonly<Record<string, string>>, query: string, variables: Json) => Promise<JsonObject>,
): Promise<string | undefined> {
  const { as, query, variables, expect } = json;
  if (!isJsonObject(as) || typeof as['role'] !== 'string' || typeof query !== 'string' || !isJsonObject(expect))
    throw failure('shape', 'a test needs as: {role, session}, query and expect', { file });
  const headers: Record<string, string> = { 'x-svc-role': as['role'] };
  if (isJsonObject(as['session']))
    for (const [name, value] of Object.entries(as['session'])) headers[/^x-svc-/i.test(name) ? name : `x-svc-${name}`] = String(value);
  const answer = await ask(headers, query, variables ?? {});
  const errors = isJsonArray(answer['errors']) ? answer['errors'].filter(isJsonObject) : [];
  for (const [key, wanted] of Object.entries(expect)) {
    switch (key) {
      case 'data':
        if (!sameMeaning(answer['data'] ?? null, wanted)) return `expected ${printJson(wanted)}, got ${printJson(answer)}`;
        break;
      case 'error': {
        const codes = errors.map((error) => (isJsonObject(error['extensions']) ? error['extensions']['code'] : ''));
        if (!codes.includes(wanted as string)) return `expected the error ${printJson(wanted)}, got ${printJson(answer)}`;
        break;
      }
      case 'denied':
        if (errors.length > 0 !== (wanted === true))
          return `expected ${wanted === true ? 'a refusal' : 'no refusal'}, got ${printJson(answer)}`;
        break;
      case 'rows': {
        const counts = isJsonObject(answer['data'])
          ? Object.values(answer['data']).map((list) => (isJsonArray(list) ? list.length : list === null ? 0 : 1))
          : [];
        if (counts.reduce((sum, each) => sum + each, 0) !== wanted) return `expected ${printJson(wanted)} rows, got ${printJson(answer)}`;
        break;
      }
      default:
        throw failure('shape', `expect has no "${key}": it has data, error, denied, rows`, { file });
    }
  }
  return undefined;
}
