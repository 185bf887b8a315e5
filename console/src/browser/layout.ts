/** Widths of the sidebars. */
import { computed, signal } from '@preact/signals';
import { remember, remembered } from './storage.ts';

export interface Sidebar {
  /** In rem. */
  readonly width: number;
  readonly isFolded: boolean;
}

const narrow = matchMedia('(max-width: 56.25em)');
/** A narrow page shows only the icons of the navigation. */
export const isNarrow = signal(narrow.matches);
narrow.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches;
});

export const navigation = sidebar('navigation', { width: 13, isFolded: false });
export const tableTree = sidebar('table-tree', { width: 17, isFolded: false });

export const isNavigationFolded = computed(() => isNarrow.value || navigation.state.value.isFolded);

function sidebar(name: string, start: Sidebar) {
  const state = signal<Sidebar>(remembered(name, start));
  return {
    state,
    change(changes: Partial<Sidebar>): void {
      state.value = { ...state.peek(), ...changes };
      remember(name, state.peek());
    },
  };
}

export type SidebarState = ReturnType<typeof sidebar>;
