/**
 * Drafts of editors. They stay in memory while other pages are open, and end when they are saved or reset. The browser asks before it
 * closes or reloads the page while there are some.
 */
import { signal } from '@preact/signals';

/** Drafts by the keys of their editors. */
const drafts = signal<ReadonlyMap<string, unknown>>(new Map());

/**
 * State of an editor that outlives its component, like `useState` without an initial value.
 * @param key names the edited object, such as `limits`; only one component may use it
 * @returns the draft, undefined if nothing is edited, and a function that replaces or ends it
 */
export function useDraft<T>(key: string): readonly [T | undefined, (draft: T | undefined) => void] {
  return [drafts.value.get(key) as T | undefined, (draft) => setDraft(key, draft)];
}

/** Returns the parts of the keys after `prefix` of the drafts whose keys begin with it. */
export function draftsUnder(prefix: string): readonly string[] {
  return [...drafts.value.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
}

/** Texts of editors that are stored elsewhere, such as a request that has been sent, by the keys of their drafts. */
const settled = signal<ReadonlyMap<string, string>>(new Map());

/** Shows a text in an editor of `useTextDraft`. Discarding it loses nothing. */
export function settleText(key: string, text: string): void {
  settled.value = new Map([...settled.peek(), [key, text]]);
  setDraft(key, undefined);
}

/** Text of an editor that outlives its component. It is a draft if it was edited since it was settled. @param key as for `useDraft` */
export function useTextDraft(key: string): readonly [text: string, edit: (text: string) => void] {
  const stored = settled.value.get(key) ?? '';
  const [draft, setOwn] = useDraft<string>(key);
  const edit = (text: string): void => {
    if (text.trim() === '') settleText(key, text);
    else setOwn(text === stored ? undefined : text);
  };
  return [draft ?? stored, edit];
}

function setDraft(key: string, draft: unknown): void {
  const next = new Map(drafts.peek());
  if (draft === undefined) next.delete(key);
  else next.set(key, draft);
  drafts.value = next;
}

addEventListener('beforeunload', (event) => {
  if (drafts.peek().size > 0) event.preventDefault();
});
