import { printJson, type Json } from '../model/json.ts';
import type { ShownError } from './error-box.tsx';

/** Converts an error for `ErrorBox`. */
export function shownError({
  message,
  code,
  path,
  internal,
  suggestions,
}: {
  readonly message: string;
  readonly code?: string;
  readonly path?: string | undefined;
  readonly internal?: Json | undefined;
  readonly suggestions?: readonly string[];
}): ShownError {
  return {
    message,
    ...(code === undefined ? {} : { code }),
    ...(path === undefined ? {} : { path }),
    ...(internal === undefined || internal === null ? {} : { internal: printJson(internal, 2) }),
    ...(suggestions === undefined ? {} : { suggestions }),
  };
}
