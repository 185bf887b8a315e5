import type { ConsoleFiles } from './console-files.ts';

/** What the service knows of the console. `missing` says why there is none although it was asked for. */
export type ConsoleState =
  | { readonly kind: 'off' }
  | { readonly kind: 'missing'; readonly reason: string }
  | { readonly kind: 'served'; readonly files: ConsoleFiles };
