/** Persona for all requests of the page. */
import { signal } from '@preact/signals';
import { remember, remembered } from '../browser/storage.ts';
import { ADMIN, type Persona } from '../model/persona.ts';

export const persona = signal<Persona>(remembered<Persona>('persona', ADMIN));

/** Recent personas, newest first. Tokens are secrets and are not stored. */
export const knownPersonas = signal<readonly Persona[]>(remembered<readonly Persona[]>('personas', []));

const MAX_KNOWN = 12;

export function choosePersona(chosen: Persona): void {
  persona.value = chosen;
  if (chosen.token !== undefined) return;
  remember('persona', chosen);
  const text = JSON.stringify(chosen);
  knownPersonas.value = [chosen, ...knownPersonas.peek().filter((other) => JSON.stringify(other) !== text)].slice(0, MAX_KNOWN);
  remember('personas', knownPersonas.peek());
}
