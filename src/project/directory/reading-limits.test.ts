import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cpuOf } from '../../../test/support/cpu.ts';
import type { Problem, ProjectFailure } from '../failure.ts';
import { projectFiles } from './files.ts';
import { type MetadataFolder, readMetadata } from './read-metadata.ts';

const ROOT = '/nowhere/project';

type Texts = Readonly<Record<string, string>>;

function folderOf(texts: Texts, more: Partial<MetadataFolder> = {}): MetadataFolder {
  const changes = Object.entries({ 'databases/databases.yaml': '[]', ...texts }).map(([path, text]) => [join(ROOT, path), text] as const);
  return { files: projectFiles(ROOT, new Map(changes)), folder: ROOT, ...more };
}

function problemsIn(folder: MetadataFolder): readonly Problem[] {
  try {
    readMetadata(folder);
    return [];
  } catch (thrown) {
    return (thrown as ProjectFailure).problems;
  }
}

/** Files of which each includes the next one twice. */
function doubling(levels: number): Texts {
  const files = Array.from({ length: levels }, (_, i): [string, string] => [
    `i${i}.yaml`,
    `# twice\n["!include i${i + 1}.yaml", "!include i${i + 1}.yaml"]`,
  ]);
  return { ...Object.fromEntries(files), [`i${levels}.yaml`]: '[1]' };
}

describe.each<[string, (texts: Texts) => MetadataFolder]>([
  ['the metadata', (texts) => folderOf({ ...texts, 'network.yaml': '!include i0.yaml' })],
  ['an overlay', (texts) => folderOf({ ...texts, 'o.yaml': 'network: !include i0.yaml' }, { overlays: [join(ROOT, 'o.yaml')] })],
  ['a metadata_file', (texts) => folderOf({ ...texts, 'all.yaml': 'network: !include i0.yaml' }, { file: join(ROOT, 'all.yaml') })],
])('includes of %s', (_, folder) => {
  it.each([17, 40])('end with one error if they double %i times', async (levels) => {
    let problems: readonly Problem[] = [];
    const spent = await cpuOf(async () => {
      problems = problemsIn(folder(doubling(levels)));
    });
    expect(problems).toEqual([
      {
        code: 'too-large',
        message: 'the files have more than 100000 includes; a file counts as often as it is included',
        file: expect.stringMatching(/^i\d+\.yaml$/),
        line: 2,
        column: expect.any(Number),
      },
    ]);
    expect(spent).toBeLessThan(2000);
  });

  it('may not be nested deeper than 50 files', () => {
    const chain = (length: number): Texts =>
      Object.fromEntries(Array.from({ length }, (__, i) => [`i${i}.yaml`, i === length - 1 ? '{}' : `!include i${i + 1}.yaml`]));
    expect(problemsIn(folder(chain(50)))).toEqual([]);
    expect(problemsIn(folder(chain(51)))).toEqual([
      expect.objectContaining({ message: 'includes are nested deeper than 50', file: 'i49.yaml' }),
    ]);
  });

  it('count in the limits of depth and of text', () => {
    const deep = {
      'i0.yaml': `${'['.repeat(150)}"!include deep.yaml"${']'.repeat(150)}`,
      'deep.yaml': `${'['.repeat(100)}${']'.repeat(100)}`,
    };
    expect(problemsIn(folder(deep))).toEqual([expect.objectContaining({ message: 'nested deeper than 200', file: 'deep.yaml', line: 1 })]);
    const long = { 'i0.yaml': `[${'"!include t.txt",'.repeat(70)}]`, 't.txt': 'x'.repeat(2 ** 20) };
    expect(problemsIn(folder(long))).toEqual([
      expect.objectContaining({ message: expect.stringContaining('the texts of the files have more than 64 MiB;') }),
    ]);
  });
});

it('reads no more of a file than a project may have', () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-limits-'));
  try {
    const folder = { files: projectFiles(root), folder: root };
    for (const name of ['large.yaml', 'large.json']) writeFileSync(join(root, name), '');
    truncateSync(join(root, 'large.yaml'), 2 ** 24 + 1);
    truncateSync(join(root, 'large.json'), 2 ** 26 + 1);
    const large = (file: string, limit: string): readonly Problem[] => [
      { code: 'too-large', message: `the file has more than ${limit} MiB`, file },
    ];
    expect(problemsIn({ ...folder, file: join(root, 'large.yaml') })).toEqual(large('large.yaml', '16'));
    expect(problemsIn({ ...folder, file: join(root, 'large.json') })).toEqual(large('large.json', '64'));
    writeFileSync(join(root, 'small.yaml'), 'network: !include large.yaml');
    expect(problemsIn({ ...folder, file: join(root, 'small.yaml') })).toEqual(large('large.yaml', '16'));
  } finally {
    rmSync(root, { recursive: true });
  }
});

it('counts the values of included files in the limit', () => {
  const texts = {
    'network.yaml': `a: [${Array.from({ length: 21 }, () => '"!include many.yaml"').join(',')}]`,
    'many.yaml': `[${Array.from({ length: 100 }, () => '"!include values.yaml"').join(',')}]`,
    'values.yaml': `[${'x,'.repeat(1000)}]`,
  };
  expect(problemsIn(folderOf(texts))).toEqual([
    expect.objectContaining({ message: expect.stringContaining('more than 2000000 values'), file: 'values.yaml', line: 1 }),
  ]);
});

it('limits the size of all files together', () => {
  // Of two bytes each.
  const text = 'é'.repeat(2 ** 23);
  const texts = Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`t${i}.txt`, text]));
  const list = Object.keys(texts).map((name) => `- !include ${name}\n`);
  expect(problemsIn(folderOf({ ...texts, 'rest_endpoints.yaml': list.join('') }))).toEqual([
    { code: 'too-large', message: 'the files have more than 64 MiB together', file: 't3.txt' },
  ]);
});

describe('a document that is nested too deeply is reported with its file', () => {
  const indented = (mark: string, levels: number): string =>
    `${Array.from({ length: levels }, (_, i) => `${' '.repeat(i)}${mark}`).join('\n')} 1\n`;
  it.each([
    ['maps', indented('a:', 1000), 201],
    ['lists', indented('-', 3000), 202],
    ['lists in brackets', '['.repeat(50_000), 1],
  ])('as %s of YAML', (_, text, line) => {
    expect(problemsIn(folderOf({ 'network.yaml': text }))).toEqual([
      { code: 'yaml', message: 'nested deeper than 200', file: 'network.yaml', line, column: expect.any(Number) },
    ]);
  });

  it('as JSON', () => {
    const text = `{"sources":${'['.repeat(5000)}${']'.repeat(5000)}}`;
    expect(problemsIn(folderOf({ 'm.json': text }, { file: join(ROOT, 'm.json') }))).toEqual([
      { code: 'json', message: 'nested deeper than 200', file: 'm.json' },
    ]);
  });

  it('as the SDL of actions', () => {
    const text = `type Mutation { a: ${'['.repeat(10_000)}Int${']'.repeat(10_000)} }`;
    expect(problemsIn(folderOf({ 'actions.graphql': text }))).toEqual([
      { code: 'graphql', message: 'nested too deeply', file: 'actions.graphql' },
    ]);
  });
});
