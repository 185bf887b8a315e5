/** Texts that are edited in tabs, of which one is open. They are stored in this browser. */
import { computed, signal } from '@preact/signals';
import { remember, remembered } from './storage.ts';

export type TextTab<T> = T & { readonly id: number };

/**
 * Reads the stored tabs; there is always at least one.
 * @param key key of the storage
 * @param blank content of a new tab
 */
export function textTabs<T extends { readonly text: string }>(key: string, blank: T) {
  type Tab = TextTab<T>;
  const all = signal<readonly Tab[]>(remembered<readonly Tab[]>(key, [{ ...blank, id: 1 }]));
  const chosenId = signal(all.peek()[0]?.id ?? 1);
  const chosen = computed<Tab>(() => all.value.find(({ id }) => id === chosenId.value) ?? all.value[0] ?? { ...blank, id: 1 });
  const store = (tabs: readonly Tab[]): void => {
    all.value = tabs;
    remember(key, tabs);
  };
  return {
    all,
    chosen,
    choose(id: number): void {
      chosenId.value = id;
    },
    update(id: number, changes: Partial<T>): void {
      store(all.peek().map((tab) => (tab.id === id ? { ...tab, ...changes } : tab)));
    },
    /** Opens a new tab. @param replaced id of a tab whose place it takes */
    open(content: Partial<T> = {}, replaced?: number): void {
      const tab: Tab = { ...blank, ...content, id: Math.max(0, ...all.peek().map(({ id }) => id)) + 1 };
      store(replaced === undefined ? [...all.peek(), tab] : all.peek().map((each) => (each.id === replaced ? tab : each)));
      chosenId.value = tab.id;
    },
    close(id: number): void {
      const rest = all.peek().filter((tab) => tab.id !== id);
      store(rest.length > 0 ? rest : [{ ...blank, id: id + 1 }]);
      if (chosenId.peek() === id) chosenId.value = all.peek()[0]?.id ?? 1;
    },
  };
}
