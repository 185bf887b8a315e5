// What of the arguments of `npm start` can be told to be wrong before anything is installed and built. Built-ins only: the options are
// those of the generated page. What needs the values is for the service itself.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './ensure-packages.mjs';

const ALONE = new Set(['--help', '-h', '--help-all', '--version', '--yes']);

/** Flags with all their spellings, and whether they may stand without a value. */
function knownFlags() {
  const page = readFileSync(join(root, 'docs', 'options.md'), 'utf8');
  const flags = new Map();
  for (const [, spellings, type] of page.matchAll(/^\| `(--[^`]+)` \| [^|]+ \| ([^|]+) \|/gm))
    for (const flag of spellings.split(', ')) flags.set(flag, type.trim() === 'boolean');
  return flags;
}

/** @returns what is wrong; undefined: nothing that is seen by looking at it */
export function complaintAbout(argv) {
  const flags = knownFlags();
  const given = new Set();
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i];
    if (ALONE.has(argument)) continue;
    if (!argument.startsWith('-'))
      return `${JSON.stringify(argument)} is no option; docs/options.md lists them${argument === 'serve' ? ', and npm start says serve itself' : ''}`;
    const [flag, ...value] = argument.split('=');
    // A value written right behind a short flag is not repeated: it may be a password.
    if (!flags.has(flag)) return `unknown option "${flag.startsWith('--') ? flag : flag.slice(0, 2)}"; docs/options.md lists all options`;
    given.add(flag);
    if (value.length > 0) continue;
    if (flags.get(flag)) {
      if (/^(?:true|t|yes|y|false|f|no|n)$/i.test(argv[i + 1] ?? '')) i++;
    } else if (argv[i + 1] === undefined) return `${flag} needs a value`;
    else i++;
  }
  if (given.has('--port') && !given.has('--host'))
    return '--port is that of the PostgreSQL that --host names; the service listens on --server-port';
  return undefined;
}
