import { printJson, type Json } from '../model/json.ts';
import type { Suggestions } from '../model/suggestions.ts';
import type { ShownError } from './error-box.tsx';

/** Converts an error for `ErrorBox`. */
export function shownError({
  message,
  code,
  path,
  internal,
  names = [],
  remedies = [],
}: {
  readonly message: string;
  readonly code?: string;
  readonly path?: string | undefined;
  readonly internal?: Json | undefined;
} & Partial<Suggestions>): ShownError {
  return {
    message,
    ...(code === undefined ? {} : { code }),
    ...(path === undefined ? {} : { path }),
    ...(internal === undefined || internal === null ? {} : { internal: printJson(internal, 2) }),
    names,
    remedies,
  };
}
