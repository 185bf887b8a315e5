/** Keyboard shortcuts of the page. Single letters work only outside of fields and can be switched off. */
import { signal } from '@preact/signals';
import { remember, remembered } from './storage.ts';

export interface Key {
  /** Such as `mod+k`, `/`, `g d` or `?`. */
  readonly keys: string;
  readonly does: string;
  run(): void;
}

export const singleKeys = signal(remembered('single-keys', true));
export function setSingleKeys(on: boolean): void {
  singleKeys.value = on;
  remember('single-keys', on);
}

const shortcuts = new Set<Key>();
const CHORD_MS = 1200;
let prefix = '';
let prefixAt = 0;

/** @returns a function that removes the shortcut */
export function addKey(key: Key): () => void {
  shortcuts.add(key);
  return () => shortcuts.delete(key);
}

export function allKeys(): readonly Key[] {
  return [...shortcuts];
}

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.shadowRoot !== null || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
}

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.altKey) return;
  const mod = event.ctrlKey || event.metaKey;
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  let pressed = (mod ? 'mod+' : '') + name;
  if (!mod) {
    if (!singleKeys.peek() || event.key.length !== 1 || isField(event.composedPath()[0] ?? null) || isField(event.target)) return;
    if (document.querySelector('dialog[open]') !== null) return;
    if (prefix !== '' && Date.now() - prefixAt < CHORD_MS) pressed = `${prefix} ${name}`;
    prefix = '';
  }
  // The last one added belongs to the topmost component.
  const found = [...shortcuts].findLast(({ keys }) => keys === pressed);
  if (found !== undefined) {
    event.preventDefault();
    found.run();
  } else if (!mod && [...shortcuts].some(({ keys }) => keys.startsWith(`${pressed} `))) {
    prefix = pressed;
    prefixAt = Date.now();
  }
});
