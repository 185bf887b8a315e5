/** The console. */
import { optionsOf } from '../option.ts';
import { boolean, nonEmpty, orNull, shortText } from '../option-types.ts';

const console = optionsOf('Console');

export const consoleOptions = {
  enableConsole: console(
    'enable-console',
    boolean,
    false,
    'Serve the console at /console and the documentation at /docs, and redirect / to the console. Needs the endpoint group metadata. `npm start` and `npm run dev` enable it.',
  ),
  consoleAssetsDir: console(
    'console-assets-dir',
    orNull(nonEmpty),
    null,
    'Folder of a built console to serve instead of the bundled one. Read once at the start.',
  ),
  docsAssetsDir: console(
    'docs-assets-dir',
    orNull(nonEmpty),
    null,
    'Folder of a built documentation site to serve instead of the bundled one. Read once, for the first request.',
  ),
  consoleLabel: console(
    'console-label',
    orNull(shortText(60)),
    null,
    'Label of this instance on every page of the console, such as PRODUCTION. At most 60 characters; also shown before sign-in.',
  ),
  consoleReadOnly: console(
    'console-read-only',
    boolean,
    false,
    'Make the console read-only. This protects against accidents; --metadata-read-only applies to every client.',
  ),
} as const;
