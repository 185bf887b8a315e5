/** What the service tells of its configuration. */
import { signal } from '@preact/signals';
import { isObject, type JsonObject } from '../model/json.ts';
import { administer } from './http.ts';

export const config = signal<JsonObject | undefined>(undefined);

export async function loadConfig(): Promise<void> {
  try {
    const json = await administer('v1alpha1/config', { method: 'GET', retries: 2 });
    if (isObject(json)) config.value = json;
  } catch {
    // an API that is switched off: pages do without
  }
}
