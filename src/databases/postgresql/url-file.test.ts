import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileOfUrl, readUrlFile } from './url-file.ts';

let root: string;
let folder: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-url-file-'));
  folder = join(root, 'secrets');
  mkdirSync(folder);
  mkdirSync(`${folder}-of-others`);
  writeFileSync(join(folder, 'url'), ' postgres://one \n');
  writeFileSync(join(folder, 'large'), 'x'.repeat(64 * 1024 + 1));
  writeFileSync(join(`${folder}-of-others`, 'url'), 'postgres://two');
  symlinkSync(join(`${folder}-of-others`, 'url'), join(folder, 'link-out'));
  symlinkSync(join(folder, 'url'), join(folder, 'link-in'));
});
afterAll(() => rmSync(root, { recursive: true }));

describe('a connection URL in a file', () => {
  it.each(['url', 'link-in', '../secrets/url', './url'])('reads a URL from %s', (name) => {
    expect(readUrlFile(`${folder}/${name}`, folder)).toBe('postgres://one');
    expect(readUrlFile(`${folder}/${name}`, `${folder}/`)).toBe('postgres://one');
  });

  it.each([
    ['../secrets-of-others/url', 'is not below the allowed folder'],
    ['link-out', 'is not below the allowed folder'],
    ['../nothing', 'is not below the allowed folder'],
    ['', 'is not below the allowed folder'],
    ['nothing', 'cannot be read: ENOENT'],
    ['large', 'cannot be read: it is too large'],
  ])('does not read a URL from "%s"', (name, message) => {
    expect(() => readUrlFile(`${folder}/${name}`, folder)).toThrow(message);
  });

  it('reads no URL if no folder is allowed', () => {
    expect(() => readUrlFile(join(folder, 'url'), null)).toThrow('SVC_GRAPHQL_DYNAMIC_SECRETS_ALLOWED_PATH_PREFIX, which is not set');
  });

  it('returns the file of a dynamic-from-file URL', () => {
    expect(fileOfUrl('dynamic-from-file:///run/secrets/url')).toBe('/run/secrets/url');
    expect(fileOfUrl('postgres://localhost')).toBeNull();
  });
});
