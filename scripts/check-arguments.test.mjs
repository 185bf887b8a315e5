import { expect, it } from 'vitest';
import { complaintAbout } from './check-arguments.mjs';

it('rejects invalid arguments of npm start before anything is installed', () => {
  for (const good of [
    [],
    ['--server-port', '9000', '--sample-data', '--enable-console=true', '-u', 'x'],
    ['--sample-data', 'false', '--host', 'db', '--port', '5432', '--help'],
    ['--server-host', '*', '--dev-mode'],
  ])
    expect(complaintAbout(good), good.join(' ')).toBeUndefined();
  expect(complaintAbout(['--port', '9000'])).toContain('--server-port');
  expect(complaintAbout(['--sever-port', '9000'])).toBe('unknown option "--sever-port"; docs/options.md lists all options');
  expect(complaintAbout(['-xsecret'])).toBe('unknown option "-x"; docs/options.md lists all options');
  expect(complaintAbout(['--server-port'])).toBe('--server-port needs a value');
  expect(complaintAbout(['9000'])).toContain('"9000" is no option');
});
