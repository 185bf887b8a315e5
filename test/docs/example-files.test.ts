/** Pages that explain an example application show its code as it is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { blocksOf } from './blocks.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Folder whose files the blocks with `file=` of a page quote. */
const EXAMPLES = { 'docs/tutorials/react.md': 'examples/react-app' };

describe.each(Object.entries(EXAMPLES))('%s', (path, folder) => {
  const page = readFileSync(join(ROOT, path), 'utf8');
  const quotes = blocksOf(page).flatMap(({ settings, text, line }) => {
    const file = settings.get('file');
    return file === undefined ? [] : [{ file, text, line }];
  });

  it('quotes whole lines of the files of the example', () => {
    expect(quotes.length).toBeGreaterThan(0);
    const differing = quotes.filter(({ file, text }) => !`\n${readFileSync(join(ROOT, folder, file), 'utf8')}`.includes(`\n${text}\n`));
    expect(differing.map(({ file, line }) => `line ${line}: ${file}`)).toEqual([]);
  });

  it('names the file of each quote in the text before it', () => {
    const lines = page.split('\n');
    const unnamed = quotes.filter(({ file, line }) => {
      const section = lines.slice(0, line - 1);
      const heading = section.findLastIndex((each) => each.startsWith('## '));
      return !section.slice(heading).some((each) => each.includes(`\`${file}\``));
    });
    expect(unnamed.map(({ file, line }) => `line ${line}: ${file}`)).toEqual([]);
  });
});
