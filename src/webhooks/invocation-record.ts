/** Headers in invocation records, without values from the environment. */
import type { HeaderDefinition } from '../metadata/environment-template.ts';
import type { JsonObject } from '../util/json.ts';
import type { OutboundResponse } from '../http-client/request.ts';

/**
 * Returns the configured headers as written in the metadata, then those of the service.
 * @param own headers of the service, by name; they take precedence over configured ones
 */
export function recordedHeaders(configured: readonly HeaderDefinition[], own: Readonly<Record<string, string>>): readonly JsonObject[] {
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  return [
    ...configured
      .filter(({ name }) => !names.has(name.toLowerCase()))
      .map(
        ({ name, value, valueFromEnv }): JsonObject =>
          valueFromEnv === undefined ? { name, value: value ?? '' } : { name, value_from_env: valueFromEnv },
      ),
    ...Object.entries(own).map(([name, value]): JsonObject => ({ name, value })),
  ];
}

/** Returns the headers of a response. */
export function recordedResponseHeaders({ headers }: Pick<OutboundResponse, 'headers'>): readonly JsonObject[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((text): JsonObject => ({ name, value: text })),
  );
}
