/** `svc documents`: manifests of the compilers of clients are pushed, compared and pruned. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ran } from '../support/command.ts';
import { type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

const hashed = (algorithm: string, text: string): string => createHash(algorithm).update(text).digest('hex');
const sha256 = (text: string): string => hashed('sha256', text);

const AUTHOR = 'query Author($id: Int!) {\n  author_by_pk(id: $id) {\n    name\n  }\n}\n';
const AUTHORS = 'fragment F on author { name } query Authors { author { ...F } }';
const CRLF = 'query Lines {\r\n  author(where: {name: {_neq: "\u00e4\u{1f600}"}}) { id }\r\n}';
const TWO = 'query One { author { id } } query Two { author { name } } fragment Unused on author { id }';
const HIDDEN = 'query Hidden { author { secret } }';

const apollo = (...texts: string[]): string =>
  JSON.stringify({
    format: 'apollo-persisted-query-manifest',
    version: 1,
    operations: texts.map((body) => ({ id: sha256(body), name: /query (\w+)/.exec(body)?.[1], type: 'query', body })),
  });
const relay = (...texts: string[]): string => JSON.stringify(Object.fromEntries(texts.map((text) => [hashed('md5', text), text])));
const codegen = (...texts: string[]): string => JSON.stringify(Object.fromEntries(texts.map((text) => [hashed('sha1', text), text])));

let service: TestService;
let folder: ProjectFolder;

beforeAll(async () => {
  service = await startTestService({ DOCUMENTS_ONLY: 'true' });
  await service.sql("create table author (id int primary key, name text, secret text); insert into author values (1, 'Ann', 'x')");
  await service.metadata('pg_track_table', { table: 'author' });
  await service.metadata('pg_create_select_permission', {
    table: 'author',
    role: 'user',
    permission: { columns: ['id', 'name'], filter: {} },
  });
  folder = projectFolder(service);
  folder.write({
    'apollo.json': apollo(AUTHOR, CRLF),
    'bom.json': `\ufeff${apollo(TWO)}`,
    'relay.json': relay(AUTHOR),
    'codegen.json': codegen(AUTHORS),
    'hidden.json': relay(HIDDEN),
    'empty.json': '{}',
    'other.json': '{"operations": [1]}',
    'wrong.json': JSON.stringify({ [sha256('x')]: AUTHOR }),
    'named.json': JSON.stringify({ [sha256('x')]: AUTHORS }),
    'changed.json': JSON.stringify({ named: '{ author { id } }' }),
    'first.json': JSON.stringify({ named: '{ author { name } }' }),
  });
});
afterAll(async () => {
  await service.stop();
  folder.remove();
});

const BY_ID = { variables: { id: 1 } };
const documents = (...args: string[]): Promise<Ran> => folder.svc('documents', ...args);
const run = async (documentId: string, more: Readonly<Record<string, unknown>> = {}): Promise<unknown> =>
  (
    await service.send('/v1/graphql', {
      method: 'POST',
      headers: { 'x-svc-role': 'user' },
      body: JSON.stringify({ documentId, ...more }),
    })
  ).json;

describe('svc documents', () => {
  it('pushes the manifests of Apollo, Relay and GraphQL Code Generator', async () => {
    const dry = await documents('push', 'apollo.json', '--collection', 'web', '--roles', 'user', '--dry-run', '--json');
    expect([dry.code, dry.json]).toMatchObject([0, { ok: true, added: 2, known: 0 }]);
    expect(await run(sha256(AUTHOR))).toMatchObject({ errors: [{ message: 'unknown document' }] });
    const pushed = await documents(
      'push',
      'apollo.json',
      'bom.json',
      'relay.json',
      'codegen.json',
      '--collection',
      'web',
      '--roles',
      'user',
    );
    expect([pushed.code, pushed.stdout.trim(), pushed.stderr]).toEqual([0, '5 documents added, 0 known', '']);
    for (const id of [sha256(AUTHOR), hashed('md5', AUTHOR)])
      expect(await run(id, BY_ID)).toEqual({ data: { author_by_pk: { name: 'Ann' } } });
    expect(await run(hashed('sha1', AUTHORS))).toEqual({ data: { author: [{ name: 'Ann' }] } });
    expect(await run(`sha256:${sha256(CRLF)}`)).toEqual({ data: { author: [{ id: 1 }] } });
    expect(await run(sha256(TWO), { operationName: 'Two' })).toEqual({ data: { author: [{ name: 'Ann' }] } });
    const again = await documents('push', 'apollo.json', '--collection', 'web', '--json');
    expect(again.json).toMatchObject({ added: 0, known: 2 });
  });

  it('keeps texts byte by byte through export and import', async () => {
    const exported = await service.metadata('export_metadata', {});
    await service.metadata('replace_metadata', exported);
    expect(await run(`sha256:${sha256(CRLF)}`)).toEqual({ data: { author: [{ id: 1 }] } });
  });

  it('compares, and names documents that a role cannot run', async () => {
    const same = await documents('diff', 'apollo.json', 'bom.json', 'relay.json', 'codegen.json', '--collection', 'web', '--exit-code');
    expect([same.code, same.stdout.trim()]).toEqual([0, 'the service has the documents of the manifests']);
    const other = await documents('diff', 'hidden.json', 'apollo.json', 'bom.json', 'relay.json', '--collection', 'web', '--exit-code');
    expect(other.code).toBe(3);
    const id = hashed('md5', HIDDEN);
    expect(other.stdout.split('\n').slice(0, 3)).toEqual([
      `+ ${id}`,
      `- ${hashed('sha1', AUTHORS)}`,
      expect.stringContaining(`! ${id}: invalid for the role user: $.author.secret`),
    ]);
    const none = await documents('diff', 'empty.json', '--collection', 'absent', '--exit-code');
    expect([none.code, none.stdout.trim()]).toEqual([0, 'the service has the documents of the manifests']);
  });

  it('refuses documents that a role cannot run, unless they are allowed', async () => {
    const refused = await documents('push', 'hidden.json', '--collection', 'web');
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('for the role "user"')]);
    const allowed = await documents('push', 'hidden.json', '--collection', 'web', '--allow-inconsistent');
    expect([allowed.code, allowed.stdout.trim()]).toEqual([0, '1 document added, 0 known']);
    expect(allowed.stderr).toContain('invalid for the role user');
  });

  it('prunes what no manifest has', async () => {
    const keep = ['apollo.json', 'bom.json', 'relay.json', 'codegen.json'].flatMap((file) => ['--keep', file]);
    const dry = await documents('prune', '--collection', 'web', ...keep, '--dry-run');
    expect([dry.code, dry.stdout.trim()]).toEqual([0, `- ${hashed('md5', HIDDEN)}`]);
    const pruned = await documents('prune', '--collection', 'web', ...keep, '--yes');
    expect([pruned.code, pruned.stdout.trim()]).toEqual([0, '1 document removed']);
    expect(await run(hashed('md5', HIDDEN))).toMatchObject({ errors: [{ message: 'unknown document' }] });
    expect(await run(sha256(AUTHOR), BY_ID)).toEqual({ data: { author_by_pk: { name: 'Ann' } } });
  });

  it('prunes nothing that was pushed after the question, and not all of them', async () => {
    await documents('push', 'first.json', '--collection', 'asked', '--trust-ids');
    await documents('push', 'relay.json', '--collection', 'asked');
    const all = await documents('prune', '--collection', 'asked', '--keep', 'empty.json', '--yes');
    expect([all.code, all.stderr]).toEqual([2, expect.stringContaining('all would be removed')]);
    const pruned = await documents('prune', '--collection', 'asked', '--keep', 'first.json', '--yes', '--json');
    expect(pruned.json).toMatchObject({ removed: [hashed('md5', AUTHOR)] });
  });

  it.each([
    ['an id that is not the hash of its text', ['wrong.json'], 1, 'is not the sha256 of its text'],
    ['another format', ['other.json'], 1, 'this is no manifest'],
    ['a file that does not exist', ['absent.json'], 2, 'cannot be read'],
    ['roles and all roles at once', ['apollo.json', '--roles', 'user', '--global'], 2, 'exclude each other'],
  ])('rejects %s', async (_what, args, code, message) => {
    const { code: ended, stderr } = await documents('push', ...args, '--collection', 'web');
    expect([ended, stderr]).toEqual([code, expect.stringContaining(message)]);
  });

  it('trusts ids of other schemes, and never changes the text of an id', async () => {
    expect((await documents('push', 'named.json', '--collection', 'more', '--trust-ids')).code).toBe(0);
    expect((await documents('push', 'first.json', '--collection', 'more')).code).toBe(0);
    const changed = await documents('push', 'changed.json', '--collection', 'more');
    expect([changed.code, changed.stderr]).toEqual([1, expect.stringContaining('an id never changes its text')]);
  });
});
