import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildInto } from './build-console.mjs';

it('builds the same console whatever NODE_ENV is', async () => {
  expect(process.env.NODE_ENV).toBe('test');
  const folder = mkdtempSync(join(tmpdir(), 'svc-console-'));
  try {
    await buildInto(folder);
    const scripts = readdirSync(join(folder, 'assets')).filter((name) => name.endsWith('.js'));
    expect(scripts.length).toBeGreaterThan(5);
    // Debug information contains the file of each element.
    expect(scripts.filter((name) => readFileSync(join(folder, 'assets', name), 'utf8').includes('.tsx'))).toEqual([]);
    expect(process.env.NODE_ENV).toBe('test');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
