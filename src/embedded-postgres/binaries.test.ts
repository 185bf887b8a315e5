import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEEP } from '../../test/support/deep.ts';
import { platformPackage, usableBinaries } from './binaries.ts';

interface Link {
  readonly target: string;
}

// An account that neither runs the tests nor owns a file.
const OTHER = { uid: 60_001, gid: 60_001 };
let scratch: string;

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'svc-binaries-'));
  chmodSync(scratch, 0o755);
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

/** Copies the package as npm installs it without install scripts. */
function bareInstallation(mode: number): { folder: string; version: string; links: readonly Link[] } {
  const { folder, version } = platformPackage();
  const copy = join(scratch, 'installation', 'package');
  const links = JSON.parse(readFileSync(join(folder, 'native', 'pg-symlinks.json'), 'utf8')) as readonly Link[];
  const left = new Set(links.map(({ target }) => join(folder, target)));
  cpSync(folder, copy, { recursive: true, filter: (path) => !left.has(path) && !path.endsWith('.a') });
  chmodSync(join(scratch, 'installation'), mode);
  return { folder: copy, version, links };
}

const versionOf = (program: string): string => execFileSync(program, ['--version'], { env: {}, encoding: 'utf8' });

// Each copies the whole package. In a short run the server of all tests is started from these.
describe.runIf(DEEP)('usableBinaries', () => {
  it('creates missing library links', () => {
    const installation = bareInstallation(0o755);
    const binaries = usableBinaries(installation, OTHER, []);
    expect(binaries.postgres.startsWith(installation.folder)).toBe(true);
    expect(installation.links.length).toBeGreaterThan(0);
    for (const { target } of installation.links) expect(lstatSync(join(installation.folder, target)).isSymbolicLink()).toBe(true);
    expect(versionOf(binaries.initdb)).toContain(`PostgreSQL) ${binaries.majorVersion}`);
  });

  it('copies the package once to a folder that the account can read', () => {
    const installation = bareInstallation(0o700);
    const shared = join(scratch, 'shared');
    const first = usableBinaries(installation, OTHER, [shared]);
    expect(first.postgres.startsWith(shared)).toBe(true);
    expect(versionOf(first.postgres)).toContain(`PostgreSQL) ${first.majorVersion}`);
    const madeAt = lstatSync(first.postgres).birthtimeMs;
    expect(usableBinaries(installation, OTHER, [shared])).toEqual(first);
    expect(lstatSync(first.postgres).birthtimeMs).toBe(madeAt);
  });

  it('tries the next folder if one cannot be used, and lists the reasons if none can', () => {
    const installation = bareInstallation(0o700);
    const file = join(installation.folder, 'package.json');
    const shared = join(scratch, 'shared');
    expect(usableBinaries(installation, OTHER, [file, shared]).postgres.startsWith(shared)).toBe(true);
    expect(() => usableBinaries(installation, OTHER, [file])).toThrow(`${file}/postgresql-`);
    expect(existsSync(shared)).toBe(true);
  });
});
