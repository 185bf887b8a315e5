/** The persona that everything on the page is done as. */
import { signal } from '@preact/signals';
import { remember, remembered } from '../browser/storage.ts';
import { ADMIN, type Persona } from '../model/persona.ts';

export const persona = signal<Persona>(remembered<Persona>('persona', ADMIN));

/** Personas that were used, the last first; tokens are secrets and are not remembered. */
export const knownPersonas = signal<readonly Persona[]>(remembered<readonly Persona[]>('personas', []));

const MOST = 12;

export function choosePersona(chosen: Persona): void {
  persona.value = chosen;
  if (chosen.token !== undefined) return;
  remember('persona', chosen);
  const text = JSON.stringify(chosen);
  knownPersonas.value = [chosen, ...knownPersonas.peek().filter((other) => JSON.stringify(other) !== text)].slice(0, MOST);
  remember('personas', knownPersonas.peek());
}
