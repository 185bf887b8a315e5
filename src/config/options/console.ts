/** The console: the pages for administrators. */
import { optionsOf } from '../option.ts';
import { boolean, nonEmpty, optional, shortText } from '../option-types.ts';

const console = optionsOf('Console');

export const consoleOptions = {
  enableConsole: console(
    'enable-console',
    boolean,
    false,
    'Serve the console at /console, and lead / there. It needs the endpoint group metadata. `npm start` and `npm run dev` switch it on.',
  ),
  consoleAssetsDir: console(
    'console-assets-dir',
    optional(nonEmpty),
    null,
    'Folder of a built console to serve in place of the own one. Read once, at the start.',
  ),
  consoleLabel: console(
    'console-label',
    optional(shortText(60)),
    null,
    'What the console calls this instance on every page, the sign-in included: at most 60 characters, such as PRODUCTION.',
  ),
  consoleReadOnly: console(
    'console-read-only',
    boolean,
    false,
    'The console sends nothing that changes something. It guards against accidents; --metadata-read-only binds every client.',
  ),
} as const;
