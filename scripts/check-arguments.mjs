// Checks the arguments of `npm start` before anything is installed and built. Uses built-ins only, and reads the options from the generated
// page. Values are checked by the service.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './ensure-packages.mjs';

const ALONE = new Set(['--help', '-h', '--help-all', '--version', '--yes']);

/** All spellings of flags, with true for those that need no value. */
function knownFlags() {
  const page = readFileSync(join(root, 'docs', 'options.md'), 'utf8');
  const flags = new Map();
  for (const [, spellings, type] of page.matchAll(/^\| `(--[^`]+)` \| [^|]+ \| ([^|]+) \|/gm))
    for (const flag of spellings.split(', ')) flags.set(flag, type.trim() === 'boolean');
  return flags;
}

/** @returns the first problem, or undefined */
export function complaintAbout(argv) {
  const flags = knownFlags();
  const given = new Set();
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i];
    if (ALONE.has(argument)) continue;
    if (!argument.startsWith('-'))
      return `${JSON.stringify(argument)} is no option; docs/options.md lists them${argument === 'serve' ? ', and npm start adds serve itself' : ''}`;
    const [flag, ...value] = argument.split('=');
    // Text right after a short flag may be a password, and is not repeated.
    if (!flags.has(flag)) return `unknown option "${flag.startsWith('--') ? flag : flag.slice(0, 2)}"; docs/options.md lists all options`;
    given.add(flag);
    if (value.length > 0) continue;
    if (flags.get(flag)) {
      if (/^(?:true|t|yes|y|false|f|no|n)$/i.test(argv[i + 1] ?? '')) i++;
    } else if (argv[i + 1] === undefined) return `${flag} needs a value`;
    else i++;
  }
  if (given.has('--port') && !given.has('--host'))
    return '--port is the port of the PostgreSQL server at --host; the service listens on --server-port';
  return undefined;
}
