/** Form of a new source. Each kind has its own (`KINDS`). */
import type { ConsoleField, ConsoleForm, ConsoleSecret } from '../../../packages/model/console-form.ts';
import { isObject, type Json, type JsonObject, parseJsonText } from './json.ts';
import { DEFAULT_KIND } from './kinds.generated.ts';
import { wholeNumberOf } from './whole-number.ts';

export interface SourceDraft {
  readonly name: string;
  readonly kind: string;
  /** True if the service reads the secret from an environment variable. */
  readonly isInEnvironment: boolean;
  readonly variable: string;
  /** Text of the secret. */
  readonly secret: string;
  /** Texts of the other fields, by their keys. */
  readonly fields: Readonly<Record<string, string>>;
}

export const NO_SOURCE: SourceDraft = { name: '', kind: DEFAULT_KIND, isInEnvironment: true, variable: '', secret: '', fields: {} };

/** Returns the arguments of `…_add_source`. @throws Error that names the invalid field */
export function sourceArgs(form: ConsoleForm, draft: SourceDraft): JsonObject {
  const { variable, isInEnvironment } = draft;
  const secret = isInEnvironment ? { from_env: variable.trim() } : secretOf(form.secret, draft.secret.trim());
  const entries = form.fields.flatMap((field) => {
    const text = (draft.fields[field.key] ?? '').trim();
    return text === '' ? [] : [[field.key, fieldValue(field, text)] as const];
  });
  const nested = form.secret.path.reduceRight<Json>((value, key) => ({ [key]: value }), secret);
  return { name: draft.name.trim(), configuration: { ...(nested as JsonObject), ...Object.fromEntries(entries) } };
}

function fieldValue({ type, label }: ConsoleField, text: string): Json {
  if (type === 'number') return wholeNumberOf(text, label);
  if (type === 'text') return text;
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Reads a JSON object, or returns text that stands for one, such as {{KEY}}. */
function secretOf({ json }: ConsoleSecret, text: string): Json {
  if (!json) return text;
  try {
    const object = parseJsonText(text);
    if (isObject(object)) return object;
  } catch {
    // The service rejects text that is neither.
  }
  return text;
}
