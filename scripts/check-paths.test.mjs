import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { missingPaths } from './check-paths.mjs';

it('reports paths that do not exist', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-paths-'));
  try {
    const files = {
      'test/http/here.test.ts': '',
      'src/deep/er/a.test.ts': '',
      'long.txt': '# test/README.md tells why\ntest/http/here.test.ts\ntest/http/renamed.test.ts\n',
      run: 'npm test -- test/http src/gone; node ../test/elsewhere.mjs; ls ../shared/test/x',
      'config.ts': `['src/**/*.test.ts', 'test/http/!(here).test.ts', 'test/http/!(other).test.ts', 'test/memory/**', '**/node_modules/**']`,
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    expect(missingPaths(folder, ['long.txt', 'run', 'config.ts'])).toEqual([
      'long.txt names test/README.md, which is not there',
      'long.txt names test/http/renamed.test.ts, which is not there',
      'run names src/gone, which is not there',
      'config.ts names test/http/!(here).test.ts, which is not there',
      'config.ts names test/memory/**, which is not there',
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
