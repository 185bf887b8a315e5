import type { ConsoleFiles } from './console-files.ts';

/** State of the console. `reason` says why it is missing although it is enabled. */
export type ConsoleState =
  | { readonly kind: 'off' }
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'served'; readonly files: ConsoleFiles };
