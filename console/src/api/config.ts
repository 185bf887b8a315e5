/** Configuration report of the service. */
import { signal } from '@preact/signals';
import { isObject, type JsonObject } from '../model/json.ts';
import { sendAsAdmin } from './http.ts';

export const config = signal<JsonObject | undefined>(undefined);

export async function loadConfig(): Promise<void> {
  try {
    const json = await sendAsAdmin('v1alpha1/config', { method: 'GET', retries: 2 });
    if (isObject(json)) config.value = json;
  } catch {
    // The config API can be switched off; pages work without it.
  }
}
