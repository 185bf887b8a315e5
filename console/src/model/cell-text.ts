import { type Json, printJson } from './json.ts';

/** A value as text; null stays null. */
export function cellText(json: Json | undefined): string | null {
  if (json === null || json === undefined) return null;
  return typeof json === 'string' ? json : printJson(json);
}
